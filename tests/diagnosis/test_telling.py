"""What a finding says of its cause: what contradicts it, and what is likely meant."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape

FAILED = Path(__file__).resolve().parent.parent / "fuzz" / "failed"


class Row(NamedTuple):
    old: str
    new: str
    code: str
    message: str
    help: str


ROWS = {
    "an attribute is quoted with the port": Row(
        'keep_dims="true"',
        'keep_dims="false"',
        "IR305",
        r'keep_dims="true" does \(line \d+: declared \[4,1\], inferred \[4\]: rank 2 instead of 1',
        'likely meant: keep_dims="true"',
    ),
    "an edge is cured by a port": Row(
        'from-layer="0" from-port="0" to-layer="2"',
        'from-layer="0" from-port="7" to-layer="2"',
        "IR110",
        r"output port 7 of Parameter 'p0' \(id 0\), which does not exist",
        'ports by their ids; likely meant: from-port="0", or output port 0 gets id="7"',
    ),
    "a value is not one of those allowed": Row(
        'keep_dims="true"',
        'keep_dims="ture"',
        "IR304",
        r'`keep_dims="ture"` is not "true" or "false"',
        'set `keep_dims` to "true" or "false"; likely meant: keep_dims="true"',
    ),
    "a misspelt attribute of a port": Row(
        '<port id="2" precision=',
        '<port id="2" precison=',
        "IR117",
        "output port 2 has no precision",
        "likely meant: `precison` becomes `precision`",
    ),
    "an id that one edge names": Row(
        '<layer id="3"',
        '<layer id="300"',
        "IR110",
        "but 2 edges of it name 3, which no layer has",
        'likely meant: id="3"',
    ),
    "an attribute that is not in quotes": Row(
        'keep_dims="true"',
        "keep_dims=true",
        "IR001",
        "an attribute of <data> is not written as XML has it: `keep_dims=true`",
        'likely meant: keep_dims="true"',
    ),
}


def net(folder: Path) -> Path:
    net = Net()
    x = net.parameter("4,5")
    mean = net.layer("ReduceMean", [x, net.constant([1])], 'keep_dims="true"')
    net.result(net.layer("Relu", [mean]))
    return net.save(folder)


@pytest.mark.parametrize("name", ROWS)
def test_told(name: str, tmp_path: Path) -> None:
    row, path = ROWS[name], net(tmp_path)
    text = path.read_text()
    assert row.old in text
    path.write_text(text.replace(row.old, row.new, 1))
    (found,) = (each for each in irshape.validate(path).diagnostics if each.severity != "info")
    assert found.code == row.code
    assert re.search(row.message, found.message)
    assert (found.help or "").endswith(row.help)


def test_several_that_are_as_likely_are_listed(tmp_path: Path) -> None:
    """Two layers, which feed others too, produce what the input without an edge declares."""
    net = Net()
    relu, again = (net.layer("Relu", [net.parameter("4,5")]) for _ in range(2))
    absolute = net.layer("Abs", [relu])
    for each in (absolute, relu, again):
        net.result(each)
    path = net.save(tmp_path)
    text = path.read_text()
    edge = f'<edge from-layer="{relu}" from-port="1" to-layer="{absolute}" to-port="0"/>\n'
    assert edge in text
    path.write_text(text.replace(edge, ""))
    (found,) = (each for each in irshape.validate(path).diagnostics if each.severity == "error")
    assert not found.fixes[0]["safe"]
    alternatives = [each["change"] for each in found.fixes[:3]]
    assert len(alternatives) > 1
    assert (found.help or "").endswith("likely meant: " + ", or ".join(alternatives))


def test_a_diagnosis_is_as_grave_as_what_it_explains(tmp_path: Path) -> None:
    path = tmp_path / "case.xml"
    path.write_text((FAILED / "half_a_port_of_an_output.case").read_text().split("\n", 1)[1])
    (told,) = (each for each in irshape.validate(path).diagnostics if each.severity != "info")
    assert (told.code, told.severity) == ("IR016", "error")
    with pytest.raises(irshape.LoadError):
        irshape.Graph.load(path)
