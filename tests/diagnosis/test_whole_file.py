"""What is wrong with a file as a whole is told once, however much follows from it."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape
from irshape.diagnostics.report import Diagnostic

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def graver(path: Path) -> list[Diagnostic]:
    return [each for each in irshape.validate(path).diagnostics if each.severity != "info"]


def copied(folder: Path, model: str) -> Path:
    for suffix in (".xml", ".bin"):
        shutil.copyfile(EXAMPLES / f"{model}{suffix}", folder / f"{model}{suffix}")
    return folder / f"{model}.xml"


def plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


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


@pytest.mark.parametrize("model", ["encoder", "detector", "recurrent"])
@pytest.mark.parametrize("lost", [1, 3])
def test_a_cut_through_the_last_constant(lost: int, model: str, tmp_path: Path) -> None:
    """The last constant is where it belongs; no other of its type and shape takes its place."""
    path = copied(tmp_path, model)
    weights = path.with_suffix(".bin")
    weights.write_bytes(weights.read_bytes()[:-lost])
    (found,) = graver(path)
    assert found.code == "IR502"
    assert "which 1 constant needs" in found.message
    assert "it was cut off" in found.message
    assert not found.related
    assert irshape.fix(path, unsafe=True).data == path.read_bytes()


def test_too_short_for_another_model(tmp_path: Path) -> None:
    """What is left of a .bin shows whether it was cut off or is another model's."""
    path, other = copied(tmp_path, "encoder"), copied(tmp_path, "detector")
    weights = path.with_suffix(".bin")
    size = len(weights.read_bytes()) * 4 // 5
    weights.write_bytes(other.with_suffix(".bin").read_bytes().ljust(size, b"\1")[:size])
    other.with_suffix(".bin").unlink()
    (found,) = graver(path)
    assert found.code == "IR502"
    assert "it is another model's: the values before do not fit either" in found.message


def test_a_few_values_in_another_place(tmp_path: Path) -> None:
    """Two values and a last constant that is cut off together show that the content moved."""
    net = Net()
    x = net.parameter("2,3,4")
    for order in ([0, 2, 1], [1, 0, 2]):
        x = net.layer("Transpose", [x, net.constant(order)])
    net.result(net.layer("Reshape", [x, net.constant([6, 4])], 'special_zero="false"'))
    path = net.save(tmp_path)
    assert not graver(path)
    path.with_suffix(".bin").write_bytes(net.weights[8:])
    (found,) = graver(path)
    assert found.code == "IR508"
    assert "lies 8 bytes before where the offsets say" in found.message


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


def test_weights_before_they_were_compressed(tmp_path: Path) -> None:
    """The last constants lie as much further behind as the others are longer."""
    net = Net()
    half = net.constant([0.5] * 2000, "f32")
    x = net.layer("Reshape", [half, net.constant([4, 5, 100])], 'special_zero="false"')
    for order in ([0, 2, 1], [1, 0, 2], [2, 1, 0]):
        x = net.layer("Transpose", [x, net.constant(order)])
    net.result(x)
    path = net.save(tmp_path)
    text = path.read_text().replace("f32", "f16").replace("FP32", "FP16")
    text = text.replace('size="8000"', 'size="4000"')
    path.write_text(
        re.sub(r'offset="(\d+)"', lambda match: f'offset="{max(0, int(match[1]) - 4000)}"', text)
    )
    (found,) = graver(path)
    assert "as large as with f32 where the .xml says f16" in found.message


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


def test_another_batch_that_constants_fix(tmp_path: Path) -> None:
    """The patterns of Reshapes have the old batch: what they contradict follows from it, too."""
    net, special = Net(), 'special_zero="true"'
    x = net.parameter("2,9,32")
    for _ in range(3):
        heads = net.layer("Reshape", [x, net.constant([2, 9, -1, 8])], special)
        x = net.layer("Relu", [net.layer("Reshape", [heads, net.constant([2, 9, 32])], special)])
    net.result(x)
    path = net.save(tmp_path)
    text = path.read_text()
    path.write_text(text.replace("<dim>2</dim>", "<dim>5</dim>"))
    (found,) = graver(path)
    assert re.search(r"5 is declared in \d+ places where 2 is inferred", found.message)
    assert irshape.fix(path).text == text


