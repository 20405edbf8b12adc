"""Operations that split strings into pieces, and the byte alphabet of byte-level BPE."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE
from ..declaration import ANY, attribute, operand
from ..kinds import BOOLEAN, INT, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from .base import (
    BOOLEAN_ONE,
    TokenizerOperation,
    i32_operand,
    packed,
    ragged_string_outputs,
    require_bytes,
    require_count,
    require_types,
    rows,
    string_outputs,
    string_tensor,
    texts,
)
from .pcre import compiled, spans

MODES = {
    "remove": "remove",
    "isolate": "isolate",
    "contiguous": "isolate",
    "mergedwithprevious": "previous",
    "mergedwithnext": "next",
}


class RaggedStringOperation(TokenizerOperation):
    """The base class of operations on a ragged string tensor."""

    ragged_begins, ragged_ends = i32_operand(), i32_operand()
    begins, ends, chars = string_tensor()


def decoded(text: bytes) -> str:
    """Returns the bytes of a string as text. Raises `ValueError` if they are not UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise ValueError(
            f"the string {text[:40]!r} is not UTF-8, so irshape does not evaluate it"
        ) from None


def byte_places(text: str) -> list[int]:
    """Returns the position, in bytes, of each character in a text, and of the end of the text."""
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    return places


Piece = tuple[int, int, bool]
"""The begin and the end of a piece of a string, in bytes, and its flag."""


def split(
    inputs: tuple[Array, ...], pieces: Callable[[int, bytes], list[Piece]]
) -> tuple[Array, ...]:
    """Splits strings. Returns a ragged string tensor of the pieces, and a flag for each piece.

    pieces: a function from the position and the text of a string to its pieces.
    """
    ragged_begins, ragged_ends, begins, ends, chars = inputs[:5]
    strings, firsts = texts(begins, ends, chars), begins.ravel().tolist()
    every: list[Piece] = []
    counts = [0]
    for row in rows(ragged_begins, ragged_ends):
        for position in row:
            first = firsts[position]
            every += [
                (first + begin, first + end, flag)
                for begin, end, flag in pieces(position, strings[position])
            ]
        counts.append(len(every))
    offsets, shape = np.array(counts, np.int32), ragged_begins.shape
    spans = np.array([(begin, end) for begin, end, _ in every], np.int32).reshape(-1, 2).T
    flags = np.array([flag for _, _, flag in every], np.bool_)
    return offsets[:-1].reshape(shape), offsets[1:].reshape(shape), *spans, chars, flags


class RegexSplit(RaggedStringOperation):
    """Splits strings where a pattern matches.

    After the strings come, in order: optional flags for strings that stay whole, the pattern, and
    optional texts that stay whole (three inputs). A layer has flags or texts, not both.
    """

    introduced = "2023.3"
    others = operand(ANY, variadic=True)
    behaviour: str = attribute(Choice(*MODES, case_sensitive=True), default="remove")
    invert: bool = attribute(BOOLEAN, default=False)
    max_splits: int = attribute(INT, default=-1)

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        require_count(self, len(inputs), 6, 7, 9)
        skips = len(inputs) == 7
        require_bytes("others", inputs[5 + skips])
        if len(inputs) == 9:
            require_types(inputs[6:], "skip_begins", "skip_ends", "skip_chars")
        most, wanted = self.max_splits, "-1, or 1 or more"
        if most < 1 and most != -1:
            raise Violation(at="max_splits", expected=wanted, actual=most, rule=ATTRIBUTE_VALUE)
        outputs = ragged_string_outputs(inputs[0].shape)
        return (*outputs, inputs[5]) if skips else outputs

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        skips = inputs[5] if len(inputs) == 7 else None
        if inputs[4].size == 0:
            zero = np.zeros(1, np.int32)
            return (zero, zero, *inputs[2:5], *([] if skips is None else [skips]))
        pattern = decoded(inputs[5 if skips is None else 6].tobytes())
        if self.behaviour == "contiguous" and not pattern.endswith("+"):
            pattern = f"({pattern})+"
        expression = compiled(pattern)
        whole = set(texts(*inputs[6:9])) if len(inputs) == 9 else set()

        def pieces(position: int, text: bytes) -> list[Piece]:
            skipped = skips is not None and bool(skips[position])
            if skipped or text in whole:
                return [(0, len(text), skipped)]
            return [(begin, end, False) for begin, end in self._pieces(text, expression)]

        outputs = split(inputs, pieces)
        return outputs[:5] if skips is None else outputs

    def _pieces(self, text: bytes, expression: Any) -> list[tuple[int, int]]:
        """Returns the pieces of one string, each as its begin and its end in bytes."""
        string = decoded(text)
        place, length, mode = byte_places(string), len(text), MODES[self.behaviour]
        pieces: list[tuple[int, int]] = []
        pending = -1  # the beginning of a piece whose end is not known yet

        def add(begin: int, end: int, removed: bool) -> None:
            """Adds a piece. `removed`: whether the mode `remove` leaves the piece out."""
            nonlocal pending
            if mode == "remove" and removed:
                return
            waits = removed if mode == "next" else not removed and end != length
            if mode in ("previous", "next") and waits:
                pending = begin
                return
            if (mode == "previous" and removed) or (mode == "next" and pending != -1):
                begin = pending
            if len(pieces) == self.max_splits:
                end = length
            pieces.append((max(begin, 0), min(end, length)))

        start = 0
        for first, last in spans(expression, string):
            begin, end = place[first], place[last]
            if begin != start:
                add(start, begin, self.invert)
            add(begin, end, not self.invert)
            start = end
        if start < length:
            add(start, length, self.invert)
        elif mode == "next" and pending != length:
            add(pending, length, self.invert)
        return pieces


