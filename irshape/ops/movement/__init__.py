"""Data movement: operations whose result holds elements of the input, in other places."""
