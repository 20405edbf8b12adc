"""Graphs that programs can change. irshape checks every change at once, and keeps element types and
shapes current."""
