"""Recognises in layers what older releases refuse: the keys of `releases.REFUSED`."""

from __future__ import annotations

from ...element_types import DYNAMIC_TYPE
from ...faults import Violation
from ...ops.tensors import Tensor
from ...shapes import Dimension, PartialShape
from ..sites import Site
from .recogniser import BROADCASTING, Recogniser, Recognisers


def _cell_input(site: Site) -> bool:
    """Whether the input of a cell has one feature and its weights have others."""
    data, weights = site.shape(0), site.shape(3)
    if data is None or weights is None or not data.rank or not weights.rank:
        return False
    return not data[-1].compatible(weights[-1])


def _output_sizes(site: Site) -> bool:
    """Whether readers that know `output_size`, `pooled_h` and `pooled_w` only lack the sizes."""
    sizes = site.layer.attribute("output_size")
    if sizes is not None:
        return len(sizes.split(",")) != 2
    return None in (site.layer.attribute("pooled_h"), site.layer.attribute("pooled_w"))


def _empty(site: Site) -> bool:
    return site.outermost and any(
        output.shape.rank is not None and any(size.high == 0 for size in output.shape)
        for output in site.outputs
    )


def _ceil_torch(site: Site) -> bool:
    return site.attribute("rounding_type") == "ceil_torch"


def _uninitialised(site: Site) -> bool:
    return site.version == "ReadValue-6" and not site.layer.inputs


def _scalar_squeeze(site: Site) -> bool:
    """Whether a scalar is squeezed along an axis other than 0 and -1, which always pass."""
    shape = site.shape(0)
    skips = site.attribute("allow_axis_skip") in ("true", "1")
    axes = site.value(1)
    return (
        skips
        and shape is not None
        and shape.rank == 0
        and axes is not None
        and not {*axes} <= {0, -1}
    )


def _squeezed_axis(site: Site) -> bool:
    """Whether a dimension that cannot be 1 is squeezed; Squeeze-15 reads such an axis."""
    shape = site.shape(0)
    if site.version != "Squeeze-1" or shape is None or shape.rank is None:
        return False
    axes = site.shape(1)
    if axes is not None and axes.is_static and site.value(1) is None:
        some = all(size.low > 0 for size in axes)
        return bool(shape.rank) and some and not any(size.contains(1) for size in shape)
    return any(
        -shape.rank <= axis < shape.rank and not shape[int(axis)].contains(1)
        for axis in site.value(1) or ()
    )


def _pad_lengths(site: Site) -> bool:
    data, begin, end = map(site.shape, (0, 1, 2))
    if data is None or data.rank is None or begin is None or end is None:
        return False
    return not end.is_static or (begin.rank is not None and not begin.is_static)


def padded_below_nothing(site: Site) -> bool:
    """Whether negative pads take more from an axis than it has: OpenVINO leaves its size open."""
    shape = site.shape(0)
    if site.layer.type != "Pad" or shape is None or shape.rank is None:
        return False
    pads = zip(shape, site.value(1) or (), site.value(2) or (), strict=False)
    return any(size.is_static and size.low + begin + end < 0 for size, begin, end in pads)


def _open_boxes(site: Site) -> bool:
    boxes = site.shape(0)
    return boxes is not None and bool(boxes.rank) and not boxes[-1].is_static


def _einsum_sizes(site: Site) -> bool:
    """Whether axes of one label differ, or an ellipsis stands for axes of unknown number."""
    assert site.operation is not None
    operation, attribute_faults = site.operation.read(site.layer.items)
    if not all(fault.silent for fault in attribute_faults):
        return False
    parts = operation.equation.partition("->")[0].split(",")  # type: ignore[attr-defined]
    sizes: dict[str, Dimension] = {}
    for part, tensor in zip(parts, site.inputs, strict=False):
        if tensor is None or tensor.shape.rank is None:
            if "..." in part:
                return True
            continue
        before, ellipsis, after = part.replace(" ", "").partition("...")
        dimensions = tuple(tensor.shape)
        behind = dimensions[len(dimensions) - len(after) :] if ellipsis else ()
        for label, size in zip(before + after, (*dimensions[: len(before)], *behind), strict=False):
            if not sizes.setdefault(label, size).compatible(size):
                return True
    return False


def _einsum_ellipsis(site: Site) -> bool:
    """Whether only the inputs, or only the output, have an ellipsis, or one stands for no axis."""
    equation = (site.layer.attribute("equation") or "").replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    if arrow and ("..." in inputs) != ("..." in output):
        return True
    shapes = [tensor and tensor.shape for tensor in site.inputs]
    return any(
        "..." in part and shape is not None and shape.rank == len(part) - len("...")
        for part, shape in zip(inputs.split(","), shapes, strict=False)
    )


def _capitals(site: Site) -> bool:
    destination = site.layer.attribute("destination_type") or ""
    return destination != destination.lower()


