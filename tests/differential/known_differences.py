"""The one list of known differences from OpenVINO: `Case(known="key")` names an entry, or several.

Kinds, each checked strictly (an entry that no longer holds fails its cases):
    values    both run it, and the results differ
    tighter   irshape's shape is narrower than OpenVINO's, and inside it
    stricter  OpenVINO takes it in silence, the specification forbids it: irshape reports an error
    lenient   OpenVINO refuses it for a limitation or bug of its own: irshape reports no error
    crash     OpenVINO crashes or hangs while reading it, though it is legal: irshape reports no error
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Known:
    """A difference, why it is one, and the OpenVINO versions (by prefix) in which it was seen."""

    kind: Literal["values", "tighter", "stricter", "lenient", "crash"]
    reason: str
    versions: tuple[str, ...] = ("2026.4",)


KNOWN: dict[str, Known] = {
    # any operation
    "i64-as-i32": Known("values", "the CPU plugin computes i64 and u64 as i32: the mean of four 2^40 is 0"),
    "f64-as-f32": Known("values", "the CPU plugin computes f64 as f32: the mean of 1e300 is 3.4e38"),
    "u8-sum-wraps": Known("values", "the CPU plugin's sums of u8 wrap: the mean of four 254 is 63"),
    "duplicate-axes": Known("stricter", "the specification asks for unique axes, OpenVINO takes [3,3] in silence"),
    "boolean-text": Known("stricter", 'OpenVINO reads any text for a boolean (keep_dims="maybe"), the specification true or false'),
    "unused-attribute-misspelt": Known("stricter", "OpenVINO ignores an attribute it does not know, also a misspelt one"),
    "missing-attribute": Known("stricter", "OpenVINO takes a default where the specification says the attribute is required"),
    # reductions
    "reduce-unknown-axes-kept": Known("tighter", "with keep_dims and axes known at run time each dimension stays or becomes 1: 3 is 1..3, where OpenVINO says ?"),
    "reduce-unknown-axis-dropped": Known("tighter", "one axis known at run time goes: each dimension left is its own or its right neighbour's, where OpenVINO says ?"),
    "reduce-axis-of-scalar": Known("stricter", "axes 0 and -1 of a scalar: it has no axes, the specification wants -r to r-1; OpenVINO takes them unless keep_dims"),
    # single operations
    "tile-runtime-repeats": Known("values", "the CPU plugin returns rubbish for Tile with run-time repeats; Model.evaluate is right"),
    "convert-f64-infinity": Known("values", "Convert from or to f64 turns infinity into 3.4e38"),
    "bitshift-range": Known("values", "bit shifts by more than the width, or of negative numbers"),
    "topk-ties": Known("values", "the order of equal values is open unless `stable`"),
    # detection
    "nms-rows": Known("values", "NonMaxSuppression-1 to 4: the specification fills the triplets up with -1 (and -1 and -3 stop at min(boxes, limit * classes)); the CPU plugin gives as many as it finds"),
    "nms-equal-threshold": Known("values", "NonMaxSuppression: the specification keeps a box whose overlap equals iou_threshold, the CPU plugin drops it"),
    "matrix-nms-class-order": Known("values", "MatrixNms: with sort_result_type classid, the CPU plugin leaves the boxes of an image in the order of their scores"),
    "multiclass-nms-equal-threshold": Known("values", "MulticlassNms: the specification keeps a box whose overlap equals iou_threshold (0 and 0 by default), the CPU plugin drops it"),
    "multiclass-nms-eta": Known("values", "MulticlassNms: the specification holds a box against the threshold of the moment when the better one was taken, the CPU plugin against the lowest so far"),
    "nms5-beyond-threshold": Known("values", "NonMaxSuppression-5: the specification drops boxes beyond iou_threshold also with soft suppression, the CPU plugin fades them as NonMaxSuppression-9 does"),
}
"""Keys are lower case with hyphens. Name a difference by what it is about, not by the case that found it."""
