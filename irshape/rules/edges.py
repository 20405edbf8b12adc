"""IR11x: edges that name missing layers or ports, inputs that nothing feeds, and unused layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..model.graph import Finding
from ..model.wiring import OutputRef
from .base import Rule
from .context import Context
from .links import SINKS, EdgeFault

_IDS = "write the ids of layers and ports that exist"


def edge_faults(context: Context) -> list[EdgeFault]:
    """Returns the edges that name a missing layer or port."""
    return [fault for body in context.bodies for fault in context.links(body).faults]


class DanglingEdge(Rule):
    """An edge names a layer or a port that does not exist.

    ## What it does
    Reports an edge whose `from-layer` or `to-layer` is not the id of a layer in the same body, or
    whose port is not the id of an output or input port of that layer. Edges name ports by id, not
    by position. An edge inside a body can name only layers of that body.

    ## Why it matters
    The layer at the other end of the edge lacks an input, or gets the wrong input.

    ## What OpenVINO does
    Rejects it with a message that names neither edge nor line: "Cannot create layer id:0 from
    unsupported opset: ", "index '1' out of range", or "Can not find output port with id 5 in layer
    add". Silently ignores a surplus edge whose `to-layer` does not exist.

    ## Example
    ```xml
    <edge from-layer="9" from-port="0" to-layer="2" to-port="1"/>   <!-- there is no layer 9 -->
    ```

    ## How to fix it
    Write the ids of the intended layer and port.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    suspects = ("edges", "ids")
    refused = True
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        faults = context.shared(edge_faults)
        uses = Counter((each.body.path, each.text) for each in faults if each.layer is None)
        for fault in faults:
            layer, text = fault.layer, fault.text
            count = uses.pop((fault.body.path, text), 0) if layer is None else 1
            if fault.malformed or not count:
                continue
            if layer is None:
                verb = "comes from" if fault.side == "from" else "leads to"
                inside = f" in this `{fault.body.path[-1]}`" if fault.body.path else ""
                inside += f" ({count} edges name it)" if count > 1 else ""
                message = f"the edge {verb} layer {text}, which does not exist{inside}"
                expected = "the id of a layer"
            else:
                kind = "output" if fault.side == "from" else "input"
                expected = ", ".join(port.id for port in fault.ports) or "none"
                message = (
                    f"the edge refers to {kind} port {text} of {layer.label}, which does not exist "
                    f"(existing {kind} ports: {expected})"
                )
            yield cls.finding(
                message,
                context.model.source.attribute(fault.edge.offset, fault.attribute),
                layer or fault.other_end,
                expected=expected,
                actual=text,
                help=_IDS,
            )


class MalformedEdge(Rule):
    """An edge lacks one of its four ids, or has one that is not a whole number.

    ## What it does
    Reports an edge without `from-layer`, `from-port`, `to-layer` or `to-port`, or with a value of
    these attributes that is not a whole number. OpenVINO reads a number with a sign or leading
    zeros; for such a number the finding is a warning.

    ## Why it matters
    The edge connects nothing.

    ## What OpenVINO does
    Rejects it with a byte offset: "node <edge> is missing mandatory attribute: to-port at offset
    1312".

    ## Example
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2"/>
    ```

    ## How to fix it
    Write all four attributes, each with the id of a layer or port.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    suspects = ("notations", "edges")
    refused = True
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for fault in context.shared(edge_faults):
            if not fault.malformed:
                continue
            number = fault.number
            written = f"`{fault.attribute}` of the edge is '{fault.text}'"
            offset = context.model.source.attribute(fault.edge.offset, fault.attribute)
            layer = fault.layer or fault.other_end
            if number is None:
                yield cls.finding(
                    f"{written}, which is not a whole number from 0 to 2^63-1",
                    offset,
                    layer,
                    expected="a whole number",
                    actual=fault.text,
                    help=_IDS,
                )
            else:
                yield cls.finding(
                    f"{written}, written with a sign or leading zeros; OpenVINO reads it as "
                    f"{number}",
                    offset,
                    layer,
                    expected=number,
                    actual=fault.text,
                    help=f'write {fault.attribute}="{number}"',
                    severity="warning",
                )


class UnknownEdgeAttribute(Rule):
    """An `<edge>` has an attribute that has no meaning in an edge.

    ## What it does
    Reports every attribute of an `<edge>` except `from-layer`, `from-port`, `to-layer` and
    `to-port`.

    ## Why it matters
    The attribute has no effect. Often its name is a misspelling of one of these four.

    ## What OpenVINO does
    Ignores it silently.

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

    suspects = ("element_names",)


