"""IR208 to IR212: shapes and indices that OpenVINO accepts but that are probably a mistake.

The rules report constants that allow only one size of a dimension, tensors that are too large for
any memory, and indices past the end of a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from math import inf, prod
from typing import NamedTuple

from ..inference.result import BodyResult
from ..model.graph import Body, Finding, Layer
from ..model.ports import Port
from ..model.wiring import OutputRef
from ..ops import registry
from ..ops.axes import single
from ..ops.tensors import Tensor
from ..shapes import UNBOUNDED, Dimension, PartialShape
from ..spelling import counted, with_noun
from .base import Rule
from .context import Context


class LiteralBatch(Rule):
    """A constant in a Reshape fixes the batch size.

    ## What it does
    Reports a Reshape whose target shape is a constant that begins with the batch size, not with 0
    or -1. irshape assumes that the first number is the batch size if the data has the same first
    dimension as an input, and this dimension can have this size.

    ## Why it matters
    The model works only for this batch size. With another size, the Reshape fails or mixes the
    items of the batch.

    ## What OpenVINO does
    Reads it silently. `model.reshape` to another batch mixes the items, or fails at a later layer.

    ## Example
    ```xml
    <!-- the input is [1,3,224,224], the target shape [1, -1] -->
    <layer id="2" name="flatten" type="Reshape" version="opset1">
        <data special_zero="true"/>…
    </layer>
    ```

    ## How to fix it
    Write 0 in place of the number (with `special_zero="true"`, 0 keeps the dimension of the data),
    or -1 if no other entry of the target shape is -1.

    ## Use instead
    ```xml
    <!-- the input is [1,3,224,224], the target shape [0, -1] -->
    <layer id="2" name="flatten" type="Reshape" version="opset1">
        <data special_zero="true"/>…
    </layer>
    ```
    """

    of_nets = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, data, pattern, literal in context.shared(reshapes):
            if literal:
                yield cls.finding(
                    f"the target shape {list(pattern)} fixes the first dimension of {data} to "
                    f"{literal}: the model works only for this batch size",
                    layer,
                    port=("input", layer.inputs[1].id),
                    expected="0 or -1",
                    actual=str(literal),
                    help='write 0 in its place, with special_zero="true"',
                )


class PinnedDimension(Rule):
    """A constant makes a dynamic dimension static.

    ## What it does
    In a model with dynamic inputs, reports a Reshape of a dynamic tensor whose target shape is a
    constant without 0 and -1. Also reports a Broadcast or an operation that broadcasts (Add,
    Multiply …) if its constant allows only one size of a dynamic dimension, besides 1.

    ## Why it matters
    The input declares that it accepts any size, but the model does not run with every size.

    ## What OpenVINO does
    Silently continues with the static dimension. Sizes that do not fit fail when the model is run.

    ## Example
    ```xml
    <!-- x is [?,?,64], the constant [10,64] -->
    <layer id="2" name="positions" type="Add" version="opset1">…</layer>
    ```

    ## How to fix it
    Compute the constant from the shape of the input (ShapeOf, Slice), or declare the input with a
    size that fits.
    """

    of_nets = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if not _any_dynamic(context):
            return
        for layer, data, pattern, literal in context.shared(reshapes):
            if not literal and min(pattern) > 0:
                axes, what = list(_dynamic(data)), f"the target shape {list(pattern)}"
                fits = "only one size fits" if len(axes) == 1 else "only few sizes fit"
                yield from cls._pinned(layer, data, what, next(iter(axes), None), fits)
        yield from cls._broadcasts(context)

    @classmethod
    def _broadcasts(cls, context: Context) -> Iterator[Finding]:
        """Yields findings about layers that broadcast a dynamic tensor with a constant."""
        for name in context.by_type:
            broadcast = name == "broadcast"
            if not broadcast and not _broadcasts(name):
                continue
            for body, position in context.by_type[name]:
                result = context.results.get(body)
                if result is None:  # a body is not inferred if its layer should have none
                    continue
                inputs = result.inputs.get(position)
                if inputs is None or len(inputs) < 2:
                    continue
                left, right = inputs[:2]
                if left is None or right is None or left.shape.is_static is right.shape.is_static:
                    continue
                row = context.wiring(body).sources[position]
                first, second = (
                    source is not None and body.layers[source[0]].is_constant for source in row[:2]
                )
                if second:
                    yield from cls._against(body, position, left, right, row[1], broadcast)
                if first and not broadcast:
                    yield from cls._against(body, position, right, left, row[0], broadcast)

    @classmethod
    def _against(
        cls,
        body: Body,
        position: int,
        data: Tensor,
        constant: Tensor,
        source: OutputRef | None,
        broadcast: bool,
    ) -> Iterator[Finding]:
        """Yields a finding if a constant allows only one size, besides 1, of a dynamic dimension.
        broadcast: whether the constant is the target shape of a Broadcast."""
        layer = body.layers[position]
        if source is None or data.shape.is_static or data.shape.dims is None:
            return
        if broadcast:
            if (layer.attribute("mode") or "numpy").lower() not in ("numpy", "bidirectional"):
                return
            value = constant.value
            sizes = constant.shape.static if value is None else value.exact
            what = f"the target shape {list(sizes or ())}"
        else:
            sizes = constant.shape.static
            what = f"the constant '{body.layers[source[0]].name}' of shape {constant.shape}"
        if sizes is None:
            return
        rank = len(data.shape.dims)
        fitting = (
            axis
            for axis in _dynamic(data.shape)
            if axis - rank >= -len(sizes) and sizes[axis - rank] > 1
        )
        axis = next(fitting, None)
        fits = "" if axis is None else f"only 1 and {sizes[axis - rank]} fit"
        yield from cls._pinned(layer, data.shape, what, axis, fits)

    @classmethod
    def _pinned(
        cls, layer: Layer, shape: PartialShape, what: str, axis: int | None, fits: str
    ) -> Iterator[Finding]:
        if axis is None or shape.dims is None:
            return
        yield cls.finding(
            f"dimension {axis} of {shape} is dynamic, but {fits} {what}",
            layer,
            expected=str(shape.dims[axis]),
            actual=what,
            help="compute the size from the shape of the input, or declare the input with a size "
            "that fits",
        )


class HugeTensor(Rule):
    """A tensor is too large for any memory.

    ## What it does
    Reports an output of 2^40 (about 10^12) elements or more. Leaves out outputs that are computed
    from a reported output. With `max-tensor` in the policy, for example `"1GiB"`, the rule instead
    reports an error if outputs may take more bytes: the largest output, and the number of such
    outputs. For this limit, the rule computes sizes from the upper bounds of the inputs, as
    `irshape infer --symbols` does, or else from the upper bound of each dimension. An unbounded
    dimension counts as 1, and an info names the first output with such a dimension.

    ## Why it matters
    The model cannot be run. Often a dimension has too many digits, or a shape is computed wrongly.

    ## What OpenVINO does
    Reads a dimension of 10^12 silently. It runs out of memory when it compiles or runs the model.

    ## Example
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="1000000000000,3" element_type="f32"/>
        <output>
            <port id="0" precision="FP32" names="x"><dim>1000000000000</dim><dim>3</dim></port>
        </output>
    </layer>
    ```

    ## How to fix it
    Correct the size, or declare the dimension as dynamic.

    ## Use instead
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="100,3" element_type="f32"/>
        <output><port id="0" precision="FP32" names="x"><dim>100</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        limit = context.settings.limit("max_tensor")
        if limit is not None:
            yield from cls._over(context, limit)
            return
        for result in context.results.values():
            yield from cls._huge(result)

    @classmethod
    def _over(cls, context: Context, limit: int) -> Iterator[Finding]:
        """Yields at most two findings: on the largest tensor that may take more than `limit` bytes,
        and on the first tensor whose size has no upper bound."""
        sized = [(*each, _most_bytes(each[2])) for each in context.outputs()]
        unbounded = [each for each in sized if _is_unbounded(each[2].shape)]
        over = [each for each in sized if each[3] > limit]
        if context.model.kind == "net" and not all(each[2].shape.is_static for each in over):
            over = [each for each in _sized_by_names(context) if each[3] > limit]
        if over:
            layer, port, tensor, size = max(over, key=lambda each: each[3])
            shape = tensor.shape
            takes = "takes" if shape.is_static else "may take"
            note = "; unbounded dimensions count as 1" if _is_unbounded(shape) else ""
            others = f"; {len(over)} tensors exceed the limit" if len(over) > 1 else ""
            yield cls.finding(
                f"the tensor {shape} {takes} {counted(size, 'byte')}, but the policy allows "
                f"{limit:,}{others}{note}",
                port,
                layer,
                severity="error",
                expected=f"at most {with_noun(limit, 'byte')}",
                actual=str(size),
                help="reduce the sizes from which its shape is computed, or raise max-tensor in "
                "the policy",
            )
        if unbounded:
            layer, port, tensor, _ = unbounded[0]
            yield cls.finding(
                f"{counted(len(unbounded), 'tensor')} of unbounded size, of which the first is "
                f"{tensor.shape}; max-tensor counts an unbounded dimension as 1",
                port,
                layer,
                severity="info",
                expected=f"at most {with_noun(limit, 'byte')}",
                actual="unbounded",
                help="give upper bounds to the dimensions that `irshape explain` calls unbounded",
            )

    @classmethod
    def _huge(cls, result: BodyResult) -> Iterator[Finding]:
        """Yields findings about tensors of `HUGE` elements or more. Tensors computed from them are
        left out."""
        huge = {
            position
            for position, tensors in enumerate(result.outputs)
            if any(tensor.shape.size.low >= HUGE for tensor in tensors)
        }
        for position in huge:
            sources = result.wiring.sources[position]
            if any(source is not None and source[0] in huge for source in sources):
                continue
            layer, tensors = result.body.layers[position], result.outputs[position]
            for port, tensor in zip(layer.outputs, tensors, strict=False):
                size = tensor.shape.size.low
                if size >= HUGE:
                    least = "" if tensor.shape.is_static else "at least "
                    yield cls.finding(
                        f"the tensor {tensor.shape} has {least}{size:.3g} elements, more than any "
                        "memory holds",
                        port,
                        layer,
                        expected=f"fewer than {HUGE} elements",
                        actual=str(size),
                        help="correct the size, or declare the dimension as dynamic",
                    )


STRING_BITS = 256
"""The bits of memory for each string, without its characters: a `std::string` has 32 bytes."""
HUGE = 1 << 40
"""A tensor with at least this number of elements fits into no memory."""


def _most_bytes(tensor: Tensor, most: float = inf) -> int:
    """Returns the largest number of bytes that a tensor can take, without characters of strings. An
    unbounded dimension counts as 1.

    most: an upper bound on the number of elements of the tensor.
    """
    if tensor.shape.dims is None:
        return 0
    sizes = [1 if dim.high == UNBOUNDED else dim.high for dim in tensor.shape.dims]
    kind = tensor.element_type
    bits = STRING_BITS if kind.name == "string" else kind.bits
    return (int(min(prod(sizes), most)) * bits + 7) // 8


def _sized_by_names(context: Context) -> Iterator[tuple[Layer, Port, Tensor, int]]:
    """Yields every output port, its tensor, and the tensor's largest size in bytes. Computes the
    size from the sizes of the inputs if possible, otherwise from the bounds of each dimension."""
    from ..inference.symbolic import infer_symbolic
    from ..symbols.expressions import TooLarge

    result, sizes = infer_symbolic(context.model, {}, {}, known=context.inference, sure=True)
    named = {
        (layer, index): (tensor.shape, dims)
        for part in result.walk()
        for layer, *rows in zip(part.body.layers, part.outputs, part.expressions or (), strict=True)
        for index, (tensor, dims) in enumerate(zip(*rows, strict=True))
    }
    for layer, port, plain in context.outputs():
        shape, dims = named.get((layer, layer.outputs.index(port)), (plain.shape, None))
        both = plain.shape.merge(shape)
        tensor = Tensor(plain.element_type, plain.shape if both is None else both)
        most = inf
        if dims and None not in dims:
            with suppress(TooLarge):
                most = sizes.facts.range(prod(dims, start=sizes.facts.number(1)))[1]
        yield layer, port, tensor, _most_bytes(tensor, most)


def _is_unbounded(shape: PartialShape) -> bool:
    """Returns whether a shape has a dynamic rank, or a dimension without an upper bound."""
    return shape.dims is None or any(dim.high == UNBOUNDED for dim in shape.dims)


def _dynamic(shape: PartialShape) -> Iterator[int]:
    """Returns the axes of the dynamic dimensions of a shape."""
    return (axis for axis, dim in enumerate(shape.dims or ()) if dim.is_dynamic)


def _any_dynamic(context: Context) -> bool:
    """Returns whether an input of the model is dynamic."""
    result = context.inference.result
    return any(
        not tensor.shape.is_static
        for body, position in context.by_type.get("parameter", ())
        if body is result.body
        for tensor in result.outputs[position]
    )


def _broadcasts(name: str) -> bool:
    """Returns whether the operation of a type broadcasts its inputs as NumPy does."""
    known = registry.versions(name)
    return bool(known) and "auto_broadcast" in known[-1].attributes


class IndexOutOfRange(Rule):
    """A Gather reads elements beyond the end of its data.

    ## What it does
    Reports a Gather if irshape knows that one of its indices is out of range. The index is a
    constant, or computed from a size, e.g. position 511 of a sequence of 512 tokens in a table of
    256 rows.

    ## Why it matters
    The table is too small for the indices, for example for the length of the sequence.

    ## What OpenVINO does
    Silently uses zeros in place of these elements.

    ## Example
    ```xml
    <!-- data is [256,64], indices [300] -->
    <layer id="3" name="positions" type="Gather" version="opset8">…</layer>
    ```

    ## How to fix it
    Correct the indices, enlarge the table, or give the input a smaller size.
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body, position in context.by_type.get("gather", ()):
            result = context.results.get(body)
            inputs = result.inputs.get(position, ()) if result is not None else ()
            given = [each for each in inputs if each is not None]
            if len(given) != 3:
                continue
            data, indices, axis = given
            dims, along, numbers = data.shape.dims, single(axis), indices.value
            if not dims or along is None or numbers is None or not -len(dims) <= along < len(dims):
                continue
            size = dims[along]
            extremes = max(numbers.lower, default=0), min(numbers.upper, default=0)
            wrong = next((each for each in extremes if not -size.high <= each < size.high), None)
            if wrong is None:
                continue
            layer = body.layers[position]
            yield cls.finding(
                f"the index {wrong} is out of range: axis {along} of the data {data.shape} has "
                f"{with_noun(size, 'element')}; OpenVINO silently uses zeros",
                layer,
                port=("input", layer.inputs[1].id),
                expected=f"{-size.high} to {size.high - 1}",
                actual=str(wrong),
                help="correct the indices, enlarge the data, or make the input smaller",
            )


class Reshape(NamedTuple):
    """A Reshape whose target shape (`pattern`) is a constant."""

    layer: Layer
    data: PartialShape
    pattern: tuple[int, ...]
    literal: int
    """The first number of the target shape if it is the batch size; otherwise 0."""


def reshapes(context: Context) -> list[Reshape]:
    """Returns each Reshape whose target shape is a constant."""
    batches: dict[Body, list[frozenset[Dimension]]] = {}
    patterns = []
    for body, position in context.by_type.get("reshape", ()):
        result = context.results.get(body)
        if result is None:
            continue
        inputs = result.inputs.get(position)
        row = result.wiring.sources[position]
        if inputs is None or len(inputs) != 2 or len(row) != 2 or row[1] is None:
            continue
        data, pattern = inputs
        if data is None or pattern is None or not body.layers[row[1][0]].is_constant:
            continue
        values = pattern.known if pattern.value is not None else None
        dims = data.shape.dims
        if not values or dims is None:
            continue
        literal = 0
        same = data.shape.static == values  # a Reshape to the same shape changes nothing
        if dims and values[0] >= 1 and dims[0].contains(values[0]) and not same:
            if body not in batches:
                batches[body] = _batches(result)
            if row[0] is not None and dims[0] in batches[body][row[0][0]]:
                literal = values[0]
        patterns.append(Reshape(body.layers[position], data.shape, values, literal))
    return patterns


def _batches(result: BodyResult) -> list[frozenset[Dimension]]:
    """Returns for each layer the first dimensions of the inputs on which the layer depends.

    Leaves out inputs of which the layer uses only the sizes (ShapeOf), not the values.
    """
    layers, sources = result.body.layers, result.wiring.sources
    batches = [frozenset[Dimension]()] * len(layers)
    for position in result.wiring.order:
        layer = layers[position]
        if layer.is_parameter:
            shapes = [tensor.shape for tensor in result.outputs[position]]
            batches[position] = frozenset(shape.dims[0] for shape in shapes if shape.dims)
        elif layer.folded_type != "shapeof":
            behind = [batches[source[0]] for source in sources[position] if source is not None]
            batches[position] = frozenset[Dimension]().union(*behind)
    return batches
