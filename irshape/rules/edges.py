"""IR11x: the edges: whether they name what is there, and whether every layer is fed and used."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault
from ..model.graph import Finding
from ..model.ids import lenient_id
from ..model.wiring import OutputRef
from ..rule_ids import (
    CYCLE,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    MALFORMED_EDGE,
    MISSING_EDGE,
    MISSING_RESULT,
    UNKNOWN_EDGE_ATTRIBUTE,
    UNREACHABLE_LAYER,
)
from .base import Rule
from .context import Context
from .links import SINKS


class DanglingEdge(Rule):
    """An edge names a layer or a port that is not there.

    ## What it does
    Reports an edge whose `from-layer` or `to-layer` is the id of no layer beside it, or whose port is the id of no output or input port of that layer. Edges name ports by
    id, not by position; those inside a body see only the layers of that body.

    ## Why it matters
    The layer at the other end has no input, or the wrong one.

    ## What OpenVINO does
    Refuses it with a message that names neither edge nor line: "Cannot create  layer  id:0 from unsupported opset: ", "index '1' out of range", or "Can not find output port
    with id 5 in layer add". An edge into a layer that does not exist it takes in silence where every input is fed by another.

    ## Example
    ```xml
    <edge from-layer="9" from-port="0" to-layer="2" to-port="1"/>   <!-- there is no layer 9 -->
    ```

    ## How to fix it
    Name the layer and the port by the ids that they have.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    id = DANGLING_EDGE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        place = context.model.source.attribute
        for body in context.bodies:
            for fault in context.links(body).faults:
                edge, layer, text = fault.edge, fault.layer, fault.text
                other = body.by_id.get(edge.to_layer if fault.side == "from" else edge.from_layer)
                at = place(edge.offset, fault.attribute)
                read = lenient_id(text)
                if read is None:
                    message = f"`{fault.attribute}` of the edge is '{text}', which is not a whole number from 0 to 2^63-1"
                    yield Finding(
                        Fault(
                            MalformedEdge.id,
                            message,
                            expected="a whole number",
                            actual=text,
                            help=_IDS,
                        ),
                        at,
                        layer or other,
                    )
                    continue
                ports = (
                    () if layer is None else layer.outputs if fault.side == "from" else layer.inputs
                )
                if read != text and (
                    read in body.by_id if layer is None else any(port.id == read for port in ports)
                ):
                    message = f"`{fault.attribute}` of the edge is '{text}', written with a sign or leading zeros; OpenVINO reads it as {read}"
                    yield Finding(
                        Fault(
                            MalformedEdge.id,
                            message,
                            expected=read,
                            actual=text,
                            help=f'write {fault.attribute}="{read}"',
                            severity="warning",
                        ),
                        at,
                        layer or other,
                    )
                elif layer is None:
                    where = "comes from" if fault.side == "from" else "leads into"
                    message = f"the edge {where} layer {text}, which does not exist" + (
                        f" in this `{body.path[-1]}`" if body.path else ""
                    )
                    yield Finding(
                        Fault(
                            cls.id, message, expected="the id of a layer", actual=text, help=_IDS
                        ),
                        at,
                        other,
                    )
                else:
                    kind = "output" if fault.side == "from" else "input"
                    known = ", ".join(port.id for port in ports) or "none"
                    message = f"the edge names {kind} port {text} of {layer.type} '{layer.name}' (id {layer.id}), which has no such port (its {kind} ports: {known})"
                    yield Finding(
                        Fault(cls.id, message, expected=known, actual=text, help=_IDS), at, layer
                    )


_IDS = "edges name layers and ports by their ids"


