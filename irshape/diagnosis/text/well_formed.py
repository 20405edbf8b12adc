"""The single slip for which a text is not well-formed XML: a tag, a quote or a slash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...faults import Fault
from ...formats.ir.edits import Edit, add_attribute, set_attribute
from ...model.graph import Finding, NotReadable
from ...model.source import Source
from ...rule_ids import IR_VERSION, MALFORMED_XML, NOT_AN_IR
from ..candidate import Candidate, Diagnosis
from .between_elements import around_the_document
from .cut_pieces import in_cut_pieces
from .displaced_lines import in_displaced_lines
from .excerpts import first_break, is_in_order
from .in_tags import doubled_attributes, half_a_tag
from .merge_conflicts import rated, sides
from .proofs import Proofs, end_of_parsing
from .repeated import in_repeated_pieces
from .slip import Slip, edited
from .stray_text import hidden, in_characters, in_one_character, instructions
from .structure import Structure

_Kind = tuple[Iterable[Slip], bool]
"""Slips of one kind, and whether several of them may be as likely."""
MOST_RIVALS = 4
"""So many changes that are about as likely are told."""
_ENDED = ("no element found", "unclosed token", "unclosed CDATA section")
FAR = 1000
"""So many bytes behind the place where a parser stops, what it stops at may go on."""
MOST_LEFT = 3
"""A file whose version is wrong has no more errors and warnings beside: else it is an older one."""
_PRECISE_INPUT = re.compile(rb"<input>\s*<port\s[^<>]*\sprecision=")
MAX_SIZE = 1 << 25
"""How many bytes a text may have in which the slip is looked for."""


def malformed_cause(unreadable: NotReadable) -> Diagnosis | None:
    """The slip for which a file is not well-formed, with what takes it back."""
    finding, source = unreadable.finding, unreadable.source
    if source.raw is not None or len(source.data) > MAX_SIZE:
        return None
    if finding.rule == IR_VERSION:
        return _of_another_version(finding, source)
    if finding.rule not in (MALFORMED_XML, NOT_AN_IR):
        return None
    structure = finding.rule == NOT_AN_IR and end_of_parsing(source.data) is None
    if finding.rule == NOT_AN_IR and not structure:
        finding = finding._replace(fault=Fault(MALFORMED_XML, finding.message))
    if not structure and (rivals := _of_rivals(finding, source)) is not None:
        return rivals
    elements = _elements(unreadable)
    causes = slips(elements, finding.offset, structure=structure)
    if not causes:
        ended = finding.message.endswith(_ENDED)
        return _cut_off(finding, source, elements) if ended else _torn(finding, elements)
    cause = causes[0]
    message, help = finding.message, f"likely meant: {cause.change}"
    if len(causes) > 1:
        help = f"{len(causes)} changes are as likely (irshape fix lists them): decide what is meant"
        causes = [each._replace(change=f"{each.cause}: {each.change}") for each in causes]
    if finding.offset != cause.offset or "not closed" not in message:
        message = cause.cause
        if not structure:
            message = f"the file is not well-formed XML: {message}"
    offset = _comment_before(source.data, cause.offset)
    if offset != cause.offset:
        message += "; something is lost where this comment stands"
    told = Finding(finding.fault._replace(message=message, help=help), offset)
    return Diagnosis(told, (finding,), tuple(map(_candidate, causes)), len(causes) == 1)


def _elements(unreadable: NotReadable) -> Structure:
    """The elements of a text around the place where reading stopped."""
    begun = unreadable.begun
    if begun is None or not begun.net.layers:
        return Structure(unreadable.source.data)
    met = (finding.offset for finding in (unreadable.finding, *begun.findings))
    return Structure.behind(begun, min(begun.net.layers[-1].offset, *met))


def _comment_before(text: bytes, place: int) -> int:
    """The comment that stands before a place, and for what is lost there; else the place itself."""
    lead = len(text[:place].rstrip())
    return text.rfind(b"<!--", 0, lead) if text.endswith(b"-->", 0, lead) else place


def _candidate(cause: Slip) -> Candidate:
    return Candidate(cause.edits, cause.change, cause.cause, cause.offset, None, ())


def _of_rivals(finding: Finding, source: Source) -> Diagnosis | None:
    """The sides of a conflict, or two values of an attribute: what leaves less wrong is right."""
    choices = sides(source)
    if not choices and finding.message.endswith("duplicate attribute"):
        start = source.data.rfind(b"<", 0, finding.offset + 1)
        choices = rated(source, list(doubled_attributes(source.data, start)))
    if not choices:
        return None
    certain = len(choices) > 1 and choices[0][0] < choices[1][0]
    (_, first), *_ = choices
    help = f"likely meant: {first.change}" if certain else "decide which of the two holds"
    message = f"the file is not well-formed XML: {first.cause}"
    if "conflict" in finding.message:
        message = finding.message  # which names the lines
    told = finding._replace(fault=finding.fault._replace(message=message, help=help))
    candidates = tuple(_candidate(slip) for _, slip in choices)
    return Diagnosis(told, (finding,), candidates, certain)


def _of_another_version(finding: Finding, source: Source) -> Diagnosis | None:
    """All is right in a file, but for the version. Older files have no precisions at inputs."""
    likely = ("11", "10") if _PRECISE_INPUT.search(source.data) else ("10", "11")
    element = source.data.rfind(b"<", 0, finding.offset + 1)
    slips: list[Slip] = []
    for text in likely:
        edit = set_attribute(source, finding.offset, text) or add_attribute(
            source, element, "version", text, after="name"
        )
        edits = () if edit is None else (edit,)
        slips.append(Slip(edits, f'version="{text}"', finding.message, finding.offset))
    left = [count for count, _ in rated(source, slips[:1])]
    if b"<edge " not in source.data or not left or left[0] > MOST_LEFT:
        return None
    fault = finding.fault._replace(help=f"likely meant: {slips[0].change}")
    return Diagnosis(finding._replace(fault=fault), (finding,), tuple(map(_candidate, slips)), True)


def _cut_off(finding: Finding, source: Source, elements: Structure) -> Diagnosis:
    """The end of a file is missing. Where nothing else is, end tags may be all that is lost."""
    message = "the file is not well-formed XML: it ends before its elements are closed"
    help = "get the whole file: this one was cut off here"
    told = finding._replace(fault=finding.fault._replace(message=message, help=help))
    end = source.data.rfind(b">") + 1
    opened = elements.opened_at_the_end()
    if "layers" in opened:  # nor is there any edge between the layers around that
        return Diagnosis(told, (finding,), (), False)
    tags = b"".join(f"</{name}>".encode() for name in reversed(opened))
    edit = Edit(end, len(source.data), tags + b"\n")
    slip = Slip((edit,), f"{tags.decode()} is added", "the end of the file is lost", end)
    left = rated(source, [slip]) if tags else []
    whole = bool(left) and not left[0][0]
    return Diagnosis(told, (finding,), (_candidate(slip),) if whole else (), False)


def _torn(finding: Finding, elements: Structure) -> Diagnosis | None:
    """Lines are lost or elsewhere, and nothing says which: the place is told where that shows."""
    place = first_break(elements, finding.offset)
    if place is None or b"\n" not in elements.text[place : finding.offset]:
        return None
    message = f"{finding.message}; this line cannot follow the one before it"
    help = "some lines before it are lost, or stand elsewhere"
    told = Finding(finding.fault._replace(message=message, help=help), place)
    return Diagnosis(told, (finding,), (), False)


def slips(elements: Structure, stopped: int, *, structure: bool) -> list[Slip]:
    """The slip after which the whole text is well-formed; none if no single one is it.

    Of several, that is chosen after which the lines stand in the order of writers; with it, those
    of the same kind for which that is as true.

    stopped: where a parser stops. structure: each element has to be where it belongs, too.
    """
    fallback: list[Slip] = []
    stops = stopped if structure else end_of_parsing(elements.text, *elements.outside(stopped))
    places = tuple(dict.fromkeys((stops or 0, stopped)))
    tried = _of_structure(elements, stopped) if structure else _of_text(elements, places, fallback)
    proofs = Proofs(elements, places)
    for kind, has_rivals in tried:
        chosen: list[Slip] = []
        for candidate in kind:
            if chosen and not _are_alike(candidate, chosen[0]):
                break
            if not proofs.is_well_formed(candidate.edits):
                continue
            in_order = is_in_order(elements, candidate.edits)
            if not in_order and (fallback or chosen):
                continue
            if not (candidate.doubtful or structure) or proofs.is_sound(candidate.edits):
                if not in_order:
                    fallback.append(candidate)
                elif not any(_gives_the_same(elements.text, candidate, each) for each in chosen):
                    chosen.append(candidate)
            if chosen and (len(chosen) == MOST_RIVALS or not has_rivals):
                break
        if chosen:
            return chosen
    return fallback


def _gives_the_same(text: bytes, one: Slip, other: Slip) -> bool:
    """Whether the same words stand in a text with either of two slips."""
    edits = (*one.edits, *other.edits)
    start = max(text.rfind(b"\n", 0, min(edits).start), 0)
    stop = text.find(b"\n", max(edit.end for edit in edits))
    stays = len(text) - stop if stop >= 0 else 0
    one_text, other_text = (edited(text, each.edits) for each in (one, other))
    return (
        one_text[start : len(one_text) - stays].split()
        == other_text[start : len(other_text) - stays].split()
    )


def _are_alike(one: Slip, other: Slip) -> bool:
    """Whether two slips say the same, or take something away."""
    return one.change == other.change or not any(edit.text for edit in (*one.edits, *other.edits))


def _of_structure(elements: Structure, stopped: int) -> Iterator[_Kind]:
    """What may be meant in a text that is well-formed."""
    yield hidden(elements.text, elements.before_as_seen(stopped)[0], stopped + FAR), False
    yield from ((kind, True) for kind in in_displaced_lines(elements, (stopped,)))
    yield elements.slips(), False


def _of_text(
    elements: Structure, places: Sequence[int], fallback: Sequence[Slip]
) -> Iterator[_Kind]:
    """What may be meant in a text that is not. fallback: what is known by then, if need be."""
    text, stopped = elements.text, places[-1]
    place = text.rfind(b"\n", 0, stopped) + 1
    near = max(place, elements.before_as_seen(stopped)[0]), stopped + FAR
    yield around_the_document(text), False
    yield in_characters(text, places, near), False
    around = elements.before(min(places))[0], max(places) + FAR
    yield instructions(text, *around), False
    yield in_repeated_pieces(elements, places), False
    yield elements.slips(), False
    yield in_one_character(text, places), False
    yield hidden(text, *around), False
    yield in_repeated_pieces(elements, places, of_lines=False), False
    yield from ((kind, True) for kind in in_displaced_lines(elements, places))
    yield half_a_tag(text, text.rfind(b"<", 0, places[0])), False
    if not fallback:
        yield from ((kind, True) for kind in in_cut_pieces(elements, places))
