"""Operations of openvino_tokenizers: shapes and values, held against the library itself."""

from __future__ import annotations

import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import irshape
from irshape.cli import cli
from irshape.faults import Violation
from irshape.ops import Tensor, registry
from irshape.ops.declaration import check_inputs
from irshape.ops.tokenization.charsmaps import normalized, unicode_map

TOKENIZERS = Path(__file__).parents[1] / "tokenizers"
KINDS = ("bpe", "wordpiece", "unigram")
PARTS = ("tokenizer", "detokenizer")

STRINGS = int(os.environ.get("IRSHAPE_STRINGS", "100"))
"""How many of many scripts each tokenizer is tried on."""

PIECES = (
    "Hello", " ", "  ", "\n", "\t", "world!", "Größe", "Straße", "naïve", "e\u0301", "a\u0308",
    "Съешь", "ещё", "Ωραίο", "שלום", "مَرْحَبًا", "١٢٣", "नमस्ते", "வணக்கம்", "สวัสดี", "你好，世界！",
    "こんにちは", "ｶﾀｶﾅ", "안녕하세요", "გამარჯობა", "Բարեւ", "ሰላም", "😀",
    "👩‍💻", "🇪🇺", "ﬁ", "①", "ＡＢＣ", "…",
    "“q”", "don't", "we're", "I'd", "3.14", "1234567890", "<|endoftext|>", "[SEP]", "[CLS]", "</s>",
    "\u00a0", "\u3000", "\u200d", "\x00.", "\x1f", "\x85", "aaaaaaa",
    "abababab", "##", "\u2581", "_",
)  # fmt: skip


def strings(count: int, seed: int) -> list[str]:
    """Strings of pieces of many scripts; the first are edge cases."""
    source = random.Random(seed)
    edges = ["", " ", "   ", "\n\n", "a", "你", "<|endoftext|>", "[CLS]a[SEP]", "'s", "a" * 300]
    drawn = (
        source.choice(("", " ")).join(source.choices(PIECES, k=source.randint(1, 12)))
        for _ in range(count)
    )
    return [*edges, *drawn]


@cache
def core() -> Any:
    """An OpenVINO with the library."""
    import openvino
    import openvino_tokenizers

    instance = openvino.Core()
    instance.add_extension(str(openvino_tokenizers._ext_path))
    return instance


@cache
def factory() -> Any:
    from openvino_tokenizers import _get_factory

    core()
    return _get_factory()