class DuplicateEdge(Rule):
    """Two edges lead into one input port.

    ## What it does
    Reports the second and every later edge with the same `to-layer` and `to-port`.

    ## Why it matters
    An input has one producer. The file does not say which of the two edges is intended.

    ## What OpenVINO does
    Counts one input too many and rejects the layer: "layer mean with id: 2 has incorrect input with
    index 2!".

    ## Example
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    <edge from-layer="4" from-port="0" to-layer="2" to-port="1"/>
    ```

    ## How to fix it
    Remove the wrong edge. An output may feed several inputs, but an input has only one producer.

    ## Use instead
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    suspects = ("edges",)
    refused = True
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            for edge in context.links(body).duplicates:
                yield cls.finding(
                    f"another edge already leads to input port {edge.to_port} of layer "
                    f"{edge.to_layer}",
                    edge.offset,
                    body.by_id.get(edge.to_layer),
                    port=("input", edge.to_port),
                    expected="one edge for each input port",
                    actual="two",
                    help="remove one of the two edges",
                )


class MissingEdge(Rule):
    """Nothing feeds an input port.

    ## What it does
    Reports an input port into which no edge leads.

    ## Why it matters
    The layer lacks an input, so what it computes is undefined.

    ## What OpenVINO does
    Rejects the model, often without naming the layer: "index '1' out of range", "Argument has 0
    outputs (1 expected)", or "Add layer add with id: 2 is inconsistent!". Trailing optional
    inputs may be omitted, together with their ports.

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

    suspects = ("edges",)
    refused = True
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            for layer, port in context.links(body).missing:
                target = f'to-layer="{layer.id}" to-port="{port.id}"'
                yield cls.finding(
                    f"no edge leads to input port {port.id}",
                    port,
                    layer,
                    expected="one edge",
                    actual="none",
                    help=f'add <edge from-layer="…" from-port="…" {target}/>',
                )


class Cycle(Rule):
    """Layers depend on each other in a cycle.

    ## What it does
    Reports, once for each body, layers that depend on their own output. The message lists these
    layers.

    ## Why it matters
    There is no order in which the layers could be computed. A loop in a model is a Loop or a
    TensorIterator with back edges, or a variable (ReadValue and Assign).

    ## What OpenVINO does
    Rejects it: "Attempt to access node 5 that not in graph."

    ## Example
    ```xml
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
    <edge from-layer="3" from-port="1" to-layer="2" to-port="0"/>
    ```

    ## How to fix it
    Redirect one of the edges of the cycle. Usually, one edge should come from another layer.

    ## Use instead
    ```xml
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
    ```
    """

    suspects = ("edges",)
    refused = True
    doubt = "wiring"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            wiring = context.wiring(body)
            if not wiring.cyclic:
                continue
            circle = _circle(min(wiring.cyclic), wiring.sources, wiring.cyclic)
            more = " → …" if len(circle) > 12 else ""
            way = " → ".join(body.layers[position].id for position in circle[:12]) + more
            layer = body.layers[circle[0]]
            yield cls.finding(
                f"the layer depends on itself: {way}",
                layer,
                expected="no cycles",
                actual=way,
                help="remove or redirect one of the edges of the cycle",
            )


def _circle(start: int, sources: list[list[OutputRef | None]], cyclic: frozenset[int]) -> list[int]:
    """Returns the positions of the layers of a cycle, in the direction of the data.

    The result begins and ends with the layer that is first in file order.
    """
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
    Reports the last layer of each branch that ends without a Result or an Assign, and the number of
    unused layers that feed this layer. An unused input or a single unused constant is an info.

    ## Why it matters
    The model does not compute this part, probably because an edge or a Result has been lost.

    ## What OpenVINO does
    Silently drops these layers without reading their types or attributes. An unused Parameter
    remains an input of the model. OpenVINO's own writer emits unused Parameters. For an LSTMCell of
    opset1, it emits a constant that it does not connect.

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

    of_nets = True
    suspects = ("edges",)

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            for layer, behind in context.links(body).unused():
                if layer.is_parameter:
                    yield cls.finding(
                        f"no layer uses this input of the {'body' if layer.path else 'model'}",
                        layer,
                        expected="a consumer",
                        actual="none",
                        help="connect the input, or remove it",
                        severity="info",
                    )
                    continue
                harmless = (layer.is_constant and not behind) or not context.model.format.is_ir
                yield cls.finding(
                    "no path leads from this layer to a Result or an Assign; OpenVINO silently "
                    f"drops it{_others(behind)}",
                    layer,
                    expected="a path to a Result or an Assign",
                    actual="none",
                    help="connect the layer, or remove it",
                    severity="info" if harmless else None,
                )


def _others(behind: int) -> str:
    if behind < 2:
        return " and the unused layer that feeds it" if behind else ""
    return f" and {behind} unused layers that feed it"


class MissingResult(Rule):
    """A net or a body has no Result.

    ## What it does
    Reports a net or a body that has no layers, or neither a Result nor an Assign. If every layer is
    a Parameter or has no outputs, the finding is an info: OpenVINO can write such nets.

    ## Why it matters
    The model has no output that a program could read.

    ## What OpenVINO does
    Silently drops every layer except the Parameters. A net with an Assign and no Result is valid.

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

    of_nets = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.torn:
            return
        for body in context.bodies:
            what = f"the `{body.path[-1]}`" if body.path else "the net"
            if not body.layers:
                yield cls.finding(
                    f"{what} has no layers",
                    body.offset if body.path else context.start,
                    expected="layers, and a Result",
                    actual="none",
                    help="add the layers, or remove the file",
                )
                continue
            types = {layer.type for layer in body.layers}
            if any(name.lower() in SINKS for name in types):
                continue
            empty = all(layer.is_parameter or not layer.outputs for layer in body.layers)
            dropped = ": OpenVINO silently drops all of its layers except the Parameters"
            first = body.layers[0]
            yield cls.finding(
                f"{what} has no Result{'' if empty else dropped}",
                first,
                expected="a Result",
                actual="none",
                help="add a Result for each output",
                severity="info" if empty else None,
            )
