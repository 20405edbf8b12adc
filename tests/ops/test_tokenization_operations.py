"""Each operation of openvino_tokenizers by itself, held against the library.

Types, shapes and values. The edges are empty texts, empty rows, single rows, lengths past the end,
ties.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import irshape
from irshape.cli import cli
from irshape.ops import registry

Array = np.ndarray[Any, np.dtype[Any]]


def i32(*numbers: int) -> Array:
    return np.array(numbers, np.int32)


def scalar(number: int) -> Array:
    return np.array(number, np.int32)


def chars(text: str) -> Array:
    return np.frombuffer(text.encode(), np.uint8)


def strings(*texts: str | bytes) -> list[Array]:
    """A list of strings in its three parts."""
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    ends = np.cumsum([len(text) for text in raw]).astype(np.int32)
    begins = (ends - [len(text) for text in raw]).astype(np.int32)
    return [begins, ends, np.frombuffer(b"".join(raw), np.uint8)]


def square(*texts: str) -> list[Array]:
    """Four strings as a matrix."""
    begins, ends, run = strings(*texts)
    return [begins.reshape(2, 2), ends.reshape(2, 2), run]


def rows(*lengths: int) -> list[Array]:
    """Where rows of these lengths begin and end."""
    ends = np.cumsum(lengths).astype(np.int32)
    return [(ends - lengths).astype(np.int32), ends]


def ragged_strings(*texts: tuple[str, ...]) -> list[Array]:
    """A ragged tensor of strings in its five parts."""
    return [*rows(*map(len, texts)), *strings(*(text for row in texts for text in row))]


def ragged(*numbers: list[int]) -> list[Array]:
    """A ragged tensor of numbers in its three parts."""
    return [*rows(*map(len, numbers)), i32(*(number for row in numbers for number in row))]


def one(number: int) -> list[Array]:
    """A number that every row gets: scalars, as a tokenizer has them for special tokens."""
    return [scalar(0), scalar(1), i32(number)]


class Case(NamedTuple):
    """A layer. inputs: its values; fixed: the positions of those that are constants.

    static: whether the library also runs the layer with static shapes. Where it infers the shape of
    flags, it takes that of other flags, and the plugin then refuses the result.
    """

    type: str
    inputs: list[Array]
    attributes: dict[str, Any] = {}  # noqa: RUF012
    fixed: tuple[int, ...] = ()
    static: bool = True


def packed(*texts: str) -> Array:
    """Strings packed into bytes: number, begins, last end, bytes."""
    _, ends, run = strings(*texts)
    return np.frombuffer(
        b"".join([scalar(len(texts)).tobytes(), i32(0, *ends).tobytes(), run.tobytes()]), np.uint8
    )


def truncated(lengths: list[tuple[int, ...]], length: int, side: str, mode: str) -> Case:
    """Truncate of one ragged tensor or two, with rows of these lengths."""
    parts = [ragged(*(list(range(size)) for size in each)) for each in lengths]
    inputs = [array for part in parts for array in part]
    texts = [scalar(length), chars(side), chars(mode)]
    first = len(inputs)
    return Case(
        "Truncate", [*inputs, *texts], {"m_num_inputs": len(parts)}, (first, first + 1, first + 2)
    )


WORDS = ragged_strings(("ab", "c", ""), (), ("abc ☃",))
VOCABULARY = ("a", "b", "c", "ab", "abc", "##b", "##bc", "[UNK]", "☃", " ", "ac", "<0x0A>")
TOKENS = np.array([[0, 4, 7], [11, 99, -1]], np.int32)

CASES = {
    # strings
    "pack": Case("StringTensorPack", strings("a", "", "Größe")),
    "pack-nothing": Case("StringTensorPack", strings()),
    "unpack": Case("StringTensorUnpack", [np.array([["a", ""], ["Größe", "b"]], object)]),
    "unpack-packed": Case("StringTensorUnpack", [packed("a", "", "Größe")]),
    "equal": Case("EqualStr", [*strings("a", "b", ""), *strings("a", "c", "")]),
    "equal-one": Case("EqualStr", [*strings("a", "b", "a"), *strings("a")]),
    "equal-one-first": Case("EqualStr", [*strings("a"), *strings("a", "b", "a")]),
    "number-i64": Case("NumericToString", [np.array([[-3, 0], [2**31 - 1, 7]], np.int64)]),
    "number-u8": Case("NumericToString", [np.array([0, 255], np.uint8)]),
    "number-f32": Case(
        "NumericToString", [np.array([0, -0.0, 1.5, 1e-7, 123456789, 0.1, np.inf, np.nan], "f4")]
    ),
    "number-f64": Case("NumericToString", [np.array([1 / 3, 1e30, 1e5, 1e6], "f8")]),
    "join": Case(
        "ContribStringJoin",
        [*square("a", "b", "", "d"), chars("--"), np.array(1, np.int64)],
        {},
        (3, 4),
    ),
    "join-first-axis": Case(
        "ContribStringJoin",
        [*square("a", "b", "", "d"), chars(""), np.array(-2, np.int64)],
        {},
        (3, 4),
    ),
    "join-list": Case(
        "ContribStringJoin", [*strings("a", "b"), chars(","), np.array(0, np.int64)], {}, (3, 4)
    ),
    **{
        f"split-{separator or 'bytes'}-{skip}": Case(
            "ContribStringSplit",
            [*strings("a,b", "", ",,c", "d"), chars(separator), np.array(skip)],
            {},
            (3, 4),
        )
        for separator in (",", ",,", "")
        for skip in (True, False)
    },
    "utf8": Case("UTF8Validate", strings(b"a\xffb", b"\xe2\x82", "Größe", b"\xc0\x80")),
    "utf8-replaced": Case(
        "UTF8Validate", strings(b"a\xffb", b"\xe2\x82", b"\xf8\x88"), {"replace_mode": True}
    ),
    "bytes": Case("ByteFallback", strings("<0x0A>", "<0x41>", "a", "<0xZZ>", "", "<0x0a>")),
    "fold": Case("CaseFold", strings("ÄSZ", "ǅ", "ß", ""), {"encoding": "utf-8"}),
    "fold-skipped": Case(
        "CaseFold", [*strings("ÄB", "ÄB"), np.array([True, False])], {"encoding": "utf-8"}
    ),
    "unicode-skipped": Case(
        "NormalizeUnicode",
        [*strings("e\u0301", "e\u0301"), np.array([True, False])],
        {"normalization_form": "NFC"},
    ),
    "regex": Case(
        "RegexNormalization",
        [*strings("a  b", "", "  "), chars(r"\s+"), chars("_")],
        {"global_replace": True},
        (3, 4),
    ),
    "regex-skipped": Case(
        "RegexNormalization",
        [*strings("a  b", "a  b"), np.array([False, True]), chars(r"\s+"), chars("_")],
        {"global_replace": True},
        (4, 5),
    ),
    "charsmap": Case(
        "CharsMapNormalization",
        strings("Ａ  b", "", " ﬁ "),
        {"normalization_form": "nfkc", "remove_extra_whitespaces": True, "case_fold": True},
    ),
    # ragged strings
    "regex-split": Case(
        "RegexSplit",
        [*ragged_strings(("a b",), (), ("",), (" d ",)), chars(r"\s+")],
        {"behaviour": "isolate"},
        (5,),
    ),
    "regex-split-skipped": Case(
        "RegexSplit",
        [*ragged_strings(("a b", "c d")), np.array([True, False]), chars(r"\s+")],
        {"behaviour": "remove"},
        (6,),
        static=False,
    ),
    "regex-split-whole": Case(
        "RegexSplit",
        [*ragged_strings(("a b",), ("c d",)), chars(r"\s+"), *strings("a b")],
        {"behaviour": "remove"},
        (5, 6, 7, 8),
    ),
    "special": Case(
        "SpecialTokensSplit",
        [*ragged_strings(("a<s>b",), ("<s>",), (), ("c",)), chars(r"(<s>)|\s*(<m>)\s*")],
        {},
        (5,),
        static=False,
    ),
    "special-group": Case(
        "SpecialTokensSplit",
        [*ragged_strings(("a <m> b<s>",), (" <m>",)), chars(r"(<s>)|\s*(<m>)\s*")],
        {},
        (5,),
        static=False,
    ),
    "bytes-to-chars": Case("BytesToChars", ragged_strings(("a b", "\n"), ("Größe",))),
    "bytes-to-chars-skipped": Case(
        "BytesToChars", [*ragged_strings(("a b", "c d")), np.array([True, False])]
    ),
    "chars-to-bytes": Case("CharsToBytes", ragged_strings(("aĠb", "Ċ"), ("GrÃ¶ÃŁe",))),
    "fuze": Case("FuzeRagged", ragged_strings(("ab", "c"), ("d",), ("e", "f", "g"))[:4]),
    # ragged tensors
    "ragged-pack": Case("RaggedTensorPack", ragged([1, 2], [3])),
    "to-dense": Case(
        "RaggedToDense", [*ragged([1, 2, 3], [], [4]), scalar(2), scalar(9)], {}, (4,)
    ),
    "to-dense-left": Case(
        "RaggedToDense",
        [*ragged([1, 2, 3], [], [4]), scalar(4), scalar(9)],
        {"pad_right": False},
        (4,),
    ),
    "to-dense-input-left": Case(
        "RaggedToDense",
        [*ragged([1, 2, 3], [4]), scalar(4), scalar(9), np.array(False)],
        {"pad_right": True},
        (4, 5),
    ),
    "to-sparse": Case("RaggedToSparse", rows(2, 0, 3)),
    "to-sparse-nothing": Case("RaggedToSparse", rows(0, 0)),
    "to-ragged": Case("RaggedToRagged", [i32(0, 0, 2, 2, 2), scalar(4)], {}, (1,)),
    "to-ragged-first-empty": Case("RaggedToRagged", [i32(1, 3), scalar(5)], {}, (1,)),
    "to-ragged-one": Case("RaggedToRagged", [i32(0), scalar(1)], {}, (1,)),
    "combine": Case(
        "CombineSegments", [*one(7), *ragged([1, 2], [3], []), *one(8), i32(0, 1, 0)], {}, (9,)
    ),
    "combine-two": Case(
        "CombineSegments", [*ragged([1], [2]), *ragged([3, 4], []), i32(5, 6)], {}, (6,)
    ),
    **{
        f"truncate-{side}-{length}": truncated([(5, 2, 0)], length, side, "longest_first")
        for side in ("left", "right")
        for length in (0, 3, 9)
    },
    **{
        f"truncate-pair-{side}-{mode}-{length}": truncated(
            [(5, 2, 0, 3, 9, 4), (1, 4, 3, 3, 2, 4)], length, side, mode
        )
        for side in ("left", "right")
        for mode in ("only_first", "only_second", "longest_first")
        for length in (4, 5)
    },
    # vocabularies
    "encode": Case(
        "VocabEncoder",
        [*strings("a", "x", "", "b"), *strings("a", "b", "a"), i32(5, 6, 7), i32(-1)],
        {},
        (3, 4, 5, 6, 7),
    ),
    "decode": Case(
        "VocabDecoder", [TOKENS, *strings(*VOCABULARY)], {"skip_tokens": [7]}, (1, 2, 3)
    ),
    "decode-skipped": Case(
        "VocabDecoder", [TOKENS, *strings(*VOCABULARY), i32(0, 11)], {}, (1, 2, 3, 4)
    ),
    "wordpiece": Case(
        "WordpieceTokenizer",
        [*ragged_strings(("abbc", "abc", "c"), ("xa", "ax")), *strings(*VOCABULARY), scalar(7)],
        {"suffix_indicator": "##", "max_bytes_per_word": 100},
        (5, 6, 7, 8),
    ),
    "wordpiece-long": Case(
        "WordpieceTokenizer",
        [*ragged_strings(("abbc", "ab")), *strings(*VOCABULARY), scalar(7)],
        {"suffix_indicator": "##", "max_bytes_per_word": 3},
        (5, 6, 7, 8),
    ),
    "bpe": Case(
        "BPETokenizer",
        [*WORDS, *strings(*VOCABULARY), *strings("a b", "ab c")],
        {"unk_token": "[UNK]"},
        tuple(range(5, 11)),
    ),
    "bpe-halves": Case(
        "BPETokenizer",
        [*WORDS, *strings(*VOCABULARY), *strings("a", "ab"), *strings("b", "c")],
        {"unk_token": "[UNK]"},
        tuple(range(5, 14)),
    ),
    "bpe-added": Case(
        "BPETokenizer",
        [
            *ragged_strings(("ab", "<s>")),
            *strings(*VOCABULARY),
            *strings("a b"),
            *strings("<s>"),
            i32(20),
        ],
        {"unk_token": "[UNK]"},
        tuple(range(5, 15)),
    ),
    "unigram": Case(
        "UnigramTokenizer",
        [*WORDS, *strings(*VOCABULARY), -np.arange(1, 13, dtype=np.float32)],
        {"unk_token_id": 7, "min_score": -12.0},
        (5, 6, 7, 8),
    ),
    "trie": Case(
        "TrieTokenizer",
        [*ragged_strings(("abac",), ("c",), (" ☃",)), *strings(*VOCABULARY), i32(*range(12))],
        {},
        (5, 6, 7, 8),
    ),
}

NOT_EVALUATED = {
    "StringToHashBucket",
    "SentencepieceTokenizer",
    "SentencepieceDetokenizer",
    "SentencepieceStreamDetokenizer",
}


@cache
def core() -> Any:
    """An OpenVINO with the library."""
    import openvino
    import openvino_tokenizers

    instance = openvino.Core()
    instance.add_extension(str(openvino_tokenizers._ext_path))
    return instance


def model_of(case: Case, folder: Path, shapes: str) -> Path:
    """An IR of one layer. shapes: of the inputs, `static` or `dynamic`."""
    import openvino
    from openvino import opset15 as opset
    from openvino_tokenizers import _get_factory

    core()
    parameters, inputs = [], []
    for position, array in enumerate(case.inputs):
        if position in case.fixed:
            inputs.append(opset.constant(array).output(0))
            continue
        kind = openvino.Type.string if array.dtype == object else openvino.Type(array.dtype)
        shape = list(array.shape) if shapes == "static" else [-1] * array.ndim
        parameters.append(opset.parameter(shape, kind, name=f"input{position}"))
        inputs.append(parameters[-1].output(0))
    node = _get_factory().create(case.type, inputs, case.attributes)
    path = folder / "layer.xml"
    openvino.save_model(openvino.Model(node.outputs(), parameters), path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize(
    ("case", "shapes"),
    [
        pytest.param(case, shapes, id=f"{name}-{shapes}")
        for name, case in CASES.items()
        for shapes in (["static", "dynamic"] if case.static else ["dynamic"])
    ],
)
def test_shapes_and_values_are_those_of_the_library(
    case: Case, shapes: str, tmp_path: Path
) -> None:
    path = model_of(case, tmp_path, shapes)
    severities = {one.severity for one in irshape.validate(path).files[0].diagnostics}
    assert severities == {"info"}
    model = irshape.load(path)
    layer = next(layer for layer in model.layers if layer.type == case.type)
    theirs = core().read_model(path)
    node = next(node for node in theirs.get_ops() if node.get_type_name() == case.type)
    inferred = [
        (each.element_type.name, str(each.shape)) for each in irshape.infer(model).outputs(layer)
    ]
    assert inferred == [
        (port.get_element_type().get_type_name(), str(port.get_partial_shape()))
        for port in node.outputs()
    ]
    fed = [array for position, array in enumerate(case.inputs) if position not in case.fixed]
    ours = list(irshape.run(model, fed).values())
    computed = core().compile_model(theirs, "CPU")(
        [np.array(array.tolist()) if array.dtype == object else array for array in fed]
    )
    for mine, other in zip(ours, computed.values(), strict=True):
        texts = [text.decode() for text in mine.ravel()] if mine.dtype == object else mine
        np.testing.assert_array_equal(np.reshape(texts, mine.shape), other)


def test_every_operation_of_the_library_has_a_case() -> None:
    assert {case.type for case in CASES.values()} | NOT_EVALUATED == set(
        registry.library_type_names()
    )


@pytest.mark.parametrize("name", sorted(NOT_EVALUATED))
def test_of_what_is_not_evaluated_the_page_says_so(name: str) -> None:
    done = CliRunner().invoke(cli, ["ops", name])
    assert done.exit_code == 0
    assert "does not evaluate" in " ".join(done.output.split())


def test_shapes_of_hash_buckets(tmp_path: Path) -> None:
    case = Case("StringToHashBucket", strings("a", "b"), {"num_buckets": 7})
    model = irshape.load(model_of(case, tmp_path, "static"))
    (output,) = irshape.infer(model).outputs(model.layers[3])
    assert f"{output.element_type}{output.shape}" == "i64[2]"
    comparison = irshape.crosscheck(model, case.inputs)
    assert [row.shape_verdict for row in comparison.rows if row.layer.type == case.type] == [
        "equal"
    ]
    assert "StringToHashBucket" in comparison.problems[0]


def test_a_number_that_the_device_narrows_is_explained(tmp_path: Path) -> None:
    case = Case("NumericToString", [np.array([True, False])])
    comparison = irshape.crosscheck(model_of(case, tmp_path, "static"), case.inputs)
    assert comparison.ok, str(comparison)
    (row,) = (row for row in comparison.rows if row.layer.type == case.type)
    assert row.reason == "the device computes boolean as u8"
