"""Ports of several layers that declare the same wrong size or type are told, and cured, as one."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


class Row(NamedTuple):
    model: str
    first: int
    """The layers in whose ports a text is replaced, by their ids, from the first to the last."""
    last: int
    old: str
    new: str
    told: str


SIZE = "<dim>{}</dim>"
TYPE = 'precision="{}"'
ROWS = {
    "of layers that feed each other": Row(
        "encoder", 20, 24, SIZE.format(32), SIZE.format(64), "64 where 32 is inferred"
    ),
    "of more layers": Row(
        "encoder", 40, 50, SIZE.format(32), SIZE.format(64), "64 where 32 is inferred"
    ),
    "of constants and what they feed": Row(
        "int8", 20, 24, TYPE.format("FP32"), TYPE.format("FP16"), "FP16 where FP32 is inferred"
    ),
    "of types": Row(
        "decoder", 90, 93, TYPE.format("FP32"), TYPE.format("FP16"), "FP16 where FP32 is inferred"
    ),
    "of inputs that one output feeds": Row(
        "reductions", 54, 56, SIZE.format(24), SIZE.format(48), "24 in place of 48 in 3 ports"
    ),
    "of a file, in many places": Row(
        "int8", 30, 36, SIZE.format(16), SIZE.format(32), "32 is declared in 9 places"
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_told_and_cured_as_one(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    path = tmp_path / f"{row.model}.xml"
    shutil.copyfile(EXAMPLES / f"{row.model}.bin", path.with_suffix(".bin"))
    sound = (EXAMPLES / path.name).read_text()
    begin = sound.index(f'<layer id="{row.first}"')
    end = sound.index(f'<layer id="{row.last + 1}"')
    ports = re.compile(r"<port .*?</port>", re.DOTALL)
    inside = ports.sub(lambda port: port[0].replace(row.old, row.new), sound[begin:end])
    assert inside.count(row.new) > sound[begin:end].count(row.new) + 1
    path.write_text(sound[:begin] + inside + sound[end:])
    (told,) = (each for each in irshape.validate(path).diagnostics if each.severity != "info")
    assert row.told in f"{told.message} {told.help}"
    assert told.related
    assert irshape.fix(path).text == sound
