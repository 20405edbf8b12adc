"""The one list of known differences from OpenVINO: `Case(known="key")` names an entry, or several.
`OLDER` has those of releases before the newest, by operation.

Kinds, each checked strictly (an entry that no longer holds fails its cases):
    values    both run it, and the results differ
    hardware  both run it, and whether the results differ depends on the CPU: values are compared
              with `Case(expected=...)` alone, and no entry is stale
    tighter   irshape's shape is narrower than OpenVINO's, and inside it
    wider     irshape's shape allows what OpenVINO's leaves out though it can happen
    stricter  OpenVINO silently accepts it, the specification forbids it: irshape reports an error
    lenient   OpenVINO refuses it for a limitation or bug of its own: irshape reports no error
    crash     OpenVINO crashes or hangs while reading it, though it is legal: irshape reports no
              error
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from irshape.releases import MINOR_RELEASES, Release, written


@dataclass(frozen=True)
class Known:
    """A difference, why it is one, and the OpenVINO versions (by prefix) in which it was seen."""

    kind: Literal["values", "hardware", "tighter", "wider", "stricter", "lenient", "crash"]
    reason: str
    versions: tuple[str, ...] = ("2026.4",)


KNOWN: dict[str, Known] = {
    # any operation
    "i64-as-i32": Known(
        "values", "the CPU plugin computes i64 and u64 as i32: the mean of four 2^40 is 0"
    ),
    "f64-as-f32": Known(
        "values", "the CPU plugin computes f64 as f32: the mean of 1e300 is 3.4e38"
    ),
    "u8-sum-wraps": Known("values", "the CPU plugin's sums of u8 wrap: the mean of four 254 is 63"),
    "duplicate-axes": Known(
        "stricter", "the specification asks for unique axes, OpenVINO silently accepts [3,3]"
    ),
    "boolean-text": Known(
        "stricter",
        (
            'OpenVINO accepts any text for a boolean (keep_dims="maybe"), the specification true '
            "or "
            "false"
        ),
    ),
    "unused-attribute-misspelt": Known(
        "stricter", "OpenVINO ignores an attribute it does not know, also a misspelt one"
    ),
    "missing-attribute": Known(
        "stricter",
        "OpenVINO takes a default where the specification says the attribute is required",
    ),
    # reductions
    "reduce-extreme-of-nothing": Known(
        "hardware",
        "ReduceMax and ReduceMin of no elements: the identity is -inf and inf; the CPU plugin "
        "gives "
        "the lowest and largest finite number, or infinity for ReduceMin (AVX512-FP16)",
    ),
    "reduce-no-axes-of-rank-6": Known(
        "values",
        "the CPU plugin fills only a part of a Reduce without axes, with keep_dims, of rank 6",
    ),
    "reduce-unknown-axes-kept": Known(
        "tighter",
        (
            "with keep_dims and axes known at run time each dimension stays or becomes 1: 3 is "
            "1..3, where OpenVINO says ?"
        ),
    ),
    "reduce-unknown-axis-dropped": Known(
        "tighter",
        (
            "one axis known at run time goes: each dimension left is its own or its right "
            "neighbour's, where OpenVINO says ?"
        ),
    ),
    "reduce-axis-of-scalar": Known(
        "stricter",
        (
            "axes 0 and -1 of a scalar: it has no axes, the specification requires -r to r-1; "
            "OpenVINO takes them unless keep_dims"
        ),
    ),
    # elementwise
    "explicit-broadcast": Known(
        "stricter",
        (
            "auto_broadcast explicit belongs to Broadcast; OpenVINO reads it anywhere and does as "
            "with none"
        ),
    ),
    "narrow-integers-saturate": Known(
        "values",
        (
            "the CPU plugin's arithmetic on i8 and u8 stops at the limits of the type, "
            "Model.evaluate's wraps around"
        ),
    ),
    "text-as-number": Known(
        "stricter",
        (
            "OpenVINO reads an operation on numbers with strings as input, where it does not look "
            "at element types"
        ),
    ),
    "round-just-below-half": Known(
        "values",
        (
            "Round half_away_from_zero: the CPU plugin adds 0.5 and cuts, so the largest number "
            "below 0.5 becomes 1"
        ),
    ),
    "erfinv-digits": Known("values", "the CPU plugin's ErfInv has three or four digits"),
    "squared-difference-of-bytes": Known(
        "values", "the CPU plugin's SquaredDifference of i8 and u8 is wrong: (7 - 2) squared is 0"
    ),
    "divide-towards-zero": Known(
        "values",
        (
            "Divide with m_pythondiv rounds down by the specification and in Model.evaluate; the "
            "CPU plugin cuts towards zero"
        ),
    ),
    "integer-power-overflow": Known(
        "values", "an integer power that does not fit: the CPU plugin gives the smallest integer"
    ),
    "pdpd-lost": Known(
        "values",
        (
            "in pdpd mode the CPU plugin's shifts, and Model.evaluate's Greater and GreaterEqual, "
            "lay the second input along other axes than auto_broadcast_axis says"
        ),
    ),
    "nf4-as-integer": Known("stricter", "OpenVINO takes nf4 for an integer type; it is not one"),
    "clamp-not-a-number": Known(
        "values", "the CPU plugin's Clamp, HSigmoid and ReLU turn NaN into a limit"
    ),
    "softmax-1-default-axis": Known(
        "stricter", "SoftMax-1 without `axis`: 1 by the specification, 0 in OpenVINO"
    ),
    "softmax-1-default-axis-values": Known(
        "values", "SoftMax-1 without `axis`: 1 by the specification, 0 in OpenVINO"
    ),
    "softmax-1-from-the-end": Known(
        "stricter",
        "SoftMax-1 has no negative axes; OpenVINO refuses one as soon as it knows the rank",
    ),
    "prelu-slope": Known(
        "stricter",
        "PReLU: OpenVINO looks neither at the element type nor at the shape of the slope",
    ),
    "selu-several": Known(
        "stricter", "Selu: alpha and lambda are one element each; OpenVINO silently accepts more"
    ),
    "hard-sigmoid-list": Known(
        "stricter",
        (
            "HardSigmoid: alpha and beta are scalars; OpenVINO silently accepts a list of unknown "
            "length"
        ),
    ),
    "hard-sigmoid-of-integers": Known(
        "stricter", "HardSigmoid is for floating-point types; OpenVINO silently accepts any"
    ),
    "cumsum-axis-shape": Known(
        "stricter",
        (
            "CumSum: the specification requires a scalar axis; OpenVINO silently reads a list of "
            "several, "
            "and the CPU plugin refuses it"
        ),
    ),
    "cumsum-axis-range": Known(
        "stricter", "CumSum: an axis out of range is read silently and fails at run time"
    ),
    # single operations
    "tile-runtime-repeats": Known(
        "values",
        (
            "the CPU plugin returns wrong values for Tile with run-time repeats; Model.evaluate is "
            "right"
        ),
    ),
    "value-bounds-tighter": Known(
        "tighter",
        (
            "bounds of values are followed through operations, and through dimensions without an "
            "upper bound, where OpenVINO gives them up"
        ),
    ),
    "convert-f64-stops": Known(
        "values",
        (
            "the CPU plugin's Convert from f64 to u8 and u4 stops at 0 where a negative number "
            "wraps around"
        ),
    ),
    "convert-large-unsigned": Known(
        "values", "the CPU plugin's Convert from f32 to u32 stops at 2^31-1 or below"
    ),
    "convert-not-a-number": Known(
        "values", "NaN is not zero, so it is true by the specification; the CPU plugin says false"
    ),
    "convert-f64-infinity": Known("values", "Convert from or to f64 turns infinity into 3.4e38"),
    "bitshift-range": Known("values", "bit shifts by more than the width, or of negative numbers"),
    "topk-ties": Known("values", "the order of equal values is open unless `stable`"),
    # detection
    "nms-rows": Known(
        "values",
        (
            "NonMaxSuppression-1 to 4: the specification fills the triplets up with -1 (and -1 and "
            "-3 stop at min(boxes, limit * classes)); the CPU plugin gives as many as it finds"
        ),
    ),
    "nms-equal-threshold": Known(
        "values",
        (
            "NonMaxSuppression: the specification keeps a box whose overlap equals iou_threshold, "
            "the CPU plugin drops it"
        ),
    ),
    "matrix-nms-class-order": Known(
        "values",
        (
            "MatrixNms: with sort_result_type classid, the CPU plugin leaves the boxes of an image "
            "in the order of their scores"
        ),
    ),
    "multiclass-nms-equal-threshold": Known(
        "values",
        (
            "MulticlassNms: the specification keeps a box whose overlap equals iou_threshold (0 "
            "and 0 by default), the CPU plugin drops it"
        ),
    ),
    "multiclass-nms-eta": Known(
        "values",
        (
            "MulticlassNms: the specification holds a box against the threshold of the moment when "
            "the better one was taken, the CPU plugin against the lowest so far"
        ),
    ),
    "nms5-beyond-threshold": Known(
        "values",
        (
            "NonMaxSuppression-5: the specification drops boxes beyond iou_threshold also with "
            "soft suppression, the CPU plugin fades them as NonMaxSuppression-9 does"
        ),
    ),
    # convolutions and poolings
    "binary-convolution-bits": Known(
        "values",
        (
            "BinaryConvolution: the CPU plugin reads the bits of u1 filters from the lowest of "
            "each byte on, where a u1 Const has its first element in the highest"
        ),
    ),
    "negative-size-attribute": Known(
        "stricter",
        (
            "strides, dilations, paddings and kernels are not negative by the specification; "
            "OpenVINO goes on with such numbers"
        ),
    ),
    "max-pool-same-lower": Known(
        "values",
        (
            "MaxPool-8 and -14 of a shape known at run time: the CPU plugin pads as for same_upper "
            "where auto_pad is same_lower"
        ),
    ),
    "pool-index-type": Known(
        "stricter",
        "MaxPool: the specification requires indices of i32 or i64; OpenVINO takes any type",
    ),
    "convolution-of-i8": Known(
        "hardware",
        "Convolution, GroupConvolution and their backward forms of i8 by i8: the CPU plugin's "
        "kernels for AVX2, and backward those for AVX-512 without VNNI, give other sums",
    ),
    # normalizations
    "lrn-whole-bias": Known(
        "values", "LRN: the CPU plugin cuts `bias` to a whole number, 1.5 to 1"
    ),
    "lrn-size": Known("stricter", "LRN: the specification requires a positive size"),
    "normalized-axes": Known(
        "stricter", "MVN, LRN: an axis out of range is read silently and fails at run time"
    ),
    "integers-wanted": Known(
        "stricter",
        (
            "MVN, NormalizeL2, AdaptivePool: the specification requires axes and sizes of an "
            "integer "
            "type; OpenVINO silently reads others"
        ),
    ),
    # quantization
    "quantize-empty-range": Known(
        "values",
        (
            "FakeQuantize with input_low = input_high: the specification gives the output's ends, "
            "the CPU plugin NaN"
        ),
    ),
    "quantize-not-a-number": Known(
        "values",
        "FakeQuantize of NaN: the CPU plugin gives output_low, the specification's formula NaN",
    ),
    "quantize-limits": Known(
        "stricter",
        (
            "FakeQuantize: the specification requires limits that are broadcast to the shape of "
            "data; "
            "OpenVINO also takes the reverse"
        ),
    ),
    "quantize-levels": Known(
        "stricter", "FakeQuantize: the specification requires 2 levels or more"
    ),
    # images
    "interpolate-antialias": Known(
        "values",
        (
            "Interpolate: `antialias` is for shrinking in mode linear; the CPU plugin ignores it "
            "below rank 5, and heeds it when all axes grow; Model.evaluate is right"
        ),
    ),
    "interpolate-pillow-coefficient": Known(
        "values",
        (
            "Interpolate: the CPU plugin takes -0.5 for bicubic_pillow whatever `cube_coeff` says; "
            "the specification and Model.evaluate heed it"
        ),
    ),
    "interpolate-sizes": Known(
        "stricter",
        (
            "Interpolate: the specification requires one size that is not negative, or one scale "
            "above 0, for each axis"
        ),
    ),
    "interpolate-mode": Known("stricter", "Interpolate-1: OpenVINO accepts any text for its mode"),
    # embeddings, segments, sparse tensors
    "embedding-last-bag": Known(
        "values",
        "the CPU plugin's EmbeddingBagOffsets takes no default for an empty bag at the end",
    ),
    "embedding-index": Known(
        "stricter",
        (
            "EmbeddingBag, EmbeddingSegmentsSum: the specification requires indices of rows that "
            "the "
            "table has"
        ),
    ),
    "segment-max-lowest": Known(
        "values",
        (
            "SegmentMax: of f16 the CPU plugin fills in -inf (the lowest f32, converted), the "
            "specification the lowest f16, -65504"
        ),
    ),
    "segment-max-of-infinity": Known(
        "values",
        (
            "SegmentMax: the CPU plugin starts from the lowest f32, so the maximum of -inf alone "
            "is -3.4e38"
        ),
    ),
    "segment-max-of-nothing": Known(
        "crash",
        (
            "SegmentMax of no rows without num_segments: OpenVINO takes the maximum of an empty "
            "list and crashes"
        ),
    ),
    "segment-negative": Known(
        "stricter",
        (
            "SegmentMax: the specification requires segments counted from 0; OpenVINO silently "
            "reads -1"
        ),
    ),
    "sparse-bounded-rows": Known(
        "tighter",
        (
            "SparseFillEmptyRows: a dense_shape of 2..6 rows gives 2..6 indicators, where OpenVINO "
            "says ?"
        ),
    ),
    # sorting and searching
    "topk-bounded-k": Known(
        "tighter",
        (
            "TopK: k of 2..5 chooses at most 5 elements, also of an axis of unknown size, where "
            "OpenVINO says ?"
        ),
    ),
    "topk-k-too-large": Known(
        "stricter", "TopK: the specification requires k to be at most the size of the axis"
    ),
    "nonzero-of-bounds": Known(
        "tighter",
        (
            "NonZero of known bounds: an element of 2..5 is not zero, one of 0..9 may be; OpenVINO "
            "counts them all as possible"
        ),
    ),
    "unique-count": Known(
        "tighter",
        (
            "Unique: as many indices and counts as slices along the axis at most, or as elements "
            "where only bounds are known; OpenVINO takes all elements, or says ?"
        ),
    ),
    "unique-of-nothing": Known(
        "wider", "Unique along an axis of 0 to 7 slices finds 0 to 7; OpenVINO counts on one"
    ),
    "bucketize-order": Known(
        "stricter", "Bucketize: the specification requires boundaries that ascend and differ"
    ),
    # control flow
    "if-interval-union": Known(
        "tighter",
        (
            "OpenVINO makes a dimension of an If `?` where a branch has an interval; irshape takes "
            "the union of the branches"
        ),
    ),
    "port-map-input-twice": Known(
        "stricter",
        (
            "of two lines of a port map for one input OpenVINO keeps the first; the other "
            "Parameter is never fed, and the result is wrong"
        ),
    ),
    "loop-without-condition": Known(
        "stricter",
        (
            "the specification demands an execution condition of the body; OpenVINO reads a Loop "
            "without one and leaves its outputs dynamic"
        ),
    ),
    "reshape-of-nothing": Known(
        "wider",
        "Reshape of a tensor of unknown rank, which may be empty: OpenVINO counts on one element",
    ),
    "nms-unknown-classes": Known(
        "wider",
        "NonMaxSuppression-1 to -4 of unknown classes or batch: OpenVINO takes the number of "
        "classes for 1, and upper bounds for sizes",
    ),
    "interval-by-its-ends": Known(
        "wider",
        "Abs, FloorMod and Power of an interval: OpenVINO computes both ends only, so 1..8 modulo "
        "5 is 1..3, and the square of -3..4 is 9..16",
    ),
    "list-of-unknown-length": Known(
        "wider",
        "ConvolutionBackpropData, GroupConvolutionBackpropData: an `output_shape` of unknown "
        "length has a size for each spatial axis; OpenVINO takes it to be empty",
    ),
    "if-scalar-or-vector": Known(
        "wider",
        "an If of which one branch gives a scalar and one a vector has either rank; OpenVINO takes "
        "the scalar for a vector of one",
    ),
    "loop-may-not-start": Known(
        "wider",
        "a Loop that may not start, or does not: states stay as they come, and nothing is "
        "concatenated; OpenVINO infers what one iteration gives, or 0 rows",
    ),
    "loop-iterations-bounded": Known(
        "tighter",
        "a Loop runs `trip_count` times at most whatever its condition is, and in one iteration no "
        "state is fed back; OpenVINO says ?",
    ),
    "iterator-part-size": Known(
        "stricter",
        "an output of a TensorIterator is put together of parts of another size than the body's "
        "result has; OpenVINO cannot run it",
    ),
    "iterator-slices-disagree": Known(
        "stricter",
        (
            "the sliced inputs of a TensorIterator have different numbers of slices; OpenVINO goes "
            "by the last, and cannot run it"
        ),
    ),
    "iterator-stride-not-part-size": Known(
        "stricter",
        (
            "OpenVINO counts the slices of a TensorIterator by `part_size` alone, and cannot run "
            "it where `stride` is not the same"
        ),
    ),
    "iterator-parameter-type": Known(
        "stricter",
        (
            "OpenVINO does not check whether the element type of a TensorIterator's input is that "
            "of the Parameter it feeds"
        ),
    ),
    "iterator-start": Known(
        "values", "the CPU plugin takes slices from the first on, whatever `start` says"
    ),
    # recurrent networks
    "recurrent-input-size": Known(
        "stricter",
        (
            "a cell's or sequence's X and W disagree on the input size; OpenVINO sees it only when "
            "the layer runs"
        ),
    ),
    "recurrent-hidden-size": Known(
        "stricter",
        (
            "`hidden_size` of a cell or sequence is not the size of its states; OpenVINO goes by "
            "the shapes"
        ),
    ),
    "recurrent-clip": Known("stricter", "the specification requires a positive `clip`"),
    "recurrent-functions": Known(
        "stricter",
        (
            "OpenVINO reads a recurrent sequence with any names of activation functions, and "
            "cannot run it"
        ),
    ),
    "gru-cell-type-of-w": Known(
        "stricter", "OpenVINO does not look at the element type of W in a GRUCell"
    ),
    # temporal classification
    "ctc-index-type": Known(
        "stricter",
        (
            "CTCGreedyDecoderSeqLen: the specification requires i32 or i64 for its results; "
            "OpenVINO "
            "reads any type and cannot run it"
        ),
    ),
    "ctc-loss-default": Known(
        "values", "CTCLoss without ctc_merge_repeated: true by the specification, false in OpenVINO"
    ),
    "ctc-numbers": Known(
        "stricter",
        (
            "CTC: a length beyond the steps, or a blank that is no class; the CPU plugin returns "
            "wrong values or crashes"
        ),
    ),
    # signals
    "signal-size": Known(
        "stricter",
        (
            "Fourier transforms: a signal size is 1 or more, or -1 for all of the axis; the CPU "
            "plugin crashes on others"
        ),
    ),
    "window-too-long": Known(
        "stricter",
        (
            "STFT, ISTFT: a window of 9..12 is longer than a frame of 8; OpenVINO looks at windows "
            "of known length only"
        ),
    ),
    # generation
    "range-of-bounds": Known(
        "tighter",
        (
            "Range of bounded numbers has a bounded length: 0 to 2..10 by 1 is [2..10], where "
            "OpenVINO says ?"
        ),
    ),
    "range-of-strings": Known(
        "stricter", "Range-4: the specification requires a numeric output_type"
    ),
    "range-step-0-as-integer": Known(
        "stricter",
        (
            "Range-4: the specification leaves it undefined what a step does that is 0 as an "
            "integer; OpenVINO infers no elements"
        ),
    ),
    "negative-size": Known(
        "stricter",
        (
            "a size that is given by a value is negative; OpenVINO takes -1 for an unknown size "
            "and other negative numbers for 0, and cannot run it"
        ),
    ),
    "multinomial-convert-type": Known(
        "stricter",
        (
            "Multinomial: the specification requires i32 or i64; the CPU plugin returns wrong "
            "values for "
            "others"
        ),
    ),
    "multinomial-too-many": Known(
        "stricter",
        (
            "Multinomial: without replacement there cannot be more samples than classes; the CPU "
            "plugin crashes"
        ),
    ),
    "range-empty-at-run-time": Known(
        "values",
        (
            "the CPU plugin gives some numbers for a Range at run time whose stop lies before its "
            "start"
        ),
    ),
    "random-uniform-scalar": Known("values", "the CPU plugin leaves a scalar RandomUniform unset"),
    # movement and shapes
    "shape-text": Known(
        "stricter",
        (
            "the shape of a Parameter: OpenVINO silently reads -2 and a number past int64 as 0, "
            "and "
            "an empty interval as ?"
        ),
    ),
    "reshape-count": Known(
        "stricter",
        (
            "Reshape with special_zero: the result has another number of elements than the input; "
            "OpenVINO sees it only when it runs"
        ),
    ),
    "lists-longer-than-rank": Known(
        "stricter",
        (
            "SpaceToBatch: the specification requires an element of each list for each dimension; "
            "OpenVINO ignores those past the rank, and cannot run it"
        ),
    ),
    "batch-itself": Known(
        "stricter",
        (
            "BatchToSpace, SpaceToBatch: the specification requires block 1 and nothing to crop or "
            "pad for the batch; OpenVINO infers other shapes than it computes"
        ),
    ),
    "window-not-positive": Known(
        "stricter",
        (
            "ExtractImagePatches: the specification requires positive sizes, strides and rates; "
            "OpenVINO refuses only zeros"
        ),
    ),
    "two-numbers": Known(
        "stricter",
        (
            "Col2Im: the specification requires two numbers that are not negative; OpenVINO takes "
            "the "
            "first two of more, and negative padding"
        ),
    ),
    "col2im-defaults": Known(
        "crash",
        "Col2Im without strides, dilations or padding, which have defaults by the specification",
    ),
    "slice-across-the-ends": Known(
        "tighter",
        (
            "Slice, StridedSlice: from an index counted from the end to one counted from the "
            "beginning, or back, the size of the part first grows and then falls with that of the "
            "axis"
        ),
    ),
    "squeeze-keeps-an-axis": Known(
        "stricter",
        "Squeeze of an axis of dynamic size that is not 1 when it runs: `run` refuses it; the CPU "
        "plugin refuses it too, or reshapes, such as (2,2,2) declared [2,?,?] to (2,4)",
    ),
    "slice-leaves-out": Known(
        "wider",
        (
            "Slice of an axis of dynamic size: OpenVINO leaves out sizes that it infers of static "
            "shapes, such as 1 of x[-3:-3:-1], where x has 2 elements, 0 of x[3:-100:-1], where x "
            "has 200, and 0 of x[-1:n], where n is less than the size of x"
        ),
    ),
    "shrink-out-of-range": Known(
        "stricter",
        (
            "StridedSlice: shrink_axis_mask takes an index that the axis has not; OpenVINO sees it "
            "only when it runs"
        ),
    ),
    "scatter-axis": Known(
        "stricter",
        (
            "ScatterElementsUpdate: the specification requires one axis; OpenVINO silently uses "
            "the first "
            "of several"
        ),
    ),
    "slice-scatter-types": Known(
        "stricter",
        (
            "SliceScatter: the specification requires one element type for data and updates; "
            "OpenVINO "
            "does not look"
        ),
    ),
    "pad-cuts-too-much": Known(
        "stricter",
        (
            "Pad: more elements are to be cut off an axis than it has; OpenVINO infers an unknown "
            "size and fails when it runs"
        ),
    ),
    "pad-of-dynamic-type": Known(
        "lenient",
        (
            "Pad without pad_value of a tensor whose element type is not known: OpenVINO fails to "
            "make a zero of that type"
        ),
    ),
    "tile-nothing": Known(
        "values", "the CPU plugin returns wrong values for Tile with an empty list of repeats"
    ),
    "sizes-partly-known": Known(
        "tighter",
        "of a list of sizes some are known and others not; OpenVINO then knows none of them",
    ),
    "split-of-nothing": Known(
        "lenient",
        "Split of a dimension of 0 to 2 in 3 parts: 0 can be split; OpenVINO takes it where it "
        "knows that it is 0",
    ),
    "split-lengths": Known(
        "stricter",
        (
            "VariadicSplit: the lengths add up to more than there can be, or to less; OpenVINO "
            "sees it only where the axis is static and there is no -1"
        ),
    ),
    "gather-batch-dims": Known(
        "stricter",
        (
            "Gather: batch_dims below minus the rank of the indices; OpenVINO silently reads it "
            "and "
            "returns wrong values"
        ),
    ),
    "counted-in-reals": Known(
        "stricter",
        (
            "the specification requires integers for indices, axes and lengths; OpenVINO silently "
            "reads "
            "any type"
        ),
    ),
    "left-unset": Known(
        "values",
        (
            "the CPU plugin leaves elements unset: GatherND with empty tuples, GatherTree of "
            "sequences of length 0"
        ),
    ),
    "empty-list-at-run-time": Known(
        "values",
        (
            "where the order of Transpose, the repeats of Tile or the axes of Reduce have no "
            "elements at run time, all dimensions of the CPU plugin's result are 0"
        ),
    ),
    "sizes-moved": Known(
        "tighter",
        (
            "bounds of sizes go through operations that only move elements (Roll, Reverse, Tile, "
            "…); OpenVINO follows known sizes alone"
        ),
    ),
}
"""Keys are lower case with hyphens. A key says what the difference is about, not which case showed
it."""


EVER: Release = (9999, 0)
"""After all releases."""


@dataclass(frozen=True)
class Older:
    """Something that releases before the newest do otherwise with some operations.

    what: a release `takes` what irshape and the newest refuse; it `reads` what irshape says that it
    refuses; it `refuses` or `crashes` at what irshape says that it reads; its CPU plugin does `not
    run` it; or its `shapes` or `values` are others. A row of the operation may show it or not.
    """

    what: Literal["takes", "reads", "refuses", "crashes", "not run", "shapes", "values"]
    operations: tuple[str, ...]
    before: Release
    """The first release after the last one that shows it."""
    reason: str
    since: Release = (2023, 0)

    def covers(self, operation: str, what: str, release: Release) -> bool:
        in_time = self.since <= release < self.before
        return what == self.what and in_time and operation in self.operations

    @property
    def span(self) -> str:
        if self.before == EVER:
            return f"{written(self.since)} on"
        return f"{written(self.since)} to before {written(self.before)}"


OLDER: tuple[Older, ...] = (
    Older("refuses", ("Reshape-1",), (2023, 2), "a bound of sizes that does not fit into i32"),
    Older("refuses", ("SegmentMax-16",), (2025, 2), "element types that are not known", (2025, 1)),
    Older(
        "crashes", ("ScatterNDUpdate-4",), (2023, 1), "the CPU plugin crashes at a negative index"
    ),
    Older(
        "crashes",
        ("Einsum-7",),
        (2023, 3),
        "the CPU plugin crashes at an equation of one input without an output",
    ),
    Older("crashes", ("Transpose-1",), (2025, 4), "the CPU plugin crashes at strings", (2025, 3)),
    Older(
        "reads",
        ("Slice-8", "StridedSlice-1"),
        (2023, 2),
        "2023.0 and 2023.1 infer no dimension of 0 there, and so do not refuse it",
    ),
    Older(
        "takes",
        (
            "DetectionOutput-8",
            "ExperimentalDetectronDetectionOutput-6",
            "ExperimentalDetectronGenerateProposalsSingleImage-6",
            "ExperimentalDetectronPriorGridGenerator-6",
            "ExperimentalDetectronROIFeatureExtractor-6",
            "ExperimentalDetectronTopKROIs-6",
            "I420toBGR-8",
            "I420toRGB-8",
            "LSTMCell-4",
            "MatrixNms-8",
            "MulticlassNms-8",
            "MulticlassNms-9",
            "NonMaxSuppression-1",
            "NonMaxSuppression-5",
            "NonMaxSuppression-9",
            "NV12toBGR-8",
            "NV12toRGB-8",
            "Proposal-1",
            "Proposal-4",
            "RegionYolo-1",
        ),
        (2023, 1),
        "shapes and element types that do not fit are not looked at",
    ),
    Older(
        "takes",
        ("ReadValue-6", "ROIPooling-1"),
        (2023, 3),
        "shapes and element types that do not fit are not looked at",
    ),
    Older(
        "takes", ("Einsum-7",), (2025, 1), "an equation with fewer labels than the input has axes"
    ),
    Older(
        "takes",
        (
            "AvgPool-1",
            "BatchNormInference-1",
            "BatchNormInference-5",
            "BinaryConvolution-1",
            "Clamp-1",
            "Concat-1",
            "Convolution-1",
            "Elu-1",
            "FakeQuantize-1",
            "GRN-1",
            "Interpolate-11",
            "LRN-1",
            "MaxPool-1",
            "MaxPool-8",
            "MVN-1",
            "PriorBox-8",
            "RandomUniform-8",
            "SoftMax-1",
        ),
        (2026, 2),
        "an attribute whose text is no number, or no known name",
    ),
    Older("takes", ("Multinomial-13",), (2023, 3), "probabilities of one axis", (2023, 2)),
    Older(
        "takes",
        ("ROIAlign-3", "ROIAlign-9"),
        (2026, 2),
        "an attribute whose text is no number; a step of 0; an input that does not fit",
        (2023, 2),
    ),
    Older("takes", ("ReorgYolo-1",), (2026, 2), "an input that does not fit", (2023, 2)),
    Older(
        "takes",
        ("Range-4",),
        (2026, 4),
        "an attribute whose text is no number; a step of 0; an input that does not fit",
        (2023, 2),
    ),
    Older(
        "takes",
        (
            "Abs-1",
            "Acos-1",
            "Acosh-4",
            "Add-1",
            "Asin-1",
            "Asinh-4",
            "Atan-1",
            "Atanh-4",
            "Ceiling-1",
            "Cos-1",
            "Cosh-1",
            "Divide-1",
            "Erf-1",
            "Exp-1",
            "Floor-1",
            "FloorMod-1",
            "HSigmoid-5",
            "HSwish-4",
            "Log-1",
            "Maximum-1",
            "Minimum-1",
            "Mod-1",
            "Multiply-1",
            "Negative-1",
            "Power-1",
            "ReLU-1",
            "Sigmoid-1",
            "Sign-1",
            "Sin-1",
            "Sinh-1",
            "Sqrt-1",
            "SquaredDifference-1",
            "Subtract-1",
            "Tan-1",
            "Tanh-1",
        ),
        (2024, 1),
        "strings, which were new, as input of operations on numbers",
        (2023, 3),
    ),
    Older(
        "takes",
        ("ScaledDotProductAttention-13",),
        (2025, 4),
        "an attribute whose text is no number; a step of 0; an input that does not fit",
        (2023, 3),
    ),
    Older(
        "takes",
        ("AvgPool-14", "MaxPool-14"),
        (2026, 2),
        "an attribute whose text is no number",
        (2024, 0),
    ),
    Older(
        "takes",
        ("ROIAlignRotated-15",),
        (2026, 2),
        "an attribute whose text is no number; a Const without a shape",
        (2024, 2),
    ),
    Older(
        "takes",
        ("Const-1",),
        (2026, 4),
        "an attribute whose text is no number; a Const without a shape",
        (2024, 5),
    ),
    Older("takes", ("AvgPool-16",), (2026, 2), "an attribute whose text is no number", (2025, 3)),
    Older(
        "shapes",
        ("NV12toBGR-8", "NV12toRGB-8"),
        (2023, 1),
        "the planes of intervals are joined otherwise",
    ),
    Older(
        "shapes",
        ("Loop-5",),
        (2026, 3),
        "a state has in the body the shape of the first iteration, not that of all",
    ),
    Older(
        "shapes",
        ("NonMaxSuppression-4", "NonMaxSuppression-5", "NonMaxSuppression-9"),
        (2023, 2),
        "a bound from the boxes, where the scores have any rank",
        (2023, 1),
    ),
    Older("values", ("Unique-10",), (2023, 1), "results in another order"),
    Older("values", ("Gelu-2", "Gelu-7"), (2023, 1), "three or four digits"),
    Older("values", ("StridedSlice-1",), (2023, 2), "a negative step over an axis of unknown size"),
    Older(
        "values",
        ("Add-1", "SquaredDifference-1"),
        (2023, 2),
        "in pdpd mode, axes are taken from the end",
    ),
    Older(
        "values",
        ("FakeQuantize-1",),
        (2024, 1),
        "65536 levels are quantized with the digits of f16",
    ),
    Older("values", ("Reverse-1",), (2024, 2), "i64 results come as i32"),
    Older(
        "values",
        ("Convolution-1", "IsFinite-10", "IsInf-10"),
        (2024, 3),
        "f16 is computed as f32, without infinities",
    ),
    Older(
        "values",
        ("ReduceL2-4", "ReduceMean-1", "ReduceProd-1"),
        (2024, 6),
        "the root or mean of integers is rounded; a reduction of nothing is left unset",
    ),
    Older(
        "values",
        ("GatherElements-6", "GatherND-5", "GatherND-8"),
        (2025, 3),
        "a negative index reads other memory",
    ),
    Older(
        "values",
        ("Convert-1", "Subtract-1"),
        (2025, 4),
        "what does not fit into an unsigned integer stops at its limits",
    ),
    Older(
        "values", ("Const-1",), (2026, 0), "types of less than a byte are unpacked in another order"
    ),
    Older("values", ("Clamp-1",), (2026, 2), "a limit of -inf is taken for another number"),
    Older("values", ("Transpose-1",), (2026, 2), "a tensor of one axis, or none, is left unset"),
    Older("values", ("Loop-5",), (2026, 4), "a Loop of no iterations leaves its results unset"),
    Older(
        "values",
        ("ScatterElementsUpdate-12",),
        (2024, 1),
        "the mean of negative integers is rounded down",
        (2023, 1),
    ),
    Older(
        "values",
        ("BitwiseAnd-13", "BitwiseXor-13"),
        (2023, 3),
        "in pdpd mode, axes are taken from the end",
        (2023, 2),
    ),
    Older("values", ("BitwiseNot-13",), (2025, 4), "u16 is computed as a signed number", (2023, 2)),
    Older("values", ("Gather-1", "Gather-7", "Gather-8"), (2024, 0), "strings are lost", (2023, 3)),
    Older(
        "values",
        ("ReduceLogicalAnd-1",),
        (2024, 3),
        "the result of a reduction of nothing is left unset",
        (2023, 3),
    ),
    Older(
        "values",
        ("ReduceL1-4", "ReduceLogicalOr-1", "ReduceSum-1"),
        (2024, 6),
        "the result of a reduction of nothing is left unset",
        (2023, 3),
    ),
    Older("values", ("FakeConvert-13",), (2025, 1), "f8 is rounded another way", (2023, 3)),
    Older(
        "values",
        ("ScaledDotProductAttention-13",),
        (2025, 3),
        "a mask of booleans that is large",
        (2023, 3),
    ),
    Older("values", ("Concat-1",), (2026, 0), "i4 elements are joined by bytes", (2023, 3)),
    Older("values", ("Inverse-14",), (2024, 2), "the adjoint is another matrix", (2024, 0)),
    Older(
        "values",
        ("AvgPool-14",),
        (2024, 3),
        "ceil_torch counts a window that begins in the padding",
        (2024, 2),
    ),
    Older(
        "values",
        ("BitwiseLeftShift-15",),
        (2025, 4),
        "types of less than a byte are unpacked in another order",
        (2024, 4),
    ),
    Older(
        "values",
        ("SegmentMax-16",),
        (2025, 2),
        'with fill_mode="ZERO", negative maxima become 0',
        (2025, 1),
    ),
    Older(
        "values", ("BinaryConvolution-1",), (2026, 4), 'other sums with pad_value="0"', (2026, 3)
    ),
    Older(
        "not run",
        ("RNNCell-1",),
        (2023, 1),
        "weights that are no constants, and names of functions in capitals",
    ),
    Older(
        "not run",
        (
            "Assign-6",
            "Convert-1",
            "CumSum-3",
            "Divide-1",
            "Equal-1",
            "Greater-1",
            "GreaterEqual-1",
            "Less-1",
            "LessEqual-1",
            "LogicalAnd-1",
            "LogicalOr-1",
            "LogicalXor-1",
            "Loop-5",
            "MaxPool-14",
            "MaxPool-8",
            "NotEqual-1",
            "ScatterUpdate-3",
            "Squeeze-1",
            "Squeeze-15",
            "Xor-1",
        ),
        EVER,
        "no release's CPU plugin runs some of the rows; `Model.evaluate` does",
    ),
    Older("not run", ("Select-1",), EVER, "pdpd mode, with a condition of fewer axes"),
    Older(
        "not run", ("FakeQuantize-1",), (2023, 3), "limits of more axes than the data", (2023, 2)
    ),
    Older("not run", ("Transpose-1",), (2025, 2), "a tensor of one axis", (2025, 1)),
)
"""Differences of older releases that `requires` and `--target` do not tell."""

_MINORS = tuple(
    f"{year}.{minor}"
    for year, (first, last) in MINOR_RELEASES.items()
    for minor in range(first, last + 1)
)


def _spans(*rows: tuple[str, str, str, str]) -> dict[tuple[str, str], str]:
    return {
        (example, release): answer
        for example, answer, first, last in rows
        for release in _MINORS[_MINORS.index(first) : _MINORS.index(last) + 1]
    }


EXAMPLES: dict[tuple[str, str], str] = _spans(
    ("compressed", "refuses", "2023.0", "2023.1"),  # nf4
    ("control_flow", "refuses", "2023.0", "2023.0"),  # Pad of opset12
    # a Loop inside a Loop, whose state is wrong after the first iteration
    ("control_flow", "2 differ", "2023.1", "2026.1"),
    ("decoder", "refuses", "2023.0", "2023.2"),  # ScaledDotProductAttention
    ("decoder", "crashes", "2024.4", "2024.4"),
    ("encoder", "does not run", "2023.2", "2023.2"),
    ("int8", "does not run", "2023.0", "2023.0"),
    ("recurrent", "does not run", "2023.0", "2023.2"),
    ("reductions", "does not run", "2023.0", "2024.0"),  # a reduction whose rank it does not infer
    ("reductions", "1 differs", "2024.1", "2024.3"),  # the mean of negative integers
)
"""What a release does with an example, by its name and the release, where `irshape crosscheck` does
not find all equal."""
