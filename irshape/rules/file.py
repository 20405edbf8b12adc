"""IR0xx: the file and its XML."""

from __future__ import annotations

from .base import Rule


class MalformedXml(Rule):
    """The file is not well-formed XML."""

    code, name, severity = "IR001", "malformed-xml", "error"


class Doctype(Rule):
    """The file has a DOCTYPE."""

    code, name, severity = "IR002", "doctype", "error"


class NotAnIr(Rule):
    """The file is no IR."""

    code, name, severity = "IR003", "not-an-ir", "error"


class SizeLimit(Rule):
    """The file is larger than the limit."""

    code, name, severity = "IR004", "size-limit", "error"


class NestingLimit(Rule):
    """Elements are nested deeper than the limit."""

    code, name, severity = "IR005", "nesting-limit", "error"


class UnknownElement(Rule):
    """An element that has no meaning where it stands."""

    code, name, severity = "IR006", "unknown-element", "warning"


class RepairedXml(Rule):
    """A layer on its own is not well-formed XML; it was read as it is meant."""

    code, name, severity = "IR007", "repaired-xml", "error"


class LeftOut(Rule):
    """`...` stands for ports that a layer on its own leaves out."""

    code, name, severity = "IR008", "left-out", "warning"