def test_another_batch_of_two_inputs(tmp_path: Path) -> None:
    """The batch of two inputs was changed, and nothing behind them: one choice of the author."""
    path = copied(tmp_path, "decoder")
    text = path.read_text()
    changed = re.sub(
        r'(name="(?:input_ids|attention_mask)".*?shape=")\?(.*?<dim>)-1',
        r"\g<1>4\g<2>4",
        text,
        flags=re.S,
    )
    path.write_text(changed)
    (found,) = graver(path)
    assert found.layer["name"] == "input_ids"
    assert "shape=\"4,?\" of Parameter 'attention_mask'" in found.message
    assert irshape.fix(path).text.count(">4<") >= changed.count(">4<")
    (choice,) = irshape.fix(path).candidates
    assert plain(text) in [
        plain(each.apply(path.read_bytes()).decode()) for each in choice.alternatives
    ]


def test_a_type_replaced_in_some_layers(tmp_path: Path) -> None:
    """A precision was replaced in the lines of layers beside each other."""
    path = copied(tmp_path, "encoder")
    text = path.read_text()
    layers = re.findall(r"<layer .*?</layer>", text, re.DOTALL)
    consts = [
        at
        for at, (one, two) in enumerate(pairwise(layers))
        if all('type="Const"' in each and "FP32" in each for each in (one, two))
    ]
    changed = text
    for layer in layers[consts[0] : consts[0] + 2]:
        changed = changed.replace(layer, layer.replace("FP32", "FP16"))
    path.write_text(changed)
    (found,) = graver(path)
    assert found.code == "IR202"
    assert len(found.related) == 1
    assert plain(irshape.fix(path).text) == plain(text)


def test_another_batch_in_constants(tmp_path: Path) -> None:
    """The batch was replaced in the input, in all activations, and in constants, too."""
    path = copied(tmp_path, "classifier")
    text = path.read_text().replace('shape="1,3,32,32"', 'shape="8,3,32,32"')
    port = r'(<port id="\d+" precision="FP32"[^>]*>\s*)<dim>1</dim>'
    path.write_text(re.sub(port, r"\g<1><dim>8</dim>", text))
    (found,) = graver(path)
    assert re.search(r"8 is declared in \d+ places where 1 is inferred", found.message)
    path.write_bytes(irshape.fix(path).data)
    assert not graver(path)


@pytest.mark.parametrize("end", ["from", "to"])
@pytest.mark.parametrize("by", [1, 2])
@pytest.mark.parametrize("model", ["encoder", "classifier"])
def test_ports_renumbered(model: str, by: int, end: str, tmp_path: Path) -> None:
    path = copied(tmp_path, model)
    text = path.read_text()
    half = text.index("<edges>") + (len(text) - text.index("<edges>")) // 2
    pattern = rf'{end}-port="(\d+)"'
    ports = re.sub(pattern, lambda match: f'{end}-port="{int(match[1]) + by}"', text[half:])
    path.write_text(text[:half] + ports)
    (found,) = graver(path)
    name = "output" if end == "from" else "input"
    assert f"edges name {name} ports by ids {by} higher" in found.message
    assert irshape.fix(path).data == path.read_bytes()
    assert irshape.fix(path, unsafe=True).text == text


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


@pytest.mark.parametrize(("by", "until"), [(1, 15), (-1, 15), (1, 1000), (-1, 1000), (2, 1000)])
@pytest.mark.parametrize("end", ["from", "to"])
@pytest.mark.parametrize("model", ["encoder", "classifier"])
def test_one_end_renumbered(model: str, end: str, by: int, until: int, tmp_path: Path) -> None:
    """In a range of ids, the layers that edges come from, or lead to, have an id near theirs."""
    path = copied(tmp_path, model)
    text = path.read_text()
    half = int(re.findall(r'<layer id="(\d+)"', text)[-1]) // 2

    def moved(match: re.Match[str]) -> str:
        number = int(match[1])
        return f'{end}-layer="{number + by * (half <= number < half + until)}"'

    path.write_text(re.sub(rf'{end}-layer="(\d+)"', moved, text))
    (found,) = graver(path)
    assert f"by ids {abs(by)} {'higher' if by > 0 else 'lower'} than theirs" in found.message
    assert "only one end of the edges was renumbered" in found.message
    assert plain(irshape.fix(path).text) == plain(text)


def test_edges_that_stand_twice_at_two_places_are_told_once_each(tmp_path: Path) -> None:
    path = tmp_path / "encoder.xml"
    lines = (EXAMPLES / "encoder.xml").read_text().splitlines(keepends=True)
    edges = [at for at, line in enumerate(lines) if "<edge " in line]
    first, second = edges[4:8], edges[40:44]
    for block in (second, first):
        lines[block[-1] + 1 : block[-1] + 1] = [lines[at] for at in block]
    path.write_text("".join(lines))
    path.with_suffix(".bin").symlink_to(EXAMPLES / "encoder.bin")
    found = [each for each in irshape.validate(path).diagnostics if each.severity != "info"]
    assert [each.message for each in found] == ["4 edges stand there twice"] * 2