class SpecialTokensSplit(RaggedStringOperation):
    """Splits strings at special tokens. The last output is true for pieces that are special tokens.

    The last input is the pattern. An optional input before it marks strings that stay whole.
    """

    introduced = "2024.5"
    others = operand(ANY, variadic=True)

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        require_count(self, len(inputs), 6, 7)
        skips = len(inputs) == 7
        require_bytes("others", inputs[5 + skips])
        flags = inputs[5] if skips else Tensor(BOOLEAN_ONE, inputs[2].shape)
        return (*ragged_string_outputs(inputs[0].shape), flags)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        skips = inputs[5] if len(inputs) == 7 else None
        expression = compiled(decoded(inputs[-1].tobytes()))

        def pieces(position: int, text: bytes) -> list[Piece]:
            if skips is not None and bool(skips[position]):
                return [(0, len(text), True)]
            return _special_pieces(text, expression)

        return split(inputs, pieces)


def _special_pieces(text: bytes, expression: Any) -> list[Piece]:
    """Returns the pieces of a string, each with a flag that is true for a special token. If a match
    has a group, the token is only the text of the group."""
    string = decoded(text)
    place = byte_places(string)
    pieces: list[Piece] = []
    start = 0
    while (match := expression.search(string, start)) and match.end() > match.start():
        if start < match.start():
            pieces.append((place[start], place[match.start()], False))
        begin, end = match.span()
        for group in range(1, len(match.groups()) + 1):
            if match.start(group) >= 0 and match.end(group) > match.start(group):
                begin, end = match.span(group)
        pieces.append((place[begin], place[end], True))
        start = match.end()
    if start < len(string):
        pieces.append((place[start], len(text), False))
    return pieces


def byte_alphabet() -> list[bytes]:
    """Returns the UTF-8 characters that represent the 256 bytes in byte-level BPE.

    Printable bytes represent themselves. The other bytes have the characters from U+0100.
    """
    printable = {*range(33, 127), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = count(0x100)
    points = [byte if byte in printable else next(others) for byte in range(256)]
    return [chr(point).encode() for point in points]


class BytesToChars(RaggedStringOperation):
    """Replaces each byte by its character in byte-level BPE. Flagged strings stay unchanged."""

    introduced = "2023.3"
    skips = operand(ANY, optional=True)

    def infer(self, *inputs: Any) -> tuple[Tensor, ...]:
        outputs, skips = ragged_string_outputs(inputs[0].shape), inputs[5]
        return outputs if skips is None else (*outputs, skips)

    def evaluate(self, *inputs: Any) -> tuple[Array, ...]:
        ragged_begins, ragged_ends, begins, ends, chars, skips = inputs
        alphabet = byte_alphabet()
        strings = [
            text
            if skips is not None and skips[position]
            else b"".join(alphabet[byte] for byte in text)
            for position, text in enumerate(texts(begins, ends, chars))
        ]
        outputs = (ragged_begins, ragged_ends, *packed(strings, begins.shape))
        return outputs if skips is None else (*outputs, skips)


class CharsToBytes(RaggedStringOperation):
    """Replaces each character of byte-level BPE by its byte, and joins the strings of a row."""

    introduced = "2023.3"

    def infer(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        return string_outputs(inputs[0].shape)

    def evaluate(
        self, ragged_begins: Array, ragged_ends: Array, begins: Array, ends: Array, chars: Array
    ) -> tuple[Array, ...]:
        values = {character.decode(): byte for byte, character in enumerate(byte_alphabet())}
        strings = texts(begins, ends, chars)
        joined = []
        for row in rows(ragged_begins, ragged_ends):
            result = bytearray()
            for position in row:
                for character in decoded(strings[position]):
                    value = ord(character) if character < "\x80" else values.get(character)
                    if value is None:
                        raise ValueError(f"{character!r} does not stand for a byte")
                    result.append(value)
            joined.append(bytes(result))
        return packed(joined, ragged_begins.shape)
