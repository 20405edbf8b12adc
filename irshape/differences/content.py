"""The data of a body for the matching: its connections, and the content of each layer, apart from
its name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from itertools import count

from ..inference.body_engine import declarations_of
from ..inference.declarations import Declarations
from ..inference.engine import infer
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..model.weights import Constant, Weights

EXACT, SIMILAR, TYPE = range(3)
"""The parts of two layers that must be equal. `EXACT`: type, attributes and constants; `SIMILAR`:
the same without the bytes of constants and the sizes of inputs; `TYPE`: the type alone."""

_WHOLE = 1 << 16
_SAMPLES, _SAMPLE = 16, 1 << 12
_CHUNK = 1 << 20


Labels = defaultdict[Hashable, int]
"""Small numbers of objects that are often compared. Equal objects have the same number."""


class Side:
    """One of the two compared bodies. Layers are given by their position in the body."""

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
        self.users = result.wiring.users
        self.content: list[list[int]] = [[], [], []]
        """For `EXACT`, `SIMILAR` and `TYPE`, a label of each layer."""
        self.distinctive: list[bool] = []
        """Whether the content identifies a layer: constants of a few elements occur everywhere."""
        self.constants = [self._constant(layer) for layer in self.layers]
        """The constants of Const layers; None for other layers, and for faulty attributes."""
        for position, layer in enumerate(self.layers):
            self._describe(position, layer)
        self.fixed: set[int] = set()
        """The positions of constants, and of layers that are computed from constants alone."""
        for position in self.order:
            sources = [source and source[0] for source in self.sources[position]]
            if self.layers[position].is_constant or (sources and self.fixed.issuperset(sources)):
                self.fixed.add(position)

    def inner(self, result: BodyResult) -> Side:
        """Returns a body inside a layer."""
        return Side(result, self.declarations, self.weights, self.labels)

    def _describe(self, position: int, layer: Layer) -> None:
        kind = layer.folded_type
        exact: Hashable
        similar: Hashable
        constant = self.constants[position]
        self.distinctive.append(constant is None or constant.elements > 16)
        if constant is not None:
            shape = constant.element_type.name, constant.shape
            exact, similar = (kind, shape, digest(constant)), (kind, len(constant.shape))
        elif layer.is_constant or layer.is_parameter or layer.is_result:
            exact, similar = (kind, layer.items), (kind,)
        else:
            attributes = self.attributes(position)
            bodies = tuple(
                (tag, self._label_of(inner))
                for tag, inner in self.result.inner.get(position, {}).items()
            )
            similar = (kind, layer.version, len(layer.outputs), tuple(attributes.values()))
            exact = (similar, bodies)
        for level, thing in ((EXACT, exact), (SIMILAR, similar), (TYPE, kind)):
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
        text that is equal for equal values."""
        layer = self.layers[position]
        declaration = self.declarations.of(layer)
        if not isinstance(declaration, tuple) or declaration[1]:
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

    def _label_of(self, body: BodyResult) -> int:
        """Returns a label of a body, equal for bodies that compute the same."""
        side = self.inner(body)
        up = side.upward()
        ends = [up[position] for position, layer in enumerate(side.layers) if layer.is_result]
        return self.labels["body", tuple(sorted(up)), tuple(ends)]

    def fed(self, position: int, labels: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Returns the label of each producer of a layer, and its output."""
        return tuple(
            (-1, -1) if source is None else (labels[source[0]], source[1])
            for source in self.sources[position]
        )

    def taken(self, position: int, labels: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
        """Returns the label of each consumer of a layer, its input, and the output."""
        return tuple(sorted((labels[user], at, port) for user, at, port in self.users[position]))

    def upward(self) -> list[int]:
        """Returns for each layer a label of everything before it: layers with equal labels
        compute the same."""
        content = self.content[EXACT]
        up = [-1] * len(self.layers)
        for position in self.order:
            up[position] = self.labels["up", content[position], self.fed(position, up)]
        return up

    def downward(self) -> list[int]:
        """Returns for each layer a label of everything behind it."""
        content = self.content[EXACT]
        down = [-1] * len(self.layers)
        for position in reversed(self.order):
            down[position] = self.labels["down", content[position], self.taken(position, down)]
        return down


def sides_of(first: Model, second: Model) -> tuple[Side, Side]:
    """Returns the data of the nets of two models for the matching."""
    labels = Labels(count().__next__)
    inferences = [(model, infer(model)) for model in (first, second)]
    one, other = (
        Side(inference.result, declarations_of(inference), model.weights, labels)
        for model, inference in inferences
    )
    return one, other


def digest(constant: Constant) -> bytes | None:
    """Returns a digest of the bytes of a constant, or of samples of a large one.

    None if the bytes are not available.
    """
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


def view_of(constant: Constant) -> memoryview | bytes | None:
    """Returns the bytes of a constant; None if they are not available."""
    weights = constant.weights
    if weights is None or not weights.holds(constant.offset, constant.size):
        return None
    return weights.view(constant.offset, constant.size)


def same_bytes(first: Constant, second: Constant) -> bool | None:
    """Whether two constants have the same bytes; None if one has none."""
    one, other = view_of(first), view_of(second)
    if one is None or other is None:
        return None
    return len(one) == len(other) and all(
        bytes(one[start : start + _CHUNK]) == bytes(other[start : start + _CHUNK])
        for start in range(0, len(one), _CHUNK)
    )
