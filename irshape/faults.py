"""The facts about a fault: the input or attribute, the failed relation, and the values.

Code that detects a fault gives only these facts. `rules.context` adds the line in the file, and
`wording` writes the sentence. `Violation` is the exception that carries a fault.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final, Literal, NamedTuple, TypedDict, Unpack

from . import wording
from .element_types import ElementType
from .rule_ids import (
    DUPLICATE_VALUES,
    INPUT_ELEMENT_TYPE,
    INPUT_RANK,
    INPUT_SHAPES,
    INPUT_VALUE,
    OPERATION_CONSTRAINT,
    RuleId,
    Severity,
)
from .shapes import Dimension, PartialShape

Relation = Literal[
    "equal",
    "broadcast",
    "within",
    "count",
    "rank",
    "type",
    "distinct",
    "at least",
    "sum",
    "same size",
    "other",
]
"""The relation that `expected` and `actual` should have, e.g. `equal` or `within`."""

PLUGIN_FILE = "irshape_plugin_"
"""The beginning of the module names of plugin files."""

RULES: Final[dict[str, RuleId]] = {
    "equal": INPUT_SHAPES,
    "broadcast": INPUT_SHAPES,
    "within": INPUT_VALUE,
    "count": INPUT_SHAPES,
    "rank": INPUT_RANK,
    "type": INPUT_ELEMENT_TYPE,
    "distinct": INPUT_VALUE,
    "at least": INPUT_VALUE,
    "sum": INPUT_VALUE,
    "same size": INPUT_SHAPES,
    "other": OPERATION_CONSTRAINT,
}
"""For each relation, the rule that reports its failure, if the fault names no other rule."""

Number = int | float


class Between(NamedTuple):
    """The numbers from `low` to `high`, including both. None means no limit."""

    low: Number | None
    high: Number | None

    def __contains__(self, number: object) -> bool:
        assert isinstance(number, int | float)
        return (self.low is None or number >= self.low) and (
            self.high is None or number <= self.high
        )

    def __str__(self) -> str:
        low, high = (_written(limit) for limit in self)
        if self.high is None:
            return f"{low} or more"
        if self.low is None:
            return f"{high} or less"
        return low if low == high else f"{low} to {high}"


def _written(limit: Number | None) -> str:
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


class Fault(NamedTuple):
    """The facts about a fault of a layer, without the place in the file."""

    rule: RuleId
    says: str | None
    """A sentence about the fault; None to use the sentence of `wording` for the relation."""
    at: str = ""
    """The input or attribute at fault; empty if the fault concerns the whole layer."""
    expected: Any = None
    """The expected value: a number, a dimension, a shape, an element type or a set of them, a tuple
    of numbers, or `Between`. It is text if no value can express it."""
    actual: Any = None
    """The actual value."""
    help: str | None = None
    """Advice on what to do; None to use the advice of the rule."""
    severity: Severity | None = None
    """The severity; None for the severity of the rule."""
    relation: Relation = "other"
    position: int | None = None
    """The index of the faulty element in a list, or the faulty axis of a shape."""
    of: str = ""
    """The input or attribute that determines `expected`."""
    given: Any = None
    """The shape, rank or value of the input or attribute that the field `of` names."""
    accepted: bool = False
    """Whether OpenVINO accepts the fault, although the specification forbids it."""

    @property
    def message(self) -> str:
        """A sentence that describes the fault."""
        says = self.says
        if says is None:
            says = wording.sentence(
                *(self.relation, self.at, self.position),
                *(self.expected, self.actual, self.of, self.given),
            )
        return f"{says}, although OpenVINO accepts it" if self.accepted else says

    @property
    def prevents_computing(self) -> bool:
        """Whether the fault prevents irshape from computing the layer. Repeated values, e.g. of
        axes, do not, since OpenVINO accepts them."""
        return self.rule != DUPLICATE_VALUES

    @property
    def expected_text(self) -> str | None:
        """The expected value of the fault as text."""
        return wording.expectation(self.relation, self.expected)

    @property
    def actual_text(self) -> str | None:
        """The actual value of the fault as text."""
        return wording.short(self.relation, self.actual)


class Stated(TypedDict, total=False):
    """The facts about a fault as keyword arguments; the attributes of `Fault` explain them."""

    at: str
    relation: Relation
    expected: object
    actual: object
    position: int | None
    of: str
    given: object
    accepted: bool
    severity: Severity | None
    help: str | None


def fault(says: str | None = None, *, rule: RuleId | None = None, **facts: Unpack[Stated]) -> Fault:
    """Returns a fault of a layer. `says`: a sentence, needed only for the relation `other`."""
    if "expected" in facts:
        facts["expected"] = _fact(facts["expected"])
    if "actual" in facts:
        facts["actual"] = _fact(facts["actual"])
    if "given" in facts:
        facts["given"] = _fact(facts["given"])
    rule = rule or RULES[facts.get("relation", "other")]
    return Fault(rule, says, **facts)


_KEPT: Final = (type(None), str, bool, int, float, Between, ElementType, frozenset)


def _fact(value: Any) -> Any:
    """Returns a value as a fault stores it: short, hashable, and without symbolic dimensions."""
    kind = value.__class__
    if kind in _KEPT or kind is Dimension:
        return value
    if isinstance(value, Dimension):
        return Dimension(value.low, value.high)
    if isinstance(value, PartialShape):
        if value.rank is None or all(dim.__class__ is Dimension for dim in value):
            return value
        return PartialShape([Dimension(dim.low, dim.high) for dim in value])
    if isinstance(value, tuple | list):
        return tuple(map(_fact, value)) if len(value) <= wording.MAX_LISTED else str(value)
    try:
        return int(value.__index__())  # an integer of NumPy
    except (AttributeError, TypeError):
        return str(value)


class Violation(Exception):
    """Raised if a layer violates a condition. `fault` has the facts.

    Pass facts: `Violation(at="order", relation="count", expected=rank, actual=count, of="data")`.
    If no relation describes the fault well, pass a sentence as the first argument.
    """

    def __init__(
        self, says: str | None = None, *, rule: RuleId | None = None, **facts: Unpack[Stated]
    ) -> None:
        super().__init__()
        self.fault = fault(says, rule=rule, **facts)

    def __str__(self) -> str:
        return self.fault.message

    @staticmethod
    def of(fault: Fault) -> Violation:
        """Returns the exception for a fault."""
        violation = Violation("")
        violation.fault = fault
        return violation

    def __reduce__(self) -> tuple[object, ...]:
        return (Violation.of, (self.fault,))


def require(
    condition: object,
    says: str | None = None,
    *,
    rule: RuleId | None = None,
    **facts: Unpack[Stated],
) -> None:
    """Raises a `Violation` with the given facts unless the condition holds."""
    if not condition:
        raise Violation(says, rule=rule, **facts)


def module_of(declared: type) -> str:
    """Returns the module of a class for messages: its name, or `FILE.py` for `--plugin FILE.py`."""
    module = declared.__module__
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return os.path.basename(path) if module.startswith(PLUGIN_FILE) else module


def bug_of_plugin(declared: type, error: BaseException) -> str:
    """Returns advice on a plugin's bug, with the class and the line that raised the exception."""
    path = getattr(sys.modules.get(declared.__module__), "__file__", None)
    place, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            place = f", {os.path.basename(path)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return (
        f"a bug in the plugin {module_of(declared)}:{declared.__name__}{place}: correct it, or "
        "report it to its authors; IRSHAPE_DEBUG=1 shows the traceback"
    )
