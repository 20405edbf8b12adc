"""Reads the .bin beside an IR. It maps the file, unpacks packed element types, and decodes strings.

A constant has `size` bytes at `offset`, in little-endian order. OpenVINO 2026.4 packs the elements
as follows:

- u4, i4, nf4, f4e2m1: two elements to a byte, the first in the low half
- u2: four to a byte, the first in the low bits
- u1: eight to a byte, the first in the high bit
- u3, u6: groups of three bytes
- string: a count, offsets, then the bytes of all strings
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..element_types import ElementType
from ..shapes import BLANKS, PartialShape
from ..spelling import with_noun
from .joined_buffers import Pieces
from .ranges import Ranges

if TYPE_CHECKING:
    import numpy as np

State = Literal["ready", "absent", "missing", "empty", "lfs", "unreadable"]
_LFS = b"version https://git-lfs.github.com/spec/"
FORMATS = {
    "i64": "q",
    "u64": "Q",
    "i32": "i",
    "u32": "I",
    "i16": "h",
    "u16": "H",
    "i8": "b",
    "u8": "B",
    "boolean": "B",
    "f32": "f",
    "f64": "d",
    "f16": "e",
}
"""The `struct` format of an element of each type that `struct` knows."""


class Weights:
    """The bytes of a .bin, or the reason why there are none.

    `state` is `ready`, `absent` (the caller asked for no .bin), `missing` (the file does not
    exist), `empty`, `lfs` (the file is a Git LFS pointer) or `unreadable`.
    """

    def __init__(
        self,
        path: str | None,
        data: bytes | mmap.mmap | Pieces | Ranges | None,
        state: State,
        detail: str = "",
    ) -> None:
        self.path = path
        self.data = data
        self.state = state
        self.detail = detail
        self.reads: set[tuple[int, int]] | None = None
        """A set to which the offset and size of every read are added; None to record nothing."""

    def __repr__(self) -> str:
        return f"<Weights {self.path or 'in memory'}, {self.state}>"

    @staticmethod
    def open(path: str | os.PathLike[str] | None) -> Weights:
        """Maps a .bin into memory. Never raises an exception: `state` says what is wrong."""
        if path is None:
            return Weights(None, None, "absent")
        text = os.fspath(path)
        try:
            if not os.path.isfile(text):
                state: State = "unreadable" if os.path.exists(text) else "missing"
                return Weights(
                    text, None, state, "not a regular file" if state == "unreadable" else ""
                )
            with open(text, "rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    return Weights(text, b"", "empty")
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as problem:
            return Weights(
                text, None, "unreadable", getattr(problem, "strerror", None) or str(problem)
            )
        if is_lfs_pointer(data[: len(_LFS)]):
            data.close()
            return Weights(text, None, "lfs")
        return Weights(text, data, "ready")

    def __deepcopy__(self, memo: dict[int, object]) -> Weights:
        """Returns a copy that shares the bytes, since no code changes them."""
        return Weights(self.path, self.data, self.state, self.detail)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles a mapped .bin as its path, and maps it again later. Pickles other bytes
        themselves."""
        if isinstance(self.data, mmap.mmap):
            if self.path is not None:
                return (Weights.open, (self.path,))
            return (Weights, (None, self.data[:], self.state, self.detail))
        return (Weights, (self.path, self.data, self.state, self.detail))

    @property
    def fault(self) -> str | None:
        """The reason why there are no bytes; None if there are bytes."""
        return {
            "absent": "the model was read without its .bin",
            "missing": f"there is no '{self.path}', the .bin of the model",
            "empty": f"the .bin '{self.path}' is empty",
            "lfs": f"the .bin '{self.path}' is a Git-LFS pointer; run `git lfs pull`",
            "unreadable": f"the .bin '{self.path}' cannot be read: {self.detail}",
        }.get(self.state)

    @property
    def size(self) -> int:
        """The number of bytes; 0 if there is no .bin."""
        return len(self.data) if self.data is not None else 0

    def holds(self, offset: int, size: int) -> bool:
        """Whether the .bin contains all `size` bytes at `offset`."""
        data = self.data
        if isinstance(data, (Pieces, Ranges)):
            return data.holds(offset, size)
        return data is not None and offset >= 0 and size >= 0 and offset + size <= len(data)

    def bytes_at(self, offset: int, size: int) -> bytes | None:
        """Returns a copy of `size` bytes at `offset`; None if some are missing."""
        if self.data is None or not self.holds(offset, size):
            return None
        if self.reads is not None:
            self.reads.add((offset, size))
        return self.data[offset : offset + size]

    @contextmanager
    def read_sparsely(self) -> Iterator[None]:
        """Keeps the system from reading ahead while a caller reads a few bytes in many places.

        Reading ahead takes up to 0.2 ms for each place, and increases the memory of the process.
        """
        mapped = self.data if isinstance(self.data, mmap.mmap) else None
        if mapped is None or not hasattr(mmap, "MADV_RANDOM"):  # Windows has no MADV_RANDOM
            yield
            return
        mapped.madvise(mmap.MADV_RANDOM)
        try:
            yield
        finally:
            mapped.madvise(mmap.MADV_NORMAL)

    def view(self, offset: int, size: int) -> memoryview:
        """Returns `size` bytes at `offset` without copying them."""
        assert self.data is not None
        if self.reads is not None:
            self.reads.add((offset, size))
        return (
            self.data.view(offset, size)
            if isinstance(self.data, (Pieces, Ranges))
            else memoryview(self.data)[offset : offset + size]
        )


