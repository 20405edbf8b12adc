"""What is remembered of a body is said of no other: by all that decides it, and of no model's life.

Every report after others in one process is that of a process that has seen nothing else.
"""

from __future__ import annotations

import gc
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape
from irshape.model.graph import Body, Layer, Model
from irshape.ops.tensors import Value

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "control_flow.xml"
SPLIT_LENGTHS = 165
"""Where the .bin has the lengths of the VariadicSplit in the else_body."""


class Change(NamedTuple):
    """Another file: the first match of a pattern in the text replaced, or bytes of the .bin."""

    pattern: str = ""
    replacement: str = ""
    weights: tuple[int, bytes] = (0, b"")
    without_weights: bool = False
    before: tuple[str, str] = ("", "")
    """What is replaced in the first file as well."""


CHANGES = {
    "value": Change(weights=(SPLIT_LENGTHS, struct.pack("<2q", 1, 3))),
    "value that is refused": Change(weights=(SPLIT_LENGTHS, struct.pack("<2q", 3, 3))),
    "no values": Change(without_weights=True),
    "place of a value": Change(rf'offset="{SPLIT_LENGTHS}"', 'offset="173"'),
    "place behind the end": Change(rf'offset="{SPLIT_LENGTHS}"', 'offset="9999"'),
    "size of a value": Change(rf'offset="{SPLIT_LENGTHS}" size="16"', 'offset="165" size="8"'),
    "type of a value": Change(
        rf'element_type="i64"( shape="2" offset="{SPLIT_LENGTHS}")', r'element_type="int"\1'
    ),
    "attribute": Change(r'(?s)(name="halved".*?auto_broadcast=)"numpy"', r'\1"none"'),
    "attribute that cannot be read": Change(
        r'(?s)(name="halved".*?auto_broadcast=)"numpy"', r'\1"maybe"'
    ),
    "operation": Change(r'name="Abs_3" type="Abs"', 'name="Abs_3" type="Floor"'),
    "operation that is unknown": Change(r'name="Abs_3" type="Abs"', 'name="Abs_3" type="Abz"'),
    "what a body is fed": Change(r'shape="1\.\.16,4"', 'shape="3,4"'),
    "rank that a body is fed": Change(r'shape="1\.\.16,4"', 'shape="1..16,4,5"'),
    "type that a body is fed": Change(
        r'shape="1\.\.16,4" element_type="f32"', r'shape="1..16,4" element_type="f16"'
    ),
    "declared port": Change(
        r'(?s)(name="halved".*?names="inner_out">\s*<dim>-1</dim>\s*)<dim>4</dim>',
        r"\1<dim>5</dim>",
    ),
    "declared port that says less": Change(
        r'(?s)(name="cut".*?<port id="3" precision="FP32">\s*<dim>-1</dim>\s*)<dim>3</dim>',
        r"\1<dim>-1</dim>",
    ),
    "declared Parameter": Change(
        r'(name="inner_value" type="Parameter" version="opset1">\s*<data shape=)"\?,4"', r'\1"2,5"'
    ),
    "edge": Change(
        r'(?s)(</layers>\s*<edges>\s*<edge from-layer=)"0"( from-port="0" to-layer="2")', r'\1"1"\2'
    ),
    "edge that is missing": Change(
        r'<edge from-layer="1" from-port="0" to-layer="2" to-port="1" />', ""
    ),
    "port map": Change(r'(internal_layer_id="\d+") purpose="execution_condition"', r"\1"),
    "slices of a port map": Change(r'<output axis="0"', '<output axis="1"'),
    "name of what a fault tells of": Change(
        r'name="Abs_3" type="Abs"',
        'name="Abs_3" type="abs"',
        before=(r'(?s)(name="halve_until_small".*?<edge from-layer=)"\d+"', r'\1"3"'),
    ),
    "back edge": Change(r'(<back_edges>\s*<edge from-layer=)"22"', r'\1"23"'),
}


def write(folder: Path, change: Change) -> Path:
    text, weights = EXAMPLE.read_text(), bytearray(EXAMPLE.with_suffix(".bin").read_bytes())
    for pattern, replacement in (change.before, change[:2]):
        if pattern:
            text, count = re.subn(pattern, replacement, text, count=1)
            assert count == 1
    at, data = change.weights
    weights[at : at + len(data)] = data
    folder.mkdir(exist_ok=True)
    path = folder / "m.xml"
    path.write_text(text)
    if not change.without_weights:
        path.with_suffix(".bin").write_bytes(weights)
    return path


def told(path: Path) -> list[object]:
    """What is said of a file: what is found, and what is inferred."""
    report = json.loads(json.dumps(irshape.validate(path).to_dict()))
    return [report, json.loads(json.dumps(irshape.infer(irshape.load(path)).to_dict()))]


def told_alone(path: Path) -> object:
    code = (
        "import irshape, json, sys\n"
        "report = irshape.validate(sys.argv[1]).to_dict()\n"
        "inferred = irshape.infer(irshape.load(sys.argv[1])).to_dict()\n"
        "print(json.dumps([report, inferred]))"
    )
    command = [sys.executable, "-c", code, str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_inferred_of_a_body_outlives_no_change(tmp_path: Path, name: str) -> None:
    change = CHANGES[name]
    first = write(tmp_path / "m", Change(before=change.before))
    other = write(tmp_path / "n", change)
    alone = told_alone(other)
    before = told(first)
    assert irshape.validate(first).ok or change.before[0]
    for _ in range(3):
        assert told(other) == alone
        assert told(first) == before
    assert str(alone).replace(str(other), "") != str(before).replace(str(first), "")


def test_a_model_that_a_program_changes(tmp_path: Path) -> None:
    """What counts is what the model says, not what its file said."""
    path = write(tmp_path, Change())
    for _ in range(2):
        model = irshape.load(path)
        for _ in range(2):
            assert irshape.validate(model).ok
        layer = next(layer for layer in model.walk() if layer.name == "halved")
        layer.attributes = {"auto_broadcast": "maybe"}
        assert not irshape.validate(model).ok
        layer.attributes = {"auto_broadcast": "numpy"}
        assert irshape.validate(model).ok


def test_no_model_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path, Change())

    def alive() -> dict[str, int]:
        gc.collect()
        objects = gc.get_objects()
        return {
            kind.__name__: sum(type(o) is kind for o in objects) for kind in (Model, Body, Layer)
        }

    before = alive()
    for _ in range(2):
        irshape.validate(path)
        irshape.infer(irshape.load(path))
    assert alive() == before


def test_what_is_kept_of_constants_is_bounded(tmp_path: Path) -> None:
    """However many bodies there have been, each with values of its own."""
    elements, others = 1000, 450
    path = write(tmp_path, Change())
    text = path.read_text()
    match = re.search(
        r'(?s)<data element_type="f32" shape="" offset="213" size="4" />.*?<port [^>]*', text
    )
    assert match is not None
    changed = (
        match[0]
        .replace('shape=""', f'shape="{elements}"')
        .replace('size="4"', f'size="{4 * elements}"')
    )
    text = text.replace(match[0], changed)
    weights = path.with_suffix(".bin").read_bytes()[:213]
    path.write_text(text)
    for number in range(others):
        path.with_suffix(".bin").write_bytes(
            weights + struct.pack(f"<{elements}f", *[number] * elements)
        )
        irshape.infer(irshape.load(path))
    gc.collect()
    large = sum(type(each) is Value and len(each) == elements for each in gc.get_objects())
    assert large < others * 0.8
