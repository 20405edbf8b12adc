"""IR2xx: what ports declare, held against what is inferred, and against each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..faults import Fault
from ..inference.literals import parse_value
from ..inference.ports import declared
from ..inference.result import BodyResult, Mismatch
from ..model.graph import Finding, Layer
from ..ops.tensors import Tensor
from ..rule_ids import (
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    LOOSER_DECLARATION,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNPROVEN_DIMENSION,
    VALUE_MISMATCH,
)
from ..types import PartialShape
from .base import Rule
from .context import Context


class OutputShapeMismatch(Rule):
    """An output port declares a shape that the layer cannot have.

    ## What it does
    Holds the `<dim>`s of every output port against what follows from the operation, its attributes and its inputs, inside bodies too. What lies behind such a port is held
    against what the port declares, so that one mistake is reported once.

    ## Why it matters
    The file contradicts itself. Tools that trust the ports, and people who read them, go on from a wrong shape.

    ## What OpenVINO does
    Ignores what output ports declare and infers the shapes itself, in silence.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
        <input>
            <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
            <port id="1" precision="I64"><dim>1</dim></port>   <!-- value is [1] -->
        </input>
        <output><port id="2" precision="FP32"><dim>2</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Declare what is inferred; or, where the declared shape is the one that was meant, correct the attributes or the inputs.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
        <input>
            <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
            <port id="1" precision="I64"><dim>1</dim></port>   <!-- value is [1] -->
        </input>
        <output><port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port></output>
    </layer>
    ```
    """

    id = OUTPUT_SHAPE_MISMATCH

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        unsure = _unsure(context.inference.result)
        written = context.model.format.ports_as_written
        for layer, found in context.met(Mismatch):
            if id(layer) in context.doubtful:
                continue
            port = layer.outputs[found.position]
            given, inferred = found.declared, found.inferred
            if (
                id(layer) not in context.mistyped
                and not given.element_type.is_dynamic
                and not inferred.element_type.is_dynamic
                and given.element_type is not inferred.element_type
            ):
                kind = inferred.element_type
                hint = f'write precision="{kind.precision}"; OpenVINO ignores what stands here and goes on with {kind}'
                yield Finding(
                    Fault(
                        OutputTypeMismatch.id,
                        f"declared precision {port.precision}, inferred {kind.precision}"
                        if written
                        else f"declared {given.element_type}, inferred {kind}",
                        expected=kind.precision if written else str(kind),
                        actual=port.precision if written else str(given.element_type),
                        help=hint
                        if written
                        else f"declare {kind}, or convert what the node is given",
                    ),
                    context.model.source.attribute(port.offset, "precision"),
                    layer,
                    port=("output", port.id),
                )
            if given.shape == inferred.shape or port.dims is None:
                continue
            expected, actual = str(inferred.shape), str(given.shape)
            where = ("output", port.id)
            declare = f"declare {_dims(inferred.shape) if written else expected}"
            if not given.shape.compatible(inferred.shape):
                message = (
                    f"declared {actual}, inferred {expected}{_reason(given.shape, inferred.shape)}"
                )
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected=expected,
                        actual=actual,
                        help=f"{declare}, or correct what the layer is given",
                    ),
                    port.offset,
                    layer,
                    port=where,
                )
            elif id(layer) in unsure:
                continue
            elif not given.shape.encloses(_as_port(inferred.shape)):
                message = f"declared {actual}, but only {expected} can be inferred: nothing in the file makes the dimension static"
                severity: Literal["info"] | None = (
                    None if written else "info"
                )  # elsewhere a declared shape is a promise of the exporter
                yield Finding(
                    Fault(
                        UnprovenDimension.id,
                        message,
                        expected=expected,
                        actual=actual,
                        help=declare,
                        severity=severity,
                    ),
                    port.offset,
                    layer,
                    port=where,
                )
            elif layer.type.lower() not in ("parameter", "readvalue") and _as_port(
                given.shape
            ) != _as_port(inferred.shape):
                message = f"declared {actual}, though {expected} is certain"
                yield Finding(
                    Fault(
                        LooserDeclaration.id,
                        message,
                        expected=expected,
                        actual=actual,
                        help=declare,
                    ),
                    port.offset,
                    layer,
                    port=where,
                )


def _unsure(result: BodyResult) -> set[int]:
    found = {id(result.body.layers[position]) for position in result.unsure}
    for inner in result.inner.values():
        for body in inner.values():
            found |= _unsure(body)
    return found


def _as_port(shape: PartialShape) -> PartialShape:
    """The shape as a port can say it: a dimension is one size, or -1."""
    return (
        shape
        if shape.dims is None
        else PartialShape(dim if dim.is_static else -1 for dim in shape.dims)
    )


def _dims(shape: PartialShape) -> str:
    return (
        "no <dim> at all"
        if not shape.dims
        else "".join(f"<dim>{dim if dim.is_static else -1}</dim>" for dim in shape.dims[:8])
        + ("…" if len(shape.dims) > 8 else "")
    )


def _reason(given: PartialShape, inferred: PartialShape) -> str:
    if given.dims is None or inferred.dims is None:
        return ""
    if len(given.dims) != len(inferred.dims):
        return f": rank {len(given.dims)} instead of {len(inferred.dims)}"
    wrong = [
        i
        for i, (a, b) in enumerate(zip(given.dims, inferred.dims, strict=True))
        if not a.compatible(b)
    ]
    return (
        f": dimension {wrong[0]} is {inferred.dims[wrong[0]]}, not {given.dims[wrong[0]]}"
        if len(wrong) == 1 and len(given.dims) > 1
        else ""
    )


class OutputTypeMismatch(Rule):
    """An output port declares an element type that the layer cannot have.

    ## What it does
    Holds the `precision` of every output port against the element type that follows from the operation and its inputs.

    ## Why it matters
    The file contradicts itself. Often a part of the model was converted to another type and its ports were not.

    ## What OpenVINO does
    Ignores what output ports declare, in silence, as long as it is the name of a type.

    ## Example
    ```xml
    <output>
        <port id="2" precision="I32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```

    ## How to fix it
    Declare what is inferred; or, where the declared type is the one that was meant, insert a Convert.

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    id = OUTPUT_TYPE_MISMATCH


