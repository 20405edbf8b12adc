"""Converts operators that move elements: reshape, slice, gather, scatter, join and pad."""

from __future__ import annotations

from math import prod
from typing import Any

from ...faults import Violation
from ...ops.conditions import distinct
from ...rule_ids import DUPLICATE_VALUES, INPUT_VALUE, MISSING_ATTRIBUTE
from ..nodes import END, refusal, unknown
from .declaration import Node, NodeOutput, Outputs, operator


@operator("Reshape")
def reshape(node: Node) -> Outputs:
    """Converts Reshape. A size of 0 keeps the dimension; with `allowzero`, it means size 0."""
    wanted = (
        node.numbers(node["shape"] or [], shape=(len(node["shape"] or ()),))
        if node.version == 1
        else node.need(1)
    )
    return node.add("Reshape", node.x, wanted, special_zero=not node["allowzero"])


@operator("Flatten")
def flatten(node: Node) -> Outputs:
    x = node.x
    axis = node.axis("axis", x.rank, end=True)
    static = x.shape.static
    if axis == 1 and 0 not in (static or ()):
        return node.reshaped(x, [0, -1], zero=True)
    if axis == 0:
        return node.reshaped(x, [1, -1] if static is None or 0 not in static else [1, prod(static)])
    if static is not None and 0 in static:
        return node.reshaped(x, [prod(static[:axis]), prod(static[axis:])])
    if x.rank is not None and axis == x.rank:
        return node.reshaped(x, [-1, 1])
    first = node.sliced(node.shape_of(x), 0, axis)
    rows = node.add("ReduceProd", first, node.numbers([0]), keep_dims=True)
    return node.reshaped(x, node.add("Concat", rows, node.numbers([-1]), axis=0))


@operator("Squeeze")
def squeeze(node: Node) -> Outputs:
    axes = _axes(node)
    return node.add("Squeeze", node.x) if axes is None else node.add("Squeeze", node.x, axes)


@operator("Unsqueeze")
def unsqueeze(node: Node) -> Outputs:
    axes = _axes(node, added=True)
    if axes is None:
        raise Violation("Unsqueeze has no axes", rule=MISSING_ATTRIBUTE)
    return node.add("Unsqueeze", node.x, axes)


def _axes(node: Node, *, added: bool = False) -> NodeOutput | None:
    """Returns the axes of Squeeze or Unsqueeze: an attribute before version 13, then an input."""
    given = node.input(1)
    listed = list(given.known) if given is not None and given.known is not None else node["axes"]
    if listed is not None and node.x.rank is not None:
        rank = node.x.rank + (len(listed) if added else 0)
        node.axes("axes", listed, rank)
        distinct(listed, rank=rank, rule=DUPLICATE_VALUES)
    return given if given is not None else None if listed is None else node.numbers(listed)


@operator("Transpose")
def transpose(node: Node) -> Outputs:
    order = node["perm"]
    if order is None:
        order = [] if node.x.rank is None else list(range(node.x.rank))[::-1]
    return node.add("Transpose", node.x, node.numbers(order, shape=(len(order),)))


@operator("Concat")
def concat(node: Node) -> Outputs:
    axis = node["axis"] if node["axis"] is not None else 1  # the default of version 1
    node.axes("axis", [axis], node.x.rank)
    return node.add("Concat", *node.every_input, axis=axis)


