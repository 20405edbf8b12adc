"""Graphs that can be changed. Every change is checked at once, and types and shapes are always
current."""
