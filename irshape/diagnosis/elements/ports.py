"""Causes in ports: what they declare, their ids, and ports that were lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ...formats.ir.edits import Edit, element_end, set_dims
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...ops.tensors import Tensor
from ...rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_PORT,
    INPUT_COUNT,
    MALFORMED_ID,
    MISSING_EDGE,
    OUTPUT_COUNT,
    OUTPUT_SHAPE_MISMATCH,
    PORT_MAP,
)
from ...shapes import PartialShape
from ..candidate import Candidate
from ..trials.scene import Scene
from .writing import new_edge, with_attribute, without_element

MAX_UNUSED = 4
"""Of how many layers that feed nothing an edge is looked for."""

_OF_PORT_IDS = (
    *(DANGLING_EDGE, DUPLICATE_PORT, INPUT_COUNT, MALFORMED_ID, MISSING_EDGE, OUTPUT_COUNT),
)
"""Rules whose findings an id of a port may be behind."""
_CLOSING = {
    "input": re.compile(rb"</input\s*>"),
    "output": re.compile(rb"</output\s*>"),
}


def port_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The ports of a layer declare what is not so."""
    layer = scene.layers[position]
    if finding.port is None:
        return
    direction, number = finding.port
    if direction == "output":
        for port, tensor in zip(layer.outputs, scene.outputs(position), strict=False):
            if port.id == number and not _repeated_elsewhere(scene, position, port, tensor):
                yield from _declaration(scene, position, port, "output", tensor)
        return
    for port, source in zip(layer.inputs, scene.sources[position], strict=False):
        if port.id == number and source is not None:
            feeding = scene.layers[source[0]].outputs[source[1]]
            yield from _as_fed(scene, position, port, feeding)


def _declaration(
    scene: Scene, position: int, port: Port, direction: str, tensor: Tensor
) -> Iterator[Candidate]:
    """A port declares what is inferred for it."""
    layer, shape = scene.layers[position], tensor.shape
    edits = as_inferred(scene, port, tensor, fully=True)
    if edits:
        yield Candidate(
            tuple(edits),
            f"{direction} port {port.id} declares {tensor.element_type.precision} {shape}",
            f"{direction} port {port.id} declares {shown(port)}, but the layer produces "
            f"{tensor.element_type.precision} {shape}",
            port.offset,
            layer,
            (position,),
            port=(direction, port.id),
            cost=0.9,
            certain=not scene.context.doubtful,
        )


def _repeated_elsewhere(scene: Scene, position: int, port: Port, tensor: Tensor) -> bool:
    """Whether an input repeats what an output declares, so that it would not fit if that alone
    were changed to what is inferred."""
    dims, layer = tensor.shape.dims, scene.layers[position]
    if dims is None or not port.dims:
        return False
    sizes = tuple(dim.low if dim.is_static else -1 for dim in dims)
    if sizes == port.dims or not sizes:
        return False
    index = layer.outputs.index(port)
    return any(
        scene.layers[at].inputs[i].dims == port.dims and scene.layers[at] not in scene.misfed
        for output, at, i in scene.consumers[position]
        if output == index
    )


def _as_fed(scene: Scene, position: int, port: Port, feeding: Port) -> Iterator[Candidate]:
    """An input port declares what its producer does."""
    edits = declared_as_fed(scene, port, feeding)
    if edits:
        yield Candidate(
            tuple(edits),
            f"input port {port.id} declares {shown(feeding)}",
            f"input port {port.id} declares {shown(port)}, but is fed {shown(feeding)}",
            port.offset,
            scene.layers[position],
            (position,),
            port=("input", port.id),
            cost=0.9,
        )


def declared_as_fed(scene: Scene, port: Port, feeding: Port) -> list[Edit]:
    """An input port gets what its producer declares, if it declares anything."""
    edits: list[Edit] = []
    if port.precision is None and not port.dims:
        return edits
    if feeding.dims is not None and port.dims != feeding.dims:
        edits += set_dims(scene.source, port.offset, feeding.dims)
    if port.precision is not None and feeding.precision and port.precision != feeding.precision:
        edits += with_attribute(scene.source, port.offset, "precision", feeding.precision)
    return edits


def as_inferred(scene: Scene, port: Port, tensor: Tensor, *, fully: bool = False) -> list[Edit]:
    """A port declares what is inferred where it contradicts that.

    fully: also where it leaves open what is inferred, or has no precision.
    """
    edits: list[Edit] = []
    dims, inferred = port.dims, tensor.shape.dims
    if inferred is not None:
        sizes = tuple(dim.low if dim.is_static else -1 for dim in inferred)
        if (fully or _contradict(dims, sizes)) and sizes != dims:
            edits += set_dims(scene.source, port.offset, sizes)
    declared, produced = port.element_type, tensor.element_type
    if produced.is_dynamic or declared is produced or (declared is None and not fully):
        return edits
    return [
        *edits,
        *with_attribute(scene.source, port.offset, "precision", produced.precision, ("id",)),
    ]