def is_lfs_pointer(data: bytes) -> bool:
    """Whether a file that begins with these bytes is a Git LFS pointer."""
    return data.startswith(_LFS)


def raw_bytes(constant: Constant) -> bytes | None:
    """Returns the bytes of a constant; None if the .bin has fewer bytes than the shape needs."""
    weights = constant.weights
    if weights is None or min(constant.shape, default=0) < 0:
        return None
    return weights.bytes_at(constant.offset, _needed(constant))


def _needed(constant: Constant) -> int:
    """Returns the number of bytes that the shape of a constant needs."""
    element_type = constant.element_type
    return (
        constant.size
        if element_type.name == "string"
        else element_type.byte_size(constant.elements)
    )


def small_values(constant: Constant) -> tuple[int | float, ...] | None:
    """Returns the elements of a constant as Python numbers, without NumPy for most types.

    Returns None for strings, for a dynamic type, and if the .bin does not contain the bytes.
    """
    raw = raw_bytes(constant)
    element_type = constant.element_type
    if raw is None or element_type.name == "string" or element_type.is_dynamic:
        return None
    code = FORMATS.get(element_type.name)
    if code is not None:
        numbers: tuple[int | float, ...] = struct.unpack(f"<{constant.elements}{code}", raw)
        return (
            tuple(1 if number else 0 for number in numbers)
            if element_type.kind == "boolean"
            else numbers
        )
    values = array(constant)
    return None if values is None else tuple(values.ravel().tolist())


def number_bytes(values: Any, element_type: ElementType) -> tuple[tuple[int, ...], bytes] | None:
    """Returns the shape and the bytes of a Python number, or of a list of numbers, without NumPy.

    Returns None in cases that need NumPy: other element types, nested lists, and numbers that the
    type cannot represent.
    """
    numbers = list(values) if isinstance(values, (list, tuple)) else [values]
    code = FORMATS.get(element_type.name)
    if code is None or not {type(number) for number in numbers} <= {int, float, bool}:
        return None
    if element_type.kind == "boolean":
        numbers = [1 if number else 0 for number in numbers]
    try:
        data = struct.pack(f"<{len(numbers)}{code}", *numbers)
    except (struct.error, OverflowError):
        return None
    return ((len(numbers),) if isinstance(values, (list, tuple)) else ()), data


def array(constant: Constant) -> np.ndarray | None:
    """Returns the elements of a constant as an array of its NumPy type (see `numpy_types`).

    The array is a view of the mapped .bin, except for packed types and strings. Returns None if the
    .bin does not contain the bytes, and for malformed strings.
    """
    import numpy as np

    from ..numpy_types import dtype_of, unpack

    element_type, weights, needed = constant.element_type, constant.weights, _needed(constant)
    if (
        weights is None
        or weights.data is None
        or min(constant.shape, default=0) < 0
        or not weights.holds(constant.offset, needed)
    ):
        return None
    raw = weights.view(constant.offset, needed) if needed else b""
    if element_type.name == "string":
        strings = _strings(raw, constant.elements)
        if isinstance(strings, str):
            return None
        return np.array(strings, dtype=object).reshape(constant.shape)
    elements = np.frombuffer(raw, np.uint8)
    elements = (
        unpack(elements, element_type, constant.elements)
        if element_type.is_packed
        else elements.view(dtype_of(element_type))
    )
    return elements.reshape(constant.shape)


