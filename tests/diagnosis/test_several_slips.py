"""Slips of the text are told beside each other, and beside what else is wrong in the file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "compressed.xml"


class Case(NamedTuple):
    name: str
    changes: tuple[tuple[bytes, bytes], ...]
    """What becomes what; each stands once in the file, or first there."""
    lines: list[int]
    """Where something is told."""


QUOTE = b'id="4" name="Convert_4"', b'id="4 name="Convert_4"'
BRACKET = b'<edge from-layer="9"', b'edge from-layer="9"'
CASES = (
    Case("two slips", (QUOTE, BRACKET), [46, 1039]),
    Case(
        "three slips",
        (QUOTE, BRACKET, (b"<dim>64</dim>", b"<dim>64<dim>")),
        [18, 46, 1039],
    ),
    Case(
        "two slips in one layer",
        (
            QUOTE,
            (
                b'<data destination_type="f16" />\n\t\t\t<input>\n\t\t\t\t<port id="0" '
                b'precision="U8">\n\t\t\t\t\t<dim>128</dim>\n\t\t\t\t\t<dim>1<',
                b'<data destination_type="f16" />\n\t\t\t<input\n\t\t\t\t<port id="0" '
                b'precision="U8">\n\t\t\t\t\t<dim>128</dim>\n\t\t\t\t\t<dim>1<',
            ),
        ),
        [46, 48],
    ),
    Case("a slip and a type", (QUOTE, (b'type="Convert"', b'type="Cnvert"')), [22, 46]),
    Case("a slip and its neighbour", (QUOTE, (b'offset="8192"', b'offset="8192x"')), [38, 46]),
    Case(
        "a slip and an edge in a comment",
        (
            QUOTE,
            (BRACKET[0], b'<!-- <edge from-layer="9"'),
            (b'to-port="2" />\n', b'to-port="2" /> -->\n'),
        ),
        [46, 1039],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_fault_is_told_and_taken_back(case: Case, tmp_path: Path) -> None:
    path = tmp_path / EXAMPLE.name
    path.with_suffix(".bin").symlink_to(EXAMPLE.with_suffix(".bin"))
    text = EXAMPLE.read_bytes()
    for old, new in case.changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_bytes(text)
    told = [each for each in irshape.validate(path).diagnostics if each.severity != "info"]
    assert [each.line for each in told] == case.lines
    assert irshape.fix(path).data == EXAMPLE.read_bytes()
