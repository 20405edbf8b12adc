"""IR1xx: ids, attributes, dimensions and ports of layers.

If these rules report a fault, the file may not describe a graph at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..inference import result
from ..model.graph import Finding, Layer
from ..model.ids import lenient_id
from ..ops.registry import versions
from ..rule_ids import (
    MALFORMED_ID,
    MISSPELT_ELEMENT,
)
from ..spelling import counted
from .base import Rule
from .context import Context


class DuplicateId(Rule):
    """Two layers of one body have the same id.

    ## What it does
    Reports the second and every later layer whose id is used by another layer of the same net or
    body. Each body has its own ids.

    ## Why it matters
    Edges refer to layers by id. The file does not say which of the two layers an edge means, so
    every input that these layers feed is uncertain.

    ## What OpenVINO does
    Silently uses the last layer in some files. Rejects other files with a message that names
    neither layer: "Cannot create layer id:0 from unsupported opset: ".

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>
    <layer id="2" name="again" type="ReduceMean" version="opset1">…</layer>
    ```

    ## How to fix it
    Give one of the two layers an id that no other layer has, and update its edges.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>
    <layer id="4" name="again" type="ReduceMean" version="opset1">…</layer>
    ```
    """

    of_nets = True
    suspects = ("ids",)
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        loose = MALFORMED_ID in context.reported
        for body in context.bodies:
            if not loose and len(body.by_id) == len(body.layers):
                continue
            holders: dict[str, Layer] = {}
            for layer in body.layers:
                number = lenient_id(layer.id) or layer.id if loose else layer.id
                first = holders.setdefault(number, layer)
                if first is layer or not layer.id:
                    continue
                line, _ = context.model.source.place(first.offset)
                yield cls.finding(
                    f"layer id {layer.id} is already used by {first.type} '{first.name}' in line "
                    f"{line}; OpenVINO may silently keep only the last layer with this id",
                    layer,
                    expected="a unique id",
                    actual=layer.id,
                    help="give the layer a unique id, and update its edges",
                )


class MissingLayerAttribute(Rule):
    """A layer lacks its id, name, type or version.

    ## What it does
    Reports a `<layer>` without one of the four attributes. A single layer needs only its
    `type`.

    ## Why it matters
    Without an id, no edge can refer to the layer. Without a type or version, its operation is
    unknown.

    ## What OpenVINO does
    Rejects it with a byte offset: "node <layer> is missing mandatory attribute: version at offset
    537".

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean">…</layer>
    ```

    ## How to fix it
    Add the missing attribute. The version is the opset that contains the operation; `irshape ops
    ReduceMean` shows it.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>
    ```
    """

    doubt = "values"
    suspects = ("types", "versions")
    refused = True


class MalformedId(Rule):
    """The id of a layer or port is not a whole number.

    ## What it does
    Reports an id that is not a whole number from 0 to 2^63-1. OpenVINO reads a number with a sign
    or leading zeros; for such a number the finding is a warning.

    ## Why it matters
    OpenVINO compares ids as numbers, so no edge can refer to an id that is not a number.

    ## What OpenVINO does
    Rejects most of these ids with the message "stoll". Reads some of them as a different number.

    ## Example
    ```xml
    <layer id="two" name="mean" type="ReduceMean" version="opset1">…</layer>
    ```

    ## How to fix it
    Number the layers, and use these numbers in the edges.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>
    ```
    """

    suspects = ("notations",)
    refused = True
    doubt = "wiring"


class MalformedDim(Rule):
    """A dimension is not a whole number of at least -1.

    ## What it does
    Reports a `<dim>` that contains neither a size nor -1 (a dynamic dimension): a word, a fraction,
    a smaller negative number, or nothing.

    ## Why it matters
    irshape cannot check the shape of the port, and readers interpret the dimension differently.

    ## What OpenVINO does
    Rejects it, except in layers that it drops: "dimension (-2) in node dim must be greater or equal
    to -1". It silently reads only the leading digits of `3x` or `2.5`.

    ## Example
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>-2</dim></port>
    </output>
    ```

    ## How to fix it
    Write the size, or -1.

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    doubt = "values"
    suspects = ("ports",)


class UnknownLayerAttribute(Rule):
    """A `<layer>` has an attribute that has no meaning in a layer.

    ## What it does
    Reports every attribute of a `<layer>` except `id`, `name`, `type`, `version` and, on a Result,
    `output_names`.

    ## Why it matters
    The attribute has no effect. Attributes of the operation belong in `<data>`.

    ## What OpenVINO does
    Ignores it silently.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1" keep_dims="true">…</layer>
    ```

    ## How to fix it
    Move the attribute into `<data>`, correct its name, or remove it.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>…</layer>
    ```
    """

    suspects = ("element_names",)


