"""Elements, tags and words in the wrong place are told once and put back."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "mutation"))

from absence_faults import ABSENCES  # noqa: E402
from judging import Judge  # noqa: E402
from misplacement_faults import MISPLACEMENTS  # noqa: E402
from planting import Original  # noqa: E402

import irshape  # noqa: E402

EXAMPLE = TESTS.parent / "examples" / "control_flow.xml"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(Original(EXAMPLE)) as judge:
        assert judge.sound()
        yield judge


@pytest.mark.parametrize("kind", MISPLACEMENTS)
def test_slip_is_told_once_and_taken_back(kind: str, judge: Judge) -> None:
    places = [place for place in judge.original.places(kind) if place is not None]
    place = random.Random(kind).choice(places)
    answer = judge.judge(place)
    assert (answer.get("one"), answer.get("unsafe"), answer.get("worse")) == (1, 1, 0), answer


LOST = {
    *("layer-gone-from-its-edges", "layer-pasted-over-the-next", "parameter-gone-from-a-body"),
    *("every-edge-into-a-layer", "layer-with-the-id-of-another", "body-without-edges"),
}
"""Kinds after which nothing says what was there, or not in each place."""


@pytest.mark.parametrize("kind", ABSENCES)
def test_what_several_elements_lack_is_told_once(kind: str, judge: Judge) -> None:
    places = [place for place in judge.original.places(kind) if place is not None]
    for place in random.Random(f"one {kind}").sample(places, min(2, len(places))):
        answer = judge.judge(place)
        told = answer["silent"] or answer["one"]
        assert (told, answer.get("worse", 0)) == (1, 0), answer
        assert kind in LOST or answer["silent"] or answer["three"], answer


SOUND = {
    "a comment between layers": ("<layers>", "<layers>\n<!-- the first part, see a > b -->"),
    "a comment with an element of old": (
        "</layers>",
        '<!-- <layer id="999" name="old" type="ReLU" version="opset1"/> -->\n</layers>',
    ),
    "a comment in a dimension": ("<dim>", "<dim><!-- a size -->"),
    "CDATA in a dimension": ("<dim>4</dim>", "<dim><![CDATA[4]]></dim>"),
    "text in rt_info": ("<rt_info />", "<rt_info><note>seen by hand</note></rt_info>"),
    "text in another element of metadata": ("</net>", "<meta_data>x</meta_data></net>"),
    "an instruction": ("<edges>", "<?editor keep?><edges>"),
    "Windows line ends": ("\n", "\r\n"),
    "blank lines": ("</layer>", "</layer>\n\n\t \n"),
    "a larger sign in a value": ('name="', 'name="a > b '),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_editors_write_is_left_alone(name: str, tmp_path: Path) -> None:
    usual, instead = SOUND[name]
    text = EXAMPLE.read_bytes().decode()
    assert usual in text
    path = tmp_path / EXAMPLE.name
    path.write_bytes(text.replace(usual, instead).encode())
    path.with_suffix(".bin").symlink_to(EXAMPLE.with_suffix(".bin"))
    assert [
        f"{each}" for each in irshape.validate(path).diagnostics if each.severity != "info"
    ] == []


def test_texts_that_come_with_many_lines_are_told_once(tmp_path: Path) -> None:
    """A pasted diff: every line begins with a sign."""
    path = tmp_path / EXAMPLE.name
    lines = EXAMPLE.read_text().splitlines()
    path.write_text("\n".join([lines[0], *(f"+{line}" for line in lines[1:])]))
    path.with_suffix(".bin").symlink_to(EXAMPLE.with_suffix(".bin"))
    (finding,) = [each for each in irshape.validate(path).diagnostics if each.severity != "info"]
    assert finding.code == "IR001"
    fixed = [line.strip() for line in irshape.fix(path).text.splitlines()]
    assert [line for line in fixed if line] == [line.strip() for line in lines]
