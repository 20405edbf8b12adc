"""What older releases make of an operation: facts that stand on its declaration, beside `since`.

    differs = facts(
        inferred("2024.1", "a reduction over an axis that only execution knows", "infers any rank",
                 _reduced_axes),
    )

A fact holds for the releases before the one that it names: they refuse the layer, read and ignore
something of it, do not run it, or infer it otherwise. `when` recognises it in a layer, given what
the newest release infers. Measured, each by IRs that differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..element_types import DYNAMIC_TYPE
from ..releases import FIRST, Detail, parse_release
from ..shapes import UNBOUNDED, Dimension, PartialShape
from .tensors import Tensor

if TYPE_CHECKING:
    from ..model.graph import Layer

Kind = Literal["refused", "ignored", "not run", "inferred"]
"""What older releases do: refuse a layer, ignore something of it, refuse to run it on the CPU, or
infer it otherwise."""


class Site(NamedTuple):
    """A layer with what was inferred of it."""

    layer: Layer
    operation: type[Any] | None
    """The class of its operation; None where no opset holds it."""
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor, ...]
    outermost: bool
    """Whether the layer stands in the net, not in a body."""
    unused: tuple[int, ...]
    """The outputs that feed no layer."""
    feeds: tuple[Layer, ...]
    """The layers that an output feeds."""
    constant: tuple[bool, ...]
    """Of each input, whether it is the same in every run."""
    fed_by: tuple[Layer | None, ...]
    """What feeds each input."""
    measured: tuple[bool, ...]
    """Of each input, whether it has sizes of tensors as they are, which nothing computes with."""
    stored: tuple[bool, ...]
    """Of each input, whether it has elements of a variable as they are."""
    open_product: tuple[bool, ...]
    """Of each input, whether it has products of ReduceProd without upper bounds as they are."""
    computed_by: tuple[frozenset[str], ...]
    """Of each input, which of `BOUNDED_LATER` compute its elements, which only execution knows."""
    inner: Mapping[str, Any]
    """The results of its bodies, by tag."""
    entering: tuple[tuple[Tensor, Tensor, bool], ...]
    """What is given to a body as it is, what the body takes it for, and whether it is a state."""

    def shape(self, index: int) -> PartialShape | None:
        """The shape of an input; None where the layer lacks the input."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None else tensor.shape

    def rank(self, index: int) -> int | None:
        """The rank of an input; None where it is dynamic, or the layer lacks the input."""
        shape = self.shape(index)
        return None if shape is None else shape.rank

    def value(self, index: int) -> tuple[int | float, ...] | None:
        """The elements of an input; None where they are not all known."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None or tensor.value is None else tensor.value.exact

    def type_name(self, index: int = 0) -> str:
        """The element type of an input; empty where the layer lacks the input."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return "" if tensor is None else tensor.element_type.name

    def attribute(self, name: str) -> str:
        """The text of an attribute in small letters; empty where the layer lacks it."""
        return (self.layer.attribute(name) or "").lower()

    @property
    def output(self) -> PartialShape | None:
        """The shape of the first output."""
        return self.outputs[0].shape if self.outputs else None

    @property
    def since(self) -> int:
        """The opset of its version."""
        assert self.operation is not None
        return self.operation.since


BOUNDED_LATER: Final = frozenset(("Abs", "ReduceMax"))
"""Operations of whose results the oldest releases knew nothing before they ran."""

When = Callable[[Site], bool]
"""Whether a layer shows what a fact is about."""


class Difference(NamedTuple):
    """A fact about the releases before one."""

    kind: Kind
    detail: Detail
    when: When
    hides: str = ""
    """What else those releases refuse, and do not see in a layer behind this one."""


def facts(*differences: Difference) -> tuple[Difference, ...]:
    """The facts about an operation, for `differs`."""
    return differences


def refused(until: str, what: str, when: When) -> Difference:
    """What the releases before `until` refuse. what: a noun phrase."""
    return Difference("refused", Detail(parse_release(until), what), when)


def ignored(until: str, what: str, consequence: str, when: When, *, since: str = "") -> Difference:
    """What they read, from `since` on, and ignore in silence: their values are others."""
    detail = Detail(parse_release(until), what, _since(since), consequence)
    return Difference("ignored", detail, when)


def not_run(
    until: str, what: str, when: When, *, since: str = "", consequence: str = ""
) -> Difference:
    """What they read, from `since` on, and do not run on the CPU."""
    detail = Detail(parse_release(until), what, _since(since), consequence)
    return Difference("not run", detail, when)


def inferred(
    until: str, what: str, consequence: str, when: When, *, since: str = "", hides: str = ""
) -> Difference:
    """What they infer otherwise, from `since` on."""
    detail = Detail(parse_release(until), what, _since(since), consequence)
    return Difference("inferred", detail, when, hides)


