"""What a search remembers of a file holds only for the same text beside the same bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

EXAMPLES = Path(__file__).parents[2] / "examples"


class Step(NamedTuple):
    """How a file is changed before it is validated again."""

    name: str
    pattern: bytes
    """The first match of which goes from the text as it was."""
    new: bytes
    zeroed: bool = False
    """Whether the .bin consists of zeros."""


SHAPE = rb'(type="Const"[^/]*?shape=")(\d+)'
OFFSET = rb'(type="Const"[^/]*?element_type="i64"[^/]*?offset=")(\d+)'
DIMENSIONS = rb'(?s)(type="Add".*?<dim>)\d+(</dim>.*?<dim>)\d+'
STEPS = (
    Step("the shape of a constant", SHAPE, rb"\g<1>5\2"),
    Step("the same again", SHAPE, rb"\g<1>5\2"),
    Step("another shape", SHAPE, rb"\g<1>7\2"),
    Step("that shape over other bytes", SHAPE, rb"\g<1>7\2", zeroed=True),
    Step("the offset of a constant", OFFSET, rb"\g<1>1\2"),
    Step("that offset over other bytes", OFFSET, rb"\g<1>1\2", zeroed=True),
    Step("two dimensions", DIMENSIONS, rb"\g<1>3\g<2>5"),
    Step("two other dimensions", DIMENSIONS, rb"\g<1>5\g<2>3"),
    Step("another operation", b'type="Multiply"', b'type="MatMul"'),
    Step("no fault", b"^", b""),
)


@pytest.mark.parametrize("example", ["encoder", "control_flow", "classifier"])
def test_a_file_validated_again_is_told_as_if_nothing_were_remembered(
    example: str, tmp_path: Path
) -> None:
    text = (EXAMPLES / f"{example}.xml").read_bytes()
    weights = (EXAMPLES / f"{example}.bin").read_bytes()
    path = tmp_path / "model.xml"
    for step in STEPS:
        path.write_bytes(re.sub(step.pattern, step.new, text, count=1))
        path.with_suffix(".bin").write_bytes(bytes(len(weights)) if step.zeroed else weights)
        model = irshape.load(path)  # which a program may have changed, so that all is tried anew
        assert _told(irshape.validate(path)) == _told(irshape.validate(model)), step.name


def _told(report: irshape.Report) -> list[tuple[object, ...]]:
    return [(each.line, each.message, each.fixes) for each in report.diagnostics]


class Broken(NamedTuple):
    """What is done to a file with which nothing was wrong, and how many errors are told then."""

    name: str
    errors: int
    edits: tuple[tuple[bytes, bytes], ...] = ((b"</edges>", b""),)
    """What goes, the first time that it is there, from the text; and what comes."""
    zeroed: bool = False
    """Whether the .bin consists of zeros, twice as many."""


BROKEN = (
    Broken("a tag is gone", 1),
    Broken("and a size is wrong", 2, ((b"</edges>", b""), (b"<dim>128</dim>", b"<dim>9</dim>"))),
    Broken("and the .bin is another", 2, zeroed=True),
)


def test_what_else_is_wrong_is_told_though_the_text_was_sound_before(tmp_path: Path) -> None:
    sound = (EXAMPLES / "encoder.xml").read_bytes()
    weights = (EXAMPLES / "encoder.bin").read_bytes()
    path = tmp_path / "model.xml"
    for broken in (*BROKEN, *BROKEN):
        path.write_bytes(sound)
        path.with_suffix(".bin").write_bytes(weights)
        assert not _errors(path)
        text = sound
        for old, new in broken.edits:
            text = text.replace(old, new, 1)
        path.write_bytes(text)
        path.with_suffix(".bin").write_bytes(bytes(2 * len(weights)) if broken.zeroed else weights)
        assert _errors(path) == broken.errors, broken.name


def _errors(path: Path) -> int:
    return sum(each.severity == "error" for each in irshape.validate(path).diagnostics)
