"""Infers the element types and shapes of layers, bodies and models."""
