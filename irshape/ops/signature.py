"""What follows from the inputs and attributes of an operation, in one frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from sys import maxsize
from typing import NamedTuple

from ..element_types import ElementType
from ..faults import Between
from .attributes import Attribute
from .operands import Operand


class Signature(NamedTuple):
    """The declared operands and attributes of an operation, and what follows from them."""

    python_names: Mapping[str, str]
    """The Python names of the attributes, by their IR names and by their Python names."""
    written: tuple[str, ...]
    """The names of all attributes in the IR, in the order of writers."""
    fewest: int
    """The smallest number of inputs of a layer."""
    most: int
    """The largest number of inputs of a layer."""
    valued: tuple[tuple[int, Operand], ...]
    """The positions and operands whose values inference uses."""
    expected: tuple[tuple[frozenset[ElementType], frozenset[int], str | None], ...]
    """For each operand: the element types that are allowed for every value, the usual ranks, and
    the operand whose element type it shares, if any.
    """
    shaped: bool
    """Whether an operand declares more about its shape than the rank."""
    limited: Mapping[str, Between]
    """The limits of attributes, by Python name."""

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
