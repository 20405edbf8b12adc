"""Connectionist temporal classification (CTC): sequences of classes, separated by a blank class."""

from __future__ import annotations

from collections.abc import Iterator

from ...element_types import ElementType
from ...faults import Between, Fault, fault, require
from ...rule_ids import INPUT_VALUE
from ...shapes import DYNAMIC, PartialShape
from ..activation import LogSoftmax
from ..axes import require_single
from ..conditions import between, doubted
from ..declaration import INTEGER, NUMERIC, REAL, Operation, attribute, operand
from ..kinds import BOOLEAN, TypeName
from ..lazy import Array, dtype_of, np
from ..tensors import Tensor

I32 = ElementType.of("i32")
NO_CLASS = -1
"""Fills a row after its decoded sequence. Also the best class if there are no classes."""


def outside(name: str, tensor: Tensor | None, most: int) -> Iterator[Fault]:
    """Yields a fault for the first known number outside the range from 0 to `most`."""
    return doubted(between, (tensor and tensor.known) or (), 0, most, at=name)


def decoded(classes: Array, lengths: Array, blank: int, *, merge: bool) -> tuple[Array, Array]:
    """Returns the classes of each row without blanks, and their number. The classes move to the
    start of the row. If `merge`, repeated classes are removed, too."""
    kept = (
        (classes != blank)
        & (classes != NO_CLASS)
        & (np.arange(classes.shape[1]) < lengths[:, None])
    )
    if merge:
        kept[:, 1:] &= classes[:, 1:] != classes[:, :-1]
    return packed(classes, kept, NO_CLASS), kept.sum(axis=1)


def packed(numbers: Array, kept: Array, rest: int) -> Array:
    """Moves the numbers that are `kept` to the start of each row, and fills the row with `rest`."""
    order = np.argsort(~kept, axis=1, kind="stable")
    ordered = np.take_along_axis(numbers, order, axis=1)
    return np.where(np.take_along_axis(kept, order, axis=1), ordered, rest)


def best_path(logits: Array) -> Array:
    """Returns the most probable class at each step; of equally probable classes, the first."""
    return np.argmax(logits, axis=-1) if logits.shape[-1] else np.full(logits.shape[:-1], NO_CLASS)


class CTCGreedyDecoder(Operation):
    """Selects the most probable class at each step, and drops blanks.

    `sequence_mask` is 1 within a sequence, and 0 after its end.
    """

    since = 1
    data = operand(NUMERIC, shape=("time", "batch", "classes"))
    sequence_mask = operand(NUMERIC, shape=("time", "batch"))
    ctc_merge_repeated: bool = attribute(BOOLEAN, default=True)

    def infer(self, data: Tensor, sequence_mask: Tensor) -> Tensor:
        sizes = self.dimensions(data, sequence_mask)
        batch, time = (sizes.get(axis, DYNAMIC) for axis in ("batch", "time"))
        return Tensor(data.element_type, PartialShape((batch, time, 1, 1)))

    def evaluate(self, data: Array, sequence_mask: Array) -> Array:
        lengths = np.logical_and.accumulate(sequence_mask.T != 0, axis=1).sum(axis=1)
        classes, _ = decoded(
            best_path(data).T, lengths, data.shape[2] - 1, merge=self.ctc_merge_repeated
        )
        return classes[:, :, None, None].astype(data.dtype)


class CTCGreedyDecoderSeqLen(Operation):
    """Selects the most probable class at each step, drops blanks, and counts the other classes."""

    since = 6
    data = operand(NUMERIC, shape=("batch", "time", "classes"))
    sequence_length = operand(NUMERIC, shape=("batch",), value=True, packed=True)
    blank_index = operand(INTEGER, value=True, packed=True, optional=True)
    merge_repeated: bool = attribute(BOOLEAN, default=True)
    classes_index_type: ElementType = attribute(TypeName("i32", "i64"), default=I32)
    sequence_length_type: ElementType = attribute(TypeName("i32", "i64"), default=I32)

    def infer(
        self, data: Tensor, sequence_length: Tensor, blank_index: Tensor | None
    ) -> tuple[Tensor, ...]:
        # not declared: OpenVINO does not check a shape that is not static
        if blank_index is not None and blank_index.shape.is_static:
            require_single(blank_index, "blank_index")
        batch = self.dimensions(data, sequence_length).get("batch", DYNAMIC)
        time = DYNAMIC if data.rank is None else data.shape[1]
        return (
            Tensor(self.classes_index_type, PartialShape((batch, time))),
            Tensor(self.sequence_length_type, PartialShape((batch,))),
        )

    def check(
        self, data: Tensor, sequence_length: Tensor, blank_index: Tensor | None
    ) -> Iterator[Fault]:
        _, time, classes = data.shape[:] if data.rank is not None else (DYNAMIC,) * 3
        yield from outside("sequence_length", sequence_length, time.high)
        yield from outside("blank_index", blank_index, classes.high - 1)

    def evaluate(
        self, data: Array, sequence_length: Array, blank_index: Array | None
    ) -> tuple[Array, Array]:
        blank = data.shape[2] - 1 if blank_index is None else int(blank_index.ravel()[0])
        classes, lengths = decoded(
            best_path(data), sequence_length.astype(np.int64), blank, merge=self.merge_repeated
        )
        return (
            classes.astype(dtype_of(self.classes_index_type)),
            lengths.astype(dtype_of(self.sequence_length_type)),
        )


