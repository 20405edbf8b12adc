"""Rules of which findings are looked at alike."""

from __future__ import annotations

from ..rule_ids import (
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNPROVEN_DIMENSION,
)

BETWEEN_PORTS = (INPUT_MISMATCH, INPUT_TYPE_MISMATCH)
"""They compare what the ports at both ends of an edge declare."""
OF_OUTPUTS = (OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH, UNPROVEN_DIMENSION)
"""They compare what an output declares with what is inferred."""
