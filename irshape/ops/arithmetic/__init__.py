"""Arithmetic operations, element by element and cumulative."""
