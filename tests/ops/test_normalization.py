"""Normalization operations against OpenVINO: shapes, refusals and values of every version."""

from __future__ import annotations

from typing import Union

import numpy as np
import pytest
from differential.cases import Case, Data, const, data
from rows import against_openvino, names, row, sizes_of, unrun, written

INF, NAN = float("inf"), float("nan")
TEXT = {"string": "text-as-number"}
AXES = TEXT | {"boolean": "integers-wanted", "f32": "integers-wanted"}
TYPES = names("f16 bf16 f64 f8e4m3 nf4 i32 i64 u8 u1 boolean dynamic string")


def f32(
    shape: str, run_shape: tuple[int, ...] | None = None, low: float = -2, high: float = 2
) -> Data:
    return data("f32", shape, low=low, high=high, run_shape=run_shape)


def batch(
    version: str,
    source: Data,
    *channels: Data,
    run: bool = True,
    known: str = "",
    epsilon: str | None = "0.01",
) -> Case:
    """A BatchNormInference; `channels` are gamma, beta, mean and variance, or one for all four."""
    gamma, beta, mean, variance = channels if len(channels) == 4 else channels * 4
    inputs = (
        [gamma, beta, source, mean, variance]
        if version == "opset1"
        else [source, gamma, beta, mean, variance]
    )
    return row(f"BatchNormInference-{version}", {"epsilon": epsilon}, *inputs, run=run, known=known)


def positive(shape: str) -> Data:
    return f32(shape, None, 0.25, 3)


def batches(version: str) -> list[Case]:
    return [
        *(
            batch(
                version,
                f32(shape),
                f32(shape.split(",")[1]),
                f32(shape.split(",")[1]),
                f32(shape.split(",")[1]),
                positive(shape.split(",")[1]),
            )
            for shape in ("2,3", "2,3,4", "2,3,4,5", "1,2,2,3,2")
        ),
        *(
            batch(
                version,
                data(t, "2,3,4"),
                data(t, "3"),
                data(t, "3"),
                data(t, "3"),
                data(t, "3", low=0.25, high=3),
            )
            for t in ("f16", "bf16")
        ),
        *(batch(version, data(t, "2,3,4"), data(t, "3"), run=False) for t in TYPES),
        *(
            batch(version, f32(shape), f32(channel), run=False)
            for shape, channel in (
                ("?,3,4..9", "3"),
                ("2,?,4", "3"),
                ("2,2..5,4", "3..8"),
                ("2,3,4", "?"),
                ("...", "3"),
                ("2,3,4", "..."),
                ("2,?,4", "..."),
                ("...", "..."),
                ("2,?,?", "?"),
                ("0,3,4", "3"),
                ("2,3,0", "3"),
                ("2,3,1000000000000", "3"),
                # refused
                ("2,3,4", "4"),
                ("2", "3"),
                ("", "3"),
                ("2,3,4", "1"),
                ("2,3,4", "3,1"),
                ("2,3,4", ""),
                ("2,0,4", "0"),
                ("2,2..5,4", "6..8"),
                ("2,0,4", "?"),
                ("...", "0"),
            )
        ),
        batch(version, f32("2,?,4"), f32("3"), f32("?"), f32("..."), f32("2..3"), run=False),
        batch(version, f32("2,?,4"), f32("3"), f32("3"), f32("4"), f32("3"), run=False),
        batch(version, f32("..."), f32("3"), f32("3"), f32("3"), f32("4"), run=False),
        batch(version, data("f16", "2,3"), f32("3"), run=False),
        batch(version, data("dynamic", "2,3"), f32("3"), run=False),
        batch(version, data("dynamic", "2,3"), data("dynamic", "3"), run=False),
        batch(version, f32("2,3"), f32("3"), f32("3"), data("dynamic", "3"), f32("3"), run=False),
        *(
            batch(version, f32("2,3"), positive("3"), epsilon=epsilon, known=known)
            for epsilon, known in (
                *((text, "") for text in ("0", "1", "-0.1", "small")),
                (None, "missing-attribute"),
            )
        ),
    ]


