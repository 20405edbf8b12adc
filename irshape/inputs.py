"""Inputs for a run: read from files, or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .inference.engine import infer
from .model import Model
from .numpy_types import dtype_of
from .types import Dimension, ElementType, PartialShape, ShapeLike

Array = np.ndarray[Any, np.dtype[Any]]

DYNAMIC_SIZE = 2
"""The size that a random input has where nothing else is said, as far as the bounds allow."""

MAX_RANDOM_BYTES = 1 << 30


def random_inputs(model: Model, seed: int = 0, shapes: Mapping[str, ShapeLike] | None = None) -> dict[str, Array]:
    """An array for each Parameter, by layer id: reals in [-1, 1), integers and booleans 0 or 1. The same seed gives the same arrays.

    shapes: those of inputs, by any name; dimensions still dynamic become `DYNAMIC_SIZE`. Raises `ValueError` where a type or shape leaves nothing to draw.
    """
    inference = infer(model, shapes)
    generator = np.random.default_rng(seed)
    drawn: dict[str, Array] = {}
    for layer in model.parameters:
        tensor = inference.outputs(layer)[0]
        drawn[layer.id] = random_array(generator, tensor.element_type, tensor.shape, layer.name)
    return drawn


def random_array(generator: np.random.Generator, element_type: ElementType, shape: PartialShape, name: str) -> Array:
    """One random array."""
    if shape.dims is None:
        raise ValueError(f"the input '{name}' is of dynamic rank; give it a shape (--shape {name}=[…])")
    if element_type.is_dynamic:
        raise ValueError(f"the input '{name}' is of dynamic element type; give it as a file")
    sizes = tuple(_size(dim) for dim in shape.dims)
    total = 1
    for size in sizes:
        total *= size
    if total * max(element_type.bits // 8, 1) > MAX_RANDOM_BYTES:
        raise ValueError(f"the input '{name}' of shape {list(sizes)} would take more than {MAX_RANDOM_BYTES >> 20} MiB; give it a smaller shape")
    if element_type.kind == "string":
        made: Array = np.array([b"text %d" % number for number in generator.integers(0, 10, total)], dtype=object).reshape(sizes)
        return made
    if element_type.is_real:
        return (generator.random(sizes) * 2 - 1).astype(dtype_of(element_type))
    return generator.integers(0, 2, sizes).astype(dtype_of(element_type))


def _size(dim: Dimension) -> int:
    return dim.low if dim.is_static else min(max(dim.low, DYNAMIC_SIZE), dim.high)


def read_array(path: str) -> Array:
    """The array of a .npy file. Raises `ValueError` where it holds none; pickled objects are refused."""
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise ValueError(f"'{path}' holds no array: {problem}") from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"'{path}' holds several arrays; give .npy files")
    return found


def storable(array: Array) -> Array:
    """An array as a .npy file can hold it: types that NumPy has not become f32 (real) or i8/u8, strings text."""
    if array.dtype.kind == "O":
        return np.array([item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in array.ravel()]).reshape(array.shape)
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8", "float4")):
        return array.astype(np.float32)
    if array.dtype.name in ("int4", "uint4", "uint2"):
        return array.astype(np.int8 if array.dtype.name == "int4" else np.uint8)
    return array


def file_name(name: str, taken: set[str]) -> str:
    """A name for the file of an output: no separators, nothing hidden, not taken yet."""
    safe = "".join(char if char.isalnum() or char in "._-" else "_" for char in name).strip(".")[:100] or "output"
    candidate, number = safe, 1
    while candidate.lower() in taken:
        number += 1
        candidate = f"{safe}_{number}"
    taken.add(candidate.lower())
    return candidate + ".npy"


def existing_folder(path: str) -> Path:
    """A folder, made where it is not there. Raises `OSError`."""
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
