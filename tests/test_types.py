"""Element types, dimensions and partial shapes, held against OpenVINO's where it can answer."""

from __future__ import annotations

import openvino as ov
import pytest

from irshape.element_types import ElementType
from irshape.shapes import UNBOUNDED, Dimension, PartialShape

SHAPES = [
    "",
    "...",
    "3",
    "?",
    "-1",
    "1..10,3,?",
    "2..,..5",
    "[2,3]",
    "[ 2 , 3 ]",
    "0,3",
    "0..,3",
    "02,3",
    "1..1",
    "[]",
    "?,?,?",
    "9223372036854775806",
]


@pytest.mark.parametrize("text", SHAPES)
def test_shapes_are_read_and_printed_as_openvino_does(text: str) -> None:
    theirs = ov.PartialShape(text) if text.strip("[] ") else ov.PartialShape([])
    mine = PartialShape.parse(text)
    assert str(mine) == str(theirs)
    assert PartialShape.parse(str(mine)) == mine


@pytest.mark.parametrize(
    "text",
    [
        "2,3,",
        "2;3",
        "2.,3",
        "+2",
        "2.0",
        "?..3",
        "{2,3}",
        "2 3",
        "..., 3",
        "1..2..3",
        "a",
        "4..2",
        "-2",
        "99999999999999999999",
        "1,,2",
        "1_0",
        "1..-1",
        "٣",
    ],
)
def test_what_is_no_shape_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        PartialShape.parse(text)


DIMS = [
    "0",
    "1",
    "2",
    "7",
    "?",
    "1..4",
    "2..5",
    "3..",
    "..6",
    "0..1",
    "1..1",
    "5..9223372036854775806",
]
PAIRS = [(a, b) for a in DIMS for b in DIMS]


def theirs(text: str) -> ov.Dimension:
    return ov.PartialShape(text)[0]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_dimension_algebra_is_openvinos(a: str, b: str) -> None:
    mine, other = Dimension.of(a), Dimension.of(b)
    assert mine.compatible(other) == theirs(a).compatible(theirs(b))
    assert mine.encloses(other) == theirs(b).refines(theirs(a)) or not mine.compatible(other)
    pair = ov.PartialShape(a), ov.PartialShape(b)
    merged = PartialShape.parse(a).merge(PartialShape.parse(b))
    assert (merged is None) == (not pair[0].compatible(pair[1]))
    assert mine.merge(other) == other.merge(mine)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Dimension(2) + 3, "5"),
        (Dimension(1, 4) + Dimension(2, 3), "3..7"),
        (Dimension(3, None or UNBOUNDED) + 1, "4.."),
        (Dimension(0, UNBOUNDED) + Dimension(1), "1.."),
        (Dimension(2) - 5, "0"),
        (Dimension(2, 8) - Dimension(1, 3), "..7"),
        (Dimension(0, UNBOUNDED) - 4, "?"),
        (Dimension(2, 3) * Dimension(4, 5), "8..15"),
        (Dimension(2, UNBOUNDED) * 3, "6.."),
        (Dimension(0) * Dimension(0, UNBOUNDED), "0"),
        (Dimension(2**40) * Dimension(2**40), str(UNBOUNDED)),
        (Dimension(5, 9) // 2, "2..4"),
        (Dimension(5, 9).ceil_div(2), "3..5"),
        (Dimension(5, UNBOUNDED) // 2, "2.."),
    ],
)
def test_arithmetic_saturates_and_stops_at_zero(expression: Dimension, expected: str) -> None:
    assert str(expression) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("1", "7", "7"),
        ("?", "64", "64"),
        ("1..8", "?", "?"),
        ("2..8", "?", "2..8"),
        ("3", "4", None),
        ("0", "1", "0"),
        ("2..5", "4..9", "4..5"),
        ("..4", "1", "..4"),
    ],
)
def test_broadcast_of_dimensions(a: str, b: str, expected: str | None) -> None:
    for left, right in ((a, b), (b, a)):
        made = Dimension.of(left).broadcast(Dimension.of(right))
        assert (None if made is None else str(made)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("[1..8,?,64]", "[?,?,64]", "[?,?,64]"),
        ("[2,3]", "[3]", "[2,3]"),
        ("[]", "[2,?]", "[2,?]"),
        ("[...]", "[3]", "[...]"),
        ("[2,3]", "[2,4]", None),
        ("[0,3]", "[1,3]", "[0,3]"),
    ],
)
def test_broadcast_of_shapes(a: str, b: str, expected: str | None) -> None:
    for left, right in ((a, b), (b, a)):
        made = PartialShape.parse(left).broadcast(PartialShape.parse(right))
        assert (None if made is None else str(made)) == expected


def test_types_are_immutable_values() -> None:
    assert len({Dimension(1, 4), Dimension.of("1..4"), Dimension.of((1, 4))}) == 1
    assert len({PartialShape([1, -1]), PartialShape.parse("1,?")}) == 1
    assert hash(Dimension(3)) == hash(3)
    assert Dimension(3) == 3
    with pytest.raises(ValueError, match="no dimension"):
        Dimension(4, 2)
    with pytest.raises(TypeError):
        len(PartialShape(None))


OPENVINO_TYPES = sorted(
    name for name in dir(ov.Type) if isinstance(getattr(ov.Type, name), ov.Type)
)


@pytest.mark.parametrize("name", OPENVINO_TYPES)
def test_every_element_type_of_openvino_is_known(name: str) -> None:
    element_type = ElementType.of(name)
    runtime = getattr(ov.Type, name)
    assert element_type.name == runtime.get_type_name()
    assert element_type.is_real == (runtime.is_real() or name == "nf4"), (
        "OpenVINO calls nf4 neither real nor integral"
    )
    assert ElementType.of_precision(element_type.precision) is element_type
    if element_type.bits:
        assert element_type.bits == runtime.bitwidth or name == "boolean"
        assert element_type.signed == runtime.is_signed() or name in ("boolean", "f8e8m0", "nf4"), (
            "OpenVINO's answer for these is no statement on the sign"
        )
    for count in (0, 1, 2, 3, 7, 8, 9, 31):
        if element_type.bits:
            assert (
                element_type.byte_size(count)
                == ov.Tensor(runtime, ov.Shape([count])).get_byte_size()
            )
