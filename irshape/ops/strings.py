"""Operations on tensors of strings. Strings are represented as bytes."""

from __future__ import annotations

from ..element_types import ElementType
from ..shapes import DYNAMIC, Dimension, PartialShape
from .conditions import between, equal
from .declaration import I32_I64, Operation, operand, types
from .lazy import Array, np
from .tensors import Tensor


class StringTensorPack(Operation):
    """Makes strings from parts of one array of bytes, from the positions `begins` to `ends`."""

    since = 15
    released = ((15, "2024.4"),)
    begins = operand(I32_I64, known_type=True, value=True)
    ends = operand(I32_I64, known_type=True, like="begins", value=True)
    symbols = operand(types("u8"), known_type=True, rank=1)

    def infer(self, begins: Tensor, ends: Tensor, symbols: Tensor) -> Tensor:
        shape = equal(ends.shape, begins.shape, at="ends", of="begins")
        most = symbols.shape.size.high
        for name, tensor in (("begins", begins), ("ends", ends)):
            between(tensor.known or (), 0, most, at=name)
        return Tensor(ElementType.of("string"), shape)

    def evaluate(self, begins: Array, ends: Array, symbols: Array) -> Array:
        text = symbols.tobytes()
        result = np.empty(begins.size, object)
        result[:] = [
            text[begin:end]
            for begin, end in zip(begins.ravel().tolist(), ends.ravel().tolist(), strict=True)
        ]
        return result.reshape(begins.shape)


class StringTensorUnpack(Operation):
    """Joins the bytes of all strings. Returns where each string begins and ends, and the bytes."""

    since = 15
    released = ((15, "2024.4"),)
    data = operand(types("string"), known_type=True)

    def infer(self, data: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        places = Tensor(ElementType.of("i32"), data.shape)
        count = Dimension(0) if data.shape.size == 0 else DYNAMIC
        return places, places, Tensor(ElementType.of("u8"), PartialShape([count]))

    def evaluate(self, data: Array) -> tuple[Array, Array, Array]:
        texts = [
            text if isinstance(text, bytes) else str(text).encode()
            for text in data.ravel().tolist()
        ]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int32).reshape(data.shape)
        begins = (
            np.concatenate([[0], ends.ravel()[:-1]])
            .astype(np.int32)[: data.size]
            .reshape(data.shape)
        )
        return begins, ends, np.frombuffer(b"".join(texts), np.uint8)
