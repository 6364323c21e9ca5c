"""NumPy's functions on arrays that transform.

Types promote as in JAX, shapes broadcast as in NumPy. Plain functions over ops and api.
"""

# ---- dtypes and constants ----

# ---- elementwise (ufuncs) ----

# ---- creation, shape, joining, indexing ----

# ---- reductions, statistics, sorting, searching ----

# ---- contractions and linear algebra ----
