"""Shared code of the operations of openvino_tokenizers.

A string tensor is represented by three tensors. Two contain the begin and the end of each string
(i32, of the shape of the string tensor), and one the bytes of all strings (u8, one axis). A ragged
tensor has two more tensors in front: the positions where each row begins and ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...element_types import DYNAMIC_TYPE, ElementType, types
from ...faults import require
from ...rule_ids import INPUT_COUNT
from ...shapes import DYNAMIC, PartialShape
from ...spelling import with_noun
from ..conditions import of_type, rank
from ..declaration import LibraryOperation, operand
from ..lazy import Array, np
from ..operands import Operand
from ..tensors import Tensor

I32 = ElementType.of("i32")
I64 = ElementType.of("i64")
U8 = ElementType.of("u8")
BOOLEAN_ONE = ElementType.of("boolean")
STRING_ONE = ElementType.of("string")
U8_ONLY = types("u8")
ONE_AXIS = PartialShape([DYNAMIC])


class TokenizerOperation(LibraryOperation):
    """The base class of the operations of openvino_tokenizers.

    Source of all attributes, types, shapes and values: the C++ code of openvino_tokenizers 2026.4.
    The source files have the names of the operations.
    """

    library = "openvino_tokenizers"
    package = "openvino-tokenizers"


def i32_operand() -> Operand:
    """Declares an input of element type i32."""
    return operand(types("i32"), known_type=True)


def string_tensor() -> tuple[Operand, Operand, Operand]:
    """Declares the three inputs of a string tensor."""
    return i32_operand(), i32_operand(), operand(U8_ONLY, known_type=True)


class StringOperation(TokenizerOperation):
    """The base class of operations on a string tensor.

    By default, an operation returns a string tensor of the same shape.
    """

    begins, ends, chars = string_tensor()

    def infer(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return string_outputs(inputs[0].shape)


def require_types(tensors: Sequence[Tensor], *names: str) -> None:
    """Raises `Violation` unless inputs named `…chars` are u8 and the other inputs are i32.

    OpenVINO refuses all other types, and a dynamic type.
    """
    for name, tensor in zip(names, tensors, strict=False):
        of_type(tensor.element_type, U8 if name.endswith("chars") else I32, at=name)


def require_bytes(name: str, tensor: Tensor) -> None:
    """Raises `Violation` unless the input is a single text: a list of u8."""
    if tensor.element_type is not DYNAMIC_TYPE:
        of_type(tensor.element_type, U8, at=name)
    rank(tensor.rank, 1, at=name)


def require_count(operation: TokenizerOperation, count: int, *allowed: int) -> None:
    """Raises `Violation` unless the layer has one of the allowed numbers of inputs."""
    wanted = ", ".join(map(str, allowed[:-1])) + " or " * (len(allowed) > 1) + str(allowed[-1])
    require(
        count in allowed,
        f"{operation.type_name()} takes {with_noun(wanted, 'input')}, got {count}",
        expected=wanted,
        actual=count,
        rule=INPUT_COUNT,
    )


def string_outputs(shape: PartialShape) -> tuple[Tensor, ...]:
    """Returns the abstract tensors of a string tensor: begins, ends and bytes."""
    return ragged_outputs(shape, U8)


def ragged_outputs(shape: PartialShape, element_type: ElementType) -> tuple[Tensor, ...]:
    """Returns the abstract tensors of a ragged tensor of numbers: begins, ends and elements."""
    rows = Tensor(I32, shape)
    return rows, rows, Tensor(element_type, ONE_AXIS)


def ragged_string_outputs(shape: PartialShape) -> tuple[Tensor, ...]:
    """Returns the five abstract tensors of a ragged tensor of strings."""
    rows, places = Tensor(I32, shape), Tensor(I32, ONE_AXIS)
    return rows, rows, places, places, Tensor(U8, ONE_AXIS)


def texts(begins: Array, ends: Array, chars: Array) -> list[bytes]:
    """Returns the strings of a string tensor that is given as begins, ends and bytes.

    The strings are in row-major order.
    """
    run = chars.tobytes()
    places = zip(begins.ravel().tolist(), ends.ravel().tolist(), strict=True)
    return [run[begin:end] for begin, end in places]


def packed(strings: Sequence[bytes], shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Returns the arrays of a string tensor of this shape: begins, ends and concatenated bytes."""
    return (*_bounds(strings, shape), np.frombuffer(b"".join(strings), np.uint8))


def _bounds(parts: Sequence[Sequence[int]], shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Returns the begins and ends of parts that are concatenated, as arrays of this shape."""
    lengths = np.fromiter(map(len, parts), np.int32, len(parts))
    ends = np.cumsum(lengths, dtype=np.int32)
    return (ends - lengths).reshape(shape), ends.reshape(shape)


def rows(ragged_begins: Array, ragged_ends: Array) -> Iterable[range]:
    """Returns, for each row, the positions of its elements."""
    places = zip(ragged_begins.ravel().tolist(), ragged_ends.ravel().tolist(), strict=True)
    return (range(begin, end) for begin, end in places)


def ragged(lists: Sequence[Sequence[int]], shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Returns the arrays of a ragged tensor of i32, from its rows: begins, ends and elements."""
    flat = np.fromiter((number for row in lists for number in row), np.int32)
    return (*_bounds(lists, shape), flat)
