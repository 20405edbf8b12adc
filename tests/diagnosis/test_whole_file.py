"""What is wrong with a file as a whole is told once, however much follows from it."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape
from irshape.diagnostics.report import Diagnostic

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def graver(path: Path) -> list[Diagnostic]:
    return [each for each in irshape.validate(path).diagnostics if each.severity != "info"]


def copied(folder: Path, model: str) -> Path:
    for suffix in (".xml", ".bin"):
        shutil.copyfile(EXAMPLES / f"{model}{suffix}", folder / f"{model}{suffix}")
    return folder / f"{model}.xml"


class Row(NamedTuple):
    content: Callable[[bytes], bytes]
    says: str


WEIGHTS = {
    "cut": Row(lambda content: content[: len(content) * 2 // 3], "are missing, which"),
    "moved on": Row(lambda content: bytes(8) + content, "lies 8 bytes behind"),
    "moved back": Row(lambda content: content[16:], "lies 16 bytes before"),
    "of random numbers": Row(
        lambda content: random.Random(1).randbytes(len(content)), "does not belong to this .xml"
    ),
}


@pytest.mark.parametrize("model", ["encoder", "detector"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(name: str, model: str, tmp_path: Path) -> None:
    row = WEIGHTS[name]
    path = copied(tmp_path, model)
    weights = path.with_suffix(".bin")
    weights.write_bytes(row.content(weights.read_bytes()))
    (found,) = graver(path)
    assert row.says in found.message
    assert len(found.related) > 10
    assert irshape.fix(path).data == irshape.fix(path, unsafe=True).data == path.read_bytes()


def test_weights_of_the_sibling(tmp_path: Path) -> None:
    """Two models whose .bin were exchanged: each is told which one fits."""
    one, other = copied(tmp_path, "encoder"), copied(tmp_path, "detector")
    first, second = one.with_suffix(".bin"), other.with_suffix(".bin")
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    for path, fitting in ((one, "detector.bin"), (other, "encoder.bin")):
        (found,) = graver(path)
        assert f"{fitting} beside it fits" in found.message


def test_weights_of_another_precision(tmp_path: Path) -> None:
    path = copied(tmp_path, "encoder")
    weights = path.with_suffix(".bin")
    constants = re.findall(
        r'element_type="(\w+)" shape="[^"]*" offset="\d+" size="(\d+)"', path.read_text()
    )
    real = sum(int(size) for kind, size in constants if kind == "f32")
    weights.write_bytes(random.Random(1).randbytes(len(weights.read_bytes()) - real // 2))
    (found,) = graver(path)
    assert "as large as with f16 where the .xml says f32" in found.message


def test_one_wrong_offset_is_no_short_file(tmp_path: Path) -> None:
    path = copied(tmp_path, "encoder")
    text = path.read_text()
    for _ in range(2):
        text = re.sub(r'offset="\d{4,5}"', 'offset="99999999"', text, count=1)
    path.write_text(text)
    assert [found.code for found in graver(path)] == ["IR502", "IR502"]


def test_another_batch(tmp_path: Path) -> None:
    """The batch was replaced in the ports of activations and nowhere else."""
    path = copied(tmp_path, "classifier")
    text = path.read_text()
    port = (
        r'(<port id="\d+" precision="FP32"[^>]*>\s*)<dim>1</dim>'
        r"((?:\s*<dim>\d+</dim>){3}\s*</port>)"
    )
    changed = re.sub(port, r"\g<1><dim>8</dim>\2", text)
    path.write_text(changed)
    (found,) = graver(path)
    assert re.search(r"8 is declared in \d\d places where 1 is inferred", found.message)
    assert found.line == text[: text.index('shape="1,3,32,32"')].count("\n") + 1
    assert irshape.fix(path).text == text


@pytest.mark.parametrize("by", [1, 3])
@pytest.mark.parametrize("of", ["layers", "edges"])
@pytest.mark.parametrize("model", ["encoder", "classifier"])
def test_renumbered_half_way(model: str, of: str, by: int, tmp_path: Path) -> None:
    path = copied(tmp_path, model)
    text = path.read_text()
    half = int(re.findall(r'<layer id="(\d+)"', text)[-1]) // 2
    pattern = r'(<layer id=)"(\d+)"' if of == "layers" else r'((?:from|to)-layer=)"(\d+)"'

    def moved(match: re.Match[str]) -> str:
        number = int(match[2])
        return f'{match[1]}"{number + by * (number >= half)}"'

    path.write_text(re.sub(pattern, moved, text))
    (found,) = graver(path)
    assert "only a part of the file was renumbered" in found.message
    assert irshape.fix(path).data == path.read_bytes()
    assert irshape.fix(path, unsafe=True).text == text
