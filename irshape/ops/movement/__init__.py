"""Data movement: operations that return elements of their inputs at other positions."""
