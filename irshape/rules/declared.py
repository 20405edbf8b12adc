"""IR2xx: what ports declare, held against what is inferred, and against each other."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats.layers import parse_value
from ..inference.engine import BodyResult, Mismatch, declared
from ..model import Layer, Problem
from ..ops.tensors import Tensor
from ..types import PartialShape
from .base import Context, Rule


class OutputShapeMismatch(Rule):
    """An output port declares a shape that the layer cannot have."""

    code, name, severity = "IR201", "output-shape-mismatch", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        unsure = _unsure(context.inference.result)
        for layer, found in context.met(Mismatch):
            port = layer.outputs[found.position]
            given, inferred = found.declared, found.inferred
            if not given.element_type.is_dynamic and not inferred.element_type.is_dynamic and given.element_type is not inferred.element_type:
                yield Problem(
                    OutputTypeMismatch.name,
                    f"declared precision {port.precision}, inferred {inferred.element_type.precision}",
                    context.model.source.attribute(port.offset, "precision"),
                    layer,
                    inferred.element_type.precision,
                    port.precision,
                    f'write precision="{inferred.element_type.precision}"; OpenVINO ignores what stands here and goes on with {inferred.element_type}',
                    ("output", port.id),
                )
            if given.shape == inferred.shape or port.dims is None:
                continue
            expected, actual = str(inferred.shape), str(given.shape)
            where = ("output", port.id)
            if not given.shape.compatible(inferred.shape):
                message = f"declared {actual}, inferred {expected}{_reason(given.shape, inferred.shape)}"
                yield Problem(
                    cls.name, message, port.offset, layer, expected, actual, f"declare {_dims(inferred.shape)}, or correct what the layer is given", where
                )
            elif id(layer) in unsure:
                continue
            elif not given.shape.encloses(_as_port(inferred.shape)):
                message = f"declared {actual}, but only {expected} can be inferred: nothing in the file makes the dimension static"
                yield Problem(UnprovenDimension.name, message, port.offset, layer, expected, actual, f"declare {_dims(inferred.shape)}", where)
            elif layer.type.lower() not in ("parameter", "readvalue") and _as_port(given.shape) != _as_port(inferred.shape):
                message = f"declared {actual}, though {expected} is certain"
                yield Problem(LooserDeclaration.name, message, port.offset, layer, expected, actual, f"declare {_dims(inferred.shape)}", where)


def _unsure(result: BodyResult) -> set[int]:
    found = {id(result.body.layers[position]) for position in result.unsure}
    for inner in result.inner.values():
        for body in inner.values():
            found |= _unsure(body)
    return found


def _as_port(shape: PartialShape) -> PartialShape:
    """The shape as a port can say it: a dimension is one size, or -1."""
    return shape if shape.dims is None else PartialShape(dim if dim.is_static else -1 for dim in shape.dims)


def _dims(shape: PartialShape) -> str:
    return (
        "no <dim> at all"
        if not shape.dims
        else "".join(f"<dim>{dim if dim.is_static else -1}</dim>" for dim in shape.dims[:8]) + ("…" if len(shape.dims) > 8 else "")
    )


def _reason(given: PartialShape, inferred: PartialShape) -> str:
    if given.dims is None or inferred.dims is None:
        return ""
    if len(given.dims) != len(inferred.dims):
        return f": rank {len(given.dims)} instead of {len(inferred.dims)}"
    wrong = [i for i, (a, b) in enumerate(zip(given.dims, inferred.dims, strict=True)) if not a.compatible(b)]
    return f": dimension {wrong[0]} is {inferred.dims[wrong[0]]}, not {given.dims[wrong[0]]}" if len(wrong) == 1 and len(given.dims) > 1 else ""


class OutputTypeMismatch(Rule):
    """An output port declares an element type that the layer cannot have."""

    code, name, severity = "IR202", "output-type-mismatch", "error"


class UnprovenDimension(Rule):
    """An output port declares a size that nothing in the file makes certain."""

    code, name, severity = "IR203", "unproven-dimension", "warning"


class LooserDeclaration(Rule):
    """An output port declares less than is certain."""

    code, name, severity = "IR204", "looser-declaration", "info"


class InputMismatch(Rule):
    """An input port declares something other than the port that feeds it."""

    code, name, severity = "IR205", "input-mismatch", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind == "layers":
            return
        reported = {(id(layer), found.position) for layer, found in context.met(Mismatch)}
        for body in context.bodies:
            sources = context.wiring(body).sources
            for position, row in enumerate(sources):
                layer = body.layers[position]
                for port, source in zip(layer.inputs, row, strict=True):
                    if source is None:
                        continue
                    producer = body.layers[source[0]]
                    feeding = producer.outputs[source[1]]
                    if not port.dims and port.dims is not None and port.precision is None:
                        continue  # it says nothing at all
                    if port.dims == feeding.dims and (port.precision is None or port.precision == feeding.precision):
                        continue
                    if (id(producer), source[1]) in reported:
                        continue  # the producer is wrong, and has been reported
                    yield from _held(context, layer, producer, declared(port), declared(feeding), port.offset, port.id, port.dims, feeding.dims)


def _held(
    context: Context,
    layer: Layer,
    producer: Layer,
    here: Tensor,
    there: Tensor,
    offset: int,
    port: str,
    dims: tuple[int, ...] | None,
    fed: tuple[int, ...] | None,
) -> Iterator[Problem]:
    where = ("input", port)
    if not here.element_type.is_dynamic and not there.element_type.is_dynamic and here.element_type is not there.element_type:
        message = f"input port {port} declares precision {here.element_type.precision}, but {producer.type} '{producer.name}' (id {producer.id}) feeds it {there.element_type.precision}"
        place = context.model.source.attribute(offset, "precision")
        yield Problem(
            InputTypeMismatch.name,
            message,
            place,
            layer,
            there.element_type.precision,
            here.element_type.precision,
            "declare what feeds the port, or connect another layer",
            where,
        )
    if dims == fed or dims is None or fed is None:
        return
    # a port without <dim> is a scalar or of dynamic rank: nothing to hold against
    if bool(dims) != bool(fed):
        scalar = not dims
        message = f"input port {port} declares {'no dimensions' if scalar else here.shape}, but {producer.type} '{producer.name}' (id {producer.id}) declares {there.shape if fed else 'none'}"
    elif not here.shape.compatible(there.shape):
        message = f"input port {port} declares {here.shape}, but {producer.type} '{producer.name}' (id {producer.id}) feeds it {there.shape}"
    else:
        message = f"input port {port} declares {here.shape}, though {producer.type} '{producer.name}' (id {producer.id}) declares {there.shape}"
    yield Problem(
        InputMismatch.name,
        message,
        offset,
        layer,
        str(there.shape) if fed else "no dimensions",
        str(here.shape) if dims else "no dimensions",
        "declare what feeds the port, or connect another layer",
        where,
    )


class InputTypeMismatch(Rule):
    """An input port declares a precision other than that of the port that feeds it."""

    code, name, severity = "IR206", "input-type-mismatch", "error"


class ValueMismatch(Rule):
    """The value given for an input of a layer on its own has another number of elements than its port declares."""

    code, name, severity = "IR207", "value-mismatch", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        if context.model.kind != "layers":
            return
        for layer in context.model.layers:
            for port in layer.inputs:
                numbers = parse_value(port.value) if port.value is not None else None
                shape = PartialShape(port.dims) if port.dims else None
                if numbers is not None and shape is not None and shape.is_static and shape.size != len(numbers):
                    message = f"input port {port.id} declares {shape}, but the value given for it, {port.value}, has {len(numbers)} element{'' if len(numbers) == 1 else 's'}"
                    yield Problem(cls.name, message, port.offset, layer, str(shape), str(len(numbers)), "correct the port or the value", ("input", port.id))
