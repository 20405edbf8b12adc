"""What OpenVINO reads of a file: its own serialisation, and the types and shapes that it infers.

OpenVINO runs in a process of its own, which is started again where it crashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))


class Reading(NamedTuple):
    """A file as OpenVINO reads it."""

    serialised: str
    """A hash of the .xml and the .bin that it writes of it; empty where it refuses the file."""
    outputs: dict[str, list[tuple[str, str]]]
    """Element type and partial shape of each output, by the layer's name; `LOOP/body/NAME` for one
    in a body."""
    message: str

    @property
    def accepted(self) -> bool:
        return bool(self.serialised)


class OpenVINO:
    """A process that reads files; use it as a context."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> OpenVINO:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def read(self, path: Path) -> Reading:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            print(path, file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            process.communicate()
            self._process = None
            return Reading("", {}, "the process died")
        said = json.loads(answer)
        outputs = {name: [(kind, shape) for kind, shape in rows] for name, rows in said[1].items()}
        return Reading(said[0], outputs, said[2])


def _answer(ov: Any, core: Any, path: str, folder: str) -> list[Any]:
    from differential.oracle import _describe

    try:
        model = core.read_model(path)
        layers: dict[str, list[tuple[str, str]]] = {}
        _describe(model, "", layers)
        written = Path(folder, "m.xml"), Path(folder, "m.bin")
        ov.serialize(model, *map(str, written))
    except Exception as error:
        return ["", {}, str(error)]
    digest = hashlib.sha256()
    for each in written:
        digest.update(each.read_bytes())
    return [digest.hexdigest(), layers, ""]


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what OpenVINO prints is no answer
    import openvino as ov

    core = ov.Core()
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(
                json.dumps(_answer(ov, core, line.rstrip("\n"), folder)), file=answers, flush=True
            )


if __name__ == "__main__":
    main()
