"""What a rule is, and what it may look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from ..faults import Fault
from ..model.graph import Finding, Layer
from ..rule_ids import RuleId, Severity
from .context import Context


class Page(NamedTuple):
    """The documentation of a rule: one sentence, and a text in Markdown under each of the headings."""

    summary: str
    sections: dict[str, str]


HEADINGS = (
    "What it does",
    "Why it matters",
    "What OpenVINO does",
    "Example",
    "How to fix it",
    "Use instead",
)
"""The headings of a rule's docstring, in this order; the last one only where there is something to show."""


class Rule:
    """A rule. `check` finds what it is about; one that has none is met while reading or inferring, and reported under its name.

    The docstring is the documentation: a sentence, then a `##` line for each of `HEADINGS`.
    """

    id: ClassVar[RuleId]
    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    """Whether the rule is asked without being named: not one that reads all of the .bin."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "id" in vars(cls):
            cls.code, cls.name, cls.severity = cls.id[:3]
        elif {"code", "name", "severity"} <= vars(cls).keys():
            cls.id = RuleId(cls.code, cls.name, cls.severity)

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        return iter(())

    @classmethod
    def finding(
        cls,
        message: str,
        offset: int,
        layer: Layer | None = None,
        *,
        port: tuple[str, str] | None = None,
        expected: str | None = None,
        actual: str | None = None,
        help: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule. offset: of the element or attribute. port: direction and id."""
        fault = Fault(cls.id, message, "", expected, actual, help, severity)
        return Finding(fault, offset, layer, port)

    @classmethod
    def page(cls) -> Page:
        from inspect import cleandoc

        summary, *parts = re.split(r"^## (.+)\n", cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
        return Page(
            summary.strip(),
            {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)},
        )
