"""Connectionist temporal classification against OpenVINO."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from differential.cases import Case, Input, const, data
from rows import against_openvino, list_of_size, row, rows_of, unrun

Array = Any

LIST_FROM_2_TO_10 = list_of_size("2..10,3,?")


def scores(*sequences: list[int], classes: int = 4) -> Array:
    """Logits `[N, T, C]` of which these are the best paths."""
    return np.eye(classes)[np.array(sequences)]


PATHS = scores([0, 0, 3, 0, 1, 1, 3, 3, 2], [3, 3, 1, 1, 1, 2, 1, 0, 3])

# CTCGreedyDecoder


def masks(*lengths: int, steps: int = 9) -> Array:
    return (np.arange(steps)[:, None] < np.array(lengths)).astype(float)


def greedy(
    logits: Input | str,
    mask: Input | str = "5,2",
    *,
    merge: str | None = "true",
    types: tuple[str, str] = ("f32", "f32"),
    inputs: int = 2,
    **rest: Any,
) -> Case:
    given = [
        data(types[0], logits) if isinstance(logits, str) else logits,
        data(types[1], mask, rest.pop("values", None), low=1, high=1)
        if isinstance(mask, str)
        else mask,
    ]
    return row("CTCGreedyDecoder-1", {"ctc_merge_repeated": merge}, *given[:inputs], **rest)


GREEDY = [
    *(
        greedy(
            data("f32", "9,2,4", PATHS.swapaxes(0, 1)),
            const("f32", mask),
            merge=merge,
            id=f"greedy-{index}-{merge}",
        )
        for merge in ("true", "false", None)
        for index, mask in enumerate(
            (
                masks(9, 9),
                masks(4, 7),
                masks(0, 1),
                masks(9, 9) * [[1, 0]] + [[0, 1]] * (np.arange(9)[:, None] % 3 > 0),
                masks(3, 9) * -0.5,
            )
        )
    ),
    *(
        greedy("5,2,4", types=(element_type, element_type))
        for element_type in ("f32", "f16", "bf16", "f64")
    ),
    greedy(data("f32", "3,1,4", [[[1, 1, 0, 0]], [[0, 0, 0, 0]], [[0, 2, 2, 2]]]), "3,1"),
    greedy("5,2,1"),
    greedy("0,2,4", "0,2"),
    greedy("5,0,4", "5,0"),
    greedy("?,2,4", run=False),
    greedy("5,?,4", "?,2", run=False),
    greedy("1..5,2..9,?", "3..8,..4", run=False),
    greedy("...", run=False),
    greedy("5,2,4", "...", run=False),
    greedy("...", "...", run=False),
    greedy("5,2,4", types=("dynamic", "f32"), run=False),
    greedy("5,2,4", types=("f32", "i32"), run=False),
    greedy("5,2,4", types=("u8", "boolean"), run=False, known="text-as-number"),
    # what OpenVINO refuses
    *(greedy(logits) for logits in ("5,2", "5,2,4,1", "")),
    *(greedy("5,2,4", mask) for mask in ("5,2,1", "5", "4,2", "5,3", "2,5", "6..,2")),
    greedy("5,2,4", inputs=1),
    # what it passes over
    greedy("5,2,4", merge="zz", run=False, known="boolean-text"),
]


# CTCGreedyDecoderSeqLen


decoded = rows_of(
    "CTCGreedyDecoderSeqLen-6",
    "merge_repeated=true classes_index_type=i32 sequence_length_type=i32",
    outputs=2,
)


def greedy_length(
    logits: Input | str = "2,5,4",
    length: Input | str = "2",
    blank: Input | None = None,
    *,
    types: tuple[str, str] = ("f32", "i32"),
    inputs: int = 3,
    **changes: Any,
) -> Case:
    given = [
        data(types[0], logits) if isinstance(logits, str) else logits,
        data(types[1], length, low=0, high=5) if isinstance(length, str) else length,
        *([] if blank is None else [blank]),
    ]
    return decoded(*given[:inputs], **changes)


GREEDY_LENGTH = [
    *(
        greedy_length(
            data("f32", "2,9,4", PATHS), const("i64", lengths), blank, merge_repeated=merge
        )
        for merge in ("true", "false")
        for lengths in ([9, 9], [7, 4], [0, 1])
        for blank in (None, const("i64", 3), const("i32", [0]), const("i64", 1))
    ),
    *(greedy_length(types=(element_type, "i64")) for element_type in ("f32", "f16", "bf16", "f64")),
    *(
        greedy_length(classes_index_type=first, sequence_length_type=second)
        for first, second in (("i64", "i32"), ("i32", "i64"), ("I64", "I64"))
    ),
    greedy_length(merge_repeated=None, classes_index_type=None, sequence_length_type=None),
    greedy_length(blank=const("u8", 0)),
    greedy_length(blank=data("i32", "", 1)),
    greedy_length("2,5,1"),
    greedy_length("0,5,4", "0"),
    greedy_length("?,5,4", "3", run=False),
    greedy_length("...", "3", run=False),
    greedy_length("...", "...", run=False),
    greedy_length("2,?,4", "...", run=False),
    greedy_length("1..4,2..6,?", "3..8", run=False),
    *(greedy_length(blank=data("i32", shape), run=False) for shape in ("?", "...", "?,?", "1..2")),
    greedy_length(blank=data("dynamic", ""), run=False),
    greedy_length(length=LIST_FROM_2_TO_10, run=False, logits="?,5,4"),
    greedy_length(types=("dynamic", "dynamic"), run=False),
    greedy_length(types=("f32", "u8"), run=False),
    greedy_length(types=("i32", "f32"), run=False),
    # what OpenVINO refuses
    *(greedy_length(logits) for logits in ("2,5", "2,5,4,1", "3,5,4", "3..,5,4")),
    *(greedy_length(length=length) for length in ("3", "2,1", "")),
    *(
        greedy_length(blank=blank)
        for blank in (
            const("i32", [0, 1]),
            const("i32", [[0]]),
            data("i32", "0"),
            const("f32", 0.0),
            const("boolean", True),
        )
    ),
    greedy_length(classes_index_type="zz"),
    greedy_length(sequence_length_type=""),
    greedy_length(inputs=1),
    # what it passes over
    greedy_length(classes_index_type="u8", run=False, known="ctc-index-type"),
    greedy_length(sequence_length_type="f32", run=False, known="ctc-index-type"),
    greedy_length(length=const("i32", [2, 6]), run=False, known="ctc-numbers"),
    greedy_length(length=const("i32", [-1, 3]), run=False, known="ctc-numbers"),
    *(
        greedy_length(blank=const("i32", blank), run=False, known="ctc-numbers")
        for blank in (4, -1)
    ),
]


# CTCLoss

MODES = list(product(("false", "true"), repeat=3))


lost = rows_of(
    "CTCLoss-4", "preprocess_collapse_repeated=false ctc_merge_repeated=true unique=false"
)


def loss(
    logits: str = "2,5,4",
    given: str = "2",
    labels: str = "2,5",
    taken: str = "2",
    blank: Input | None = None,
    *,
    types: tuple[str, str, str] = ("f32", "i32", "i32"),
    values: tuple[Any, Any, Any] = (None, None, None),
    inputs: int = 5,
    **changes: Any,
) -> Case:
    """Of two sequences of 4 to 5 steps and 1 to 3 labels."""
    operands = [
        data(types[0], logits),
        data(types[1], given, values[0], low=4, high=5),
        data(types[2], labels, values[1], low=0, high=2),
        data(types[1], taken, values[2], low=1, high=3),
        *([] if blank is None else [blank]),
    ]
    return lost(*operands[:inputs], **changes)


REPEATED = [[0, 0, 1, 1, 0, 0], [2, 2, 2, 0, 1, 2]]

LOSS = [
    *(
        loss(
            "2,6,4",
            labels="2,6",
            values=(given, REPEATED, taken),
            preprocess_collapse_repeated=collapse,
            ctc_merge_repeated=merge,
            unique=unique,
            id=f"loss-{given}-{taken}-{collapse}-{merge}-{unique}",
        )
        for collapse, merge, unique in MODES
        for given, taken in (([6, 6], [3, 4]), ([6, 5], [2, 1]), ([5, 6], [5, 6]))
    ),
    *(
        loss(blank=blank, values=([5, 4], [[0, 3, 3, 0, 0], [2, 0, 2, 1, 0]], [3, 2]))
        for blank in (const("i32", 1), const("i64", 1), const("u8", 1), data("i32", "", 1))
    ),
    loss(values=([5, 4], [[0, -7, 99, 0, 0], [1, 0, 99, 99, 99]], [1, 2])),
    loss("2,9,4", labels="2,9", values=([4, 9], [[0] * 9, [1, 2] * 4 + [1]], [4, 9])),
    loss("1,1,2", "1", "1,1", "1", values=([1], [[0]], [1])),
    loss(types=("f32", "i64", "i64")),
    loss(types=("f32", "i64", "i32")),
    loss(types=("f16", "i32", "i32"), rtol=0.005),
    loss(types=("bf16", "i32", "i32"), rtol=0.03),
    loss(types=("f64", "i32", "i32")),
    loss("0,5,4", "0", "0,5", "0"),
    loss(preprocess_collapse_repeated=None, unique=None),
    loss(ctc_merge_repeated=None, known="ctc-loss-default"),
    loss("...", "...", "...", "...", run=False),
    loss("...", run=False),
    loss("?,5,4", run=False),
    loss("1..4,?,?", "3..8", "2..6,?", "?", run=False),
    loss("2,..5,4", labels="2,4", run=False),
    loss(blank=data("i32", "..."), run=False),
    loss(types=("f32", "dynamic", "u1"), run=False),
    loss(types=("f8e4m3", "i8", "u64"), run=False),
    # what OpenVINO refuses
    *(loss(logits) for logits in ("2,5", "2,5,4,1", "3,5,4", "2,6,4", "2,6..,4")),
    *(loss(given=given) for given in ("2,1", "3", "", "3..")),
    *(loss(labels=labels) for labels in ("2", "3,5", "2,4", "2,5,1")),
    *(loss(taken=taken) for taken in ("2,1", "3", "")),
    *(
        loss(blank=blank)
        for blank in (
            const("i32", [0]),
            data("i32", "?"),
            const("f32", 0.0),
            const("boolean", False),
        )
    ),
    *(
        loss(types=types)
        for types in (
            ("dynamic", "i32", "i32"),
            ("i32", "i32", "i32"),
            ("f32", "f32", "i32"),
            ("f32", "i32", "boolean"),
        )
    ),
    loss(inputs=3),
    # what it passes over
    loss(blank=const("i32", 4), run=False, known="ctc-numbers"),
    loss(unique="zz", run=False, known="boolean-text"),
    *(
        unrun(
            "CTCLoss-4",
            {},
            "f32[2,5,4]",
            const("i32", given),
            "i32[2,5]",
            const("i32", taken),
            known="ctc-numbers",
            id=f"loss-lengths-{given}-{taken}",
        )
        for given, taken in (([6, 5], [1, 1]), ([5, 5], [-1, 1]), ([3, 5], [4, 5]))
    ),
]

test_against_openvino = against_openvino(*GREEDY, *GREEDY_LENGTH, *LOSS)


def collapsed(path: tuple[int, ...], blank: int, *, merge: bool) -> list[int]:
    return [
        number
        for at, number in enumerate(path)
        if number != blank and not (merge and at and path[at - 1] == number)
    ]


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize(
    ("labels", "steps"),
    [([], 0), ([], 3), ([1], 4), ([0, 0], 4), ([0, 1], 2), ([1, 1], 2), ([0, 1, 0], 5), ([1], 0)],
)
def test_loss_is_that_of_all_paths(labels: list[int], steps: int, merge: bool) -> None:
    """The loss equals the sum over all paths that decode to the labels.

    There are cases without steps and without labels, for which the CPU plugin crashes.
    """
    from irshape.ops.sequence.ctc import CTCLoss

    logits = np.random.default_rng(len(labels)).normal(size=(1, 5, 3)).astype(np.float32)
    odds = np.exp(logits[0]) / np.exp(logits[0]).sum(axis=-1, keepdims=True)
    total = sum(
        np.prod([odds[at, number] for at, number in enumerate(path)])
        for path in product(range(3), repeat=steps)
        if collapsed(path, 2, merge=merge) == labels
    )
    padded = np.array([labels + [9] * (5 - len(labels))])
    loss = CTCLoss(ctc_merge_repeated=merge).evaluate(
        logits, np.array([steps]), padded, np.array([len(labels)]), None
    )
    assert loss.dtype == np.float32
    np.testing.assert_allclose(loss[0], -np.log(total) if total else np.inf, rtol=1e-5, atol=1e-6)


def test_labels_are_classes() -> None:
    from irshape.faults import Violation
    from irshape.ops.sequence.ctc import CTCLoss

    with pytest.raises(Violation):
        CTCLoss().evaluate(
            np.zeros((1, 3, 2), np.float32),
            np.array([3]),
            np.array([[5, 0, 0]]),
            np.array([1]),
            None,
        )


def test_no_classes() -> None:
    """Nothing is decoded where there are no classes, and the CPU plugin leaves its result unset."""
    from irshape.ops.sequence.ctc import CTCGreedyDecoder, CTCGreedyDecoderSeqLen

    classes = CTCGreedyDecoder().evaluate(
        np.zeros((3, 2, 0), np.float32), np.ones((3, 2), np.float32)
    )
    np.testing.assert_array_equal(classes, np.full((2, 3, 1, 1), -1))
    for blank in (None, np.array(0)):
        classes, lengths = CTCGreedyDecoderSeqLen().evaluate(
            np.zeros((2, 3, 0), np.float32), np.array([3, 1]), blank
        )
        np.testing.assert_array_equal(classes, np.full((2, 3), -1))
        np.testing.assert_array_equal(lengths, [0, 0])