BATCH = [
    *batches("opset1"),
    *batches("opset5"),
    row(
        "BatchNormInference-4",
        "epsilon=0.1",
        positive("3"),
        positive("3"),
        "f32[2,3]",
        positive("3"),
        positive("3"),
    ),
    row("BatchNormInference-5", "epsilon=0.1", "f32[2,3] f32[3] f32[3] f32[3]"),
]


Changes = dict[str, Union[str, None]]


def first(
    across: str | None = "true", scale: str | None = "true", eps: str | None = "0.01", **more: str
) -> Changes:
    return {"eps": eps, "across_channels": across, "normalize_variance": scale, **more}


def sixth(**changed: str | None) -> Changes:
    return written("eps=0.01 normalize_variance=true eps_mode=inside_sqrt", **changed)


MVN = [
    *(
        row("MVN-2", first(across, scale), "f32[2,3,4,5]")
        for across in ("true", "false")
        for scale in ("true", "false")
    ),
    *(
        row("MVN-2", first(across, scale), "f32[2,3,2,4,5]")
        for across, scale in (("true", "true"), ("false", "true"))
    ),
    *(row("MVN-2", first(across), "f32[2,3,7]") for across in ("true", "false")),
    row("MVN-2", first(eps="1"), "f32[2,3,4,5]"),
    row("MVN-2", first(reduction_axes="2,3"), "f32[2,3,4,5]"),
    row("MVN-2", first(reduction_axes="1,2,3"), "f32[2,3,4,5]"),
    row("MVN-2", first(reduction_axes=""), "f32[2,3,4,5]"),
    *(row("MVN-2", first(), f"{t}[2,3,4,5]") for t in ("f16", "bf16")),
    *(unrun("MVN-2", first(), f"{t}[2,3,4]", known=TEXT.get(t, "")) for t in TYPES),
    *(
        unrun("MVN-2", first(), f32(shape))
        for shape in ("?,3,4..9,5", "...", "", "2", "0,3,4", "2,3,1000000000000")
    ),
    unrun("MVN-2", first(eps=None), "f32[2,3,4]", known="missing-attribute"),
    unrun("MVN-2", first(None), "f32[2,3,4]", known="missing-attribute"),
    unrun("MVN-2", first(scale=None), "f32[2,3,4]", known="missing-attribute"),
    row("MVN-2", first(eps="tiny"), "f32[2,3,4]"),
    unrun("MVN-2", first("maybe"), "f32[2,3,4]", known="boolean-text"),
    unrun("MVN-1", first(), "f32[2,3,4]"),
    unrun("MVN-5", first(), "f32[2,3,4]"),
    row("MVN-2", first(), "f32[2,3,4] i64{[1]}"),
    # by a list of axes
    *(
        row("MVN-6", sixth(), "f32[2,3,4,5]", const("i64", axes))
        for axes in ([1, 2, 3], [2, 3], [-1, -2], [-1, 1, 2])
    ),
    *(
        row("MVN-6", sixth(eps_mode=mode, normalize_variance=scale), "f32[2,3,4,5] i32{[1, 2, 3]}")
        for mode in ("inside_sqrt", "outside_sqrt", "OUTSIDE_SQRT")
        for scale in ("true", "false")
    ),
    *(
        row("MVN-6", sixth(eps="1", eps_mode=mode), "f32[2,3,4] i64{[2]}")
        for mode in ("inside_sqrt", "outside_sqrt")
    ),
    row("MVN-6", sixth(), "f32[6] i64{[0]}"),
    row("MVN-6", sixth(), "f32[3,4] i64{[1]}"),
    row("MVN-6", sixth(), "f32[2,3,4,2,3] i64{[2, 3, 4]}"),
    *(row("MVN-6", sixth(), f"{t}[2,3,4]", "i64{[2]}") for t in ("f16", "bf16")),
    *(unrun("MVN-6", sixth(), f"{t}[2,3,4]", "i64{[2]}", known=TEXT.get(t, "")) for t in TYPES),
    *(
        unrun("MVN-6", sixth(), f"f32[2,3,4] {t}[2]", known=AXES.get(t, ""))
        for t in ("i32", "u8", "f32", "i64", "boolean", "dynamic", "string")
    ),
    *(
        unrun("MVN-6", sixth(), f"f32[2,3,4] i64[{shape}]")
        for shape in ("?", "...", "2", "4", "..4", "2..3", "0", "", "1,1", "5..6")
    ),
    *(
        unrun("MVN-6", sixth(), f32(shape), "i64{[-1]}")
        for shape in ("?,3,4..9", "...", "", "0,3", "2,1000000000000")
    ),
    *(
        unrun("MVN-6", sixth(), "f32[2,3,4]", const("i64", axes), known="normalized-axes")
        for axes in ([3], [-4])
    ),
    unrun("MVN-6", sixth(), "f32[2,3,4] i64{[1, 1]}", known="duplicate-axes"),
    unrun("MVN-6", sixth(), "f32[2,3,4] i64{[1, -2]}", known="duplicate-axes"),
    *(
        unrun("MVN-6", sixth(**{name: None}), "f32[2,3,4] i64{[2]}", known="missing-attribute")
        for name in ("eps", "eps_mode", "normalize_variance")
    ),
    row("MVN-6", sixth(eps_mode="max"), "f32[2,3,4] i64{[2]}"),
    row("MVN-6", sixth(), data("f32", "2,3", [[NAN, 1, 2], [1, 2, 3]]), "i64{[1]}"),
    row("MVN-6", sixth(), "f32[2,3,4]"),
    row(
        "MVN-6",
        sixth(),
        data("f32", "1,4", [1e4, 1e4 + 1, 1e4 + 2, 1e4 + 3], run_shape=(1, 4)),
        "i64{[1]}",
        rtol=1e-3,
    ),
]


