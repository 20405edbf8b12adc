"""Data movement: operations that return elements of their input in other places."""
