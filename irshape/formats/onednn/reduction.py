"""The Reduce family."""

from __future__ import annotations

from .declaration import FLOATS, Made, Operation, Refusal, flag, ints, kind

KINDS = ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")


def _reduce(operation: Operation) -> Made:
    """Over the axes of the attribute or of the second input: exactly one of the two."""
    x = operation.x
    listed = operation["axes"]
    if len(operation.inputs) == 2:
        if "axes" in operation.given:
            raise Refusal(
                "the axes are given twice, as an attribute and as an input",
                rule="attribute-value",
                at="axes",
                expected="one of the two",
            )
        operation.note(
            f"{operation.kind} takes its axes as an input; the library (3.2 to 3.13) refuses that, though its specification allows it"
        )
        return operation.add(
            operation.kind, x, operation.inputs[1], keep_dims=bool(operation["keep_dims"])
        )
    if listed is None:
        raise Refusal(
            "the axes are missing",
            rule="missing-attribute",
            expected="the attribute or the input `axes`",
            help="give the attribute `axes`",
        )
    if not listed:
        raise Refusal(
            "the list of axes is empty: the library supports no such reduction",
            rule="attribute-value",
            at="axes",
            expected="one axis or more",
            seen=[],
        )
    if x.rank is not None:
        outside = [axis for axis in listed if not -x.rank <= axis < x.rank]
        if outside:
            raise Refusal(
                f"`axes` holds {outside[0]}, outside [{-x.rank}, {x.rank - 1}] for an input of rank {x.rank}",
                rule="input-value",
                at="axes",
                expected=f"[{-x.rank}, {x.rank - 1}]",
                seen=outside[0],
            )
        if len({axis % x.rank for axis in listed}) < len(listed):
            raise Refusal(
                f"`axes` holds an axis twice: {listed}",
                rule="duplicate-values",
                at="axes",
                expected="distinct axes",
                seen=listed,
            )
        kept = [
            dim
            for axis, dim in enumerate(x.shape.dims or ())
            if axis not in {found % x.rank for found in listed}
        ]
        if not operation["keep_dims"] and 0 in kept:
            operation.note(
                "the library (3.2 to 3.13) aborts the process on a dimension of 0 that is not reduced, unless keep_dims is true"
            )
    return operation.add(
        operation.kind, x, operation.numbers(listed), keep_dims=bool(operation["keep_dims"])
    )


for _name in KINDS:
    kind(_name, (1, 2), types=FLOATS, axes=ints(), keep_dims=flag(0))(_reduce)
