"""IR12x: names by which a program finds things in a model: variables, tensors, run-time information."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..faults import Fault
from ..model.graph import Body, Finding, Layer, Port
from ..rule_ids import (
    DUPLICATE_TENSOR_NAME,
    MISSING_TENSOR_NAME,
    RUNTIME_INFO,
    UNASSIGNED_VARIABLE,
    UNKNOWN_VARIABLE,
)
from ..types import ElementType
from .base import Rule
from .context import Context


class UnknownVariable(Rule):
    """An Assign names a variable that no ReadValue reads.

    ## What it does
    Reports an Assign whose `variable_id` is that of no ReadValue in the model or its bodies.

    ## Why it matters
    What is assigned is never seen again: one of the two names is wrong.

    ## What OpenVINO does
    Refuses the model: "map::at".

    ## Example
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6"><data variable_id="state" variable_type="f32" variable_shape="2,3"/>…</layer>
    <layer id="2" name="assign" type="Assign" version="opset6"><data variable_id="stat"/>…</layer>
    ```

    ## How to fix it
    Give both the same `variable_id`.

    ## Use instead
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6"><data variable_id="state" variable_type="f32" variable_shape="2,3"/>…</layer>
    <layer id="2" name="assign" type="Assign" version="opset6"><data variable_id="state"/>…</layer>
    ```
    """

    id = UNKNOWN_VARIABLE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers":
            return
        read = {layer.attribute("variable_id") for layer in context.layers("readvalue")}
        known = ", ".join(sorted(name for name in read if name)) or "none"
        for layer in context.layers("assign"):
            variable = layer.attribute("variable_id")
            if variable is not None and variable not in read:
                place = context.model.source.attribute(layer.data_offset, "variable_id")
                message = (
                    f"no ReadValue reads the variable '{variable}' (those that are read: {known})"
                )
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected=known,
                        actual=variable,
                        help="give both the same variable_id",
                    ),
                    place,
                    layer,
                )


class UnassignedVariable(Rule):
    """A variable is read and never assigned.

    ## What it does
    Reports a ReadValue whose `variable_id` is that of no Assign in the model or its bodies.

    ## Why it matters
    The variable keeps its initial value for ever. A state that was meant to be carried from one call to the next is not.

    ## What OpenVINO does
    Reads it in silence; its own writer puts such models out.

    ## Example
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6"><data variable_id="state" variable_type="f32" variable_shape="2,3"/>…</layer>
    ```

    ## How to fix it
    Add the Assign, or take the initial value in the place of the ReadValue.

    ## Use instead
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6"><data variable_id="state" variable_type="f32" variable_shape="2,3"/>…</layer>
    <layer id="2" name="assign" type="Assign" version="opset6"><data variable_id="state"/>…</layer>
    ```
    """

    id = UNASSIGNED_VARIABLE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers":
            return
        assigned = {layer.attribute("variable_id") for layer in context.layers("assign")}
        known = ", ".join(sorted(name for name in assigned if name)) or "none"
        for layer in context.layers("readvalue"):
            variable = layer.attribute("variable_id")
            if variable is not None and variable not in assigned:
                place = context.model.source.attribute(layer.data_offset, "variable_id")
                message = f"the variable '{variable}' is read and never assigned: it keeps its initial value (those that are assigned: {known})"
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected="an Assign of this variable",
                        actual="none",
                        help="add the Assign, or use the initial value itself",
                    ),
                    place,
                    layer,
                )


class DuplicateTensorName(Rule):
    """Two tensors of a net have the same name.

    ## What it does
    Reports an output port whose `names` hold a name that another output port has before it, and a Result whose `output_names` do. Each body counts for itself.

    ## Why it matters
    Programs find inputs and outputs by tensor name; which of the two they get is a matter of chance.

    ## What OpenVINO does
    Reads it in silence; converters have written it for layers that work in place. Asked for the name, it gives one of the two.

    ## Example
    ```xml
    <port id="1" precision="FP32" names="features">…</port>   <!-- of one layer -->
    <port id="1" precision="FP32" names="features">…</port>   <!-- of another -->
    ```

    ## How to fix it
    Rename one of the two. One tensor may have several names, but not the other way round.

    ## Use instead
    ```xml
    <port id="1" precision="FP32" names="features">…</port>
    <port id="1" precision="FP32" names="features_after">…</port>
    ```
    """

    id = DUPLICATE_TENSOR_NAME

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.kind == "layers":
            return
        hint = "rename one of the two"
        for body in context.bodies:
            if _all_differ(context, body):
                continue  # nearly always
            holders: dict[str, tuple[Layer, Port]] = {}
            for name, producer, tensor, layer, where in _names_given(context, body):
                held = holders.setdefault(name, (producer, tensor))
                if held[1] is not tensor:
                    source = context.model.source
                    place = (
                        source.attribute(tensor.offset, "names")
                        if where
                        else source.attribute(layer.offset, "output_names")
                    )
                    yield Finding(
                        Fault(
                            cls.id,
                            _taken(name, *held),
                            expected="a name of its own",
                            actual=name,
                            help=hint,
                        ),
                        place,
                        layer,
                        port=where,
                    )


def _names_given(
    context: Context, body: Body
) -> Iterator[tuple[str, Layer, Port, Layer, tuple[str, str] | None]]:
    """Each name of a tensor: the layer and port that make it, the layer that gives the name, and the port it stands at; a Result gives names without one."""
    for layer in body.layers:
        for port in layer.outputs:
            for name in port.tensor_names:
                yield name, layer, port, layer, ("output", port.id)
    for position, layer in enumerate(body.layers):
        source = (
            next(iter(context.wiring(body).sources[position]), None) if layer.output_names else None
        )
        if source is None:
            continue
        producer = body.layers[source[0]]
        for name in Port("", None, layer.output_names, layer.offset).tensor_names:
            yield name, producer, producer.outputs[source[1]], layer, None


def _all_differ(context: Context, body: Body) -> bool:
    """Whether no tensor name stands twice in a body, as a quick look at all of them tells."""
    given = [port.names for layer in body.layers for port in layer.outputs if port.names]
    if not any("\\" in names for names in given):
        given = ",".join(given).split(",")
    known = set(given)
    if len(known) < len(given):
        return False
    for position, layer in enumerate(body.layers):
        if layer.output_names:
            source = next(iter(context.wiring(body).sources[position]), None)
            own = (
                body.layers[source[0]].outputs[source[1]].tensor_names if source is not None else []
            )
            others = [
                name
                for name in Port("", None, layer.output_names, layer.offset).tensor_names
                if name not in own
            ]
            if not known.isdisjoint(others):
                return False
            known.update(others)
    return True


def _taken(name: str, layer: Layer, port: Port) -> str:
    return f"the tensor name '{name}' is taken by output port {port.id} of {layer.type} '{layer.name}' (id {layer.id})"


class MissingTensorName(Rule):
    """An input or output of the model has no tensor name.

    ## What it does
    Reports a Parameter whose port has no `names`, and a Result for whose tensor nobody gives one. Where no tensor of the file has a name, it says so once.

    ## Why it matters
    A program that asks for the input or output by name does not find it; only its number is left, which changes when an input is added.

    ## What OpenVINO does
    Reads it in silence; its own writer puts such models out. `model.input("x")` then fails. In an IR of version 10 it takes the names of the layers instead, so nothing is
    reported there.

    ## Example
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="2,3" element_type="f32"/>
        <output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Name the tensor, best by the name of the layer.

    ## Use instead
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="2,3" element_type="f32"/>
        <output><port id="0" precision="FP32" names="x"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    id = MISSING_TENSOR_NAME

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        model = context.model
        if model.kind == "layers" or model.version < 11:
            return
        net = model.net
        sources = context.wiring(net).sources
        lacking: list[tuple[Layer, Layer, Port]] = []
        for position, layer in enumerate(net.layers):
            folded = layer.type.lower()
            if folded == "parameter" and layer.outputs and not layer.outputs[0].names:
                lacking.append((layer, layer, layer.outputs[0]))
            elif (
                folded == "result"
                and not layer.output_names
                and sources[position]
                and (source := sources[position][0]) is not None
            ):
                producer = net.layers[source[0]]
                if not producer.outputs[source[1]].names and producer.type.lower() != "parameter":
                    lacking.append((layer, producer, producer.outputs[source[1]]))
        if lacking and not any(port.names for layer in net.layers for port in layer.outputs):
            layer, producer, port = lacking[0]
            message = "no tensor of the model has a name: a program can ask for its inputs and outputs by number only"
            yield Finding(
                Fault(
                    cls.id,
                    message,
                    expected="names",
                    actual="none",
                    help=f'add names="{_name(layer)}", and so on',
                ),
                port.offset,
                producer,
                port=("output", port.id),
            )
            return
        for layer, producer, port in lacking:
            what = "input" if layer is producer else "output"
            message = f"the {what} '{layer.name}' of the model has no tensor name"
            yield Finding(
                Fault(
                    cls.id,
                    message,
                    expected="names",
                    actual="none",
                    help=f'add names="{_name(layer)}" to this port',
                ),
                port.offset,
                producer,
                port=("output", port.id),
            )


