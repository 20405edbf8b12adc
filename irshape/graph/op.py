"""The operations as functions; see `operations`.

The stub beside this module declares each function.
"""

from __future__ import annotations

from .operations import Operations

__all__ = ["Operations", "op"]

op = Operations()
"""The operations as functions. They add layers to the graph of their arguments."""