class MalformedEdge(Rule):
    """An edge does not say where it comes from or goes to.

    ## What it does
    Reports an edge without `from-layer`, `from-port`, `to-layer` or `to-port`, or with something there that is no whole number. A number with a sign or leading zeros,
    which OpenVINO reads, is a warning.

    ## Why it matters
    The edge connects nothing.

    ## What OpenVINO does
    Refuses it with a byte offset: "node <edge> is missing mandatory attribute: to-port at offset 1312".

    ## Example
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2"/>
    ```

    ## How to fix it
    Give all four, each the id of a layer or port.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    id = MALFORMED_EDGE


class UnknownEdgeAttribute(Rule):
    """An `<edge>` has an attribute that means nothing there.

    ## What it does
    Reports any attribute of an `<edge>` but `from-layer`, `from-port`, `to-layer` and `to-port`.

    ## Why it matters
    What somebody wrote there has no effect; often it is one of the four, misspelt.

    ## What OpenVINO does
    Passes over it in silence.

    ## Example
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1" to="mean"/>
    ```

    ## How to fix it
    Correct its name, or remove it.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    id = UNKNOWN_EDGE_ATTRIBUTE


class DuplicateEdge(Rule):
    """Two edges lead into one input port.

    ## What it does
    Reports the second and every later edge with the same `to-layer` and `to-port`.

    ## Why it matters
    An input has one producer. Which of the two is meant, the file does not say.

    ## What OpenVINO does
    Counts one input more than there are and refuses the layer: "layer mean with id: 2 has incorrect input with index 2!".

    ## Example
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    <edge from-layer="4" from-port="0" to-layer="2" to-port="1"/>
    ```

    ## How to fix it
    Remove the edge that is not meant. One output may feed any number of inputs, but not the other way round.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    id = DUPLICATE_EDGE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            for edge in context.links(body).duplicates:
                layer = body.by_id.get(edge.to_layer)
                message = f"another edge leads into input port {edge.to_port} of layer {edge.to_layer} already"
                where = ("input", edge.to_port)
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected="one edge for each input port",
                        actual="two",
                        help="remove one of the two edges",
                    ),
                    edge.offset,
                    layer,
                    port=where,
                )