def lrn(**changed: str | None) -> Changes:
    return written("alpha=0.5 beta=0.75 bias=2 size=3", **changed)


LRN = [
    *(
        row("LRN-1", lrn(size=size), "f32[2,6,4,5] i64{[1]}")
        for size in ("1", "2", "3", "4", "5", "20")
    ),
    *(row("LRN-1", lrn(), "f32[1,3,4,5]", const("i64", axes)) for axes in ([2, 3], [3, 2])),
    row("LRN-1", lrn(alpha="0.0001", beta="1", bias="1"), "f32[2,6,4,5] i32{[1]}"),
    row("LRN-1", lrn(bias="1.5"), "f32[2,6,4,5] i64{[1]}", known="lrn-whole-bias"),
    row("LRN-1", lrn(), "f32[2,6,4] i64{[1]}"),
    *(row("LRN-1", lrn(), f"{t}[1,6,3,4]", "i64{[1]}") for t in ("f16", "bf16")),
    *(unrun("LRN-1", lrn(), f"{t}[1,6,3,4]", "i64{[1]}", known=TEXT.get(t, "")) for t in TYPES),
    *(
        unrun("LRN-1", lrn(), f"f32[1,6,3,4] {t}[2]", known=TEXT.get(t, ""))
        for t in ("i32", "u8", "f32", "boolean", "dynamic", "string")
    ),
    *(
        unrun("LRN-1", lrn(), f"f32[2,3,4] i64[{shape}]")
        for shape in ("?", "...", "2", "4", "..4", "0", "", "1,1", "5..6")
    ),
    *(
        unrun("LRN-1", lrn(), f32(shape), "i64{[1]}")
        for shape in ("?,3,4..9", "...", "", "3", "0,3", "2,1000000000000")
    ),
    *(unrun("LRN-1", lrn(), "f32[2,3,4]", const("i64", axes)) for axes in ([3], [5])),
    unrun("LRN-1", lrn(), "f32[2,3,4] i64{[-4]}", known="normalized-axes"),
    unrun("LRN-1", lrn(), "f32[2,3,4] i64{[-1]}"),
    unrun("LRN-1", lrn(), "f32[2,3,4] i64{[1, 1]}", known="duplicate-axes"),
    *(
        unrun("LRN-1", lrn(**{name: None}), "f32[2,3,4] i64{[1]}", known="missing-attribute")
        for name in ("alpha", "beta", "bias", "size")
    ),
    row("LRN-1", lrn(size="big"), "f32[2,3,4] i64{[1]}"),
    unrun("LRN-1", lrn(size="0"), "f32[2,3,4] i64{[1]}", known="lrn-size"),
    row("LRN-1", lrn(), "f32[2,3,4]"),
    unrun("LRN-1", lrn(), "f32[2,3,4] i64{[]}"),
]


