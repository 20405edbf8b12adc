"""IR12x: the names of variables and tensors, and run-time information (`<rt_info>`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import compress

from ..element_types import ElementType
from ..faults import Violation
from ..model.graph import Body, Finding, Layer
from ..model.ports import Port, names_in
from ..ops.infrastructure import check_assigned
from ..ops.tensors import Tensor
from .base import Rule
from .context import Context


def _variable(layer: Layer) -> str | None:
    return layer.attribute("variable_id")


class UnknownVariable(Rule):
    """An Assign names a variable that no ReadValue reads.

    ## What it does
    Reports an Assign if no ReadValue in the same net or body has its `variable_id`, or if no path
    leads from this ReadValue to a Result or an Assign. Also warns of two Assigns of one variable if
    another variable is read but never assigned: one of these Assigns probably has the wrong
    `variable_id`.

    ## Why it matters
    The assigned value is never used. A `variable_id` is wrong, or an edge is missing.

    ## What OpenVINO does
    Rejects the model: "map::at". OpenVINO looks for the ReadValue only in the Assign's body, among
    the layers on which a Result or an Assign depends. It reads no bodies of unused layers.

    ## Example
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="state" variable_type="f32" variable_shape="2,3"/>…
    </layer>
    <layer id="2" name="assign" type="Assign" version="opset6"><data variable_id="stat"/>…</layer>
    ```

    ## How to fix it
    Give both layers the same `variable_id`, and connect the ReadValue.

    ## Use instead
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="state" variable_type="f32" variable_shape="2,3"/>…
    </layer>
    <layer id="2" name="assign" type="Assign" version="opset6"><data variable_id="state"/>…</layer>
    ```
    """

    of_nets = True
    doubt = "values"
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        read = {_variable(layer) for layer in context.layers("readvalue")}
        known = ", ".join(sorted(name for name in read if name)) or "none"
        lonely = sorted(filter(None, read - {_variable(each) for each in context.layers("assign")}))
        unread = set(cls._unread(context))
        seen: set[tuple[tuple[str, ...], str]] = set()
        for layer in context.layers("assign"):
            variable = layer.attribute("variable_id")
            if variable is not None and lonely and (layer.path, variable) in seen:
                yield cls.finding(
                    f"another Assign already assigns the variable '{variable}', and no Assign "
                    f"assigns '{lonely[0]}'",
                    context.model.source.attribute(layer.data_offset, "variable_id"),
                    layer,
                    expected=", ".join(lonely),
                    actual=variable,
                    help="assign each variable once",
                    severity="warning",
                )
            seen.add((layer.path, variable or ""))
            if variable is None or layer not in unread:
                continue
            misnamed = variable not in read
            yield cls.finding(
                f"no ReadValue reads the variable '{variable}' (variables that are read: {known})"
                if misnamed
                else f"OpenVINO finds no ReadValue of the variable '{variable}': in the same "
                "body, a path must lead from the ReadValue to a Result or an Assign",
                context.model.source.attribute(layer.data_offset, "variable_id"),
                layer,
                expected=known if misnamed else "a ReadValue that leads to a Result or an Assign",
                actual=variable if misnamed else "none",
                help="give the Assign and its ReadValue the same variable_id"
                if misnamed
                else "connect the ReadValue, or remove the Assign",
            )

    @staticmethod
    def _unread(context: Context) -> Iterator[Layer]:
        """Yields the Assigns for which OpenVINO finds no ReadValue in the same body."""
        waiting = [context.model.net] if "assign" in context.by_type else []
        for body in waiting:
            used = list(compress(body.layers, context.links(body).used()))
            read = {_variable(each) for each in used if each.is_read_value}
            for layer in used:
                if layer.folded_type == "assign" and _variable(layer) not in read:
                    yield layer
                waiting += (layer.bodies or {}).values()


class VariableMismatch(Rule):
    """An Assign gives its variable another type or shape than the ReadValue declares.

    ## What it does
    Reports an Assign if its input fits none of the ReadValues of the same `variable_id`. To fit,
    the element types must be equal, and the shapes compatible.

    ## Why it matters
    The model cannot be compiled.

    ## What OpenVINO does
    Reads the model, but refuses to compile it: "Check 'input_shape.compatible(variable_shape)'
    failed".

    ## Example
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="state" variable_type="f32" variable_shape="2,3"/>…
    </layer>
    <layer id="2" name="assign" type="Assign" version="opset6">
        <data variable_id="state"/>
        <input>
            <port id="0" precision="FP32"><dim>2</dim><dim>4</dim></port>
        </input>…
    </layer>
    ```

    ## How to fix it
    Assign a value of the type and shape that the ReadValue declares, or declare a less specific
    `variable_shape`, such as `2,?`.
    """

    of_nets = True
    doubt = "values"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        held: dict[str | None, dict[Tensor, None]] = {}
        for layer in context.layers("readvalue"):
            tensors = held.setdefault(_variable(layer), {})
            tensors.update(dict.fromkeys(context.inference.outputs(layer)[:1]))
        for layer in context.layers("assign"):
            faults = []
            for tensor in held.get(_variable(layer), ()):
                try:
                    for new in context.inference.outputs(layer)[:1]:
                        check_assigned(_variable(layer) or "", tensor, new)
                except Violation as violation:
                    faults.append(violation.fault)
            if faults and len(faults) == len(held[_variable(layer)]):
                port = layer.inputs[0]
                yield Finding(faults[0], layer.offset, layer, ("input", port.id))


class UnassignedVariable(Rule):
    """A variable is read but never assigned.

    ## What it does
    Reports a ReadValue if no Assign in the model or its bodies has the same `variable_id`.

    ## Why it matters
    The variable always keeps its initial value. If it should keep a state from one inference to the
    next, it does not.

    ## What OpenVINO does
    Reads the model silently; its own writer emits models of this kind.

    ## Example
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="state" variable_type="f32" variable_shape="2,3"/>…
    </layer>
    ```

    ## How to fix it
    Add the Assign, or use the initial value instead of the ReadValue.

    ## Use instead
    ```xml
    <layer id="1" name="read" type="ReadValue" version="opset6">
        <data variable_id="state" variable_type="f32" variable_shape="2,3"/>…
    </layer>
    <layer id="2" name="assign" type="Assign" version="opset6"><data variable_id="state"/>…</layer>
    ```
    """

    of_nets = True
    trifling = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        assigned = {layer.attribute("variable_id") for layer in context.layers("assign")}
        known = ", ".join(sorted(name for name in assigned if name)) or "none"
        for layer in context.layers("readvalue"):
            variable = layer.attribute("variable_id")
            if variable is not None and variable not in assigned:
                yield cls.finding(
                    f"the variable '{variable}' is read, but no Assign assigns it: it keeps its "
                    f"initial value (variables that are assigned: {known})",
                    context.model.source.attribute(layer.data_offset, "variable_id"),
                    layer,
                    expected="an Assign of this variable",
                    actual="none",
                    help="add the Assign, or replace the ReadValue by its initial value",
                )


class DuplicateTensorName(Rule):
    """Two tensors of a net have the same name.

    ## What it does
    Reports an output port (`names`) or a Result (`output_names`) that uses a name of an earlier
    output port. Each body has its own names.

    ## Why it matters
    Programs look up inputs and outputs by name; which of the two tensors they get is undefined.

    ## What OpenVINO does
    Reads the model silently, and returns one of the two tensors for the name. Converters wrote
    repeated names for the input and output of in-place layers.

    ## Example
    ```xml
    <port id="1" precision="FP32" names="features">…</port>   <!-- output of a layer -->
    <port id="1" precision="FP32" names="features">…</port>   <!-- output of another layer -->
    ```

    ## How to fix it
    Rename one of the tensors. A tensor may have several names, but a name belongs to one tensor.

    ## Use instead
    ```xml
    <port id="1" precision="FP32" names="features">…</port>
    <port id="1" precision="FP32" names="features_after">…</port>
    ```
    """

    of_nets = True
    trifling = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for body in context.bodies:
            if _all_differ(context, body):
                continue  # as in nearly every body
            twice: dict[str, tuple[Layer, Port, Layer, Port, Layer, tuple[str, str] | None]] = {}
            holders: dict[str, tuple[Layer, Port]] = {}
            for name, producer, tensor, layer, where in _names_given(context, body):
                holder, held = holders.setdefault(name, (producer, tensor))
                if held is not tensor:
                    twice.setdefault(name, (holder, held, producer, tensor, layer, where))
            shown = list(twice.items())
            for name, (holder, held, _, tensor, layer, where) in shown[:MOST_NAMES]:
                more = len(shown) - MOST_NAMES if name == shown[0][0] else 0
                others = f"; {more} other names are also used twice" if more > 0 else ""
                place = context.model.source.attribute
                yield cls.finding(
                    f"the tensor name '{name}' is already used by output port {held.id} of "
                    f"{holder.label}{others}",
                    place(tensor.offset, "names") if where else place(layer.offset, "output_names"),
                    layer,
                    port=where,
                    expected="a unique name",
                    actual=name,
                    help="rename one of the two tensors",
                )


MOST_NAMES = 3
"""The rule reports at most this number of repeated names individually."""


def _names_given(
    context: Context, body: Body
) -> Iterator[tuple[str, Layer, Port, Layer, tuple[str, str] | None]]:
    """Yields tuples: a tensor name, the layer and the port that produce the tensor, and the layer
    and the port (direction and id) that declare the name.

    The last item is None if a Result declares the name, in its `output_names`.
    """
    for layer in body.layers:
        for port in layer.outputs:
            for name in port.tensor_names:
                yield name, layer, port, layer, ("output", port.id)
    for position, layer in enumerate(body.layers):
        if not layer.output_names:
            continue
        source = next(iter(context.wiring(body).sources[position]), None)
        if source is None:
            continue
        producer = body.layers[source[0]]
        for name in names_in(layer.output_names):
            yield name, producer, producer.outputs[source[1]], layer, None


def _all_differ(context: Context, body: Body) -> bool:
    """Returns whether a quick check shows that no tensor name is used twice in a body."""
    ports = [port for layer in body.layers for port in layer.outputs]
    texts = [port.names for port in ports if port.names]
    names = ",".join(texts).split(",")
    known = set(names)
    if len(known) < len(names) or any("\\" in text for text in texts):
        return False
    for position, layer in enumerate(body.layers):
        if layer.output_names:
            source = next(iter(context.wiring(body).sources[position]), None)
            own = () if source is None else body.layers[source[0]].outputs[source[1]].tensor_names
            others = set(names_in(layer.output_names)).difference(own)
            if not known.isdisjoint(others):
                return False
            known |= others
    return True


class RuntimeInfo(Rule):
    """The `<rt_info>` of a layer repeats an attribute, or has an invalid value.

    ## What it does
    Reports a second `<attribute>` with the name and version of an earlier one in the `<rt_info>` of
    a layer, and an invalid value of `old_api_map_order` and `old_api_map_element_type`. For a
    repeated name that OpenVINO does not know, the finding is a warning.

    ## Why it matters
    One of the two attributes is silently lost, or OpenVINO refuses the file.

    ## What OpenVINO does
    Rejects a repeated name that it knows, without naming the layer: "multiple rt_info attributes
    are detected: fused_names". Silently ignores other names. In an IR of version 10, it does not
    read these attributes.

    ## Example
    ```xml
    <rt_info>
        <attribute name="fused_names" version="0" value="mean"/>
        <attribute name="fused_names" version="0" value="relu"/>
    </rt_info>
    ```

    ## How to fix it
    Merge the two attributes, or remove one. Correct an invalid value.

    ## Use instead
    ```xml
    <rt_info>
        <attribute name="fused_names" version="0" value="mean,relu"/>
    </rt_info>
    ```
    """

    of_nets = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.version < 11:
            return
        data = context.model.source.data
        for layer in context.every_layer:
            if layer.rt_info_span is not None and _repeats(data, layer.rt_info_span):
                yield from cls._in_layer(context, layer, layer.rt_info_span)

    @classmethod
    def _in_layer(cls, context: Context, layer: Layer, span: tuple[int, int]) -> Iterator[Finding]:
        source = context.model.source
        places: dict[tuple[str, str], int] = {}
        for match in _ATTRIBUTE.finditer(source.data, *span):
            if match["comment"] is not None:
                continue
            offset = match.start()
            texts = {
                name: source.data[start:end].decode(source.encoding, "replace")
                for name, _, start, end in source.attributes(offset)
            }
            name, version, value = texts.get("name"), texts.get("version"), texts.get("value", "")
            if name is None or version is None:
                continue  # OpenVINO ignores it
            first = places.setdefault((name, version), offset)
            if first != offset:
                line, _ = source.place(first)
                refused = name in _KNOWN and version == "0"
                yield cls.finding(
                    f"the rt_info of the layer has two attributes `{name}`; the first is in line "
                    f"{line}{'; OpenVINO refuses this' if refused else ''}",
                    offset,
                    layer,
                    expected=f"one {name}",
                    actual="two",
                    help="join the two attributes, or remove one",
                    severity=None if refused else "warning",
                )
                continue
            wanted = _unreadable(name, value)
            if wanted:
                yield cls.finding(
                    f"`{name}` in the rt_info of the layer is '{value}', which is not {wanted}",
                    source.attribute(offset, "value"),
                    layer,
                    expected=wanted,
                    actual=texts.get("value"),
                    help="correct the value, or remove the attribute",
                )


def _repeats(data: bytes, span: tuple[int, int]) -> bool:
    """Whether an <rt_info> needs the slower check for repeated entries: only one with two
    attributes, or with an `old_api_map_…`, does."""
    first = data.find(b"<attribute", *span)
    return first >= 0 and (
        data.find(b"<attribute", first + 1, span[1]) >= 0
        or data.find(b"old_api_map_", first, span[1]) >= 0
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
"""The attributes in the `<rt_info>` of layers that OpenVINO 2026.4 reads. All have version 0."""


def _unreadable(name: str, value: str) -> str | None:
    """Returns the description of a valid value, e.g. `a list of axes`, if `value` is invalid;
    otherwise None."""
    if name == "old_api_map_order":
        order = r"\s*(?:-?[0-9]+\s*(?:,\s*-?[0-9]+\s*)*)?"
        return None if re.fullmatch(order, value) else "a list of axes"
    if name == "old_api_map_element_type":
        try:
            ElementType.of(value)
        except ValueError:
            return "the name of an element type"
    return None
