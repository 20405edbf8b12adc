"""`irshape inspect`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ..diagnostics.renderers.common import plain
from ..shapes import UNBOUNDED, Dimension
from ..spelling import counted
from .arguments import Command, Whole, given_shapes, shape_option
from .common import echo, echo_json, form_option, load_for_shapes, usage_errors, weights_option
from .comparing import place
from .tables import fitted, text_table

if TYPE_CHECKING:
    from ..inspection.device_memory import DeviceMemory
    from ..inspection.inspection import Inspection
    from ..ops.tensors import Tensor

SORTS = {
    "multiply-adds": "multiply_adds",
    "activations": "bytes",
    "parameters": "parameter_bytes",
}
"""Maps the values of --sort to the fields of a layer's costs by which they sort."""


@click.command("inspect", cls=Command)
@click.argument("model", metavar="MODEL")
@shape_option()
@click.option(
    "--top",
    type=Whole(0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many layers to list, the most expensive first.",
)
@click.option(
    "--sort",
    type=click.Choice(list(SORTS)),
    default="multiply-adds",
    show_default=True,
    help="Which cost to sort the layers by.",
)
@click.option(
    "--device",
    metavar="DEVICE[:SIZE]",
    help="Count the memory that the model needs on cpu, gpu or npu, such as gpu:16GiB.",
)
@click.option(
    "--context",
    type=Whole(1),
    metavar="TOKENS",
    help="With --device: the number of tokens that states and KV caches contain.",
)
@form_option("text", "json", help="Output format. JSON has all layers, in file order.")
@weights_option
def command(
    model: str,
    shapes: tuple[str, ...],
    top: int,
    sort: str,
    device: str | None,
    context: int | None,
    form: str,
    weights: str,
) -> None:
    """Show the parts of a model, and the costs of a run.

    The output has inputs, outputs and states; layers by type; constants by element type, with their
    bytes; multiply-adds and activations by layer; the peak memory; the oldest OpenVINO release that
    reads the model. MODEL is an IR, an ONNX model or a oneDNN graph; - is standard input.

    Multiply-adds are counted for matrix products, convolutions, attention and recurrent cells; a
    multiplication with its addition counts as one. Activations are the outputs of all layers that
    depend on the inputs. Where shapes are dynamic, numbers are intervals; --shape makes them exact.

    \b
    Examples:
      irshape inspect model.xml
      irshape inspect model.xml --shape 'x=[1,3,224,224]' --top 20
      irshape inspect model.xml --device gpu:16GiB --context 32768
      irshape inspect model.onnx --sort parameters --format json

    Exit status: 0; 1 if the file contains no model, or a layer does not fit its inputs; 2 if a
    path cannot be opened.
    """
    from ..inference.chain import refusal_in_brief
    from ..inference.conflicts import size_conflicts, sizes_of_inputs
    from ..inference.engine import infer
    from ..inspection.inspection import Inspection

    loaded = load_for_shapes(model, weights)
    given = given_shapes(loaded, shapes)
    with usage_errors():
        inference = infer(loaded, given)
    inspection = Inspection(inference)
    memory = _memory(inspection, device, context)
    if form == "json":
        section = {} if memory is None else {"device_memory": memory.to_dict()}
        echo_json(inspection.to_dict() | section)
    else:
        lines = [*_text(inspection, top, sort), *([] if memory is None else _of_memory(memory))]
        echo("\n".join(fitted(lines)))
    sizes = sizes_of_inputs(inference) if inference.refused else {}
    conflicts = [text for _, text in size_conflicts(loaded, sizes).of_inputs] if sizes else []
    broken = refusal_in_brief(inference, conflicts)
    for line in broken:
        click.echo(line, err=True)
    if broken:
        raise click.exceptions.Exit(1)


def _memory(inspection: Inspection, device: str | None, context: int | None) -> DeviceMemory | None:
    from ..inspection.device_memory import DeviceMemory

    if device is None:
        if context is not None:
            raise click.UsageError("--context needs --device, which names the device")
        return None
    with usage_errors():
        memory = DeviceMemory(inspection, device, context)
    if context is not None and all(cache.fixed is not None for cache in memory.caches):
        click.echo(
            "irshape: --context changes nothing: no state and no KV cache input of the model "
            "grows with the context",
            err=True,
        )
    return memory


def _of_memory(memory: DeviceMemory) -> Iterator[str]:
    """Yields lines on the memory that the model needs on a device, as far as irshape knows it."""
    from ..inspection.device_memory import UNCOUNTED

    rows = [("weights, as stored", _bytes(memory.weights), "exact")]
    if memory.caches:
        token = "not known" if memory.per_token is None else _bytes(memory.per_token)
        rows.append(("states and KV caches, per token", token, f"{len(memory.caches)}, batch 1"))
        size = "not known" if memory.cached is None else _bytes(memory.cached)
        grows = "of fixed size" if memory.per_token == 0 else "--context counts them"
        tokens = grows if memory.context is None else f"{memory.context:,} tokens"
        rows.append(("states and KV caches", size, tokens))
    else:
        rows.append(("states and KV caches", "none", "no state in the model"))
    if memory.largest_layer is not None:
        layer, limit = memory.largest_layer, memory.max_alloc
        place = f"{plain(layer.type)} '{plain(layer.name)}'"
        rows.append(("largest buffer of a known shape", _bytes(memory.largest), place))
        if limit is not None:
            rows.append(("largest buffer allowed", _bytes(limit), "the device's default"))
    rows.append(("activations, at their peak", _span(memory.peak, _bytes), "by irshape's plan"))
    room = memory.memory
    fits = "" if room is None else f"{'of' if memory.fits else 'too much for'} {_bytes(room)}"
    rows.append(("together", _span(memory.together, _bytes), fits))
    yield f"memory on {memory.device}"
    yield from _indented(rows, right=(1,), kept=(0,))
    yield f"  not known: {UNCOUNTED}"


def _text(inspection: Inspection, top: int, sort: str) -> Iterator[str]:
    model, needs = inspection.model, inspection.requirements
    version = f" version {model.version}" if needs is not None else ""
    reads = "" if needs is None else f", read by OpenVINO {needs.release} and newer"
    if needs is not None and needs.needs_library:
        reads += " with the library of its custom operations"
    yield f"{plain(model.path)}: '{plain(model.name)}', {model.format.name}{version}{reads}"
    for title, ports in (("inputs", inspection.inputs), ("outputs", inspection.outputs)):
        yield title
        yield from _tensors(
            (", ".join(port.names) or port.layer.name, port.tensor) for port in ports
        )
    if inspection.states:
        yield "states"
        yield from _tensors((state.name, state.tensor) for state in inspection.states)
    yield from _layers(inspection)
    yield from _constants(inspection)
    yield from _costs(inspection)
    if top:
        yield from _expensive(inspection, top, sort)


def _tensors(named: Iterable[tuple[str, Tensor]]) -> Iterator[str]:
    yield from _indented(
        [(plain(name), str(tensor.element_type), str(tensor.shape)) for name, tensor in named]
    )


def _layers(inspection: Inspection) -> Iterator[str]:
    inside = sum(1 for layer in inspection.model.walk() if layer.path)
    count = sum(count for _, _, count in inspection.types)
    bodies = f", {inside:,} of them in bodies" if inside else ""
    yield f"{counted(count, 'layer')}{bodies}"
    yield from _indented(
        [(f"{count:,}", plain(type), plain(opset)) for type, opset, count in inspection.types],
        right=(0,),
    )


def _constants(inspection: Inspection) -> Iterator[str]:
    rows = inspection.constants
    if not rows:
        return
    used, whole = inspection.used_bytes, inspection.bin_bytes
    unused = "" if whole is None or whole == used else f"; the .bin has {_bytes(whole)}"
    count, elements = sum(row.constants for row in rows), sum(row.elements for row in rows)
    once = "" if used == sum(row.bytes for row in rows) else ", shared bytes counted once"
    yield (
        f"{counted(count, 'constant')}, {counted(elements, 'element')}, "
        f"{_bytes(used)}{once}{unused}"
    )
    yield from _indented(
        [
            (row.element_type, f"{row.constants:,}", f"{row.elements:,}", _bytes(row.bytes))
            for row in rows
        ],
        right=(1, 2, 3),
    )


def _costs(inspection: Inspection) -> Iterator[str]:
    from ..inspection.costs import total

    costs = inspection.costs
    peak, at = inspection.peak
    elements, size = (total(costs, what) for what in ("elements", "bytes"))
    most = "" if peak.is_static or peak.high == UNBOUNDED else "the most "
    where = "" if at is None else f", {most}at {place(at)}"
    yield "costs of one evaluation"
    yield from _indented(
        [
            ("multiply-adds", _number(inspection.multiply_adds)),
            ("activations", f"{_number(elements)} elements, {_span(size, _bytes)}"),
            ("memory peak", f"{_span(peak, _bytes)}{where}"),
        ]
    )
    if not inspection.is_static:
        yield "  some shapes are dynamic; --shape NAME=SHAPE makes the numbers exact"


def _expensive(inspection: Inspection, top: int, sort: str) -> Iterator[str]:
    """Yields the table of the most expensive layers."""
    from ..inspection.costs import by_largest

    costs = by_largest(inspection.costs, SORTS[sort])
    if not costs:
        return
    most = [Dimension.of(getattr(cost, SORTS[sort])).high for cost in costs]
    bounded = max(most) < UNBOUNDED
    yield f"layers by {sort}, {min(top, len(costs))} of {len(costs)}"
    head = ("ID", "TYPE", "NAME", "OUTPUT", "MULTIPLY-ADDS", "ACTIVATIONS", "PARAMETERS", "SHARE")
    rows = []
    for cost, share in zip(costs[:top], most, strict=False):
        layer = cost.layer
        rows.append(
            (
                plain("/".join([*layer.path, layer.id])),
                plain(layer.type),
                plain(layer.name),
                ", ".join(str(tensor.shape) for tensor in cost.outputs),
                _number(cost.multiply_adds),
                _span(cost.bytes, _bytes),
                f"{cost.parameters:,}",
                f"{share / sum(most):.1%}" if bounded else "?",
            )
        )
    yield from text_table(
        head,
        rows,
        shrinking={"NAME": 20, "TYPE": 10, "OUTPUT": 12},
        dropped=[
            name
            for name in ("ACTIVATIONS", "PARAMETERS", "MULTIPLY-ADDS", "OUTPUT")
            if name != sort.upper()
        ],
        indent=2,
    )


def _indented(
    rows: Sequence[Sequence[str]], right: tuple[int, ...] = (), kept: tuple[int, ...] = ()
) -> Iterator[str]:
    """Yields rows in columns. Columns in `right` are right-aligned. Columns in `right`
    or `kept` are never shortened."""
    heads = [str(at) for at in range(len(rows[0]) if rows else 0)]
    yield from text_table(
        heads,
        rows,
        shrinking={name: 12 for name in heads if int(name) not in {*right, *kept}},
        right=[str(at) for at in right],
        indent=2,
    )[1:]


def _number(size: Dimension) -> str:
    """Returns a number such as `1,234,567` or `12.3 M`, or an interval of such numbers."""
    return _span(size, _short)


def _span(size: Dimension, written: Callable[[int], str]) -> str:
    if size.is_static:
        return written(size.low)
    if size.high == UNBOUNDED:
        return f"{written(size.low)} or more" if size.low else "?"
    return f"{written(size.low)} to {written(size.high)}"


def _short(number: int) -> str:
    for power, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M")):
        if number >= power:
            return f"{number / power:,.3f} {unit}"
    return f"{number:,}"


def _bytes(size: int) -> str:
    if size >= UNBOUNDED:
        return "8 EiB or more"
    for power, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= power:
            return f"{size / power:,.1f} {unit}"
    return counted(size, "byte")