def euclid(eps: str | None = "0.01", mode: str | None = "add") -> Changes:
    return {"eps": eps, "eps_mode": mode}


EUCLID = [
    *(
        row("NormalizeL2-1", euclid(mode=mode), "f32[2,3,4,5]", const("i64", axes))
        for mode in ("add", "max", "MAX")
        for axes in ([1], [1, 2, 3], [2, 3], [-1], [0])
    ),
    *(row("NormalizeL2-1", euclid("5", mode), "f32[2,3,4] i64{[1]}") for mode in ("add", "max")),
    row("NormalizeL2-1", euclid(), "f32[2,3,4] i64{1}"),
    row("NormalizeL2-1", euclid(), "f32[2,3,4] i64{[]}"),
    row("NormalizeL2-1", euclid(), "f32[5] i64{[0]}"),
    row("NormalizeL2-1", euclid("0.5", "max"), data("f32", "2,2", [[0, 0], [3, 4]]), "i64{[1]}"),
    *(row("NormalizeL2-1", euclid(), f"{t}[2,3,4]", "i64{[1]}") for t in ("f16", "bf16")),
    *(
        unrun("NormalizeL2-1", euclid(), f"{t}[2,3,4]", "i64{[1]}", known=TEXT.get(t, ""))
        for t in TYPES
    ),
    *(
        unrun("NormalizeL2-1", euclid(), f"f32[2,3,4] {t}[2]", known=AXES.get(t, ""))
        for t in ("i32", "u8", "f32", "boolean", "dynamic", "string")
    ),
    *(
        unrun("NormalizeL2-1", euclid(), f"f32[2,3,4] i64[{shape}]")
        for shape in ("?", "...", "2", "4", "..4", "0", "", "1,1", "5..6")
    ),
    *(
        unrun("NormalizeL2-1", euclid(), f32(shape), "i64{[1]}")
        for shape in ("?,3,4..9", "...", "", "3", "0,3", "2,1000000000000")
    ),
    *(
        unrun("NormalizeL2-1", euclid(), "f32[2,3,4]", const("i64", axes))
        for axes in ([3], [-4], [-3])
    ),
    unrun("NormalizeL2-1", euclid(), "f32[2,3,4] i64{[1, 1]}", known="duplicate-axes"),
    *(
        unrun("NormalizeL2-1", euclid(**changed), "f32[2,3,4] i64{[1]}", known="missing-attribute")
        for changed in ({"eps": None}, {"mode": None})
    ),
    row("NormalizeL2-1", euclid(mode="min"), "f32[2,3,4] i64{[1]}"),
    row("NormalizeL2-1", euclid(), data("f32", "2,3", [[NAN, 1, 2], [1, 2, 3]]), "i64{[1]}"),
    row("NormalizeL2-1", euclid(), data("f32", "2,3", [[INF, 1, 2], [1, 2, 3]]), "i64{[1]}"),
    row("NormalizeL2-1", euclid(), "f32[2,3,4]"),
    unrun("NormalizeL2-1", euclid(), "f32[...]", sizes_of("1..2")),
]


def group(number: str | None = "2", epsilon: str | None = "0.01") -> Changes:
    return {"num_groups": number, "epsilon": epsilon}


