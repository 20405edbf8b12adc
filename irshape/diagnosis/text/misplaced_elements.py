"""Causes in the text of a well-formed file: elements and texts that stand where none belong.

An end tag stands too early or too late, an element was moved or stands in a comment, a tag lacks a
bracket, or two lines stand in each other's place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from ...faults import Fault
from ...formats.ir.edits import Edit, element_end
from ...formats.ir.elements import OPAQUE
from ...formats.ir.text_between import texts_between
from ...model.graph import Body, Finding, Layer
from ...model.ids import is_number
from ...rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    MISSING_EDGE,
    MISSPELT_ELEMENT,
    REPEATED_ELEMENT,
    STRAY_TEXT,
    UNKNOWN_ELEMENT,
    UNREACHABLE_LAYER,
)
from ...rules import Context
from ..candidate import Candidate, Diagnosis
from ..trials.trial import take
from ..trials.work import Work
from .between_elements import without_texts
from .displaced_lines import in_displaced_lines
from .excerpts import is_in_order
from .format_tables import KNOWN, NAME
from .merge_conflicts import half_a_conflict
from .repeated import in_repeated_pieces
from .rereading import Rereading, graver_findings, place_of
from .slip import Slip
from .stray_text import hidden, instructions
from .wrong_body import in_the_wrong_body

_MISPLACED = (UNKNOWN_ELEMENT, REPEATED_ELEMENT, MISSPELT_ELEMENT, STRAY_TEXT)
_OPEN_TAG = re.compile(rb"(<[\w.-]+(?:\s[^<>]*)?)(?<!/)>\s*")
_AS_ELEMENT = re.compile(
    rb"<(?!(?:%s)>)([\w.:-]+)>([^<>\"]*)</\1\s*>\s*" % "|".join(KNOWN).encode()
)
_DATA = re.compile(rb"<data((?:\s+[\w.:-]+\s*=\s*\"[^\"<>]*\")+)\s*(?:/>|>\s*</data\s*>)")
_NAMED = re.compile(rb"(?:from|to)-layer\s*=\s*[\"']([^\"']*)")
_TOO_MANY = (DUPLICATE_ID, UNREACHABLE_LAYER, MISSING_EDGE)
_DOUBLED = (DUPLICATE_EDGE, DUPLICATE_ID, REPEATED_ELEMENT)
PIECES = 4
"""How many pieces that stand there twice are tried."""
DISPLACED = 8
"""In how many ways lines are put elsewhere."""
MAX_TRIED = 2
"""How often the file is checked again as a whole: that takes most of what it takes to validate."""
MOST_TEXTS = 20_000
"""With more texts between elements than this, the file is something else."""
MAX_COMMENTS = 16
"""With more elements in comments than this, they were put there on purpose."""


def misplaced_cause(context: Context, graver: Sequence[Finding], work: Work) -> Diagnosis | None:
    """The slip after which each element stands where it belongs, and what it explains."""
    rereading, data = Rereading(context), context.model.source.data
    places = [finding.offset for finding in graver if finding.rule in _MISPLACED]
    repeated = [finding.offset for finding in graver if finding.rule == REPEATED_ELEMENT]
    doubled = [finding.offset for finding in graver if finding.rule in _DOUBLED]
    kinds = (
        in_repeated_pieces(rereading.structure, doubled[:2], of_lines=each)
        for each in (True, False)
        if len(doubled) > 1 or repeated
    )
    pieces = (islice(_with_any(doubled, kind), PIECES) for kind in kinds)
    cause = _explaining(rereading, graver, chain.from_iterable(pieces), work)
    if cause is not None and len(cause.explained) == len(graver):
        return cause
    in_text = chain(
        _pasted(data, places[:1]),
        _called_otherwise(data, repeated[:1]),
        _in_two(data, repeated[:1]),
        _wrapped(data, places[:1]),
        _as_attributes(data, places[:1]),
        _of_structure(rereading, places),
        _hidden(data),
    )
    of_bodies = in_the_wrong_body(context, graver)
    for slips in (in_text, of_bodies, _in_another_body(context, graver)):
        cause = _explaining(rereading, graver, slips, work)
        if cause is not None:
            return cause
    return None


def _with_any(places: Sequence[int], pieces: Iterable[Slip]) -> Iterator[Slip]:
    """Those of some pieces that stand there twice in which, the first or the second, a place is."""
    for slip in pieces:
        start, end = min(slip.edits).start, max(edit.end for edit in slip.edits)
        if any(2 * start - end <= place <= end for place in places):
            yield slip


def _explaining(
    rereading: Rereading, graver: Sequence[Finding], slips: Iterable[Slip], work: Work
) -> Diagnosis | None:
    """The slip after which least is wrong, and nothing else; few are tried."""
    before, left_before = Counter(map(place_of, graver)), work.left
    best: tuple[Slip, tuple[Finding, ...]] | None = None
    for slip in slips if rereading.tried < MAX_TRIED else ():
        checked = rereading.context_with(slip.edits) if rereading.is_sound(slip.edits) else None
        if checked is None:
            continue
        rereading.tried += 1
        work.count(work.whole / 2)
        left = _left(checked, before)
        if left is not None:
            gone = before - left
            explained = tuple(finding for finding in graver if take(gone, place_of(finding)))
            if explained and (best is None or len(explained) > len(best[1])):
                best = slip, explained
        if rereading.tried == MAX_TRIED or (best is not None and len(best[1]) == len(graver)):
            break
    if best is None:
        return None
    if len(graver) > 1 and [finding.rule for finding in best[1]] == [STRAY_TEXT]:
        work.left = left_before  # it may stand in the place of what another finding lacks
        return None
    work.go_on()
    return _told(*best)


def _of_structure(rereading: Rereading, places: Sequence[int]) -> Iterator[Slip]:
    if not places:
        return
    text = rereading.data
    yield from half_a_conflict(text)
    if rereading.has_texts_between:
        between = texts_between(text, OPAQUE)
        if 1 < len(between) <= MOST_TEXTS:
            yield without_texts(text, between)
    structure = rereading.structure
    slips = [] if structure.is_sound else structure.slips()
    others: list[Slip] = []
    for slip in slips:
        if not rereading.is_sound(slip.edits):
            continue
        if is_in_order(structure, slip.edits):
            yield slip
        else:
            others.append(slip)
    kinds = in_displaced_lines(structure, places[:1])
    yield from islice(chain.from_iterable(islice(kind, 3) for kind in kinds), DISPLACED)
    yield from others


def _called_otherwise(text: bytes, places: Sequence[int]) -> Iterator[Slip]:
    """Of two elements of one name, <output> or <input>, the first holds inputs."""
    for place in places:
        for wrong, meant in ((b"output", b"input"), (b"input", b"output")):
            at = text.rfind(b"<output>", 0, place) if wrong == b"output" else place
            if text.startswith(b"<" + wrong + b">", place):
                end = text.find(b"</" + wrong + b">", at) + 2
                edits = (Edit(start, start + len(wrong), meant) for start in (at + 1, end))
                shown = f"<{wrong.decode()}> becomes <{meant.decode()}>"
                cause = f"the <{meant.decode()}> of the layer is called <{wrong.decode()}>"
                yield Slip(tuple(edits), shown, cause, at)


def _in_two(text: bytes, places: Iterable[int]) -> Iterator[Slip]:
    """The attributes of one <data> stand in two."""
    for place in places:
        first = text.rfind(b"<data", 0, place)
        one, other = _DATA.match(text, max(first, 0)), _DATA.match(text, place)
        if one is not None and other is not None and text.find(b"<layer", first, place) < 0:
            begin = len(text[:place].rstrip())
            edits = Edit(one.end(1), one.end(1), other[1].rstrip()), Edit(begin, other.end(), b"")
            shown = other[1].strip().decode("utf-8", "replace")
            cause = "the attributes of <data> stand in two elements, of which OpenVINO reads one"
            yield Slip(edits, f"{shown} stands in the first", cause, place)


def _wrapped(text: bytes, places: Iterable[int]) -> Iterator[Slip]:
    """Elements stand in another one, which has no meaning."""
    for place in places:
        inside, end = text.find(b">", place) + 1, element_end(text, place)
        close = text.rfind(b"</", place, end)
        child = NAME.match(text, len(text) - len(text[inside:].lstrip())) if close > 0 else None
        if child is not None and child[2].decode() in KNOWN:
            edits = Edit(place, inside, b""), Edit(close, end, b"")
            name = text[place:inside].decode("utf-8", "replace")
            cause = f"{name} has no meaning here; OpenVINO silently ignores it and its content"
            yield Slip(edits, f"what {name} contains stands without it", cause, place)


def _pasted(text: bytes, places: Sequence[int]) -> Iterator[Slip]:
    """A layer stands inside another element, and elsewhere with the same words."""
    for place in places:
        end = element_end(text, place) if text.startswith(b"<layer ", place) else -1
        if end < 0:
            continue
        words, head = text[place:end].split(), text[place : text.find(b">", place) + 1]
        other = text.find(head)
        while other == place or (
            other >= 0 and text[other : element_end(text, other)].split() != words
        ):
            other = text.find(head, other + 1)
        if other >= 0:
            line = text.count(b"\n", 0, other) + 1
            edit = Edit(len(text[:place].rstrip()), end, b"")
            cause = f"a copy of the layer in line {line} stands inside another element"
            yield Slip((edit,), "it is removed", cause, place)


def _hidden(text: bytes) -> list[Slip]:
    """Elements that stand in a comment or a CDATA section; none if many do, on purpose."""
    slips = [*hidden(text, 0, len(text)), *instructions(text, 0, len(text))]
    return slips if len(slips) <= MAX_COMMENTS else []


def _as_attributes(text: bytes, places: Iterable[int]) -> Iterator[Slip]:
    """Elements at the beginning of another are written for its attributes."""
    for place in places:
        end = text.rfind(b"<", 0, place)
        tag = _OPEN_TAG.match(text, end) if end >= 0 else None
        written, behind = [], tag.end() if tag is not None else 0
        while tag is not None and (match := _AS_ELEMENT.match(text, behind)) is not None:
            written.append(match)
            behind = match.end()
        if tag is None or not written:
            continue
        words = b"".join(b' %s="%s"' % (each[1], each[2].strip()) for each in written)
        at = tag.end(1)
        edits = Edit(at, at, words), Edit(tag.end(), behind, b"")
        shown = words.decode("utf-8", "replace").strip()
        cause = f"<{written[0][1].decode('utf-8', 'replace')}> stands for an attribute"
        yield Slip(edits, f"{shown} stands in the tag", cause, tag.start())


def _in_another_body(context: Context, graver: Sequence[Finding]) -> Iterator[Slip]:
    """A layer that edges of a body name, and that is too much in another one, belongs there."""
    text, bodies = context.model.source.data, {body.path: body for body in context.results}
    if len(bodies) < 2:
        return
    extra = {f.layer for f in graver if f.rule in _TOO_MANY and f.layer is not None}
    wanted = {
        (finding.layer.path, match[1].decode("utf-8", "replace"))
        for finding in graver
        if finding.rule == DANGLING_EDGE
        and finding.layer is not None
        and (match := _NAMED.match(text, finding.offset)) is not None
    }
    for path, number in sorted(wanted):
        body = bodies.get(path)
        if body is None or not body.layers:
            continue
        before = [each for each in body.layers if _precedes(each.id, number)]
        place = element_end(text, before[-1].offset) if before else body.layers[0].offset
        for other in bodies.values():
            for layer in other.layers if other is not body else ():
                if layer.id != number or not _is_extra(layer, extra, other):
                    continue
                start, end = layer.offset, element_end(text, layer.offset)
                if end > 0 and place > 0 and not (start <= place < end):
                    lead = text.rfind(b">", 0, start) + 1
                    edits = Edit(lead, end, b""), Edit(place, place, text[lead:end])
                    where = f"`{path[-1]}` of layer {path[-2]}" if path else "the net"
                    cause = f"{layer.label} stands in the wrong body: edges of {where} name it"
                    change = f"it stands in {where}"
                    yield Slip(tuple(sorted(edits)), change, cause, start)


def _is_extra(layer: Layer, extra: set[Layer], body: Body) -> bool:
    """Whether a layer is a second one of its id, or no edge of its body names it."""
    return any(each is layer or each.id == layer.id for each in extra if each in body.layers) or (
        all(layer.id not in (edge.from_layer, edge.to_layer) for edge in body.edges)
    )


def _precedes(one: str, other: str) -> bool:
    return is_number(one) and is_number(other) and int(one) < int(other)


def _told(slip: Slip, explained: tuple[Finding, ...]) -> Diagnosis:
    candidate = Candidate(slip.edits, slip.change, slip.cause, slip.offset, None, ())
    errors = [finding for finding in explained if finding.severity == "error"]
    lead = next((f for f in explained if f.rule in _MISPLACED), (errors or explained)[0])
    rule = lead.rule
    by_itself = rule in (STRAY_TEXT, UNKNOWN_ELEMENT) and len(explained) == 1
    if by_itself and lead.offset == slip.offset:
        return Diagnosis(lead, explained, (candidate,), True)
    if rule in (REPEATED_ELEMENT, MISSPELT_ELEMENT):
        rule = UNKNOWN_ELEMENT
    fault = Fault(
        rule,
        slip.cause,
        help=f"likely meant: {slip.change}",
        severity="error" if errors else "warning",
    )
    layer = lead.layer if lead.offset == slip.offset else None
    told = Finding(fault, slip.offset, layer, None, explained)
    return Diagnosis(told, explained, (candidate,), True)


def _left(
    context: Context, before: Counter[tuple[object, ...]]
) -> Counter[tuple[object, ...]] | None:
    """The errors and warnings in a model, wherever they stand; None if some were not before."""
    left: Counter[tuple[object, ...]] = Counter()
    for finding in graver_findings(context):
        key = place_of(finding)
        left[key] += 1
        if left[key] > before[key]:
            return None
    return left
