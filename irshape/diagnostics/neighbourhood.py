"""Finds a layer's producers and consumers, and the declared and inferred shapes between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .report import FileReport

if TYPE_CHECKING:
    from ..inference.result import BodyResult
    from ..model.graph import Layer, Model
    from ..model.ports import Port
    from ..ops.tensors import Tensor

MAX_VALUE = 8
"""Known values with at most this many elements are written out."""

LayerKey = tuple[tuple[str, ...], str, str, str]
"""Path, id, type and name: what identifies a layer in a diagnostic."""


class Connection(NamedTuple):
    """A port of the layer, and the layer at its other end; None if there is none.

    declared: what the producer's port declares, None if nothing. inferred: None if inference adds
    nothing to the declaration. repeated: what the consumer's port declares, if it differs. clash:
    whether the declaration contradicts what is inferred.
    """

    port: str
    other: Layer | None
    declared: str | None
    inferred: str | None
    repeated: str | None
    value: str | None
    clash: bool


class Neighbourhood(NamedTuple):
    layer: Layer
    inputs: list[Connection]
    outputs: list[Connection]


def layer_key(reference: Mapping[str, Any]) -> LayerKey:
    return tuple(reference["path"]), reference["id"], reference["type"], reference["name"]


def neighbourhoods(
    file: FileReport, weights: str = "beside", values: Mapping[str, str] | None = None
) -> dict[LayerKey, Neighbourhood]:
    """Returns the neighbourhood of each layer with a finding, by key; the first one wins.

    It reads and infers the file again, from the text in the report, so that a report over thousands
    of files need not keep their models. The result is empty if there is no model.
    """
    layers = [diagnostic.layer for diagnostic in file.diagnostics]
    wanted = {layer_key(layer) for layer in layers if layer is not None}
    model = _read_again(file, weights, values) if wanted else None
    if model is None:
        return {}
    from ..inference.engine import infer

    neighbourhoods: dict[LayerKey, Neighbourhood] = {}
    for result in _bodies(infer(model, compare=True).result):
        for position, layer in enumerate(result.body.layers):
            key = (layer.path, layer.id, layer.type, layer.name)
            if key in wanted and key not in neighbourhoods:
                alone = model.kind == "layers"
                neighbourhoods[key] = Neighbourhood(
                    layer,
                    list(_inputs(result, position, alone)),
                    list(_outputs(result, position)),
                )
    return neighbourhoods


def _read_again(file: FileReport, weights: str, values: Mapping[str, str] | None) -> Model | None:
    from ..formats.ir.fragments import give_values
    from ..formats.loading import load, read_source, weights_path
    from ..model.graph import NotReadable

    source = file.source
    try:
        if source is None:
            model = load(file.path, weights)
        else:
            model = read_source(source, weights_path(source.path, weights))
        if values:
            give_values(model, values)
    except (NotReadable, OSError, ValueError):
        return None
    return model


def _bodies(result: BodyResult) -> Iterator[BodyResult]:
    yield result
    for inner in result.inner.values():
        for body in inner.values():
            yield from _bodies(body)


def _inputs(result: BodyResult, position: int, alone: bool) -> Iterator[Connection]:
    layers = result.body.layers
    for port, source in zip(layers[position].inputs, result.wiring.sources[position], strict=True):
        if source is None:
            yield Connection(
                port.id, None, port_text(port) if alone else None, None, None, port.value, not alone
            )
        else:
            yield _edge(
                port.id,
                layers[source[0]],
                layers[source[0]].outputs[source[1]],
                _tensor(result, *source),
                port,
            )


def _outputs(result: BodyResult, position: int) -> Iterator[Connection]:
    layers = result.body.layers
    for index, port in enumerate(layers[position].outputs):
        tensor = _tensor(result, position, index)
        fed = [user for user in result.wiring.users[position] if user.output == index]
        if not fed:
            yield _edge(port.id, None, port, tensor, None)
        for consumer, at, _ in fed:
            yield _edge(port.id, layers[consumer], port, tensor, layers[consumer].inputs[at])


def _tensor(result: BodyResult, position: int, index: int) -> tuple[Tensor | None, bool]:
    """Returns the inferred tensor of an output, and whether it depends on what the file
    declares."""
    tensors = result.outputs[position]
    return (tensors[index] if index < len(tensors) else None), position in result.unsure


def _edge(
    name: str,
    other: Layer | None,
    source: Port,
    inferred_as: tuple[Tensor | None, bool],
    sink: Port | None,
) -> Connection:
    tensor, unsure = inferred_as
    said = port_text(source)
    clash = tensor is not None and not agrees(source, tensor)
    if tensor is None or (unsure and not clash):
        inferred = None
    else:
        inferred = (
            str(tensor.shape)
            if tensor.element_type.is_dynamic
            else f"{tensor.element_type} {tensor.shape}"
        )
        if not clash and as_declared(source, tensor):
            said = inferred  # the same, but for bounds that a port cannot write
    repeated = None
    if (
        sink is not None
        and (sink.dims or sink.precision)
        and (sink.dims != source.dims or sink.precision not in (None, source.precision))
    ):
        repeated = port_text(sink)
    return Connection(name, other, said, inferred, repeated, value_text(tensor), clash)


def port_text(port: Port) -> str | None:
    """Returns what a port declares, such as `f32 [2,?]`.

    Without a <dim>, it may be a scalar or of dynamic rank.
    """
    name = str(port.element_type) if port.element_type is not None else port.precision or ""
    if port.dims is None:
        dims = "malformed dimensions"
    elif port.dims:
        sizes = ["?" if size < 0 else str(size) for size in port.dims]
        dims = f"[{','.join(sizes)}]"
    else:
        dims = "no dimensions"
    return f"{name} {dims}".strip() if name or port.dims != () else None


def agrees(port: Port, tensor: Tensor) -> bool:
    """Returns whether what a port declares is compatible with the inferred tensor."""
    from ..inference.ports import declared

    said = declared(port, tensor)
    types = (
        said.element_type.is_dynamic
        or tensor.element_type.is_dynamic
        or said.element_type is tensor.element_type
    )
    return types and port.dims is not None and said.shape.compatible(tensor.shape)


def as_declared(port: Port, tensor: Tensor) -> bool:
    """Returns whether a port declares everything that a port can declare of the inferred tensor."""
    if port.precision is not None and port.element_type is not tensor.element_type:
        return False
    return port.dims == tensor.shape.declared


def value_text(tensor: Tensor | None) -> str | None:
    """Returns the known value of a small tensor as text; None if there is none."""
    if (
        tensor is None
        or tensor.value is None
        or len(tensor.value) > MAX_VALUE
        or not tensor.element_type.name
    ):
        return None
    exact = tensor.value.exact
    if exact is None:
        return None
    return str(exact[0]) if tensor.rank == 0 else f"[{', '.join(map(str, exact))}]"
