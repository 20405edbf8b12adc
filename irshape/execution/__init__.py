"""Runs models in NumPy: sessions, their inputs, and the ranges of computed values."""
