"""Recognises in layers what older releases ignore, do not run, or infer otherwise: the keys of
`releases.IGNORED`, `NOT_RUN` and `INFERRED_OTHERWISE`.
"""

from __future__ import annotations

import re
from functools import reduce

from ..ops.tensors import Tensor
from ..types import UNBOUNDED, Dimension, PartialShape
from .refused_details import BROADCASTING, Recogniser
from .sites import Site

ANY = Dimension(0, UNBOUNDED)


# ignored


def _sink(site: Site) -> bool:
    return len(site.inputs) > 5


def _alignment(site: Site) -> bool:
    return site.attribute("alignment") == "pytorch"


# not run


def _stored_keys(site: Site) -> bool:
    """Whether a mask of booleans is used for keys that a variable holds."""
    return site.type_name(3) == "boolean" and site.stored[1]


def _boolean_mask(site: Site) -> bool:
    """Whether a mask of booleans is used, and the plugin does not take the operation apart."""
    shapes = [tensor.shape for tensor in site.inputs if tensor]
    return (
        site.type_name(3) == "boolean"
        and site.attribute("causal") not in ("true", "1")
        and _rank(site, 0) == 4
        and any(shape.static is None for shape in shapes)
    )


def _without_spatial_axes(site: Site) -> bool:
    return _rank(site, 0) == 2


def _input_of(*names: str) -> Recogniser:
    """Whether it is an input of the model, of one of these element types."""
    return lambda site: site.outermost and any(o.element_type.name in names for o in site.outputs)


_CLEARED = {"f64", "f32", "f16", "bf16", "i8", "u8", "boolean"}
_COMPARISONS = {"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"}


def _four_bits(*, unpacked: bool) -> Recogniser:
    """Whether it is an input of the model of i4 or u4, which is or is not first of all compared, or
    converted to one of some types.
    """
    is_input = _input_of("i4", "u4")

    def recognise(site: Site) -> bool:
        return is_input(site) and unpacked == all(
            layer.type in _COMPARISONS
            or (layer.type == "Convert" and layer.attribute("destination_type") in _CLEARED)
            for layer in site.feeds
        )

    return recognise


def _converts_to(*names: str, source: str = "") -> Recogniser:
    """Whether elements, of a source type, are converted to one of these types at run time."""

    def recognise(site: Site) -> bool:
        to = {output.element_type.name for output in site.outputs}
        return (
            not to.isdisjoint(names) and source in ("", site.type_name()) and not all(site.constant)
        )

    return recognise


def _repeated_labels(site: Site) -> bool:
    """Whether an equation has a label twice in one input, or an ellipsis."""
    inputs = site.attribute("equation").replace(" ", "").partition("->")[0]
    return "..." in inputs or any(len({*part}) < len(part) for part in inputs.split(","))


def _open_weights(site: Site) -> bool:
    """Whether weights of a recurrent operation are known at run time only.

    A cell that is clipped, or has other functions, is taken apart before it runs.
    """
    if site.layer.type.endswith("Cell"):
        clip = site.attribute("clip") or "0"
        if clip.strip("0.") or "relu" in site.attribute("activations"):
            return False
    weights = 4 if site.layer.type.startswith("LSTM") else 3
    weights -= site.layer.type.endswith("Cell")
    return not all(site.constant[weights + 1 :])


def _result_of_i64(site: Site) -> bool:
    wide = bool(site.outputs) and site.outputs[0].element_type.name in ("i64", "u64")
    return wide and _is_result(site)


def _is_result(site: Site) -> bool:
    """Whether the model returns an output of the layer as it is."""
    return site.outermost and any(layer.type == "Result" for layer in site.feeds)


def _taken_on(site: Site) -> bool:
    """Whether a layer other than a Result takes the result."""
    return any(layer.type != "Result" for layer in site.feeds)


def _suppression(site: Site) -> bool:
    return _is_result(site) and site.operation is not None and site.operation.since < 5


def _nothing(site: Site) -> bool:
    """Whether a result that is known before the model runs has no elements."""
    return all(site.constant) and any(output.shape.static == (0,) for output in site.outputs)


def _shape_of_scalar(site: Site) -> bool:
    return _rank(site, 0) == 0


def _product_of_nothing(site: Site) -> bool:
    return any(size.high == 0 for tensor in site.inputs if tensor for size in _sizes(tensor.shape))


def _reduced_scatter(site: Site) -> bool:
    """Whether elements of small integers or booleans are reduced."""
    narrow = ("i8", "u8", "boolean")
    return site.attribute("reduction") not in ("", "none") and site.type_name() in narrow


