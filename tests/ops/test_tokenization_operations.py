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


class Fixed(list[Array]):
    """Inputs that are constants."""


def several(given: Array | list[Array]) -> list[Array]:
    return given if isinstance(given, list) else [given]


def fixed(*given: Array | list[Array]) -> Fixed:
    return Fixed(array for one in given for array in several(one))


def case(type: str, *given: Array | list[Array], static: bool = True, **attributes: Any) -> Case:
    """A layer of inputs and attributes; an input is an array, or those of a tensor in parts."""
    inputs: list[Array] = []
    positions: list[int] = []
    for one in given:
        if isinstance(one, Fixed):
            positions += range(len(inputs), len(inputs) + len(one))
        inputs += several(one)
    return Case(type, inputs, attributes, tuple(positions), static)


def packed(*texts: str) -> Array:
    """Strings packed into bytes: number, begins, last end, bytes."""
    _, ends, run = strings(*texts)
    return np.frombuffer(
        b"".join([scalar(len(texts)).tobytes(), i32(0, *ends).tobytes(), run.tobytes()]), np.uint8
    )


def truncated(lengths: list[tuple[int, ...]], length: int, side: str, mode: str) -> Case:
    """Truncate of one ragged tensor or two, with rows of these lengths."""
    parts = [ragged(*(list(range(size)) for size in each)) for each in lengths]
    texts = fixed(scalar(length), chars(side), chars(mode))
    return case("Truncate", *parts, texts, m_num_inputs=len(parts))


WORDS = ragged_strings(("ab", "c", ""), (), ("abc ☃",))
VOCABULARY = ("a", "b", "c", "ab", "abc", "##b", "##bc", "[UNK]", "☃", " ", "ac", "<0x0A>")
TOKENS = np.array([[0, 4, 7], [11, 99, -1]], np.int32)

KNOWN, SKIPS = strings(*VOCABULARY), np.array([True, False])
SPACES, SPECIAL = fixed(chars(r"\s+")), fixed(chars(r"(<s>)|\s*(<m>)\s*"))

