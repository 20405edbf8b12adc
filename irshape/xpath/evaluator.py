"""Sends documents and expressions to the worker process, and ends it if an evaluation is slow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from threading import TIMEOUT_MAX, Timer
from typing import Any, NamedTuple

from .frames import receive, send

DEFAULT_SECONDS = 10.0
"""The default time limit in seconds for one expression on one document."""
MEMORY = 4 << 30
"""The bytes of address space that the worker may use."""


class XPathError(ValueError):
    """Raised if an expression is malformed or could not be evaluated; the message says why."""


class SelectedNode(NamedTuple):
    """A node that an expression selects.

    element: the number of its element in the document, from 0. layer: the number of the `<layer>`
    around it. attribute: the name of a selected attribute. text: the text of the node.
    """

    element: int
    layer: int | None
    attribute: str | None
    text: str | None


class Matches(NamedTuple):
    """The result of an expression: nodes, or a single number, text or truth value."""

    nodes: list[SelectedNode]
    value: float | str | bool | None = None


class Evaluator:
    """A worker process that evaluates expressions. Call `close` at the end."""

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self.seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._document: tuple[bytes, dict[str, list[list[str]]] | None, str | None] | None = None

    def close(self) -> None:
        """Ends the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def check(self, xpath: str) -> None:
        """Raises `XPathError` for a malformed expression. Also refuses a layer type alone, such as
        `ReLU`, since no element has this name."""
        if re.fullmatch(r"[A-Z]\w*", xpath):
            raise XPathError(
                f"an IR has no element <{xpath}>; for the layers of a type write "
                f"'//layer[@type=\"{xpath}\"]'"
            )
        self._ask({"check": xpath})

    def load(
        self,
        data: bytes,
        ports: dict[str, list[list[str]]] | None = None,
        encoding: str | None = None,
    ) -> None:
        """Sends a document to the worker. Raises `XPathError` if it cannot be parsed.

        ports: the inferred outputs by path and id of the layer, for `shape(…)` and
        `element-type(…)`. encoding: the encoding of `data`, if the document declares another one.
        """
        self._document = (data, ports, encoding)
        self._ask({"document": len(data), "ports": ports or {}, "encoding": encoding}, data)

    def find(self, xpath: str) -> Matches:
        """Returns the result of an expression on the document. Raises `XPathError`."""
        if self._process is None and self._document is not None:
            self.load(*self._document)  # the worker before was ended
        answer = self._ask({"xpath": xpath}, seconds=self.seconds)
        nodes = [SelectedNode(*row) for row in answer.get("matches", ())]
        return Matches(nodes, answer.get("value"))

    def _ask(
        self, request: dict[str, Any], data: bytes = b"", *, seconds: float = TIMEOUT_MAX
    ) -> dict[str, Any]:
        """Returns the worker's answer. Raises `XPathError`.

        seconds: the limit of an evaluation. Starting the worker and parsing have no limit: their
            time depends only on the machine and the size of the document.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = False

        def end() -> None:
            nonlocal late
            late = True
            process.kill()

        timer = Timer(seconds, end)
        timer.start()
        try:
            send(process.stdin, request, data)
            answer = receive(process.stdout)
        except OSError:
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            self.close()
            why = f"it takes more than {self.seconds:g} s" if late else "it needs too much memory"
            raise XPathError(why)
        if "problem" in answer:
            raise XPathError(str(answer["problem"]))
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            path = os.pathsep.join(os.path.abspath(part) for part in sys.path)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "irshape.xpath.worker", str(MEMORY)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
        return self._process