class MissingEdge(Rule):
    """Nothing feeds an input port.

    ## What it does
    Reports an input port into which no edge leads.

    ## Why it matters
    The layer lacks an input; what it computes is not defined.

    ## What OpenVINO does
    Refuses it: "index '1' out of range", or "Argument has 0 outputs (1 expected)", without the layer's id. Trailing optional inputs may be left out, but then without a port.

    ## Example
    ```xml
    <input>
        <port id="0"/>
        <port id="1"/>     <!-- and no edge with to-port="1" -->
    </input>
    ```

    ## How to fix it
    Add the edge, or remove the port of an optional input.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    id = MISSING_EDGE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            for layer, port in context.links(body).missing:
                hint = f'add <edge from-layer="…" from-port="…" to-layer="{layer.id}" to-port="{port.id}"/>'
                yield Finding(
                    Fault(
                        cls.id,
                        f"no edge leads into input port {port.id}",
                        expected="one edge",
                        actual="none",
                        help=hint,
                    ),
                    port.offset,
                    layer,
                    port=("input", port.id),
                )


class Cycle(Rule):
    """Layers feed each other in a circle.

    ## What it does
    Reports, once for each body, layers that depend on their own output, and names the way round.

    ## Why it matters
    There is no order in which the layers could be computed. A loop in a model is a Loop or a TensorIterator with back edges, or a variable (ReadValue and Assign).

    ## What OpenVINO does
    Refuses it: "Attempt to access node 5 that not in graph."

    ## Example
    ```xml
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
    <edge from-layer="3" from-port="1" to-layer="2" to-port="0"/>
    ```

    ## How to fix it
    Redirect one of the edges on the way. An edge that was meant to come from another layer is the usual cause.

    ## Use instead
    ```xml
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
    ```
    """

    id = CYCLE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            cyclic = context.wiring(body).cyclic
            if cyclic:
                first = min(cyclic)
                circle = _circle(first, context.wiring(body).sources, cyclic)
                shown = " → ".join(body.layers[at].id for at in circle[:12]) + (
                    " → …" if len(circle) > 12 else ""
                )
                layer = body.layers[circle[0]]
                hint = "remove or redirect one of the edges on the way"
                yield Finding(
                    Fault(
                        cls.id,
                        f"the layer depends on itself: {shown}",
                        expected="no cycles",
                        actual=shown,
                        help=hint,
                    ),
                    layer.offset,
                    layer,
                )


def _circle(start: int, sources: list[list[OutputRef | None]], cyclic: frozenset[int]) -> list[int]:
    """A way round from a layer of the cycle back to itself, in the direction of the data; it begins and ends with its first layer in file order."""
    trail: list[int] = [start]
    seen = {start: 0}
    while True:
        before = next(
            source[0] for source in sources[trail[-1]] if source is not None and source[0] in cyclic
        )
        if before in seen:
            circle = trail[seen[before] :][::-1]
            first = circle.index(min(circle))
            return [*circle[first:], *circle[:first], circle[first]]
        seen[before] = len(trail)
        trail.append(before)


class UnreachableLayer(Rule):
    """No path leads from the layer to a Result or an Assign.

    ## What it does
    Reports the last layer of a branch that leads nowhere, and how many layers lie behind it. An input or a single constant that is not used is an info.

    ## Why it matters
    What somebody meant to compute is not computed: an edge or a Result has been lost.

    ## What OpenVINO does
    Drops such layers in silence, unread: not even their types or attributes are looked at. An unused Parameter stays an input of the model; OpenVINO's own writer emits them,
    and the constant of an LSTMCell of opset1 that it does not connect.

    ## Example
    ```xml
    <layer id="4" name="statistics" type="ReduceMean" version="opset1">…</layer>
    <!-- and no edge with from-layer="4" -->
    ```

    ## How to fix it
    Connect the layer, or remove it.

    ## Use instead
    ```xml
    <edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>
    ```
    """

    id = UNREACHABLE_LAYER

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers":
            return
        for body in context.bodies:
            for layer, behind in context.links(body).unused():
                if layer.type.lower() == "parameter":
                    yield Finding(
                        Fault(
                            cls.id,
                            "the input is not used",
                            expected="a consumer",
                            actual="none",
                            help="connect it, or remove it",
                            severity="info",
                        ),
                        layer.offset,
                        layer,
                    )
                    continue
                lonely = not behind and layer.type.lower() in ("const", "constant")
                others = (
                    ""
                    if not behind
                    else " and the layer that only it uses"
                    if behind == 1
                    else f" and the {behind} layers that only it uses"
                )
                message = f"no path leads from this layer to a Result or an Assign; OpenVINO drops it{others} without a word"
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected="a path to a Result or an Assign",
                        actual="none",
                        help="connect it, or remove it",
                        severity="info"
                        if lonely or not context.model.format.layers_as_written
                        else None,
                    ),
                    layer.offset,
                    layer,
                )


class MissingResult(Rule):
    """A net or a body has no Result.

    ## What it does
    Reports a net without Result and Assign, or without any layers at all, and a body without Result. Where nothing has an output that a Result could take, it is an info: OpenVINO can
    write such nets.

    ## Why it matters
    The model computes nothing that anybody could read.

    ## What OpenVINO does
    Reads it in silence, as a model of its Parameters alone: every other layer is dropped. A model that only assigns variables is no fault.

    ## Example
    ```xml
    <layers>
        <layer id="0" name="x" type="Parameter" version="opset1">…</layer>
        <layer id="1" name="relu" type="ReLU" version="opset1">…</layer>
    </layers>
    ```

    ## How to fix it
    Add a Result for each output of the model, and the edge into it.

    ## Use instead
    ```xml
    <layer id="2" name="y" type="Result" version="opset1">
        <input><port id="0" precision="FP32"><dim>2</dim></port></input>
    </layer>
    ```
    """

    id = MISSING_RESULT

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers" or context.torn:
            return
        for body in context.bodies:
            types = {layer.type.lower() for layer in body.layers}
            what = f"the `{body.path[-1]}`" if body.path else "the net"
            if not types:
                offset = (
                    body.offset if body.path else max(context.model.source.data.find(b"<net"), 0)
                )
                yield Finding(
                    Fault(
                        cls.id,
                        f"{what} has no layers",
                        expected="layers, and a Result",
                        actual="none",
                        help="add the layers, or remove the file",
                    ),
                    offset,
                )
                continue
            if types & set(SINKS):
                continue
            only = all(
                layer.type.lower() == "parameter" or not layer.outputs for layer in body.layers
            )
            message = f"{what} has no Result" + (
                ""
                if only
                else ": OpenVINO drops all of its layers but the Parameters without a word"
            )
            first = body.layers[0]
            yield Finding(
                Fault(
                    cls.id,
                    message,
                    expected="a Result",
                    actual="none",
                    help="add a Result for each output",
                    severity="info" if only else None,
                ),
                first.offset,
                first,
            )
