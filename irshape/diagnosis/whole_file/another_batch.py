"""Another batch: one size is declared in many places where another follows from the inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...formats.ir.edits import Edit, set_dims
from ...inference.engine import infer
from ...inference.ports import declared
from ...inference.result import BodyResult
from ...model.graph import Finding, Layer
from ...model.ports import Port
from ...ops.tensors import Tensor
from ...rule_ids import OUTPUT_SHAPE_MISMATCH
from ...rules import Context
from ..candidate import Candidate, Diagnosis
from ..telling import changed_sizes, of_whole_file

SEVERAL = 3
"""In how many places another size is declared where a batch was changed."""


def another_batch(context: Context, findings: Sequence[Finding]) -> Diagnosis | None:
    """One size is declared everywhere where another follows from the inputs."""
    concerned = [finding for finding in findings if finding.rule.code.startswith("IR20")]
    if len(concerned) < 2 or len(concerned) * 2 < len(findings):
        return None
    if any(finding.rule.code.startswith("IR1") for finding in findings):
        return None
    of_inputs = [f for f in concerned if f.layer is not None and f.layer.is_parameter]
    alike = changed_sizes(concerned)
    pair = alike or changed_sizes(of_inputs)
    if not pair:
        return None
    layers = {finding.layer for finding in concerned}
    net = context.results[context.model.net]
    parameter = next(
        (
            layer
            for layer in context.model.parameters
            if _first(layer.attribute("shape")) in pair and not layers.isdisjoint(_near(net, layer))
        ),
        None,
    )
    if parameter is None and len(layers & _of_constants(net)) < SEVERAL:
        return None
    inferred = infer(context.model).result  # from the inputs alone, whatever ports declare
    faulty = any(result.faulty for result in inferred.walk())
    if faulty and not alike:
        return None
    places: Counter[tuple[int, int]] = Counter()
    for port, tensor in _ports(inferred):
        places.update(_differences(port, tensor))
    if not places or places.total() < SEVERAL:
        return None
    (here, there), count = places.most_common(1)[0]
    either = count + places[there, here]
    if either < 0.9 * places.total() or either < SEVERAL or not pair & {str(here), str(there)}:
        return None
    reverse = f", and {there} in {either - count} where it is {here}" * (either > count)
    help = "declare what is inferred in all of them (irshape fix --in-place)"
    cause = f"{here} is declared in {count} places where {there} is inferred"
    rest = "only a part of the file was changed to another size"
    offset, layer = concerned[0].offset, concerned[0].layer
    if parameter is not None:
        cause += f" from shape=\"{parameter.attribute('shape')}\" of Parameter '{parameter.name}'"
        help += ", or change the shape of the input"
        offset, layer = context.model.source.attribute(parameter.data_offset, "shape"), parameter
    else:
        rest += ", or constants were changed with it"
    edits = tuple(sorted(_corrections(context, inferred)))
    change = f"what is inferred is declared in {either} places"
    return of_whole_file(
        concerned[0],
        f"{cause}{reverse}: {rest}",
        help,
        offset,
        layer,
        concerned if faulty else findings,
        (Candidate(edits, change, change, offset, layer, ()),),
        certain=True,
        rule=OUTPUT_SHAPE_MISMATCH,
    )


def _corrections(context: Context, inferred: BodyResult) -> Iterator[Edit]:
    """Every port that declares another size than is inferred gets that size."""
    for body in inferred.walk():
        rows = zip(body.body.layers, body.wiring.sources, body.outputs, strict=True)
        for layer, sources, tensors in rows:
            for port, tensor in zip(layer.outputs, tensors, strict=False):
                yield from _sized(context, port, tensor)
            for port, source in zip(layer.inputs, sources, strict=False):
                if source is not None and source[1] < len(body.outputs[source[0]]):
                    yield from _sized(context, port, body.outputs[source[0]][source[1]])


def _sized(context: Context, port: Port, tensor: Tensor) -> list[Edit]:
    dims = tensor.shape.dims
    if port.dims is None or dims is None or len(port.dims) != len(dims):
        return []
    sizes = [
        dim.low if dim.is_static and size >= 0 else size
        for size, dim in zip(port.dims, dims, strict=True)
    ]
    if sizes == list(port.dims):
        return []
    return set_dims(context.model.source, port.offset, sizes)


def _near(result: BodyResult, layer: Layer) -> set[Layer]:
    """A layer of the net and those that it feeds."""
    layers = result.body.layers
    own = layers.index(layer)
    rows = zip(layers, result.wiring.sources, strict=True)
    return {layer} | {
        other for other, row in rows if any(source and source[0] == own for source in row)
    }


def _of_constants(result: BodyResult) -> set[Layer | None]:
    """The constants of the net and the layers that take nothing else, such as their Converts."""
    layers = result.body.layers
    rows = zip(layers, result.wiring.sources, strict=True)
    return {
        layer
        for layer, row in rows
        if layer.is_constant
        or (row and all(source and layers[source[0]].is_constant for source in row))
    }


def _first(shape: str | None) -> str:
    return (shape or "").split(",")[0].strip()


def _ports(result: BodyResult) -> Iterator[tuple[Port, Tensor]]:
    """The output ports of a model with what is inferred for them, bodies included."""
    for body in result.walk():
        for layer, tensors in zip(body.body.layers, body.outputs, strict=True):
            yield from zip(layer.outputs, tensors, strict=False)


def _differences(port: Port, tensor: Tensor) -> Iterator[tuple[int, int]]:
    """The sizes that a port declares and those that are inferred instead, axis by axis."""
    given, inferred = declared(port, tensor).shape, tensor.shape
    if given == inferred or given.dims is None or inferred.dims is None:
        return
    if len(given.dims) != len(inferred.dims):
        yield -1, -1
        return
    for one, other in zip(given.dims, inferred.dims, strict=True):
        if one.is_static and other.is_static and one != other:
            yield one.low, other.low
