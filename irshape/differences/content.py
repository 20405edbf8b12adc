"""The data by which layers are matched: what they compute and how they are connected, not names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from itertools import count
from struct import pack, unpack_from

from ..inference.body_engine import declarations_of
from ..inference.declarations import Declarations
from ..inference.engine import infer
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..model.weights import Constant, Weights
from ..model.wiring import OutputRef, Wiring

EXACT, WEIGHED, SHAPED, TYPE = range(4)
"""The levels of comparison: what must be equal in two layers. `EXACT`: type, attributes, bodies,
constants. `WEIGHED`: type, attributes, element types and shapes of the outputs, and elements of
constants, rounded to f16. `SHAPED`: as `WEIGHED`, without constants. `TYPE`: the type."""

_WHOLE = 1 << 16
_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}
_SAMPLES, _SAMPLE = 16, 1 << 12
_FEW = 16
_SYMMETRIC = ("add", "multiply")
"""Types of layers whose inputs may be in any order, such as Add."""
_CHUNK = 1 << 20


Labels = defaultdict[Hashable, int]
"""Gives equal objects, such as the contents of layers, the same number."""


class Side:
    """One of the two compared bodies. A layer is identified by its position in the body."""

    def __init__(
        self,
        result: BodyResult,
        declarations: Declarations,
        weights: Weights | None,
        labels: Labels,
    ) -> None:
        self.result = result
        self.labels = labels
        self.layers = result.body.layers
        self.weights = weights
        self.declarations = declarations
        self.sources = result.wiring.sources
        self.order = result.wiring.order
        self.content: list[list[int]] = [[], [], [], []]
        """For each level of comparison, the label of each layer: equal layers have equal labels."""
        self.constants = [self._constant(layer) for layer in self.layers]
        """The constant of each Const layer; None for other layers, and for faulty attributes."""
        self.fixed: dict[int, Hashable] = {}
        """Maps each layer that depends only on constants to some elements of the first one."""
        for position in self.order:
            sources = [source and source[0] for source in self.sources[position]]
            if self.layers[position].is_constant or (sources and self.fixed.keys() >= {*sources}):
                constant = self.constants[position]
                self.fixed[position] = constant and rounded(constant)
                if sources and sources[0] is not None:
                    self.fixed[position] = self.fixed[sources[0]]
        self.flow = [sorted(row, key=self._constant_last) for row in self.sources]
        """The outputs that feed each layer. Constants come last, because their position does not
        matter."""
        self.weighted: list[bool] = []
        """For each layer, whether it is or uses a constant large enough to identify it."""
        for position, layer in enumerate(self.layers):
            self._describe(position, layer)
        self.users = Wiring(self.flow, self.order, result.wiring.cyclic).users

    def _constant_last(self, source: OutputRef | None) -> bool:
        return source is None or source[0] in self.fixed

    def identifies(self, position: int, level: int) -> bool:
        """Whether few layers have the content of this layer, so that it identifies the layer. False
        for small constants and, except at `EXACT`, for layers that depend only on constants."""
        constant = self.constants[position]
        if level == EXACT:
            return constant is None or constant.elements > _FEW
        return position not in self.fixed

    def inner(self, result: BodyResult) -> Side:
        """Returns the `Side` of a body inside a layer."""
        return Side(result, self.declarations, self.weights, self.labels)

    def _describe(self, position: int, layer: Layer) -> None:
        kind = layer.folded_type
        exact: Hashable
        similar: Hashable
        constant = self.constants[position]
        sources = [source and source[0] for source in self.flow[position]] or [position]
        numbers = tuple(self.fixed[at] for at in sources if at in self.fixed)
        self.weighted.append(any(numbers))
        if constant is not None:
            shape = constant.element_type.name, constant.shape
            exact, similar = (kind, shape, digest(constant)), (kind, len(constant.shape))
        elif layer.is_constant or layer.is_parameter or layer.is_result:
            exact, similar = (kind, layer.items), (kind,)
        else:
            attributes = self.attributes(position)
            bodies = tuple(
                (tag, self.inner(body).label)
                for tag, body in self.result.inner.get(position, {}).items()
            )
            similar = (kind, layer.version, len(layer.outputs), tuple(attributes.values()))
            order = [self._constant_last(source) for source in self.sources[position]]
            exact = (similar, bodies, *order, numbers)
        shaped = (
            similar,
            position in self.fixed
            or (
                *(
                    (tensor.element_type, str(tensor.shape))
                    for tensor in self.result.outputs[position]
                ),
                *map(self._constant_last, self.flow[position]),
            ),
        )
        things = {EXACT: exact, WEIGHED: (shaped, numbers), SHAPED: shaped, TYPE: kind}
        for level, thing in things.items():
            self.content[level].append(self.labels[level, thing])

    def _constant(self, layer: Layer) -> Constant | None:
        if not layer.is_constant:
            return None
        try:
            return Constant.of(layer.items, self.weights)
        except ValueError:
            return None

    def attributes(self, position: int) -> dict[str, str]:
        """Returns the attributes of a layer by their names in the file, including defaults, as
        texts that are equal for equal values."""
        layer = self.layers[position]
        declaration = self.declarations.of(layer)
        if not isinstance(declaration, tuple) or declaration[1] or declaration[0].opaque:
            return dict(layer.attributes)
        operation = declaration[0]
        values = {
            declared.name: getattr(operation, name)
            for name, declared in type(operation).attributes.items()
        }
        axis = values.get("axis")
        if type(axis) is int and axis < 0 and operation.custom_version is None:
            tensors = [*self.result.inputs.get(position, ())[:1], *self.result.outputs[position]]
            ranks = [tensor.rank for tensor in tensors if tensor is not None]
            if ranks and None not in ranks:  # the axis of a OneHot is one of its output
                values["axis"] = axis + max(rank for rank in ranks if rank is not None)
        return {name: repr(value) for name, value in values.items()}

    @property
    def label(self) -> int:
        """A label for the body. Bodies with equal contents have the same label."""
        up = self.upward()
        ends = [up[position] for position, layer in enumerate(self.layers) if layer.is_result]
        return self.labels["body", tuple(sorted(up)), tuple(ends)]

    def fed(self, position: int, labels: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Returns a pair for each input of a layer: the label of the producer, and the index of the
        output that feeds the input."""
        fed = [
            (-1, -1) if source is None else (labels[source[0]], source[1])
            for source in self.flow[position]
        ]
        return tuple(sorted(fed) if self.layers[position].folded_type in _SYMMETRIC else fed)

    def taken(self, position: int, labels: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
        """Returns a triple for each consumer of a layer: the consumer's label, the index of its
        input, and the index of the output that feeds this input."""
        return tuple(
            sorted(
                (labels[user], -1 if self.layers[user].folded_type in _SYMMETRIC else at, port)
                for user, at, port in self.users[position]
            )
        )

    def upward(self, level: int = EXACT) -> list[int]:
        """Returns a label for each layer. Layers have the same label if they and all layers on
        which they depend have equal content. Except at the level `EXACT`, layers that depend only
        on constants get -1."""
        content = self.content[level]
        up = [-1] * len(self.layers)
        for position in self.order:
            if level == EXACT or position not in self.fixed:
                up[position] = self.labels["up", content[position], self.fed(position, up)]
        return up

    def downward(self, level: int) -> list[int]:
        """Returns a label for each layer. Layers have the same label if they and all layers that
        depend on them have equal content."""
        content = self.content[level]
        down = [-1] * len(self.layers)
        for position in reversed(self.order):
            down[position] = self.labels["down", content[position], self.taken(position, down)]
        return down


def sides_of(first: Model, second: Model) -> tuple[Side, Side]:
    """Returns the data by which the layers of two nets are matched."""
    labels = Labels(count().__next__)
    one, other = infer(first), infer(second)
    return (
        Side(one.result, declarations_of(one), first.weights, labels),
        Side(other.result, declarations_of(other), second.weights, labels),
    )


def digest(constant: Constant) -> bytes | None:
    """Returns a digest of the bytes of a constant or, if it is large, of samples of them; None if
    the bytes are not available."""
    view = view_of(constant)
    if view is None:
        return None
    hasher = blake2b(digest_size=16)
    size = len(view)
    if size <= _WHOLE:
        hasher.update(view)
    else:
        for number in range(_SAMPLES):
            start = (size - _SAMPLE) * number // (_SAMPLES - 1)
            hasher.update(view[start : start + _SAMPLE])
    return hasher.digest()


def rounded(constant: Constant) -> bytes | None:
    """Returns a few elements of a large constant of reals, rounded to f16; None for other
    constants. The result is the same after the constant is compressed to f16."""
    view, code = view_of(constant), _FLOATS.get(constant.element_type.name)
    count, size = constant.elements, constant.element_type.bits // 8
    if code is None or view is None or count <= _FEW or len(view) < count * size:
        return None
    places = [size * (count * number // _SAMPLES) for number in range(_SAMPLES)]
    values = [unpack_from(f"<{code}", view, place)[0] for place in places]
    return pack(f"<{_SAMPLES}e", *(max(-65504.0, min(65504.0, value)) for value in values))


def view_of(constant: Constant) -> memoryview | bytes | None:
    """Returns the bytes of a constant without copying them; None if they are not available."""
    weights = constant.weights
    if weights is None or not weights.holds(constant.offset, constant.size):
        return None
    return weights.view(constant.offset, constant.size)


def same_bytes(first: Constant, second: Constant) -> bool | None:
    """Whether two constants have the same bytes; None if bytes of either are not available."""
    one, other = view_of(first), view_of(second)
    if one is None or other is None:
        return None
    return len(one) == len(other) and all(
        bytes(one[start : start + _CHUNK]) == bytes(other[start : start + _CHUNK])
        for start in range(0, len(one), _CHUNK)
    )
