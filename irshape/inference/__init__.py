"""The inference of types and shapes: of layers, bodies and models."""
