"""RandomUniform, with the random number generators of TensorFlow and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Fault, Violation, require
from ...rule_ids import INPUT_VALUE
from ...shapes import DYNAMIC, PartialShape
from ..axes import MAX_RANK
from ..declaration import I32_I64, Operation, attribute, operand, types
from ..differences import Site, facts, ignored, not_run
from ..kinds import NATURAL, TYPE_NAME, Choice
from ..lazy import Array, element_type_of, np
from ..movement.broadcasting import negative_sizes, wanted_shape
from ..tensors import Tensor

PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


def philox(key: int, counter: int, blocks: int) -> Array:
    """Returns words of the random number generator Philox 4x32-10: four for each of `blocks` draws.

    `key` and `counter` are the two seeds.
    """
    low32 = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    number = np.arange(blocks, dtype=np.uint64)
    a, b = number & low32, number >> half
    c, d = (np.full(blocks, each, np.uint64) for each in (counter & 0xFFFFFFFF, counter >> 32))
    first, second = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        left, right = a * np.uint64(PHILOX_MULTIPLIERS[0]), c * np.uint64(PHILOX_MULTIPLIERS[1])
        a, b, c, d = (
            (right >> half) ^ b ^ np.uint64(first),
            right & low32,
            (left >> half) ^ d ^ np.uint64(second),
            left & low32,
        )
        first = (first + PHILOX_KEY_STEPS[0]) & 0xFFFFFFFF
        second = (second + PHILOX_KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([a, b, c, d], axis=1).astype(np.uint32).ravel()


def mersenne_twister(seed: int, words: int) -> Array:
    """Returns 32-bit words of the generator MT19937, seeded as in PyTorch."""
    return np.random.RandomState(seed & 0xFFFFFFFF).randint(0, 1 << 32, words, dtype=np.uint32)


def _alignment(site: Site) -> bool:
    return site.attribute("alignment") == "pytorch"


class RandomUniform(Operation):
    """Random numbers from `min_val` up to, but not including, `max_val`.

    The generator is that of TensorFlow (Philox) or PyTorch (Mersenne Twister). In OpenVINO, each
    run of the model draws the next numbers. irshape always draws the numbers of the first run; if
    both seeds are 0, they differ each time.
    """

    since = 8
    differs = facts(
        ignored(
            "2024.3",
            'alignment="pytorch" of a RandomUniform',
            "generates other numbers",
            _alignment,
        ),
        not_run("2025.0", 'alignment="pytorch" of a RandomUniform', _alignment, since="2024.3"),
    )
    out_shape = operand(I32_I64, rank=1, value=True)
    min_val = operand(types("f64 f32 f16 bf16 i64 i32"), single=True, value=True)
    max_val = operand(types("f64 f32 f16 bf16 i64 i32"), single=True, value=True)
    output_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)
    global_seed: int = attribute(NATURAL, default=0)
    op_seed: int = attribute(NATURAL, default=0)
    alignment: str = attribute(Choice("tensorflow", "pytorch"), default="tensorflow")

    def infer(self, out_shape: Tensor, min_val: Tensor, max_val: Tensor) -> Tensor:
        for name, tensor in (("min_val", min_val), ("max_val", max_val)):
            seen, wanted = tensor.element_type, self.output_type
            fits = seen is wanted and not wanted.is_dynamic
            require(fits, at=name, relation="type", expected=wanted, actual=seen)
        low, high = (tensor.value and tensor.value.exact for tensor in (min_val, max_val))
        if low and high and not low[0] < high[0]:
            less = f"a number below {high[0]}, `max_val`"
            raise Violation(at="min_val", expected=less, actual=low[0], rule=INPUT_VALUE)
        shape = wanted_shape(out_shape)
        length = out_shape.shape[0] if out_shape.rank else DYNAMIC
        if out_shape.value is None and length.high <= MAX_RANK and not length.symbolic:
            shape = PartialShape.of_rank(length.high)  # as OpenVINO assumes
        return Tensor(self.output_type, shape)

    def check(self, out_shape: Tensor, min_val: Tensor, max_val: Tensor) -> Iterator[Fault]:
        yield from negative_sizes(out_shape, "out_shape")

    def evaluate(self, out_shape: Array, min_val: Array, max_val: Array) -> Array:
        shape = tuple(out_shape.tolist())
        count = int(np.prod(shape, dtype=np.int64))
        low, high = min_val.reshape(()), max_val.reshape(())
        torch = self.alignment == "pytorch"
        wide = self.output_type.bits == 64 and not (
            torch and self.output_type.is_integer and max(int(low), int(high)) < 1 << 32
        )
        words = -(-count // (2 if wide else 4)) * 4
        seeds = self.global_seed % (1 << 64), self.op_seed % (1 << 64)
        if seeds == (0, 0):
            seeds = int(np.random.default_rng().integers(1 << 62)), 0
        drawn = mersenne_twister(seeds[0], words) if torch else philox(*seeds, words // 4)
        bits = drawn.astype(np.uint64)
        if wide:
            # in TensorFlow's doubles and PyTorch's numbers the first word is the high one, in
            # TensorFlow's integers the low one
            above, below = (
                (bits[::2], bits[1::2])
                if torch or self.output_type.is_real
                else (bits[1::2], bits[::2])
            )
            bits = above << np.uint64(32) | below
        bits = bits[:count].reshape(shape)
        if self.output_type.is_integer:
            return (bits % np.uint64(int(high) - int(low))).astype(np.int64).astype(low.dtype) + low
        return torch_real(bits, low, high) if torch else tensorflow_real(bits, low, high)


MANTISSA = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}


def tensorflow_real(bits: Array, low: Array, high: Array) -> Array:
    """Converts random words to numbers from `low` to `high`, as TensorFlow does.

    The last bits of a word become the fraction of a number from 1 to 2. The number minus 1 is
    scaled to the range; each step is rounded.
    """
    digits = MANTISSA[element_type_of(low).name]
    fraction = ((bits & np.uint64((1 << digits) - 1)).astype(np.float64) / (1 << digits)).astype(
        low.dtype
    )
    return np.asarray(fraction * (high - low) + low)


def torch_real(bits: Array, low: Array, high: Array) -> Array:
    """Converts random words to numbers from `low` to `high`, as PyTorch does.

    The last bits of a word become a fraction with one bit more than the mantissa of the type. The
    fraction is scaled to the range in f32, or in f64 for f64, and then converted to the type.
    """
    digits = MANTISSA[element_type_of(low).name] + 1
    wide = np.float64 if digits == 53 else np.float32
    fraction = (bits & np.uint64((1 << digits) - 1)).astype(wide) * wide(1 / (1 << digits))
    return np.asarray(fraction * (high - low).astype(wide) + low.astype(wide)).astype(low.dtype)
