"""Reads input arrays for a run from files, or draws them at random."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from errno import ENOTDIR
from math import prod
from pathlib import Path
from tokenize import TokenError

import numpy as np

from ..element_types import ElementType
from ..inference.engine import InputShapes, infer
from ..inference.literals import parse_array
from ..model.graph import Layer, Model
from ..numpy_types import Array, dtype_of
from ..ops.tensors import Tensor
from ..shapes import PartialShape
from .errors import ExecutionError
from .memory import least_bytes, too_much
from .sizes import Fitter

MAX_RANDOM_BYTES = 1 << 30

UNREADABLE = (
    ValueError,
    EOFError,
    MemoryError,
    OverflowError,
    SyntaxError,
    TokenError,
    zipfile.BadZipFile,
)
"""The errors that NumPy raises for a file in another format, or with an absurd size in its
header."""


def random_inputs(
    model: Model,
    seed: int = 0,
    shapes: InputShapes | None = None,
    given: Mapping[Layer, Array] | None = None,
    *,
    max_memory: int | None = None,
) -> dict[Layer, Array]:
    """Draws an array for each Parameter. Returns the arrays by Parameter.

    Reals lie in [-1, 1), integers and booleans are 0 or 1. If the name of an input contains `mask`,
    its integers and booleans are 1: the softmax of a row that the mask excludes entirely would be
    NaN. The same seed gives the same arrays.

    shapes: the shapes of some inputs, by name or by Parameter. Dimensions that remain dynamic get
    sizes that the model accepts, see `Fitter.fitting`.
    given: the caller's own arrays, by Parameter; the other arrays are drawn to fit them.
    max_memory: bytes that all arrays together may take.

    Raises `ValueError` for an input of dynamic type or rank, or if no sizes fit. Raises
    `ExecutionError`, before drawing, if the arrays would take more than `max_memory`.
    """
    inference = infer(model, shapes)
    wanted: dict[str, PartialShape] = {}
    for layer in model.parameters:
        outputs = inference.outputs(layer)
        if not outputs:
            raise ValueError(f"the input '{layer.name}' is a Parameter without an output")
        tensor = outputs[0]
        wanted[layer.id] = (
            PartialShape(given[layer].shape)
            if given is not None and layer in given
            else tensor.shape
        )
        if wanted[layer.id].dims is None:
            raise ValueError(
                f"the input '{layer.name}' is of dynamic rank; "
                f"give it a shape (--shape {layer.name}=[…])"
            )
        if tensor.element_type.is_dynamic:
            raise ValueError(
                f"the input '{layer.name}' is of dynamic element type; give it as a file"
            )
    if any(not shape.is_static for shape in wanted.values()):
        wanted = {id: PartialShape(sizes) for id, sizes in Fitter(model).fitting(wanted).items()}
    types = {layer.id: inference.outputs(layer)[0].element_type for layer in model.parameters}
    total = sum(least_bytes(Tensor(types[id], shape)) for id, shape in wanted.items())
    if max_memory is not None and total > max_memory:
        raise ExecutionError(f"the inputs of the model would take {too_much(total, max_memory)}")
    generator = np.random.default_rng(seed)
    return {
        layer: random_array(generator, types[layer.id], wanted[layer.id], layer.name)
        if given is None or layer not in given
        else given[layer]
        for layer in model.parameters
    }


_PIECE = 1 << 20
"""How many elements are drawn at a time. Drawing needs f64 or i64 numbers, which can take 16 times
as many bytes as the final elements."""


def random_array(
    generator: np.random.Generator, element_type: ElementType, shape: PartialShape, name: str
) -> Array:
    """Draws one array of a static shape."""
    sizes = shape.static
    assert sizes is not None
    total = prod(sizes)
    if total * max(element_type.bits // 8, 1) > MAX_RANDOM_BYTES:
        raise ValueError(
            f"the input '{name}' of shape {list(sizes)} would take more than "
            f"{MAX_RANDOM_BYTES >> 20} MiB; give it a smaller shape"
        )
    if element_type.kind == "string":
        texts: Array = np.array(
            [b"text %d" % number for number in generator.integers(0, 10, total)], dtype=object
        ).reshape(sizes)
        return texts
    if "mask" in name.lower() and not element_type.is_real:
        return np.ones(sizes, dtype_of(element_type))
    array: Array = np.empty(total, dtype_of(element_type))
    for start in range(0, total, _PIECE):
        piece = array[start : start + _PIECE]
        if element_type.is_real:
            piece[:] = (generator.random(piece.size) * 2 - 1).astype(piece.dtype)
        else:
            piece[:] = generator.integers(0, 2, piece.size).astype(piece.dtype)
    return array.reshape(sizes)


def array_of(text: str, element_type: ElementType) -> Array:
    """Returns the array for the text of an option: the path of a .npy file, or a value such as
    `[[1, 2]]` of the given type.

    Raises `ValueError` as `read_array` does, and for a number outside the range of the type.
    """
    value = None if Path(text).exists() else parse_array(text, special=True)
    if value is None and text.startswith("[") and not Path(text).exists():
        raise ValueError(f"'{text}' is not an array of numbers, with rows of equal length")
    if value is None or element_type.name == "string":
        return restored(read_array(text), element_type)
    shape, numbers = value
    array = np.array(numbers).reshape(shape)
    if element_type.is_dynamic:
        return array
    lacking = f"'{text}' contains a number that {element_type} cannot represent"
    try:
        with np.errstate(all="ignore"):
            cast = array.astype(dtype_of(element_type))
    except OverflowError:
        raise ValueError(lacking) from None
    if not element_type.is_real and (cast.astype(array.dtype) != array).any():
        raise ValueError(lacking)
    return cast


def read_array(path: str) -> Array:
    """Reads the array of a .npy file.

    Raises `ValueError` if the file holds no array, or holds pickled objects.
    """
    try:
        with open(path, "rb") as file:
            if not file.read(6).startswith((b"\x93NUMPY", b"PK")):
                raise ValueError("it is not a .npy file as numpy.save writes it")
            file.seek(0)
            loaded = np.load(file, allow_pickle=False)
    except UNREADABLE as problem:
        raise ValueError(f"'{path}' does not contain an array: {problem}") from None
    if not isinstance(loaded, np.ndarray):
        raise ValueError(f"'{path}' contains several arrays; use .npy files")
    return loaded


def beside(model: Model) -> dict[Layer, str]:
    """Returns the files `MODEL.input0.npy`, `MODEL.input1.npy` … that exist beside a model, by
    Parameter. A model from standard input has no such files."""
    path = Path(model.path)
    if model.path == "-":
        return {}
    files = {
        layer: path.with_suffix(f".input{number}.npy")
        for number, layer in enumerate(model.parameters)
    }
    return {layer: str(file) for layer, file in files.items() if file.is_file()}


def npy_bytes(array: Array) -> bytes:
    """Returns an array as the bytes of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, storable(array), allow_pickle=False)
    return buffer.getvalue()


