"""The cures that several rules share: rewriting ids, renaming attributes, correcting ports.

Each is a base class; a rule takes its cure by deriving from it. What only `irshape fix` needs is
imported when a cure is asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from ..model.graph import Finding, Layer
from ..ops import registry
from .base import Cure, Rule
from .context import Context


class IdRule(Rule):
    """A rule about ids: one with a sign or leading zeros is rewritten as OpenVINO reads it."""

    phase = "ids"
    doubt = "wiring"

    @classmethod
    def cures(cls, context: Context, findings: Sequence[Finding]) -> Iterator[Cure]:
        from ..formats.ir.edits import set_attribute

        taken: dict[object, set[str]] = {}
        for finding in findings:
            number = finding.expected
            if finding.rule != cls.id or finding.severity != "warning" or number is None:
                continue
            scope = cls.scope(finding)
            if scope is not None:
                if scope not in taken:
                    taken[scope] = set(cls.ids_in(context, finding))
                if number in taken[scope]:
                    continue
                taken[scope].add(number)
            edit = set_attribute(context.model.source, finding.offset, number)
            if edit is not None:
                yield Cure(finding, (edit,))

    @classmethod
    def scope(cls, finding: Finding) -> Hashable | None:
        """What the id must be unique in; None if it only refers to something."""
        return None

    @classmethod
    def ids_in(cls, context: Context, finding: Finding) -> Iterable[str]:
        """The ids in the scope of a finding."""
        return ()


class AttributeNameRule(Rule):
    """A rule about names of attributes: a misspelt one is corrected if a single name is closest.

    `expected` of a finding lists the names that are known, with commas between them."""

    phase = "names"
    doubt = "nothing"

    @classmethod
    def cures(cls, context: Context, findings: Sequence[Finding]) -> Iterator[Cure]:
        from ..formats.ir.edits import rename_attribute

        source = context.model.source
        by_name: dict[tuple[int, str], list[Cure]] = {}
        for finding in findings:
            if finding.rule != cls.id or finding.actual is None or finding.expected is None:
                continue
            element = source.data.rfind(b"<", 0, finding.offset)
            name = cls.intended(context, finding, element)
            if name is None:
                continue
            edit = rename_attribute(source, finding.offset, finding.actual, name)
            if edit is not None:
                by_name.setdefault((element, name), []).append(Cure(finding, (edit,)))
        for candidates in by_name.values():
            if len(candidates) == 1:  # two attributes of one element cannot both get the name
                yield from candidates

    @classmethod
    def intended(cls, context: Context, finding: Finding, element: int) -> str | None:
        """The closest name that the element lacks; None if there is none, or more than one."""
        from difflib import get_close_matches

        written, known = finding.actual or "", finding.expected or ""
        present = {name for name, *_ in context.model.source.attributes(element)}
        absent = [name for name in known.split(", ") if name not in present]
        same = [name for name in absent if _folded(name) == _folded(written)]
        if len(same) == 1:
            return same[0]
        close = get_close_matches(written, absent, 2, 0.75)
        if len(close) == 2 and similarity(written, close[0]) <= similarity(written, close[1]):
            return None
        return close[0] if close else None


def _folded(name: str) -> str:
    """A name without what hands and tools spell in different ways: capitals, `-` and `_`."""
    return name.lower().replace("-", "").replace("_", "")


def closest_attribute(layer: Layer, written: str, name: str) -> bool:
    """Whether no other attribute that the layer could have is as similar to the one written."""
    try:
        attributes = registry.find(layer.type, layer.version).attributes.values()
    except registry.UnknownOperation:
        return True
    others = [
        attribute.name
        for attribute in attributes
        if attribute.name != name and layer.attribute(attribute.name) is None
    ]
    return all(similarity(written, other) < similarity(written, name) for other in others)


def similarity(name: str, other: str) -> float:
    """From 0 to 1, as `difflib` measures it."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, other, name).ratio()


class PortRule(Rule):
    """A rule about what ports declare: they are corrected to what the operations require."""

    phase = "ports"
    doubt = "nothing"

    @classmethod
    def cures(cls, context: Context, findings: Sequence[Finding]) -> Iterator[Cure]:
        from .corrections import port_corrections

        yield from context.shared(port_corrections, tuple(findings)).get(cls.id, ())
