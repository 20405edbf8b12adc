"""What older OpenVINO releases do differently. An operation declares it in `differs`.

    differs = facts(
        inferred("2024.1", "a reduction over an axis that is known only at run time",
                 "infers a dynamic rank", _reduced_axes),
    )

A difference names a release. Releases before it refuse the layer, ignore a part of it, do not run
it, or infer it differently. A function such as `_reduced_axes` recognises affected layers by
the types and shapes that the newest release infers. Each difference was measured with OpenVINO.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..element_types import DYNAMIC_TYPE
from ..releases import FIRST, Detail, parse_release
from ..shapes import UNBOUNDED, Dimension, PartialShape
from .kinds import Malformed
from .tensors import Tensor

if TYPE_CHECKING:
    from ..model.graph import Layer
    from ..model.wiring import Wiring

Kind = Literal["refused", "ignored", "not run", "inferred"]
"""The behaviour of older releases: they refuse a layer, ignore a part of it, do not run it on the
CPU, or infer it differently."""


_MOVING = {
    "Broadcast",
    "Concat",
    "Convert",
    "Gather",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "StridedSlice",
    "Transpose",
    "Unsqueeze",
    "VariadicSplit",
}
"""Operations that only copy elements of their first input (Concat: of all inputs)."""


class Surroundings:
    """The layers of a model or body by position, and what is known about their outputs."""

    def __init__(self, layers: list[Layer], wiring: Wiring) -> None:
        self.layers = layers
        self.wiring = wiring

    @cached_property
    def constant(self) -> set[int]:
        """The positions of the layers whose outputs are the same in every run."""
        constant: set[int] = set()
        layers, sources = self.layers, self.wiring.sources
        for position in self.wiring.order:
            feeding = sources[position]
            if layers[position].is_constant or (
                feeding and all(source is not None and source[0] in constant for source in feeding)
            ):
                constant.add(position)
        return constant

    @cached_property
    def measured(self) -> set[int]:
        """Positions of ShapeOf layers, and of layers that only copy elements of their outputs."""
        return self._passing("ShapeOf")

    @cached_property
    def stored(self) -> set[int]:
        """Positions of ReadValue layers, and of layers that only copy elements of their outputs."""
        return self._passing("ReadValue")

    def _passing(self, type_name: str) -> set[int]:
        """Returns positions of layers of this type, and of layers that only copy their elements."""
        passing: set[int] = set()
        sources = self.wiring.sources
        for position in self.wiring.order:
            layer = self.layers[position]
            moved = sources[position] if layer.type == "Concat" else sources[position][:1]
            if layer.type == type_name or (
                layer.type in _MOVING
                and any(source is not None and source[0] in passing for source in moved)
            ):
                passing.add(position)
        return passing


@dataclass(eq=False, slots=True)
class Site:
    """A layer with its inferred types, shapes and values, and the layers around it."""

    layer: Layer
    operation: type[Any] | None
    """The class of its operation; None if no opset contains it."""
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor, ...]
    outermost: bool
    """Whether the layer belongs to the model itself, not to a body."""
    position: int
    around: Surroundings
    entering: tuple[tuple[Tensor, Tensor, bool], ...]
    """For each unsliced input of a body: its tensor outside the body, its tensor inside the body,
    and whether a back edge updates it."""

    @property
    def feeding(self) -> list[int]:
        """The position of the layer that feeds each input; -1 if no layer feeds it."""
        sources = self.around.wiring.sources[self.position]
        return [-1 if each is None else each[0] for each in sources]

    @property
    def unused(self) -> list[int]:
        """The indices of the outputs that feed no layer."""
        taken = {user.output for user in self.around.wiring.users[self.position]}
        return [port for port in range(len(self.layer.outputs)) if port not in taken]

    @property
    def constant(self) -> list[bool]:
        """Whether each input has the same value in every run."""
        return [at in self.around.constant for at in self.feeding]

    def shape(self, index: int) -> PartialShape | None:
        """Returns the shape of an input; None where the layer does not have the input."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None else tensor.shape

    def rank(self, index: int) -> int | None:
        """Returns the rank of an input; None where the rank is dynamic or the input absent."""
        shape = self.shape(index)
        return None if shape is None else shape.rank

    def value(self, index: int) -> tuple[int | float, ...] | None:
        """Returns the elements of an input; None where they are not all known."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None or tensor.value is None else tensor.value.exact

    def type_name(self, index: int = 0) -> str:
        """Returns the element type of an input; empty where the layer does not have the input."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return "" if tensor is None else tensor.element_type.name

    def attribute(self, name: str) -> Any:
        """Returns the value of an attribute, given by its Python name, as the operation reads it.

        Returns None if the operation does not declare the attribute or cannot read its text, or if
        a required attribute is absent.
        """
        declared = None if self.operation is None else self.operation.attributes.get(name)
        text = None if declared is None else self.layer.attribute(declared.name)
        if declared is None or (text is None and declared.refused_when_absent):
            return None
        with suppress(Malformed):
            return declared.default if text is None else declared.read(text)
        return None

    @property
    def output(self) -> PartialShape | None:
        """The shape of the first output."""
        return self.outputs[0].shape if self.outputs else None

    @property
    def since(self) -> int:
        """The first opset of the operation's version."""
        assert self.operation is not None
        return self.operation.since


