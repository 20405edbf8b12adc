"""Axes and orders in the .bin that are not those that the ports show: the right ones are named."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape


class Row(NamedTuple):
    type: str
    attributes: str
    shape: str
    meant: list[int]
    written: list[int]
    times: int = 1
    """How many layers take the constant."""


ROWS = {
    "axes": Row("ReduceMean", 'keep_dims="true"', "2,3,4,5", [2, 3], [1, 2]),
    "axes that go": Row("ReduceMax", 'keep_dims="false"', "2,3,4,5", [0, 3], [1, 2]),
    "an order": Row("Transpose", "", "2,3,4,5", [3, 0, 2, 1], [1, 2, 3, 0]),
    "an order of seven layers": Row("Transpose", "", "1,4,6,8", [0, 2, 1, 3], [0, 1, 3, 2], 7),
}


@pytest.mark.parametrize("name", ROWS)
def test_values(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    net = Net()
    x, constant = net.parameter(row.shape), net.constant(row.meant)
    for _ in range(row.times):
        x = net.layer("Relu", [net.layer(row.type, [x, constant], row.attributes)])
    net.result(x)
    path = with_inputs(net.save(tmp_path))
    assert not [found for found in irshape.validate(path).diagnostics if found.severity == "error"]
    path.with_suffix(".bin").write_bytes(struct.pack(f"<{len(row.written)}q", *row.written))
    (found,) = (each for each in irshape.validate(path).diagnostics if each.severity == "error")
    assert found.code == "IR508"
    assert found.layer is not None
    assert found.layer["id"] == "1"
    assert len(found.related) == row.times
    meant, written = (str(values).replace(" ", "") for values in (row.meant, row.written))
    assert f"likely meant: {meant} in place of {written} in the .bin" in (found.help or "")


def with_inputs(path: Path) -> Path:
    """The input ports declare what they are fed, as OpenVINO writes them."""
    text = path.read_text()
    port = r'<layer id="(\d+)".*?<output><port id="(\d+)" precision="(\w+"[^>]*>.*?)</port>'
    ports = {(layer, number): rest for layer, number, rest in re.findall(port, text)}
    edge = r'from-layer="(\d+)" from-port="(\d+)" to-layer="(\d+)" to-port="(\d+)"'
    for source, output, layer, number in re.findall(edge, text):
        start = text.index(f'<layer id="{layer}" ')
        empty = f'<port id="{number}"/>'
        full = f'<port id="{number}" precision="{ports[source, output]}</port>'
        text = text[:start] + text[start:].replace(empty, full, 1)
    path.write_text(text)
    return path