@pytest.mark.parametrize("part", ["tokenizer", "detokenizer"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tokenizer_is_valid_and_says_what_it_needs(kind: str, part: str) -> None:
    path = TOKENIZERS / f"{kind}_{part}.xml"
    findings = irshape.validate(path).to_dict()["files"][0]["diagnostics"]
    assert {finding["severity"] for finding in findings} == {"info"}
    (needed,) = (finding for finding in findings if finding["code"] == "IR604")
    assert "pip install openvino-tokenizers" in needed["help"]


@pytest.mark.parametrize("part", ["tokenizer", "detokenizer"])
@pytest.mark.parametrize("kind", KINDS)
def test_shapes_are_those_of_openvino(kind: str, part: str) -> None:
    path = TOKENIZERS / f"{kind}_{part}.xml"
    inferred = {
        layer["name"]: [(output["element_type"], output["shape"]) for output in layer["outputs"]]
        for layer in irshape.infer(path).to_dict()["layers"]
        if layer["type"] != "Result"
    }
    expected = {
        node.get_friendly_name(): [
            (port.get_element_type().get_type_name(), str(port.get_partial_shape()))
            for port in node.outputs()
        ]
        for node in core().read_model(path).get_ops()
        if node.get_type_name() != "Result"
    }
    assert inferred == expected


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_those_of_openvino(kind: str) -> None:
    tokenizer, detokenizer = (TOKENIZERS / f"{kind}_{part}.xml" for part in PARTS)
    compiled = core().compile_model(tokenizer, "CPU")
    back = core().compile_model(detokenizer, "CPU")
    session = irshape.Session(irshape.load(tokenizer))
    back_session = irshape.Session(irshape.load(detokenizer))
    for text in strings(STRINGS, 1):
        batch = np.array([text], object)
        ours = session.run([batch])
        for port, value in compiled([text]).items():
            name = port.get_any_name()
            assert value.dtype == ours[name].dtype
            np.testing.assert_array_equal(ours[name], value, err_msg=repr(text))
        tokens = ours["input_ids"]
        if tokens.size:
            (decoded,) = back_session.run([tokens]).values()
            ours_back = [each.decode().rstrip("\0") for each in decoded]  # NumPy drops NULs there
            assert ours_back == back([tokens])[0].tolist(), text


def test_a_batch_is_padded_as_in_openvino() -> None:
    path = TOKENIZERS / "wordpiece_tokenizer.xml"
    batch = ["a", "Hello world, it's me", "你好，世界！"]
    ours = irshape.run(path, [np.array(batch, object)])
    theirs = core().compile_model(path, "CPU")({0: np.array(batch)})
    for port, value in theirs.items():
        np.testing.assert_array_equal(ours[port.get_any_name()], value)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_cross_check_finds_the_library(kind: str, part: str) -> None:
    model = irshape.load(TOKENIZERS / f"{kind}_{part}.xml")
    text = np.array(["Hello wörld, 你好"], object)
    inputs = text if part == "tokenizer" else np.zeros((1, 3), np.int64)
    comparison = irshape.crosscheck(model, [inputs])
    assert comparison.ok, str(comparison)


def test_a_library_can_be_named(tmp_path: Path) -> None:
    import openvino_tokenizers

    model = str(TOKENIZERS / "wordpiece_detokenizer.xml")
    library = str(openvino_tokenizers._ext_path)
    done = CliRunner().invoke(cli, ["crosscheck", model, "--extension-library", library])
    assert done.exit_code == 0, done.output
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    done = CliRunner().invoke(cli, ["crosscheck", model, "--extension-library", str(broken)])
    assert done.exit_code == 1
    assert f"'{broken}'" in done.output
    with pytest.raises(ValueError, match="--extension-library are for OpenVINO's devices"):
        irshape.crosscheck(identity(tmp_path), extension_libraries=[library])


def identity(folder: Path) -> Path:
    """An ONNX model."""
    import onnx

    tensors = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    node = onnx.helper.make_node("Abs", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "g", tensors[:1], tensors[1:])
    onnx.save(onnx.helper.make_model(graph), folder / "m.onnx")
    return folder / "m.onnx"


NORMALIZATIONS = (
    [
        pytest.param("NormalizeUnicode", {"normalization_form": form}, [], id=form)
        for form in ("NFC", "NFD", "NFKC", "NFKD")
    ]
    + [
        pytest.param("CaseFold", {"encoding": "utf-8"}, [], id="fold"),
        pytest.param("CaseFold", {"encoding": ""}, [], id="lower-ascii"),
        pytest.param("CaseFold", {"encoding": "", "lower": False}, [], id="upper-ascii"),
        pytest.param(
            "CharsMapNormalization",
            {
                "normalization_form": "nfkc",
                "add_dummy_prefix": True,
                "remove_extra_whitespaces": True,
                "escape_whitespaces": True,
            },
            [],
            id="charsmap",
        ),
        pytest.param(
            "CharsMapNormalization",
            {"normalization_form": "nfkd", "case_fold": True, "remove_extra_whitespaces": True},
            [],
            id="charsmap-fold",
        ),
        pytest.param("UTF8Validate", {"replace_mode": True}, [], id="utf8"),
        pytest.param("ByteFallback", {}, [], id="byte-fallback"),
    ]
    + [
        pytest.param(
            "RegexNormalization", {"global_replace": everywhere}, [pattern, replacement], id=pattern
        )
        for pattern, replacement, everywhere in (
            (r"\s+", " ", True),
            (r"^ ", "", True),
            (r"([\p{Han}])", " $1 ", True),
            (r"\p{Mn}", "", True),
            (r"(\w+)\W(\w+)", r"\2-\1", True),
            (r"(a)|(b)", "<$1>", True),  # the group that took no part makes the library give up
            (r"a*", "-", True),
            (r"l", "LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL", True),
            (r"[^\d\s]", "$$", False),
            (r"(?i:HELLO|'S)", "", True),
            (r"$", "!", True),
            (r"\bworld\b", "W", True),
            (r"(?| ([\\.\\?\\!,])| ('[ms])| (') | ('[rv]e)| (n't))", r"\1", True),
        )
    ]
    + [
        ("RegexNormalization", {"global_replace": True}, [pattern, "<>"])
        for pattern in (
            r"\P{Mn}", r"\W+", r"\D", r"\bx", r"x\B", r"[^\s\p{L}\p{N}]+", r"[^\p{L}]",
            r"[\P{Lu}]", r"[^\P{L}x]", r"[\w\x{ac00}]+", r"[^\w\x{558}]+", r"[+\p{N}-]",
            r"[\x{500}-\x{5ff}\p{P}]", r"(?<=\p{L})[x\p{C}](?!\w)", r"[\S\p{Sc}]", r"[]a]",
            r"[^][]", r"\h",
            r"[\h.]", r"\p{^L}", r"\p{Arabic}", r"\p{Devanagari}+", r"\xe4|\x61",
            r"(l)\1", r"[(|&]",
        )
    ]
)  # fmt: skip


@pytest.mark.parametrize(("type_name", "attributes", "patterns"), NORMALIZATIONS)
def test_normalizations_are_those_of_the_library(
    type_name: str, attributes: dict[str, Any], patterns: list[str]
) -> None:
    texts = strings(60, 2)
    theirs = library(type_name, attributes, texts, patterns)
    assert normalization(type_name, attributes, texts, patterns) == theirs


def library(
    type_name: str, attributes: dict[str, Any], texts: list[str], patterns: list[str]
) -> list[str]:
    """What the library makes of strings."""
    import openvino
    from openvino import opset15 as opset

    parameter = opset.parameter([-1], openvino.Type.string)
    constants = [
        opset.constant(np.frombuffer(text.encode(), np.uint8)).output(0) for text in patterns
    ]
    inputs = [*opset.string_tensor_unpack(parameter).outputs(), *constants]
    node = factory().create(type_name, inputs, attributes)
    result = opset.string_tensor_pack(*node.outputs()[:3])
    compiled = core().compile_model(openvino.Model([result], [parameter]), "CPU")
    return [str(text) for text in compiled([np.array(texts)])[0].tolist()]


def normalization(
    type_name: str, attributes: dict[str, Any], texts: list[str], patterns: list[str]
) -> list[str]:
    """What irshape makes of strings."""
    cls = registry.library_operation(type_name)
    assert cls is not None
    operation = cls(**attributes)
    unpack = registry.find("StringTensorUnpack", "opset15")().evaluate
    assert unpack is not None
    constants = [np.frombuffer(text.encode(), np.uint8) for text in patterns]
    arrays: list[Any] = [*unpack(np.array(texts, object)), *constants]
    arrays += [None] * (len(operation.operands) - len(arrays) - operation.operands[-1].variadic)
    assert operation.evaluate is not None
    begins, ends, chars = operation.evaluate(*arrays)[:3]
    run = chars.tobytes()
    return [run[begin:end].decode().rstrip("\0") for begin, end in zip(begins, ends, strict=True)]


SPLITS = [
    (behaviour, invert, limit, pattern)
    for pattern in (r"\s+", r"l+|\p{Han}", r"(?<=o)r|!", r"\p{P}|\d")
    for behaviour, invert, limit in (
        ("remove", False, -1),
        ("remove", True, -1),
        ("isolate", False, -1),
        ("contiguous", False, -1),
        ("mergedwithprevious", False, -1),
        ("mergedwithnext", False, -1),
        ("isolate", False, 2),
    )
]


@pytest.mark.parametrize(("behaviour", "invert", "limit", "pattern"), SPLITS)
def test_splits_are_those_of_the_library(
    behaviour: str, invert: bool, limit: int, pattern: str
) -> None:
    attributes = {"behaviour": behaviour, "invert": invert, "max_splits": limit}
    texts = [text for text in strings(30, 3) if text]
    begins = np.arange(len(texts), dtype=np.int32)
    import openvino
    from openvino import opset15 as opset

    parameter = opset.parameter([-1], openvino.Type.string)
    rows = [opset.constant(begins).output(0), opset.constant(begins + 1).output(0)]
    code = np.frombuffer(pattern.encode(), np.uint8)
    strings_in = opset.string_tensor_unpack(parameter).outputs()
    node = factory().create(
        "RegexSplit", [*rows, *strings_in, opset.constant(code).output(0)], attributes
    )
    outputs = list(node.outputs()[:4])
    compiled = core().compile_model(openvino.Model(outputs, [parameter]), "CPU")
    theirs = list(compiled([np.array(texts)]).values())
    cls = registry.library_operation("RegexSplit")
    unpack = registry.find("StringTensorUnpack", "opset15")().evaluate
    assert cls is not None
    assert unpack is not None
    parts = unpack(np.array(texts, object))
    ours = cls(**attributes).evaluate(begins, begins + 1, *parts, code)  # type: ignore[misc]
    for name, mine, other in zip(("begins", "ends", "first", "last"), ours, theirs, strict=False):
        np.testing.assert_array_equal(mine, other, err_msg=name)


@pytest.mark.parametrize("form", ["identity", "nfd", "nfkd"])
def test_characters_are_mapped_as_in_the_library(form: str) -> None:
    """Every twentieth code point; all of them agree."""
    points = [point for point in range(1, 0x30000, 20) if not 0xD800 <= point < 0xE000]
    texts = [chr(point) for point in points]
    attributes = {"normalization_form": form, "case_fold": True, "remove_extra_whitespaces": False}
    entries = unicode_map(form, True)
    ours = [normalized(text.encode(), entries).decode() for text in texts]
    assert ours == library("CharsMapNormalization", attributes, texts, [])


@pytest.mark.parametrize(
    ("type_name", "attributes", "inputs", "message"),
    [
        ("RegexSplit", {"max_splits": 0}, "i32 i32 i32 i32 u8 u8", "`max_splits` is 0"),
        ("RegexSplit", {}, "i32 i32 i32 i32 u8 u8 u8 u8", "takes 6, 7 or 9 inputs, got 8"),
        ("RegexSplit", {}, "i32 i32 i64 i32 u8 u8", "`begins` has element type i64"),
        ("VocabEncoder", {}, "i32 i32 u8 i32 i32 u8 i32 i64", "as in `values`"),
        ("CombineSegments", {}, "i32 i32 i32", "got 3"),
        ("Truncate", {}, "i32 i32 i32 i64 u8 u8", "the length, an i32 scalar"),
        ("CaseFold", {"encoding": "latin-1"}, "i32 i32 u8 boolean", "latin-1"),
        ("StringToHashBucket", {}, "i32 i32 u8", "`num_buckets` is 0"),
        ("BPETokenizer", {}, "i32 i32 i32 i32 u8 i32 i32 u8 u8", "11, 14, 15 or 18"),
    ],
)
def test_faults(type_name: str, attributes: dict[str, Any], inputs: str, message: str) -> None:
    cls = registry.library_operation(type_name)
    assert cls is not None
    from irshape.element_types import ElementType

    tensors = [Tensor(ElementType.of(name), [-1]) for name in inputs.split()]
    operation = cls(**attributes)
    with pytest.raises(Violation) as caught:
        operation.infer(*check_inputs(operation, tuple(tensors)))
    assert message in str(caught.value)


def test_a_pattern_that_python_reads_differently_is_not_evaluated() -> None:
    from irshape.ops.tokenization.pcre import compiled

    for pattern in (r"\X", r"\R", r"[[:punct:]]", r"(?R)", r"(*UCP)a", r"a\Kb"):
        with pytest.raises(NotImplementedError):
            compiled(pattern)
