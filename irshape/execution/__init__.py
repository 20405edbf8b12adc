"""Executes a graph in NumPy: sessions, their inputs, and the ranges of computed values."""