def _einsum_scalar(site: Site) -> bool:
    inputs = (site.layer.attribute("equation") or "").partition("->")[0].split(",")
    return not inputs[-1].strip()


def _scalar_softmax(site: Site) -> bool:
    shape = site.shape(0)
    return shape is not None and shape.rank == 0


def _typed(*names: str) -> Recogniser:
    """Whether the first input is of one of these element types."""

    def recognise(site: Site) -> bool:
        data = site.inputs[0] if site.inputs else None
        return data is not None and data.element_type.name in names

    return recognise


def _padded(*names: str) -> Recogniser:
    """Whether tensors of these element types are padded, and nothing says with what."""
    of_type = _typed(*names)
    return lambda site: len(site.layer.inputs) < 4 and of_type(site)


def _no_type_of_input(site: Site) -> bool:
    """Whether the element type of an input is not known."""
    return any(tensor is not None and tensor.element_type.is_dynamic for tensor in site.inputs)


def _negative(index: int) -> Recogniser:
    """Whether the known value of an input has a negative element."""
    return lambda site: any(number < 0 for number in site.value(index) or ())


def _added_axes(site: Site) -> bool:
    """Whether a StridedSlice has more indices than axes, those that it inserts included.

    One of them is then an ellipsis for no axis at all.
    """
    data, begin = site.shape(0), site.shape(1)
    if data is None or data.rank is None or begin is None or not begin.rank:
        return False
    inserted = (site.layer.attribute("new_axis_mask") or "").count("1")
    return begin[0].low > data.rank + inserted


def _joined_axis(site: Site) -> bool:
    return any(
        entry.direction == "output" and entry.attributes.get("axis", "").startswith("-")
        for entries in (site.layer.port_maps or {}).values()
        for entry in entries
    )


def _narrow_mask(site: Site) -> bool:
    """Whether a mask has one row for several queries, or one column for several keys."""
    query, key, mask = map(site.shape, (0, 1, 3))
    if site.attribute("causal") in ("true", "1") or mask is None:
        return False
    if mask.rank is None or mask.rank < 2:
        return False
    return any(
        other is not None
        and other.rank is not None
        and other.rank >= 2
        and mask[axis].high == 1
        and not other[-2].contains(1)
        for axis, other in ((-2, query), (-1, key))
    )


def _no_type(site: Site) -> bool:
    """Whether the layer leaves the element type undefined, by no attribute or by that word.

    The word `dynamic` is read.
    """
    assert site.operation is not None
    return any(
        declared.default is DYNAMIC_TYPE
        and (site.layer.attribute(declared.name) or "undefined").lower() == "undefined"
        for declared in site.operation.attributes.values()
    ) and any(output.element_type.is_dynamic for output in site.outputs)


def _negative_bound(site: Site) -> bool:
    """Whether a dimension has a negative number that is not just -1."""
    sizes = (site.layer.attribute("shape") or "").split(",")
    return any("-" in size and size.strip() != "-1" for size in sizes)


def _wide_mask(site: Site) -> bool:
    """Whether a mask has more rows than the query; a causal attention ignores its mask."""
    query, mask = site.shape(0), site.shape(3)
    if site.attribute("causal") in ("true", "1"):
        return False
    if query is None or mask is None or not query.rank or not mask.rank:
        return False
    if query.rank < 2 or mask.rank < 2:
        return False
    return not mask[-2].contains(1) and not mask[-2].compatible(query[-2])


def _pdpd_intervals(site: Site) -> bool:
    """Whether the second shape has an interval with 1 where the first has other sizes."""
    first, second = site.shape(0), site.shape(1)
    if site.attribute("auto_broadcast") != "pdpd" or first is None or second is None:
        return False
    if first.rank is None or second.rank is None:
        return False
    return any(
        other.is_dynamic and not size.compatible(other)
        for size, other in zip(reversed(tuple(first)), reversed(tuple(second)), strict=False)
    )


def _pdpd_from_the_end(site: Site) -> bool:
    """Whether a dimension is broadcast to a known target with the axis -1."""
    layer, data, target = site.layer, site.shape(0), site.value(1)
    axes = (layer.attribute("mode.mode.axis"), layer.attribute("mode.auto_broadcast_axis"))
    if site.attribute("mode") != "pdpd" or "-1" not in axes:
        return False
    if target is None or data is None or data.rank is None:
        return False
    return data.rank != len(target) or any(
        not size.contains(int(wanted)) for size, wanted in zip(data, target, strict=True)
    )


def _no_mapping(site: Site) -> bool:
    """Whether flags are the last input, where a table of characters can follow them."""
    return site.type_name(len(site.layer.inputs) - 1) == "boolean"


def _bf16_scales(site: Site) -> bool:
    """Whether a constant of bf16 says how much an Interpolate enlarges."""
    assert site.operation is not None
    index = 2 if site.operation.since == 4 else 1
    return (
        site.operation.since >= 4
        and site.attribute("shape_calculation_mode") == "scales"
        and site.type_name(index) == "bf16"
        and site.constant[index]
    )


