"""IR2xx: declarations of input ports, compared with the outputs that feed them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from ..inference.literals import parse_value
from ..inference.ports import declared
from ..inference.result import Mismatch
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..shapes import PartialShape
from .base import Rule
from .context import Context


class InputDifference(NamedTuple):
    """An input port whose declaration differs from the output port that feeds it."""

    layer: Layer
    port: Port
    producer: Layer
    feeding: Port


def input_differences(context: Context) -> list[InputDifference]:
    """Returns input ports that differ from the outputs that feed them.

    Leaves out a port if another rule reports the cause of the difference.
    """
    differences: list[InputDifference] = []
    if context.model.kind == "layers":
        return differences
    reported = {(layer, mismatch.position) for layer, mismatch in context.observed(Mismatch)}
    for body in context.bodies:
        wiring, layers = context.wiring(body), body.layers
        for position, index in wiring.unlike:
            layer, source = layers[position], wiring.sources[position][index]
            assert source is not None
            port, producer = layer.inputs[index], layers[source[0]]
            feeding = producer.outputs[source[1]]
            if port.precision is None and port.dims in ((), feeding.dims):
                continue  # the port declares nothing that differs
            if (producer, source[1]) in reported:
                continue  # the producer is wrong
            if position in wiring.cyclic and source[0] in wiring.cyclic:
                continue  # the edge between the two may be wrong
            differences.append(InputDifference(layer, port, producer, feeding))
    return differences


class InputMismatch(Rule):
    """An input port declares another shape than the port that feeds it.

    ## What it does
    Compares the `<dim>`s of every input port with the `<dim>`s of the output port that feeds it. If
    the declaration of the output port is wrong, irshape reports only the output port.

    ## Why it matters
    The file contradicts itself about one tensor. Often an edge comes from the wrong layer.

    ## What OpenVINO does
    Silently ignores the shapes that input ports declare.

    ## Example
    ```xml
    <!-- port 0 is fed by an output of [2,3] -->
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>4</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```

    ## How to fix it
    Declare the shape of the output port, or connect the layer that has the declared shape.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```
    """

    doubt = "values"
    suspects = ("ports", "sources")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, port, producer, feeding in context.shared(input_differences):
            if port.dims == feeding.dims or port.dims is None or feeding.dims is None:
                continue
            here, there = declared(port).shape, declared(feeding).shape
            # without <dim>, a port is a scalar or of dynamic rank: there is nothing to compare
            if bool(port.dims) != bool(feeding.dims):
                shown = here if port.dims else "no dimensions"
                told = f"but {producer.label} declares {there if feeding.dims else 'none'}"
            elif not here.compatible(there):
                shown, told = here, f"but {producer.label} feeds it {there}"
            else:
                shown, told = here, f"although {producer.label} declares {there}"
            yield cls.finding(
                f"input port {port.id} declares {shown}, {told}",
                port,
                layer,
                expected=str(there) if feeding.dims else "no dimensions",
                actual=str(here) if port.dims else "no dimensions",
                help="declare the shape of the connected output port, or connect another layer",
            )


class InputTypeMismatch(Rule):
    """An input port declares another precision than the port that feeds it.

    ## What it does
    Compares the `precision` of every input port with the `precision` of the output port at the
    other end of its edge. Input ports without a precision are skipped.

    ## Why it matters
    The file contradicts itself about one tensor. Often an edge is wrong, or a Convert was removed.

    ## What OpenVINO does
    Silently ignores the types that input ports declare.

    ## Example
    ```xml
    <!-- port 0 is fed by an output of FP32 -->
    <input>
        <port id="0" precision="FP16"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```

    ## How to fix it
    Declare the precision of the output port, or insert a Convert to the declared type.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```
    """

    doubt = "values"
    suspects = ("ports", "sources", "constants")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, port, producer, feeding in context.shared(input_differences):
            here, there = declared(port).element_type, declared(feeding).element_type
            if here.is_dynamic or there.is_dynamic or here is there:
                continue
            yield cls.finding(
                f"input port {port.id} declares precision {here.precision}, but {producer.label} "
                f"feeds it {there.precision}",
                context.model.source.attribute(port.offset, "precision"),
                layer,
                port=("input", port.id),
                expected=there.precision,
                actual=here.precision,
                help="declare the precision of the connected output port, or connect another layer",
            )


class ValueMismatch(Rule):
    """The value that a comment gives for an input does not fit its port.

    ## What it does
    In a file that holds single layers instead of a network, a comment beside an input port can give
    its value. The rule compares the value's number of elements with the dimensions of the port. It
    also reports a value with fractions if the input takes only whole numbers.

    ## Why it matters
    Either the value or the port is wrong, and so are the shapes that irshape infers from them.

    ## What OpenVINO does
    Does not read files of single layers.

    ## Example
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>   <!-- value is [0, 1] -->
    </input>
    ```

    ## How to fix it
    Correct the port or the value.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>2</dim></port>   <!-- value is [0, 1] -->
    </input>
    ```
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind != "layers":
            return
        for position, layer in enumerate(context.model.layers):
            taken = context.inference.result.inputs.get(position, ())
            for port, tensor in zip_longest(layer.inputs, taken[: len(layer.inputs)]):
                numbers = parse_value(port.value) if port.value is not None else None
                if numbers is None:
                    continue
                kind = tensor.element_type if tensor is not None else port.element_type
                broken = [each for each in numbers if isinstance(each, float) and each % 1]
                if broken and kind is not None and kind.is_integer:
                    yield cls.finding(
                        f"input port {port.id} takes {kind}, but its value, {port.value}, has "
                        f"{broken[0]}",
                        port,
                        layer,
                        expected=str(kind),
                        actual=str(broken[0]),
                        help="write whole numbers",
                    )
                if not port.dims:
                    continue
                shape = PartialShape(port.dims)
                if not shape.is_static or shape.size == len(numbers):
                    continue
                count = f"{len(numbers)} element{'' if len(numbers) == 1 else 's'}"
                yield cls.finding(
                    f"input port {port.id} declares {shape}, but its value, "
                    f"{port.value}, has {count}",
                    port,
                    layer,
                    expected=str(shape),
                    actual=str(len(numbers)),
                    help="correct the shape of the port, or the value",
                )
