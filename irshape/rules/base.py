"""Defines `Rule`, the base class of the rules of `irshape validate`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Literal, NamedTuple, Unpack

from .. import rule_ids
from ..faults import Stated, fault
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
"""A part of a file that may cause a finding, e.g. `edges`.

A function of this name in `irshape/repair/` proposes changes of this part. Exception: `ports` has
no function, since `irshape fix` writes the inferred types and shapes into the ports.
"""


_IDS = {
    "".join(map(str.capitalize, each.name.split("-"))): each
    for each in vars(rule_ids).values()
    if isinstance(each, RuleId)
}
"""Maps the class name of each of irshape's own rules, e.g. `DuplicateId`, to the rule's id."""


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

    `check` finds faults. The file reader and shape inference can also report faults under the `id`
    of the rule. `findings` yields the faults from both. irshape's own rules get their `id` from the
    class name; a plugin's rule sets `code`, `name` and `severity`. The docstring is the
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
    """Whether a finding of this rule means that irshape could not check the file. irshape reports
    the finding even if `--select` names only other rules; only a selector in `ignore` hides it."""
    trifling: ClassVar[bool] = False
    """Whether infos of this rule need no action. Formats for merge requests and dashboards omit
    them."""
    suspects: ClassVar[tuple[Suspect, ...]] = ()
    """The parts of a file that may cause the finding. `validate` and `fix` try changes of these."""
    refused: ClassVar[bool] = False
    """Whether OpenVINO refuses every file with an error of this rule.

    Need not be set for errors that operations report: irshape knows that OpenVINO refuses these.
    """
    doubt: ClassVar[Literal["nothing", "values", "layer", "wiring"]] = "nothing"
    """The part of a model that an error of this rule makes uncertain.

    `values`: types, shapes or bytes. `layer`: also the outputs of the layer with the error.
    `wiring`: also all edges. With such an error, irshape computes the model only if the user forces
    it. `irshape fix` changes no ports that depend on an uncertain layer or uncertain edges.
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
        stated = fault(message, rule=cls.id, **facts)
        if isinstance(place, Port) and layer is not None:
            side = "input" if any(each is place for each in layer.inputs) else "output"
            port = side, place.id
        elif isinstance(place, Layer):
            layer = place
        return Finding(stated, place if isinstance(place, int) else place.offset, layer, port)

    @classmethod
    def page(cls) -> Page:
        """Returns the documentation of the rule, which its docstring contains."""
        from inspect import cleandoc

        summary, *parts = re.split(r"^## (.+)\n", cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
        return Page(
            summary.strip(),
            {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)},
        )
