"""Runs the user's command on smaller models, and tells whether it still fails in the same way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import NamedTuple

from ..model.graph import Model
from .candidates import save

PLACE = "{}"
"""The text that stands for the path of the model in a command."""

MAX_OUTPUT = 1 << 20
"""How many bytes at the end of a command's output are examined."""


class Outcome(NamedTuple):
    """How a command ended. status: the exit status; None if the command took too long and was
    stopped, negative if a signal ended it."""

    status: int | None
    output: str
    seconds: float

    @property
    def ending(self) -> str:
        """How the command ended, as words that can follow "ends with"."""
        if self.status is None:
            return "a timeout"
        if self.status < 0:
            try:
                return f"signal {-self.status} ({signal.Signals(-self.status).name})"
            except ValueError:
                return f"signal {-self.status}"
        return f"exit status {self.status}"

    @property
    def last_line(self) -> str:
        """The last line of the command's output that is not blank."""
        lines = [line.strip() for line in self.output.splitlines()]
        return next((line for line in reversed(lines) if line), "")


class CommandTest:
    """Runs a command on models.

    command: the words of the command. `{}` in a word stands for the path of the model; if no word
    contains it, the path is added at the end. timeout: the number of seconds after which the
    command is stopped.
    """

    def __init__(
        self, command: Sequence[str], *, name: str = "model", timeout: float | None = None
    ) -> None:
        self.command = tuple(command)
        self.timeout = timeout
        self._name = name
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._closed = False
        self._status: int | None = 0
        self._patterns: tuple[re.Pattern[str], ...] = ()

    def expect(self, status: int | None, patterns: Sequence[re.Pattern[str]] = ()) -> None:
        """Sets the outcome that counts as a failure: an exit status, and patterns that must all
        match the output."""
        self._status, self._patterns = status, tuple(patterns)

    def is_expected(self, outcome: Outcome) -> bool:
        return outcome.status == self._status and all(
            pattern.search(outcome.output) for pattern in self._patterns
        )

    def __call__(self, model: Model) -> bool:
        """Runs the command on a model. Returns whether the outcome is as expected."""
        with tempfile.TemporaryDirectory(prefix="irshape-reduce-") as folder:
            path = Path(folder) / f"{self._name}.xml"
            save(model, path)
            return self.is_expected(self.on_file(path))

    def on_file(self, path: str | os.PathLike[str]) -> Outcome:
        """Runs the command on a file. Raises `OSError` if the command cannot be started."""
        start = monotonic()
        with tempfile.TemporaryFile() as output:
            process = self._start(os.fspath(path), output.fileno())
            try:
                status: int | None = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _kill(process)
                with self._lock:
                    self._running.discard(process)
            size = output.seek(0, os.SEEK_END)
            output.seek(max(size - MAX_OUTPUT, 0))
            text = output.read().decode("utf-8", "replace")
        return Outcome(status, text, monotonic() - start)

    def close(self) -> None:
        """Stops the running commands. No command can be started afterwards."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            _kill(process)

    def _start(self, path: str, output: int) -> subprocess.Popen[bytes]:
        words = [word.replace(PLACE, path) for word in self.command]
        if not any(PLACE in word for word in self.command):
            words.append(path)
        with self._lock:
            if self._closed:
                raise InterruptedError("the reduction is over")
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        return process


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all processes that it started."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
