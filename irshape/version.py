"""The version of irshape."""

__version__ = "0.1.0"
"""The version of irshape in the form that PEP 440 defines."""
