"""Operations that convert between strings and tokens: BPE, WordPiece, Unigram, vocabularies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ...faults import require
from ...shapes import PartialShape
from ..conditions import equal, of_type
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
    ragged,
    ragged_outputs,
    ragged_string_outputs,
    require_count,
    require_types,
    rows,
    string_tensor,
    texts,
)
from .bpe import BytePairs
from .splitting import RaggedStringOperation
from .tries import Trie
from .unigram import UnigramModel


class VocabEncoder(StringOperation):
    """Converts each string to its number in a vocabulary, or to a default for unknown strings."""

    introduced = "2024.1"
    vocab_begins, vocab_ends, vocab_chars = string_tensor()
    values = operand(I32_I64, known_type=True)
    default = operand(ANY)

    def infer(self, *inputs: Tensor) -> Tensor:
        values, default = inputs[6:]
        if inputs[3].shape.is_static:
            equal(values.shape, inputs[3].shape, at="values", of="vocab_begins")
        if not default.element_type.is_dynamic:
            of_type(default.element_type, values.element_type, at="default", of="values")
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
    """Converts token ids to texts, with a row of texts for each row of ids.

    Ids that are skipped, or that the vocabulary does not contain, become empty texts.
    """

    differs = facts(
        not_run("2025.0", "a VocabDecoder whose tokens to skip are an input", _skipped_tokens),
    )

    introduced = "2023.3"
    tokens = operand(ANY)
    vocab_begins, vocab_ends, vocab_chars = string_tensor()
    skipped = operand(types("i32"), optional=True)
    skip_tokens: tuple[int, ...] = attribute(INTS, default=())

    def infer(self, tokens: Tensor, *_: Tensor | None) -> tuple[Tensor, ...]:
        require(tokens.rank, at="tokens", relation="rank", expected=2, actual=tokens.shape)
        return ragged_string_outputs(PartialShape([tokens.shape[0]]))

    def evaluate(
        self, tokens: Array, begins: Array, ends: Array, chars: Array, skipped: Array | None
    ) -> tuple[Array, ...]:
        vocabulary = texts(begins, ends, chars)
        skip = set(self.skip_tokens if skipped is None else skipped.ravel().tolist())
        batch, length = tokens.shape
        strings = [
            vocabulary[token] if 0 <= token < len(vocabulary) and token not in skip else b""
            for token in tokens.ravel().tolist()
        ]
        step = max(length, 1)
        strings = strings or [b""] * batch
        ragged_begins = np.arange(batch, dtype=np.int32) * np.int32(step)
        return (ragged_begins, ragged_begins + np.int32(step), *packed(strings, (len(strings),)))


Tokens = Callable[[bytes], Sequence[int]]


class TokenizingOperation(RaggedStringOperation):
    """The base class of operations that convert ragged strings to ragged tokens."""

    vocab_begins, vocab_ends, vocab_chars = string_tensor()
    built: tuple[tuple[bytes, ...], Tokens] | None = None
    """The bytes of the inputs from which the last model was built, and this model."""

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        return ragged_outputs(inputs[0].shape, I32)

    def model(self, *inputs: Array) -> Tokens:
        """Returns a function from a string to its tokens. `inputs` are those after the strings."""
        raise NotImplementedError

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        source = tuple(array.tobytes() for array in inputs[5:])
        if self.built is None or self.built[0] != source:
            self.built = source, self.model(*inputs[5:])
        tokens, strings = cache(self.built[1]), texts(*inputs[2:5])
        lists = [
            [token for position in row for token in tokens(strings[position])]
            for row in rows(*inputs[:2])
        ]
        return ragged(lists, inputs[0].shape)


class BPETokenizer(TokenizingOperation):
    """Converts strings to token ids by byte-pair encoding.

    The inputs after the strings and the vocabulary are the merges: three inputs of texts such as "t
    h", or six inputs for the left and the right halves. Optional added tokens (three inputs) and
    their numbers follow.
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
            if inputs[-4].shape.is_static:
                equal(inputs[-1].shape, inputs[-4].shape, at="added_ids", of="added_begins")
        return super().infer(*inputs)

    def model(self, *inputs: Array) -> Tokens:
        vocabulary = {text: number for number, text in enumerate(texts(*inputs[:3]))}
        if len(inputs) in (6, 10):
            split = [text.partition(b" ") for text in texts(*inputs[3:6])]
            merges = [(left, right if space else left) for left, space, right in split]
        else:
            merges = list(zip(texts(*inputs[3:6]), texts(*inputs[6:9]), strict=True))
        if len(inputs) in (10, 13):
            added = zip(texts(*inputs[-4:-1]), inputs[-1].ravel().tolist(), strict=True)
            vocabulary = dict(reversed(list(added))) | vocabulary
        return BytePairs(
            vocabulary,
            merges,
            unknown=self.unk_token.encode(),
            end_suffix=self.end_suffix.encode(),
            byte_fallback=self.byte_fallback,
        ).tokens


class WordpieceTokenizer(TokenizingOperation):
    """Converts words to token ids by WordPiece: the longest vocabulary entry at each position.

    A word that entries do not cover, or that is too long, becomes the unknown token.
    """

    introduced = "2023.3"
    unknown = operand(ANY)
    suffix_indicator: str = attribute(STRING, default="##")
    max_bytes_per_word: int = attribute(INT, default=100)

    def model(self, *inputs: Array) -> Tokens:
        indicator, unknown = self.suffix_indicator.encode(), int(inputs[3].ravel()[0])
        beginnings: dict[bytes, int] = {}
        continuations: dict[bytes, int] = {}
        for number, text in enumerate(texts(*inputs[:3])):
            if text.startswith(indicator):
                continuations[text.removeprefix(indicator)] = number
            else:
                beginnings[text] = number
        words, suffixes = Trie(beginnings), Trie(continuations)

        def tokens(word: bytes) -> list[int]:
            if not word or len(word) > self.max_bytes_per_word:
                return [unknown]
            token, place = words.longest(word, 0)
            result = [token]
            while token != -1 and place < len(word):
                token, place = suffixes.longest(word, place)
                result.append(token)
            return [unknown] if token == -1 else result

        return tokens


class UnigramTokenizer(TokenizingOperation):
    """Converts strings to the token ids with the highest total score in a Unigram model."""

    introduced = "2025.1"
    scores = operand(ANY)
    byte_fallback: bool = attribute(BOOLEAN, default=False)
    unk_token_id: int = attribute(INT, default=0)
    fuse_unk: bool = attribute(BOOLEAN, default=False)
    min_score: float = attribute(FLOAT, default=float("inf"))

    def model(self, *inputs: Array) -> Tokens:
        return UnigramModel(texts(*inputs[:3]), inputs[3].ravel(), self.unk_token_id).tokens


class TrieTokenizer(TokenizingOperation):
    """Converts strings to token ids: the longest vocabulary entry at each position (RWKV)."""

    introduced = "2024.1"
    values = i32_operand()

    def model(self, *inputs: Array) -> Tokens:
        trie = Trie(dict(zip(texts(*inputs[:3]), inputs[3].ravel().tolist(), strict=True)))

        def tokens(text: bytes) -> list[int]:
            result, place = [], 0
            while place < len(text):
                token, reached = trie.longest(text, place)
                if token == -1:
                    raise ValueError(f"no vocabulary entry matches {text[place : place + 8]!r}")
                result.append(token)
                place = reached
            return result

        return tokens
