"""Defines a rule: its documentation, its check, and the possible origins of its findings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple, Unpack

from .. import rule_ids
from ..faults import Fault, Stated
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..rule_ids import RuleId, Severity
from .context import Context

Suspect = Literal[
    "attributes",
    "constants",
    "edges",
    "element_names",
    "ids",
    "names",
    "notations",
    "ports",
    "sources",
    "types",
    "versions",
]
"""The possible origins of a finding.

The `repair` folder has a function with the name of each. The function for `ports` changes declared
ports to the types and shapes that irshape infers.
"""


_IDS = {
    "".join(map(str.capitalize, each.name.split("-"))): each
    for each in vars(rule_ids).values()
    if isinstance(each, RuleId)
}
"""The ids of irshape's own rules, by the names of their classes: `DuplicateId` is duplicate-id."""


class Page(NamedTuple):
    """The documentation of a rule: one sentence, and Markdown text for each heading."""

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
"""The headings of a rule's docstring, in this order. `Use instead` is optional."""


class Rule:
    """A rule: its code, its findings, and the possible origins of the findings.

    A rule of irshape has the `id` after which its class is named; a plugin's rule sets `code`,
    `name` and `severity`. A rule implements `check`, or names a fault that the reader or the
    inference reports under its `id`, or both. `findings` yields the findings of both kinds. The
    docstring is the documentation: a sentence, then a `##` line for each of `HEADINGS`.
    """

    id: ClassVar[RuleId]
    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    """Whether the rule runs without being selected. Rules that read the whole .bin do not."""
    of_nets: ClassVar[bool] = False
    """Whether `check` examines only nets, and no single layers as documents print them."""
    fatal: ClassVar[bool] = False
    """Whether the file could not be checked. The rule stays active when the user selects other
    rules; only an explicit selector in `ignore` turns it off."""
    trifling: ClassVar[bool] = False
    """Whether its infos need no action. Reports for machines contain those only on request."""
    suspects: ClassVar[tuple[Suspect, ...]] = ()
    """The possible origins of its findings. `validate` and `fix` look for a change there."""
    refused: ClassVar[bool] = False
    """Whether OpenVINO refuses every file with an error of this rule.

    Rules for conditions that an operation refuses need not set it.
    """
    doubt: ClassVar[Literal["nothing", "layer", "wiring"]] = "nothing"
    """The part of a model that an error of this rule leaves uncertain. `irshape fix` does not
    change ports in that part.

    The part is nothing, the outputs of the finding's layer, or all edges.
    """
    stops_runs: ClassVar[bool] = False
    """Whether an error of this rule affects types, shapes or bytes.

    irshape does not compute a model with an error of this kind, unless the user forces it.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith(f"{__package__}.") and cls.__name__ in _IDS:
            cls.id = _IDS[cls.__name__]
        if "id" in vars(cls):
            cls.code, cls.name, cls.severity = cls.id[:3]
        elif {"code", "name", "severity"} <= vars(cls).keys():
            cls.id = RuleId(cls.code, cls.name, cls.severity)

    @classmethod
    def findings(cls, context: Context) -> Iterator[Finding]:
        """Yields every finding of this rule in a model."""
        if cls.id in context.reported:
            yield from cls.reported(context)
        if context.model.kind == "net" or not cls.of_nets:
            yield from cls.check(context)

    @classmethod
    def reported(cls, context: Context) -> Iterator[Finding]:
        """Yields the findings that the reader and the inference report under the id of this
        rule."""
        yield from context.reported.get(cls.id, ())

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        """Yields the rule's own findings in a model that has been read and inferred."""
        return iter(())

    @classmethod
    def finding(
        cls,
        message: str,
        place: int | Layer | Port,
        layer: Layer | None = None,
        *,
        port: tuple[str, str] | None = None,
        **facts: Unpack[Stated],
    ) -> Finding:
        """Returns a finding of this rule.

        place: the offset of the element or attribute, or the layer or port itself. port: direction
        and id.
        """
        fault = Fault(cls.id, message, **facts)
        if isinstance(place, Port) and layer is not None:
            side = "input" if any(each is place for each in layer.inputs) else "output"
            port = side, place.id
        elif isinstance(place, Layer):
            layer = place
        return Finding(fault, place if isinstance(place, int) else place.offset, layer, port)

    @classmethod
    def page(cls) -> Page:
        """Returns the documentation, taken from the docstring."""
        from inspect import cleandoc

        summary, *parts = re.split(r"^## (.+)\n", cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
        return Page(
            summary.strip(),
            {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)},
        )