def _open_segments(site: Site) -> bool:
    return site.type_name(1) == "dynamic"


def _promoted_ranks(site: Site) -> bool:
    """Whether the element types cannot be promoted where an input of any rank is no scalar."""
    assert site.operation is not None
    if all(tensor is None or tensor.rank is not None for tensor in site.inputs):
        return False
    operation, _ = site.operation.read(site.layer.items)
    some = PartialShape.parse("[?]")
    inputs = [
        Tensor(tensor.element_type, some if tensor.rank is None else tensor.shape)
        for tensor in site.inputs
        if tensor is not None
    ]
    try:
        operation.infer(*inputs)
    except Violation:
        return True
    return False


def _read_for_zero(*indices: int) -> Recogniser:
    """Whether one of these inputs is a number of i4 or u4; older readers find 0 there."""
    return lambda site: any(
        site.type_name(index) in ("i4", "u4") and any(site.value(index) or ()) for index in indices
    )


def _no_box(site: Site) -> bool:
    """Whether the number of boxes is read for 0, and ranks are known, so that it decides a size."""
    ranked = None not in (site.rank(0), site.rank(1))
    return ranked and _read_for_zero(2)(site)


def _read_at_all(*indices: int) -> Recogniser:
    """Whether one of these inputs is a number of u2, u3 or u6."""
    return lambda site: any(
        site.type_name(index) in ("u2", "u3", "u6") and site.value(index) is not None
        for index in indices
    )


RECOGNISERS: Recognisers = {
    "Parameter": (
        ("empty", _empty),
        ("no input type", _no_type),
        ("negative bound", _negative_bound),
    ),
    "Result": (("empty", _empty),),
    "Convert": (("no type", _no_type),),
    "AvgPool": (("ceil_torch", _ceil_torch),),
    "MaxPool": (("ceil_torch", _ceil_torch),),
    "ReadValue": (("uninitialised", _uninitialised),),
    "CharsMapNormalization": (("no mapping", _no_mapping),),
    "Squeeze": (("scalar squeeze", _scalar_squeeze), ("squeezed axis", _squeezed_axis)),
    "Pad": (
        ("pad lengths", _pad_lengths),
        ("unsigned pad", _padded("u2", "u3", "u6")),
        ("f8e8m0 pad", _padded("f8e8m0")),
        ("text pad", _padded("string")),
    ),
    "MulticlassNms": (("open boxes", _open_boxes),),
    "Einsum": (
        ("einsum sizes", _einsum_sizes),
        ("einsum ellipsis", _einsum_ellipsis),
        ("einsum scalar", _einsum_scalar),
    ),
    "ScaledDotProductAttention": (("wide mask", _wide_mask), ("narrow mask", _narrow_mask)),
    "ConvertPromoteTypes": (("promoted ranks", _promoted_ranks),),
    "OneHot": (("four bits", _read_for_zero(1)),),
    "Range": (("four bits", _read_for_zero(0, 1, 2)), ("no type", _no_type)),
    "NonMaxSuppression": (("four bits", _no_box),),
    "Reshape": (("four bits read", _read_for_zero(1)),),
    "ScatterUpdate": (
        ("four bits read", _read_for_zero(3)),
        ("packed constant", _read_at_all(3)),
    ),
    "Loop": (
        ("four bits read", _read_for_zero(0, 1)),
        ("packed constant", _read_at_all(0, 1)),
    ),
    "If": (("packed constant", _read_at_all(0)),),
    "LRN": (("packed constant", _read_at_all(1)),),
    "SoftMax": (("scalar softmax", _scalar_softmax),),
    "LogSoftmax": (("scalar softmax", _scalar_softmax),),
    "Interpolate": (
        ("f64 resize", _typed("f64")),
        ("bf16 scales", _bf16_scales),
        ("four bits", _read_for_zero(1)),
    ),
    "SegmentMax": (("open segments", _open_segments),),
    "PriorBox": (("negative size", _negative(0)),),
    "PriorBoxClustered": (("negative size", _negative(0)),),
    "Mish": (("open mish", _no_type_of_input),),
    "EmbeddingSegmentsSum": (("negative size", _negative(3)),),
    "StridedSlice": (("added axes", _added_axes),),
    "FakeConvert": (("capitals", _capitals),),
    "ROIPooling": (("output sizes", _output_sizes),),
    "Broadcast": (
        ("pdpd from the end", _pdpd_from_the_end),
        ("four bits", _read_for_zero(1)),
    ),
    "DFT": (("open signal", _no_type_of_input),),
    "IDFT": (("open signal", _no_type_of_input),),
    "RDFT": (("open signal", _no_type_of_input),),
    "IRDFT": (("open signal", _no_type_of_input),),
    "TensorIterator": (("joined axis", _joined_axis),),
    "LSTMCell": (("cell input", _cell_input),),
    **dict.fromkeys(BROADCASTING, (("pdpd intervals", _pdpd_intervals),)),
}
