"""Recognises in layers what older releases infer otherwise: keys of `releases.INFERRED_OTHERWISE`.

What such a shape lets the plugin do is recognised here too, though it may stop it from running.
"""

from __future__ import annotations

import re
from functools import reduce

from ...ops.tensors import Tensor
from ...shapes import UNBOUNDED, Dimension, PartialShape
from ..sites import Site, dimensions
from .recogniser import BROADCASTING, RECURRENT, Recogniser, Recognisers, is_pdpd

_ANY = Dimension(0, UNBOUNDED)


def _is_known(size: Dimension) -> bool:
    """Whether anything is known of a size."""
    return size != _ANY


def _both(one: Dimension, other: Dimension) -> Dimension:
    """The sizes that both allow; where there are none, those of the first."""
    return one.merge(other) or one


def _output(site: Site) -> PartialShape | None:
    return site.outputs[0].shape if site.outputs else None


def _pdpd(site: Site) -> bool:
    """Whether the result has another shape than the input that is broadcast to."""
    first = site.shape(1 if site.layer.type == "Select" else 0)
    output = _output(site)
    return is_pdpd(site) and first is not None and output is not None and output != first


def _reduced_axes(site: Site) -> bool:
    """Whether axes that only execution knows are dropped, and the rank is known all the same."""
    keeps = site.attribute("keep_dims") in ("true", "1")
    return (
        not keeps and site.value(1) is None and any(o.shape.rank is not None for o in site.outputs)
    )


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
        for size in dimensions(output.shape)
    )


def _open_product(site: Site) -> bool:
    """Whether a shape is made of a product without an upper bound, and something else is known."""
    output = _output(site)
    return (
        len(site.open_product) > 1
        and site.open_product[1]
        and output is not None
        and output.rank is not None
        and any(_is_known(size) for size in output)
    )


def _shape_from(type_name: str) -> Recogniser:
    """Whether a shape is computed by an operation, and more is known of it than the data tells."""

    def recognise(site: Site) -> bool:
        output, data = dimensions(_output(site)), dimensions(site.shape(0))
        if len(site.computed_by) < 2 or type_name not in site.computed_by[1]:
            return False
        if site.attribute("mode") != "bidirectional":
            return any(map(_is_known, output))
        beside = (_ANY,) * (len(output) - len(data)) + data
        return any(
            _is_known(size) and size != own for size, own in zip(output, beside, strict=True)
        )

    return recognise


def _separate_planes(site: Site) -> bool:
    """Whether a dynamic size of the first plane tells more than that of the second."""
    first, second, output = (
        dimensions(shape) for shape in (site.shape(0), site.shape(1), _output(site))
    )
    if min(map(len, (first, second, output))) < 4:
        return False
    halved = [second[0], *(Dimension(2 * size.low, _doubled(size.high)) for size in second[1:3])]
    return any(
        size != (own if own.is_static else other)
        for size, own, other in zip(output[:3], first[:3], halved, strict=True)
    )


def _doubled(bound: int) -> int:
    return min(2 * bound, UNBOUNDED)


def _any_scores(site: Site) -> bool:
    """Whether boxes alone bound the number of results, and scores are of any rank."""
    boxes = dimensions(site.shape(0))
    assert site.operation is not None
    return (
        site.operation.since >= 4
        and len(boxes) == 3
        and boxes[1].is_static
        and site.shape(1) is not None
        and site.rank(1) is None
        and site.value(2) is not None
    )


def _other_sizes(site: Site) -> bool:
    """Whether readers that know `output_size` in the place of `output_roi` read other sizes."""
    sizes, wanted = (
        (site.layer.attribute(name) or "").split(",") for name in ("output_size", "output_roi")
    )
    if len(sizes) != 2 or len(wanted) != 2:
        return False
    given = (site.layer.attribute(name) for name in ("pooled_h", "pooled_w"))
    return any(
        own is None and one.strip() != other.strip()
        for own, one, other in zip(given, sizes, wanted, strict=True)
    )


