"""Compares tensors within a tolerance, and finds the layer from which a NaN comes."""
