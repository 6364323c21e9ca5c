"""Operations on arrays of equal shapes and dtypes, one a primitive, and control flow.

Plain functions over ops, regions and api; no primitive is defined here.
"""

# ---- elementwise ----

# ---- shape, slicing, indexing ----

# ---- reductions, contractions, sorting ----

# ---- control flow ----

# ---- random bits ----
