"""Normalizes strings by a map from characters to texts, as SentencePiece does.

At each position of a string, the longest entry of the map is replaced. A precompiled map contains a
double-array trie and the replacements. Other maps are computed from Python's Unicode data.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Literal

Prefix = Callable[[bytes, int], tuple[int, bytes]]
"""A function that returns the number of bytes to replace at a position, and their replacement. The
number is 0 if no entry matches."""

_LATER = (
    (0xA7CB, 0xA7CF),
    (0xA7D2, 0xA7D4),
    (0xA7DA, 0xA7DC),
    (0x105C0, 0x105FF),
    (0x10D40, 0x10D8F),
    (0x11380, 0x113FF),
    (0x16100, 0x1613F),
    (0x16D40, 0x16D7F),
    (0x16EA0, 0x16EDF),
    (0x1CC00, 0x1CEBF),
    (0x1E030, 0x1E08F),
)
"""Code points that got a decomposition or a case in Unicode 15 or later. The maps of
openvino_tokenizers are older and leave these code points unchanged."""

_SPACE_SYMBOL = "\u2581".encode()


class PrecompiledMap:
    """A map as SentencePiece stores it: size of the trie, trie, and texts that end in NUL."""

    def __init__(self, blob: bytes) -> None:
        if len(blob) <= 4:
            raise ValueError("the map of characters has 4 bytes or fewer")
        (size,) = struct.unpack_from("<I", blob)
        if size >= len(blob) or size % 4:
            raise ValueError(f"the map of characters has an invalid trie size: {size} bytes")
        self.units = struct.unpack_from(f"<{size // 4}I", blob, 4)
        self.texts = blob[4 + size :]

    def prefix(self, text: bytes, start: int) -> tuple[int, bytes]:
        """Returns the length of the longest entry at a position, and its replacement."""
        units, node, longest, value = self.units, 0, 0, -1
        node ^= _offset(units[0])
        for position in range(start, len(text)):
            byte = text[position]
            if byte == 0:
                break
            node ^= byte
            if node >= len(units):
                break
            unit = units[node]
            if unit & 0x800000FF != byte:
                break
            node ^= _offset(unit)
            if unit >> 8 & 1 and node < len(units):
                longest, value = position + 1 - start, units[node] & 0x7FFFFFFF
        if value < 0:
            return 0, b""
        return longest, self.texts[value : self.texts.index(b"\0", value)]


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


@lru_cache(maxsize=8)
def precompiled(blob: bytes) -> Prefix:
    """Returns the look-up function of a precompiled map. Raises `ValueError` if it is malformed."""
    return PrecompiledMap(blob).prefix if blob else lambda text, start: (0, b"")


@lru_cache(maxsize=16)
def unicode_map(form: str, fold: bool) -> Prefix:
    """Returns the look-up function for a Unicode normalization form.

    form: `NFC`, `NFD`, `NFKC`, `NFKD`, or `identity`.
    fold: whether simple case folding follows.
    """
    form = form.upper()
    if form not in ("NFC", "NFD", "NFKC", "NFKD", "IDENTITY"):
        raise ValueError(f"there is no normalization form '{form}'")
    compositions = _compositions(form) if form in ("NFC", "NFKC") else {}
    longest = max(map(len, compositions), default=1)

    @cache
    def single(character: str) -> bytes:
        if any(first <= ord(character) <= last for first, last in _LATER):
            return character.encode()
        text = character if form == "IDENTITY" else unicodedata.normalize(form, character)  # type: ignore[arg-type]
        return (folded(text) if fold else text).encode()

    def prefix(text: bytes, start: int) -> tuple[int, bytes]:
        size = character_size(text, start)
        try:
            character = text[start : start + size].decode()
        except UnicodeDecodeError:
            return 0, b""
        if compositions and size > 0:
            ahead = text[start : start + 4 * longest].decode(errors="ignore")
            for count in range(min(longest, len(ahead)), 1, -1):
                composed = compositions.get(ahead[:count])
                if composed is not None:
                    result = folded(composed) if fold else composed
                    return len(ahead[:count].encode()), result.encode()
        return size, single(character)

    return prefix


@lru_cache(maxsize=2)
def _compositions(form: str) -> dict[str, str]:
    """Maps each sequence of characters to its composition, as SentencePiece enumerates them.

    There is a sequence for every way to write the full decomposition of a character.
    """
    from itertools import product

    decomposition: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    others: dict[str, list[str]] = {}
    decomposed: set[str] = set()
    for character in map(chr, range(1, 0x110000)):  # surrogates have no decomposition
        whole = unicodedata.normalize(decomposition, character)
        if len(whole) > 1:
            decomposed.add(whole)
        elif whole != character:
            others.setdefault(whole, [whole]).append(character)
    compositions: dict[str, str] = {}
    for whole in decomposed:
        composed = unicodedata.normalize("NFC", whole)
        if composed == whole:
            continue
        for written in product(*(others.get(character, [character]) for character in whole)):
            text = "".join(written)
            if text != composed:
                compositions[text] = composed
    return compositions


def folded(text: str) -> str:
    """Returns a text with simple case folding: every character becomes one character."""
    result = []
    for character in text:
        fold = character.casefold()
        if len(fold) != 1:
            fold = character.lower()
        result.append(fold if len(fold) == 1 else character)
    return "".join(result)


def character_size(text: bytes, start: int) -> int:
    """Returns how many bytes the character at a position has, up to the end of the text.

    The first byte of the character determines the number.
    """
    first = text[start]
    size = 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    return min(size, len(text) - start)


def normalized(
    text: bytes,
    prefix: Prefix,
    *,
    dummy_prefix: bool = False,
    remove_spaces: bool = False,
    escape_spaces: bool = False,
) -> bytes:
    """Returns a string as SentencePiece's Normalizer normalizes it."""
    pieces = list(_replaced(text, prefix))
    if remove_spaces:
        while pieces and pieces[0] == b" ":
            pieces.pop(0)
    if not pieces:
        return b""
    space = _SPACE_SYMBOL if escape_spaces else b" "
    result = bytearray(space if dummy_prefix else b"")
    previous_space = remove_spaces
    for piece in pieces:
        kept = piece.lstrip(b" ") if previous_space else piece
        if kept:
            result += kept.replace(b" ", space) if escape_spaces else kept
            previous_space = remove_spaces and kept.endswith(b" ")
    if remove_spaces:
        while result.endswith(space):
            del result[-len(space) :]
    return bytes(result)


def _replaced(text: bytes, prefix: Prefix) -> list[bytes]:
    """Returns the pieces of a text, with each piece that the map contains replaced."""
    pieces = []
    start = 0
    while start < len(text):
        size, result = prefix(text, start)
        if size == 0:
            size = character_size(text, start)
            result = text[start : start + size]
            if not _is_character(result):
                size, result = 1, "\ufffd".encode()
        pieces.append(result)
        start += size
    return pieces


def _is_character(piece: bytes) -> bool:
    try:
        return len(piece.decode()) == 1
    except UnicodeDecodeError:
        return False