def _since(text: str) -> tuple[int, int]:
    return parse_release(text) if text else FIRST


WIDER: Final = "infers a wider shape"
CRASHES: Final = "crashes when it runs it"

SQUEEZED: Final = "a Squeeze of an axis whose dimension is not 1"
EMPTY: Final = "an input or output of the model with a dimension of 0"
"""What older releases refuse, unless they infer less of it."""

_ANY_SIZE: Final = Dimension(0, UNBOUNDED)


def is_known(size: Dimension) -> bool:
    """Whether anything is known of a size."""
    return size != _ANY_SIZE


def both(one: Dimension, other: Dimension) -> Dimension:
    """The sizes that both allow; where there are none, those of the first."""
    return one.merge(other) or one


def dimensions(shape: PartialShape | None) -> tuple[Dimension, ...]:
    """Those of a shape; none of a dynamic rank."""
    return () if shape is None or shape.rank is None else tuple(shape)


# what several operations show


def of_version(opset: int) -> When:
    """Whether the layer is of the version that came with an opset."""
    return lambda site: site.since == opset


def typed(*names: str) -> When:
    """Whether the first input is of one of these element types."""
    return lambda site: site.type_name() in names


def ceil_torch(site: Site) -> bool:
    return site.attribute("rounding_type") == "ceil_torch"


def no_type_of_input(site: Site) -> bool:
    """Whether the element type of an input is not known."""
    return any(tensor is not None and tensor.element_type.is_dynamic for tensor in site.inputs)


def negative(index: int) -> When:
    """Whether the known value of an input has a negative element."""
    return lambda site: any(number < 0 for number in site.value(index) or ())


def no_type(site: Site) -> bool:
    """Whether the layer leaves the element type undefined, by no attribute or by that word.

    The word `dynamic` is read.
    """
    assert site.operation is not None
    return any(
        declared.default is DYNAMIC_TYPE
        and (site.layer.attribute(declared.name) or "undefined").lower() == "undefined"
        for declared in site.operation.attributes.values()
    ) and any(output.element_type.is_dynamic for output in site.outputs)


def read_for_zero(*indices: int) -> When:
    """Whether one of these inputs is a number of i4 or u4; older readers find 0 there."""
    return lambda site: any(
        site.type_name(index) in ("i4", "u4") and any(site.value(index) or ()) for index in indices
    )


def read_at_all(*indices: int) -> When:
    """Whether one of these inputs is a number of u2, u3 or u6."""
    return lambda site: any(
        site.type_name(index) in ("u2", "u3", "u6") and site.value(index) is not None
        for index in indices
    )


def result_of_i64(site: Site) -> bool:
    wide = bool(site.outputs) and site.outputs[0].element_type.name in ("i64", "u64")
    return wide and is_result(site)


def is_result(site: Site) -> bool:
    """Whether the model returns an output of the layer as it is."""
    return site.outermost and any(layer.type == "Result" for layer in site.feeds)


def of_scalar(site: Site) -> bool:
    return site.rank(0) == 0


def strings(site: Site) -> bool:
    return site.type_name() == "string"


def pdpd_shape(site: Site) -> bool:
    """Whether the result has another shape than the input that is broadcast to."""
    first = site.shape(1 if site.layer.type == "Select" else 0)
    output = site.output
    return (
        site.attribute("auto_broadcast") == "pdpd"
        and first is not None
        and output is not None
        and output != first
    )


def lower_bounds(site: Site) -> bool:
    """Whether an output has lower bounds from a computed value without upper bounds.

    With elements without upper bounds, OpenVINO of every release computes nothing.
    """
    target = site.inputs[1] if len(site.inputs) > 1 else None
    if target is None or target.value is None or not site.measured[1]:
        return False
    return any(
        low > 0 and high >= UNBOUNDED
        for low, high in zip(target.value.lower, target.value.upper, strict=True)
    ) and any(
        size.low > 0 and size.high >= UNBOUNDED
        for output in site.outputs
        for size in dimensions(output.shape)
    )


def shape_from(type_name: str) -> When:
    """Whether a shape is computed by an operation, and more is known of it than the data tells."""

    def recognise(site: Site) -> bool:
        output, data = dimensions(site.output), dimensions(site.shape(0))
        if len(site.computed_by) < 2 or type_name not in site.computed_by[1]:
            return False
        if site.attribute("mode") != "bidirectional":
            return any(map(is_known, output))
        beside = (Dimension(0, UNBOUNDED),) * (len(output) - len(data)) + data
        return any(is_known(size) and size != own for size, own in zip(output, beside, strict=True))

    return recognise


def unused_outputs(site: Site) -> bool:
    return bool(site.unused)
