"""Numbers of a port map: what OpenVINO refuses to read as one is an error here too."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from differential.oracle import Oracle

import irshape

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "recurrent.xml"
SLICED = {"input": r'<input axis="1" [^>]*>', "output": r'<output axis="0" [^>]*>'}
TEXTS = ("", "nan", "1.5", " 1", "+1", "0x10", "1_0", "-", "9" * 30, "9" * 5000)


def agrees(text: str, oracle: Oracle, folder: Path) -> bool:
    path = folder / "m.xml"
    path.write_text(text)
    shutil.copy(EXAMPLE.with_suffix(".bin"), path.with_suffix(".bin"))
    report = irshape.validate(path)
    refused = oracle.ask_file(path).status == "refused"
    codes = [one.code for one in report.diagnostics if one.severity == "error"]
    return bool(codes) == refused


@pytest.mark.parametrize("name", ["axis", "start", "end", "stride", "part_size"])
@pytest.mark.parametrize("direction", SLICED)
def test_numbers_of_a_slice(direction: str, name: str, oracle: Oracle, tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    match = re.search(SLICED[direction], text)
    assert match is not None
    for value in TEXTS:
        line = re.sub(rf'\b{name}="[^"]*"', f'{name}="{value}"', match[0])
        assert line != match[0] or value in match[0]
        assert agrees(text.replace(match[0], line, 1), oracle, tmp_path), value[:40]


def test_numbers_without_an_axis(oracle: Oracle, tmp_path: Path) -> None:
    """OpenVINO passes over them."""
    text = EXAMPLE.read_text()
    changed = text.replace("<input external_port_id=", '<input start="nan" external_port_id=')
    assert changed != text
    assert agrees(changed, oracle, tmp_path)
    assert irshape.validate(tmp_path / "m.xml").ok


def test_an_output_past_64_bits(oracle: Oracle, tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    changed = re.sub(
        r'(<output axis="0" external_port_id=)"[0-9]+"', rf'\1"{2**63}"', text, count=1
    )
    assert changed != text
    assert agrees(changed, oracle, tmp_path)
    assert not irshape.validate(tmp_path / "m.xml").ok
