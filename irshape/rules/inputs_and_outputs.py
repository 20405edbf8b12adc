"""IR125 and IR128: the names by which programs look up the inputs and outputs of a model."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.ends import End, ends
from ..model.graph import Finding, Layer
from ..model.wiring import OutputRef
from .base import Rule
from .context import Context


class MissingTensorName(Rule):
    """An input or output of the model has no tensor name.

    ## What it does
    Reports a Parameter whose port has no `names`, and a Result whose tensor has no name. If no
    tensor of the file has a name, the rule reports only the first input or output.

    ## Why it matters
    A program that looks up the input or output by name does not find it. The program can use only
    the index of the input or output, which may change when another one is added.

    ## What OpenVINO does
    Reads the model silently; its own writer emits models without names. `model.input("x")` then
    fails. In an IR of version 10, OpenVINO uses the names of the layers instead, so the rule
    reports nothing.

    ## Example
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="2,3" element_type="f32"/>
        <output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Name the tensor, preferably after the layer.

    ## Use instead
    ```xml
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="2,3" element_type="f32"/>
        <output><port id="0" precision="FP32" names="x"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    of_nets = True
    trifling = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.version < 11:
            return
        unnamed = list(_unnamed(context))
        layers = context.model.net.layers
        if unnamed and not any(port.names for layer in layers for port in layer.outputs):
            yield cls.missing(
                unnamed[0],
                "no tensor of the model has a name: programs can refer to its inputs and outputs "
                "only by index",
                f'add names="…" to the ports, such as names="{_name(unnamed[0].layer)}" here',
            )
            return
        for end in unnamed:
            yield cls.missing(
                end,
                f"{end.what} of the model has no tensor name",
                f'add names="{_name(end.layer)}" to this port',
            )

    @classmethod
    def missing(cls, end: End, message: str, help: str) -> Finding:
        return cls.finding(
            message,
            end.port.offset,
            end.producer,
            port=("output", end.port.id),
            expected="names",
            actual="none",
            help=help,
        )


def ends_of(context: Context) -> Iterator[End]:
    """Yields the inputs and outputs of the model, in file order."""
    net = context.model.net
    layers = (*context.by_type.get("parameter", ()), *context.by_type.get("result", ()))
    positions = sorted(position for body, position in layers if body is net)
    return ends(net, context.wiring(net), positions)


def _unnamed(context: Context) -> Iterator[End]:
    """Yields the model's inputs and outputs without a tensor name. Leaves out an output that an
    input feeds directly: both have the same names, and the input is reported.
    """
    ends = list(ends_of(context))
    named = {id(end.port) for end in ends if end.layer.output_names}
    for end in ends:
        fed_by_an_input = end.producer.is_parameter and end.layer is not end.producer
        if not (end.port.names or id(end.port) in named or fed_by_an_input):
            yield end


def _name(layer: Layer) -> str:
    """Returns the name of a layer, escaped as a port's `names` requires."""
    return layer.name.replace(",", "\\,") or f"{layer.type.lower()}{layer.id}"


class CollidingName(Rule):
    """In an IR of version 10, two inputs or outputs of the model have the same name.

    ## What it does
    In an IR of version 10, OpenVINO gives each input and output of the model one more name, beside
    its tensor names. An input gets the name of its Parameter. An output gets the name of the layer
    that produces it, with `.0`, `.1` … if that layer has several outputs. The rule reports this
    name if another input or output has it, too. It also reports a named tensor that is both an
    input and an output of the model (a Parameter that feeds a Result), or two outputs (a port that
    feeds two Results).

    ## Why it matters
    OpenVINO does not read the file. IR version 11 has no such names: a tool that adds tensor names
    to an old IR, or a Result to a named tensor, writes a file that is valid only as version 11.

    ## What OpenVINO does
    Refuses the file: "Model operation names have collisions with tensor names", "Model tensor names
    have collisions". Releases before 2025.0 accept a tensor that is an input and an output, or two
    outputs.

    ## Example
    ```xml
    <net name="m" version="10">
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="2,3" element_type="f32"/>
        <output><port id="0" precision="FP32" names="y">…</port></output>
    </layer>
    <layer id="1" name="y" type="ReLU" version="opset1">…</layer>    <!-- makes an output -->
    ```

    ## How to fix it
    Rename the tensor or the layer, or remove the tensor name. With `version="11"`, OpenVINO does
    not use the names of layers; programs then find inputs and outputs only by tensor name.

    ## Use instead
    ```xml
    <net name="m" version="10">
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="2,3" element_type="f32"/>
        <output><port id="0" precision="FP32" names="x">…</port></output>
    </layer>
    <layer id="1" name="y" type="ReLU" version="opset1">…</layer>
    ```
    """

    of_nets = True
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if context.model.version != 10:
            return
        named = list(ends_of(context))
        holders: dict[str, End] = {}
        tensors: dict[OutputRef, End] = {}
        for end in named:
            first = tensors.setdefault(end.ref, end)
            if first is not end and end.port.tensor_names:
                yield cls.doubled(end, first)
            for name in end.port.tensor_names:
                holders.setdefault(name, end)
        told: set[tuple[str, OutputRef]] = set()
        for end in sorted(named, key=lambda end: end.layer.is_parameter):
            name = end.name_of_layer
            holder = holders.setdefault(name, end)
            if holder.ref == end.ref or (name, end.ref) in told:
                continue
            told.add((name, end.ref))
            is_tensor_name = name in holder.port.tensor_names
            other = f"{holder.what} has this tensor name"
            yield cls.finding(
                f"in IR version 10, OpenVINO names {end.what} after this layer: '{name}'; "
                + (other if is_tensor_name else f"{holder.what} has the same name"),
                end.producer.offset,
                end.producer,
                expected="a unique name",
                actual=name,
                help='rename the layer or the tensor, or write version="11" in <net>',
            )

    @classmethod
    def doubled(cls, end: End, first: End) -> Finding:
        """Returns the finding on a named tensor that is an input and an output, or two outputs."""
        name = end.port.tensor_names[0]
        return cls.finding(
            f"the tensor '{name}' is both {first.what} and {end.what} of the model; OpenVINO "
            "refuses this in IR version 10 if the tensor has a name",
            end.layer.offset,
            end.layer,
            expected="a single input or output for a tensor with a name",
            actual=name,
            help=f"remove the `names` of output port {end.port.id} of {end.producer.label}, "
            'or write version="11" in <net>',
        )