def _contradict(dims: tuple[int, ...] | None, sizes: tuple[int, ...]) -> bool:
    """Whether declared dimensions are others than those inferred; what is left open is not."""
    return dims is not None and (
        len(dims) != len(sizes) or any(0 <= a != b for a, b in zip(dims, sizes, strict=True))
    )


def shown(port: Port) -> str:
    """What a port declares, as messages say it."""
    shape = "malformed dimensions" if port.dims is None else str(PartialShape(port.dims))
    return f"{port.precision or 'no precision'} {shape}"


# ids


def port_id_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A port has an id that no edge names, and an edge names one that no port has."""
    if finding.rule not in _OF_PORT_IDS or (finding.rule == MALFORMED_ID and not finding.port):
        return
    layer = scene.layers[position]
    for direction, ports, edges in (
        ("output", layer.outputs, [e.from_port for e in scene.edges_from.get(layer.id, ())]),
        ("input", layer.inputs, [e.to_port for e in scene.edges_to.get(layer.id, ())]),
    ):
        ids = [port.id for port in ports]
        wanted = [number for number in dict.fromkeys(edges) if number not in ids]
        free = [port for port in ports if port.id not in edges or ids.count(port.id) > 1]
        if not ports and len(wanted) > 1:
            yield from _lost_section(scene, position, direction, wanted)
            continue
        for number in wanted:
            for port in free:
                yield _renumbered(scene, position, port, direction, number)
            yield from _lost_port(scene, position, direction, number)


def lost_input_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An input port is not there, nor is the edge into it: something is left that feeds nothing."""
    layer = scene.layers[position]
    rules = (INPUT_COUNT, PORT_MAP, OUTPUT_SHAPE_MISMATCH)
    if finding.rule not in rules or finding.layer is not layer:
        return
    numbers = [port.id for port in (*layer.inputs, *layer.outputs)]
    if not all(map(is_number, numbers)):
        return
    ids = {int(number) for number in numbers}
    last = int(layer.outputs[0].id) if layer.outputs else len(ids) + 1
    gaps = list(islice((number for number in range(last) if number not in ids), 2))
    unused = [
        at
        for at in range(position if scene.in_order else len(scene.layers))
        if at != position and not scene.consumers[at] and len(scene.layers[at].outputs) == 1
    ]
    unused.sort(key=lambda at: (not scene.layers[at].is_constant, position - at))
    for index, at in enumerate(unused[:MAX_UNUSED]):
        why = f"nothing takes what {scene.layers[at].label} produces"
        for step, number in enumerate(map(str, gaps)):
            candidate = _with_input(scene, position, number, (at, 0), why)
            if candidate is not None:
                yield candidate._replace(cost=0.9 + 0.1 * (index + step))


