"""The errors that a graph raises when it refuses a change."""

from __future__ import annotations

import contextlib
import operator
import os
import re
import sys
from types import FrameType
from typing import NamedTuple

from ..faults import Fault

_INSIDE = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    contextlib.__file__,
)


class Place(NamedTuple):
    """A line of the user's program."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line} of {os.path.basename(self.path)}"


def calling_line(inside: int = 1) -> tuple[str, int]:
    """Returns the file and number of the line that called irshape.

    inside: the number of innermost calls to skip, because they are in irshape.
    """
    frame: FrameType | None = sys._getframe(inside)
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith(_INSIDE):
            return path, frame.f_lineno
        frame = frame.f_back
    return "", 0


def checked_name(name: object) -> str:
    """Returns `name`, for a layer or tensor. Raises `GraphError` if an IR cannot contain the
    name."""
    if not isinstance(name, str):
        raise GraphError(f"a name is a text, got {type(name).__name__}")
    if not name:
        raise GraphError("a name cannot be empty")
    if not is_plain_text(name):
        raise GraphError(f"the name {name!r} contains control characters")
    return name


def checked_count(value: object, name: str, least: int) -> int:
    """Returns the value of an argument as an int. Raises `ArgumentError` if it is not a whole
    number of at least `least`."""
    try:
        count = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = None
    if count is None or count < least:
        raise ArgumentError(f"`{name}` takes a whole number of {least} or more, got {value!r}")
    return count


def is_plain_text(text: str) -> bool:
    """Whether an IR can contain the text: it has no control characters and no lone surrogates."""
    return text.isprintable() or not _UNFIT.search(text)


_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class GraphError(ValueError):
    """Raised if a graph refuses a change. The graph stays as it was.

    operation: the type of the layer that refuses the change; None if no operation refuses it.
    operand: the name of the input or attribute at fault, if known.
    expected, actual: what the operation accepts, and what it would get.
    help: advice.
    argument: the name of the wrong or missing argument of the call, if known.
    place: the line of the program that made the call.
    """

    def __init__(
        self,
        message: str,
        *,
        operation: str | None = None,
        operand: str | None = None,
        expected: str | None = None,
        actual: str | None = None,
        help: str | None = None,
        argument: str | None = None,
    ) -> None:
        super().__init__(message if help is None else f"{message}; {help}")
        self.message = message
        self.operation = operation
        self.operand = operand
        self.expected = expected
        self.actual = actual
        self.help = help
        self.argument = argument
        path, line = calling_line()
        self.place = Place(path, line) if path else None
        if self.place is not None:
            self.add_note(f"requested in {self.place}")

    def __str__(self) -> str:
        return str(self.args[0])

    @staticmethod
    def of(fault: Fault, operation: str, where: str, added: Place | None = None) -> GraphError:
        """Returns the `GraphError` for a fault of a layer. where: text that names the layer. added:
        the line of the program that added the layer."""
        origin = "" if added is None else f", added in {added}"
        return GraphError(
            f"{where}{origin}: {fault.message}",
            operation=operation,
            operand=fault.at or None,
            expected=fault.expected_text,
            actual=fault.actual_text,
            help=fault.help or fault.rule.help,
        )


class UnknownNameError(GraphError, KeyError):
    """The error for a name that no layer or tensor has. It is also a `KeyError`, as in earlier
    releases."""


class ArgumentError(GraphError, TypeError):
    """The error for an argument of a wrong type. It is also a `TypeError`, as in earlier
    releases."""