def restored(array: Array, element_type: ElementType) -> Array:
    """Converts an array of a .npy file back to an element type: the inverse of `storable`."""
    if element_type.is_dynamic:
        return array
    wanted = dtype_of(element_type)
    if element_type.name == "string":
        if array.dtype.kind not in "US":
            return array
        texts = [t.encode() if isinstance(t, str) else bytes(t) for t in array.ravel().tolist()]
        return np.array(texts, dtype=object).reshape(array.shape)
    if array.dtype == wanted:
        return array.view(wanted)  # which may have a name that NumPy does not compare
    return array.astype(wanted) if array.dtype == storable(np.empty(0, wanted)).dtype else array


def storable(array: Array) -> Array:
    """Converts an array to one that a .npy file can store.

    Types that NumPy does not have become f32 if they are real, otherwise i8 or u8. Strings become
    text.
    """
    if array.dtype.kind == "O":
        return np.array(
            [
                item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
                for item in array.ravel()
            ]
        ).reshape(array.shape)
    if array.dtype.name in ("int4", "uint4", "uint2"):
        return array.astype(np.int8 if array.dtype.name == "int4" else np.uint8)
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8", "float4")):
        return array.astype(np.float32)
    return array


def file_name(name: str, taken: set[str]) -> str:
    """Returns a file name for an output: without separators or leading dots, and different from the
    names in `taken`."""
    safe = (
        "".join(char if char.isalnum() or char in "._-" else "_" for char in name).strip(".")[:100]
        or "output"
    )
    candidate, number = safe, 1
    while candidate.lower() in taken:
        number += 1
        candidate = f"{safe}_{number}"
    taken.add(candidate.lower())
    return candidate + ".npy"


def existing_folder(path: str) -> Path:
    """Creates a folder if it does not exist, and returns it. Raises `OSError`."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:
        raise NotADirectoryError(ENOTDIR, "is a file, not a folder", problem.filename) from None
    return folder
