"""IR4xx: the constraints that an operation puts on its inputs and attributes."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault
from ..inference.contrary_sizes import contrary_sizes
from ..model.graph import Body, Finding
from ..ops import registry
from .base import Rule
from .context import Context


class OperationConstraint(Rule):
    """The inputs or attributes violate a constraint of the operation.

    ## What it does
    Reports a layer that violates a constraint of its operation's specification. Other rules of the
    IR4xx family report faults of the number, types, ranks and shapes of inputs.

    ## Why it matters
    The layer cannot be computed, or its result is not the specified one.

    ## What OpenVINO does
    Rejects most of these layers. It stops at the first one and does not name the line. It silently
    accepts violations that it does not check.

    ## Example
    ```xml
    <layer id="2" name="reshape" type="Reshape" version="opset1">  <!-- from [2,3] to [4,2] -->
        <data special_zero="false"/>…
    </layer>
    ```

    ## How to fix it
    The message states the expected and the actual value. Correct the wrong one.

    ## Use instead
    ```xml
    <layer id="2" name="reshape" type="Reshape" version="opset1">  <!-- from [2,3] to [3,2] -->
        <data special_zero="false"/>…
    </layer>
    ```
    """

    of_nets = True
    doubt = "values"
    suspects = ("attributes", "sources")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        """Yields a finding for each input that must come from a Const but does not."""
        for type_name in context.by_type:
            versions = registry.versions(type_name)
            if not versions:
                continue
            for name in versions[-1].constant_operands:
                operands = enumerate(versions[-1].operands)
                index = next(i for i, operand in operands if operand.name == name)
                for body, position in context.by_type[type_name]:
                    yield from cls._fed_by_another(context, body, position, index, name)

    @classmethod
    def _fed_by_another(
        cls, context: Context, body: Body, position: int, index: int, name: str
    ) -> Iterator[Finding]:
        row = context.wiring(body).sources[position]
        source = row[index] if index < len(row) else None
        if source is None or body.layers[source[0]].is_constant:
            return
        layer, producer = body.layers[position], body.layers[source[0]]
        port = layer.inputs[index]
        yield cls.finding(
            f"`{name}` of {layer.type} must come from a Const; {producer.label} feeds it",
            port,
            layer,
            expected="a Const",
            actual=producer.type,
            help="connect a Const to this port",
        )


class InputCount(Rule):
    """The layer has too few or too many inputs.

    ## What it does
    Compares the number of input ports with the inputs of the operation. Trailing optional inputs
    may be omitted.

    ## Why it matters
    The layer cannot be computed. Often an input was lost, or was added to the wrong layer.

    ## What OpenVINO does
    Rejects the layer without naming the line. Silently ignores surplus inputs of some operations.

    ## Example
    ```xml
    <!-- the inputs of a ReduceMean -->
    <input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input>
    ```

    ## How to fix it
    Add the missing input and its edge, or remove the surplus one: see `irshape ops ReduceMean`.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```
    """

    doubt = "values"
    suspects = ("edges", "sources")


class InputElementType(Rule):
    """An input has an element type that the operation does not accept.

    ## What it does
    Compares the element type of every input with the types that the operation accepts. If the
    operation requires inputs of one type, also compares the types of the inputs with each other.

    ## Why it matters
    The result is not specified. Often a Convert is missing, or two inputs are swapped.

    ## What OpenVINO does
    Rejects most of these layers. The message names neither the layer nor the line: "Element type of
    axes input must be integer. Got: f32". Some layers run nevertheless, e.g. PReLU
    with a `slope` of another type.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- with axes of f32 -->
        …
    </layer>
    ```

    ## How to fix it
    Insert a Convert, or connect the intended layer.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- with axes of i64 -->
        …
    </layer>
    ```
    """

    doubt = "layer"
    suspects = ("attributes", "sources", "constants")


class InputRank(Rule):
    """An input has a rank that the operation does not accept.

    ## What it does
    Compares the number of dimensions of every input with the ranks that the operation accepts.

    ## Why it matters
    The layer cannot be computed. Often a Reshape, Squeeze or Unsqueeze is missing.

    ## What OpenVINO does
    Rejects the layer without naming the line. For a few operations, silently accepts any rank.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- with axes of shape [1,1] -->
        …
    </layer>
    ```

    ## How to fix it
    Give the input the rank that the message names.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- with axes of shape [1] -->
        …
    </layer>
    ```
    """

    doubt = "values"
    suspects = ("attributes", "sources")


class InputValue(Rule):
    """The value of an input is out of range.

    ## What it does
    Reports an axis, index, size or other value of an input that the operation does not allow.
    irshape reads the value from a constant, or computes it from shapes.

    ## Why it matters
    The layer cannot be computed.

    ## What OpenVINO does
    Rejects most of these values. The message names neither the layer nor the line: "Axis 7 out of
    the tensor rank range [-2, 1]." Silently accepts other invalid values.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- data [2,3], axes [7] -->
        …
    </layer>
    ```

    ## How to fix it
    Correct the constant, or the layers that compute the value.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- data [2,3], axes [1] -->
        …
    </layer>
    ```
    """

    doubt = "values"
    suspects = ("attributes", "sources", "constants")


class InputShapes(Rule):
    """The shapes of the inputs do not match.

    ## What it does
    Reports inputs whose shapes the operation cannot combine: shapes that do not broadcast, or that
    differ in a dimension where they have to agree. Also reports two layers that need different
    sizes of one dynamic dimension: no size fits both layers. The message names these layers and
    sizes.

    ## Why it matters
    The layer cannot be computed. Often one of its inputs is connected to the wrong layer.

    ## What OpenVINO does
    Rejects the layer without naming the line: "Argument shapes are inconsistent."

    ## Example
    ```xml
    <layer id="2" name="add" type="Add" version="opset1">…</layer>   <!-- inputs [2,3], [2,4] -->
    ```

    ## How to fix it
    Correct the wrong shape, or connect the intended layer.

    ## Use instead
    ```xml
    <layer id="2" name="add" type="Add" version="opset1">…</layer>   <!-- inputs [2,3], [2,1] -->
    ```
    """

    doubt = "values"
    suspects = ("attributes", "sources", "constants")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.settings.contracts:
            return  # BrokenContract reports these sizes by name
        before = {layer for layer, _ in context.observed(Fault)}
        for layer, fault in contrary_sizes(context.inference):
            if layer not in before:
                yield context.placed(layer, fault)


class DuplicateValues(Rule):
    """An input that must contain unique values contains a value twice.

    ## What it does
    Reports repeated axes and other repeated values where the specification requires unique ones. A
    negative axis counts as the same axis written as a positive number.

    ## Why it matters
    The specification forbids it: other implementations may reject it or compute something else.

    ## What OpenVINO does
    Accepts it silently for most operations.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">  <!-- with axes [1, 1] -->
        …
    </layer>
    ```

    ## How to fix it
    Remove the repeated value, or correct it.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>   <!-- with axes [1] -->
    ```
    """

    suspects = ("attributes",)


class PortMap(Rule):
    """A port map or back edge does not fit the layer and its body.

    ## What it does
    Checks the port maps and back edges of Loop, TensorIterator and If. Reports an entry that names
    a port or layer that does not exist, or a layer that is neither a Parameter nor a Result. Also
    reports an entry that connects ports of incompatible types or shapes.

    ## Why it matters
    An input of the body gets no value, or the layer does not return an output of the body.

    ## What OpenVINO does
    Rejects it with a message about the internals of its parser: "unordered_map::at".

    ## Example
    ```xml
    <port_map>
        <input external_port_id="0" internal_layer_id="9"/>   <!-- the body has no layer 9 -->
    </port_map>
    ```

    ## How to fix it
    Write the id of the layer's port in `external_port_id`, and the id of the body's Parameter or
    Result in `internal_layer_id`.

    ## Use instead
    ```xml
    <port_map>
        <input external_port_id="0" internal_layer_id="0"/>
    </port_map>
    ```
    """

    refused = True
    doubt = "layer"
