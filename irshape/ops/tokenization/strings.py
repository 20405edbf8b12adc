"""Operations that pack, compare, join and normalize strings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_SHAPES, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, SCALAR, PartialShape
from ..conditions import at_least, between, rank
from ..declaration import ANY, I32_I64, attribute, operand, types
from ..differences import Site, facts, refused
from ..kinds import BOOLEAN, INT, STRING, Choice
from ..lazy import Array, np
from ..strings import StringTensorPack as PackOfOpset15, StringTensorUnpack as UnpackOfOpset15
from ..tensors import Tensor
from .base import (
    BOOLEAN_ONE,
    I32,
    I64,
    ONE_AXIS,
    STRING_ONE,
    U8,
    U8_ONLY,
    StringOperation,
    TokenizerOperation,
    i32_operand,
    packed,
    require_bytes,
    require_count,
    string_outputs,
    texts,
)
from .charsmaps import normalized, precompiled, unicode_map
from .pcre import compiled, replaced, replacement_of
from .splitting import decoded

MODE = Choice("begins_ends", case_sensitive=True)


class StringTensorPack(TokenizerOperation):
    """Makes strings from parts of one array of bytes. StringTensorPack-15 supersedes it."""

    introduced = "2023.3"
    begins = operand(I32_I64, known_type=True, value=True)
    ends = operand(I32_I64, known_type=True, like="begins", value=True)
    symbols = operand(U8_ONLY, known_type=True, rank=1)
    mode: str = attribute(MODE, default="begins_ends")

    def infer(self, begins: Tensor, ends: Tensor, symbols: Tensor) -> Tensor:
        return PackOfOpset15().infer(begins, ends, symbols)

    def evaluate(self, begins: Array, ends: Array, symbols: Array) -> Array:
        return PackOfOpset15().evaluate(begins, ends, symbols)


class StringTensorUnpack(TokenizerOperation):
    """Joins the bytes of all strings. Returns where each string begins and ends, and the bytes.

    StringTensorUnpack-15 supersedes it. The input can also be a u8 tensor with packed strings: the
    number of strings, the begin of each, the end of the last, and the bytes.
    """

    introduced = "2023.3"
    data = operand(types("string u8"))
    mode: str = attribute(MODE, default="begins_ends")

    def infer(self, data: Tensor) -> tuple[Tensor, ...]:
        if data.element_type is STRING_ONE:
            return string_outputs(data.shape)
        if data.element_type is not U8:
            return string_outputs(DYNAMIC_SHAPE)
        rank(data.rank, 1, at="data", rule=INPUT_SHAPES)
        return string_outputs(ONE_AXIS)

    def evaluate(self, data: Array) -> tuple[Array, Array, Array]:
        if data.dtype != np.uint8:
            return UnpackOfOpset15().evaluate(data)
        run = data.tobytes()
        (count,) = np.frombuffer(run[:4], np.int32)
        places = np.frombuffer(run[4 : 8 + 4 * count], np.int32)
        chars = np.frombuffer(run[8 + 4 * count :], np.uint8)[: int(places[-1])]
        return places[:-1].copy(), places[1:].copy(), chars


class EqualStr(StringOperation):
    """1 where strings of two tensors are equal, else 0. Either tensor may be a single string."""

    introduced = "2024.1"
    chars = operand(ANY)
    other_begins, other_ends, other_chars = i32_operand(), i32_operand(), operand(ANY)

    def infer(self, *inputs: Tensor) -> Tensor:
        return Tensor(I32, ONE_AXIS)

    def evaluate(self, *inputs: Array) -> Array:
        first, second = texts(*inputs[:3]), texts(*inputs[3:])
        count = max(len(first), len(second)) if first and second else 0
        equal = [
            first[i if i < len(first) else 0] == second[i if i < len(second) else 0]
            for i in range(count)
        ]
        return np.array(equal, np.int32)


class NumericToString(TokenizerOperation):
    """Converts numbers to decimal text. Floating-point numbers get six significant digits."""

    custom_version = "openvino_tokenizers"
    introduced = "2026.2"
    data = operand(ANY, specified=types("i64 i32 i16 i8 u64 u32 u16 u8 f32 f64 boolean"))

    def infer(self, data: Tensor) -> Tensor:
        return Tensor(STRING_ONE, data.shape)

    def evaluate(self, data: Array) -> Array:
        if data.dtype.kind == "b":
            words = ["true" if flag else "false" for flag in data.ravel().tolist()]
        elif data.dtype.kind in "iu":
            words = [str(number) for number in data.ravel().tolist()]
        elif data.dtype in (np.float32, np.float64):
            words = [f"{number:.6g}" for number in data.ravel().tolist()]
        else:
            raise NotImplementedError(f"irshape does not evaluate NumericToString of {data.dtype}")
        result = np.empty(data.size, object)
        result[:] = [word.encode() for word in words]
        return result.reshape(data.shape)


class StringToHashBucket(StringOperation):
    """Hashes each string with FarmHash (Fingerprint64) to a number below `num_buckets`."""

    introduced = "2024.2"
    chars = operand(ANY)
    num_buckets: int = attribute(INT, default=0)

    def infer(self, *inputs: Tensor) -> Tensor:
        at_least(self.num_buckets, 1, at="num_buckets", rule=ATTRIBUTE_VALUE)
        return Tensor(I64, inputs[0].shape)


class ContribStringJoin(StringOperation):
    """Joins the strings along an axis with a separator (StringJoin of ai.onnx.contrib)."""

    introduced = "2026.3"
    separator = operand(U8_ONLY, rank=1)
    axis = operand(I32_I64, value=True)

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        rank = inputs[0].rank
        if rank is None:
            return string_outputs(DYNAMIC_SHAPE)
        if rank <= 1:
            return string_outputs(SCALAR)
        known = inputs[4].known
        if not known:
            return string_outputs(PartialShape.of_rank(rank - 1))
        between(known[0], -rank, rank - 1, at="axis", rule=OPERATION_CONSTRAINT)
        axis = known[0] % rank
        dims = [size for i, size in enumerate(inputs[0].shape) if i != axis]
        return string_outputs(PartialShape(dims))

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        begins, ends, chars, separator, axis = inputs
        strings = np.empty(begins.size, object)
        strings[:] = texts(begins, ends, chars)
        if begins.ndim == 0:
            return packed(strings.tolist(), ())
        along = int(axis.ravel()[0])
        lists = np.moveaxis(strings.reshape(begins.shape), along, -1)
        shape = lists.shape[:-1]
        count = int(np.prod(shape, dtype=np.int64))
        between = separator.tobytes()
        joined = [between.join(row) for row in lists.reshape(count, begins.shape[along]).tolist()]
        return packed(joined, shape)


class ContribStringSplit(StringOperation):
    """Splits strings at a separator (StringSplit of ai.onnx.contrib).

    The result is a sparse tensor: indices, strings and shape.
    """

    introduced = "2026.3"
    separator = operand(U8_ONLY, rank=1)
    skip_empty = operand(types("boolean u8 i8"))

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        rank = inputs[0].rank
        size = DYNAMIC if rank is None else rank + 1
        return (
            Tensor(I64, PartialShape([DYNAMIC, size])),
            *string_outputs(ONE_AXIS),
            Tensor(I64, PartialShape([size])),
        )

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        begins, ends, chars, separator, skip = inputs
        between, skip_empty = separator.tobytes(), bool(skip.ravel()[0])
        indices: list[tuple[int, ...]] = []
        values: list[bytes] = []
        most = 0
        for place, text in zip(np.ndindex(begins.shape), texts(begins, ends, chars), strict=True):
            pieces = text.split(between) if between else [bytes([byte]) for byte in text]
            most = max(most, len(pieces))
            for position, piece in enumerate(pieces):
                if piece or not skip_empty:
                    indices.append((*place, position))
                    values.append(piece)
        rank = begins.ndim + 1
        return (
            np.array(indices, np.int64).reshape(-1, rank),
            *packed(values, (len(values),)),
            np.array([*begins.shape, most], np.int64),
        )


class UTF8Validate(StringOperation):
    """Removes bytes that are not UTF-8 from strings, or replaces them by U+FFFD.

    Unlike openvino_tokenizers, irshape also removes or replaces surrogates.
    """

    introduced = "2024.4"
    replace_mode: bool = attribute(BOOLEAN, default=False)

    def evaluate(self, begins: Array, ends: Array, chars: Array) -> tuple[Array, ...]:
        errors = "replace" if self.replace_mode else "ignore"
        strings = [text.decode(errors=errors).encode() for text in texts(begins, ends, chars)]
        return packed(strings, begins.shape)


class ByteFallback(StringOperation):
    """Replaces byte tokens such as `<0x0A>` by the bytes. Other strings stay unchanged."""

    introduced = "2024.3"

    def evaluate(self, begins: Array, ends: Array, chars: Array) -> tuple[Array, ...]:
        values = {f"<0x{byte:02X}>".encode(): bytes([byte]) for byte in range(256)}
        strings = [
            values.get(text, b"\xff") if _like_byte_token(text) else text
            for text in texts(begins, ends, chars)
        ]
        return packed(strings, begins.shape)


def _like_byte_token(text: bytes) -> bool:
    """Returns whether a text has the form of a byte token, valid or not."""
    return len(text) == 6 and text.rfind(b"<") == 0 and text.rfind(b">") == 5


class Normalization(StringOperation):
    """The base class of operations that rewrite strings. Flagged strings stay unchanged.

    If there are flags, they are also the last output.
    """

    def flags(self, inputs: tuple[Any, ...]) -> Any:
        """Returns the input with the flags, or None if the layer has no flags."""
        return inputs[3]

    def infer(self, *inputs: Any) -> tuple[Tensor, ...]:
        outputs, flags = string_outputs(inputs[0].shape), self.flags(inputs)
        return outputs if flags is None else (*outputs, flags)

    def rewritten(
        self, inputs: tuple[Any, ...], rewrite: Callable[[bytes], bytes]
    ) -> tuple[Array, ...]:
        flags = self.flags(inputs)
        results = [
            text if flags is not None and flags.ravel()[position] else rewrite(text)
            for position, text in enumerate(texts(*inputs[:3]))
        ]
        outputs = packed(results, inputs[0].shape)
        return outputs if flags is None else (*outputs, flags)


class CaseFold(Normalization):
    """Converts strings to lower case; with `encoding=""`, ASCII letters to lower or upper case."""

    introduced = "2023.3"
    skips = operand(ANY, optional=True)
    encoding: str = attribute(STRING, default="utf-8")
    lower: bool = attribute(BOOLEAN, default=True)

    def infer(self, *inputs: Any) -> tuple[Tensor, ...]:
        if self.encoding != "" and not (self.encoding == "utf-8" and self.lower):
            wanted = '"", or "utf-8" with lower="true"'
            seen = f'"{self.encoding}" with lower="{str(self.lower).lower()}"'
            raise Violation(at="encoding", expected=wanted, actual=seen, rule=ATTRIBUTE_VALUE)
        return super().infer(*inputs)

    def evaluate(self, *inputs: Any) -> tuple[Array, ...]:
        if self.encoding == "":
            ascii_case = bytes.lower if self.lower else bytes.upper
            outputs = self.rewritten((*inputs[:3], None), ascii_case)  # the library ignores flags
            return outputs if inputs[3] is None else (*outputs, inputs[3])
        entries = unicode_map("identity", True)
        return self.rewritten(inputs, lambda text: normalized(text, entries))


class NormalizeUnicode(Normalization):
    """Converts strings to a Unicode normalization form with SentencePiece's maps of characters."""

    introduced = "2023.3"
    skips = operand(ANY, optional=True)
    normalization_form: str = attribute(
        Choice("NFC", "NFD", "NFKC", "NFKD", case_sensitive=True), default="NFD"
    )

    def evaluate(self, *inputs: Any) -> tuple[Array, ...]:
        entries = unicode_map(self.normalization_form, False)
        return self.rewritten(inputs, lambda text: normalized(text, entries))