def _name(layer: Layer) -> str:
    return layer.name.replace(",", "\\,") or f"{layer.type.lower()}{layer.id}"


class RuntimeInfo(Rule):
    """The `<rt_info>` of a layer says one thing twice, or something that cannot be read.

    ## What it does
    Reports a second `<attribute>` with the name and version of an earlier one in the `<rt_info>` of a layer, and values of `old_api_map_order` and
    `old_api_map_element_type` that are none. Where OpenVINO does not know the name, it is a warning.

    ## Why it matters
    One of the two is lost, and nobody says which.

    ## What OpenVINO does
    Refuses a name that it knows, without the layer: "multiple rt_info attributes are detected: fused_names". Other names it passes over in silence. In an IR of version 10
    it does not look at them.

    ## Example
    ```xml
    <rt_info>
        <attribute name="fused_names" version="0" value="mean"/>
        <attribute name="fused_names" version="0" value="relu"/>
    </rt_info>
    ```

    ## How to fix it
    Join the two, or remove one.

    ## Use instead
    ```xml
    <rt_info>
        <attribute name="fused_names" version="0" value="mean,relu"/>
    </rt_info>
    ```
    """

    id = RUNTIME_INFO

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.version < 11 or context.model.kind == "layers":
            return
        source = context.model.source
        data = source.data
        for layer in context.every_layer:
            span = layer.rt_info_span
            if span is None:
                continue
            first = data.find(b"<attribute", span[0], span[1])
            if first < 0:
                continue
            if (
                data.find(b"<attribute", first + 1, span[1]) < 0
                and data.find(b"old_api_map_", first, span[1]) < 0
            ):
                continue  # one attribute, and nothing that could be malformed: nearly all of them
            seen: dict[tuple[str, str], int] = {}
            for match in _ATTRIBUTE.finditer(data, *span):
                if match["comment"] is not None:
                    continue
                offset = match.start()
                given = {
                    name: data[start:end].decode(source.encoding, "replace")
                    for name, _, start, end in source.attributes(offset)
                }
                name, version = given.get("name"), given.get("version")
                if name is None or version is None:
                    continue  # OpenVINO passes over it
                known = name in _KNOWN and version == "0"
                if seen.setdefault((name, version), offset) != offset:
                    line, _ = source.place(seen[name, version])
                    message = (
                        f"a second `{name}` in the rt_info of the layer, after that in line {line}"
                        + ("; OpenVINO refuses it" if known else "")
                    )
                    yield Finding(
                        Fault(
                            cls.id,
                            message,
                            expected=f"one {name}",
                            actual="two",
                            help="join the two, or remove one",
                            severity=None if known else "warning",
                        ),
                        offset,
                        layer,
                    )
                    continue
                wanted = _unreadable(name, given.get("value", ""))
                if wanted:
                    place = source.attribute(offset, "value")
                    message = f"`{name}` in the rt_info of the layer is '{given.get('value', '')}', which is not {wanted}"
                    yield Finding(
                        Fault(
                            cls.id,
                            message,
                            expected=wanted,
                            actual=given.get("value"),
                            help="correct the value, or remove the attribute",
                        ),
                        place,
                        layer,
                    )


_ATTRIBUTE = re.compile(rb"(?P<comment><!--.*?-->)|<attribute\b", re.DOTALL)
_KNOWN = frozenset(
    (
        "fused_names",
        "old_api_map_order",
        "old_api_map_element_type",
        "layout",
        "nms_selected_indices",
        "decompression",
        "primitives_priority",
        "precise",
        "preprocessing",
    )
)
"""The names that OpenVINO 2026.4 has a class for, all of version 0."""


def _unreadable(name: str, value: str) -> str | None:
    """What the value of an attribute should be and is not."""
    if name == "old_api_map_order":
        return (
            None
            if re.fullmatch(r"\s*(?:-?[0-9]+\s*(?:,\s*-?[0-9]+\s*)*)?", value)
            else "a list of axes"
        )
    if name == "old_api_map_element_type":
        try:
            ElementType.of(value)
        except ValueError:
            return "the name of an element type"
    return None
