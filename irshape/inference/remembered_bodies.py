"""Remembers what bodies inside layers give, from one model to the next.

A body is known by what it says: the declarations of its layers, their ids and ports, the edges, and
the same of the bodies inside. What it gives depends on nothing but this, the bytes of the constants
whose values are needed, and what its Parameters are fed. No model is held.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import NamedTuple

from ..demands import Demand
from ..faults import Fault
from ..model.graph import PORT_MAPS, Body, Layer, dims_of, heads_of
from ..model.ports import PortDims, PortHeads
from ..model.wiring import OutputRef, Wiring, wire
from ..ops.declaration import AttributeFault, Operation
from ..ops.infrastructure import Const
from ..ops.registry import UnknownOperation
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor
from ..rule_ids import INTERNAL_ERROR
from .declarations import BodyDeclarations, Declaration, Declarations
from .layer import Lasting, LayerEngine
from .needed_values import needed_values
from .result import BodyResult, LayerResult, Mismatch, Observation, OutputCount

Fed = frozenset[tuple[str, Tensor]]
"""What Parameters are fed, by their layers' ids."""


class Content:
    """What a body says, as far as inference depends on it, but for the bytes of constants."""

    __slots__ = ("_declarations", "constants", "dims", "heads", "needed", "wiring")

    def __init__(
        self,
        body: Body,
        declared: BodyDeclarations,
        heads: list[PortHeads],
        dims: list[PortDims],
    ) -> None:
        self._declarations = declared.each  # their ids are part of the key
        self.heads = heads
        self.dims = dims
        self.wiring: Wiring = wire(body)
        self.needed = needed_values(body, self.wiring, declared, True)
        """The layers whose values are needed."""
        self.constants = sorted(
            at for at in self.needed if _operation(declared.each[at]).reads_weights
        )
        """The constants among them."""


class Known(NamedTuple):
    """What is known of a body of the model at hand before it is inferred."""

    content: Content
    declared: BodyDeclarations
    values: tuple[bytes, ...]
    """The bytes of the constants whose values are needed, those of bodies inside too."""


class Call(NamedTuple):
    """An inference of a body inside a layer, as that layer asked for it."""

    body: Body
    parameters: Mapping[str, Tensor]
    compare: bool
    fed: Fed
    result: BodyResult


class InnerCall(NamedTuple):
    """The same without a model."""

    position: int
    """That of the layer in the body around it; 0 where that layer alone is remembered."""
    tag: str
    parameters: Mapping[str, Tensor]
    compare: bool
    fed: Fed
    same: int | None
    """The call before with the same result, if there is one."""


class Given(NamedTuple):
    """What was inferred of a body; see `BodyResult`."""

    outputs: list[tuple[Tensor, ...]]
    inputs: dict[int, tuple[Tensor | None, ...]]
    demands: dict[int, frozenset[Demand]]
    demanding: list[int]
    observations: list[tuple[int, Fault | AttributeFault | Mismatch | OutputCount]]
    """Each with the position of its layer."""
    faulty: set[int]
    believed: set[int]
    doubtful: set[OutputRef]
    calls: list[InnerCall]
    """The inferences of bodies inside, in their order."""
    inner: dict[int, dict[str, int]]
    """For each layer with bodies and each tag, the call that gives the result."""


class GivenAround(NamedTuple):
    """What was inferred of a layer with bodies; see `LayerResult`."""

    outputs: tuple[Tensor, ...] | Fault
    faults: tuple[Fault, ...]
    unsure: bool
    demands: frozenset[Demand]
    calls: list[InnerCall]
    inner: dict[str, int]


_CONTENTS: Lasting[Content] = Lasting()
_GIVEN: Lasting[Given] = Lasting(1 << 18)
_GIVEN_AROUND: Lasting[GivenAround] = Lasting()


