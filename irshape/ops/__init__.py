"""The operations: one class for each version, with attributes, inputs, `infer` and `evaluate`.

A package that declares its own operations (entry point group `irshape.operations`) imports from
this package; `declaration` explains how.
"""

from __future__ import annotations

from ..element_types import (
    ANY,
    BOOLEAN_TYPE,
    INTEGER,
    NUMERIC,
    NUMERIC_OR_BOOLEAN,
    REAL,
    types,
)
from ..faults import Fault, Violation, fault, require
from ..rule_ids import RuleId
from .declaration import Operation, attribute, like
from .kinds import (
    BOOLEAN,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NATURAL,
    NATURALS,
    POSITIVE,
    POSITIVES,
    SHAPE,
    STRING,
    STRINGS,
    TYPE_NAME,
    Choice,
    Kind,
)
from .lazy import dtype_of
from .operands import I32_I64, at_least, between, operand
from .tensors import Tensor, Value

__all__ = [
    "ANY",
    "BOOLEAN",
    "BOOLEAN_TYPE",
    "FLOAT",
    "FLOATS",
    "I32_I64",
    "INT",
    "INTEGER",
    "INTS",
    "NATURAL",
    "NATURALS",
    "NUMERIC",
    "NUMERIC_OR_BOOLEAN",
    "POSITIVE",
    "POSITIVES",
    "REAL",
    "SHAPE",
    "STRING",
    "STRINGS",
    "TYPE_NAME",
    "Choice",
    "Fault",
    "Kind",
    "Operation",
    "RuleId",
    "Tensor",
    "Value",
    "Violation",
    "at_least",
    "attribute",
    "between",
    "dtype_of",
    "fault",
    "like",
    "operand",
    "require",
    "types",
]
