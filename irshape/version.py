"""The version of irshape."""

__version__ = "0.1.0"
