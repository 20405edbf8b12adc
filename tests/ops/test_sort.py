"""TopK, NonZero, Unique, Bucketize and SearchSorted against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import const, data
from rows import against_openvino, row, rows_of, size_of, sizes_of, unrun

BEST = "axis=-1 mode=max sort=value index_element_type=i64"


def distinct(*shape: int) -> Any:
    """Values of which no two are equal, since their order is open."""

    def shuffled(rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return rng.permutation(int(np.prod(shape))).reshape(shape) - 7

    return shuffled


topk_1, topk_3, topk = (rows_of(f"TopK-{n}", BEST, outputs=2) for n in (1, 3, 11))

TOPK = [
    *(
        any_topk(data("f32", "3,4,5", distinct(3, 4, 5)), "i64{3}", mode=mode, sort=sort, axis=axis)
        for any_topk in (topk_1, topk_3, topk)
        for mode in ("max", "min")
        for sort, axis in (("value", "-1"), ("index", "1"), ("value", "0"))
    ),
    topk(data("f32", "2,6", distinct(2, 6)), "i64{6}", sort="none", run=False),
    topk(data("f32", "2,6", distinct(2, 6)), "i64{1}", sort="none"),
    topk(data("f32", "2,4", [[1, 0, 1, 0], [2, 2, 2, 2]]), "i64{3}", mode="min", stable="true"),
    topk(data("f32", "2,4", [[1, 0, 1, 0], [2, 2, 2, 2]]), "i64{3}", mode="max", stable="true"),
    topk(data("f32", "2,4", [[1, 0, 1, 0], [2, 2, 2, 2]]), "i64{2}", sort="index", stable="true"),
    *(
        topk(data(t, "12", distinct(12)), "u8{4}", index_element_type="i32")
        for t in ("f16", "bf16", "f64", "i8", "i32", "i64")
    ),
    *(
        topk(data(t, "12", lambda rng: rng.permutation(12)), "i32{4}", mode="min")
        for t in ("u8", "u32", "u64", "f8e4m3")
    ),
    topk(data("u4", "6", [3, 15, 0, 9, 7, 2]), "i32{2}", run=False),
    topk("f32[2,3] i64{0}", run=False),
    topk("f32[2,0] i64{0}", run=False),
    topk("f32[2,?]@2,5 i64{2}"),
    # what is known of k and of the axis
    topk("f32[2,3,4] i64[]", run=False),
    topk("f32[2,3..7] i64[...]", run=False),
    topk("f32[2,3..7] i64{5}", run=False),
    topk("f32[2,3..7]", size_of("2..5"), run=False),
    topk("f32[2,3..7]", size_of("5..9"), run=False),
    topk("f32[2,4]", size_of("8..9"), run=False),
    topk("f32[2,8]", size_of("?", "i32"), run=False),
    topk("f32[2,?]", size_of("2..5"), run=False, known="topk-bounded-k"),
    topk("f32[2,4..]", size_of("6.."), run=False),
    topk("f32[...] i64{2}", run=False),
    topk("dynamic[...] dynamic[]", axis="-3", run=False),
    topk("string[3] i64{2}", run=False),
    topk("f32[1000000000000] i64{1000000000}", run=False),
    topk("f32[3] i64{5}", run=False, known="topk-k-too-large"),
    # refused
    topk("f32[2,3,4] i64{-2}"),
    topk("f32[2,3,4] i64{[2]}"),
    topk("f32[2,3,4] f32{2}"),
    topk("f32[2,3,4] boolean{1}"),
    topk("f32[] i64{1}"),
    topk("f32[2,3] i64{1}", axis="2"),
    topk("f32[2,3] i64{1}", axis="-3"),
    topk("f32[2,3] i64{1}", mode="best"),
    topk("f32[2,3] i64{1}", sort="none", stable="true"),
    topk("f32[2,3] i64{1}", index_element_type="u8"),
    topk_1("f32[2,3] i16{1}"),
    topk_1("f32[2,3] u64{1}"),
    topk("f32[2,3] i64{1} i64{1}"),
    row("TopK-3", "mode=max sort=value", "f32[2,3] i64{1}", outputs=2, known="missing-attribute"),
]


nonzero = rows_of("NonZero-3")

NONZERO = [
    nonzero(data("i32", "3,4", low=-1, high=1)),
    nonzero(data("i32", "3,4", low=-1, high=1), output_type="i32"),
    nonzero(data("f32", "5", [0, -0.0, np.nan, np.inf, 1e-40])),
    *(nonzero(data(t, "2,2,3", low=0, high=1)) for t in ("boolean", "u8", "i64", "f16", "bf16")),
    nonzero(data("f32", "2,2", [[0, 0], [0, 0]])),
    nonzero(data("f32", "", 5)),
    nonzero("f32[3,0]"),
    nonzero(data("i8", "?,3", [[0, 1, 0]], run_shape=(1, 3))),
    nonzero("f32[4,2..5]", output_type="i32"),
    nonzero("f32[?,0]", run=False),
    nonzero("f32[...]", run=False),
    nonzero("string[3,1]", run=False),
    nonzero("f32[1000000000000,1000000000000]", run=False),
    nonzero("f32{[[0, 1], [2, 0]]}"),
    nonzero("f32{3}"),
    nonzero("boolean{[0, 1, 1]}"),
    nonzero(sizes_of("2..5,?,0"), run=False, known="nonzero-of-bounds"),
    # refused
    nonzero("f32[3]", output_type="u8"),
    nonzero("f32[3] f32[3]"),
]


unique = rows_of(
    "Unique-10", "sorted=true index_element_type=i64 count_element_type=i64", outputs=4
)

ROWS = [[1, 2, 1], [3, 0, 3], [1, 2, 1], [0, 9, 0]]

MATRICES = [[[1, 2], [0, 5], [1, 2]], [[3, 4], [0, 5], [3, 4]]]
COUNT = "unique-count"

UNIQUE = [
    *(
        unique(data(t, "2,3,4", low=0, high=5), sorted=order, index_element_type="i32")
        for t in ("f32", "i32", "i8", "u8")
        for order in ("true", "false")
    ),
    *(
        unique(data("f32", "4,3", ROWS), axis, sorted=order, count_element_type="i32", known=COUNT)
        for axis in ("i64{0}", "i64{1}", "i64{-1}")
        for order in ("true", "false")
    ),
    unique(data("i32", "2,3,2", MATRICES), "i32{[1]}", known=COUNT),
    unique(data("f32", "3,1", [[2], [1], [2]]), "i64{0}"),
    unique("f32[]"),
    unique(data("i64", "?", [4, 4, 1], run_shape=(3,))),
    unique("f32[2,0]", run=False, known=COUNT),
    unique("f32[2,3..4]", run=False, known=COUNT),
    unique("f32[...]", run=False),
    unique("f32[...] i64{0}", run=False),
    unique("f32[2..5,?,..7] i64{0}", run=False, known=COUNT),
    unique("f32[2..5,?,..7] i64{1}", run=False),
    unique("f32[2..5,?,..7] i64{2}", run=False, known=("unique-count", "unique-of-nothing")),
    unique("f32[2,0] i64{1}", run=False),
    unique("f32[1000000000000,3] i64{0}", run=False, known=COUNT),
    unique(const("f32", ROWS)),
    unique(const("f32", ROWS), "i64{0}"),
    unique(const("f32", ROWS), "i64{-1}"),
    unique("i64{3}"),
    # refused
    unique("f32[2,3] i64{2}"),
    unique("f32[2,3] i64{[0, 1]}"),
    unique("f32[2,3] i8{0}"),
    unique("f32[] i64{0}"),
    unique("f32[2,3]", index_element_type="u8"),
    unique("f32[2,3]", count_element_type="f32"),
]


bucketize = rows_of("Bucketize-3", "output_type=i64 with_right_bound=true")

ON_BOUNDS = data("f32", "2,5", [[-9, 0, 1, 5, 7], [10, 11, np.inf, -np.inf, 2]])

BUCKETIZE = [
    *(
        bucketize(ON_BOUNDS, "f32{[0, 5, 10]}", with_right_bound=bound, output_type=t)
        for bound in ("true", "false")
        for t in ("i32", "i64")
    ),
    *(
        bucketize(data(t, "8", [0, 1, 2, 3, 4, 5, 6, 7]), "i32{[2, 5]}")
        for t in ("i32", "i64", "u8", "i8", "f16", "bf16")
    ),
    bucketize(data("i32", "3", [1, 2, 3]), "f32{[1.5, 2.5]}"),
    bucketize("f32[3] f32[0]"),
    bucketize("f32[0,3] f32{[1]}"),
    bucketize(data("f32", "", 4), "f32{[1, 4]}"),
    bucketize("f32[1..3,?] f32[...]", run=False),
    bucketize("dynamic[...] dynamic[?]", run=False),
    bucketize("f32[3] f32{[2, 1, 1]}", run=False, known="bucketize-order"),
    # refused
    bucketize("f32[3] f32{1}"),
    bucketize("f32[3] f32{[[1], [2]]}"),
    bucketize("boolean[3] f32{[1]}"),
    bucketize("f32[3] boolean{[1]}"),
    bucketize("f32[3] f32{[1]}", output_type="u8"),
    row("Bucketize-3", "with_right_bound=true", "f32[3] f32{[1]}"),
    bucketize("f32[3]"),
]


searched = rows_of("SearchSorted-15", "right_mode=false output_type=i64")

SEQUENCES = [[1, 3, 5, 5], [0, 0, 2, 9]]

SOUGHT = data("f32", "2,3", [[5, 0, 4], [0, 2, 10]])

SORTED = [
    *(
        searched(data("f32", "2,4", SEQUENCES), SOUGHT, right_mode=mode, output_type=t)
        for mode in ("true", "false")
        for t in ("i32", "i64")
    ),
    *(
        searched(data(t, "4", [1, 3, 5, 5]), data(t, "3,3", low=0, high=6))
        for t in ("i32", "i64", "u8", "i8", "f16", "bf16", "f64")
    ),
    searched(data("f32", "4", [1, 3, 5, 5]), data("f32", "", 3)),
    searched("f32[2,0] f32[2,3]", run=False),
    searched(data("f32", "1,2,4", [SEQUENCES]), "f32[1,2,0]", run=False),
    searched("f32[1..4,5] f32[2..9,7]", run=False),
    searched("f32[1..4,5] f32[...]", run=False),
    searched("f32[5] f32[...]", run=False),
    searched("f32[...] f32[2,3]", run=False),
    searched("dynamic[5] f32[]", run=False),
    unrun("SearchSorted-15", {}, "boolean[5] boolean[2,3]"),
    # refused
    searched("f32[] f32[...]"),
    searched("f32[2,5] f32[]"),
    searched("f32[1,2,3] f32[2,3]"),
    searched("f32[1..4,5] f32[7,7]"),
    searched("f32[5] f16[2,3]"),
    searched("f32[5] f32[2,3]", output_type="u8"),
]

test_sort = against_openvino(*TOPK, *NONZERO, *UNIQUE, *BUCKETIZE, *SORTED)