def _scalar_update(site: Site) -> bool:
    return _rank(site, 2) == 0


def _pdpd_mode(site: Site) -> bool:
    return site.attribute("auto_broadcast") == "pdpd"


def _open_sizes(site: Site) -> bool:
    """Whether the sizes of a Fourier transform are known at run time only."""
    return len(site.layer.inputs) > 2 and site.value(2) is None


def _ranks_differ(site: Site) -> bool:
    """Whether tensors of several ranks are broadcast in mode pdpd."""
    return _pdpd_mode(site) and len({tensor.shape.rank for tensor in site.inputs if tensor}) > 1


def _no_index(site: Site) -> bool:
    return site.value(3) == (-1,)


def _wide_limits(site: Site) -> bool:
    """Whether limits have more axes than the data."""
    ranks = [tensor.shape.rank or 0 for tensor in site.inputs if tensor]
    return max(ranks[1:], default=0) > min(ranks[:1], default=0)


def _strings(site: Site) -> bool:
    return site.type_name() == "string"


def _narrow_update(site: Site) -> bool:
    assert site.operation is not None
    narrow = ("i8", "u8", "bf16", "boolean", "string")
    return site.operation.since == 15 and site.type_name() in narrow


def _gathered_strings(site: Site) -> bool:
    assert site.operation is not None
    return _strings(site) and site.operation.since < 8


def _open_filters(site: Site) -> bool:
    """Whether filters of integers are known at run time only."""
    return site.type_name(1) in ("i8", "u8") and not site.constant[1]


# inferred otherwise


def _sizes(shape: PartialShape | None) -> tuple[Dimension, ...]:
    """The dimensions; none of a dynamic rank."""
    return () if shape is None or shape.rank is None else tuple(shape)


def _rank(site: Site, index: int) -> int | None:
    shape = site.shape(index)
    return None if shape is None else shape.rank


def _is_known(size: Dimension) -> bool:
    """Whether anything is known of a size."""
    return size != ANY


def _both(one: Dimension, other: Dimension) -> Dimension:
    """The sizes that both allow; where there are none, those of the first."""
    return one.merge(other) or one


def _output(site: Site) -> PartialShape | None:
    return site.outputs[0].shape if site.outputs else None


def _pdpd(site: Site) -> bool:
    """Whether the result has another shape than the input that is broadcast to."""
    first = site.shape(1 if site.layer.type == "Select" else 0)
    output = _output(site)
    return _pdpd_mode(site) and first is not None and output is not None and output != first


def _reduced_axes(site: Site) -> bool:
    """Whether axes that only execution knows are dropped, and the rank is known all the same."""
    keeps = site.attribute("keep_dims") in ("true", "1")
    return not keeps and site.value(1) is None and any(o.shape.rank for o in site.outputs)


def _lower_bounds(site: Site) -> bool:
    """Whether an output has lower bounds from a computed value without upper bounds.

    With elements without upper bounds, OpenVINO of every release computes nothing.
    """
    target = site.inputs[1] if len(site.inputs) > 1 else None
    if target is None or target.value is None or not site.measured[1]:
        return False
    return any(
        low > 0 and high >= UNBOUNDED
        for low, high in zip(target.value.lower, target.value.upper, strict=True)
    ) and any(
        size.low > 0 and size.high >= UNBOUNDED
        for output in site.outputs
        for size in _sizes(output.shape)
    )


def _unused_outputs(site: Site) -> bool:
    return site.unused


def _unknown_axes(site: Site) -> bool:
    """Whether axes that only execution knows leave dimensions of the data known."""
    shape = site.shape(0)
    return (
        site.value(1) is None
        and len(site.layer.inputs) == 2
        and shape is not None
        and shape.rank is not None
        and any(_is_known(size) for size in shape[:-1])
    )


def _unknown_signal(site: Site) -> bool:
    """Whether signal sizes that only execution knows decide a dimension of which more is known."""
    output, axes = _sizes(_output(site))[:-1], site.value(1)
    if len(site.layer.inputs) < 3 or site.value(2) is not None or axes is None:
        return False
    within = [int(axis) % len(output) for axis in axes if -len(output) <= axis < len(output)]
    open_rank = bool(output) and _rank(site, 2) is None
    return open_rank or any(_is_known(output[axis]) for axis in within)


def _promoted(site: Site) -> bool:
    return any(output.element_type.is_dynamic for output in site.outputs)


def _plane(site: Site) -> bool:
    """Whether the height of a picture in one plane is a part of a dynamic dimension."""
    plane, output = _sizes(site.shape(0)), _sizes(_output(site))
    if len(site.layer.inputs) != 1 or len(plane) < 2 or len(output) < 2:
        return False
    return plane[1].is_dynamic and plane[1] != output[1]


