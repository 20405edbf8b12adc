"""Models as graphs that programs can change. irshape checks and infers every change at once."""
