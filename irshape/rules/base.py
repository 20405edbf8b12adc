"""Defines the base class of rules: documentation, check, and possible origins of findings."""

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
"""What can be wrong in a file with a finding, e.g. `edges`.

A function of this name in `irshape/repair/` proposes changes of the file. Only `ports` has no
function: declared ports are changed to the inferred types and shapes.
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
    """A rule: its code, its check, and its documentation.

    A rule finds faults in `check`, or the file reader or shape inference reports faults under its
    `id`, or both. `findings` yields all of these faults. A rule of irshape gets its `id` by the
    name of its class; a plugin's rule sets `code`, `name` and `severity`. The docstring is the
    documentation: a sentence, then a `##` line and text for each of `HEADINGS`.
    """

    id: ClassVar[RuleId]
    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    """Whether the rule is on by default. Rules that read the whole .bin are off."""
    of_nets: ClassVar[bool] = False
    """Whether `check` runs only on networks, not on single layers copied from documentation."""
    fatal: ClassVar[bool] = False
    """Whether a finding means that irshape could not check the file. Such a rule is reported even
    if `--select` names only other rules; only a selector in `ignore` turns it off."""
    trifling: ClassVar[bool] = False
    """Whether infos of this rule need no action. Formats for merge requests and dashboards omit
    them."""
    suspects: ClassVar[tuple[Suspect, ...]] = ()
    """What may be wrong in a file with a finding. `validate` and `fix` try changes there."""
    refused: ClassVar[bool] = False
    """Whether OpenVINO refuses every file with an error of this rule.

    Not needed for errors that operations report: irshape knows that OpenVINO refuses them.
    """
    doubt: ClassVar[Literal["nothing", "layer", "wiring"]] = "nothing"
    """The part of a model that may be wrong after an error of this rule. `irshape fix` does not
    change ports that depend on this part.

    `layer`: the outputs of the layer with the error. `wiring`: all edges.
    """
    stops_runs: ClassVar[bool] = False
    """Whether an error of this rule can make computed values wrong: it affects types, shapes or
    bytes.

    irshape does not compute a model with such an error, unless the user forces it.
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
        """Yields all findings of this rule in a model."""
        if cls.id in context.reported:
            yield from cls.reported(context)
        if context.model.kind == "net" or not cls.of_nets:
            yield from cls.check(context)

    @classmethod
    def reported(cls, context: Context) -> Iterator[Finding]:
        """Yields the findings that the reader and the inference report under the rule's id."""
        yield from context.reported.get(cls.id, ())

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        """Yields faults of a model, after irshape has read it and inferred its shapes."""
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

        place: a layer, a port, or the offset of an element or attribute. port: direction and id.
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
        """Returns the documentation of the rule, which its docstring contains."""
        from inspect import cleandoc

        summary, *parts = re.split(r"^## (.+)\n", cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
        return Page(
            summary.strip(),
            {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)},
        )
