"""Executes a graph in NumPy: sessions, their inputs, the ranges of what they compute."""
