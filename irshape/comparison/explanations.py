"""The explanations of differences between irshape and a device, and the facts beside them.

`narrowing` has those that depend on the values of one layer, each with its test.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Why values differ: a habit of a device, or a fact that only adds information."""

    NARROWING = "narrowing"
    """The device computes in a narrower type."""
    WRAPPING = "wrapping"
    """Sums of integers wrap around."""
    LEFT_OPEN = "left open"
    """The specification leaves the value open."""
    PRECISION = "precision"
    """The precision of the device explains the error."""
    TIES = "ties"
    """FakeQuantize inputs lie halfway between two levels."""
    STEPS = "steps"
    """Small errors become whole steps of a rounding."""
    ROUNDED_LIMITS = "rounded limits"
    """The limits of a FakeQuantize are rounded."""
    SATURATION = "saturation"
    """Sums of products of 8-bit levels are cut to 16 bits."""
    LEFT_OUT = "left out"
    """The device leaves out a FakeQuantize."""
    LEVELS = "levels"
    """A normalization is computed from levels."""
    DECOMPRESSION = "decompression"
    """Weights are decompressed in f32."""
    INHERITED = "inherited"
    """The inputs have explained differences."""
    MERGING = "merging"
    """The device merges the layer with its neighbours."""
    FEWER_TENSORS = "fewer tensors"
    """The value is right when the device is asked for fewer tensors."""
    FACT = "fact"
    """No explanation, only information."""


class Remark(NamedTuple):
    """What is known about a difference. explains: whether the device may be right despite it."""

    kind: Kind
    text: str
    explains: bool = True


def fact(text: str) -> Remark:
    """Returns a remark that explains nothing."""
    return Remark(Kind.FACT, text, explains=False)


DECOMPRESSED = Remark(
    Kind.DECOMPRESSION,
    "the device decompresses weights in f32, where the IR rounds them to f16 on the way; "
    "computed that way, irshape's values agree",
)

AT_TIES = Remark(
    Kind.INHERITED,
    "inherited from FakeQuantize layers that are one level off where their input lies halfway "
    "between two levels, or from roundings next to a step; with the device's values of those, "
    "irshape's values agree",
)

CUT_TO_16_BITS = Remark(
    Kind.INHERITED,
    "inherited from products of 8-bit levels, of which the device cuts sums to 16 bits; with the "
    "device's values of those, irshape's values agree",
)

LEFT_OUT = Remark(
    Kind.LEFT_OUT,
    "the device leaves out FakeQuantize layers of 65,536 levels that have the same limits for "
    "input and output, and neither rounds nor clamps there",
)

ROUNDED_LIMITS = Remark(
    Kind.ROUNDED_LIMITS,
    "the values are no farther apart than the rounding errors of the limits from which a "
    "FakeQuantize computes them",
)

ON_LEVELS = Remark(
    Kind.LEVELS,
    "the device standardizes the levels of a FakeQuantize before it scales them, so that epsilon "
    "loses its weight; computed that way, irshape's values agree",
)

MERGED_SHAPE = Remark(
    Kind.MERGING,
    "the device merges this layer with those behind it: what it gives under this name has not even "
    "the shape that OpenVINO infers",
)
MERGED = Remark(
    Kind.MERGING,
    "alone on the device, with the same inputs, the layer gives irshape's values: "
    "it is the device's merging with its neighbours that changes them",
)
MERGED_WITHIN = Remark(
    Kind.MERGING,
    "the device merges this layer with those behind it, and has no tensor of it; with irshape's "
    "value, what is behind it agrees",
)
BEHIND_MERGED = Remark(
    Kind.MERGING,
    "the device merges what this layer is given, and has no tensor of it; with irshape's values of "
    "it, the layer agrees",
)
MERGED_UNASKED = MERGED._replace(
    text=f"{MERGED.text}, also where it is not asked for inner tensors at this place"
)
UNASKED = Remark(
    Kind.FEWER_TENSORS,
    "the device gives another value only where it is asked for inner tensors at this place: "
    "without those questions the layer agrees, or what is computed from it does",
)
