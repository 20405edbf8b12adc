"""Every attack through every command: the verdict, no traceback, bounded time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from irshape.cli import cli

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from attacks import ATTACKS  # noqa: E402

MEGABYTES = 3000
"""Of address space; what NumPy, lxml and the threads of a BLAS reserve counts."""
SECONDS = 1000
"""Of processor time: a hundred times what the slowest file takes. Only a hang exceeds it."""
RESIDENT = 500_000
"""Kilobytes of memory that all commands together may touch."""


Commands = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    """Runs commands over a file, each file in a process of its own, which must not die."""
    call = [sys.executable, str(HERE / "child.py"), str(MEGABYTES), str(SECONDS)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None

        def ask(path: Path, *names: str) -> dict[str, Any]:
            print(json.dumps([str(path), *names]), file=parent.stdin, flush=True)
            line = parent.stdout.readline()
            assert line, "no answer"
            status, answer, err = json.loads(line)
            assert status == 0, f"the process ended with {status}: {err}"
            outcome: dict[str, Any] = json.loads(Path(answer).read_bytes())
            return outcome

        yield ask
        parent.stdin.close()


def before(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 28
    }


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str, tmp_path: Path, commands: Commands) -> None:
    path = ATTACKS[name].make(tmp_path)
    expected = ATTACKS[name].expected
    files = before(tmp_path)
    found = commands(path)
    for command, result in found["commands"].items():
        assert not result["trace"], f"{command}: {result['trace']}"
        assert result["status"] in (0, 1, 2), command
        assert "internal error" not in result["err"], command
        assert "root:x:0" not in result["out"] + result["err"], f"{command} shows another file"
        assert (
            not set(result["out"] + result["err"]) & {"\x1b", "\x9b", "\x07"} or command == "fix"
        ), f"{command} lets control characters through"
    assert found["peak"] < RESIDENT, f"{found['peak']} KB"
    verdict = found["commands"]["validate"]
    if expected is None:
        assert verdict["status"] in (1, 2)
    else:
        codes = [
            one["code"]
            for file in json.loads(verdict["out"])["files"]
            for lead in file["diagnostics"]
            for one in (lead, *lead.get("related", ()))
            if one["severity"] != "info"
        ]
        assert (
            any(code.startswith(expected) for code in codes) if expected else verdict["status"] == 0
        ), codes[:5]
        assert len(codes) < 100_000
    left = before(tmp_path)
    left.pop("fixed.out", None)
    assert left == files


@pytest.mark.parametrize(
    "argument",
    [
        "../../etc/passwd",
        "\x1b[31m",
        "IR" + "9" * 5000,
        "",
        "{0}",
        "__class__",
        "Ä" * 1000,
        "--",
        "a\nb",
    ],
)
def test_rule_and_ops(argument: str) -> None:
    for command in ("rule", "ops"):
        done = CliRunner().invoke(cli, [command, argument])
        assert done.exit_code in (0, 2)
        assert done.exception is None or isinstance(done.exception, SystemExit)
