"""Tries other values of a layer's attributes, to find values that explain its declared shapes."""

from __future__ import annotations

from ..inference.alternatives import Alternative, alternatives, inputs_of
from ..inference.declarations import Declarations
from ..inference.layer import LayerEngine
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..ops.declaration import Operation
from ..ops.registry import UnknownOperation
from .context import Context

Places = dict[Layer, tuple[BodyResult, int]]


def places(context: Context) -> Places:
    """Maps each layer to a pair: the inference result of its body, and its index in this body."""
    return {
        layer: (result, position)
        for result in context.results.values()
        for position, layer in enumerate(result.body.layers)
    }


def layer_engine(context: Context) -> LayerEngine:
    """Returns an engine that infers the outputs of one layer, e.g. with another attribute value."""
    return LayerEngine(context.model)


def operation_of(model: Model, layer: Layer) -> type[Operation] | None:
    """Returns the class of a layer's operation; None if the operation is unknown."""
    declaration = Declarations(model).of(layer)
    return None if isinstance(declaration, UnknownOperation) else type(declaration[0])


def fitting_values(context: Context, layer: Layer) -> tuple[Alternative, ...]:
    """Returns attribute values that would give a layer's outputs their declared types and shapes.

    Each `Alternative` changes one attribute. The best matches come first.
    """
    place, operation = context.shared(places).get(layer), operation_of(context.model, layer)
    if place is None or operation is None or operation.bodies or layer.is_constant:
        return ()
    engine = context.shared(layer_engine)
    fitting = alternatives(engine, layer, operation, inputs_of(*place))
    return tuple(sorted(fitting, key=lambda each: -each.fit))


def deciding_attributes(context: Context, layer: Layer) -> str:
    """Names the attributes that may be wrong, for a message, e.g. ` with keep_dims=false`.

    With another value of such an attribute, the outputs would have the declared shapes.
    """
    named = {each.attribute.name: each for each in context.shared(fitting_values, layer)}
    shown = []
    for name, each in list(named.items())[:_MOST_NAMED]:
        text = each.before
        if text is None:
            if each.attribute.default is None:
                continue
            text = each.attribute.kind.write(each.attribute.default)
        quoted = text if text.isalnum() or text.replace("_", "").isalnum() else f'"{text}"'
        shown.append(f"{name}={quoted}")
    return f" with {' and '.join(shown)}" if shown else ""


_MOST_NAMED = 2
