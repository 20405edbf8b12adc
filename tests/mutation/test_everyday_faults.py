"""Faults of everyday editing are told once, at their element, and given back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
if not __package__:
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from judging import Judge  # noqa: E402
from planting import Original  # noqa: E402

EXAMPLES = HERE.parent.parent / "examples"
PLACES = (
    ("int8", "id-changed-in-the-edges", 6),
    ("int8", "id-changed-in-the-edges", 11),
    ("int8", "id-changed-in-the-edges", 17),
    ("control_flow", "inner-edge-in-the-outer-net", 18),
    ("control_flow", "outer-edge-in-the-body", 53),
    ("control_flow", "body-ids-moved", 4),
    ("control_flow", "port-map-entry-in-the-other-branch", 7),
    ("control_flow", "parts-of-the-bodies-exchanged", 2),
    ("control_flow", "parts-of-the-bodies-exchanged", 3),
    ("int8", "layer-with-the-id-of-another", 7),
    ("int8", "ports-numbered-from-ten", 7),
    ("int8", "attribute-without-a-value", 40),
    ("int8", "attribute-name-in-another-case", 31),
    ("int8", "blank-in-a-value", 35),
    ("int8", "letter-in-a-number", 60),
    ("int8", "full-width-digits", 77),
    ("int8", "lines-cut-and-pasted-below", 86),
    ("int8", "lines-copied-elsewhere", 388),
    ("int8", "some-lines-deleted", 815),
    ("int8", "end-of-a-line-lost", 348),
    ("int8", "end-of-a-line-lost", 953),
    ("int8", "beginning-of-a-line-lost", 111),
    ("int8", "beginning-of-a-line-lost", 991),
    ("int8", "typed-by-accident", 98),
    ("int8", "selection-deleted", 297),
    ("int8", "other-quotes", 759),
    ("int8", "line-escaped", 531),
    ("int8", "line-in-another-case", 277),
    ("int8", "values-swapped-in-a-tag", 105),
    ("int8", "values-swapped-in-a-tag", 253),
    ("int8", "line-replaced-by-a-near-one", 542),
    ("int8", "name-misspelt-in-a-window", 141),
    ("int8", "edges-doubled", 7),
    ("int8", "edges-deleted", 20),
    ("int8", "layer-pasted-inside-another", 37),
    ("int8", "some-lines-in-a-comment", 100),
    ("int8", "some-lines-in-a-comment", 301),
    ("int8", "far-lines-exchanged", 646),
    ("int8", "two-lines-into-one", 635),
    ("int8", "mark-behind-a-tag", 150),
    ("int8", "prefix-of-some-lines", 250),
    ("int8", "dimensions-of-the-port-before", 20),
    ("control_flow", "entries-of-a-port-map-shifted", 3),
    ("control_flow", "body-layer-renumbered", 3),
    ("int8", "tag-moved-by-lines", 586),
    ("int8", "lines-cut-and-pasted-below", 659),
    ("int8", "lines-carried-into-another-layer", 176),
    ("int8", "lines-carried-into-another-layer", 316),
    ("control_flow", "lines-carried-into-another-layer", 117),
    ("int8", "beginning-twice", 499),
    ("int8", "declaration-in-another-notation", 1),
    ("int8", "declaration-in-another-notation", 3),
    ("int8", "letter-of-an-id-lost", 7),
    ("int8", "letter-of-an-id-lost", 8),
    ("int8", "word-replaced-everywhere", 0),
    ("int8", "word-replaced-everywhere", 2),
    ("int8", "end-tag-added-by-the-editor", 14),
    ("int8", "line-pasted-over-the-next", 452),
)
"""An example, a kind, and a place in it."""


@pytest.fixture(scope="module")
def judges() -> Iterator[dict[str, Judge]]:
    with ExitStack() as stack:
        judges = {
            name: stack.enter_context(Judge(Original(EXAMPLES / f"{name}.xml")))
            for name in {row[0] for row in (*PLACES, *AMBIGUOUS)}
        }
        assert all(judge.sound() for judge in judges.values())
        yield judges


@pytest.mark.parametrize(("model", "kind", "index"), PLACES)
def test_everyday(judges: dict[str, Judge], model: str, kind: str, index: int) -> None:
    places = judges[model].original.places(kind, chosen={index})
    (place,) = (each for each in places if each is not None and each.index == index)
    answer = judges[model].judge(place)
    wanted = {"silent": 0, "one": 1, "at": 1, "worse": 0, "safe": 1, "unsafe": 1, "three": 1}
    assert {name: answer[name] for name in wanted} == wanted, answer.get("told")


AMBIGUOUS = (
    ("decoder", "constant-transposed-everywhere", 6),
    ("int8", "lines-copied-elsewhere", 139),
    ("int8", "lines-carried-into-another-layer", 403),
    ("int8", "line-pasted-over-the-next", 906),
)
"""Where other changes are as likely as that which gives the original back."""


@pytest.mark.parametrize(("model", "kind", "index"), AMBIGUOUS)
def test_what_is_not_certain_is_listed(
    judges: dict[str, Judge], model: str, kind: str, index: int
) -> None:
    places = judges[model].original.places(kind, chosen={index})
    (place,) = (each for each in places if each is not None and each.index == index)
    answer = judges[model].judge(place)
    wanted = {"one": 1, "at": 1, "worse": 0, "safe": 0, "unsafe": 1, "three": 1}
    assert {name: answer[name] for name in wanted} == wanted, answer.get("told")
    assert len(set(answer["listed"])) > 1
