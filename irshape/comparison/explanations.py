"""The explanations of differences between irshape and a device.

The explanations that depend on the values of one layer are in `narrowing`, with the functions that
test them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Reasons why values of irshape and a device differ. `FACT` is a note that gives no reason."""

    NARROWING = "narrowing"
    """Values differ because the device computes in an element type with fewer bits."""
    WRAPPING = "wrapping"
    """Values differ because sums of integers wrap around on the device."""
    LEFT_OPEN = "left open"
    """Values differ because the specification does not define them."""
    PRECISION = "precision"
    """Values differ because of the precision in which the device computes."""
    TIES = "ties"
    """Values differ because FakeQuantize inputs lie halfway between two quantization levels."""
    STEPS = "steps"
    """Values differ because a layer, e.g. a Round, turns small errors into whole steps."""
    ROUNDED_LIMITS = "rounded limits"
    """Values differ because the limits of a FakeQuantize have rounding errors."""
    SATURATION = "saturation"
    """Values differ because the device cuts sums of products of 8-bit integers to 16 bits."""
    LEFT_OUT = "left out"
    """Values differ because the device leaves out a FakeQuantize."""
    LEVELS = "levels"
    """Values differ because the device normalizes quantized integers, not the real numbers."""
    DECOMPRESSION = "decompression"
    """Values differ because the device decompresses weights in f32."""
    INHERITED = "inherited"
    """Values differ because inputs of the layer differ, and the inputs have an explanation."""
    MERGING = "merging"
    """Values differ because the device merges the layer with its neighbours."""
    FEWER_TENSORS = "fewer tensors"
    """Values differ only because irshape requested tensors inside the model."""
    FACT = "fact"
    """No reason why values differ, only a note."""


class Remark(NamedTuple):
    """A note on a difference. explains: whether the device may be right for this reason."""

    kind: Kind
    text: str
    explains: bool = True


def fact(text: str) -> Remark:
    """Returns a note on a difference that gives no reason why the device may be right."""
    return Remark(Kind.FACT, text, explains=False)


DECOMPRESSED = Remark(
    Kind.DECOMPRESSION,
    "the device decompresses weights in f32, although the IR does so in f16; "
    "irshape agrees if it does the same",
)

AT_TIES = Remark(
    Kind.INHERITED,
    "inherited from FakeQuantize layers that are one quantization level off because their inputs "
    "lie halfway between two levels, or from layers such as Round whose inputs lie next to a step; "
    "irshape agrees if it uses the device's values of these layers",
)

CUT_TO_16_BITS = Remark(
    Kind.INHERITED,
    "inherited from sums of products of 8-bit integers, which the device cuts to 16 bits; "
    "irshape agrees if it uses the device's sums",
)

FROM_OPEN = Remark(
    Kind.INHERITED,
    "inherited from values that a specification does not define; irshape agrees if it uses the "
    "device's values",
)

FROM_NARROW = Remark(
    Kind.INHERITED,
    "inherited from values that the device computes in a type with fewer bits; irshape agrees if "
    "it uses the device's values",
)

LEFT_OUT = Remark(
    Kind.LEFT_OUT,
    "the device skips FakeQuantize layers with 65,536 levels and equal input and output limits: "
    "it neither rounds nor clamps there",
)

ROUNDED_LIMITS = Remark(
    Kind.ROUNDED_LIMITS,
    "the values differ by no more than the rounding errors of the limits from which a "
    "FakeQuantize computes them",
)

ON_LEVELS = Remark(
    Kind.LEVELS,
    "the device normalizes the quantized integers of a FakeQuantize before it scales them, so that "
    "epsilon has almost no effect; irshape agrees if it does the same",
)

MERGED_SHAPE = Remark(
    Kind.MERGING,
    "the device merges this layer with the layers after it: the tensor that it returns under this "
    "name does not even have the shape that OpenVINO infers",
)
MERGED = Remark(
    Kind.MERGING,
    "run alone on the device with the same inputs, the layer gives irshape's values; they change "
    "when the device merges it with its neighbours",
)
MERGED_WITHIN = Remark(
    Kind.MERGING,
    "the device merges this layer with the layers after it and has no tensor for it; these layers "
    "agree if they are computed from irshape's value",
)
BEHIND_MERGED = Remark(
    Kind.MERGING,
    "the device merges the producers of this layer's inputs and has no tensors for them; the layer "
    "agrees if it is computed from irshape's values of these inputs",
)
MERGED_UNASKED = MERGED._replace(
    text=f"{MERGED.text}, even if irshape does not request the tensors between these layers"
)
UNASKED = Remark(
    Kind.FEWER_TENSORS,
    "the value differs only because irshape requested tensors inside the model: without this "
    "request, this layer or the layers computed from it agree",
)
