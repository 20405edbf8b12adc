"""Cross-check: every layer's element type, shape and value, held against OpenVINO's."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from .execution import ExecutionError, Session
from .inference.engine import BodyResult, infer
from .inputs import random_inputs
from .model import Layer, Model
from .narrowing import explanation
from .numpy_types import dtype_of, element_type_of, pack
from .runtime import Answer, ask
from .types import ElementType, PartialShape

Array = np.ndarray[Any, np.dtype[Any]]
Verdict = Literal["equal", "tighter", "differs", "explained", "not compared"]

TOLERANCE: dict[str, tuple[float, float]] = {"f64": (1e-3, 1e-4), "f32": (1e-3, 1e-4), "f16": (1e-2, 2e-3), "bf16": (4e-2, 1e-2)}
"""Relative tolerance, and absolute tolerance as a part of the largest magnitude in the tensor, by element type. f64 is compared as f32, in which the device computes it."""


class Row(NamedTuple):
    """One output port: what irshape infers and computes, what OpenVINO does, and how they agree."""

    layer: Layer
    port: int
    inferred: str
    runtime: str | None
    shape_verdict: Verdict
    value_verdict: Verdict
    error: float | None
    """The largest absolute difference of two finite values."""
    allowed: float | None
    reason: str | None
    ranges: dict[str, str]
    """Ranges of the inputs, of irshape's output and of OpenVINO's, where the values differ."""

    @property
    def differs(self) -> bool:
        return "differs" in (self.shape_verdict, self.value_verdict)


class Comparison:
    """The rows of a cross-check in topological order, and what kept it from being complete."""

    def __init__(self, model: Model, device: str, answer: Answer, rows: list[Row], problems: list[str]) -> None:
        self.model = model
        self.device = device
        self.version = answer.version
        self.device_name = answer.device
        self.rows = rows
        self.problems = problems
        """Why some of it could not be done: OpenVINO refused the model, crashed, or cannot run it; irshape cannot evaluate a layer."""

    @property
    def first(self) -> Row | None:
        """The first output that departs."""
        return next((row for row in self.rows if row.differs), None)

    @property
    def ok(self) -> bool:
        """Whether everything could be compared and nothing differs."""
        return self.first is None and not self.problems

    def count(self, verdict: Verdict, *, values: bool = True) -> int:
        return sum((row.value_verdict if values else row.shape_verdict) == verdict for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """What `irshape crosscheck --format json` prints."""
        rows = []
        for row in self.rows:
            reference = {"id": row.layer.id, "name": row.layer.name, "type": row.layer.type, "opset": row.layer.version, "path": list(row.layer.path)}
            rows.append({"layer": reference, **{key: value for key, value in row._asdict().items() if key != "layer"}})
        return {
            "version": 1,
            "model": self.model.path,
            "device": self.device,
            "openvino": self.version,
            "ok": self.ok,
            "problems": self.problems,
            "outputs": rows,
        }


def crosscheck(
    model: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    device: str = "CPU",
    layers: Literal["all", "outputs"] = "all",
    config: Mapping[str, str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> Comparison:
    """`irshape.crosscheck`. Without inputs they are drawn at random from `seed`. rtol, atol: instead of `TOLERANCE`; atol is then absolute.

    Raises `RuntimeError` where OpenVINO is not installed, `ExecutionError` for inputs that do not fit.
    """
    session = Session(model)
    fed = session.bind(inputs if inputs is not None else random_inputs(model, seed))
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="irshape-") as name:
        folder = Path(name)
        named = renamed(model)
        (folder / "model.xml").write_bytes(named)
        weights = model.weights
        usable = weights is not None and weights.state == "ready" and weights.path is not None
        request = {
            "xml": str(folder / "model.xml"),
            "bin": str(Path(weights.path).resolve()) if usable and weights is not None and weights.path else None,
            "device": device,
            "config": dict(config or {}),
            "layers": layers,
            "inputs": {layer.id: _stored(folder, number, fed[layer.id]) for number, layer in enumerate(model.parameters)},
        }
        answer = ask(folder, request)
    if answer.refused:
        problems.append(f"OpenVINO {answer.version} refuses the model: {answer.refused}")
    if answer.crashed:
        problems.append(f"OpenVINO {answer.version} crashed: {answer.crashed}")
    if answer.problem:
        problems.append(f"OpenVINO {answer.version} cannot run the model on {device}: {answer.problem}")
    rows = _shape_rows(model, answer)
    if answer.values:
        rows = _value_rows(session, fed, answer, rows, problems, rtol, atol)
    return Comparison(model, device, answer, rows, problems)


def renamed(model: Model) -> bytes:
    """The bytes of the model with every layer named by the ids that lead to it: OpenVINO's nodes are found again by their names, which in a file may repeat.

    The version becomes 11: reading IR v10, OpenVINO rewrites the graph.
    """
    source = model.source
    edits: list[tuple[int, int, str]] = []
    for layer in model.walk():
        found = {name: (start, end) for name, _, start, end in source.attributes(layer.offset)}
        if "name" in found:
            edits.append((*found["name"], "/".join([*layer.path, layer.id])))
    root = source.data.find(b"<net")
    for name, _, start, end in source.attributes(root):
        if name == "version":
            edits.append((start, end, "11"))
    parts, at = [], 0
    for start, end, text in sorted(edits):
        parts += [source.data[at:start], text.encode()]
        at = end
    return b"".join([*parts, source.data[at:]])


def _stored(folder: Path, number: int, array: Array) -> tuple[str, list[int], str]:
    element_type = element_type_of(array)
    file = f"input{number}.bin"
    if element_type.name == "string":
        (folder / file).write_text(json.dumps([item.hex() if isinstance(item, bytes) else str(item).encode().hex() for item in array.ravel()]))
    else:
        (folder / file).write_bytes(pack(array, element_type))
    return element_type.name, list(array.shape), file


def _shape_rows(model: Model, answer: Answer) -> list[Row]:
    rows: list[Row] = []

    def visit(result: BodyResult) -> None:
        for position in result.wiring.order:
            layer = result.body.layers[position]
            for inner in result.inner.get(position, {}).values():
                visit(inner)
            given = answer.shapes.get("/".join([*layer.path, layer.id]))
            if given is None:
                continue
            for port, tensor in enumerate(result.outputs[position]):
                mine = f"{tensor.element_type} {tensor.shape}"
                if port >= len(given):
                    continue
                element_type, shape = given[port]
                verdict = _shape_verdict(mine, f"{element_type} {shape}", tensor.element_type, tensor.shape, element_type, shape)
                rows.append(Row(layer, port, mine, f"{element_type} {shape}", verdict, "not compared", None, None, None, {}))

    visit(infer(model).result)
    return rows


def _shape_verdict(mine: str, theirs: str, element_type: ElementType, shape: PartialShape, their_type: str, their_shape: str) -> Verdict:
    if mine == theirs:
        return "equal"
    if element_type.name != their_type and their_type != "dynamic":
        return "differs"
    parsed = PartialShape.parse(their_shape)
    if parsed == shape:
        return "equal"
    return "tighter" if parsed.encloses(shape) else "differs"


def _value_rows(
    session: Session, fed: dict[str, Array], answer: Answer, rows: list[Row], problems: list[str], rtol: float | None, atol: float | None
) -> list[Row]:
    by_layer: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        by_layer.setdefault(id(row.layer), []).append(number)

    def observe(layer: Layer, inputs: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        given = answer.values.get(layer.id)
        if given is None or layer.type.lower() == "result":
            return
        for number in by_layer.get(id(layer), ()):
            row = rows[number]
            if row.port < len(given) and row.port < len(made):
                theirs = _array(*given[row.port])
                rows[number] = _compared(session, row, inputs, made[row.port], theirs, rtol, atol)

    try:
        session.run(fed, observe=observe)
    except ExecutionError as problem:
        problems.append(f"irshape cannot run the model: {problem}")
    return rows


def _array(element_type: str, shape: list[int], raw: bytes) -> Array:
    if element_type == "string":
        found: Array = np.array([bytes.fromhex(item) for item in json.loads(raw)], dtype=object).reshape(shape)
        return found
    declared = ElementType.of(element_type)
    if declared.is_packed:
        from .numpy_types import unpack

        count = int(np.prod(shape))
        return unpack(np.frombuffer(raw, np.uint8), declared, count).reshape(shape)
    return np.frombuffer(raw, dtype_of(declared)).reshape(shape)


def _compared(session: Session, row: Row, inputs: tuple[Array, ...], mine: Array, theirs: Array, rtol: float | None, atol: float | None) -> Row:
    if mine.shape != theirs.shape:
        reason = f"irshape computes {list(mine.shape)}, OpenVINO {list(theirs.shape)}"
        return row._replace(value_verdict="differs", reason=reason, ranges=_ranges(inputs, mine, theirs))
    error, allowed, same = difference(mine, theirs, rtol, atol)
    if same:
        return row._replace(value_verdict="equal", error=error, allowed=allowed)
    why = explanation(session, row.layer, row.port, inputs, theirs, lambda a, b: difference(a, b, rtol, atol)[2])
    verdict: Verdict = "explained" if why else "differs"
    return row._replace(value_verdict=verdict, error=error, allowed=allowed, reason=why, ranges=_ranges(inputs, mine, theirs))


def difference(mine: Array, theirs: Array, rtol: float | None = None, atol: float | None = None) -> tuple[float | None, float | None, bool]:
    """The largest absolute error, what is allowed where it is, and whether all elements are within: exact for integers, booleans and strings, NaN equal to NaN."""
    if mine.dtype.kind == "O" or theirs.dtype.kind == "O":
        return None, None, bool(np.array_equal(mine, theirs))
    real = mine.dtype.kind not in "iub" and not mine.dtype.name.startswith(("int", "uint"))
    if not real:
        same = np.asarray(mine).astype(object) == np.asarray(theirs).astype(object) if mine.dtype.itemsize == 8 else mine == theirs
        if bool(np.all(same)):
            return 0.0, 0.0, True
        return float(np.max(np.abs(mine.astype(np.float64) - theirs.astype(np.float64)))), 0.0, False
    name = element_type_of(mine).name
    a, b = mine.astype(np.float64), theirs.astype(np.float64)
    relative, part = TOLERANCE.get(name, (0.3, 0.1))
    finite = np.isfinite(a) & np.isfinite(b)
    scale = float(np.max(np.abs(a), where=finite, initial=0.0))
    bound = (relative if rtol is None else rtol) * np.abs(a) + (part * scale + 1e-6 if atol is None else atol)
    with np.errstate(all="ignore"):
        error = np.where(finite, np.abs(a - b), 0.0)
        alike = (a == b) | (np.isnan(a) & np.isnan(b)) | (finite & (error <= bound))
    if not error.size:
        return 0.0, 0.0, True
    worst = int(np.argmax(error))
    return float(error.flat[worst]), float(np.where(finite, bound, 0.0).flat[worst]), bool(np.all(alike))


def value_range(array: Array) -> str:
    """The range of an array in one line."""
    if array.dtype.kind == "O" or not array.size:
        return f"{list(array.shape)}"
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    odd = "".join(f", {count} {word}" for word, count in (("NaN", int(np.isnan(wide).sum())), ("inf", int(np.isinf(wide).sum()))) if count)
    return f"{list(array.shape)} {float(finite.min()):.6g} to {float(finite.max()):.6g}{odd}" if finite.size else f"{list(array.shape)}{odd}"


def _ranges(inputs: tuple[Array, ...], mine: Array, theirs: Array) -> dict[str, str]:
    found = {f"input {index}": value_range(array) for index, array in enumerate(inputs)}
    return {**found, "irshape": value_range(mine), "OpenVINO": value_range(theirs)}
