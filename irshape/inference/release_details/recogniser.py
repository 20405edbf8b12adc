"""What recognises a detail that releases treat differently, and operations that share such ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..sites import Site

Recogniser = Callable[[Site], bool]
"""Whether a layer shows a detail."""
Recognisers = Mapping[str, tuple[tuple[str, Recogniser], ...]]
"""What the layers of a type may show: each detail's key in `releases` and what recognises it."""

BROADCASTING = [
    "Add",
    "Subtract",
    "Multiply",
    "Divide",
    "Mod",
    "FloorMod",
    "Maximum",
    "Minimum",
    "Power",
    "SquaredDifference",
    "Select",
    "Equal",
    "NotEqual",
    "Less",
    "LessEqual",
    "Greater",
    "GreaterEqual",
    "LogicalAnd",
    "LogicalOr",
    "LogicalXor",
    "Xor",
    "PRelu",
]
RECURRENT = ["RNNCell", "RNNSequence", "LSTMCell", "LSTMSequence", "GRUCell", "GRUSequence"]


def is_pdpd(site: Site) -> bool:
    return site.attribute("auto_broadcast") == "pdpd"
