"""IR208 to IR210: shapes that are possible and hardly meant: constants that hold a model to one size of a dimension, tensors that no memory holds."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault
from ..inference.result import BodyResult
from ..model.graph import Body, Finding, Layer
from ..ops import registry
from ..ops.tensors import Tensor
from ..rule_ids import HUGE_TENSOR, LITERAL_BATCH, PINNED_DIMENSION
from ..types import Dimension, PartialShape
from .base import Rule
from .context import Context

_CONST = ("const", "constant")


class LiteralBatch(Rule):
    """A Reshape holds the batch as a literal.

    ## What it does
    Reports a Reshape whose pattern is a constant that begins with a number, where the first dimension of what it reshapes is that of an input of the model and has this
    size, or any size.

    ## Why it matters
    The model works for this batch only: given another, the Reshape fails or mixes the items of the batch.

    ## What OpenVINO does
    Reads it in silence; `model.reshape` to another batch is then refused at some layer.

    ## Example
    ```xml
    <!-- the input is [1,3,224,224], the pattern [1, -1] -->
    <layer id="2" name="flatten" type="Reshape" version="opset1"><data special_zero="true"/>…</layer>
    ```

    ## How to fix it
    Write 0 in the place of the number (with `special_zero="true"`, it takes the dimension over), or -1 where no other entry of the pattern is.

    ## Use instead
    ```xml
    <!-- the input is [1,3,224,224], the pattern [0, -1] -->
    <layer id="2" name="flatten" type="Reshape" version="opset1"><data special_zero="true"/>…</layer>
    ```
    """

    id = LITERAL_BATCH

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers":
            return
        for layer, data, pattern, literal in _reshapes(context):
            if literal:
                message = f"the pattern {list(pattern)} holds the first dimension of {data.shape} as the literal {literal}: the model works for this batch only"
                hint = 'write 0 in its place, with special_zero="true"'
                yield Finding(
                    Fault(cls.id, message, expected="0 or -1", actual=str(literal), help=hint),
                    layer.offset,
                    layer,
                    port=("input", layer.inputs[1].id),
                )


class PinnedDimension(Rule):
    """A constant makes a dynamic dimension static.

    ## What it does
    In a model with dynamic inputs, reports a Reshape, a Broadcast or an operation that broadcasts (Add, Multiply …) where a dynamic dimension meets a constant of a fixed
    size, which only one size fits.

    ## Why it matters
    The input may have any size, it says, but only one can be run.

    ## What OpenVINO does
    Takes it in silence, and goes on with the static dimension; other sizes fail when the model is run.

    ## Example
    ```xml
    <!-- x is [?,?,64], the constant [10,64] -->
    <layer id="2" name="positions" type="Add" version="opset1">…</layer>
    ```

    ## How to fix it
    Work the size out (ShapeOf, Slice), or declare the input with the size that it can only have.
    """

    id = PINNED_DIMENSION

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers" or not _any_dynamic(context.inference.result):
            return
        for layer, data, pattern, literal in _reshapes(context):
            if not literal and min(pattern) > 0:
                yield from _pinned(
                    layer,
                    data.shape,
                    f"the pattern {list(pattern)}",
                    next(_dynamic(data.shape), None),
                )
        constants: dict[int, set[tuple[int, int] | None]] = {
            id(body): set() for body in context.bodies
        }
        for name in _CONST:
            for body, position in context.by_type.get(name, ()):
                constants[id(body)].add((position, 0))
        harmless: set[object] = set()
        for name, places in context.by_type.items():
            broadcast = name == "broadcast"
            if not broadcast and not _broadcasts(name):
                continue
            for body, position in places:
                row = context.wiring(body).sources[position]
                if constants[id(body)].isdisjoint(row):
                    continue
                result = context.results.get(id(body))
                if result is None:  # the body of a layer that takes none is not inferred
                    continue
                inputs = result.inputs.get(position)
                if inputs is None or len(inputs) < 2:
                    continue
                left, right = inputs[:2]
                key = (left and left.shape, right and right.shape, row[0] in constants[id(body)])
                if broadcast or key not in harmless:
                    found = list(_broadcast(context, body, position, left, right, broadcast))
                    if not found and not broadcast:
                        harmless.add(key)
                    yield from found


class HugeTensor(Rule):
    """A tensor is too large for any memory.

    ## What it does
    Reports an output of 2^40 elements or more, a million million. What lies behind it is not reported again.

    ## Why it matters
    The model cannot be run. A dimension has too many digits, or a product of sizes is not what was meant.

    ## What OpenVINO does
    Reads a dimension of 10^12 in silence, and fails for lack of memory when the model is run.

    ## Example
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="1000000000000,3" element_type="f32"/>
        <output><port id="0" precision="FP32" names="x"><dim>1000000000000</dim><dim>3</dim></port></output>
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

    id = HUGE_TENSOR

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for result in context.results.values():
            sizes = {
                shape: shape.size.low
                for shape in {tensor.shape for tensors in result.outputs for tensor in tensors}
            }
            if max(sizes.values(), default=0) < HUGE:
                continue
            layers = result.body.layers
            huge: set[int] = set()
            for position in result.wiring.order:
                layer = layers[position]
                for port, tensor in zip(layer.outputs, result.outputs[position], strict=False):
                    shape = tensor.shape
                    size = sizes[shape]
                    if size < HUGE:
                        continue
                    before = any(
                        source is not None and source[0] in huge
                        for source in result.wiring.sources[position]
                    )
                    huge.add(position)
                    if not before:
                        message = f"the tensor {shape} has {'' if shape.is_static else 'at least '}{size:.3g} elements, more than any memory holds"
                        hint = "correct the size, or declare the dimension as dynamic"
                        yield Finding(
                            Fault(
                                cls.id,
                                message,
                                expected=f"fewer than {HUGE} elements",
                                actual=str(size),
                                help=hint,
                            ),
                            port.offset,
                            layer,
                            port=("output", port.id),
                        )


