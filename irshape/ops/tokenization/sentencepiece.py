"""Tokenizers with a SentencePiece model. irshape infers only their types and shapes."""

from __future__ import annotations

from ...shapes import DYNAMIC, PartialShape
from ..conditions import of_type
from ..declaration import ANY, attribute, operand, types
from ..kinds import BOOLEAN, FLOAT, INT
from ..tensors import Tensor
from .base import (
    I32,
    I64,
    ONE_AXIS,
    U8_ONLY,
    TokenizerOperation,
    require_count,
    require_types,
    string_outputs,
)


class SentencepieceTokenizer(TokenizerOperation):
    """Converts strings to token ids with a SentencePiece model, as a sparse tensor.

    The outputs are indices, values and shape. The inputs are the model, the strings (one input, or
    begins, ends and chars), and optional special tokens (begins, ends, chars, numbers).
    """

    introduced = "2023.3"
    model = operand(U8_ONLY, known_type=True)
    strings = operand(ANY, variadic=True)
    nbest_size: int = attribute(INT, default=0)
    alpha: float = attribute(FLOAT, default=0.0)
    add_bos: bool = attribute(BOOLEAN, default=False)
    add_eos: bool = attribute(BOOLEAN, default=False)
    reverse: bool = attribute(BOOLEAN, default=False)

    def infer(self, model: Tensor, *strings: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        count = 1 + len(strings)
        require_count(self, count, 2, 4, 6, 8)
        if count in (2, 6):
            of_type(strings[0].element_type, types("string f32"), at="strings")
        else:
            require_types(strings, "begins", "ends", "chars")
        if count > 4:
            names = ("special_begins", "special_ends", "special_chars", "special_ids")
            require_types(strings[-4:], *names)
        return (
            Tensor(I64, PartialShape([DYNAMIC, 2])),
            Tensor(I32, ONE_AXIS),
            Tensor(I64, PartialShape([2])),
        )


class SentencepieceDetokenizer(TokenizerOperation):
    """Converts sequences of token ids to strings with a SentencePiece model."""

    introduced = "2023.3"
    model = operand(U8_ONLY, known_type=True)
    tokens = operand(types("i32 i64"), rank=2)

    def infer(self, model: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
        return string_outputs(PartialShape([tokens.shape[0] if tokens.rank else DYNAMIC]))


class SentencepieceStreamDetokenizer(SentencepieceDetokenizer):
    """Converts token ids to strings piece by piece. Byte tokens become their bytes."""

    introduced = "2023.3"