def lost_output_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An output port is not there that no edge names: those behind it stand for the one before."""
    layer, tensors = scene.layers[position], scene.outputs(position)
    ids = [port.id for port in (*layer.inputs, *layer.outputs)]
    if not 0 < len(layer.outputs) < len(tensors) or not all(map(is_number, ids)):
        return
    numbers = list(map(int, ids))
    first = len(layer.inputs)
    gaps = sorted({*range(first, numbers[-1])}.difference(numbers))
    for number in gaps[:MAX_UNUSED] if numbers[:first] == list(range(first)) else ():
        tensor = tensors[number - first] if number - first < len(tensors) else None
        if tensor is None or tensor.shape.dims is None:
            continue
        sizes = tuple(dim.low if dim.is_static else -1 for dim in tensor.shape.dims)
        model = Port(str(number), tensor.element_type.precision, None, layer.offset, sizes)
        edits = _with_port(scene, position, "output", layer.outputs, str(number), model)
        yield Candidate(
            edits,
            f"output port {number} is added",
            f"the layer has no output port {number}, and those behind it declare what the ones "
            "before them would produce",
            layer.offset,
            layer,
            (position, *dict.fromkeys(at for _, at, _ in scene.consumers[position])),
            cost=0.4,
            rule=OUTPUT_COUNT,
        )


def _with_input(
    scene: Scene, position: int, number: str, source: tuple[int, int], why: str
) -> Candidate | None:
    """A layer with one more input port, fed by an output of another; None where it has no place."""
    layer, producer = scene.layers[position], scene.layers[source[0]]
    output = producer.outputs[source[1]]
    edits = _with_port(scene, position, "input", layer.inputs, number, output)
    edge = new_edge(scene, producer.id, output.id, layer.id, number)
    if not edits or not edge:
        return None
    return Candidate(
        (*edits, *edge),
        f"input port {number} is added, with an edge from {producer.label}",
        f"the layer lacks input port {number}; {why}",
        layer.offset,
        layer,
        (position,),
        (source[0],),
        rule=INPUT_COUNT,
    )


def _with_ends(scene: Scene, position: int, direction: str, number: str) -> tuple[int, ...]:
    """A layer, and those that edges from a port of it lead to."""
    ends = [position]
    if direction == "output":
        for edge in scene.edges_from.get(scene.layers[position].id, ()):
            if edge.from_port == number:
                ends += scene.by_id.get(edge.to_layer, ())
    return tuple(dict.fromkeys(ends))


def _renumbered(scene: Scene, position: int, port: Port, direction: str, number: str) -> Candidate:
    layer = scene.layers[position]
    fits = number == str([*layer.inputs, *layer.outputs].index(port))
    ports = layer.inputs if direction == "input" else layer.outputs
    doubled = [each.id for each in ports].count(port.id) > 1
    wrong = "the id of another port" if doubled else "an id that no edge names"
    return Candidate(
        with_attribute(scene.source, port.offset, "id", number),
        f'{direction} port{port.id and " "}{port.id} gets id="{number}"',
        f"{direction} port {port.id} has {wrong}; the edges name {number}",
        port.offset,
        layer,
        _with_ends(scene, position, direction, number),
        port=(direction, port.id),
        cost=0.7 if fits else 1.5,
        rule=DUPLICATE_PORT if doubled else DANGLING_EDGE,
    )


def _lost_section(
    scene: Scene, position: int, direction: str, wanted: list[str]
) -> Iterator[Candidate]:
    """The whole `<input>` or `<output>` is not there."""
    layer, ports = scene.layers[position], []
    for number in sorted(wanted, key=lambda text: (len(text), text)):
        twin = _twin(scene, layer, direction, number)
        if twin is None or twin.dims is None:
            return
        ports.append((number, twin))
    edits = _with_section(scene, position, direction, ports)
    if edits:
        yield Candidate(
            edits,
            f"<{direction}> is added, with {len(ports)} ports",
            f"the layer has no <{direction}>, but edges name {len(ports)} ports of it",
            layer.offset,
            layer,
            tuple(
                dict.fromkeys(
                    at for n in wanted for at in _with_ends(scene, position, direction, n)
                )
            ),
            cost=0.5,
            rule=DANGLING_EDGE,
        )


def _twin(scene: Scene, layer: Layer, direction: str, number: str) -> Port | None:
    """The port at the other end of the edge that names a port of a layer."""
    if direction == "input":
        edge = next((e for e in scene.edges_to[layer.id] if e.to_port == number), None)
        others = [] if edge is None else scene.by_id.get(edge.from_layer, [])
        ports = [port for at in others for port in scene.layers[at].outputs]
        wanted = None if edge is None else edge.from_port
    else:
        edge = next((e for e in scene.edges_from[layer.id] if e.from_port == number), None)
        others = [] if edge is None else scene.by_id.get(edge.to_layer, [])
        ports = [port for at in others for port in scene.layers[at].inputs]
        wanted = None if edge is None else edge.to_port
    return next((port for port in ports if port.id == wanted), None)


def _with_section(
    scene: Scene, position: int, direction: str, ports: list[tuple[str, Port]]
) -> tuple[Edit, ...]:
    data, layer = scene.source.data, scene.layers[position]
    start, end = scene.span(position)
    line = data.rfind(b"\n", 0, layer.offset)
    outer = data[line : layer.offset]
    indent = outer + b"\t" if line >= 0 and not outer.strip() else b""
    step = b"\t" if indent else b""
    text = indent + f"<{direction}>".encode()
    for number, twin in ports:
        precision = f' precision="{twin.precision}"' if twin.precision else ""
        text += indent + step + f'<port id="{number}"{precision}'.encode()
        dims = b"".join(indent + step * 2 + b"<dim>%d</dim>" % size for size in twin.dims or ())
        text += b">" + dims + indent + step + b"</port>" if dims else b"/>"
    text += indent + f"</{direction}>".encode()
    places = [rb"</input\s*>"] if direction == "output" else []
    for pattern in (*places, rb"<data\b[^<>]*/>|</data\s*>", rb"<layer\b[^<>]*[^/]>"):
        match = re.compile(pattern).search(data, start, end)
        if match is not None:
            return (Edit(match.end(), match.end(), text),)
    return ()


def _lost_port(scene: Scene, position: int, direction: str, number: str) -> Iterator[Candidate]:
    """A port that an edge names is not there."""
    layer = scene.layers[position]
    twin = _twin(scene, layer, direction, number)
    if twin is None:
        return
    ports, others, other = layer.inputs, layer.outputs, "output"
    if direction == "output":
        ports, others, other = others, ports, "input"
    alike = [port for port in others if port.id == number and port.dims == twin.dims]
    stray = next(iter(alike), None) if ports or len(others) > 1 else None  # else it is the section
    data = scene.source.data
    text = b"" if stray is None else data[stray.offset : element_end(data, stray.offset)]
    edits = _with_port(scene, position, direction, ports, number, twin, text)
    if not edits:
        return
    lost = Candidate(
        edits,
        f"{direction} port {number} is added",
        f"the layer has no {direction} port {number}, which an edge names",
        layer.offset,
        layer,
        _with_ends(scene, position, direction, number),
        cost=1.2,
        rule=DANGLING_EDGE,
    )
    if stray is not None:
        lost = lost._replace(
            edits=(*edits, *without_element(scene.source, stray.offset)),
            change=f"port {number} is moved to <{direction}>",
            cause=f"port {number} stands in <{other}>, but an edge "
            + ("leads to it" if direction == "input" else "comes from it"),
            offset=stray.offset,
            cost=0.3,
            rule=OUTPUT_COUNT if direction == "input" else INPUT_COUNT,
        )
    elif direction == "output" and 0 < len(ports) < len(scene.outputs(position)):
        lost = lost._replace(cost=0.6)  # the operation has such an output
    yield lost


def _with_port(
    scene: Scene,
    position: int,
    direction: str,
    ports: list[Port],
    number: str,
    twin: Port,
    text: bytes = b"",
) -> tuple[Edit, ...]:
    """A port more: a text, or one that declares what the port at the other end of its edge does."""
    data = scene.source.data
    layer = scene.layers[position]
    start, end = scene.span(position)
    model = next(iter((*ports, *layer.inputs, *layer.outputs)), None)
    place = model.offset if model is not None else layer.offset
    line = data.rfind(b"\n", 0, place)
    indent = data[line:place] if line >= 0 and not data[line:place].strip() else b""
    if model is None and indent:
        indent += b"\t\t"
    if twin.dims is None:
        return ()
    deeper = indent + (b"\t" if b"\t" in indent else b"    ") if indent else b""
    precision = f' precision="{twin.precision}"' if twin.precision else ""
    opening = f'<port id="{number}"{precision}'.encode()
    inner = b"".join(deeper + b"<dim>%d</dim>" % size for size in twin.dims)
    text = text or opening + (b">" + inner + indent + b"</port>" if inner else b"/>")
    later = [
        port
        for port in ports
        if is_number(port.id) and is_number(number) and int(port.id) > int(number)
    ]
    if later:
        return (Edit(later[0].offset, later[0].offset, text + indent),)
    if ports:
        close = _CLOSING[direction].search(data, ports[-1].offset, end)
        if close is None:
            return ()
        at = close.start()
        while data[at - 1] in b" \t\r\n":
            at -= 1
        return (Edit(at, at, indent + text),)
    empty = re.compile(b"<%s>(\\s*)</%s>|<%s ?/>" % ((direction.encode(),) * 3))
    lost = empty.search(data, start, end)
    if lost is not None:
        inner_text = text if not indent else indent + text
        closing = lost[1] or b""
        name = direction.encode()
        whole = b"<" + name + b">" + inner_text + closing + b"</" + name + b">"
        return (Edit(lost.start(), lost.end(), whole),)
    outer = indent[:-1] if indent.endswith(b"\t") else indent[:-4]
    section = outer + f"<{direction}>".encode() + indent + text + outer + f"</{direction}>".encode()
    match = None
    if direction == "output":
        match = re.compile(rb"</input\s*>").search(data, start, end)
    if match is None:
        match = re.compile(rb"<data\b[^<>]*/>|</data\s*>").search(data, start, end)
    if match is not None:
        return (Edit(match.end(), match.end(), section),)
    opened = re.compile(rb"<layer\b[^<>]*[^/]>").match(data, start)
    return (Edit(opened.end(), opened.end(), section),) if opened is not None else ()


__all__ = ["Layer", "port_causes", "port_id_causes"]
