"""StringTensorPack and StringTensorUnpack against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, Input, const, data
from rows import against_openvino

ABCD = const("u8", list(b"abcd"))


def pack(inputs: list[Input], **options: Any) -> Case:
    return Case("StringTensorPack", "opset15", {}, inputs, **options)


def unpack(inputs: list[Input], **options: Any) -> Case:
    return Case("StringTensorUnpack", "opset15", {}, inputs, outputs=3, **options)


CASES = [
    pack([data("i32", "3", [0, 2, 2]), data("i32", "3", [2, 2, 4]), ABCD]),
    pack([data("i64", "2,2", [[2, 0], [1, 4]]), data("i64", "2,2", [[3, 4], [1, 4]]), ABCD]),
    pack([data("i32", "2", [0, 2]), data("i32", "2", [2, 4]), const("u8", list("ÄÖ".encode()))]),
    pack([const("i32", [0, 2]), const("i32", [2, 4]), ABCD], run="alone", expected=[["ab", "cd"]]),
    pack([data("i32", "", 1), data("i32", "", 3), ABCD]),
    pack([data("i64", "2..4,3"), data("i64", "3..9,?"), data("u8", "...")], run=False),
    pack([data("i64", "..."), data("i64", "3..9,?"), data("u8", "?")], run=False),
    pack([data("i64", "3..9,?"), data("i64", "..."), data("u8", "?")], run=False),
    pack([const("i64", [3, 5]), const("i64", [2, 5]), data("u8", "9")], run=False),
    # refused
    pack([data("i64", "3"), data("i64", "4"), ABCD]),
    pack([data("i32", "3"), data("i64", "3"), ABCD]),
    pack([data("i8", "3"), data("i8", "3"), ABCD]),
    pack([data("dynamic", "3"), data("i64", "3"), ABCD]),
    pack([data("i64", "3"), data("i64", "3"), data("dynamic", "4")]),
    pack([data("i64", "3"), data("i64", "3"), data("i8", "4")]),
    pack([data("i64", "3"), data("i64", "3"), data("u8", "4,1")]),
    pack([const("i64", [0, 3]), const("i64", [3, 99]), ABCD]),
    pack([const("i64", [-1, 3]), const("i64", [3, 4]), ABCD]),
    pack([data("i64", "3"), data("i64", "3")]),
    # and back
    unpack([data("string", "3", ["ab", "", "Straße"])]),
    unpack([data("string", "2,2", [["a", "ÄÖ"], ["", "two words"]])]),
    unpack([data("string", "?", ["x"], run_shape=(1,))]),
    unpack([data("string", "2,0")], run=False),
    unpack([data("string", "...")], run=False),
    unpack([data("string", "2..4,?")], run=False),
    # refused
    unpack([data("dynamic", "2")]),
    unpack([data("u8", "2")]),
    unpack([data("string", "2"), data("string", "2")]),
]

test_strings = against_openvino(*CASES)
