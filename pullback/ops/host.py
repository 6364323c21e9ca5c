"""Which primitives NumPy computes bit for bit as XLA does."""

EXACT = frozenset(
    "add add_any sub mul neg max min eq ne lt le gt ge and or xor not select_n clamp "
    "broadcast_in_dim reshape transpose squeeze slice rev concatenate pad iota "
    "convert_element_type dynamic_slice copy sign abs".split()
)