CASES = {
    # strings
    "pack": case("StringTensorPack", strings("a", "", "Größe")),
    "pack-nothing": case("StringTensorPack", strings()),
    "unpack": case("StringTensorUnpack", np.array([["a", ""], ["Größe", "b"]], object)),
    "unpack-packed": case("StringTensorUnpack", packed("a", "", "Größe")),
    "equal": case("EqualStr", strings("a", "b", ""), strings("a", "c", "")),
    "equal-one": case("EqualStr", strings("a", "b", "a"), strings("a")),
    "equal-one-first": case("EqualStr", strings("a"), strings("a", "b", "a")),
    "number-i64": case("NumericToString", np.array([[-3, 0], [2**31 - 1, 7]], np.int64)),
    "number-u8": case("NumericToString", np.array([0, 255], np.uint8)),
    "number-f32": case(
        "NumericToString", np.array([0, -0.0, 1.5, 1e-7, 123456789, 0.1, np.inf, np.nan], "f4")
    ),
    "number-f64": case("NumericToString", np.array([1 / 3, 1e30, 1e5, 1e6], "f8")),
    "join": case(
        "ContribStringJoin", square("a", "b", "", "d"), fixed(chars("--"), np.array(1, np.int64))
    ),
    "join-first-axis": case(
        "ContribStringJoin", square("a", "b", "", "d"), fixed(chars(""), np.array(-2, np.int64))
    ),
    "join-list": case(
        "ContribStringJoin", strings("a", "b"), fixed(chars(","), np.array(0, np.int64))
    ),
    **{
        f"split-{separator or 'bytes'}-{skip}": case(
            "ContribStringSplit",
            strings("a,b", "", ",,c", "d"),
            fixed(chars(separator), np.array(skip)),
        )
        for separator in (",", ",,", "")
        for skip in (True, False)
    },
    "utf8": case("UTF8Validate", strings(b"a\xffb", b"\xe2\x82", "Größe", b"\xc0\x80")),
    "utf8-replaced": case(
        "UTF8Validate", strings(b"a\xffb", b"\xe2\x82", b"\xf8\x88"), replace_mode=True
    ),
    "bytes": case("ByteFallback", strings("<0x0A>", "<0x41>", "a", "<0xZZ>", "", "<0x0a>")),
    "fold": case("CaseFold", strings("ÄSZ", "ǅ", "ß", ""), encoding="utf-8"),
    "fold-skipped": case("CaseFold", strings("ÄB", "ÄB"), SKIPS, encoding="utf-8"),
    "unicode-skipped": case(
        "NormalizeUnicode", strings("e\u0301", "e\u0301"), SKIPS, normalization_form="NFC"
    ),
    "regex": case(
        "RegexNormalization",
        strings("a  b", "", "  "),
        fixed(chars(r"\s+"), chars("_")),
        global_replace=True,
    ),
    "regex-skipped": case(
        "RegexNormalization",
        strings("a  b", "a  b"),
        np.array([False, True]),
        fixed(chars(r"\s+"), chars("_")),
        global_replace=True,
    ),
    "charsmap": case(
        "CharsMapNormalization",
        strings("Ａ  b", "", " ﬁ "),
        normalization_form="nfkc",
        remove_extra_whitespaces=True,
        case_fold=True,
    ),
    # ragged strings
    "regex-split": case(
        "RegexSplit", ragged_strings(("a b",), (), ("",), (" d ",)), SPACES, behaviour="isolate"
    ),
    "regex-split-skipped": case(
        "RegexSplit",
        ragged_strings(("a b", "c d")),
        SKIPS,
        SPACES,
        behaviour="remove",
        static=False,
    ),
    "regex-split-whole": case(
        "RegexSplit",
        ragged_strings(("a b",), ("c d",)),
        fixed(chars(r"\s+"), strings("a b")),
        behaviour="remove",
    ),
    "special": case(
        "SpecialTokensSplit",
        ragged_strings(("a<s>b",), ("<s>",), (), ("c",)),
        SPECIAL,
        static=False,
    ),
    "special-group": case(
        "SpecialTokensSplit", ragged_strings(("a <m> b<s>",), (" <m>",)), SPECIAL, static=False
    ),
    "bytes-to-chars": case("BytesToChars", ragged_strings(("a b", "\n"), ("Größe",))),
    "bytes-to-chars-skipped": case("BytesToChars", ragged_strings(("a b", "c d")), SKIPS),
    "chars-to-bytes": case("CharsToBytes", ragged_strings(("aĠb", "Ċ"), ("GrÃ¶ÃŁe",))),
    "fuze": case("FuzeRagged", ragged_strings(("ab", "c"), ("d",), ("e", "f", "g"))[:4]),
    # ragged tensors
    "ragged-pack": case("RaggedTensorPack", ragged([1, 2], [3])),
    "to-dense": case("RaggedToDense", ragged([1, 2, 3], [], [4]), scalar(2), fixed(scalar(9))),
    "to-dense-left": case(
        "RaggedToDense", ragged([1, 2, 3], [], [4]), scalar(4), fixed(scalar(9)), pad_right=False
    ),
    "to-dense-input-left": case(
        "RaggedToDense",
        ragged([1, 2, 3], [4]),
        scalar(4),
        fixed(scalar(9), np.array(False)),
        pad_right=True,
    ),
    "to-sparse": case("RaggedToSparse", rows(2, 0, 3)),
    "to-sparse-nothing": case("RaggedToSparse", rows(0, 0)),
    "to-ragged": case("RaggedToRagged", i32(0, 0, 2, 2, 2), fixed(scalar(4))),
    "to-ragged-first-empty": case("RaggedToRagged", i32(1, 3), fixed(scalar(5))),
    "to-ragged-one": case("RaggedToRagged", i32(0), fixed(scalar(1))),
    "combine": case(
        "CombineSegments", one(7), ragged([1, 2], [3], []), one(8), fixed(i32(0, 1, 0))
    ),
    "combine-two": case("CombineSegments", ragged([1], [2]), ragged([3, 4], []), fixed(i32(5, 6))),
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
    "encode": case(
        "VocabEncoder",
        strings("a", "x", "", "b"),
        fixed(strings("a", "b", "a"), i32(5, 6, 7), i32(-1)),
    ),
    "decode": case("VocabDecoder", TOKENS, fixed(KNOWN), skip_tokens=[7]),
    "decode-skipped": case("VocabDecoder", TOKENS, fixed(KNOWN, i32(0, 11))),
    "wordpiece": case(
        "WordpieceTokenizer",
        ragged_strings(("abbc", "abc", "c"), ("xa", "ax")),
        fixed(KNOWN, scalar(7)),
        suffix_indicator="##",
        max_bytes_per_word=100,
    ),
    "wordpiece-long": case(
        "WordpieceTokenizer",
        ragged_strings(("abbc", "ab")),
        fixed(KNOWN, scalar(7)),
        suffix_indicator="##",
        max_bytes_per_word=3,
    ),
    "bpe": case("BPETokenizer", WORDS, fixed(KNOWN, strings("a b", "ab c")), unk_token="[UNK]"),
    "bpe-halves": case(
        "BPETokenizer",
        WORDS,
        fixed(KNOWN, strings("a", "ab"), strings("b", "c")),
        unk_token="[UNK]",
    ),
    "bpe-added": case(
        "BPETokenizer",
        ragged_strings(("ab", "<s>")),
        fixed(KNOWN, strings("a b"), strings("<s>"), i32(20)),
        unk_token="[UNK]",
    ),
    "unigram": case(
        "UnigramTokenizer",
        WORDS,
        fixed(KNOWN, -np.arange(1, 13, dtype=np.float32)),
        unk_token_id=7,
        min_score=-12.0,
    ),
    "trie": case(
        "TrieTokenizer", ragged_strings(("abac",), ("c",), (" ☃",)), fixed(KNOWN, i32(*range(12)))
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
    hashed = case("StringToHashBucket", strings("a", "b"), num_buckets=7)
    model = irshape.load(model_of(hashed, tmp_path, "static"))
    (output,) = irshape.infer(model).outputs(model.layers[3])
    assert f"{output.element_type}{output.shape}" == "i64[2]"
    comparison = irshape.crosscheck(model, hashed.inputs)
    assert [row.shape_verdict for row in comparison.rows if row.layer.type == hashed.type] == [
        "equal"
    ]
    assert "StringToHashBucket" in comparison.problems[0]


def test_a_number_that_the_device_narrows_is_explained(tmp_path: Path) -> None:
    numbers = case("NumericToString", np.array([True, False]))
    comparison = irshape.crosscheck(model_of(numbers, tmp_path, "static"), numbers.inputs)
    assert comparison.ok, str(comparison)
    (row,) = (row for row in comparison.rows if row.layer.type == numbers.type)
    assert "boolean as u8" in (row.reason or "")
