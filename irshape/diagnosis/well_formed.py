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
from .merge_conflicts import sides
from .stray_text import Slip, edited, in_characters, in_lines, where_parsing_stops
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
    if not structure and (conflict := _conflict(finding, source)) is not None:
        return conflict
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


def _conflict(finding: Finding, source: Source) -> Diagnosis | None:
    """A merge conflict, and the sides of it: the one with which less is wrong is right."""
    rated = sides(source)
    if not rated:
        return None
    certain = len(rated) > 1 and rated[0][0] < rated[1][0]
    change = rated[0][1].change
    help = f"likely meant: {change}" if certain else "decide which side of the conflict holds"
    told = finding._replace(fault=finding.fault._replace(help=f"{help}, and delete the marks"))
    return Diagnosis(told, (finding,), tuple(_candidate(slip) for _, slip in rated), certain)


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
