"""Operations between strings and tokens: BPE, WordPiece, Unigram and plain vocabularies."""

from __future__ import annotations

from functools import lru_cache

from ...faults import require
from ...rule_ids import INPUT_SHAPES
from ...shapes import PartialShape
from ..declaration import ANY, I32_I64, attribute, operand, types
from ..differences import Site, facts, not_run
from ..kinds import BOOLEAN, FLOAT, INT, INTS, NATURAL, STRING
from ..lazy import Array, np
from ..tensors import Tensor
from .base import (
    I32,
    StringOperation,
    TokenizerOperation,
    i32_operand,
    packed,
    ragged_outputs,
    ragged_string_outputs,
    require_count,
    require_same_count,
    require_types,
    string_tensor,
    texts,
    tokenized,
)
from .bpe import BytePairs
from .splitting import RaggedStringOperation
from .tries import Trie
from .unigram import UnigramModel


class VocabEncoder(StringOperation):
    """The number of each string in a vocabulary, or a default for a string that is not in it."""

    introduced = "2024.1"
    vocab_begins, vocab_ends, vocab_chars = string_tensor()
    values = operand(I32_I64, known_type=True)
    default = operand(ANY)

    def infer(self, *inputs: Tensor) -> Tensor:
        values, default = inputs[6:]
        require_same_count(inputs[3], values, "vocab_begins", "values")
        require(
            default.element_type.is_dynamic or default.element_type is values.element_type,
            at="default",
            relation="type",
            expected=values.element_type,
            actual=default.element_type,
            of="values",
        )
        return Tensor(values.element_type, inputs[0].shape)

    def evaluate(self, *inputs: Array) -> Array:
        numbers: dict[bytes, int] = {}
        for text, value in zip(texts(*inputs[3:6]), inputs[6].ravel().tolist(), strict=True):
            numbers.setdefault(text, value)
        default = int(inputs[7].ravel()[0])
        values = [numbers.get(text, default) for text in texts(*inputs[:3])]
        return np.array(values, inputs[6].dtype).reshape(inputs[0].shape)


def _skipped_tokens(site: Site) -> bool:
    return len(site.layer.inputs) == 5


