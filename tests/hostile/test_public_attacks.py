"""The attacks of docs/models-from-strangers.md: what irshape reports, and what OpenVINO does."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape

GATE = """
comments = false

[policy]
max-tensor = "1GiB"
max-weights = "4GiB"
max-layers = 100000
"""


class Attack(NamedTuple):
    """A file, the code that reports it, and whether OpenVINO reads it."""

    make: Callable[[Path], Path]
    code: str
    openvino: str


def constant(
    shape: str, offset: int, size: int, element_type: str = "f32", data: bytes = b""
) -> Net:
    """A network of one constant whose place in a .bin of 64 bytes is a lie."""
    net = Net()
    net.weights = data or bytes(64)
    net.layers.append(
        '<layer id="0" name="c" type="Const" version="opset1">'
        f'<data element_type="{element_type}" shape="{shape}" offset="{offset}" size="{size}"/>'
        f'<output><port id="0" precision="{"STRING" if data else "FP32"}">'
        + "".join(f"<dim>{each}</dim>" for each in shape.split(","))
        + "</port></output></layer>"
    )
    net.result("0")
    return net


def saved(net: Net) -> Callable[[Path], Path]:
    return net.save


def twice(folder: Path) -> Path:
    """Two layers with one id, of which an edge takes one."""
    net = Net()
    x = net.parameter("2,3", name="x")
    net.result(net.layer("ReLU", [x], outputs=["FP32:2,3"]))
    path = net.save(folder)
    path.write_text(path.read_text().replace('<layer id="1"', '<layer id="0"', 1))
    return path


def entities(folder: Path) -> Path:
    """An entity that names a file of the machine."""
    net = Net()
    net.result(net.parameter("2", name="x"))
    path = net.save(folder)
    text = path.read_text().replace(
        "<net ", '<!DOCTYPE net [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<net ', 1
    )
    path.write_text(text.replace('name="x"', 'name="&e;"', 1))
    return path


def broadcast() -> Net:
    """A tensor of 4 TB from a scalar."""
    net = Net()
    target = net.constant([1_000_000, 1_000_000])
    one = net.constant([1.0], "f32")
    broad = net.layer(
        "Broadcast",
        [one, target],
        'mode="numpy"',
        version="opset3",
        outputs=["FP32:1000000,1000000"],
    )
    net.result(broad)
    return net


def strings(*numbers: int) -> bytes:
    """A constant of strings: their count, offsets, then bytes."""
    return struct.pack(f"<{len(numbers)}i", *numbers) + b"abcd"


ATTACKS = {
    "a size that overflows": Attack(
        saved(constant("4294967296,4294967296", 0, 64)), "IR503", "reads"
    ),
    "a size that is too small": Attack(saved(constant("1000", 0, 64)), "IR503", "refuses"),
    "an offset past the end": Attack(saved(constant("2", 1 << 40, 8)), "IR502", "refuses"),
    "an offset whose end overflows": Attack(
        saved(constant("4", (1 << 64) - 8, 16)), "IR502", "refuses"
    ),
    "two layers with one id": Attack(twice, "IR101", "refuses"),
    "a string constant that claims more strings than it has": Attack(
        saved(constant("3", 0, 16, "string", strings(3, 0, 2))), "IR503", "refuses"
    ),
    "a string constant with an end before its beginning": Attack(
        saved(constant("2", 0, 20, "string", strings(2, 0, 4, 2))), "IR503", "refuses"
    ),
    "a tensor that exhausts the memory": Attack(saved(broadcast()), "IR210", "reads"),
    "an entity that names a file": Attack(entities, "IR002", "reads"),
}

ASK = (
    "import sys, openvino\n"
    "try:\n    openvino.Core().read_model(sys.argv[1])\n    print('reads')\n"
    "except Exception:\n    print('refuses')\n"
)


@pytest.mark.parametrize("name", ATTACKS)
def test_the_gate_stops_it(name: str, tmp_path: Path) -> None:
    attack = ATTACKS[name]
    path = attack.make(tmp_path)
    (tmp_path / "gate.toml").write_text(GATE)
    report = irshape.validate(path, config=tmp_path / "gate.toml")
    told = {each.code: each for one in report.diagnostics for each in (one, *one.related)}
    assert attack.code in told, list(told)
    assert told[attack.code].severity == "error"
    assert told[attack.code].line > 1 or attack.code == "IR002"


@pytest.mark.parametrize("name", ATTACKS)
def test_what_openvino_does(name: str, tmp_path: Path) -> None:
    """In a process of its own, which some of them end."""
    path = ATTACKS[name].make(tmp_path)
    call = [sys.executable, "-c", ASK, str(path)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    answer = done.stdout.strip() or f"ends with {done.returncode}"
    assert answer == ATTACKS[name].openvino


def test_the_page_lists_them() -> None:
    page = Path(__file__).parents[2] / "docs" / "models-from-strangers.md"
    text = page.read_text(encoding="utf-8")
    for name, attack in ATTACKS.items():
        assert f"| {name} | {attack.openvino} | {attack.code} |" in text
    assert GATE.strip() in text
