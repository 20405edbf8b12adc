"""Constants of every element type, as irshape decodes them and as OpenVINO does."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from differential.elements import FLOATS, NAMES, cast, limits, pack, precision
from differential.oracle import Oracle

from irshape.element_types import ElementType
from irshape.model.weights import Constant, Weights, array, small_values

SHAPES = [(24,), (5, 3), (7,), (1,), (), (2, 0, 3)]
NUMBERS = [name for name in NAMES if name != "string"]


def constant(
    raw: bytes, element_type: str, shape: tuple[int, ...], offset: int = 0, size: int | None = None
) -> Constant:
    weights = Weights("made.bin", raw, "ready")
    return Constant(
        ElementType.of(element_type),
        shape,
        offset,
        len(raw) - offset if size is None else size,
        weights,
    )


def some_bytes(element_type: str, shape: tuple[int, ...]) -> bytes:
    """Any bits that are numbers: NaN equals nothing, and the plugin narrows f64 past f32."""
    generator = np.random.default_rng(len(element_type) + sum(shape))
    count = math.prod(shape)
    if element_type == "boolean":
        return generator.integers(0, 2, count, dtype=np.uint8).tobytes()
    if element_type in FLOATS or element_type in ("f64", "f32", "f16", "nf4"):
        values = (
            generator.integers(0, 16, count)
            if element_type == "nf4"
            else generator.uniform(-4, 4, count)
        )
        return pack(
            cast(np.abs(values) if element_type == "f8e8m0" else values, element_type), element_type
        )
    low, high = limits(element_type)
    return pack(
        cast(
            generator.integers(
                max(low, -(2**31)), min(high, 2**31 - 1), count, endpoint=True, dtype=np.int64
            ),
            element_type,
        ),
        element_type,
    )


def model_with(
    element_type: str, shape: tuple[int, ...], size: int, wanted: str, offset: int = 0
) -> str:
    """A constant, converted to something that every reader knows."""
    dims = "".join(f"<dim>{size}</dim>" for size in shape)
    return f"""<net name="constant" version="11"><layers>
    <layer id="0" name="constant" type="Const" version="opset1">
        <data element_type="{element_type}" shape="{",".join(map(str, shape))}" offset="{offset}"\
 size="{size}"/>
        <output><port id="0" precision="{precision(element_type)}">{dims}</port></output></layer>
    <layer id="1" name="converted" type="Convert" version="opset1">\
<data destination_type="{wanted}"/>
        <input><port id="0" precision="{precision(element_type)}">{dims}</port></input>
        <output><port id="1" precision="{precision(wanted)}">{dims}</port></output></layer>
    <layer id="2" name="result" type="Result" version="opset1"><input>\
<port id="0" precision="{precision(wanted)}">{dims}</port></input></layer>
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element_type", NUMBERS)
def test_elements_are_those_of_openvino(
    element_type: str, shape: tuple[int, ...], oracle: Oracle
) -> None:
    real = element_type in FLOATS or element_type in ("f64", "f32", "f16", "nf4")
    wanted = "f32" if real else "i32"
    raw = some_bytes(element_type, shape)
    answer = oracle.ask(model_with(element_type, shape, len(raw), wanted), raw or b"\0", {})
    assert answer.status == "accepted", answer.message
    assert answer.execution is not None
    assert answer.execution.status == "done", answer.execution.message
    theirs = answer.execution.results["result"].array
    ours = array(constant(raw or b"\0", element_type, shape, size=len(raw)))
    assert ours is not None
    assert ours.shape == shape
    if (
        element_type == "nf4"
    ):  # irshape keeps the codes, which are in the order of what they stand for
        table = dict(zip(ours.ravel().tolist(), theirs.ravel().tolist(), strict=True))
        assert [table[code] for code in sorted(table)] == sorted(set(theirs.ravel().tolist()))
        return
    np.testing.assert_array_equal(ours.astype(np.float32 if real else np.int64), theirs)


@pytest.mark.parametrize("element_type", NUMBERS)
def test_small_values_are_those_of_the_array(element_type: str) -> None:
    for shape in SHAPES:
        found = constant(some_bytes(element_type, shape) or b"\0", element_type, shape)
        values, whole = small_values(found), array(found)
        assert values is not None
        assert whole is not None
        assert list(values) == [
            float(item) if found.element_type.is_real else int(item)
            for item in whole.ravel().tolist()
        ]


