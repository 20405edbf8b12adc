"""How two tensors differ, how far apart is still equal, and where a NaN comes from."""