class UnknownPortAttribute(Rule):
    """A `<port>` has an attribute that has no meaning in a port.

    ## What it does
    Reports every attribute of a `<port>` except `id`, `precision` and `names`.

    ## Why it matters
    The attribute has no effect. If it is a misspelt `precision`, the port has no precision.

    ## What OpenVINO does
    Ignores it silently.

    ## Example
    ```xml
    <output>
        <port id="2" precision="FP32" name="y"><dim>2</dim><dim>1</dim></port>
    </output>
    ```

    ## How to fix it
    Correct its name, or remove it.

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32" names="y"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    suspects = ("element_names",)


class DuplicatePort(Rule):
    """Two ports of one layer have the same id.

    ## What it does
    Reports the second and every later input port whose id is used by another input port of the
    layer; likewise for output ports.

    ## Why it matters
    Edges refer to ports by id, so an edge cannot distinguish the two ports.

    ## What OpenVINO does
    Rejects an edge that uses the intended id: "Can not find input port with id 1 in layer mean".
    Ignores the fault if no edge names the port.

    ## Example
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="0" precision="I64"><dim>1</dim></port>
    </input>
    ```

    ## How to fix it
    Number the ports consecutively, inputs first, and correct the edges.

    ## Use instead
    ```xml
    <input>
        <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
        <port id="1" precision="I64"><dim>1</dim></port>
    </input>
    ```
    """

    refused = True
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        malformed = {finding.layer for finding in context.reported.get(MALFORMED_ID, ())}
        for layer in context.every_layer:
            for direction, ports in (("input", layer.inputs), ("output", layer.outputs)):
                seen: set[str] = set()
                for port in ports if len(ports) > 1 else ():
                    number = port.id
                    if layer in malformed:  # two ids in different notations may be equal
                        number = lenient_id(number) or number
                    if number in seen and number:
                        yield cls.finding(
                            f"two {direction} ports have the id {port.id}, so an edge cannot tell "
                            "them apart",
                            port.offset,
                            layer,
                            port=(direction, port.id),
                            expected="a unique id",
                            actual=port.id,
                            help="number the ports consecutively, inputs first",
                        )
                    seen.add(number)


class OutputCount(Rule):
    """A layer declares more outputs than its operation has, or none of the operation's outputs.

    ## What it does
    Reports surplus output ports, and a layer without an `<output>`. Without an edge from the layer,
    a missing `<output>` is only a warning.

    ## Why it matters
    A port that the operation does not have never produces anything. A layer whose `<output>` was
    lost cannot be connected.

    ## What OpenVINO does
    Rejects surplus ports without naming the layer: "node index is out of range". For a lost
    `<output>` it says "Can not find output port with id 2 in layer mean".

    ## Example
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
        <port id="3" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```

    ## How to fix it
    Remove the surplus ports, or add the `<output>`.

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    suspects = ("attributes",)
    refused = True
    doubt = "layer"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, count in context.observed(result.OutputCount):
            outputs = f"the operation has {counted(count.inferred, 'output')}"
            if count.declared:
                port = layer.outputs[count.inferred]
                yield cls.finding(
                    f"the layer has {counted(count.declared, 'output port')}; {outputs}",
                    port,
                    layer,
                    expected=str(count.inferred),
                    actual=str(count.declared),
                    help="remove the excess ports",
                )
            elif MISSPELT_ELEMENT not in context.read_under.get(layer, ()):  # its <output> was lost
                used = context.model.kind == "layers" or any(
                    layer in context.links(body).sources for body in context.bodies
                )
                yield cls.finding(
                    f"the layer has no output port; {outputs}",
                    layer,
                    expected=str(count.inferred),
                    actual="0",
                    help="add <output> with a <port> for each output",
                    severity=None if used else "warning",
                )


class MissingBody(Rule):
    """A Loop, TensorIterator or If lacks a body, or has a body that it cannot use.

    ## What it does
    Reports a Loop or TensorIterator without `<body>`, and an If without `<then_body>` or
    `<else_body>`. Also reports any other body in these layers.

    ## Why it matters
    The body defines what the layer computes.

    ## What OpenVINO does
    Rejects a missing body: "TensorIterator has no body.", also for a Loop or an If. Silently
    ignores a surplus body.

    ## Example
    ```xml
    <layer id="2" name="loop" type="Loop" version="opset5">
        <input><port id="0" precision="I64"/><port id="1" precision="BOOL"/></input>
    </layer>
    ```

    ## How to fix it
    Add the body with its `<layers>` and `<edges>`, or remove the surplus body.
    """

    refused = True
    doubt = "layer"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if not context.model.format.is_ir:
            return
        bodies = {
            folded: known[-1].bodies
            for folded in context.by_type
            if (known := versions(folded)) and known[-1].bodies
        }
        for layer in context.layers(*bodies):
            expected = bodies[layer.folded_type]
            present = layer.bodies or {}
            for tag in expected:
                if tag not in present and context.model.kind != "layers":
                    yield cls.finding(
                        f"the layer has no <{tag}>",
                        layer,
                        expected=tag,
                        help=f"add the <{tag}>",
                    )
            for tag, body in present.items():
                if tag not in expected:
                    yield cls.finding(
                        f"the layer has a <{tag}>, which {layer.type} does not use",
                        body.offset,
                        layer,
                        expected=" and ".join(expected),
                        actual=tag,
                        help="remove it",
                    )
