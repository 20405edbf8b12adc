"""A run exceeds neither its memory nor its iterations, and leaves no partial files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from calling import said as call
from ir import Net

import irshape
from irshape.byte_sizes import parse_size, written_size
from irshape.execution.session import ExecutionError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROOT = EXAMPLES.parent


def test_memory_is_estimated_before_it_is_taken(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("1", name="x")
    net.result(
        net.layer(
            "Broadcast", [x, net.constant([1 << 20, 1 << 20, 64])], 'mode="numpy"', name="huge"
        )
    )
    status, output = call("run", str(net.save(tmp_path)), "--random", "--max-memory", "2G")
    assert status == 1
    assert "Broadcast 'huge' (id 2)" in output
    assert "2,048 MiB allowed" in output


@pytest.mark.parametrize("type", ["Broadcast", "Tile", "Range", "NonZero"])
def test_sizes_that_only_values_decide_are_looked_at_too(type: str, tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("1", "i64", name="n")
    if type == "Broadcast":
        net.result(
            net.layer("Broadcast", [net.constant([1.0], "f32"), x], 'mode="numpy"', name="made")
        )
    elif type == "Tile":
        net.result(net.layer("Tile", [net.constant([1.0], "f32"), x], name="made"))
    elif type == "Range":
        stop = net.layer("Squeeze", [x], outputs=["I64"])
        net.result(
            net.layer(
                "Range",
                [net.constant(0), stop, net.constant(1)],
                'output_type="i64"',
                version="opset4",
                outputs=["I64"],
                name="made",
            )
        )
    else:
        net.result(
            net.layer(
                "NonZero", [x], 'output_type="i64"', version="opset3", outputs=["I64"], name="made"
            )
        )
    session = irshape.Session(net.load(tmp_path), max_memory=1 << 28)
    if type == "NonZero":
        session.run([np.array([7])])
        return
    assert session.run([np.array([7])])
    with pytest.raises(ExecutionError, match=r"'made'.*allowed \(--max-memory\)"):
        session.run([np.array([1 << 40])])


def test_loops_end(tmp_path: Path) -> None:
    model = irshape.load(EXAMPLES / "recurrent.xml")
    fed = [np.zeros((2, 50, 8), np.float32) for _ in model.parameters]
    irshape.Session(model).run(fed)
    with pytest.raises(ExecutionError, match=r"has run 10 times.*--max-iterations"):
        irshape.Session(model, max_iterations=10).run(fed)
    assert (
        call("run", model.path, "--random", "-s", "sequence=[1,40,8]", "--max-iterations", "5")[0]
        == 1
    )
    assert (
        call("run", model.path, "--random", "-s", "sequence=[1,40,8]", "--max-iterations", "100")[0]
        == 0
    )


@pytest.mark.parametrize("text", ["12", "12K", "1.5G", "2GiB", "3MB", "4t"])
def test_sizes_of_memory(text: str) -> None:
    assert call("run", str(EXAMPLES / "classifier.xml"), "--random", "--max-memory", text)[0] == (
        1 if text in ("12", "12K") else 0
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("12", 12),
        ("12 B", 12),
        ("1K", 1 << 10),
        ("1kB", 1000),
        ("1KiB", 1 << 10),
        ("100MB", 100_000_000),
        ("100mb", 100_000_000),
        ("100MiB", 100 << 20),
        ("100M", 100 << 20),
        ("1.5 G", 3 << 29),
        ("2TB", 2 * 10**12),
        ("9" * 400, 1 << 63),
    ],
)
def test_a_size_means_the_same_everywhere(text: str, size: int, tmp_path: Path) -> None:
    assert parse_size(text) == size
    file = tmp_path / "irshape.toml"
    file.write_text(f'[policy]\nmax-weights = "{text}"')
    assert irshape.Configuration.read(file).policies[0].max_weights == size


@pytest.mark.parametrize("text", ["much", "", "-1", "1X", "1.2.3M", "M", "100 MBytes"])
def test_a_size_that_is_none(text: str) -> None:
    status, output = call(
        "run", str(EXAMPLES / "classifier.xml"), "--random", f"--max-memory={text}"
    )
    assert (status, f"'{text}' is not a size" in output) == (2, True)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1 << 10, "1 KiB"),
        (5 << 20, "5 MiB"),
        (3 << 30, "3,072 MiB"),
        (7**5000, "8 EiB or more"),
    ],
)
def test_a_size_in_a_message(size: int, text: str) -> None:
    assert written_size(size) == text


def test_a_limit_below_a_mebibyte_is_named(tmp_path: Path) -> None:
    net = Net()
    net.result(net.layer("Sigmoid", [net.parameter("300", name="x")]))
    status, output = call("run", str(net.save(tmp_path)), "--random", "--max-memory", "1K")
    assert (status, "the 1 KiB allowed" in output) == (1, True)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_leaves_nothing(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("64,64", name="x")
    for _ in range(3000):
        x = net.layer("MatMul", [x, x], 'transpose_a="false" transpose_b="false"')
    net.result(net.layer("Broadcast", [x, net.constant([200, 64, 64])], 'mode="numpy"'))
    path = net.save(tmp_path)
    started = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "irshape",
            "run",
            str(path),
            "--random",
            "--outputs",
            "all",
            "--output-dir",
            str(tmp_path / "out"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 600
    while not (tmp_path / "out").exists() and started.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    started.send_signal(signal.SIGINT)
    _, stderr = started.communicate(timeout=600)
    assert "Traceback" not in stderr
    if started.returncode != 0:  # it was fast enough to be interrupted
        assert started.returncode == 130
        assert not any(found.name.startswith(".") for found in (tmp_path / "out").glob("*"))
