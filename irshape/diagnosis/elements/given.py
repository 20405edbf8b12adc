"""Causes in what a Const or Parameter gives: its attributes and its port agree on what those that
it feeds do not take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...element_types import ElementType
from ...formats.ir.edits import Edit, set_dims
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import (
    CONTRADICTED_ATTRIBUTE,
    CONTRADICTED_CONSTANT,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
)
from ...rules import Context
from ...rules.links import alike
from ..candidate import Candidate, Change
from ..telling import replaced_sizes
from ..trials.scene import Scene
from .constant_places import Const, fills, type_named
from .writing import comma_of, with_attribute

_OF_OUTPUTS = (OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH)
MAX_ORDERS = 6
"""How many orders of its dimensions are tried for what a layer is given."""
OF_AN_INPUT = 0.8
"""What an input of the model gives is its author's choice: a layer behind it declares wrongly."""


def given_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A Const or Parameter gives a layer what that does not take, or a body declares otherwise."""
    yield from _as_taken(scene, position, finding)
    yield from _in_all_ports(scene, position, finding)
    if scene.layers[position].is_parameter:
        yield from _as_passed(scene, position)


def _as_taken(scene: Scene, position: int, finding: Finding) -> Iterator[Candidate]:
    """A Const or Parameter, its port too, declares another shape or type than its consumer.

    The shape of a Parameter of the net is its author's choice, unless its consumer refuses it.
    """
    refused = finding.rule.code.startswith("IR4") and finding.layer is scene.layers[position]
    for port, source in zip(scene.layers[position].inputs, scene.sources[position], strict=False):
        if source is None:
            continue
        layer = scene.layers[source[0]]
        if not port.dims and port.precision is None:
            continue  # it declares nothing
        output = layer.outputs[source[1]]
        inside = layer.is_parameter and (scene.body.path or refused)
        typed = layer.is_parameter and port.dims == output.dims
        fed = [scene.layers[to].inputs[i] for out, to, i in scene.consumers[source[0]]]
        meant = (
            layer.is_parameter
            and not (inside or typed)
            and all(each.dims == port.dims for each in fed)
            and (len(fed) > 1 or not _is_refused(scene, position))
        )
        if (layer.is_constant or inside or typed or meant) and not alike(port, output):
            for candidate in _declaring(
                scene,
                source[0],
                port.dims,
                port.element_type,
                f"input port {port.id} of {scene.layers[position].label}",
            ):
                by_choice = meant and not any(_is_refused(scene, to) for to in candidate.touched)
                yield candidate._replace(cost=1.3, certain=False) if by_choice else candidate


def _in_all_ports(scene: Scene, position: int, finding: Finding) -> Iterator[Candidate]:
    """A Const or Parameter has another shape or type, and so have all ports that it feeds: a layer
    refuses that, or does not give what it declares."""
    layer = scene.layers[position]
    refused = finding.rule.code.startswith("IR4")
    if finding.layer is not layer or not (refused or finding.rule in _OF_OUTPUTS):
        return
    for port, source in zip(layer.inputs, scene.sources[position], strict=False):
        if source is None:
            continue
        giver, output = scene.layers[source[0]], scene.layers[source[0]].outputs[source[1]]
        if not (giver.is_constant or giver.is_parameter) or not alike(port, output):
            continue
        at = [(to, i) for _, to, i in scene.consumers[source[0]]]
        twins = [(to, twin) for to, i in at if alike((twin := scene.layers[to].inputs[i]), output)]
        says = f"what {layer.label} takes" if refused else f"what {layer.label} gives"
        by_choice = 0.0 if refused or giver.is_constant else OF_AN_INPUT
        if finding.rule != OUTPUT_TYPE_MISMATCH:
            others = (*_other_orders(output, layer.outputs), *_among_ones(output, layer))
            for index, sizes in enumerate((*others, *_scaled(output, finding))):
                for each in _declaring(scene, source[0], sizes, output.element_type, says, twins):
                    yield each._replace(cost=1.2 + 0.1 * index + by_choice, certain=False)
        if finding.rule != OUTPUT_SHAPE_MISMATCH:
            for index, kind in enumerate(_other_types(layer, port, finding)):
                given = output.element_type
                if giver.is_constant and given and given.is_real and not kind.is_real:
                    continue  # an index that was turned to floats takes other bytes
                for each in _declaring(scene, source[0], output.dims, kind, says, twins):
                    yield each._replace(cost=1.3 + 0.1 * index + by_choice, certain=False)


def _other_orders(output: Port, declared: Sequence[Port]) -> list[tuple[int, ...]]:
    """Other orders of the dimensions of an output: first what the layer behind it declares, then
    the reverse, a layout with the channels last or first, and two that are exchanged."""
    dims = output.dims or ()
    last = len(dims) - 1
    orders = [port.dims for port in declared if sorted(port.dims or ()) == sorted(dims)]
    orders.append(dims[::-1])
    if last > 1:
        orders += [(dims[0], dims[-1], *dims[1:-1]), (dims[0], *dims[2:], dims[1])]
    for one in range(last):
        for other in range(one + 1, last + 1):
            swapped = [*dims]
            swapped[one], swapped[other] = dims[other], dims[one]
            orders.append(tuple(swapped))
    others = dict.fromkeys(order for order in orders if order is not None and order != dims)
    return list(others)[:MAX_ORDERS]


def _among_ones(output: Port, layer: Layer) -> list[tuple[int, ...]]:
    """The dimensions of a Const that was squeezed, or not, among ones: for each rank that the layer
    behind it declares."""
    kept = tuple(size for size in output.dims or () if size != 1)
    shapes: dict[tuple[int, ...], None] = {}
    for rank in {len(port.dims or ()) for port in (*layer.inputs, *layer.outputs)}:
        ones = (1,) * (rank - len(kept))
        for at in range(len(ones) + 1) if rank >= len(kept) else ():
            shapes[*ones[:at], *kept, *ones[at:]] = None
    return [shape for shape in shapes if shape != output.dims]


def _scaled(output: Port, finding: Finding) -> list[tuple[int, ...]]:
    """The dimensions, one of which is as much too large as what a layer produces with it."""
    shapes: dict[tuple[int, ...], None] = {}
    for written, inferred in replaced_sizes(finding) or ():
        if is_number(written) and is_number(inferred) and int(inferred):
            for at, size in enumerate(output.dims or ()):
                dims = output.dims or ()
                scaled, rest = divmod(size * int(written), int(inferred))
                moved = size + int(written) - int(inferred)  # as through a window
                for meant in (moved,) if rest else (scaled, moved):
                    if meant > 0:
                        shapes[*dims[:at], meant, *dims[at + 1 :]] = None
    return list(shapes)


def _other_types(layer: Layer, port: Port, finding: Finding) -> list[ElementType]:
    """The types that what a layer is given may have: those of what else it declares."""
    types = [each.element_type for each in (*layer.outputs, *layer.inputs) if each is not port]
    if finding.expected is not None and "," not in finding.expected:
        types.insert(0, type_named(finding.expected))
    given = port.element_type
    return list(dict.fromkeys(each for each in types if each is not None and each is not given))


def _is_refused(scene: Scene, position: int) -> bool:
    """Whether OpenVINO refuses what a layer is fed."""
    layer = scene.layers[position]
    return any(f.layer is layer and f.rule.code.startswith("IR4") for f in scene.findings)


def _as_passed(scene: Scene, position: int) -> Iterator[Candidate]:
    """A Parameter of a body declares another shape, its port too, than it is passed."""
    written = Const(scene, position).layer.attribute("shape")
    dims = scene.layers[position].outputs[0].dims if scene.layers[position].outputs else None
    if dims is None or (written is not None and len(dims) != written.count(",") + bool(written)):
        return  # its port is wrong by itself
    for tensor in scene.outputs(position)[:1]:
        if tensor.shape.dims is not None:
            sizes = tuple(dim.low if dim.is_static else -1 for dim in tensor.shape.dims)
            yield from _declaring(
                scene, position, sizes, tensor.element_type, "what the body is passed"
            )


def _declaring(
    scene: Scene,
    position: int,
    sizes: tuple[int, ...] | None,
    element_type: ElementType | None,
    says: str,
    twins: Sequence[tuple[int, Port]] = (),
) -> Iterator[Candidate]:
    """A Const or Parameter with another shape or type, in its attributes and its port.

    twins: the inputs, each with the position of its layer, that follow.
    """
    const = Const(scene, position)
    layer, source, port = const.layer, scene.source, const.port
    if port is None or sizes is None or layer.data_offset < 0:
        return
    ports = [twin for _, twin in twins]
    edits: list[Edit] = []
    changes: list[Change] = []
    if sizes != port.dims:
        text = shape_text(scene, layer, sizes)
        edits += with_attribute(source, layer.data_offset, "shape", text)
        for each in (port, *ports):
            edits += set_dims(source, each.offset, sizes)
        changes.append(Change("data", "shape", text))
    if element_type is not None and element_type is not port.element_type:
        edits += with_attribute(source, layer.data_offset, "element_type", element_type.name)
        for each in (port, *(p for p in ports if p.precision is not None)):
            edits += with_attribute(
                source, each.offset, "precision", element_type.precision, ("id",)
            )
        changes.append(Change("data", "element_type", element_type.name))
    needed = const.bytes_of(element_type or const.type, sizes)
    resized = layer.is_constant and needed != const.size
    if not edits or (resized and (needed < 0 or not _meant_to_take(const, needed))):
        return
    if resized:
        edits += with_attribute(source, layer.data_offset, "size", str(needed))
        changes.append(Change("data", "size", str(needed)))
    name = changes[0].name
    change = " and ".join(f'{each.name}="{each.text}"' for each in changes)
    yield Candidate(
        tuple(edits),
        f"{change}, and so in its port{'' if not twins else ' and those it feeds'}",
        f'{name}="{layer.attribute(name)}" of {layer.type} and its port contradict {says}',
        source.attribute(layer.data_offset, name),
        layer,
        (position, *dict.fromkeys(at for _, at, _ in scene.consumers[position])),
        rule=CONTRADICTED_CONSTANT if layer.is_constant else CONTRADICTED_ATTRIBUTE,
        cost=0.6
        if resized
        or (sorted(sizes) == sorted(port.dims or ()) and sizes != port.dims)
        or (sizes == port.dims and _is_alone(const))
        else 1.2,
        bold=True,
        values=tuple(changes) if twins else (),
    )


def _is_alone(const: Const) -> bool:
    """Whether a constant and its port have a type that no other port of the model has."""
    port = const.port
    if port is None or not const.layer.is_constant or const.type is not port.element_type:
        return False
    return const.scene.context.shared(_precisions)[port.precision] == 1


def _precisions(context: Context) -> Counter[str | None]:
    """How many ports of the model have each precision."""
    return Counter(
        precision
        for layer in context.every_layer
        for precision in (
            *layer.port_heads.input_precisions,
            *layer.port_heads.output_precisions,
        )
    )


def _meant_to_take(const: Const, size: int) -> bool:
    """Whether the .bin says that a constant has another size than the one that is written."""
    if const.offset is None or const.size is None or fills(const, const.size):
        return False
    return fills(const, size)


def shape_text(scene: Scene, layer: Layer, sizes: tuple[int, ...]) -> str:
    """A shape as others are written: with or without blanks, `?` or `-1`."""
    written = layer.attribute("shape") or ""
    dynamic = "-1" if "-1" in written else "?"
    comma = comma_of(scene, layer, written)
    return comma.join(dynamic if size < 0 else str(size) for size in sizes)
