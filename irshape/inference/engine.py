"""Infers a model: the element type and the partial shape of every output port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ..faults import Fault
from ..model.graph import Layer, Model
from ..model.names import inputs_of
from ..shapes import PartialShape, ShapeLike
from .body_engine import BodyEngine
from .mismatches import compatible
from .result import BodyResult, Inference, Mismatch

if TYPE_CHECKING:
    from .reasons import Explanation, Overview

InputShapes = Mapping[str, ShapeLike] | Mapping[int, ShapeLike] | Mapping[Layer, ShapeLike]
"""Shapes of inputs, by name (see `model.names`), by position, or by the Parameter itself."""


def infer(
    model: Model,
    shapes: InputShapes | None = None,
    *,
    compare: bool = False,
    symbols: bool = False,
    assume: Iterable[str] = (),
    known: Inference | None = None,
) -> Inference:
    """Infers the element type and shape of every output port of a model.

    shapes: shapes that replace the declared ones, by the names of inputs.
    compare: record each output port whose declaration differs from the inferred tensor. A consumer
    whose input port repeats this declaration is inferred from the declared tensor.
    symbols: also express dimensions by named sizes; `shapes` may then name dimensions, e.g.
    `[batch,seq]`.
    assume: conditions on the named sizes, e.g. `seq % 8 == 0`.
    known: an earlier inference of the unchanged model. Its attributes, edges and constants are
    reused.
    Raises `ValueError` for a name in `shapes` that no input has.
    """
    if not isinstance(shapes or {}, Mapping):
        raise TypeError(
            "shapes: expected a shape for the name of each input, as in {'x': '[1,3]'}, got "
            f"{type(shapes).__name__}"
        )
    if symbols:
        return _with_symbols(model, shapes or {}, assume, known)
    engine = BodyEngine(model, None if known is None else known.engine)
    if model.kind == "layers":
        from .fragments import infer_fragments

        return Inference(model, infer_fragments(engine, compare=compare), engine=engine)
    overrides = _input_shapes(model, shapes) if shapes else {}
    with nullcontext() if model.weights is None else model.weights.read_sparsely():
        result = engine.infer_body(model.net, overrides, compare=compare)
        if compare and _believes_ports(result):
            _add_refusals(result, engine.infer_body(model.net, overrides))
    return Inference(model, result, engine=engine)


def _believes_ports(result: BodyResult) -> bool:
    """Whether consumers may have been inferred from declared tensors: some output ports are more
    specific than the inferred tensors, and no port contradicts inference."""
    differing = [
        each.subject
        for part in result.walk()
        for each in part.observations
        if isinstance(each.subject, Mismatch) and not each.subject.says_less
    ]
    return bool(differing) and all(compatible(each.declared, each.inferred) for each in differing)


def _add_refusals(result: BodyResult, plain: BodyResult) -> None:
    """Adds the layers to `result` that refuse their inputs in `plain`, but not in `result`.

    plain: the result of an inference that, like OpenVINO, ignored the declared ports.
    """
    parts = {part.body: part for part in result.walk()}
    for part in plain.walk():
        known = parts.get(part.body, part)
        refusing = part.faulty - known.faulty
        layers = {part.body.layers[position] for position in refusing}
        known.observations += [
            each
            for each in part.observations
            if each.layer in layers and isinstance(each.subject, Fault)
        ]
        known.faulty |= refusing
        known.inputs |= {position: part.inputs[position] for position in refusing}


def _with_symbols(
    model: Model,
    shapes: Mapping[Any, ShapeLike],
    assume: Iterable[str],
    known: Inference | None,
) -> Inference:
    from .symbolic import infer_symbolic, parse_named_shape, without_symbols

    if model.kind == "layers":
        from .fragments import infer_fragments

        result, sizes = without_symbols(infer_fragments(BodyEngine(model), compare=False))
        return _SymbolicInference(model, result, sizes)
    plain: dict[object, ShapeLike] = {}
    names = {}
    for name, shape in shapes.items():
        if isinstance(shape, str):
            plain[name], names[name] = parse_named_shape(shape)
        else:
            plain[name] = shape
    named = {layer.id: given for layer, given in inputs_of(model).given(names).items()}
    result, sizes = infer_symbolic(model, _input_shapes(model, plain), named, assume, known)
    return _SymbolicInference(model, result, sizes)


class _SymbolicInference(Inference):
    """An inference with named sizes. Its methods import the modules that explain dimensions."""

    def explain(self, tensor: str, axis: int | None = None) -> list[Explanation]:
        from .explaining import explain

        return explain(self, tensor, axis)

    def overview(self) -> Overview:
        from .overview import overview

        return overview(self)


def _input_shapes(model: Model, shapes: Mapping[Any, ShapeLike]) -> dict[str, PartialShape]:
    """Returns shapes by Parameter id. Raises `ValueError` for a name that no input has."""
    given = inputs_of(model).given(shapes)
    return {layer.id: PartialShape.of(shape) for layer, shape in given.items()}