def _unused_outputs(site: Site) -> bool:
    return bool(site.unused)


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
    output, axes = dimensions(_output(site))[:-1], site.value(1)
    if len(site.layer.inputs) < 3 or site.value(2) is not None or axes is None:
        return False
    within = [int(axis) % len(output) for axis in axes if -len(output) <= axis < len(output)]
    open_rank = bool(output) and site.rank(2) is None
    return open_rank or any(_is_known(output[axis]) for axis in within)


def _promoted(site: Site) -> bool:
    return any(output.element_type.is_dynamic for output in site.outputs)


def _plane(site: Site) -> bool:
    """Whether the height of a picture in one plane is a part of a dynamic dimension."""
    plane, output = dimensions(site.shape(0)), dimensions(_output(site))
    if len(site.layer.inputs) != 1 or len(plane) < 2 or len(output) < 2:
        return False
    return plane[1].is_dynamic and plane[1] != output[1]


def _hidden_size(site: Site) -> bool:
    """Whether the hidden size of a recurrent operation follows from more than the states and the
    recurrent weights, or an input of any rank matters.
    """
    output = dimensions(_output(site))
    if not output:
        return False
    shapes = [tensor.shape for tensor in site.inputs if tensor is not None]
    if site.layer.type in ("RNNCell", "RNNSequence", "LSTMSequence") and any(
        shape.rank is None for shape in shapes
    ):
        return True
    states = [1, 2] if site.layer.type.startswith("LSTM") else [1]
    weights = 2 + len(states) + site.layer.type.endswith("Sequence")
    known = [size for index in (*states, weights) for size in dimensions(site.shape(index))[-1:]]
    if site.layer.type == "LSTMCell":
        gates = [size for index in (3, 4, 5) for size in dimensions(site.shape(index))[:1]]
        known += [size // 4 for size in gates if size.is_static]
    return output[-1] != reduce(_both, known, _ANY)


def _patches(site: Site) -> bool:
    """Whether one spatial axis is dynamic, and the output of the other known."""
    data, output = dimensions(site.shape(0)), dimensions(_output(site))
    if len(data) != 4 or len(output) != 4:
        return False
    return any(size.is_dynamic for size in data[2:]) and any(map(_is_known, output[2:]))


def _empty_patches(site: Site) -> bool:
    """Whether an axis is shorter than a patch, by less than a step."""
    assert site.operation is not None
    operation, attribute_faults = site.operation.read(site.layer.items)
    data, output = dimensions(site.shape(0)), dimensions(_output(site))
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
    return softmax and site.rank(0) is not None and _output(site) == site.shape(0)


def _open_height(site: Site) -> bool:
    """Whether a dynamic height leaves that of the output known."""
    data, output = dimensions(site.shape(0)), dimensions(_output(site))
    return len(data) == 4 and data[2].is_dynamic and any(map(_is_known, output[2:3]))


def _any_squeezed(site: Site) -> bool:
    """Whether no axes are given, an axis may go or stay, and something is known of another."""
    sizes = dimensions(site.shape(0))
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
        and dimensions(shape) not in ((), (_ANY,))
    )


def _computed_shape(site: Site) -> bool:
    """Whether the shape is no constant, and something is known of the result."""
    output = _output(site)
    if site.value(0) is not None or output is None or output.rank is None:
        return False
    lengths = dimensions(site.shape(0))
    return any(map(_is_known, output)) or any(size.is_dynamic for size in lengths)


def _open_suppression(site: Site) -> bool:
    """Whether the number of boxes is bounded although inputs are not static."""
    output, boxes, scores = (
        dimensions(_output(site)),
        dimensions(site.shape(0)),
        dimensions(site.shape(1)),
    )
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
    output, boxes, scores = (
        dimensions(_output(site)),
        dimensions(site.shape(0)),
        dimensions(site.shape(1)),
    )
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
        and site.rank(0) is None
        and any(size == Dimension(1, UNBOUNDED) for size in dimensions(_output(site)))
    )