@pytest.mark.parametrize("element_type", NUMBERS)
def test_a_constant_that_does_not_lie_in_the_file_has_no_elements(element_type: str) -> None:
    raw = some_bytes(element_type, (24,))
    for found in (
        constant(raw[:-1], element_type, (24,), size=len(raw)),
        constant(raw, element_type, (24,), offset=1, size=len(raw)),
        constant(raw, element_type, (24,), offset=1 << 62, size=len(raw)),
        constant(raw, element_type, (1 << 40, 1 << 40), size=len(raw)),
        constant(raw, element_type, (-24,), size=len(raw)),
        constant(raw, element_type, (-4, -6), size=len(raw)),
        constant(raw, element_type, (24,), offset=-1, size=len(raw)),
    ):
        assert array(found) is None
        assert small_values(found) is None


@pytest.mark.parametrize("element_type", ["f64", "f32", "i64", "i16", "bf16", "u4", "u3"])
def test_a_constant_may_begin_at_any_byte(element_type: str, oracle: Oracle) -> None:
    raw = b"\xff" * 3 + some_bytes(element_type, (24,))
    wanted = "f32" if element_type in ("f64", "f32", "bf16") else "i32"
    answer = oracle.ask(model_with(element_type, (24,), len(raw) - 3, wanted, offset=3), raw, {})
    assert answer.execution is not None
    ours = array(constant(raw, element_type, (24,), offset=3))
    assert ours is not None
    np.testing.assert_array_equal(
        ours.astype(wanted.replace("i", "int").replace("f", "float")),
        answer.execution.results["result"].array,
    )


TEXTS = ["", "one", "zwölf", "three words here", "\n", "日本語"]


@pytest.mark.parametrize(
    "texts", [TEXTS, [""], ["alone"], []], ids=["several", "empty text", "one", "none"]
)
def test_strings_are_those_of_openvino(texts: list[str], oracle: Oracle) -> None:
    held = np.empty(len(texts), dtype=object)
    held[:] = texts
    raw = pack(held, "string")
    shape = (len(texts),)
    dims = f"<dim>{len(texts)}</dim>"
    xml = f"""<net name="texts" version="11"><layers>
    <layer id="0" name="texts" type="Const" version="opset1">\
<data element_type="string" shape="{len(texts)}" offset="0" size="{len(raw)}"/>
        <output><port id="0" precision="STRING">{dims}</port></output></layer>
    <layer id="1" name="result" type="Result" version="opset1"><input>\
<port id="0" precision="STRING">{dims}</port></input></layer>
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>"""
    answer = oracle.ask(xml, raw, {})
    assert answer.status == "accepted", answer.message
    assert answer.execution is not None
    assert answer.execution.status == "done", answer.execution.message
    ours = array(constant(raw, "string", shape))
    assert ours is not None
    assert (
        [text.decode() for text in ours.tolist()]
        == texts
        == answer.execution.results["result"].array.tolist()
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\1\0\0",
        b"\2\0\0\0" + b"\0" * 12,  # another number than the shape says
        b"\1\0\0\0" + b"\0\0\0\0" + b"\x09\0\0\0" + b"abc",  # ends past the bytes
        b"\1\0\0\0" + b"\3\0\0\0" + b"\0\0\0\0" + b"abc",  # ends before it begins
        b"\1\0\0\0" + b"\xff\xff\xff\xff" + b"\3\0\0\0" + b"abc",
        b"\xff\xff\xff\x7f" + b"\0" * 8,
    ],
)
def test_malformed_strings_have_no_elements(raw: bytes) -> None:
    assert array(constant(raw, "string", (1,))) is None
    assert array(constant(raw, "string", (1 << 60,))) is None


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room
        file.seek(1 << 39)
        file.write(np.arange(6, dtype=np.int64).tobytes())
    weights = Weights.open(path)
    assert (weights.state, weights.size) == ("ready", 1 << 40)
    assert small_values(Constant(ElementType.of("i64"), (2, 3), 1 << 39, 48, weights)) == (
        0,
        1,
        2,
        3,
        4,
        5,
    )
    whole = array(Constant(ElementType.of("u8"), (1 << 40,), 0, 1 << 40, weights))
    assert whole is not None
    assert whole[1 << 39 : (1 << 39) + 10].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("content", "state"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n", "lfs"),
        (None, "missing"),
        (b"\0", "ready"),
    ],
)
def test_state_of_a_bin(content: bytes | None, state: str, tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    if content is not None:
        path.write_bytes(content)
    assert Weights.open(path).state == state


def test_a_folder_in_place_of_a_bin(tmp_path: Path) -> None:
    assert Weights.open(tmp_path).state == "unreadable"
    assert Weights.open(None).state == "absent"