def _strings(raw: bytes | memoryview, count: int) -> list[bytes] | str:
    """Returns the strings of a constant or, if its bytes are faulty, a message about the fault.

    The bytes begin with the number of strings, the offset of each string, and the offset of the
    end, all as int32.
    """
    if len(raw) < 4:
        size = with_noun(len(raw), "byte")
        return f"the first 4 bytes are the number of strings, but the constant has {size}"
    (stored,) = struct.unpack_from("<i", raw)
    if stored < 0 or stored != count:
        held, wanted = with_noun(stored, "string"), with_noun(count, "element")
        return f"the .bin holds {held}, but the shape has {wanted}"
    if len(raw) < 4 * (count + 2):
        offsets = f"{with_noun(count + 1, 'offset')} of {with_noun(count, 'string')}"
        return f"`size` is {len(raw)}, too small for the {offsets}, 4 bytes each"
    text = bytes(raw[4 * (count + 2) :])
    spans = list(pairwise(struct.unpack_from(f"<{count + 1}i", raw, 4)))
    for number, (start, end) in enumerate(spans):
        if not 0 <= start <= end <= len(text):
            return f"string {number} is at bytes {start} to {end} of {len(text)}"
    return [text[start:end] for start, end in spans]


def string_bytes(texts: Sequence[bytes]) -> bytes:
    """Returns the bytes of a constant of strings, in the form that `_strings` reads."""
    offsets = [0, *accumulate(map(len, texts))]
    return struct.pack(f"<i{len(offsets)}i", len(texts), *offsets) + b"".join(texts)


def strings_fault(constant: Constant) -> str | None:
    """Returns a message about faulty bytes of a constant of strings; None if the bytes are correct,
    or if the .bin does not contain them."""
    raw = raw_bytes(constant)
    strings = [] if raw is None else _strings(raw, constant.elements)
    return strings if isinstance(strings, str) else None


@lru_cache(maxsize=4096)
def _sizes(text: str) -> tuple[int, ...]:
    text = text.strip(BLANKS)
    if not (text.isascii() and "_" not in text and "+" not in text):
        raise ValueError(text)
    return tuple(map(int, text.split(","))) if text else ()


_INTEGER = re.compile(r"\s*[-+]?[0-9]+", re.ASCII)


def _number(text: str) -> int:
    """Returns the integer that a text consists of. Raises `ValueError` for any other text.

    For a number with too many digits for `int`, returns 10^30 or -10^30.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    if len(text) > 1000:
        return -(10**30) if "-" in text else 10**30
    return int(text)


def moved_to(offset: int, items: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the attributes of a Const with another `offset`."""
    at = items.index("offset") + 1
    return items if items[at] == str(offset) else (*items[:at], str(offset), *items[at + 1 :])


class Constant(NamedTuple):
    """A constant: its type, its shape, and its bytes in the .bin."""

    element_type: ElementType
    shape: tuple[int, ...]
    offset: int
    size: int
    weights: Weights | None

    @staticmethod
    def of(items: tuple[str, ...], weights: Weights | None) -> Constant:
        """Returns the constant that the attributes of a Const (`Layer.items`) describe.

        Raises `ValueError` if they do not describe one.
        """
        if (
            len(items) == 8
            and items[0] == "element_type"
            and items[2] == "shape"
            and items[4] == "offset"
            and items[6] == "size"
        ):
            name, shape, offset, size = items[1::2]  # as OpenVINO writes it
        else:
            values = dict(zip(items[::2], items[1::2], strict=True))
            name, shape, offset, size = (
                values.get(key, "") for key in ("element_type", "shape", "offset", "size")
            )
        return Constant(
            ElementType.of(name), _sizes(shape), _number(offset), _number(size), weights
        )

    @property
    def partial_shape(self) -> PartialShape:
        """The shape as a `PartialShape`."""
        return PartialShape(self.shape)

    def array(self) -> np.ndarray:
        """Returns the elements as an array of the constant's shape, in its NumPy type (see
        `numpy_types`).

        The array is a read-only view of the mapped .bin, except for packed types and strings.
        Raises `ValueError` if the .bin does not contain the elements, or has malformed strings.
        """
        elements = array(self)
        if elements is None:
            weights = self.weights or Weights(None, None, "absent")
            where = f"the .bin {weights.path}" if weights.path else "the .bin"
            wrong = f"{where} does not have {with_noun(self.size, 'byte')} at offset {self.offset}"
            malformed = strings_fault(self) if self.element_type.name == "string" else None
            raise ValueError(weights.fault or malformed or wrong)
        return elements

    @property
    def elements(self) -> int:
        """The number of elements."""
        return prod(self.shape)