def _hidden_size(site: Site) -> bool:
    """Whether the hidden size of a recurrent operation follows from more than the states and the
    recurrent weights, or an input of any rank matters.
    """
    output = _sizes(_output(site))
    if not output:
        return False
    shapes = [tensor.shape for tensor in site.inputs if tensor is not None]
    if site.layer.type in ("RNNCell", "RNNSequence", "LSTMSequence") and any(
        shape.rank is None for shape in shapes
    ):
        return True
    states = [1, 2] if site.layer.type.startswith("LSTM") else [1]
    weights = 2 + len(states) + site.layer.type.endswith("Sequence")
    known = [size for index in (*states, weights) for size in _sizes(site.shape(index))[-1:]]
    if site.layer.type == "LSTMCell":
        gates = [size for index in (3, 4, 5) for size in _sizes(site.shape(index))[:1]]
        known += [size // 4 for size in gates if size.is_static]
    return output[-1] != reduce(_both, known, ANY)


def _patches(site: Site) -> bool:
    """Whether one spatial axis is dynamic, and the output of the other known."""
    data, output = _sizes(site.shape(0)), _sizes(_output(site))
    if len(data) != 4 or len(output) != 4:
        return False
    return any(size.is_dynamic for size in data[2:]) and any(map(_is_known, output[2:]))


def _empty_patches(site: Site) -> bool:
    """Whether an axis is shorter than a patch, by less than a step."""
    assert site.operation is not None
    operation, attribute_faults = site.operation.read(site.layer.items)
    data, output = _sizes(site.shape(0)), _sizes(_output(site))
    if attribute_faults or len(data) != 4 or len(output) != 4:
        return False
    sizes, strides, rates = (getattr(operation, name) for name in ("sizes", "strides", "rates"))
    return any(
        result.high == 0 and (size - 1) * rate + 1 - given.high < stride
        for given, result, size, stride, rate in zip(
            data[2:], output[2:], sizes, strides, rates, strict=True
        )
    )


def _softmax_axes(site: Site) -> bool:
    """Whether the axes that are to be joined are none."""
    softmax = site.attribute("do_softmax") in ("", "true", "1")
    return softmax and _rank(site, 0) is not None and _output(site) == site.shape(0)


def _open_height(site: Site) -> bool:
    """Whether a dynamic height leaves that of the output known."""
    data, output = _sizes(site.shape(0)), _sizes(_output(site))
    return len(data) == 4 and data[2].is_dynamic and any(map(_is_known, output[2:3]))


def _any_squeezed(site: Site) -> bool:
    """Whether no axes are given, an axis may go or stay, and something is known of another."""
    sizes = _sizes(site.shape(0))
    return (
        len(site.layer.inputs) == 1
        and any(size.is_dynamic and size.contains(1) for size in sizes)
        and any((size.is_dynamic and _is_known(size)) or not size.contains(1) for size in sizes)
    )


def _unknown_squeezed(site: Site) -> bool:
    """Whether the axes are known at run time only, and their number before."""
    output = _output(site)
    return (
        len(site.layer.inputs) == 2
        and site.value(1) is None
        and output is not None
        and output.rank is not None
    )


def _squeezed_to_scalar(site: Site) -> bool:
    """Whether all axes go, and it is not one axis of which nothing is known, nor are all of 1."""
    shape = site.shape(0)
    return (
        site.value(1) is not None
        and _output(site) == PartialShape(())
        and shape is not None
        and shape.static is None
        and _sizes(shape) not in ((), (ANY,))
    )


def _computed_shape(site: Site) -> bool:
    """Whether the shape is no constant, and something is known of the result."""
    output = _output(site)
    if site.value(0) is not None or output is None or output.rank is None:
        return False
    lengths = _sizes(site.shape(0))
    return any(map(_is_known, output)) or any(size.is_dynamic for size in lengths)


def _open_suppression(site: Site) -> bool:
    """Whether the number of boxes is bounded although inputs are not static."""
    output, boxes, scores = _sizes(_output(site)), _sizes(site.shape(0)), _sizes(site.shape(1))
    if not output or not _is_known(output[0]):
        return False
    assert site.operation is not None
    if len(boxes) < 2 or len(scores) < 2:
        return True
    since = site.operation.since
    if since == 1:
        return any(size.is_dynamic for size in (*boxes, *scores))
    needed = (boxes[1], scores[1]) if since == 3 else (boxes[1], *scores[:2])
    return any(size.is_unbounded if since > 4 else size.is_dynamic for size in needed)


def _bounded_suppression(site: Site) -> bool:
    """Whether the number of boxes has a bound from the bounds of inputs."""
    output, boxes, scores = _sizes(_output(site)), _sizes(site.shape(0)), _sizes(site.shape(1))
    if not output or output[0].is_unbounded:
        return False
    if len(boxes) < 2 or len(scores) < 2:
        return True
    needed = (_both(boxes[0], scores[0]), boxes[1], scores[1])
    return any(size.is_dynamic for size in needed)


def _initial_value(site: Site) -> bool:
    """Whether a variable has another shape or type than its initial value."""
    given = site.inputs[0] if site.inputs else None
    return given is not None and bool(site.outputs) and not _alike(given, site.outputs[0])


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.element_type is other.element_type


def _any_rank_reshaped(site: Site) -> bool:
    """Whether a tensor of any rank is reshaped with an axis for what is left."""
    return (
        site.shape(0) is not None
        and _rank(site, 0) is None
        and any(size == Dimension(1, UNBOUNDED) for size in _sizes(_output(site)))
    )


def _label_sizes(site: Site) -> bool:
    """Whether axes of one label have sizes of which some are excluded by others."""
    inputs, arrow, output = site.attribute("equation").replace(" ", "").partition("->")
    if not arrow or "..." in inputs:
        return False
    sizes: dict[str, list[Dimension]] = {}
    for part, tensor in zip(inputs.split(","), site.inputs, strict=False):
        if tensor is not None:
            for label, size in zip(part, _sizes(tensor.shape), strict=False):
                sizes.setdefault(label, []).append(size)
    return any(
        result != reduce(_both, sizes.get(label, [result]))
        for label, result in zip(output, _sizes(_output(site)), strict=False)
    )


def _skipping(site: Site) -> bool:
    """Whether a step leaves fewer of an axis whose range only execution knows."""
    steps = site.value(3) if len(site.inputs) > 3 else ()
    open_range = site.value(1) is None or site.value(2) is None
    data, output = _sizes(site.shape(0)), _sizes(_output(site))
    return open_range and any(
        abs(step) > 1 and not size.is_unbounded and result.high < size.high
        for step, size, result in zip(steps or (), data, output, strict=False)
    )


def _overflow(site: Site) -> bool:
    """Whether a dimension is written as a number that i64 does not hold."""
    numbers = re.findall("[0-9]+", site.attribute("shape"))
    return any(int(number[:40]) > UNBOUNDED for number in numbers)


def _no_strings(site: Site) -> bool:
    shape = site.shape(0)
    return shape is not None and any(size.high == 0 for size in _sizes(shape))


def _united(site: Site) -> bool:
    """Whether the branches give a scalar and a tensor of one axis, and more is known of it."""
    branches = [
        [
            inner.inputs[position][0]
            for position, layer in enumerate(inner.body.layers)
            if layer.is_result and inner.inputs.get(position)
        ]
        for inner in site.inner.values()
    ]
    ranks = [
        {tensor.shape.rank for tensor in pair if tensor} for pair in zip(*branches, strict=False)
    ]
    return {0, 1} in ranks and any(any(map(_is_known, _sizes(o.shape))) for o in site.outputs)


def _states(site: Site) -> bool:
    """Whether a state is wider in the body than at its beginning, where it is an interval."""
    return any(
        state and one != other and one.is_dynamic
        for given, taken, state in site.entering()
        for one, other in zip(_sizes(given.shape), _sizes(taken.shape), strict=False)
    )


def _branch_inputs(site: Site) -> bool:
    """Whether a branch declares an input wider than what it is given."""
    return any(
        one != other
        for given, taken, _ in site.entering()
        for one, other in zip(_sizes(given.shape), _sizes(taken.shape), strict=False)
    )


_REDUCTIONS = [
    "ReduceL1",
    "ReduceL2",
    "ReduceMax",
    "ReduceMin",
    "ReduceMean",
    "ReduceProd",
    "ReduceSum",
    "ReduceLogicalAnd",
    "ReduceLogicalOr",
]
_RECURRENT = ["RNNCell", "RNNSequence", "LSTMCell", "LSTMSequence", "GRUCell", "GRUSequence"]
_PICTURES = ["I420toRGB", "I420toBGR", "NV12toRGB", "NV12toBGR"]
_FOURIER = (("open sizes", _open_sizes), ("DFT", _unknown_axes), ("signal sizes", _unknown_signal))

RECOGNISERS: dict[str, tuple[tuple[str, Recogniser], ...]] = {
    **dict.fromkeys(BROADCASTING, (("pdpd", _pdpd),)),
    **dict.fromkeys(_REDUCTIONS, (("reduced axes", _reduced_axes),)),
    **dict.fromkeys(_RECURRENT, (("open weights", _open_weights), ("cells", _hidden_size))),
    **dict.fromkeys(_PICTURES, (("YUV", _plane),)),
    "Parameter": (
        ("four bits in", _four_bits(unpacked=False)),
        ("four bits unpacked", _four_bits(unpacked=True)),
        ("nf4 in", _input_of("nf4")),
        ("f4 in", _input_of("f4e2m1", "f8e8m0")),
        ("u2 in", _input_of("u2")),
        ("f8 in", _input_of("f8e4m3", "f8e5m2")),
        ("overflow", _overflow),
    ),
    "ScaledDotProductAttention": (
        ("sink", _sink),
        ("boolean mask", _boolean_mask),
        ("stored keys", _stored_keys),
    ),
    "GroupNormalization": (("flat groups", _without_spatial_axes),),
    "RandomUniform": (
        ("alignment", _alignment),
        ("result of i64", _result_of_i64),
        ("computed shape", _computed_shape),
    ),
    "Convert": (
        ("to four bits", _converts_to("i4", "u4")),
        ("to f8", _converts_to("f8e4m3", "f8e5m2")),
        ("to f4", _converts_to("f4e2m1", "f8e8m0")),
        ("to nf4", _converts_to("nf4")),
        ("to u1", _converts_to("u1")),
        ("to u2", _converts_to("u2")),
        ("u2 to others", _converts_to("u1", "f8e4m3", "f8e5m2", source="u2")),
    ),
    **dict.fromkeys(("IsNaN", "IsInf", "IsFinite"), (("number tests", _taken_on),)),
    "Reverse": (("result of i64", _result_of_i64),),
    "NonMaxSuppression": (("suppression", _suppression), ("open suppression", _open_suppression)),
    "MatrixNms": (("bounded boxes", _bounded_suppression),),
    "MulticlassNms": (("bounded boxes", _bounded_suppression),),
    "Einsum": (("repeated labels", _repeated_labels), ("label sizes", _label_sizes)),
    "ShapeOf": (("shape of a scalar", _shape_of_scalar),),
    "Range": (("empty range", _nothing),),
    "MatMul": (("empty product", _product_of_nothing),),
    "PReLU": (("scalar slope", _shape_of_scalar),),
    "ScatterElementsUpdate": (("reduced scatter", _reduced_scatter),),
    "ScatterNDUpdate": (("scalar update", _scalar_update), ("narrow update", _narrow_update)),
    "SquaredDifference": (("pdpd squares", _ranks_differ), ("pdpd", _pdpd)),
    "Gather": (("gathered strings", _gathered_strings),),
    "EmbeddingBagOffsets": (("no index", _no_index),),
    "EmbeddingBagOffsetsSum": (("no index", _no_index),),
    "FakeQuantize": (("wide limits", _wide_limits),),
    "Transpose": (("strings", _strings),),
    "ConvolutionBackpropData": (("open filters", _open_filters),),
    "Tile": (("lower bounds", _lower_bounds),),
    "Reshape": (("lower bounds", _lower_bounds), ("any rank", _any_rank_reshaped)),
    "Broadcast": (("lower bounds", _lower_bounds),),
    "Interpolate": (("lower bounds", _lower_bounds),),
    "TopK": (("lower bounds", _lower_bounds),),
    "DFT": _FOURIER,
    "IDFT": _FOURIER,
    "ConvertPromoteTypes": (("promoted types", _promoted),),
    "ExtractImagePatches": (("patches", _patches), ("empty patches", _empty_patches)),
    "RegionYolo": (("softmax axes", _softmax_axes),),
    "ReorgYolo": (("open height", _open_height),),
    "Squeeze": (
        ("any axis", _any_squeezed),
        ("unknown axes", _unknown_squeezed),
        ("to a scalar", _squeezed_to_scalar),
    ),
    "ReadValue": (("initial value", _initial_value),),
    "StridedSlice": (("skipping", _skipping),),
    "StringTensorUnpack": (("no strings", _no_strings),),
    "If": (
        ("unused outputs", _unused_outputs),
        ("united", _united),
        ("branch inputs", _branch_inputs),
    ),
    "Loop": (("unused outputs", _unused_outputs), ("states", _states)),
    "TensorIterator": (("unused outputs", _unused_outputs),),
}
"""What the layers of a type may show."""