GROUP = [
    *(
        row("GroupNormalization-12", group(number), "f32[2,6,4,5] f32[6] f32[6]")
        for number in ("1", "2", "3", "6")
    ),
    *(
        row("GroupNormalization-12", group(), f32(shape), "f32[4] f32[4]")
        for shape in ("2,4", "2,4,3", "2,4,3,2,2")
    ),
    row("GroupNormalization-12", group(), "f16[2,4,3] f16[4] f16[4]"),
    *(
        unrun("GroupNormalization-12", group(), f"{t}[2,4,3] {t}[4] {t}[4]", known=TEXT.get(t, ""))
        for t in TYPES
    ),
    unrun("GroupNormalization-12", group(), "f32[2,4,3] f16[4] f32[4]"),
    unrun("GroupNormalization-12", group(), "dynamic[2,4,3] f32[4] f32[4]"),
    *(
        unrun("GroupNormalization-12", group(), f32(shape), f32(scale), f32(bias))
        for shape, scale, bias in (
            ("?,4,3..9", "4", "4"),
            ("2,?,4", "4", "4"),
            ("2,2..5,4", "3..8", "?"),
            ("2,4,4", "?", "..."),
            ("...", "4", "4"),
            ("2,?,4", "...", "..."),
            ("...", "...", "..."),
            ("2,2..5,4", "4", "5"),
            ("0,4,3", "4", "4"),
            ("2,4,0", "4", "4"),
            ("2,4,1000000000000", "4", "4"),
            ("2,?,4", "3", "3"),
            # refused
            ("2,4,3", "3", "3"),
            ("2,4,3", "4", "3"),
            ("2,5,3", "5", "5"),
            ("2,1,3", "1", "1"),
            ("2", "2", "2"),
            ("", "2", "2"),
            ("2,1,4", "?", "?"),
            ("2,4,3", "4,1", "4"),
            ("2,4,3", "", "4"),
            ("...", "3", "4"),
            ("2,2..3,4", "5..8", "?"),
            ("2,0,4", "0", "0"),
            ("2,4,3", "4", "1,4"),
        )
    ),
    *(
        unrun("GroupNormalization-12", group(number), "f32[2,4,3] f32[4] f32[4]")
        for number in ("0", "-1", "3", "8", "two")
    ),
    *(
        unrun("GroupNormalization-12", group(number), "f32[...] f32[4] f32[4]")
        for number in ("0", "-1", "3", "8")
    ),
    unrun(
        "GroupNormalization-12",
        group(epsilon=None),
        "f32[2,4,3] f32[4] f32[4]",
        known="missing-attribute",
    ),
    unrun("GroupNormalization-12", group(None), "f32[2,4,3] f32[4] f32[4]"),
    row("GroupNormalization-11", group(), "f32[2,4,3] f32[4] f32[4]"),
    row("GroupNormalization-12", group(), "f32[2,4,3] f32[4]"),
]


GRN = [
    *(row("GRN-1", "bias=0.5", f32(shape)) for shape in ("2,3,4,5", "1,3,4")),
    row("GRN-1", "bias=1e-6", "f32[2,3,4,5]"),
    *(row("GRN-1", "bias=0.5", f"{t}[2,3,4,5]") for t in ("f16", "bf16")),
    *(unrun("GRN-1", "bias=0.5", f"{t}[2,3,4]", known=TEXT.get(t, "")) for t in TYPES),
    *(
        unrun("GRN-1", "bias=0.5", f32(shape))
        for shape in ("2,3", "?,3,4..9", "...", "", "2", "0,3,4", "2,3,4,5,6", "2,3,1000000000000")
    ),
    row("GRN-1", {}, "f32[2,3,4,5]", known="missing-attribute"),
    row("GRN-1", "bias=some", "f32[2,3,4,5]"),
    row("GRN-1", "bias=1", "f32[2,3] f32[2,3]"),
]

test_against_openvino = against_openvino(*BATCH, *MVN, *LRN, *EUCLID, *GROUP, *GRN)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0), (2, 0, 3)])
def test_without_elements(shape: tuple[int, ...]) -> None:
    from irshape.ops.normalization import GRN, LRN, MVN_1, MVN_6, GroupNormalization, NormalizeL2

    numbers, channels, axes = (
        np.zeros(shape, np.float32),
        np.ones(shape[1], np.float32),
        np.array([1]),
    )
    for result in (
        MVN_1(eps=0.1).evaluate(numbers),
        MVN_6().evaluate(numbers, axes),
        LRN(alpha=1.0, beta=0.5, bias=1.0, size=3).evaluate(numbers, axes),
        NormalizeL2(eps=0.1).evaluate(numbers, axes),
        GroupNormalization(num_groups=2, epsilon=0.1).evaluate(numbers, channels, channels),
        GRN().evaluate(numbers),
    ):
        assert result.shape == shape