When = Callable[[Site], bool]
"""A function that returns whether a difference applies to a layer."""


class Difference(NamedTuple):
    """How releases before a certain release treat some layers differently."""

    kind: Kind
    detail: Detail
    when: When
    hides: str = ""
    """A fault, e.g. `EMPTY`, that the releases refuse elsewhere. Because of this difference, they
    infer too little to detect the fault in this layer and in layers after it."""


def facts(*differences: Difference) -> tuple[Difference, ...]:
    """Returns the differences as the value of an operation's `differs`."""
    return differences


def refused(until: str, what: str, when: When) -> Difference:
    """Declares that releases before `until` refuse a layer, which `what` describes in words."""
    return Difference("refused", Detail(parse_release(until), what), when)


def ignored(until: str, what: str, consequence: str, when: When, *, since: str = "") -> Difference:
    """Declares that releases from `since` on, but before `until`, ignore a part of a layer.

    These releases read the layer without an error and compute other values.
    """
    detail = Detail(parse_release(until), what, _since(since), consequence)
    return Difference("ignored", detail, when)


def not_run(
    until: str, what: str, when: When, *, since: str = "", consequence: str = ""
) -> Difference:
    """Declares that releases from `since` on, but before `until`, do not run a layer on the CPU."""
    detail = Detail(parse_release(until), what, _since(since), consequence)
    return Difference("not run", detail, when)


def inferred(
    until: str, what: str, consequence: str, when: When, *, since: str = "", hides: str = ""
) -> Difference:
    """Declares that releases from `since` on, but before `until`, infer a layer differently."""
    detail = Detail(parse_release(until), what, _since(since), consequence)
    return Difference("inferred", detail, when, hides)


def _since(text: str) -> tuple[int, int]:
    return parse_release(text) if text else FIRST


CRASHES: Final = "crashes when it runs the layer"

SQUEEZED: Final = "a Squeeze of an axis whose dimension is not 1"
EMPTY: Final = "an input or output of the model with a dimension of 0"
"""Older releases refuse a model with such an input or output if they infer the dimension."""


def dimensions(shape: PartialShape | None) -> tuple[Dimension, ...]:
    """Returns the dimensions of a shape; an empty tuple for a dynamic rank."""
    return () if shape is None or shape.rank is None else tuple(shape)


# conditions that several operations share


def of_version(opset: int) -> When:
    """Returns a condition: that this opset introduced the version of the layer's operation."""
    return lambda site: site.since == opset


def ceil_torch(site: Site) -> bool:
    return site.attribute("rounding_type") == "ceil_torch"


def no_type(site: Site) -> bool:
    """Returns whether the attribute for the layer's element type is absent or `undefined`.

    Older releases read only `dynamic`.
    """
    assert site.operation is not None
    return any(
        declared.default is DYNAMIC_TYPE
        and (site.layer.attribute(declared.name) or "undefined").lower() == "undefined"
        for declared in site.operation.attributes.values()
    ) and any(output.element_type.is_dynamic for output in site.outputs)


def of_scalar(site: Site) -> bool:
    return site.rank(0) == 0


def lower_bounds(site: Site) -> bool:
    """Returns whether a dimension gets its lower bound from a size without an upper bound.

    No OpenVINO release computes bounds of values without upper bounds.
    """
    target = site.inputs[1] if len(site.inputs) > 1 else None
    if target is None or target.value is None or site.feeding[1] not in site.around.measured:
        return False
    return any(
        low > 0 and high >= UNBOUNDED
        for low, high in zip(target.value.lower, target.value.upper, strict=True)
    ) and any(
        size.low > 0 and size.high >= UNBOUNDED
        for output in site.outputs
        for size in dimensions(output.shape)
    )


NO_LOWER_BOUNDS: Final = inferred(
    "2024.5",
    "a target shape computed from sizes without upper bounds",
    "infers no lower bounds",
    lower_bounds,
)
