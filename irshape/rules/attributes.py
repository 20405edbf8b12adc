"""IR3xx: attributes of layers, held against their declarations."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Problem
from ..ops.declaration import AttributeProblem
from .base import Context, Rule


class UnknownAttribute(Rule):
    """The operation has no such attribute."""

    code, name, severity = "IR301", "unknown-attribute", "warning"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        source = context.model.source
        for layer, found in context.met(AttributeProblem):
            element = layer.data_offset if layer.data_offset >= 0 else layer.offset
            yield Problem(found.rule, found.message, source.attribute(element, found.name), layer, found.expected, found.actual, found.help)


class MisspeltAttribute(Rule):
    """An attribute that looks like a misspelling of one that the operation has."""

    code, name, severity = "IR302", "misspelt-attribute", "error"


class MissingAttribute(Rule):
    """An attribute that the specification demands is missing."""

    code, name, severity = "IR303", "missing-attribute", "error"


class AttributeValue(Rule):
    """The value of an attribute is malformed or out of range."""

    code, name, severity = "IR304", "attribute-value", "error"