HUGE = 1 << 40


def _broadcast(
    context: Context,
    body: Body,
    position: int,
    left: Tensor | None,
    right: Tensor | None,
    broadcast: bool,
) -> Iterator[Finding]:
    """A layer with two inputs, of which a Const feeds one."""
    if left is None or right is None:
        return
    layer = body.layers[position]
    if broadcast and (layer.attribute("mode") or "numpy").lower() not in ("numpy", "bidirectional"):
        return
    for constant, index, data in ((right, 1, left), *(() if broadcast else ((left, 0, right),))):
        if data.shape.is_static:
            continue
        source = context.wiring(body).sources[position][index]
        if source is None or body.layers[source[0]].type.lower() not in _CONST:
            continue
        sizes = (
            constant.value.exact
            if broadcast and constant.value is not None
            else constant.shape.static
        )
        if sizes is None or data.shape.dims is None:
            continue
        rank = len(data.shape.dims)
        axis = next(
            (
                axis
                for axis in _dynamic(data.shape)
                if axis - rank >= -len(sizes) and sizes[axis - rank] > 1
            ),
            None,
        )
        what = (
            f"the target shape {list(sizes)}"
            if broadcast
            else f"the constant '{body.layers[source[0]].name}' of shape {constant.shape}"
        )
        yield from _pinned(layer, data.shape, what, axis)


def _pinned(layer: Layer, shape: PartialShape, what: str, axis: int | None) -> Iterator[Finding]:
    if axis is not None:
        assert shape.dims is not None
        message = f"dimension {axis} of {shape} is dynamic, but {what} fits one size of it only"
        hint = "work the size out of the input's shape, or declare the input with the size that it can only have"
        yield Finding(
            Fault(
                PinnedDimension.id, message, expected=str(shape.dims[axis]), actual=what, help=hint
            ),
            layer.offset,
            layer,
        )


def _dynamic(shape: PartialShape) -> Iterator[int]:
    """The dynamic dimensions of a shape."""
    return (axis for axis, dim in enumerate(shape.dims or ()) if dim.is_dynamic)


def _any_dynamic(result: BodyResult) -> bool:
    """Whether an input of the model is dynamic."""
    parameters = (
        tensors
        for layer, tensors in zip(result.body.layers, result.outputs, strict=True)
        if layer.type.lower() == "parameter"
    )
    return any(not tensor.shape.is_static for tensors in parameters for tensor in tensors)


def _broadcasts(name: str) -> bool:
    """Whether the operation of a type broadcasts its inputs as NumPy does."""
    known = registry.versions(name)
    return bool(known) and "auto_broadcast" in known[-1].attributes


def _reshapes(context: Context) -> Iterator[tuple[Layer, Tensor, tuple[int, ...], int]]:
    """Each Reshape with a constant pattern: what it reshapes, the pattern, and the literal in it that stands for the batch, or 0."""
    batches: dict[int, list[frozenset[Dimension]]] = {}
    for body, position in context.by_type.get("reshape", ()):
        result = context.results.get(id(body))
        if result is None:
            continue
        inputs = result.inputs.get(position)
        row = context.wiring(body).sources[position]
        if inputs is None or len(inputs) != 2 or len(row) != 2:
            continue
        data, pattern = inputs
        source = row[1]
        if (
            data is None
            or pattern is None
            or pattern.value is None
            or source is None
            or body.layers[source[0]].type.lower() not in _CONST
        ):
            continue
        values = pattern.known
        if not values or data.shape.dims is None:
            continue
        literal = (
            values[0]
            if data.shape.dims and values[0] >= 1 and data.shape.dims[0].contains(values[0])
            else 0
        )
        if (
            literal and tuple(data.shape.dims) != values
        ):  # a Reshape to the same shape changes nothing
            if id(body) not in batches:
                batches[id(body)] = _batches(result)
            literal = (
                literal
                if row[0] is not None and data.shape.dims[0] in batches[id(body)][row[0][0]]
                else 0
            )
        else:
            literal = 0
        yield body.layers[position], data, values, literal


def _batches(result: BodyResult) -> list[frozenset[Dimension]]:
    """For each layer the first dimensions of the inputs that its data is worked out of; the sizes of shapes are no data."""
    layers, sources = result.body.layers, result.wiring.sources
    found: list[frozenset[Dimension]] = [frozenset()] * len(layers)
    for position in result.wiring.order:
        folded = layers[position].type.lower()
        if folded == "parameter":
            found[position] = frozenset(
                tensor.shape.dims[0] for tensor in result.outputs[position] if tensor.shape.dims
            )
        elif folded != "shapeof":
            behind = {
                found[source[0]]
                for source in sources[position]
                if source is not None and found[source[0]]
            }
            if behind:
                found[position] = (
                    next(iter(behind)) if len(behind) == 1 else frozenset().union(*behind)
                )
    return found