class RememberedBodies:
    """The memory as the bodies of one model use it."""

    def __init__(self, declarations: Declarations, layers: LayerEngine) -> None:
        self._declarations = declarations
        self._layers = layers
        self._known: dict[Body, Known | None] = {}

    def forget(self) -> None:
        """Forgets what was known of the bodies of the model."""
        self._known.clear()

    def known(self, body: Body) -> Known | None:
        """What is known of a body; None for one of which nothing is remembered."""
        if body not in self._known:
            self._known[body] = self._look(body)
        return self._known[body]

    def _look(self, body: Body) -> Known | None:
        layers = body.layers
        declared = self._declarations.of_all(layers)
        if UnknownOperation in set(map(type, declared.each)):
            return None
        inner: list[tuple[object, ...]] = []
        values: list[bytes] = []
        for position, layer in enumerate(layers):
            for tag, within in (layer.bodies or {}).items():
                known = self.known(within)
                if known is None:
                    return None
                inner.append((position, tag, known.content, _port_map(layer, tag)))
                values += known.values
        ends, heads, dims = body.ends, heads_of(layers), dims_of(layers)
        key = (
            tuple(map(id, declared.each)),
            tuple(map(id, heads)),
            tuple(dims),
            tuple([layer.id for layer in layers]),
            tuple([layer.type for layer in layers]),  # as faults name them
            tuple(ends.from_layers),
            tuple(ends.from_ports),
            tuple(ends.to_layers),
            tuple(ends.to_ports),
            tuple([edge[:2] for edge in body.back_edges]),
            *inner,
        )
        content = _CONTENTS.entries.get(key)
        if content is None:
            content = Content(body, declared, heads, dims)
            _CONTENTS.keep(key, content, (), size=_size(body))
        for position in content.constants:
            value = self._bytes_of(layers[position], declared.each[position])
            if value is None:
                return None
            values.append(value)
        return Known(content, declared, tuple(values))

    def _bytes_of(self, layer: Layer, declaration: Declaration) -> bytes | None:
        """The bytes of a constant, as far as what is inferred depends on them; None where a look at
        them does not suffice."""
        assert not isinstance(declaration, UnknownOperation)
        (operation, attribute_faults), items = declaration, layer.items
        if not isinstance(operation, Const) or attribute_faults or items[::2] != _WRITTEN:
            return None
        weights = self._layers.model.weights
        _, _, _, _, _, offset, _, size = items
        if operation.element_type.kind in ("string", "dynamic"):
            return None
        needed = _value_size(operation)
        if needed is None:
            return b""  # no value is looked at
        if weights is None or size != str(needed) or not offset.isdecimal() or len(offset) > 18:
            return None
        return weights.bytes_at(int(offset), needed)

    def given(self, known: Known, compare: bool, fed: Fed) -> Given | None:
        """What a body gives, where it is remembered."""
        return _GIVEN.entries.get((known.content, known.values, compare, fed))

    def keep(
        self, known: Known, compare: bool, fed: Fed, result: BodyResult, calls: list[Call]
    ) -> None:
        """Remembers what a body gives, if all of it was inferred."""
        observations: list[tuple[int, Fault | AttributeFault | Mismatch | OutputCount]] = []
        body = result.body
        for layer, subject in result.observations:
            if isinstance(subject, UnknownOperation) or _may_pass(subject):
                return
            observations.append((body.layers.index(layer), subject))
        places = {
            within: (position, tag)
            for position, layer in enumerate(body.layers)
            for tag, within in (layer.bodies or {}).items()
        }
        numbers = _numbers(calls)
        try:
            inner = {
                position: {tag: numbers[id(within)] for tag, within in bodies.items()}
                for position, bodies in result.inner.items()
            }
        except KeyError:  # believed as declared
            return
        given = Given(
            list(result.outputs),
            dict(result.inputs),
            dict(result.demands),
            list(result.demanding),
            observations,
            set(result.faulty),
            set(result.believed),
            set(result.doubtful),
            _without_model(calls, places),
            inner,
        )
        tensors = tuple([tensor for outputs in result.outputs for tensor in outputs])
        size = _size(body) + sum(map(len, known.values)) // _BYTES
        _GIVEN.keep((known.content, known.values, compare, fed), given, tensors, size=size)

    def around(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], compare: bool
    ) -> tuple[object, ...] | None:
        """What decides what a layer with bodies gives; None for one that is not remembered."""
        heads = layer.port_heads
        key: list[object] = [operation, compare, inputs, heads.input_ids, len(heads.output_ids)]
        for tag, body in (layer.bodies or {}).items():
            known = self.known(body)
            if known is None:
                return None
            key += (tag, known.content, known.values, _port_map(layer, tag))
        return tuple(key)

    def given_around(self, key: tuple[object, ...]) -> GivenAround | None:
        """What a layer with bodies gives, where it is remembered."""
        return _GIVEN_AROUND.entries.get(key)

    def keep_around(
        self, key: tuple[object, ...], layer: Layer, result: LayerResult, calls: list[Call]
    ) -> None:
        """Remembers what a layer with bodies gives, if all of it was inferred."""
        if any(map(_may_pass, (result.outputs, *result.faults))):
            return
        places = {within: (0, tag) for tag, within in (layer.bodies or {}).items()}
        numbers = _numbers(calls)
        inner = {tag: numbers[id(within)] for tag, within in result.inner.items()}
        asked = _without_model(calls, places)
        given = GivenAround(*result[:2], result.unsure, result.demands, asked, inner)
        tensors = () if isinstance(result.outputs, Fault) else result.outputs
        _GIVEN_AROUND.keep(key, given, tensors, size=_ENTRY * (1 + len(calls)))


