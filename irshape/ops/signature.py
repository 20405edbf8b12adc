"""The operands and attributes of an operation, and values computed from them, in one record."""

from __future__ import annotations

from collections.abc import Mapping
from sys import maxsize
from typing import NamedTuple

from ..element_types import ElementType
from ..faults import Between
from .attributes import Attribute
from .operands import Operand


class Signature(NamedTuple):
    """The operands and attributes that an operation declares, and values computed from them."""

    python_names: Mapping[str, str]
    """Maps both names of each attribute, in the IR and in Python, to the Python name."""
    written: tuple[str, ...]
    """The IR names of all attributes, in the order in which writers write them."""
    fewest: int
    """The smallest number of inputs that a layer can have."""
    most: int
    """The largest number of inputs that a layer can have."""
    valued: tuple[tuple[int, Operand], ...]
    """The operands whose values `infer` uses, each with its position."""
    expected: tuple[tuple[frozenset[ElementType], frozenset[int], str | None], ...]
    """For each operand: the element types for which `check_packed` has nothing to check, the
    allowed ranks up to 8, and the operand whose element type it must have, if any."""
    shaped: bool
    """Whether an operand declares more about its shape than the rank."""
    limited: Mapping[str, Between]
    """The limits of numeric attributes, by Python name."""

    @staticmethod
    def of(attributes: Mapping[str, Attribute], operands: tuple[Operand, ...]) -> Signature:
        """Returns the signature of an operation with these attributes and operands."""
        models = {declared.like for declared in operands}
        shaped = any(declared.axes or declared.single for declared in operands)
        limited = {
            name: declared.within
            for name, declared in attributes.items()
            if declared.within is not None
        }
        return Signature(
            {each.name: name for name, each in attributes.items()}
            | {name: name for name in attributes},
            tuple(declared.name for declared in attributes.values()),
            sum(not declared.optional for declared in operands),
            maxsize if operands and operands[-1].variadic else len(operands),
            tuple((i, declared) for i, declared in enumerate(operands) if declared.value),
            tuple(
                (
                    declared.unquestioned,
                    declared.usual_ranks,
                    declared.like or (declared.name if declared.name in models else None),
                )
                for declared in operands
            ),
            shaped,
            limited,
        )
