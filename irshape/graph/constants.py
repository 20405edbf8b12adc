"""Arrays as the constants of a graph: their element type, and the bytes that stand for them in a
.bin."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ..types import ElementType
from .errors import GraphError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def as_array(value: Any, element_type: ElementType | None = None) -> tuple[Array, ElementType]:
    """A value as an array of an element type. Raises `GraphError` where it is none, or does not fit
    the type.

    Without a type, arrays keep theirs; Python floats are f32, integers i64, truth values boolean,
    texts string.
    """
    import numpy as np

    from ..numpy_types import dtype_of, element_type_of

    array = np.asarray(value)
    if element_type is None and not isinstance(value, (np.ndarray, np.generic)):
        element_type = (
            ElementType.of({"f": "f32", "i": "i64"}.get(array.dtype.kind, ""))
            if (array.dtype.kind in "fi")
            else None
        )
    if element_type is None:
        try:
            element_type = element_type_of(array)
        except ValueError as problem:
            raise GraphError(f"a constant cannot hold this: {problem}") from None
        return array, element_type
    if element_type.name == "string" or array.dtype.kind in "OUS":
        if element_type.name != "string":
            raise GraphError(f"texts are no constant of element type {element_type}")
        return array.astype(object), element_type
    wanted = dtype_of(element_type)
    if array.dtype == wanted:
        return array.astype(wanted, copy=False), element_type
    converted = array.astype(wanted)
    if array.dtype.kind in "fiub" and converted.dtype.kind in "iub" and not _same(array, converted):
        raise GraphError(f"{value!r} is no constant of element type {element_type}")
    return converted, element_type


def _same(array: Array, converted: Array) -> bool:
    return bool((converted == array).all())


def array_bytes(array: Array, element_type: ElementType) -> bytes:
    """The bytes of a constant as a .bin holds them."""
    from ..numpy_types import pack

    if element_type.name != "string":
        return pack(array, element_type)
    texts = [item if isinstance(item, bytes) else str(item).encode() for item in array.ravel()]
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return struct.pack(f"<{len(offsets) + 1}i", len(texts), *offsets) + b"".join(texts)