@operator("Split")
def split(node: Node) -> Outputs:
    x, given = node.x, node.input(1)
    axis = node.axis("axis", x.rank)
    sizes = node["split"]
    where = node.numbers(axis)
    if given is not None:
        return node.all("VariadicSplit", x, where, given)
    if sizes:
        return node.all("VariadicSplit", x, where, node.numbers(sizes))
    count = len(node.outputs)
    if node["num_outputs"] not in (None, count):
        raise refusal("num_outputs", node["num_outputs"], f"{count}, the number of outputs")
    dim = (
        None if x.shape.dims is None or not x.shape.dims[axis].is_static else x.shape.dims[axis].low
    )
    if dim is not None and dim % count and node.version >= 18:
        each = -(-dim // count)
        return node.all(
            "VariadicSplit",
            x,
            where,
            node.numbers([min(each, max(dim - each * index, 0)) for index in range(count)]),
        )
    return node.all("Split", x, where, num_splits=count)


@operator("Slice")
def slice_(node: Node) -> Outputs:
    x = node.x
    if node.version == 1:
        starts, ends = node["starts"], node["ends"]
        axes = node["axes"] or list(range(len(starts)))
        node.axes("axes", axes, x.rank)
        return node.add(
            "Slice",
            x,
            node.numbers(starts),
            node.numbers(ends),
            node.numbers([1] * len(starts)),
            node.numbers(axes),
        )
    start, stop, axes_given, step = node.need(1), node.need(2), node.input(3), node.input(4)
    if axes_given is not None and axes_given.known is not None:
        node.axes("axes", axes_given.known, x.rank)
    if step is None:
        count = start.shape.static
        step = (
            node.broadcast(node.like(start, 1), node.shape_of(start))
            if count is None
            else node.numbers([1] * (count[0] if count else 1))
        )
    return node.add("Slice", x, start, stop, step, *([axes_given] if axes_given else []))


@operator("Gather")
def gather(node: Node) -> Outputs:
    axis = node.axis("axis", node.x.rank, negative_since=1)
    return node.add("Gather", node.x, node.need(1), node.numbers(axis), version="opset8")


@operator("GatherElements")
def gather_elements(node: Node) -> Outputs:
    axis = node.axis("axis", node.x.rank)
    indices = _from_front(node, node.need(1), node.x, axis)
    return node.add("GatherElements", node.x, indices, axis=axis)


def _from_front(node: Node, indices: NodeOutput, data: NodeOutput, axis: int) -> NodeOutput:
    """Makes indices non-negative, since OpenVINO's GatherElements allows no negative ones."""
    known = indices.tensor.value
    if known is not None and all(number >= 0 for number in known.lower):
        return indices
    size = node.size_of(data, axis)
    zero = node.like(indices, 0)
    return node.add(
        "Select",
        node.add("Less", indices, zero),
        node.add("Add", indices, node.add("ConvertLike", size, indices)),
        indices,
    )


@operator("GatherND")
def gather_nd(node: Node) -> Outputs:
    return node.add(
        "GatherND", node.x, node.need(1), version="opset8", batch_dims=node["batch_dims"] or 0
    )


_REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}


@operator("Scatter", "ScatterElements")
def scatter_elements(node: Node) -> Outputs:
    axis = node.axis("axis", node.x.rank, negative_since=9)
    return node.add(
        "ScatterElementsUpdate",
        node.x,
        node.need(1),
        node.need(2),
        node.numbers(axis),
        version="opset12",
        reduction=node.choice("reduction", _REDUCTIONS, "none"),
        use_init_val=True,
    )


@operator("ScatterND")
def scatter_nd(node: Node) -> Outputs:
    return node.add(
        "ScatterNDUpdate",
        node.x,
        node.need(1),
        node.need(2),
        version="opset15",
        reduction=node.choice("reduction", _REDUCTIONS, "none"),
    )


@operator("Expand")
def expand(node: Node) -> Outputs:
    return node.add("Broadcast", node.x, node.need(1), version="opset3", mode="bidirectional")


@operator("Tile")
def tile(node: Node) -> Outputs:
    if node.version == 1:
        raise Violation(
            "Tile of version 1 takes the axis as an input, which irshape does not read; later "
            "versions take the number of repeats for each axis"
        )
    return node.add("Tile", node.x, node.need(1))


@operator("Pad")
def pad(node: Node) -> Outputs:
    """Converts Pad. `pads` has the begins of all axes (or those in `axes`), then their ends."""
    x = node.x
    mode = node.choice("mode", ("constant", "reflect", "edge", "wrap"))
    value = (
        node.input(2) if node.version >= 11 else node.numbers(node["value"], x.element_type.name)
    )
    value = node.like(x, 0) if value is None else node.scalar(value)
    if node.version < 11:
        listed = list(node["pads"] or node["paddings"] or ())
        begins, ends = _padding(node, listed, node["axes"])
    elif (known := node.need(1).known) is not None:
        axes = node.input(3)
        if axes is not None and axes.known is None:
            raise unknown("Pad", "its axes are", INPUT_VALUE, "axes")
        begins, ends = _padding(node, list(known), None if axes is None else list(axes.known or ()))
    elif node.input(3) is not None or mode == "wrap":
        raise unknown("Pad with axes or of mode wrap", "its pads are", INPUT_VALUE, "pads")
    else:
        begins_value, ends_value = node.all("Split", node.need(1), node.numbers(0), num_splits=2)
        return node.add("Pad", x, begins_value, ends_value, value, version="opset12", pad_mode=mode)
    if mode == "wrap":
        return _wrapped(node, begins, ends)
    inputs = (x, node.numbers(begins, shape=(len(begins),)), node.numbers(ends, shape=(len(ends),)))
    return node.add(
        "Pad", *inputs, *((value,) if mode == "constant" else ()), version="opset12", pad_mode=mode
    )


def _padding(node: Node, pads: list[int], axes: list[int] | None) -> tuple[list[int], list[int]]:
    half = len(pads) // 2
    if axes is None:
        if node.x.rank is not None and len(pads) != 2 * node.x.rank:
            raise Violation(
                at="pads",
                relation="count",
                expected=2 * node.x.rank,
                actual=len(pads),
                rule=INPUT_VALUE,
            )
        return pads[:half], pads[half:]
    rank = node.rank(node.x, "with axes")
    begins, ends = [0] * rank, [0] * rank
    for index, axis in enumerate(node.axes("axes", axes, rank)):
        begins[axis], ends[axis] = pads[index], pads[half + index]
    return begins, ends


