"""Builds the corpus of small IRs from the rows of the differential tests.

    python tests/corpus/build.py OUT [--every 10] [--verdicts FOLDER]

OUT is a folder, or an archive if it ends in .zip. README.md beside this file describes the
content. `--verdicts` names a folder of `tests/differential/releases.py record`; from there the
index takes what each release does.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

HERE = Path(__file__).resolve()
TESTS = HERE.parents[1]
sys.path[:0] = [
    path for path in (str(TESTS), str(TESTS.parent), str(TESTS / "ops")) if path not in sys.path
]

from differential.cases import Case, build, feeds  # noqa: E402
from differential.compare import (  # noqa: E402
    computed,
    diagnosed,
    refusals,
    with_declared_nodes,
)
from differential.coverage import cases, version_under_test  # noqa: E402
from differential.elements import EPSILON, PLAIN, REAL, Tensor  # noqa: E402
from differential.known_differences import KNOWN  # noqa: E402
from differential.oracle import Answer, Oracle  # noqa: E402
from differential.releases import rows  # noqa: E402

import irshape  # noqa: E402

STORED = {*PLAIN, "bf16"}
"""The element types whose values are stored."""

WRONG_VALUES = ("values", "hardware")
"""Kinds of known differences with which the values are those of irshape."""


class Corpus:
    """A corpus that is being written."""

    def __init__(self, folder: Path, oracle: Oracle) -> None:
        self.folder = folder
        self.oracle = oracle
        self.entries: list[dict[str, Any]] = []
        self.names: set[str] = set()
        (folder / "models").mkdir(parents=True)

    def add(self, case: Case, releases: dict[str, str], values: BinaryIO) -> None:
        """Asks OpenVINO about a row, and stores the row with the answer."""
        number = f"{len(self.entries):05}"
        path = self.folder / "models" / f"{number}.xml"
        _write(case, path)
        fed = feeds(case) if case.run else None
        answer = self.oracle.ask_file(
            path, None if fed is None else {name: tensor for name, (tensor, _) in fed.items()}
        )
        read = answer.status == "accepted"
        if read and case.edit is None:  # a complete IR, as OpenVINO would write it
            path.write_text(build(case, answer.layers)[0], encoding="utf-8")
        tensors = {name: tensor for name, (tensor, _) in (fed or {}).items()}
        results = self._results(case, answer, path)
        whole = read and len(results) == len(irshape.load(path).results)
        stored = {each.element_type for each in (*tensors.values(), *results.values())} <= STORED
        if not (whole and stored):
            results = {}
        identifier, count = case.id, 2
        while identifier in self.names:
            identifier, count = f"{case.id} ({count})", count + 1
        self.names.add(identifier)
        by_irshape = any(KNOWN[key].kind in WRONG_VALUES for key in case.keys)
        self.entries.append(
            {
                "id": identifier,
                "operation": version_under_test(case),
                "model": f"models/{number}.xml",
                "answer": "read" if read else answer.status,
                "message": "" if read else answer.message.strip().rpartition("\n")[2],
                "outputs": _of_the_file(answer, path),
                "requires": _requires(path),
                "releases": releases,
                "inputs": [_stored(*item, values) for item in tensors.items()] if results else [],
                "results": [_stored(*item, values) for item in results.items()],
                "source": "irshape" if by_irshape else "OpenVINO",
                **_tolerance(case, results),
                "known": case.keys,
            }
        )

    def _results(self, case: Case, answer: Answer, path: Path) -> dict[str, Tensor]:
        """The values of OpenVINO's CPU plugin, or irshape's where those are known to be wrong."""
        execution = answer.execution
        if execution is None or execution.status != "done" or execution.engine != "CPU":
            return {}
        if not any(KNOWN[key].kind in WRONG_VALUES for key in case.keys):
            return execution.results
        outputs = computed(case, irshape.load(path))
        return {
            name: Tensor.of(array, element_type)
            for name, (element_type, array) in zip(execution.results, outputs, strict=True)
        }


def _of_the_file(answer: Answer, path: Path) -> dict[str, Any]:
    """The outputs of the layers at the top level, without those that OpenVINO has put there."""
    text = path.read_text(encoding="utf-8")
    return {name: ports for name, ports in answer.layers.items() if f'name="{name}"' in text}


def _write(case: Case, path: Path) -> None:
    """The row as a model; layers that feed the one under test declare their shapes."""
    xml, weights = build(case)
    path.write_text(xml, encoding="utf-8")
    if weights:
        path.with_suffix(".bin").write_bytes(weights)
    declared = with_declared_nodes(case, path)
    if declared != path:
        declared.replace(path)
        declared.with_suffix(".bin").unlink(missing_ok=True)


def _requires(path: Path) -> str | None:
    return None if refusals(diagnosed(path)) else irshape.requires(path).release


def _stored(name: str, tensor: Tensor, values: BinaryIO) -> dict[str, Any]:
    """Writes a tensor, and says where it lies."""
    assert isinstance(tensor.data, bytes)
    place = {"offset": values.tell(), "size": len(tensor.data)}
    values.write(tensor.data)
    dtype = np.dtype(PLAIN.get(tensor.element_type, "u2")).newbyteorder("<").str
    form = {"element_type": tensor.element_type, "dtype": dtype, "shape": list(tensor.shape)}
    return {"name": name, **form, **place}


def _tolerance(case: Case, results: dict[str, Tensor]) -> dict[str, float]:
    """What the differential tests allow."""
    real = [each.element_type for each in results.values() if each.element_type in REAL]
    if not real:
        return {"rtol": case.rtol or 0.0, "atol": case.atol or 0.0}
    epsilon = max((2 * EPSILON[name] for name in real if name in EPSILON), default=None)
    rtol = case.rtol if case.rtol is not None else epsilon or 1e-4
    return {"rtol": rtol, "atol": case.atol if case.atol is not None else epsilon or 1e-5}


def build_corpus(folder: Path, every: int = 1, verdicts: Path | None = None) -> None:
    """Writes a corpus of each `every`-th row into a new folder."""
    answers: dict[int, dict[str, str]] = {}
    for number, row in rows(verdicts) if verdicts else ():
        answers[number] = {
            release: "read" if verdict.reads == "accepted" else verdict.reads
            for release, verdict in row.verdicts.items()
        }
    with Oracle() as oracle:
        corpus = Corpus(folder, oracle)
        with (folder / "values").open("wb") as values:
            for number, case in enumerate(cases()):
                if number % every == 0:
                    corpus.add(case, answers.get(number, {}), values)
        index = {
            "version": 1,
            "corpus": irshape.__version__,
            "openvino": oracle.version.partition("-")[0],
            "known": {key: asdict(known) for key, known in KNOWN.items()},
            "cases": corpus.entries,
        }
    (folder / "index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")
    for name in ("README.md", "harness.py", "reader_irshape.py", "reader_openvino.py"):
        shutil.copy(HERE.parent / name, folder / name)
    shutil.copy(TESTS.parent / "LICENSE", folder / "LICENSE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every Nth row")
    parser.add_argument("--verdicts", type=Path, help="what releases.py has recorded")
    given = parser.parse_args()
    if given.out.suffix != ".zip":
        build_corpus(given.out, given.every, given.verdicts)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / f"ir-corpus-{irshape.__version__}"
        build_corpus(folder, given.every, given.verdicts)
        shutil.make_archive(str(given.out.with_suffix("")), "zip", name, folder.name)


if __name__ == "__main__":
    main()
