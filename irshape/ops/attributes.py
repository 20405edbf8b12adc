"""Declares attributes, reads them from `<data>`, and describes the faults found there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ..faults import Between, Fault
from ..rule_ids import ATTRIBUTE_VALUE, MISSING_ATTRIBUTE, MISSPELT_ATTRIBUTE, UNKNOWN_ATTRIBUTE
from .kinds import Declared, Kind, Malformed

REQUIRED: Final = object()
"""Marks an attribute without a default: OpenVINO refuses a layer that lacks the attribute."""


class Attribute:
    """The declaration of an attribute of `<data>`."""

    def __init__(
        self, kind: Kind, *, default: Any, required: bool, within: Between | None, name: str | None
    ) -> None:
        self.kind = kind
        self.within = within
        self.default = default
        self.required = required
        self.name = name or ""
        self._read: dict[str, Any] = {}
        """Caches the value of each text that has been read."""

    def read(self, text: str) -> Any:
        """Returns the Python value of a text, e.g. 3 for `"3"`, or raises `Malformed`."""
        value = self._read.get(text, self)
        if value is self:
            value = self.kind.read(text)
            if len(text) < _SHORT_TEXT and len(self._read) < _MOST_TEXTS:
                self._read[text] = value
        return value

    def domain(self, text: str | None, declared: Declared) -> list[str]:
        """Returns other values of the attribute, as texts, for `irshape fix` to try.

        text: the text in the file, if any. Values close to the value of this text come first.
        """
        try:
            current = self.default if text is None else self.read(text)
        except Malformed:
            current = None
        values = self.kind.domain(current, declared)
        texts = dict.fromkeys(self.kind.write(each) for each in values if each != current)
        return [each for each in texts if each != text]

    @property
    def refused_when_absent(self) -> bool:
        """Whether OpenVINO refuses a layer without the attribute, instead of using a default."""
        return self.default is REQUIRED

    def describe(self) -> str:
        """Returns the allowed values in words, e.g. `"true" or "false"`."""
        limits = "" if self.within is None else f", {self.within}"
        return self.kind.describe() + limits


_SHORT_TEXT = 64
_MOST_TEXTS = 256


def attribute(
    kind: Kind,
    *,
    default: Any = REQUIRED,
    required: bool = False,
    within: Between | None = None,
    name: str | None = None,
) -> Any:
    """Declares an attribute.

    default: the value if the attribute is absent. Without a default, OpenVINO refuses a layer that
        lacks the attribute.
    required: whether the specification requires the attribute although OpenVINO has a default.
    within: the limits of the number, or of each number in a list: `at_least(1)`, `between(0, 1)`.
    OpenVINO refuses other numbers.
    name: the name in the IR if it is not a Python name, e.g. `auto_broadcast.auto_broadcast_axis`.
    """
    return Attribute(kind, default=default, required=required, within=within, name=name)


class AttributeFault(NamedTuple):
    """A fault in an attribute.

    silent: whether OpenVINO reads the layer without reporting an error.
    """

    fault: Fault
    silent: bool


def missing(declared: Attribute) -> AttributeFault:
    """Returns the fault for a declared attribute that the layer does not have."""
    silent = not declared.refused_when_absent
    goes_on = (
        f"; OpenVINO silently uses {declared.kind.write(declared.default)!r}"
        if silent and declared.default is not None
        else ""
    )
    message = f"the attribute `{declared.name}` is missing{goes_on}"
    wanted = declared.describe()
    hint = f"add the attribute `{declared.name}`: {wanted}"
    fault = Fault(MISSING_ATTRIBUTE, message, declared.name, expected=wanted, help=hint)
    return AttributeFault(fault, silent)


def malformed(declared: Attribute, text: str, problem: Malformed) -> AttributeFault:
    """Returns the fault for a text that the attribute cannot have, e.g. `"maybe"` for a boolean."""
    shown = text if len(text) <= 60 else text[:57] + "…"
    message = f'`{declared.name}="{shown}"` is not {problem.expected}'
    if problem.problem is not None:
        message = f"`{declared.name}`: {problem.problem}"
    if problem.silent:
        message += "; OpenVINO silently uses " + _written(declared.kind, problem.value)
    hint = f"set `{declared.name}` to {declared.kind.describe()}"
    fault = Fault(ATTRIBUTE_VALUE, message, declared.name, problem.expected, shown, hint)
    return AttributeFault(fault, problem.silent)


def _written(kind: Kind, value: Any) -> str:
    try:
        return f'"{kind.write(value)}"'
    except (TypeError, ValueError):
        return str(value)


@lru_cache(1 << 13)  # `irshape fix` reads a layer many times to try changes
def closest(name: str, absent: tuple[str, ...]) -> str | None:
    """Returns the declared attribute name that an unknown name most likely misspells, or None."""
    from difflib import get_close_matches

    close = get_close_matches(name, absent, 1, 0.75) or [
        candidate for candidate in absent if _fold(candidate) == _fold(name)
    ]
    return close[0] if close else None


def unknown(
    of: str,
    name: str,
    declared: tuple[str, ...],
    absent: tuple[str, ...],
    attributes: Mapping[str, Attribute],
    of_plugin: bool,
) -> AttributeFault:
    """Returns the fault for an attribute that the operation does not declare.

    of: the operation in words, e.g. `ReduceMean of opset1`.
    absent: the declared attributes that the layer does not have.
    of_plugin: whether a plugin declares the operation, so that its library may use the attribute.
    """
    close = closest(name, absent)
    if close is not None:
        needed = close in attributes and attributes[close].refused_when_absent
        then = "refuses a layer without" if needed else "takes the default of"
        message = f"`{name}` looks like a misspelling of `{close}`"
        if not of_plugin:
            message += f"; OpenVINO ignores it and {then} `{close}`"
        hint = f"rename it to `{close}`"
        return AttributeFault(Fault(MISSPELT_ATTRIBUTE, message, name, close, name, hint), True)
    message = f"{of} has no attribute `{name}`{'' if of_plugin else '; OpenVINO ignores it'}"
    wanted, hint = ", ".join(declared) or "no attributes", "remove it, or correct its name"
    return AttributeFault(Fault(UNKNOWN_ATTRIBUTE, message, name, wanted, name, hint), True)


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
