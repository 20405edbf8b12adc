"""A fault: what is wrong, what was expected, what is there, and what to do.

The code that detects a fault describes it; its place in the file is added later, in one place
(`rules.context`). `Violation` carries a fault as an exception.
"""

from __future__ import annotations

from typing import NamedTuple

from .rule_ids import OPERATION_CONSTRAINT, RuleId, Severity
from .spelling import agreeing

MAX_SEARCHED = 40
"""Of more errors and warnings in a file, the causes are not looked for one by one."""


class Fault(NamedTuple):
    """Something that is wrong, wherever it stands."""

    rule: RuleId
    message: str
    at: str = ""
    """The operand or attribute that it is about; empty where it is about the whole layer."""
    expected: str | None = None
    actual: str | None = None
    help: str | None = None
    """What to do; None leaves it to the rule."""
    severity: Severity | None = None
    """Where it is not that of the rule."""


def fault(
    message: str,
    *,
    at: str = "",
    expected: object = None,
    actual: object = None,
    rule: RuleId = OPERATION_CONSTRAINT,
    help: str | None = None,
) -> Fault:
    """A fault of a layer, with what was expected and seen as text.

    A message is written for several things; where there is one, its noun is put in the singular.
    """
    return Fault(
        rule,
        agreeing(message),
        at,
        None if expected is None else agreeing(str(expected)),
        None if actual is None else agreeing(str(actual)),
        help,
    )


class Violation(Exception):
    """A condition that a layer breaks; carries the `fault`."""

    def __init__(
        self,
        message: str,
        *,
        at: str = "",
        expected: object = None,
        actual: object = None,
        rule: RuleId = OPERATION_CONSTRAINT,
        help: str | None = None,
    ) -> None:
        super().__init__(agreeing(message))
        self.fault = fault(message, at=at, expected=expected, actual=actual, rule=rule, help=help)

    @staticmethod
    def of(fault: Fault) -> Violation:
        """The exception that carries a fault."""
        violation = Violation(fault.message)
        violation.fault = fault
        return violation

    def __reduce__(self) -> tuple[object, ...]:
        return (Violation.of, (self.fault,))


def require(
    condition: object,
    message: str,
    *,
    at: str = "",
    expected: object = None,
    actual: object = None,
    rule: RuleId = OPERATION_CONSTRAINT,
    help: str | None = None,
) -> None:
    """Raises a `Violation` unless the condition holds."""
    if not condition:
        raise Violation(message, at=at, expected=expected, actual=actual, rule=rule, help=help)
