"""The processes of the runtimes: kept for the next request, replaced when they end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from irshape.comparison import processes

RUNTIME = """
import os, sys, time
from pathlib import Path
from irshape.comparison.processes import serve

asked = 0

def run(request, folder, answer, save):
    global asked
    asked += 1
    print("what a runtime prints is no reply", flush=True)
    exec(request["todo"])
    answer["said"] = f"{os.getpid()} {asked} {os.getcwd()}"

serve(run)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with requests, and a runtime `fake_runtime` on the path."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "fake_runtime.py").write_text(RUNTIME)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "path"), *sys.path])
    return tmp_path


def ask(folder: Path, todo: str, timeout: float = 600, cwd: Path | None = None) -> str:
    """What the runtime answers, or how it ended."""
    (folder / "answer.json").unlink(missing_ok=True)
    answer = processes.ask("fake_runtime", folder, {"todo": todo}, timeout, cwd=cwd)
    return str(answer["crashed"] or answer.get("problem") or answer["said"])


class Ending(NamedTuple):
    todo: str
    says: str
    timeout: float = 600


ENDINGS = {
    "status": Ending(todo="os._exit(3)", says="status 3"),
    "standard error": Ending(
        todo="os.write(2, b'first\\nlast\\n'); os._exit(3)", says="status 3: last"
    ),
    "nothing said": Ending(todo="os._exit(0)", says="status 0"),
    "hang": Ending(todo="time.sleep(600)", says="within 1 s", timeout=1),
}
if os.name == "posix":
    ENDINGS["signal"] = Ending(todo="os.abort()", says="signal 6")


@pytest.mark.parametrize(
    ("name", "kept"),
    [*((name, False) for name in ENDINGS), ("status", True), ("hang", True)],
    ids=lambda value: {False: "new", True: "kept"}.get(value, value),
)
def test_how_a_process_ends_is_said(name: str, kept: bool, folder: Path) -> None:
    if kept:
        ask(folder, "")
    case = ENDINGS[name]
    said = ask(folder, case.todo, case.timeout)
    # what is printed has gone to standard error as well
    assert said.removesuffix(": what a runtime prints is no reply").endswith(case.says)
    assert ask(folder, "").split()[1] == "1", "the next request gets a new process"


def test_a_process_answers_request_after_request(folder: Path) -> None:
    first, second = ask(folder, "").split(), ask(folder, "", cwd=folder / "path").split()
    assert first[0] == second[0]
    assert (first[1], second[1]) == ("1", "2")
    assert Path(first[2]) == Path.cwd()
    assert Path(second[2]) == folder / "path"


def test_other_surroundings_ask_for_another_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(folder, "").split()
    monkeypatch.setenv("NUMBER", "2")
    second = ask(folder, "").split()
    assert first[0] != second[0]
    assert second[1] == "1"
    with pytest.raises(ProcessLookupError):
        os.kill(int(first[0]), 0)  # one process waits for each runtime


def test_a_process_that_is_unwell_is_not_believed(folder: Path) -> None:
    """A request that only a process fails which has answered another one is asked again."""
    todo = "if asked > 1: os._exit(9)"
    assert ask(folder, todo).split()[1] == "1"
    assert ask(folder, todo).split()[1] == "1"


def test_a_process_that_has_waited_too_long_is_replaced(folder: Path) -> None:
    impatient = "from irshape.comparison import processes\nprocesses.IDLE_SECONDS = 0.05"
    first = ask(folder, impatient).split()
    os.waitid(os.P_PID, int(first[0]), os.WEXITED | os.WNOWAIT)
    second = ask(folder, "").split()
    assert second[0] != first[0]
    assert second[1] == "1"


def test_an_error_is_the_answer(folder: Path) -> None:
    assert ask(folder, "raise OSError('no device')") == "no device"
