"""Infers a model: gives every output port an element type and a partial shape."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.graph import Model
from ..types import PartialShape, ShapeLike
from .result import Inference
from .walk import BodyEngine


def infer(
    model: Model, shapes: Mapping[str, ShapeLike] | None = None, *, compare: bool = False
) -> Inference:
    """Infers a model.

    shapes: shapes that replace those of inputs, by tensor name, layer name or id. compare: record
    the declared ports that differ from what is inferred, and go on behind such a port from what
    its consumer repeats. Raises `ValueError` for a name in `shapes` that no input has.
    """
    engine = BodyEngine(model)
    if model.kind == "layers":
        from .fragments import infer_fragments

        return Inference(model, infer_fragments(engine, compare=compare))
    overrides = _input_shapes(model, shapes or {})
    return Inference(model, engine.infer_body(model.net, overrides, compare=compare))


def _input_shapes(model: Model, shapes: Mapping[str, ShapeLike]) -> dict[str, PartialShape]:
    """Shapes by the id of their Parameter.

    A tensor name is preferred to a layer name, and that to an id.
    """
    if not shapes:
        return {}
    parameters = model.parameters
    ids = {layer.id: layer.id for layer in parameters}
    ids.update((layer.name, layer.id) for layer in parameters)
    for layer in parameters:
        for port in layer.outputs:
            ids.update(dict.fromkeys(port.tensor_names, layer.id))
    by_id = {}
    for name, shape in shapes.items():
        if name not in ids:
            known = ", ".join(sorted({layer.name for layer in parameters})) or "none"
            raise ValueError(f"the model has no input '{name}' (its inputs: {known})")
        by_id[ids[name]] = PartialShape.of(shape)
    return by_id
