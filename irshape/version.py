"""The version of irshape."""

__version__ = "0.1.0"
"""The version of irshape, as PEP 440 writes it."""
