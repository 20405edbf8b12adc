"""Multinomial, with the random number generator of OpenVINO's CPU plugin."""

from __future__ import annotations

from collections.abc import Iterator

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Between, Fault, fault
from ...rule_ids import ATTRIBUTE_VALUE
from ...shapes import DYNAMIC, DYNAMIC_SHAPE
from ..axes import single
from ..declaration import INTEGER, REAL, Operation, attribute, operand
from ..differences import facts, not_run, of_version
from ..kinds import BOOLEAN, NATURAL, TYPE_NAME
from ..lazy import Array, dtype_of, np
from ..movement.broadcasting import negative_sizes, wanted_dimensions
from ..tensors import Tensor


class Multinomial(Operation):
    """Draws `num_samples` indices of classes in each row, with the probabilities `probs`."""

    since = 13
    differs = facts(
        not_run("2023.3", "Multinomial of opset13", of_version(13), since="2023.2"),
    )
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
        samples, *_ = wanted_dimensions(num_samples) or [DYNAMIC]
        return Tensor(self.convert_type, (probs.shape[0], samples))

    def check(self, probs: Tensor, num_samples: Tensor) -> Iterator[Fault]:
        yield from negative_sizes(num_samples, "num_samples")
        if self.convert_type.name not in ("i32", "i64", "dynamic"):
            wanted = "i32 or i64"
            yield fault(
                at="convert_type",
                expected=wanted,
                actual=str(self.convert_type),
                rule=ATTRIBUTE_VALUE,
            )
        known, classes = single(num_samples), DYNAMIC if probs.rank is None else probs.shape[1]
        if known is not None and known > classes.high and not self.with_replacement:
            yield fault(
                f"`num_samples` is {known}, but without replacement only {classes} can be drawn",
                at="num_samples",
                relation="within",
                expected=Between(None, classes.high),
                actual=known,
            )

    def evaluate(self, probs: Array, num_samples: Array) -> Array:
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
    """Returns numbers from 0 to 1, drawn as by the CPU plugin.

    The generator is C++'s mt19937, seeded by a seed_seq of both seeds. If both seeds are 0, the
    numbers differ each time.
    """
    generator = np.random.MT19937()
    if seed or second:
        words = seed_sequence((seed, second), 624)
        generator.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": 624}}
    return generator.random_raw(count).astype(np.float32) / np.float32(0xFFFFFFFF)


def seed_sequence(seeds: tuple[int, ...], count: int) -> Array:
    """Returns `count` words (at least 623) that C++'s std::seed_seq makes from the seeds."""
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