class VocabDecoder(TokenizerOperation):
    """The texts of tokens, with a row of texts for each row of tokens. Tokens that are skipped, or
    that the vocabulary does not contain, have an empty text.
    """

    differs = facts(
        not_run("2025.0", "a VocabDecoder whose tokens to skip are an input", _skipped_tokens),
    )

    introduced = "2023.3"
    tokens = operand(ANY)
    vocab_begins, vocab_ends, vocab_chars = string_tensor()
    skipped = operand(types("i32"), optional=True)
    skip_tokens: tuple[int, ...] = attribute(INTS, default=())

    def infer(self, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        tokens = inputs[0]
        assert tokens is not None
        require(
            bool(tokens.rank),
            at="tokens",
            relation="rank",
            expected=2,
            actual=tokens.shape,
            rule=INPUT_SHAPES,
        )
        return ragged_string_outputs(PartialShape([tokens.shape[0]]))

    def evaluate(self, *inputs: Array | None) -> tuple[Array, ...]:
        tokens, begins, ends, chars, skipped = inputs
        assert tokens is not None
        assert begins is not None
        assert ends is not None
        assert chars is not None
        vocabulary = texts(begins, ends, chars)
        skip = set(self.skip_tokens if skipped is None else skipped.ravel().tolist())
        batch, length = tokens.shape
        strings = [
            vocabulary[token] if 0 <= token < len(vocabulary) and token not in skip else b""
            for token in tokens.ravel().tolist()
        ]
        step = max(length, 1)
        if length == 0:
            strings = [b""] * batch
        ragged_begins = np.arange(batch, dtype=np.int32) * step
        ragged_ends = (ragged_begins + step).astype(np.int32)
        return (ragged_begins, ragged_ends, *packed(strings, (len(strings),)))


class TokenizingOperation(RaggedStringOperation):
    """An operation that converts ragged strings to ragged tokens."""

    vocab_begins, vocab_ends, vocab_chars = string_tensor()

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        return ragged_outputs(inputs[0].shape, I32)


class BPETokenizer(TokenizingOperation):
    """The tokens of strings by byte-pair encoding.

    After the strings and the vocabulary come the merges. The merges are three inputs
    of texts with a space in each, or six inputs for their left and right halves. Then come optional
    added tokens (three inputs) with their numbers.
    """

    introduced = "2023.3"
    others = operand(ANY, variadic=True)
    unk_token: str = attribute(STRING, default="")
    fuse_unk: bool = attribute(BOOLEAN, default=False)
    suffix_indicator: str = attribute(STRING, default="")
    end_suffix: str = attribute(STRING, default="")
    byte_fallback: bool = attribute(BOOLEAN, default=False)
    cache_capacity: int = attribute(NATURAL, default=20000)

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        count = len(inputs)
        require_count(self, count, 11, 14, 15, 18)
        require_types(inputs[8:], "merges_begins", "merges_ends", "merges_chars")
        if count in (14, 18):
            require_types(inputs[11:], "right_begins", "right_ends", "right_chars")
        if count in (15, 18):
            added = ("added_begins", "added_ends", "added_chars", "added_ids")
            require_types(inputs[-4:], *added)
            require_same_count(inputs[-4], inputs[-1], "added_begins", "added_ids")
        return super().infer(*inputs)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        model = _byte_pairs(
            tuple(array.tobytes() for array in inputs[5:]),
            len(inputs),
            (self.unk_token, self.end_suffix, self.byte_fallback),
        )
        return tokenized(inputs[0], inputs[1], texts(*inputs[2:5]), model.tokens)


def _stored(part: bytes, element_type: str = "int32") -> Array:
    return np.frombuffer(part, element_type)


def _strings(parts: tuple[bytes, ...], first: int) -> list[bytes]:
    """Returns the strings whose begins, ends and bytes are three consecutive parts from `first`."""
    begins, ends = _stored(parts[first]), _stored(parts[first + 1])
    return texts(begins, ends, _stored(parts[first + 2], "uint8"))


@lru_cache(maxsize=4)
def _byte_pairs(parts: tuple[bytes, ...], count: int, settings: tuple[str, str, bool]) -> BytePairs:
    """Returns the model of a BPETokenizer from the bytes of its inputs after the strings."""
    vocabulary = {text: number for number, text in enumerate(_strings(parts, 0))}
    merges: list[tuple[bytes, bytes]] = []
    if count in (11, 15):
        for text in _strings(parts, 3):
            left, space, right = text.partition(b" ")
            merges.append((left, right if space else text))
    else:
        merges = list(zip(_strings(parts, 3), _strings(parts, 6), strict=True))
    if count in (15, 18):
        added: dict[bytes, int] = {}
        first = count - 9
        numbers = _stored(parts[-1]).tolist()
        for text, number in zip(_strings(parts, first), numbers, strict=True):
            added.setdefault(text, number)
        vocabulary = added | vocabulary
    unknown, end_suffix, byte_fallback = settings
    return BytePairs(
        vocabulary,
        merges,
        unknown=unknown.encode(),
        end_suffix=end_suffix.encode(),
        byte_fallback=byte_fallback,
    )


class WordpieceTokenizer(TokenizingOperation):
    """The tokens of words by WordPiece, which takes the longest vocabulary entry at each position.
    A word that entries do not cover, or that is too long, becomes the unknown token.
    """

    introduced = "2023.3"
    unknown = operand(ANY)
    suffix_indicator: str = attribute(STRING, default="##")
    max_bytes_per_word: int = attribute(INT, default=100)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        parts = tuple(array.tobytes() for array in inputs[5:8])
        words, suffixes = _word_pieces(parts, self.suffix_indicator.encode())
        unknown = int(inputs[8].ravel()[0])

        def tokens(word: bytes) -> list[int]:
            if not word or len(word) > self.max_bytes_per_word:
                return [unknown]
            token, place = words.longest(word, 0)
            result = [token]
            while token != -1 and place < len(word):
                token, place = suffixes.longest(word, place)
                result.append(token)
            return [unknown] if token == -1 else result

        return tokenized(inputs[0], inputs[1], texts(*inputs[2:5]), tokens)


@lru_cache(maxsize=4)
def _word_pieces(parts: tuple[bytes, ...], indicator: bytes) -> tuple[Trie, Trie]:
    """Returns the entries that begin a word, and those that continue a word."""
    entries = list(enumerate(_strings(parts, 0)))
    return (
        Trie((text, number) for number, text in entries if not text.startswith(indicator)),
        Trie(
            (text[len(indicator) :], number)
            for number, text in entries
            if text.startswith(indicator)
        ),
    )


class UnigramTokenizer(TokenizingOperation):
    """The tokens of strings by a Unigram language model, with the highest total score."""

    introduced = "2025.1"
    scores = operand(ANY)
    byte_fallback: bool = attribute(BOOLEAN, default=False)
    unk_token_id: int = attribute(INT, default=0)
    fuse_unk: bool = attribute(BOOLEAN, default=False)
    min_score: float = attribute(FLOAT, default=float("inf"))

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        parts = tuple(array.tobytes() for array in inputs[5:9])
        model = _unigram(parts, self.unk_token_id)
        return tokenized(inputs[0], inputs[1], texts(*inputs[2:5]), model.tokens)


@lru_cache(maxsize=4)
def _unigram(parts: tuple[bytes, ...], unknown: int) -> UnigramModel:
    return UnigramModel(_strings(parts, 0), _stored(parts[3], "float32"), unknown)


class TrieTokenizer(TokenizingOperation):
    """The tokens of strings by the longest vocabulary entry at each position (RWKV)."""

    introduced = "2024.1"
    values = i32_operand()

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        trie = _trie(tuple(array.tobytes() for array in inputs[5:9]))

        def tokens(text: bytes) -> list[int]:
            result, place = [], 0
            while place < len(text):
                token, reached = trie.longest(text, place)
                if token == -1:
                    raise ValueError(f"the vocabulary does not cover {text[place : place + 8]!r}")
                result.append(token)
                place = reached
            return result

        return tokenized(inputs[0], inputs[1], texts(*inputs[2:5]), tokens)


@lru_cache(maxsize=4)
def _trie(parts: tuple[bytes, ...]) -> Trie:
    return Trie(zip(_strings(parts, 0), _stored(parts[3]).tolist(), strict=True))
