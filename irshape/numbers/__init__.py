"""Compares tensors within a tolerance, and finds the origin of a NaN."""
