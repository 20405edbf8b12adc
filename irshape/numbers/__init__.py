"""Compares tensors within a tolerance, and explains why a layer produces NaN."""