def _no_mapping(site: Site) -> bool:
    """Returns whether the map of characters is missing, as the last input is flags."""
    return site.type_name(len(site.layer.inputs) - 1) == "boolean"


class CharsMapNormalization(Normalization):
    """Rewrites strings with a map of characters, as SentencePiece's normalizer does.

    After the strings come optional flags of strings that stay unchanged, and an optional
    precompiled map. The attribute `normalization_form` replaces the map.
    """

    differs = facts(
        refused("2025.1", "a CharsMapNormalization without a map of characters", _no_mapping),
    )

    introduced = "2024.5"
    others = operand(ANY, optional=True, variadic=True)
    add_dummy_prefix: bool = attribute(BOOLEAN, default=False)
    remove_extra_whitespaces: bool = attribute(BOOLEAN, default=True)
    escape_whitespaces: bool = attribute(BOOLEAN, default=False)
    normalization_form: str = attribute(STRING, default="")
    case_fold: bool = attribute(BOOLEAN, default=False)
    nmt: bool = attribute(BOOLEAN, default=False)

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        require_count(self, len(inputs), 3, 4, 5)
        skips = len(inputs) == 5 or (len(inputs) == 4 and inputs[3].element_type is BOOLEAN_ONE)
        outputs = string_outputs(inputs[0].shape)
        return (*outputs, inputs[3]) if skips else outputs

    def flags(self, inputs: tuple[Any, ...]) -> Any:
        return inputs[3] if len(inputs) > 3 + (not self.normalization_form) else None

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        form = self.normalization_form
        if not form and len(inputs) == 3:
            raise ValueError("CharsMapNormalization has neither a map nor a normalization form")
        rewrite = partial(
            normalized,
            prefix=unicode_map(form, self.case_fold) if form else precompiled(inputs[-1].tobytes()),
            dummy_prefix=self.add_dummy_prefix,
            remove_spaces=self.remove_extra_whitespaces,
            escape_spaces=self.escape_whitespaces,
        )
        return self.rewritten(inputs, rewrite)


class RegexNormalization(Normalization):
    """Replaces the matches of a pattern in strings.

    After the strings come optional flags for strings that stay unchanged, pattern, replacement.
    """

    introduced = "2023.3"
    others = operand(ANY, variadic=True)
    global_replace: bool = attribute(BOOLEAN, default=True)

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        require_count(self, len(inputs), 5, 6)
        for tensor in inputs[-2:]:
            require_bytes("others", tensor)
        return super().infer(*inputs)

    def flags(self, inputs: tuple[Any, ...]) -> Any:
        return inputs[3] if len(inputs) == 6 else None

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        expression = compiled(decoded(inputs[-2].tobytes()))
        replacement = replacement_of(decoded(inputs[-1].tobytes()))

        def rewrite(text: bytes) -> bytes:
            string = decoded(text)
            result = replaced(expression, string, replacement, everywhere=self.global_replace)
            return result.encode()

        return self.rewritten(inputs, rewrite)