class UnprovenDimension(Rule):
    """An output port declares a size that nothing in the file makes certain.

    ## What it does
    Reports a port with a static dimension where inference finds a dynamic one that may have this size, but need not.

    ## Why it matters
    The layer may put out another size than the file says. Often an input was made dynamic and the ports behind it were not.

    ## What OpenVINO does
    Ignores what output ports declare, in silence; it goes on with the dynamic dimension.

    ## Example
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Declare the dimension as -1, or make the input static.

    ## Use instead
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>-1</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    id = UNPROVEN_DIMENSION


class LooserDeclaration(Rule):
    """An output port declares less than is certain.

    ## What it does
    Reports a port with a dynamic dimension where inference finds its size.

    ## Why it matters
    The file is right, but says less than it could. It shows that the ports are not those of the shapes that the model has now.

    ## What OpenVINO does
    Ignores what output ports declare; it goes on with the size.

    ## Example
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>-1</dim><dim>3</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Declare the size, or leave it as it is.

    ## Use instead
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    id = LOOSER_DECLARATION


class InputMismatch(Rule):
    """An input port declares something other than the port that feeds it.

    ## What it does
    Holds the `<dim>`s of every input port against those of the output port at the other end of its edge. Where that port itself is wrong, only that is reported.

    ## Why it matters
    The file says two things about one tensor. Often an edge comes from another layer than was meant.

    ## What OpenVINO does
    Ignores what input ports declare, in silence.

    ## Example
    ```xml
    <!-- fed by a port of [2,3] -->
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>4</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```

    ## How to fix it
    Declare what feeds the port; or, where the declared shape is the one that was meant, connect the layer that has it.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```
    """

    id = INPUT_MISMATCH

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers":
            return
        reported = {(id(layer), found.position) for layer, found in context.met(Mismatch)}
        for body in context.bodies:
            sources, _, cyclic = context.wiring(body)
            for position, row in enumerate(sources):
                layer = body.layers[position]
                for port, source in zip(layer.inputs, row, strict=True):
                    if source is None:
                        continue
                    producer = body.layers[source[0]]
                    feeding = producer.outputs[source[1]]
                    if port.dims == feeding.dims and (
                        port.precision == feeding.precision or port.precision is None
                    ):
                        continue
                    if port.dims == () and port.precision is None:
                        continue  # it says nothing at all
                    if (id(producer), source[1]) in reported or (
                        cyclic and position in cyclic and source[0] in cyclic
                    ):
                        continue  # the producer is wrong, or one of the edges between the two, and has been reported
                    yield from _held(
                        context,
                        layer,
                        producer,
                        declared(port),
                        declared(feeding),
                        port.offset,
                        port.id,
                        port.dims,
                        feeding.dims,
                    )


