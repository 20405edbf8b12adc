"""What a cross-check says while it works: the phases, and how many layers each goes through."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from ir import Net

import irshape
from irshape.cli import cli
from irshape.comparison import runtime
from irshape.model.graph import Layer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECORDINGS = Path(__file__).parent / "recordings" / "avx512_fp16_amx"
COMMAND = ["crosscheck", str(EXAMPLES / "int8.xml"), "--replay", str(RECORDINGS / "int8.f16.npz")]


def on_terminal(*arguments: str, **environment: str) -> tuple[str, str]:
    """The command's stdout, and what it writes to a terminal as its stderr."""
    terminal, end = pty.openpty()
    written: list[bytes] = []

    def read() -> None:
        try:
            while chunk := os.read(terminal, 4096):
                written.append(chunk)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "irshape", *arguments],
            stdout=subprocess.PIPE,
            stderr=end,
            check=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment},
        )
    finally:
        os.close(end)
        reader.join()
        os.close(terminal)
    return done.stdout.decode(), b"".join(written).decode()


def test_a_terminal_shows_the_phases() -> None:
    printed, shown = on_terminal(*COMMAND)
    lines = [line.removesuffix("\x1b[K") for line in shown.split("\r")]
    layers = len(irshape.load(EXAMPLES / "int8.xml").layers)
    phases = [line for line in lines if not re.search(r": [1-9]\d*/", line)]
    assert phases == [
        "",
        "running the model on CPU …",
        f"comparing layers: 0/{layers}",
        f"explaining what is inherited: 0/{layers}",
        "",
    ]
    silent = subprocess.run(
        [sys.executable, "-m", "irshape", *COMMAND], capture_output=True, check=True
    )
    assert silent.stderr == b""
    assert silent.stdout.decode().split() == printed.split()  # lines are as wide as the terminal


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"COLUMNS": "20"}], ids=["dumb", "narrow"]
)
def test_a_terminal_that_cannot_rewrite_a_line_or_is_narrow(environment: dict[str, str]) -> None:
    _, shown = on_terminal(*COMMAND, **environment)
    assert bool(shown) == ("COLUMNS" in environment)
    assert all(len(line.removesuffix("\x1b[K")) < 20 for line in shown.split("\r"))


def test_a_log_gets_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr("irshape.cli.running.monotonic", lambda: next(clock))
    done = CliRunner().invoke(cli, COMMAND)
    lines = done.stderr.splitlines()
    assert done.exit_code == 0
    assert 3 < len(lines) < 100
    assert all(re.search(r": \d+/\d+|…$", line) for line in lines)


def test_each_phase_passes_as_many_layers_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device that is wrong about the first layer, which is therefore run alone."""
    net = Net()
    grown = net.layer("Exp", [net.parameter("2,3", name="x")], name="grow")
    net.result(net.layer("Sin", [grown], name="turn"))
    real = runtime.ask

    def ask(folder: Path, request: dict[str, object]) -> runtime.Answer:
        answer = real(folder, request)
        for tensor in answer.values.values():
            tensor.file.write_bytes((np.fromfile(tensor.file, np.float32) + 1).tobytes())
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)
    phases: list[tuple[str, int]] = []
    seen: list[int] = []

    def phase(text: str, layers: int) -> None:
        phases.append((text, layers))
        seen.append(0)

    def progress(layer: Layer, inputs: object, outputs: object) -> None:
        seen[-1] += 1

    irshape.crosscheck(net.save(tmp_path), progress=progress, phase=phase)
    assert phases == [
        ("running the model on CPU", 0),
        ("comparing layers", 4),
        (f"running layer {grown} (Exp) alone on CPU", 0),
    ]
    assert seen == [layers for _, layers in phases]


def test_an_onnx_model_has_phases_too(tmp_path: Path) -> None:
    import onnx

    node = onnx.helper.make_node("Abs", ["x"], ["y"])
    tensors = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", tensors[:1], tensors[1:])
    imports = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=imports), tmp_path / "m.onnx")
    phases: list[tuple[str, int]] = []
    irshape.crosscheck(
        tmp_path / "m.onnx", device="reference", phase=lambda *entry: phases.append(entry)
    )
    assert phases == [("running the model on reference", 0), ("comparing layers", 3)]
