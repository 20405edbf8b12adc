"""A body as a diagnosis looks at it: who feeds whom, and where each element stands in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ...element_types import ElementType
from ...inference.body_engine import BodyEngine
from ...inference.result import BodyResult
from ...model.edges import Edge
from ...model.graph import Body, Finding, Layer, dims_of
from ...model.ids import is_number, plain_id
from ...model.ports import Port, PortDims
from ...model.source import Source
from ...ops.tensors import Tensor
from ...rules import Context
from ...rules.links import SINKS
from ...shapes import PartialShape
from ..rule_groups import BETWEEN_PORTS

DeclaredOutputs = list[tuple[PartialShape | None, ElementType | None]]
_END_OF_INPUT = re.compile(rb"</input\s*>")


class EdgesByEnd(Mapping[str, Sequence[Edge]]):
    """The edges of a body by the id of the layer at one of their ends, in file order.

    Only those become objects that are asked for.
    """

    def __init__(self, body: Body, ends: list[str]) -> None:
        """ends: the id at that end of each edge."""
        self._body = body
        self._indices: dict[str, list[int]] = {}
        for index, number in enumerate(ends):
            self._indices.setdefault(number, []).append(index)

    def __getitem__(self, number: str) -> Sequence[Edge]:
        return [self._body.edge(index) for index in self._indices[number]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class Scene:
    """One body of a model with its inference."""

    def __init__(
        self, context: Context, result: BodyResult, findings: Sequence[Finding] = ()
    ) -> None:
        self.context = context
        self.findings = findings
        """What the rules that look at layers find in the model, whether it is reported or not."""
        self.result = result
        self.body: Body = result.body
        self.source: Source = context.model.source
        self.layers: list[Layer] = result.body.layers
        self.sources = result.wiring.sources

    def inner(self, body: Body) -> Scene | None:
        """A body inside, to be read again with edits; None if it was not inferred."""
        scene = self._inner_scenes.get(body)
        result = self.context.results.get(body)
        if scene is None and result is not None:
            scene = self._inner_scenes[body] = Scene(self.context, result)
        return scene

    @cached_property
    def _inner_scenes(self) -> dict[Body, Scene]:
        return {}

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The bytes of each layer."""
        return [(layer.offset, end) for layer, end in zip(self.layers, self._ends, strict=True)]

    @cached_property
    def engine(self) -> BodyEngine:
        """Infers parts of the body; what does not change was inferred with the model."""
        engine = self.context.inference.engine
        if isinstance(engine, BodyEngine):
            return engine
        return BodyEngine(self.context.model, lasting=True)

    @cached_property
    def position(self) -> dict[Layer, int]:
        """Where each layer stands in the body."""
        return dict(zip(self.layers, range(len(self.layers)), strict=True))

    @cached_property
    def misfed(self) -> set[Layer]:
        """The layers with inputs that declare something other than what feeds them."""
        return {
            finding.layer
            for finding in self.findings
            if finding.layer is not None and finding.rule in BETWEEN_PORTS
        }

    @cached_property
    def soundly_linked(self) -> bool:
        """Whether all edges of the model lead somewhere, and all inputs are fed."""
        return all(self.context.links(body).sound for body in self.context.bodies)

    @cached_property
    def flagged(self) -> set[Layer]:
        """The layers at which something is found."""
        return {finding.layer for finding in self.findings if finding.layer is not None}

    @cached_property
    def in_order(self) -> bool:
        """Whether every layer stands behind those that feed it."""
        wiring = self.result.wiring
        return not wiring.cyclic and wiring.order == list(range(len(self.layers)))

    @cached_property
    def by_id(self) -> Mapping[str, Sequence[int]]:
        """The positions of the layers with an id."""
        ids = [layer.id for layer in self.layers]
        alone = dict(zip(ids, zip(range(len(ids))), strict=True))
        if len(alone) == len(ids):
            return alone
        positions: dict[str, list[int]] = {}
        for at, number in enumerate(ids):
            positions.setdefault(number, []).append(at)
        return positions

    @cached_property
    def missing_ids(self) -> list[str]:
        """The ids that edges name and that no layer has, the lowest first."""
        missing = self._named_ids - self.by_id.keys() - {""}
        return sorted(missing, key=lambda text: (len(text), text))

    @cached_property
    def last_id(self) -> int:
        """The highest id of a layer; -1 where no layer has one."""
        return max((int(number) for number in self.by_id if is_number(number)), default=-1)

    @cached_property
    def suspect_ids(self) -> list[int]:
        """The positions of the layers whose id others have too, that no edge names, or that is no
        id."""
        return [
            at
            for number, positions in self.by_id.items()
            for at in positions
            if len(positions) > 1 or number not in self._named_ids or not plain_id(number)
        ]

    @cached_property
    def _named_ids(self) -> set[str]:
        ends = self.body.ends
        return {*ends.from_layers, *ends.to_layers}

    @cached_property
    def by_offset(self) -> dict[int, list[int]]:
        """The positions of the constants whose bytes begin at an offset of the .bin."""
        positions: dict[int, list[int]] = {}
        for layer, constant in self.context.constants:
            if layer in self.position:
                positions.setdefault(constant.offset, []).append(self.position[layer])
        return positions

    @cached_property
    def consumers(self) -> list[list[tuple[int, int, int]]]:
        """For each layer what takes its outputs: output, consumer and the consumer's input."""
        taken: list[list[tuple[int, int, int]]] = [[] for _ in self.layers]
        for at, row in enumerate(self.sources):
            for index, source in enumerate(row):
                if source is not None:
                    taken[source[0]].append((source[1], at, index))
        return taken

    @cached_property
    def taken(self) -> set[tuple[int, int]]:
        """The outputs that some input takes: layer and port."""
        return {source for row in self.sources for source in row if source is not None}

    @cached_property
    def unused(self) -> list[int]:
        """The positions of the layers that give something, none of which is taken."""
        return [
            at
            for at, layer in enumerate(self.layers)
            if (outputs := len(layer.port_heads.output_ids))
            and layer.folded_type not in SINKS
            and all((at, index) not in self.taken for index in range(outputs))
        ]

    @cached_property
    def unfed(self) -> list[tuple[int, Port]]:
        """The inputs that nothing feeds, each with the position of its layer."""
        return [
            (at, port)
            for at, row in enumerate(self.sources)
            if None in row
            for port, source in zip(self.layers[at].inputs, row, strict=True)
            if source is None
        ]

    @cached_property
    def narrowed(self) -> list[int]:
        """The Parameters whose shape fixes a size that their port leaves open."""
        parameters = self.context.by_type.get("parameter", ())
        return [
            at
            for body, at in parameters
            if body is self.body
            and len((layer := self.layers[at]).outputs) == 1
            and (dims := layer.outputs[0].dims)
            and (tensor := next(iter(self.outputs(at)), None)) is not None
            and tensor.shape.dims is not None
            and len(tensor.shape.dims) == len(dims)
            and tensor.shape.compatible(PartialShape(dims))
            and any(
                size < 0 and dim.is_static
                for size, dim in zip(dims, tensor.shape.dims, strict=True)
            )
        ]

    @cached_property
    def exchanged_ids(self) -> tuple[int, int] | None:
        """The two layers without which, or with each other's id, all ids would be in order."""
        numbers = [layer.id for layer in self.layers]
        if not all(map(is_number, numbers)):
            return None
        moved = [
            at
            for at, (one, other) in enumerate(zip(numbers, sorted(numbers, key=int), strict=True))
            if one != other
        ]
        return (moved[0], moved[1]) if len(moved) == 2 else None

    def outputs_like(self, dims: tuple[int, ...] | None) -> Iterator[tuple[int, int]]:
        """The outputs that declare some dimensions: layer and port."""
        for at, every in enumerate(self._dims):
            if dims in every:
                inputs = self.layers[at].port_heads.inputs
                for index, own in enumerate(every[inputs:]):
                    if own == dims:
                        yield at, index

    @cached_property
    def _dims(self) -> list[PortDims]:
        """The dimensions of the ports of each layer."""
        complete = self.result.wiring.complete
        return complete.dims if complete is not None else dims_of(self.layers)

    @cached_property
    def edges_to(self) -> EdgesByEnd:
        """The edges by the id of the layer that they lead to, as written."""
        return EdgesByEnd(self.body, self.body.ends.to_layers)

    @cached_property
    def edges_from(self) -> EdgesByEnd:
        """The edges by the id of the layer that they come from, as written."""
        return EdgesByEnd(self.body, self.body.ends.from_layers)

    @cached_property
    def edge_offsets(self) -> list[int]:
        """Where the edges begin, in file order."""
        return self.body.edge_offsets

    @cached_property
    def edge_numbers(self) -> list[tuple[int, int, int]] | None:
        """The ids of source, target and input of each edge; None if one of them is no number."""
        ends = self.body.ends
        columns = ends.from_layers, ends.to_layers, ends.to_ports
        if not all(is_number(text) for column in columns for text in set(column)):
            return None
        return list(zip(*(map(int, column) for column in columns), strict=True))

    @cached_property
    def edges_by_target(self) -> bool:
        """Whether the edges stand in the order of their targets, and not in that of sources."""
        numbers = self.edge_numbers or []
        sources, targets = [row[0] for row in numbers], [row[1:] for row in numbers]
        return sorted(targets) == targets and sources != sorted(sources)

    @cached_property
    def stray_edges(self) -> list[Edge]:
        """The edges that lead to a layer that is not there."""
        targets = self.body.ends.to_layers
        missing = set(targets).difference(self.by_id)
        return [self.body.edge(at) for at, number in enumerate(targets) if number in missing]

    def edge_into(self, layer: Layer, port: Port) -> Edge | None:
        """The first edge that leads into an input port."""
        edges = self.edges_to.get(layer.id, ())
        return next((edge for edge in edges if edge.to_port == port.id), None)

    @cached_property
    def siblings(self) -> dict[tuple[str, str], list[Layer]]:
        """The layers of the whole model by type and version."""
        groups: dict[tuple[str, str], list[Layer]] = {}
        for layer in self.context.every_layer:
            groups.setdefault((layer.type, layer.version), []).append(layer)
        return groups

    def items_of_others(self, layer: Layer) -> Counter[tuple[str, ...]]:
        """The attributes of the other layers of an operation in the whole model, as written, each
        with the number of layers that have them."""
        rows = self._items_of_others.get(layer)
        if rows is None:
            group = self.siblings.get((layer.type, layer.version), ())
            rows = Counter([other.items for other in group if other is not layer])
            self._items_of_others[layer] = rows
        return rows

    @cached_property
    def _items_of_others(self) -> dict[Layer, Counter[tuple[str, ...]]]:
        return {}

    def outputs(self, position: int) -> tuple[Tensor, ...]:
        """What was inferred for the outputs of a layer."""
        return self.result.outputs[position]

    def declared_outputs(self, position: int) -> DeclaredOutputs:
        """What the output ports of a layer declare: shape and type, None for nothing."""
        known = self._declared_outputs.get(position)
        if known is None:
            known = self._declared_outputs[position] = [
                (PartialShape(port.dims) if port.dims else None, port.element_type)
                for port in self.layers[position].outputs
            ]
        return known

    @cached_property
    def _declared_outputs(self) -> dict[int, DeclaredOutputs]:
        return {}

    def valued_inputs(self, position: int) -> tuple[Tensor, ...]:
        """What was inferred for the inputs of a layer, with the values of all constants."""
        known = self._valued_inputs.get(position)
        if known is None:
            tensors = [tensor for tensor in self.result.inputs[position] if tensor is not None]
            for index, source in enumerate(self.sources[position]):
                if source is None or not self.layers[source[0]].is_constant:
                    continue
                outputs = self.outputs(source[0])
                if source[1] < len(outputs) and tensors[index] == outputs[source[1]]:
                    producer = self.layers[source[0]]
                    tensors[index] = self.engine.layers.constant(producer, tensors[index])
            known = self._valued_inputs[position] = tuple(tensors)
        return known

    @cached_property
    def _valued_inputs(self) -> dict[int, tuple[Tensor, ...]]:
        return {}

    # the text

    @cached_property
    def heading(self) -> bytes:
        """What stands before the layers of a part of the body that is made a model."""
        encoding = self.source.encoding.replace("utf-8-sig", "utf-8")
        version = self.context.model.version
        return (
            f'<?xml version="1.0" encoding="{encoding}"?>'
            f'<net name="" version="{version}"><layers>\n'.encode()
        )

    @cached_property
    def _ends(self) -> list[int]:
        """Where each layer ends at the latest."""
        data = self.source.data
        starts = [layer.offset for layer in self.layers[1:]]
        if not self.layers:
            return starts
        last = self.layers[-1]
        inside = max((inner.offset for inner in _inner(last)), default=last.offset)
        end = data.find(b"</layers", inside)
        for _ in range(_depth(last)):
            end = data.find(b"</layers", end + 1)
        return [*starts, end if end >= 0 else len(data)]

    def layer_at(self, offset: int) -> int | None:
        """The position of the layer in whose text an offset lies."""
        at = bisect_right(self.layers, offset, key=_offset_of) - 1
        return at if at >= 0 and offset < self._ends[at] else None

    def span(self, position: int) -> tuple[int, int]:
        """The bytes of a layer."""
        return self.layers[position].offset, self._ends[position]

    def end_tag(self, position: int) -> int:
        """Where the end tag of a layer begins; its beginning where it has none."""
        start, end = self.span(position)
        return max(self.source.data.rfind(b"</layer", start, end), start)

    def without_inputs(self, position: int) -> Layer:
        """A layer as it stands for what feeds a part: the same one each time."""
        feeding = self._without_inputs.get(position)
        if feeding is None:
            layer = self.layers[position]
            feeding = layer.without_inputs() if layer.port_heads.input_ids else layer
            self._without_inputs[position] = feeding
        return feeding

    @cached_property
    def _without_inputs(self) -> dict[int, Layer]:
        return {}

    def boundary(self, position: int) -> Iterator[tuple[int, int]]:
        """The bytes of a layer without its `<input>`."""
        start, end = self.span(position)
        layer = self.layers[position]
        if layer.inputs:
            data = self.source.data
            opening = data.rfind(b"<input", start, layer.inputs[0].offset)
            closing = _END_OF_INPUT.search(data, layer.inputs[-1].offset, end)
            if opening >= 0 and closing is not None:
                yield start, start + len(data[start:opening].rstrip())
                start = closing.end()
        yield start, end

    def edge_at(self, offset: int) -> Edge | None:
        """The edge in whose tag an offset lies."""
        if offset < self.body.edges_begin:
            return None
        at = bisect_right(self.edge_offsets, offset) - 1
        if at < 0:
            return None
        edge = self.body.edge(at)
        start, end = self.edge_span(edge)
        return edge if start <= offset < end else None

    def edge_span(self, edge: Edge) -> tuple[int, int]:
        """The bytes of an edge."""
        data = self.source.data
        end = data.find(b">", edge.offset) + 1
        if data[end - 2 : end] != b"/>":
            close = data.find(b"</edge", end)
            if close >= 0 and not data[end:close].strip():
                end = data.find(b">", close) + 1
        return edge.offset, end


def _offset_of(layer: Layer) -> int:
    return layer.offset


def _inner(layer: Layer) -> Iterator[Layer]:
    for body in (layer.bodies or {}).values():
        yield from body.walk()


def _depth(layer: Layer) -> int:
    """How many `</layers>` stand between the last layer inside a layer and the end of its body."""
    bodies = list((layer.bodies or {}).values())
    if not bodies:
        return 0
    last = max(bodies, key=lambda body: body.offset)
    return 1 + (_depth(last.layers[-1]) if last.layers else 0)
