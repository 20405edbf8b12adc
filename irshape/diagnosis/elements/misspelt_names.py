"""Misspelt names of attributes and elements, and ids with a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...formats.ir.edits import Edit, rename_attribute
from ...model.edges import Edge
from ...model.graph import Finding
from ...model.ids import lenient_id
from ...rule_ids import (
    MISSPELT_ELEMENT,
    UNKNOWN_ELEMENT,
)
from ...rules import rule_of
from ..candidate import Candidate
from ..trials.scene import Scene
from .writing import renamed_element


def cured_causes(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    """What the rule of a finding knows to be meant: names that are misspelt, ids with a sign."""
    rule = rule_of(finding.rule)
    if rule is None or rule.phase not in ("ids", "names"):
        return
    edits = [cure.edits for cure in rule.cures(scene.context, [finding])]
    edge = scene.edge_at(finding.offset)
    touched = _edge_ends(scene, edge) if edge is not None else ()
    for edit in edits or _names_of_nearly_the_same_letters(scene, finding):
        yield Candidate(
            edit,
            _renaming(scene, edit) if rule.phase == "names" else finding.help or "",
            finding.message,
            finding.offset,
            finding.layer,
            touched or (() if position is None else (position, *_named_by(scene, finding))),
            touched,
            cost=0.3,
        )


def _renaming(scene: Scene, edits: Sequence[Edit]) -> str:
    """What edits of names come to."""
    first = edits[0]
    written = scene.source.data[first.start : first.end].decode("utf-8", "replace")
    return f"`{written}` becomes `{first.text.decode('utf-8', 'replace')}`"


def _edge_ends(scene: Scene, edge: Edge) -> tuple[int, ...]:
    """The layers whose ids an edge has, under whatever names."""
    texts = dict.fromkeys(
        scene.source.data[start:end].decode("ascii", "replace")
        for name, _, start, end in scene.source.attributes(edge.offset)
        if "p" not in name  # a port
    )
    return tuple(
        at
        for text in (*texts, edge.from_layer, edge.to_layer)
        for at in scene.by_id.get(lenient_id(text) or "", ())
    )


def _names_of_nearly_the_same_letters(scene: Scene, finding: Finding) -> Iterator[tuple[Edit, ...]]:
    """An attribute whose letters are those of one that the element lacks, in another order, or with
    one more or less."""
    written, known = finding.actual, (finding.expected or "").split(", ")
    if written is None or finding.rule.code not in ("IR105", "IR106", "IR121", "IR301", "IR302"):
        return
    element = scene.source.data.rfind(b"<", 0, finding.offset)
    present = {name for name, *_ in scene.source.attributes(element)}
    for name in known:
        if name not in present and _nearly_the_same_letters(name, written):
            edit = rename_attribute(scene.source, finding.offset, written, name)
            if edit is not None:
                yield (edit,)


def _nearly_the_same_letters(one: str, other: str) -> bool:
    if sorted(one) == sorted(other):
        return True
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(
        long[:at] + long[at + 1 :] == short for at in range(len(long))
    )


def _named_by(scene: Scene, finding: Finding) -> Iterator[int]:
    """The layers at the edges that name what an attribute of a layer says."""
    element = scene.source.data.rfind(b"<", 0, finding.offset)
    for _, offset, start, end in scene.source.attributes(element):
        if offset != finding.offset:
            continue
        text = scene.source.data[start:end].decode("ascii", "replace")
        for edge in scene.edges_from.get(text, ()):
            yield from scene.by_id.get(edge.to_layer, ())
        for edge in scene.edges_to.get(text, ()):
            yield from scene.by_id.get(edge.from_layer, ())


def element_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An element whose name is misspelt."""
    if finding.rule not in (MISSPELT_ELEMENT, UNKNOWN_ELEMENT) or not finding.expected:
        return
    if finding.rule == MISSPELT_ELEMENT:
        edits = renamed_element(scene.source, finding.offset, finding.expected)
        if edits:
            touched = {position, *(at for _, at, _ in scene.consumers[position])}
            for edge in scene.edges_from.get(scene.layers[position].id, ()):
                touched.update(scene.by_id.get(edge.to_layer, ()))
            yield Candidate(
                edits,
                f"<{finding.actual}> becomes <{finding.expected}>",
                finding.message,
                finding.offset,
                scene.layers[position],
                tuple(touched),
                cost=0.5,
            )
