"""The single slip for which a text is not well-formed XML: a tag, a quote or a slash."""

from __future__ import annotations

from itertools import chain
from xml.parsers import expat

from ..faults import Fault
from ..model.graph import Finding
from ..model.source import Source
from ..rule_ids import MALFORMED_XML, NOT_AN_IR
from .between_elements import around_the_document
from .candidate import Candidate, Diagnosis
from .in_tags import doubled_attributes
from .merge_conflicts import rated, sides
from .stray_text import Slip, edited, in_characters, in_lines, in_one_character, where_parsing_stops
from .structure import in_doubled_lines, slips_in_structure

_ENDED = ("no element found", "unclosed token", "unclosed CDATA section")
MAX_SIZE = 1 << 25
"""How many bytes a text may have in which the slip is looked for."""


def malformed_cause(finding: Finding, source: Source) -> Diagnosis | None:
    """The slip for which a file is not well-formed, with what takes it back."""
    if source.raw is not None or len(source.data) > MAX_SIZE:
        return None
    if finding.rule not in (MALFORMED_XML, NOT_AN_IR):
        return None
    structure = finding.rule == NOT_AN_IR and is_well_formed(source.data)
    if finding.rule == NOT_AN_IR and not structure:
        finding = finding._replace(fault=Fault(MALFORMED_XML, finding.message))
    if not structure and (rivals := _of_rivals(finding, source)) is not None:
        return rivals
    cause = slip(source, finding.offset, structure=structure)
    if cause is None:
        return _cut_off(finding) if finding.message.endswith(_ENDED) else None
    message, help = finding.message, f"likely meant: {cause.change}"
    if finding.offset != cause.offset or "not closed" not in message:
        message = cause.cause
        if not structure:
            message = f"the file is not well-formed XML: {message}"
    told = Finding(finding.fault._replace(message=message, help=help), cause.offset)
    return Diagnosis(told, (finding,), (_candidate(cause),), True)


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


def _cut_off(finding: Finding) -> Diagnosis:
    """The end of a file is missing."""
    message = "the file is not well-formed XML: it ends before its elements are closed"
    help = "get the whole file: this one was cut off here"
    return Diagnosis(
        finding._replace(fault=finding.fault._replace(message=message, help=help)),
        (finding,),
        (),
        False,
    )


def slip(source: Source, stopped: int = 0, *, structure: bool = False) -> Slip | None:
    """The slip after which the whole text is well-formed; None if no single one is it.

    stopped: where a parser stops. structure: each element has to be where it belongs, too.
    """
    text = source.data
    if structure:
        tried = chain(in_lines(text, stopped), slips_in_structure(text))
    else:
        tried = chain(
            in_characters(text),
            around_the_document(text),
            in_doubled_lines(text, (where_parsing_stops(text), stopped)),
            slips_in_structure(text),
            in_lines(text, stopped),
            in_one_character(text, dict.fromkeys((where_parsing_stops(text), stopped))),
        )
    for candidate in tried:
        after = edited(text, candidate.edits)
        if is_well_formed(after) and (
            not (candidate.doubtful or structure) or is_in_structure(after)
        ):
            return candidate
    return None


def is_well_formed(text: bytes) -> bool:
    """Whether a text is XML that can be read."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError, LookupError):  # not decoded, or not well-formed
        return False
    return True


def is_in_structure(text: bytes) -> bool:
    """Whether every known element stands where it belongs."""
    return next(slips_in_structure(text), None) is None
