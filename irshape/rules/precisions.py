"""IR117 and IR118: the precisions of ports, i.e. the names of their element types in the file."""

from __future__ import annotations

from collections.abc import Iterator

from ..element_types import ElementType
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..rule_ids import UNKNOWN_PORT_ATTRIBUTE
from .base import Rule
from .context import Context

FEW = 0.1
"""If at most this fraction of the input ports has no precision, irshape warns of these ports."""
WRITTEN_AT_INPUTS = 11
"""The first IR version in which OpenVINO writes the precisions of input ports."""


def inputs_unlike_others(context: Context) -> list[tuple[Layer, Port]]:
    """Returns the input ports without a precision, but none of them if there are many: OpenVINO
    writes a precision for all input ports or for none."""
    if context.model.version < WRITTEN_AT_INPUTS or None not in context.precisions:
        return []
    inputs = [(layer, port) for layer in context.every_layer for port in layer.inputs]
    lacking = [(layer, port) for layer, port in inputs if port.precision is None]
    return lacking if len(lacking) <= FEW * len(inputs) else []


class MissingPrecision(Rule):
    """A port has no precision.

    ## What it does
    Reports an output port without `precision`. Input ports do not need a precision, and have none
    in IR version 10. In an IR of version 11, the rule warns of an input port without a precision if
    at least 90 % of the input ports have one.

    ## Why it matters
    The file does not state the element type of the output, so no reader accepts it.

    ## What OpenVINO does
    Rejects it with a byte offset: "node <port> is missing mandatory attribute: precision at offset
    812". Reads input ports without a precision.

    ## Example
    ```xml
    <output>
        <port id="2"><dim>2</dim><dim>1</dim></port>
    </output>
    ```

    ## How to fix it
    Add the precision; `irshape infer` shows it.

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    of_nets = True
    doubt = "values"
    suspects = ("ports",)

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if None not in context.precisions:
            return
        for layer in context.every_layer:
            for port in layer.outputs:
                if port.precision is None:
                    yield cls.finding(
                        f"output port {port.id} has no precision",
                        port,
                        layer,
                        expected="precision",
                        help='add precision="…", such as FP32',
                    )
        misnamed = context.reported.get(UNKNOWN_PORT_ATTRIBUTE, ())
        told = {(finding.layer, finding.port) for finding in misnamed}
        for layer, port in context.shared(inputs_unlike_others):
            if (layer, ("input", port.id)) in told:
                continue  # the unknown attribute probably is the misnamed precision
            yield cls.finding(
                f"input port {port.id} has no precision, although other input ports of this file "
                "have one",
                port,
                layer,
                expected="precision",
                help='add precision="…", such as FP32',
                severity="warning",
            )


class UnknownPrecision(Rule):
    """The precision of a port is not the name of an element type.

    ## What it does
    Reports a `precision` that is not one of OpenVINO's names, such as `FP32`, `I64` and `BOOL`. On
    an input port, the finding is a warning.

    ## Why it matters
    The element type of the port is unknown. Usually the name is that of another framework, such as
    `float32`.

    ## What OpenVINO does
    Rejects it on an output port, without naming the layer: "Unsupported element type: float32".
    Ignores it on an input port.

    ## Example
    ```xml
    <output>
        <port id="2" precision="float32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```

    ## How to fix it
    Write OpenVINO's name of the type: FP64 FP32 FP16 BF16, I64 I32 I16 I8 I4, U64 U32 U16 U8 U4
    BIN, BOOL, STRING …

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    doubt = "values"
    suspects = ("ports",)

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        unknown = {
            precision
            for precision in context.precisions
            if precision is not None and ElementType.of_precision(precision) is None
        }
        if not unknown:
            return
        for layer in context.every_layer:
            for direction, ports in (("output", layer.outputs), ("input", layer.inputs)):
                for port in ports:
                    if port.precision in unknown:
                        yield cls._at_port(context, layer, port, direction)

    @classmethod
    def _at_port(cls, context: Context, layer: Layer, port: Port, direction: str) -> Finding:
        from ..formats.ir.fragments import named_type

        ignored = direction == "input"
        named = named_type(port.precision or "")
        close = named and named.precision
        return cls.finding(
            f"'{port.precision}' is not a precision that OpenVINO knows"
            f"{'; OpenVINO ignores it on an input port' if ignored else ''}",
            context.model.source.attribute(port.offset, "precision"),
            layer,
            port=(direction, port.id),
            expected=close or "FP32, FP16, I64, I32, U8, BOOL …",
            actual=port.precision,
            help=f'write precision="{close}"'
            if close
            else "write OpenVINO's name for the precision",
            severity="warning" if ignored else None,
        )
