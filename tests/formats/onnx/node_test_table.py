"""Writes the table of ONNX's node tests, tests/measured/onnx-node-tests.md.

It counts how many load, infer and execute right, here and in OpenVINO's own converter and CPU
plugin.

`python node_test_table.py` works for some minutes. OpenVINO runs in a process of its own, which is
started again where a test ends it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
for _folder in (HERE.parents[2], HERE.parents[3]):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

from formats.onnx.node_tests import Case, cases, same  # noqa: E402

import irshape  # noqa: E402
from irshape.shapes import PartialShape  # noqa: E402

DOCUMENT = HERE.parents[2] / "measured" / "onnx-node-tests.md"
BEGIN = "Node tests of onnx "


def own(case: Case, folder: Path) -> set[str]:
    """What irshape manages of a case."""
    path = folder / "model.onnx"
    path.write_bytes(case.model)
    model = irshape.load(path)
    if any(found.severity == "error" for found in irshape.validate(model).diagnostics):
        return set()
    if case.data is None:
        return {"load"}
    done = {"load"}
    try:
        for inputs, outputs in case.data:
            shapes = {
                f"id:{layer.id}": PartialShape(array.shape)
                for layer, array in zip(model.parameters, inputs, strict=True)
            }
            inference = irshape.infer(model, shapes=shapes)
            results = [inference.outputs(layer)[0] for layer in model.results]
            if not all(
                tensor.shape.encloses(PartialShape(array.shape))
                for tensor, array in zip(results, outputs, strict=True)
            ):
                return done
        done.add("infer")
        for inputs, outputs in case.data:
            made = list(irshape.run(model, inputs).values())
            if len(made) != len(outputs) or not all(
                same(a, b, case) for a, b in zip(made, outputs, strict=True)
            ):
                return done
    except (RuntimeError, ValueError):
        return done
    return done | {"execute"}


def worker(first: int) -> None:
    """The child: a line for each case from `first` on, with what OpenVINO manages of it."""
    import openvino as ov

    core = ov.Core()
    for number, case in enumerate(cases()[first:], first):
        print(json.dumps([number, None]), flush=True)
        print(json.dumps([number, sorted(theirs(ov, core, case))]), flush=True)


def theirs(ov: Any, core: Any, case: Case) -> set[str]:
    """What OpenVINO manages of a case."""
    try:
        model = core.read_model(case.model)
        if case.data is None:
            return {"load"}
        done = {"load"}
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        done.add("infer")
        for inputs, outputs in case.data:
            made = compiled(
                [_tensor(ov, array, port) for array, port in zip(inputs, model.inputs, strict=True)]
            )
            found = [np.asarray(made[index]) for index in range(len(outputs))]
            typed = [
                array.view(wanted.dtype)
                if array.dtype.itemsize == wanted.dtype.itemsize and array.dtype != wanted.dtype
                else array
                for array, wanted in zip(found, outputs, strict=True)
            ]
            if not all(same(a, b, case) for a, b in zip(typed, outputs, strict=True)):
                return done
    except Exception:
        return locals().get("done", set())
    return done | {"execute"}


def _tensor(ov: Any, array: Any, port: Any) -> Any:
    if array.dtype.kind in "OUS":
        return array.astype(np.str_)
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        made = ov.Tensor(port.element_type, ov.Shape(list(array.shape)))
        made.data.view(np.uint8).ravel()[:] = np.ascontiguousarray(array).view(np.uint8).ravel()
        return made
    return np.array(array, order="C")


def all_theirs() -> list[set[str]]:
    """What OpenVINO manages of every case."""
    found: list[set[str]] = [set() for _ in cases()]
    first = 0
    while first < len(found):
        with subprocess.Popen(
            [sys.executable, str(HERE), "--worker", str(first)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as child:
            assert child.stdout is not None
            at = first
            for line in child.stdout:
                at, done = json.loads(line)
                if done is not None:
                    found[at] = set(done)
        first = at + 1
    return found


STAGES = ("load", "infer", "execute")


def table() -> str:
    """The table in Markdown: a line for each operator, and the sums."""
    import onnx
    import openvino as ov

    counts: dict[str, Counter[str]] = {}
    other = all_theirs()
    with (
        tempfile.TemporaryDirectory() as name,
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        for case, by_openvino in zip(cases(), other, strict=True):
            key = case.operators[0] if len(case.operators) == 1 else "(several nodes)"
            row = counts.setdefault(key, Counter())
            row["cases"] += 1
            row.update(own(case, Path(name)))
            row.update(f"ov {stage}" for stage in by_openvino)
    total: Counter[str] = sum(counts.values(), Counter())
    head = (
        f"{BEGIN}{onnx.__version__}, OpenVINO {str(ov.__version__).split('-')[0]} on "
        "its CPU plugin at f32.\n\n"
    )
    head += (
        "| operator | tests | irshape loads | infers | executes right | OpenVINO loads | compiles "
        "| executes right |\n|---|---|---|---|---|---|---|---|\n"
    )
    columns = ("cases", *STAGES, *(f"ov {stage}" for stage in STAGES))

    def line(label: str, row: Counter[str]) -> str:
        return f"| {label} | " + " | ".join(str(row[column]) for column in columns) + " |\n"

    return (
        head
        + line("**all**", total)
        + "".join(line(key, counts[key]) for key in sorted(counts, key=str.lower))
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(int(sys.argv[2]))
    else:
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(text[: text.index(BEGIN)] + table(), encoding="utf-8")
