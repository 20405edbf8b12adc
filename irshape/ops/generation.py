"""Generation operations: tensors made from a few numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isfinite, trunc

from ..faults import Fault, Violation, fault, require
from ..rule_ids import ATTRIBUTE_VALUE, INPUT_ELEMENT_TYPE, INPUT_VALUE
from ..types import (
    DYNAMIC,
    DYNAMIC_SHAPE,
    DYNAMIC_TYPE,
    INT64_MIN,
    UNBOUNDED,
    Dimension,
    ElementType,
    PartialShape,
)
from .axes import require_single
from .declaration import I32_I64, INTEGER, NUMERIC, REAL, Operation, attribute, operand, types
from .elementwise import common_type
from .kinds import BOOLEAN, NATURAL, TYPE_NAME, Choice
from .lazy import Array, np
from .tensors import MAX_VALUE_ELEMENTS, Number, Tensor, Value


def count(start: Number, stop: Number, step: Number) -> int:
    """How many numbers there are from `start` to before `stop`."""
    if (stop - start) * (1 if step > 0 else -1) <= 0:
        return 0
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return -((start - stop) // step)
    return min(ceil(abs(stop - start) / abs(step)), UNBOUNDED) if step else 0


def number(array: Array) -> Number:
    """The one element of an array; integers stay exact."""
    return array.item() if array.dtype.kind in "iu" else float(array.astype(np.float64).item())


class RangeBase(Operation):
    """What both versions of Range share: how many numbers there are, and which."""

    def result_type(self, start: Tensor, stop: Tensor, step: Tensor) -> ElementType:
        raise NotImplementedError

    def bounds(
        self, start: Tensor, stop: Tensor, step: Tensor
    ) -> list[tuple[Number, Number]] | None:
        """Bounds of the three numbers as the result's type takes them, None where one is not known
        at all.
        """
        integral = self.result_type(start, stop, step).is_integer
        bounds: list[tuple[Number, Number]] = []
        for tensor in (start, stop, step):
            if (
                tensor.value is None
                or len(tensor.value) != 1
                or not isfinite(tensor.value.lower[0])
                or not isfinite(tensor.value.upper[0])
            ):
                return None
            low, high = tensor.value.lower[0], tensor.value.upper[0]
            bounds.append((trunc(low), trunc(high)) if integral else (low, high))
        return bounds

    def infer(self, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
        element_type = self.result_type(start, stop, step)
        for name, tensor in (("start", start), ("stop", stop), ("step", step)):
            exact = None if tensor.value is None else tensor.value.exact
            if exact is None:
                continue
            require(
                all(map(isfinite, exact)),
                f"`{name}` is {exact[0]}; a range has finite ends and a finite step",
                at=name,
                expected="a finite number",
                actual=exact[0],
                rule=INPUT_VALUE,
            )
            require(
                name != "step" or exact[0],
                "`step` is 0; a range with that step never reaches its end",
                at=name,
                expected="not 0",
                actual=exact[0],
                rule=INPUT_VALUE,
            )
        size = self.size(self.bounds(start, stop, step))
        if start.known_by_name or stop.known_by_name:
            from .symbolic import range_size

            size = range_size(start, stop, step, size)
        return Tensor(element_type, PartialShape([size]))

    def size(self, bounds: list[tuple[Number, Number]] | None) -> Dimension:
        """The number of elements: it grows with the distance and shrinks with the step, so the
        bounds of the inputs bound it.
        """
        if bounds is None:
            return DYNAMIC
        (start_low, start_high), (stop_low, stop_high), (step_low, step_high) = bounds
        if step_low < 0 < step_high or step_low == step_high == 0:
            return Dimension(0) if step_low == step_high else DYNAMIC
        if step_high <= 0:
            start_low, start_high, stop_low, stop_high = (
                -start_high,
                -start_low,
                -stop_high,
                -stop_low,
            )
            step_low, step_high = -step_high, -step_low
        least = (
            count(start_high, stop_low, step_high)
            if start_high < UNBOUNDED and step_high < UNBOUNDED
            else 0
        )
        most = (
            count(start_low, stop_high, step_low)
            if step_low and start_low > INT64_MIN and stop_high < UNBOUNDED
            else UNBOUNDED
        )
        if start_low == start_high and stop_low == stop_high and step_low == step_high:
            most = least
        return Dimension(least, max(least, most))

    def infer_value(
        self, start: Tensor, stop: Tensor, step: Tensor, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        bounds, size = self.bounds(start, stop, step), outputs[0].shape.static
        if bounds is None or size is None:
            return None
        (start_low, start_high), _, (step_low, step_high) = bounds
        lower = [start_low + i * step_low for i in range(size[0])]
        upper = [start_high + i * step_high for i in range(size[0])]
        if outputs[0].element_type.is_integer:
            least, most = outputs[0].element_type.limits
            if (
                size[0]
                and not least <= min(lower[0], lower[-1]) <= max(upper[0], upper[-1]) <= most
            ):
                return None
        if start.known_by_name:
            from .symbolic import range_value

            return range_value(start, step, lower, upper)
        return Value(lower, upper)

    def evaluate(self, start: Array, stop: Array, step: Array) -> Array:
        from ..numpy_types import dtype_of, element_type_of

        abstract = [
            Tensor(element_type_of(array), (), Value([number(array)]))
            for array in (start, stop, step)
        ]
        element_type = self.result_type(*abstract)
        self.infer(*abstract)
        bounds = self.bounds(*abstract)
        assert bounds is not None
        first, last, stride = (low for low, _ in bounds)
        size = count(first, last, stride)
        if not element_type.is_integer:
            return np.asarray(first + np.arange(size) * float(stride)).astype(
                dtype_of(element_type)
            )
        return (
            np.arange(size, dtype=np.int64) * np.int64(stride) + np.asarray(first).astype(np.int64)
        ).astype(dtype_of(element_type))


class Range_1(RangeBase):
    """The numbers from `start` to before `stop`, `step` apart, in their type.

    Specification: Range-1.
    """

    since = 1
    start = operand(NUMERIC - types("u1 i4 u4"), rank=0, value=True)
    stop = operand(NUMERIC - types("u1 i4 u4"), rank=0, like="start", value=True)
    step = operand(NUMERIC - types("u1 i4 u4"), rank=0, like="start", value=True)

    def result_type(self, start: Tensor, stop: Tensor, step: Tensor) -> ElementType:
        return common_type(start, stop, step)


class Range_4(RangeBase):
    """The numbers from `start` to before `stop`, `step` apart, as `output_type`; for integers the
    three are first rounded towards zero.

    Specification: Range-4.
    """

    since = 4
    start = operand(NUMERIC, rank=0, value=True)
    stop = operand(NUMERIC, rank=0, value=True)
    step = operand(NUMERIC, rank=0, value=True)
    output_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def result_type(self, start: Tensor, stop: Tensor, step: Tensor) -> ElementType:
        return self.output_type

    def infer(self, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
        require(
            self.output_type.kind != "boolean",
            "`output_type` is boolean; a range is of numbers",
            at="output_type",
            expected="a numeric type",
            actual="boolean",
            rule=ATTRIBUTE_VALUE,
        )
        return super().infer(start, stop, step)

    def check(self, start: Tensor, stop: Tensor, step: Tensor) -> Iterator[Fault]:
        if self.output_type.kind == "string":
            yield fault(
                "`output_type` is string; a range is of numbers",
                at="output_type",
                expected="a numeric type",
                actual="string",
                rule=ATTRIBUTE_VALUE,
            )
        bounds = self.bounds(start, stop, step)
        if bounds is not None and bounds[2] == (0, 0):
            yield fault(
                f"`step` is {step.value.lower[0] if step.value else 0}, which is 0 as "
                f"{self.output_type}",
                at="step",
                expected="not 0",
                actual=0,
                rule=INPUT_VALUE,
            )


# shapes and counts as inputs


def sizes(tensor: Tensor, *, longest: bool = False) -> PartialShape:
    """The shape that the elements of a vector stand for.

    Like OpenVINO it takes -1 for an unknown size, and any other negative number for 0.

    longest: a vector of unknown length is taken to have all the elements that it may have.
    """
    if tensor.value is not None:
        values = tensor.value
        return PartialShape(
            values.dimension(i) or (DYNAMIC if values.upper[i] == -1 else Dimension(0))
            for i in range(len(values))
        )
    count = None if tensor.rank is None else tensor.shape[0]
    known = count is not None and (count.is_static or longest) and count.high <= MAX_VALUE_ELEMENTS
    return PartialShape.of_rank(count.high) if count is not None and known else DYNAMIC_SHAPE


def negative_sizes(tensor: Tensor, name: str) -> Iterator[Fault]:
    """What is wrong with sizes that are surely negative."""
    if tensor.value is not None and any(high < 0 for high in tensor.value.upper):
        seen = next(high for high in tensor.value.upper if high < 0)
        yield fault(
            f"`{name}` contains {seen}; a size cannot be negative",
            at=name,
            expected=">= 0",
            actual=seen,
            rule=INPUT_VALUE,
        )


class Eye(Operation):
    """Matrices with ones on a diagonal. Specification: Eye-9."""

    since = 9
    num_rows = operand(I32_I64, value=True)
    num_columns = operand(I32_I64, value=True)
    diagonal_index = operand(I32_I64)
    batch_shape = operand(I32_I64, rank=1, value=True, optional=True)
    output_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def infer(
        self,
        num_rows: Tensor,
        num_columns: Tensor,
        diagonal_index: Tensor,
        batch_shape: Tensor | None,
    ) -> Tensor:
        for name, tensor in (
            ("num_rows", num_rows),
            ("num_columns", num_columns),
            ("diagonal_index", diagonal_index),
            ("batch_shape", batch_shape),
        ):
            if tensor is None:
                continue
            require(
                not tensor.element_type.is_dynamic,
                f"the element type of `{name}` is not known; expected i32 or i64",
                at=name,
                expected="i32 or i64",
                actual="dynamic",
                rule=INPUT_ELEMENT_TYPE,
            )
            if tensor.shape.is_static and name != "batch_shape":
                require_single(tensor, name)
        dims = [self.length("num_rows", num_rows), self.length("num_columns", num_columns)]
        batch = PartialShape(()) if batch_shape is None else sizes(batch_shape)
        return Tensor(
            self.output_type,
            DYNAMIC_SHAPE if batch.dims is None else PartialShape((*batch.dims, *dims)),
        )

    def length(self, name: str, tensor: Tensor) -> Dimension:
        if tensor.value is None or len(tensor.value) != 1:
            return DYNAMIC
        length = tensor.value.dimension(0)
        if length is None:
            raise Violation(
                f"`{name}` is {tensor.value.upper[0]}; expected a number of {name[4:]}",
                at=name,
                expected=">= 0",
                actual=tensor.value.upper[0],
                rule=INPUT_VALUE,
            )
        return length

    def check(
        self,
        num_rows: Tensor,
        num_columns: Tensor,
        diagonal_index: Tensor,
        batch_shape: Tensor | None,
    ) -> Iterator[Fault]:
        if batch_shape is not None:
            yield from negative_sizes(batch_shape, "batch_shape")

    def evaluate(
        self, num_rows: Array, num_columns: Array, diagonal_index: Array, batch_shape: Array | None
    ) -> Array:
        from ..numpy_types import dtype_of

        matrix = np.eye(
            int(num_rows.item()), int(num_columns.item()), int(diagonal_index.item())
        ).astype(dtype_of(self.output_type))
        batch = () if batch_shape is None else tuple(batch_shape.tolist())
        return np.broadcast_to(matrix, batch + matrix.shape).copy()


# random numbers

PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


def philox(key: int, counter: int, blocks: int) -> Array:
    """Philox 4x32-10: four words for each block, which is the number of the draw; `key` and
    `counter` are the two seeds.
    """
    low32 = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    number = np.arange(blocks, dtype=np.uint64)
    a, b = number & low32, number >> half
    c, d = (
        np.full(blocks, counter & 0xFFFFFFFF, np.uint64),
        np.full(blocks, counter >> 32, np.uint64),
    )
    first, second = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        left, right = a * np.uint64(PHILOX_MULTIPLIERS[0]), c * np.uint64(PHILOX_MULTIPLIERS[1])
        a, b, c, d = (
            (right >> half) ^ b ^ np.uint64(first),
            right & low32,
            (left >> half) ^ d ^ np.uint64(second),
            left & low32,
        )
        first, second = (
            (first + PHILOX_KEY_STEPS[0]) & 0xFFFFFFFF,
            (second + PHILOX_KEY_STEPS[1]) & 0xFFFFFFFF,
        )
    return np.stack([a, b, c, d], axis=1).astype(np.uint32).ravel()


def mersenne_twister(seed: int, words: int) -> Array:
    """MT19937 as PyTorch seeds it."""
    return np.random.RandomState(seed & 0xFFFFFFFF).randint(0, 1 << 32, words, dtype=np.uint32)


class RandomUniform(Operation):
    """Random numbers from `min_val` to before `max_val`, drawn as TensorFlow (Philox) or PyTorch
    (Mersenne Twister) draws them.

    Specification: RandomUniform-8.

    A session of OpenVINO goes on with the next numbers at each inference. This gives those of the
    first.
    """

    since = 8
    out_shape = operand(I32_I64, rank=1, value=True)
    min_val = operand(types("f64 f32 f16 bf16 i64 i32"), single=True, value=True)
    max_val = operand(types("f64 f32 f16 bf16 i64 i32"), single=True, value=True)
    output_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)
    global_seed: int = attribute(NATURAL, default=0)
    op_seed: int = attribute(NATURAL, default=0)
    alignment: str = attribute(Choice("tensorflow", "pytorch"), default="tensorflow")

    def infer(self, out_shape: Tensor, min_val: Tensor, max_val: Tensor) -> Tensor:
        for name, tensor in (("min_val", min_val), ("max_val", max_val)):
            require(
                tensor.element_type is self.output_type and not self.output_type.is_dynamic,
                f"`{name}` has element type {tensor.element_type}, but `output_type` is "
                f"{self.output_type}; they must be the same",
                at=name,
                expected=self.output_type,
                actual=tensor.element_type,
                rule=INPUT_ELEMENT_TYPE,
            )
        low, high = (
            None if tensor.value is None or len(tensor.value) != 1 else tensor.value
            for tensor in (min_val, max_val)
        )
        if low is not None and high is not None and low.exact and high.exact:
            require(
                low.lower[0] < high.lower[0],
                f"`min_val` is {low.lower[0]}, `max_val` {high.lower[0]}; expected the former "
                "below the latter",
                at="min_val",
                expected=f"< {high.lower[0]}",
                actual=low.lower[0],
                rule=INPUT_VALUE,
            )
        return Tensor(self.output_type, sizes(out_shape, longest=True))

    def check(self, out_shape: Tensor, min_val: Tensor, max_val: Tensor) -> Iterator[Fault]:
        yield from negative_sizes(out_shape, "out_shape")

    def evaluate(self, out_shape: Array, min_val: Array, max_val: Array) -> Array:
        shape = tuple(out_shape.tolist())
        count = int(np.prod(shape, dtype=np.int64))
        low, high = min_val.reshape(()), max_val.reshape(())
        if not low < high:
            raise ValueError(
                f"min_val is {low}, max_val {high}; expected the former below the latter"
            )
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
            # TensorFlow's doubles and PyTorch's numbers have the first word above the second,
            # TensorFlow's integers below it
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
    """The last bits of a word as the fraction of a number from 1 to 2; what is above 1 is spread
    from `low` to `high`, rounded at each step.
    """
    from ..numpy_types import element_type_of

    digits = MANTISSA[element_type_of(low).name]
    fraction = ((bits & np.uint64((1 << digits) - 1)).astype(np.float64) / (1 << digits)).astype(
        low.dtype
    )
    return np.asarray(fraction * (high - low) + low)


def torch_real(bits: Array, low: Array, high: Array) -> Array:
    """A fraction of one bit more than that of the type; narrow types are computed in f32."""
    from ..numpy_types import element_type_of

    digits = MANTISSA[element_type_of(low).name] + 1
    wide = np.float64 if digits == 53 else np.float32
    fraction = (bits & np.uint64((1 << digits) - 1)).astype(wide) * wide(1 / (1 << digits))
    return np.asarray(fraction * (high - low).astype(wide) + low.astype(wide)).astype(low.dtype)


class Multinomial(Operation):
    """Classes drawn by their probabilities, `num_samples` for each row of `probs`.

    Specification: Multinomial-13.
    """

    since = 13
    probs = operand(REAL, rank=2)
    num_samples = operand(INTEGER, single=True, value=True)
    convert_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)
    with_replacement: bool = attribute(BOOLEAN, default=False, required=True)
    log_probs: bool = attribute(BOOLEAN, default=False, required=True)
    global_seed: int = attribute(NATURAL, default=0)
    op_seed: int = attribute(NATURAL, default=0)

    def infer(self, probs: Tensor, num_samples: Tensor) -> Tensor:
        if probs.rank is None:
            return Tensor(self.convert_type, DYNAMIC_SHAPE)
        samples = (
            sizes(num_samples)[0]
            if num_samples.value is not None and len(num_samples.value) == 1
            else DYNAMIC
        )
        return Tensor(self.convert_type, (probs.shape[0], samples))

    def check(self, probs: Tensor, num_samples: Tensor) -> Iterator[Fault]:
        yield from negative_sizes(num_samples, "num_samples")
        if self.convert_type.name not in ("i32", "i64", "dynamic"):
            yield fault(
                f"`convert_type` is {self.convert_type}; expected i32 or i64",
                at="convert_type",
                expected="i32 or i64",
                actual=self.convert_type,
                rule=ATTRIBUTE_VALUE,
            )
        known, classes = num_samples.known, None if probs.rank is None else probs.shape[1]
        if (
            not self.with_replacement
            and known is not None
            and classes is not None
            and known[0] > classes.high
        ):
            yield fault(
                f"`num_samples` is {known[0]}, but there are {classes} classes; without "
                "replacement each is drawn once at most",
                at="num_samples",
                expected=f"<= {classes}",
                actual=known[0],
                rule=INPUT_VALUE,
            )

    def evaluate(self, probs: Array, num_samples: Array) -> Array:
        from ..numpy_types import dtype_of

        wide = probs.dtype if probs.dtype in (np.float32, np.float64) else np.dtype(np.float32)
        weights = np.exp(probs.astype(wide)) if self.log_probs else probs.astype(wide)
        rows, classes = weights.shape
        samples = int(num_samples.item())
        drawn = (
            standard_uniform(self.global_seed, self.op_seed, rows * samples)
            .reshape(rows, samples)
            .astype(wide)
        )
        cumulative = np.cumsum(weights, axis=1, dtype=wide)
        cumulative = cumulative / np.maximum(cumulative[:, -1:], np.finfo(wide).tiny)
        chosen = np.zeros((rows, samples), np.int64)
        for index in range(samples):
            chosen[:, index] = taken = np.argmax(drawn[:, index : index + 1] <= cumulative, axis=1)
            if not self.with_replacement:
                at = np.arange(rows)
                share = cumulative[at, taken] - np.where(taken > 0, cumulative[at, taken - 1], 0)
                after = np.arange(classes) >= taken[:, None]
                cumulative = (cumulative - np.where(after, share[:, None], 0)) / (1 - share)[
                    :, None
                ]
        return chosen.astype(dtype_of(self.convert_type))


def standard_uniform(seed: int, second: int, count: int) -> Array:
    """Numbers from 0 to 1 as the CPU plugin draws them: C++'s mt19937, seeded by a seed_seq of
    both.
    """
    generator = np.random.MT19937()
    words = (
        seed_sequence((seed, second), 624)
        if seed or second
        else np.random.default_rng().integers(0, 1 << 32, 624, dtype=np.uint32)
    )
    generator.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": 624}}
    return generator.random_raw(count).astype(np.float32) / np.float32(0xFFFFFFFF)


def seed_sequence(seeds: tuple[int, ...], count: int) -> Array:
    """C++'s std::seed_seq: `count` words (at least 623) made of the seeds."""
    words = [seed & 0xFFFFFFFF for seed in seeds]
    result = [0x8B8B8B8B] * count
    shift, size = 11, len(words)
    p = (count - shift) // 2
    q = p + shift

    def mixed(k: int, factor: int, combine: int) -> int:
        value = (
            (result[k % count] + result[(k + p) % count] + result[(k - 1) % count]) & 0xFFFFFFFF
            if combine
            else result[k % count] ^ result[(k + p) % count] ^ result[(k - 1) % count]
        )
        return factor * (value ^ value >> 27) & 0xFFFFFFFF

    rounds = max(size + 1, count)
    for k in range(rounds):
        first = mixed(k, 1664525, 0)
        addend = k % count if k else size
        if 0 < k <= size:
            addend += words[k - 1]
        second = first + addend & 0xFFFFFFFF
        result[(k + p) % count] = result[(k + p) % count] + first & 0xFFFFFFFF
        result[(k + q) % count] = result[(k + q) % count] + second & 0xFFFFFFFF
        result[k % count] = second
    for k in range(rounds, rounds + count):
        third = mixed(k, 1566083941, 1)
        fourth = third - k % count & 0xFFFFFFFF
        result[(k + p) % count] ^= third
        result[(k + q) % count] ^= fourth
        result[k % count] = fourth
    return np.array(result, np.uint32)
