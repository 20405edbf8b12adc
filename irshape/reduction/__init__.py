"""Reduces a model to the smallest one that still has a property, by delta debugging."""