def _may_pass(subject: object) -> bool:
    """Whether this is a fault of irshape's own, such as a lack of memory."""
    return isinstance(subject, Fault) and subject.rule == INTERNAL_ERROR


def _numbers(calls: list[Call]) -> dict[int, int]:
    """The first call with each result, by the `id` of the result."""
    return {id(call.result): number for number, call in reversed(list(enumerate(calls)))}


def _without_model(calls: list[Call], places: dict[Body, tuple[int, str]]) -> list[InnerCall]:
    """Calls of bodies, each given by its place."""
    numbers = _numbers(calls)
    return [
        InnerCall(
            *places[body],
            parameters,
            compare,
            fed,
            first if (first := numbers[id(result)]) < number else None,
        )
        for number, (body, parameters, compare, fed, result) in enumerate(calls)
    ]


def result_of(body: Body, known: Known, given: Given, within: list[BodyResult]) -> BodyResult:
    """What is remembered of a body as the result for one. within: the results of the calls."""
    result = BodyResult(body, known.content.wiring)
    declared = known.declared
    result.constants = declared.constants if declared.all_constants else None
    result.kinds = declared.kinds
    result.heads = known.content.heads
    result.outputs = given.outputs.copy()
    result.inputs = given.inputs.copy()
    result.demands = given.demands.copy()
    result.demanding = given.demanding.copy()
    result.observations = [
        Observation(body.layers[position], subject) for position, subject in given.observations
    ]
    result.faulty = given.faulty.copy()
    result.believed = given.believed.copy()
    result.doubtful = given.doubtful.copy()
    result.inner = {
        position: {tag: within[number] for tag, number in bodies.items()}
        for position, bodies in given.inner.items()
    }
    return result


_ENTRY = 16
"""What it takes to remember something of a layer, in elements of values."""
_BYTES = 8
"""So many bytes take as much as an element of a value."""
_WRITTEN = ("element_type", "shape", "offset", "size")


def _size(body: Body) -> int:
    """What it takes to remember something of each layer of a body, in elements of values."""
    return _ENTRY * len(body.layers)


def _operation(declaration: Declaration) -> Operation:
    assert not isinstance(declaration, UnknownOperation)
    return declaration[0]


def _port_map(layer: Layer, tag: str) -> tuple[object, ...]:
    entries = (layer.port_maps or {}).get(PORT_MAPS[tag], ())
    return tuple([(entry.direction, *entry.attributes.items()) for entry in entries])


@lru_cache(maxsize=1024)
def _value_size(constant: Const) -> int | None:
    """The bytes of a constant; None for one so large that it has no value."""
    elements = prod(constant.shape)
    return None if elements > MAX_VALUE_ELEMENTS else constant.element_type.byte_size(elements)
