"""Converts DFT, the discrete Fourier transform."""

from __future__ import annotations

from ...faults import Violation
from ...rule_ids import INPUT_SHAPES
from .declaration import Node, NodeOutput, Outputs, operator


@operator("DFT")
def dft(node: Node) -> Outputs:
    """Converts DFT: of real numbers if the last axis has size 1, of complex ones if it has size 2.

    With `onesided`, computes only the half of the result that determines the other half.
    """
    x, length = node.x, node.input(1)
    rank = node.rank(x, "along its axis")
    given = node.input(2)
    if given is None or given.known is not None:
        number = node["axis"] if node.version == 17 else -2
        if given is not None and given.known:
            number = given.known[0]
        axis = node.axes("axis", [number], rank)[0]
        axes = node.numbers([axis])
    else:  # known at run time only
        axis = 0
        axes = node.add(
            "FloorMod", node.reshaped(node.convert(given, "i64"), [1]), node.numbers([rank])
        )
    last = x.shape.dims[-1] if x.shape.dims is not None else None
    if last is None or last.low not in (1, 2) or not last.is_static or axis == rank - 1:
        raise Violation(
            f"DFT takes real or complex numbers along the last axis, of size 1 or 2, got {x.shape}",
            rule=INPUT_SHAPES,
            expected="1 or 2",
            actual=last,
        )
    real, inverse, half = last.low == 1, node.flag("inverse"), node.flag("onesided")
    sizes = [] if length is None else [node.convert(node.reshaped(length, [1]), "i64")]
    if inverse and half:
        inverted = node.add("IRDFT", _complex(node, x, real), axes, *sizes)
        return node.add("Unsqueeze", inverted, node.numbers([-1]))
    if half:
        if not real:
            raise Violation(
                "a one-sided DFT takes only real numbers",
                rule=INPUT_SHAPES,
                at="onesided",
                expected="a last axis of 1",
                actual=last,
            )
        return node.add("RDFT", node.add("Squeeze", x, node.numbers([rank - 1])), axes, *sizes)
    return node.add("IDFT" if inverse else "DFT", _complex(node, x, real), axes, *sizes)


def _complex(node: Node, x: NodeOutput, real: bool) -> NodeOutput:
    """Adds an imaginary part of 0 to real numbers."""
    return node.add("Concat", x, node.add("Multiply", x, node.like(x, 0)), axis=-1) if real else x
