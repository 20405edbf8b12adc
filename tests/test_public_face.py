"""The names that `import irshape` gives: what they take, what they say, and what importing costs."""

from __future__ import annotations

from pathlib import Path

from ir import Net

import irshape

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


# Text


def scaled(folder: Path, factor: float) -> Path:
    """A model that multiplies its input by a constant."""
    net = Net()
    x = net.parameter("2", name="x")
    net.result(net.layer("Multiply", [x, net.constant([factor] * 2, "f32")], name="scale"))
    folder.mkdir(exist_ok=True)
    return net.save(folder)


def test_a_report_is_readable(tmp_path: Path) -> None:
    path = str(EXAMPLES / "layers" / "wrong" / "duplicate_axes.xml")
    report = irshape.validate(path)
    (diagnostic,) = report.diagnostics
    assert str(diagnostic).startswith("10:9: error[IR407] ReduceMean (id 1): axes [2,2] name")
    assert str(report) == f"{path}:{diagnostic}\n1 file, 1 error, 0 warnings, 0 infos"
    malformed = tmp_path / "m.xml"
    malformed.write_text("<net")
    (diagnostic,) = irshape.validate(malformed).diagnostics
    assert str(diagnostic) == f"1:1: error[IR001] {diagnostic.message}"


def test_comparisons_are_readable(tmp_path: Path) -> None:
    first, second = scaled(tmp_path / "a", 2), scaled(tmp_path / "b", 3)
    crosscheck = str(irshape.crosscheck(irshape.load(first)))
    assert crosscheck.startswith(f"{first} on CPU, OpenVINO 20")
    assert crosscheck.endswith("outputs, 0 of another type or shape, 0 of other values")
    lines = str(irshape.compare(irshape.load(first), irshape.load(second))).splitlines()
    assert lines[0].startswith(f"{first} and {second}: ")
    assert lines[1].startswith("to blame: Multiply 'scale' (id ")