def _wrapped(node: Node, begins: list[int], ends: list[int]) -> NodeOutput:
    """Pads each axis with elements from the opposite end of the axis."""
    wrapped = node.x
    for axis, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        if begin < 0 or end < 0:
            raise Violation(
                "irshape does not read Pad of mode wrap with negative pads",
                rule=INPUT_VALUE,
                at="pads",
            )
        parts = [wrapped]
        if begin:
            parts.insert(0, node.sliced(wrapped, -begin, END, axis))
        if end:
            parts.append(node.sliced(wrapped, 0, end, axis))
        wrapped = node.add("Concat", *parts, axis=axis) if len(parts) > 1 else wrapped
    return wrapped


@operator("DepthToSpace", "SpaceToDepth")
def depth_to_space(node: Node) -> Outputs:
    mode = node.choice("mode", {"DCR": "blocks_first", "CRD": "depth_first"}, "DCR")
    return node.add(node.kind, node.x, block_size=node["blocksize"], mode=mode)


@operator("Trilu")
def trilu(node: Node) -> Outputs:
    """Converts Trilu by comparing row and column numbers, since OpenVINO has no such operation."""
    x = node.x
    rank = node.rank(x, "as a batch of matrices")
    rows, columns = (node.counted(node.size_of(x, rank + index)) for index in (-2, -1))
    down = node.add("Unsqueeze", rows, node.numbers([1]))
    k = node.input(1)
    if k is not None:
        down = node.add("Add", down, node.scalar(k))
    kept = node.add("GreaterEqual" if node.flag("upper") else "LessEqual", columns, down)
    return node.add("Select", kept, x, node.like(x, 0))


@operator("NonZero")
def non_zero(node: Node) -> Outputs:
    return node.add("NonZero", node.x, output_type="i64")


@operator("Compress")
def compress(node: Node) -> Outputs:
    x = node.x
    axis = 0 if node["axis"] is None else node.axis("axis", x.rank)
    data = node.reshaped(x, [-1]) if node["axis"] is None else x
    chosen = node.add(
        "Squeeze", node.add("NonZero", node.need(1), output_type="i64"), node.numbers([0])
    )
    return node.add("Gather", data, chosen, node.numbers(axis), version="opset8")


@operator("ReverseSequence")
def reverse_sequence(node: Node) -> Outputs:
    return node.add(
        "ReverseSequence",
        node.x,
        node.need(1),
        batch_axis=node["batch_axis"],
        seq_axis=node["time_axis"],
    )


@operator("OneHot")
def one_hot(node: Node) -> Outputs:
    """Converts OneHot. Any numeric types are allowed; negative indices count from the end."""
    indices, depth, values = (node.need(index) for index in range(3))
    depth = node.convert(node.scalar(depth), "i64")
    indices = node.convert(indices, "i64")
    inside = node.add(
        "LogicalAnd",
        node.add("GreaterEqual", indices, node.add("Negative", depth)),
        node.add("Less", indices, depth),
    )
    positive = node.add("Select", inside, node.add("FloorMod", indices, depth), node.numbers(-1))
    off, on = node.all("Split", values, node.numbers(0), num_splits=2)
    zero = node.numbers([0])
    on, off = (node.add("Squeeze", value, zero) for value in (on, off))
    return node.add("OneHot", positive, depth, on, off, version="opset1", axis=node["axis"])


@operator("TopK")
def top_k(node: Node) -> Outputs:
    rank = node.rank(node.x, "with its axis")
    axis = node.axis("axis", rank)
    if node.version == 1:
        k = node.numbers(node["k"])
    else:
        k = node.need(1)
        k = k if k.rank == 0 else node.add("Squeeze", k, node.numbers([0]))
    mode = "max" if node["largest"] in (None, 1) else "min"
    sort = "value" if node["sorted"] in (None, 1) else "none"
    return node.all(
        "TopK",
        node.x,
        k,
        version="opset11",
        axis=axis,
        mode=mode,
        sort=sort,
        stable=sort == "value",
        index_element_type="i64",
    )


@operator("Unique")
def unique(node: Node) -> Outputs:
    inputs = (node.x,) if node["axis"] is None else (node.x, node.numbers(node["axis"]))
    types: dict[str, Any] = {"index_element_type": "i64", "count_element_type": "i64"}
    return node.all("Unique", *inputs, sorted=node.flag("sorted"), **types)


@operator("CumSum")
def cum_sum(node: Node) -> Outputs:
    axis = node.scalar(node.need(1))
    return node.add(
        "CumSum", node.x, axis, exclusive=node.flag("exclusive"), reverse=node.flag("reverse")
    )
