"""Graphs that can be changed: every change is checked where it is written, and types and shapes are
always current."""
