"""Runs runtimes in separate processes, since a model can crash them.

A process answers many requests, because starting it and importing a runtime takes longer than most
models run. A request is a folder. The process reads the request there and writes its answer into
it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

IDLE_SECONDS = 60.0
"""How long a process waits for another request before it ends."""

ENDING_SECONDS = 5.0
"""How long a process may take to end after its input is closed."""

Request = dict[str, Any]
"""A request or an answer in JSON: `request.json` and `answer.json` of its folder."""

Surroundings = tuple[int, str, str, dict[str, str]]
"""What a process inherits when it starts: the id of this process, the module, the search path and
the environment."""

_idle: dict[str, _Process] = {}
"""For each module, at most one process, which waits for another request. Each process holds the
memory of a runtime."""


def ask(
    module: str, folder: Path, request: Request, timeout: float, *, cwd: Path | None = None
) -> Request:
    """Sends a request to a process of `python -m module`, which calls `serve`. Returns its answer.
    If the process ended without an answer, `crashed` says how. cwd: the current folder of the
    process during the request; by default the folder of this process."""
    (folder / "request.json").write_text(json.dumps(request))
    paths = os.pathsep.join(os.path.abspath(part) for part in sys.path)
    surroundings = (os.getpid(), module, paths, dict(os.environ))
    line = json.dumps([str(folder.resolve()), str((cwd or Path.cwd()).resolve())])
    waiting = _idle.pop(module, None)
    if waiting is not None and waiting.surroundings != surroundings:
        waiting.close()
        waiting = None
    process = waiting or _Process(surroundings)
    replied = process.answers(line, timeout)
    if waiting is not None and not replied and not process.late:
        # it may have ended before, or be damaged by an earlier request: only a new one can tell
        process.close()
        process = _Process(surroundings)
        replied = process.answers(line, timeout)
    crashed = None if replied else process.ending(timeout)
    if replied and _idle.setdefault(module, process) is not process:
        process.close()  # another thread's process waits already
    file = folder / "answer.json"
    return {**(json.loads(file.read_text()) if file.exists() else {}), "crashed": crashed}


class _Process:
    """A process that runs `serve`."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.late = False
        """Whether the process was killed because its answer took too long."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        _, module, paths, environment = surroundings
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**environment, "PYTHONPATH": paths},
        )

    def answers(self, request: str, timeout: float) -> bool:
        """Sends a request and returns whether the process answers it. If it does not, the process
        has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None

        def end() -> None:
            self.late = True
            self._process.kill()

        timer = Timer(timeout, end)
        timer.start()
        try:
            stdin.write(request.encode() + b"\n")
            stdin.flush()
            answered = stdout.readline() == b"answered\n"
        except OSError:
            answered = False
        finally:
            timer.cancel()
        return answered

    def ending(self, timeout: float) -> str:
        """Says how the process ended."""
        code, errors = self.close()
        if self.late:
            return f"no answer within {timeout:.0f} s"
        if code < 0:
            return f"its process was killed by signal {-code}"
        lines = errors.strip().splitlines()
        return f"its process ended with status {code}" + (f": {lines[-1][:300]}" if lines else "")

    def close(self) -> tuple[int, str]:
        """Ends the process. Returns its status, and what it wrote to standard error."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):  # it may have ended already
                stream.close()
        try:
            code = self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._errors.seek(0)
        errors = self._errors.read().decode(errors="replace")
        self._errors.close()
        return code, errors


@atexit.register
def _close_all() -> None:
    for process in _idle.values():
        if process.surroundings[0] == os.getpid():
            process.close()


def short(problem: Exception) -> str:
    """Returns the last lines of an error's message as one line."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return " | ".join(lines[-3:])[:600]


def serve(run: Callable[[Request, Path, Request, Callable[[], None]], None]) -> None:
    """Answers requests, as the main loop of the process, until the input ends.

    run: called with the request, its folder, the answer to fill, and a function that saves the
    answer so far, in case the process crashes. The answer gets the text of an `ImportError` as
    `absent`, and the text of any other error as `problem`.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a runtime prints is no reply
    while True:
        idle = Timer(IDLE_SECONDS, os._exit, (0,))
        idle.daemon = True
        idle.start()
        line = sys.stdin.buffer.readline()
        idle.cancel()
        if not line:
            os._exit(0)
        folder, cwd = json.loads(line)
        os.chdir(cwd)
        _answer(run, Path(folder))
        os.chdir(tempfile.gettempdir())  # ours may be removed meanwhile
        replies.write(b"answered\n")
        replies.flush()


def _answer(
    run: Callable[[Request, Path, Request, Callable[[], None]], None], folder: Path
) -> None:
    answer: Request = {}

    def save() -> None:
        part = folder / "answer.part"
        part.write_text(json.dumps(answer))
        part.replace(folder / "answer.json")

    try:
        run(json.loads((folder / "request.json").read_text()), folder, answer, save)
    except ImportError as absent:
        answer["absent"] = str(absent)
    except Exception as problem:
        answer["problem"] = short(problem)
    save()