def _label_sizes(site: Site) -> bool:
    """Whether axes of one label have sizes of which some are excluded by others."""
    inputs, arrow, output = site.attribute("equation").replace(" ", "").partition("->")
    if not arrow or "..." in inputs:
        return False
    sizes: dict[str, list[Dimension]] = {}
    for part, tensor in zip(inputs.split(","), site.inputs, strict=False):
        if tensor is not None:
            for label, size in zip(part, dimensions(tensor.shape), strict=False):
                sizes.setdefault(label, []).append(size)
    return any(
        result != reduce(_both, sizes.get(label, [result]))
        for label, result in zip(output, dimensions(_output(site)), strict=False)
    )


def _skipping(site: Site) -> bool:
    """Whether a step leaves fewer of an axis whose range only execution knows."""
    steps = site.value(3) if len(site.inputs) > 3 else ()
    open_range = site.value(1) is None or site.value(2) is None
    data, output = dimensions(site.shape(0)), dimensions(_output(site))
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
    return shape is not None and any(size.high == 0 for size in dimensions(shape))


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
    return {0, 1} in ranks and any(any(map(_is_known, dimensions(o.shape))) for o in site.outputs)


def _states(site: Site) -> bool:
    """Whether a state is wider in the body than at its beginning, where it is an interval."""
    return any(
        state and one != other and one.is_dynamic
        for given, taken, state in site.entering()
        for one, other in zip(dimensions(given.shape), dimensions(taken.shape), strict=False)
    )


def _branch_inputs(site: Site) -> bool:
    """Whether a branch declares an input wider than what it is given."""
    return any(
        one != other
        for given, taken, _ in site.entering()
        for one, other in zip(dimensions(given.shape), dimensions(taken.shape), strict=False)
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
_PICTURES = ["I420toRGB", "I420toBGR", "NV12toRGB", "NV12toBGR"]
_COMPUTED_SHAPES = (
    ("absolute sizes", _shape_from("Abs")),
    ("largest size", _shape_from("ReduceMax")),
)

RECOGNISERS: Recognisers = {
    **dict.fromkeys(BROADCASTING, (("pdpd", _pdpd),)),
    **dict.fromkeys(_REDUCTIONS, (("reduced axes", _reduced_axes),)),
    **dict.fromkeys(RECURRENT, (("cells", _hidden_size),)),
    **dict.fromkeys(_PICTURES[:2], (("YUV", _plane),)),
    **dict.fromkeys(_PICTURES[2:], (("YUV", _plane), ("separate planes", _separate_planes))),
    "Parameter": (("overflow", _overflow),),
    "RandomUniform": (("computed shape", _computed_shape),),
    "NonMaxSuppression": (
        ("open suppression", _open_suppression),
        ("any scores", _any_scores),
    ),
    "MatrixNms": (("bounded boxes", _bounded_suppression),),
    "MulticlassNms": (("bounded boxes", _bounded_suppression),),
    "Einsum": (("label sizes", _label_sizes),),
    "SquaredDifference": (("pdpd", _pdpd),),
    "Tile": (("lower bounds", _lower_bounds),),
    "Reshape": (
        ("open product", _open_product),
        ("lower bounds", _lower_bounds),
        ("any rank", _any_rank_reshaped),
        *_COMPUTED_SHAPES,
    ),
    "Broadcast": (("lower bounds", _lower_bounds), *_COMPUTED_SHAPES),
    "ROIPooling": (("other sizes", _other_sizes),),
    "Interpolate": (("lower bounds", _lower_bounds),),
    "TopK": (("lower bounds", _lower_bounds),),
    "DFT": (
        ("DFT", _unknown_axes),
        ("signal sizes", _unknown_signal),
    ),
    "IDFT": (
        ("DFT", _unknown_axes),
        ("signal sizes", _unknown_signal),
    ),
    "ConvertPromoteTypes": (("promoted types", _promoted),),
    "ExtractImagePatches": (
        ("patches", _patches),
        ("empty patches", _empty_patches),
    ),
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
    "Loop": (
        ("unused outputs", _unused_outputs),
        ("states", _states),
    ),
    "TensorIterator": (("unused outputs", _unused_outputs),),
}
"""What the layers of a type may show."""