class CTCLoss(Operation):
    """The negative logarithm of the probability that the logits decode to the labels."""

    since = 4
    logits = operand(REAL, known_type=True, shape=("batch", "time", "classes"))
    logit_length = operand(INTEGER, shape=("batch",), value=True, packed=True)
    labels = operand(INTEGER, shape=("batch", "time"))
    label_length = operand(INTEGER, shape=("batch",), value=True, packed=True)
    blank_index = operand(INTEGER, rank=0, value=True, packed=True, optional=True)
    preprocess_collapse_repeated: bool = attribute(BOOLEAN, default=False)
    ctc_merge_repeated: bool = attribute(BOOLEAN, default=True)
    unique: bool = attribute(BOOLEAN, default=False)

    def infer(self, logits: Tensor, *others: Tensor | None) -> Tensor:
        batch = self.dimensions(logits, *others).get("batch", DYNAMIC)
        return Tensor(logits.element_type, PartialShape((batch,)))

    def check(
        self,
        logits: Tensor,
        logit_length: Tensor,
        labels: Tensor,
        label_length: Tensor,
        blank_index: Tensor | None,
    ) -> Iterator[Fault]:
        time = min(
            tensor.shape[1].high if tensor.rank is not None else DYNAMIC.high
            for tensor in (logits, labels)
        )
        classes = DYNAMIC.high if logits.rank is None else logits.shape[2].high
        for name, tensor in (("logit_length", logit_length), ("label_length", label_length)):
            yield from outside(name, tensor, time)
        yield from outside("blank_index", blank_index, classes - 1)
        steps = logit_length.known or ()
        for index, (taken, most) in enumerate(zip(label_length.known or (), steps, strict=False)):
            if taken > most:
                yield fault(
                    f"sequence {index} has {taken} labels, but only {most} time steps",
                    at="label_length",
                    relation="within",
                    expected=Between(None, most),
                    actual=taken,
                )
                return

    def evaluate(
        self,
        logits: Array,
        logit_length: Array,
        labels: Array,
        label_length: Array,
        blank_index: Array | None,
    ) -> Array:
        batch, time, classes = logits.shape
        blank = classes - 1 if blank_index is None else int(blank_index)
        targets, lengths = self.targets(labels.astype(np.int64), label_length.astype(np.int64))
        inside = np.arange(time) < lengths[:, None]
        require(
            np.all((targets >= 0) & (targets < classes) | ~inside) and 0 <= blank < max(classes, 1),
            f"`labels` and `blank_index` must be indices of classes, from 0 to {classes - 1}",
            at="labels",
            rule=INPUT_VALUE,
        )
        # state 0 is the start; the others are blanks (odd) and labels (even) in turn
        states = np.full((batch, 2 * time + 2), blank)
        states[:, 2::2] = np.where(inside, targets, blank)
        skips = np.zeros(states.shape, bool)
        skips[:, 2::2] = True
        if self.ctc_merge_repeated:
            skips[:, 4::2] = states[:, 4::2] != states[:, 2:-2:2]
        stays = (np.arange(2 * time + 2) % 2 == 1) | self.ctc_merge_repeated
        stays[0] = False
        reached = np.full(states.shape, -np.inf)
        reached[:, 0] = 0
        odds = LogSoftmax().of(logits.astype(np.float64), -1)
        for moment in range(time):
            new = np.where(stays, reached, -np.inf)
            new[:, 1:] = np.logaddexp(new[:, 1:], reached[:, :-1])
            new[:, 2:] = np.logaddexp(new[:, 2:], np.where(skips[:, 2:], reached[:, :-2], -np.inf))
            new[:, 1:] += np.take_along_axis(odds[:, moment], states[:, 1:], axis=1)
            new[:, 0] = -np.inf
            reached = np.where((moment < logit_length)[:, None], new, reached)
        ends = np.take_along_axis(reached, np.stack([2 * lengths, 2 * lengths + 1], axis=1), axis=1)
        return (-np.logaddexp(ends[:, 0], ends[:, 1])).astype(logits.dtype)

    def targets(self, labels: Array, lengths: Array) -> tuple[Array, Array]:
        """Returns the labels to decode, moved to the front of each row, and how many labels each
        row has."""
        kept = np.arange(labels.shape[1]) < lengths[:, None]
        if self.unique:
            apart = np.where(kept, labels, labels.min(initial=0) - 1)
            order = np.argsort(apart, axis=1, kind="stable")
            first = np.ones(labels.shape, bool)
            ordered = np.take_along_axis(apart, order, axis=1)
            first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
            np.put_along_axis(kept, order, first & np.take_along_axis(kept, order, axis=1), axis=1)
        elif self.preprocess_collapse_repeated:
            kept[:, 1:] &= labels[:, 1:] != labels[:, :-1]
        return packed(labels, kept, 0), kept.sum(axis=1)
