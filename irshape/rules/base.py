"""What a rule is, and what it may look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple

from ..model.graph import Problem
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
    """A rule. `check` finds its problems; one that has none is met while reading or inferring, and reported under its name.

    The docstring is the documentation: a sentence, then a `##` line for each of `HEADINGS`.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Literal["error", "warning", "info"]]
    default: ClassVar[bool] = True
    """Whether the rule is asked without being named: not one that reads all of the .bin."""

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        return iter(())

    @classmethod
    def page(cls) -> Page:
        from inspect import cleandoc

        summary, *parts = re.split(r"^## (.+)\n", cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
        return Page(
            summary.strip(),
            {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)},
        )