def _held(
    context: Context,
    layer: Layer,
    producer: Layer,
    here: Tensor,
    there: Tensor,
    offset: int,
    port: str,
    dims: tuple[int, ...] | None,
    fed: tuple[int, ...] | None,
) -> Iterator[Finding]:
    where = ("input", port)
    if (
        not here.element_type.is_dynamic
        and not there.element_type.is_dynamic
        and here.element_type is not there.element_type
    ):
        message = f"input port {port} declares precision {here.element_type.precision}, but {producer.type} '{producer.name}' (id {producer.id}) feeds it {there.element_type.precision}"
        place = context.model.source.attribute(offset, "precision")
        yield Finding(
            Fault(
                InputTypeMismatch.id,
                message,
                expected=there.element_type.precision,
                actual=here.element_type.precision,
                help="declare what feeds the port, or connect another layer",
            ),
            place,
            layer,
            port=where,
        )
    if dims == fed or dims is None or fed is None:
        return
    # a port without <dim> is a scalar or of dynamic rank: nothing to hold against
    if bool(dims) != bool(fed):
        scalar = not dims
        message = f"input port {port} declares {'no dimensions' if scalar else here.shape}, but {producer.type} '{producer.name}' (id {producer.id}) declares {there.shape if fed else 'none'}"
    elif not here.shape.compatible(there.shape):
        message = f"input port {port} declares {here.shape}, but {producer.type} '{producer.name}' (id {producer.id}) feeds it {there.shape}"
    else:
        message = f"input port {port} declares {here.shape}, though {producer.type} '{producer.name}' (id {producer.id}) declares {there.shape}"
    yield Finding(
        Fault(
            InputMismatch.id,
            message,
            expected=str(there.shape) if fed else "no dimensions",
            actual=str(here.shape) if dims else "no dimensions",
            help="declare what feeds the port, or connect another layer",
        ),
        offset,
        layer,
        port=where,
    )


class InputTypeMismatch(Rule):
    """An input port declares a precision other than that of the port that feeds it.

    ## What it does
    Holds the `precision` of every input port that has one against that of the output port at the other end of its edge.

    ## Why it matters
    The file says two things about one tensor. Often an edge comes from another layer than was meant, or a Convert was removed.

    ## What OpenVINO does
    Ignores what input ports declare, in silence.

    ## Example
    ```xml
    <!-- fed by a port of FP32 -->
    <input>
        <port id="0" precision="FP16"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```

    ## How to fix it
    Declare what feeds the port; or, where the declared type is the one that was meant, insert a Convert.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```
    """

    id = INPUT_TYPE_MISMATCH


class ValueMismatch(Rule):
    """The value given for an input of a layer on its own has another number of elements than its port declares.

    ## What it does
    In a file of layers on their own, where a comment beside a port gives its value, holds the number of values against the dimensions of the port.

    ## Why it matters
    One of the two is wrong, and what is inferred from them with it.

    ## What OpenVINO does
    Does not read layers on their own.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
        <input>
            <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
            <port id="1" precision="I64"><dim>1</dim></port>   <!-- value is [0, 1] -->
        </input>
        <output><port id="2" precision="FP32"><dim>1</dim><dim>1</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Correct the port or the value.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true"/>
        <input>
            <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
            <port id="1" precision="I64"><dim>2</dim></port>   <!-- value is [0, 1] -->
        </input>
        <output><port id="2" precision="FP32"><dim>1</dim><dim>1</dim></port></output>
    </layer>
    ```
    """

    id = VALUE_MISMATCH

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind != "layers":
            return
        for layer in context.model.layers:
            for port in layer.inputs:
                numbers = parse_value(port.value) if port.value is not None else None
                shape = PartialShape(port.dims) if port.dims else None
                if (
                    numbers is not None
                    and shape is not None
                    and shape.is_static
                    and shape.size != len(numbers)
                ):
                    message = f"input port {port.id} declares {shape}, but the value given for it, {port.value}, has {len(numbers)} element{'' if len(numbers) == 1 else 's'}"
                    yield Finding(
                        Fault(
                            cls.id,
                            message,
                            expected=str(shape),
                            actual=str(len(numbers)),
                            help="correct the port or the value",
                        ),
                        port.offset,
                        layer,
                        port=("input", port.id),
                    )
