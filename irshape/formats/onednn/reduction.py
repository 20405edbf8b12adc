"""Converts the reductions of oneDNN, such as ReduceMean."""

from __future__ import annotations

from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE, MISSING_ATTRIBUTE
from ..nodes import check_axes
from .declaration import FLOATS, GraphOperation, Outputs, flag, ints, kind

KINDS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")


def _reduce(node: GraphOperation) -> Outputs:
    """Converts a reduction over the axes in the attribute or in the second input. A node must have
    either the attribute or the input."""
    x = node.x
    listed = node["axes"]
    if len(node.inputs) == 2:
        if "axes" in node.given:
            raise Violation(
                "the axes are specified twice, as an attribute and as an input",
                rule=ATTRIBUTE_VALUE,
                at="axes",
                expected="one of the two",
            )
        node.note(
            f"{node.kind} takes the axes as an input; oneDNN 3.2 to 3.13 refuses this, "
            "although the specification of oneDNN Graph allows it"
        )
        return node.add(node.kind, x, node.inputs[1], keep_dims=bool(node["keep_dims"]))
    if listed is None:
        raise Violation(
            "the axes are missing",
            rule=MISSING_ATTRIBUTE,
            expected="the attribute or the input `axes`",
            help="give the attribute `axes`",
        )
    if not listed:
        raise Violation(
            "the list of axes is empty; oneDNN does not support a reduction without axes",
            at="axes",
            expected="one axis or more",
            actual=(),
            rule=ATTRIBUTE_VALUE,
        )
    if x.rank is not None:
        check_axes(listed, x.rank)
        kept = [
            dim
            for axis, dim in enumerate(x.shape.dims or ())
            if axis not in {number % x.rank for number in listed}
        ]
        if not node["keep_dims"] and 0 in kept:
            node.note(
                "oneDNN 3.2 to 3.13 aborts the process if a dimension of 0 is not reduced and "
                "keep_dims is false"
            )
    return node.add(node.kind, x, node.numbers(listed), keep_dims=bool(node["keep_dims"]))


for _name in KINDS:
    kind(_name, (1, 2), types=FLOATS, axes=ints(), keep_dims=flag(0))(_reduce)
