"""Recognises in layers what older releases ignore or do not run: keys of `releases.IGNORED` and
`releases.NOT_RUN`.
"""

from __future__ import annotations

from ..sites import Site, dimensions
from .recogniser import BROADCASTING, RECURRENT, Recogniser, Recognisers, is_pdpd


def _sink(site: Site) -> bool:
    return len(site.inputs) > 5


def _alignment(site: Site) -> bool:
    return site.attribute("alignment") == "pytorch"


def _stored_keys(site: Site) -> bool:
    """Whether a mask of booleans is used for keys that a variable holds."""
    return site.type_name(3) == "boolean" and site.stored[1]


def _boolean_mask(site: Site) -> bool:
    """Whether a mask of booleans is used, and the plugin does not take the operation apart."""
    shapes = [tensor.shape for tensor in site.inputs if tensor]
    return (
        site.type_name(3) == "boolean"
        and site.attribute("causal") not in ("true", "1")
        and site.rank(0) == 4
        and any(shape.static is None for shape in shapes)
    )


def _without_spatial_axes(site: Site) -> bool:
    return site.rank(0) == 2


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
    """Whether a layer takes the result that does not compute element by element."""
    elementwise = {"Result", "LogicalNot", *BROADCASTING}
    return any(layer.type not in elementwise for layer in site.feeds)


def _suppression(site: Site) -> bool:
    return _is_result(site) and site.operation is not None and site.operation.since < 5


def _nothing(site: Site) -> bool:
    """Whether a result that is known before the model runs has no elements."""
    return all(site.constant) and any(output.shape.static == (0,) for output in site.outputs)


def _shape_of_scalar(site: Site) -> bool:
    return site.rank(0) == 0


def _product_of_nothing(site: Site) -> bool:
    return any(
        size.high == 0 for tensor in site.inputs if tensor for size in dimensions(tensor.shape)
    )


def _reduced_scatter(site: Site) -> bool:
    """Whether elements of small integers or booleans are reduced."""
    narrow = ("i8", "u8", "boolean")
    return site.attribute("reduction") not in ("", "none") and site.type_name() in narrow


def _scalar_update(site: Site) -> bool:
    assert site.operation is not None
    return site.rank(2) == 0 and site.operation.since < 15


def _open_sizes(site: Site) -> bool:
    """Whether the sizes of a Fourier transform are known at run time only."""
    return len(site.layer.inputs) > 2 and site.value(2) is None


def _ranks_differ(site: Site) -> bool:
    """Whether tensors of several ranks are broadcast in mode pdpd."""
    return is_pdpd(site) and len({tensor.shape.rank for tensor in site.inputs if tensor}) > 1


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


def _open_strings(site: Site) -> bool:
    shape = site.shape(0)
    return _strings(site) and shape is not None and shape.static is None


def _open_filters(site: Site) -> bool:
    """Whether filters of i8 are known at run time only."""
    return site.type_name(1) == "i8" and not site.constant[1]


def _places_unused(site: Site) -> bool:
    """Whether nothing takes the third output, where each element is among the unique ones."""
    unsorted = site.attribute("sorted") in ("false", "0")
    return unsorted and 2 in site.unused and not all(site.constant)


def _skipped_tokens(site: Site) -> bool:
    return len(site.layer.inputs) == 5


def _open_statistics(site: Site) -> bool:
    """Whether the plugin cannot take a normalization apart, for a vector of dynamic shape."""
    assert site.operation is not None
    data = 2 if site.operation.since == 1 else 0
    vectors = [index for index in range(len(site.inputs)) if index != data]
    shapes = [site.shape(index) for index in vectors]
    return any(shape is not None and shape.static is None for shape in shapes)


def _open_roll(site: Site) -> bool:
    shape = site.shape(0)
    return shape is not None and shape.static is None and site.value(2) is None


def _bounded_result(site: Site) -> bool:
    """Whether it is a result as it is, with static dimensions and dynamic ones of at least 1."""
    sizes = [size for output in site.outputs for size in dimensions(output.shape)]
    return (
        _is_result(site)
        and any(size.is_dynamic and size.low > 0 for size in sizes)
        and any(size.is_static and size.low > 0 for size in sizes)
    )


def _open_axes(site: Site) -> bool:
    """Whether a shape has dimensions of 1 that axes may name which are known at run time only."""
    assert site.operation is not None
    shape = site.shape(0)
    static = None if shape is None or site.operation.since != 6 else shape.static
    return static is not None and 1 in static and site.value(1) is None


def _few_bits(site: Site) -> bool:
    assert site.operation is not None
    return site.operation.since == 16 and site.type_name(2) in ("u2", "u3", "u6")


def _of_four_bits(site: Site) -> bool:
    return any(output.element_type.name in ("i4", "u4") for output in site.outputs)


RECOGNISERS: Recognisers = {
    "MVN": (("open axes", _open_axes),),
    "OneHot": (("few bits", _few_bits),),
    "Const": (("shared bytes", _of_four_bits),),
    "BatchNormInference": (("open statistics", _open_statistics),),
    "Roll": (("open roll", _open_roll),),
    "Unique": (("unused places", _places_unused),),
    "VocabDecoder": (("skipped tokens", _skipped_tokens),),
    **dict.fromkeys(RECURRENT, (("open weights", _open_weights),)),
    "Parameter": (
        ("four bits in", _four_bits(unpacked=False)),
        ("four bits unpacked", _four_bits(unpacked=True)),
        ("nf4 in", _input_of("nf4")),
        ("f4 in", _input_of("f4e2m1", "f8e8m0")),
        ("u2 in", _input_of("u2")),
        ("f8 in", _input_of("f8e4m3", "f8e5m2")),
        ("bounded result", _bounded_result),
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
    "NonMaxSuppression": (("suppression", _suppression),),
    "Einsum": (("repeated labels", _repeated_labels),),
    "ShapeOf": (("shape of a scalar", _shape_of_scalar),),
    "Range": (("empty range", _nothing),),
    "MatMul": (("empty product", _product_of_nothing),),
    "PReLU": (("scalar slope", _shape_of_scalar),),
    "ScatterElementsUpdate": (("reduced scatter", _reduced_scatter),),
    "ScatterNDUpdate": (
        ("scalar update", _scalar_update),
        ("narrow update", _narrow_update),
    ),
    "SquaredDifference": (("pdpd squares", _ranks_differ),),
    "Gather": (("gathered strings", _gathered_strings), ("open strings", _open_strings)),
    "EmbeddingBagOffsets": (("no index", _no_index),),
    "EmbeddingBagOffsetsSum": (("no index", _no_index),),
    "FakeQuantize": (("wide limits", _wide_limits),),
    "Transpose": (("strings", _strings),),
    "ConvolutionBackpropData": (("open filters", _open_filters),),
    "DFT": (("open sizes", _open_sizes),),
    "IDFT": (("open sizes", _open_sizes),),
}
"""What the layers of a type may show."""
