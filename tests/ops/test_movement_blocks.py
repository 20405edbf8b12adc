"""Operations that move blocks, against OpenVINO.

DepthToSpace, SpaceToDepth, BatchToSpace, SpaceToBatch, ExtractImagePatches and Col2Im.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, data
from rows import PACKED, TYPES, against_openvino, all_given, row, written

Shape = tuple[int, ...] | None


def depth(
    operation: str,
    shape: str,
    block: object = 2,
    mode: str = "blocks_first",
    fed: Shape = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    return row(
        f"{operation}-1", f"block_size={block} mode={mode}", data(t, shape, run_shape=fed), **fields
    )  # type: ignore[arg-type]


def depths(operation: str) -> list[Case]:
    to_space = operation == "DepthToSpace"
    four, five, three = (
        ("1,8,2,3", "2,16,1,2,2", "2,4,3") if to_space else ("1,2,4,6", "2,2,2,4,4", "2,2,6")
    )
    return [
        *(
            depth(operation, shape, 2, mode)
            for shape in (three, four, five)
            for mode in ("blocks_first", "depth_first")
        ),
        depth(operation, "1,9,2,3" if to_space else "1,2,6,3", 3, "depth_first"),
        depth(operation, four, 1),
        depth(operation, "0,4,2,2"),
        depth(operation, "1,4,0,2"),
        depth(operation, "?,4..16,2..6,?", fed=(1, 4, 2, 2)),
        depth(operation, "...", run=False),
        depth(operation, four, 2, "BLOCKS_FIRST"),
        row(f"{operation}-1", "block_size=2", f"f32[{four}]", known="missing-attribute"),
        *(depth(operation, "1,4,2,2", t=t) for t in TYPES),
        *(depth(operation, "1,4,2,2", t=t, run=False) for t in (*PACKED, "string", "dynamic")),
        depth(operation, "1,3,5,5"),
        depth(operation, "1,1..3,1,1" if to_space else "1,1,1,1"),
        depth(operation, "4,4"),
        depth(operation, four, 0),
        depth(operation, four, -2),
        depth(operation, four, 2, "sideways"),
        row(f"{operation}-1", "mode=blocks_first", f"f32[{four}]"),
        row(f"{operation}-1", "block_size=2 mode=blocks_first", *([data("f32", four)] * 2)),
    ]


def batch(
    operation: str,
    shape: str,
    blocks: object,
    begin: object,
    end: object,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    lists = all_given(index, blocks, begin, end)
    return row(f"{operation}-2", {}, data(t, shape, run_shape=fed), *lists, **fields)  # type: ignore[arg-type]


def batches(operation: str) -> list[Case]:
    to_space = operation == "BatchToSpace"
    shape = "12,2,4" if to_space else "2,5,6"
    longer = {} if to_space else {"known": "lists-longer-than-rank", "run": False}
    twice: dict[str, object] = {"known": "batch-itself", "run": False}
    return [
        batch(operation, shape, blocks=[1, 2, 3], begin=[0, 0, 0], end=[0, 1, 0]),
        batch(operation, shape, blocks=[1, 2, 3], begin=[0, 1, 1], end=[0, 0, 2]),
        batch(operation, shape, blocks=[1, 1, 1], begin=[0, 0, 0], end=[0, 0, 0]),
        batch(operation, shape, blocks=[1, 2, 3], begin=[0, 1, 2], end=[0, 0, 1], index="i32"),
        batch(operation, shape, [1, 2, 3], [0, 1, 0], [0, 0, 0], index="u8", run=False),
        batch(operation, "4,4", blocks=[1, 2], begin=[0, 0], end=[0, 0]),
        batch(operation, "8,2,3,2,1", [1, 1, 2, 1, 2], [0, 0, 1, 0, 1], [0, 0, 0, 0, 0]),
        batch(operation, "4,0", blocks=[1, 2], begin=[0, 0], end=[0, 0])
        if to_space
        else batch(
            operation,
            "0,4",
            blocks=[1, 2],
            begin=[0, 0],
            end=[0, 0],
            run="alone",
            expected=[np.zeros((0, 2))],
        ),
        batch(operation, "?,2..4", blocks=[1, 2], begin=[0, 1], end=[0, 1], fed=(4, 4)),
        batch(operation, "4..8,?", blocks=[1, 2], begin=[0, 0], end=[0, 2], fed=(4, 4)),
        batch(operation, "...", blocks=[1, 2], begin=[0, 0], end=[0, 0], run=False),
        batch(operation, "4,4", blocks="2", begin=[0, 0], end=[0, 0], run=False),
        batch(operation, "4,4", blocks=[1, 2], begin="2", end=[0, 0], run=False),
        batch(operation, "4,4", blocks=[1, 2], begin=[0, 0], end="2", run=False),
        batch(operation, "4,4", blocks="2", begin="?", end="...", run=False),
        batch(operation, "?,?", blocks="...", begin="...", end="...", run=False),
        *(batch(operation, "4,4", blocks=[1, 2], begin=[0, 0], end=[0, 0], t=t) for t in TYPES),
        *(
            batch(operation, "4,4", blocks=[1, 2], begin=[0, 0], end=[0, 0], t=t, run=False)
            for t in (*PACKED, "string", "dynamic")
        ),
        batch(operation, "4,4", blocks=[2, 2], begin=[0, 0], end=[0, 0], **twice),
        batch(operation, "4,4", blocks=[1, 2], begin=[1, 0], end=[0, 0], **twice),
        batch(operation, "4,4", blocks=[1, 2], begin=[0, 0], end=[1, 0], **twice),
        batch(operation, "4,4", blocks=[1, 2, 1], begin=[0, 0, 0], end=[0, 0, 0], **longer),
        batch(operation, "4,4", blocks=[1], begin=[0], end=[0]),
        batch(operation, "4,4", blocks=[1, 2], begin=[0, 0, 0], end=[0, 0]),
        batch(operation, "4,4", blocks=[1, 2], begin=[0, 0], end=[0]),
        batch(operation, "4", blocks=[1], begin=[0], end=[0]),
        batch(operation, "4,4", blocks=[1, 0], begin=[0, 0], end=[0, 0]),
        batch(operation, "4,4", blocks=[1, -2], begin=[0, 0], end=[0, 0]),
        batch(operation, "3,3", blocks=[1, 2], begin=[0, 0], end=[0, 0]),
        batch(operation, "4,4", blocks=[[1, 2]], begin=[0, 0], end=[0, 0]),
        batch(operation, "4,4", blocks=[1.0, 2.0], begin=[0.0, 0.0], end=[0.0, 0.0], index="f32"),
        row(f"{operation}-2", {}, "f32[4,4] i64{[1, 2]} i64{[0, 0]}"),
        row(f"{operation}-1", {}, "f32[4,4] i64{[1, 2]} i64{[0, 0]} i64{[0, 0]}"),
    ]


BATCHES = [
    *batches("BatchToSpace"),
    *batches("SpaceToBatch"),
    batch("BatchToSpace", "4,4", blocks=[1, 2], begin=[0, 5], end=[0, 4]),
    batch("BatchToSpace", "4,4", blocks=[1, 2], begin=[0, -1], end=[0, 0]),
    batch("SpaceToBatch", "4,4", [1, 2], [0, -2], [0, 0], run=False, known="negative-size"),
    row("BatchToSpace-2", {}, "f32[4,4] i32{[1, 2]} i64{[0, 0]} i64{[0, 0]}"),
    row("SpaceToBatch-2", {}, "f32[4,4] i32{[1, 2]} i64{[0, 0]} i64{[0, 0]}"),
]


def patches(
    shape: str,
    sizes: str = "2,2",
    strides: str = "1,1",
    rates: str = "1,1",
    auto_pad: str = "valid",
    fed: Shape = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    attributes = {"sizes": sizes, "strides": strides, "rates": rates, "auto_pad": auto_pad}
    return row("ExtractImagePatches-3", attributes, data(t, shape, run_shape=fed), **fields)  # type: ignore[arg-type]


PATCHES = [
    *(
        patches(shape, sizes=sizes, strides=strides, rates=rates, auto_pad=auto_pad)
        for auto_pad in ("valid", "same_upper", "same_lower")
        for shape, sizes, strides, rates in (
            ("1,2,4,5", "2,2", "1,1", "1,1"),
            ("2,2,8,7", "2,3", "2,3", "2,2"),
            ("1,1,10,10", "3,3", "5,5", "1,1"),
            ("1,1,8,8", "2,2", "3,3", "1,1"),
            ("1,1,6,6", "4,1", "1,2", "1,3"),
            ("1,2,1,1", "3,3", "1,1", "1,1"),
        )
    ),
    patches("1,2,0,5"),
    patches("1,2,0,5", auto_pad="same_upper"),
    patches("0,2,4,5"),
    patches("1,2,4,5", sizes="9,2"),
    patches("2..3,?,4..,..5", fed=(2, 1, 4, 5)),
    patches("2..3,?,4..,..5", strides="2,3", auto_pad="same_lower", fed=(2, 1, 4, 5)),
    patches("...", run=False),
    *(patches("1,1,3,3", t=t) for t in TYPES),
    *(patches("1,1,3,3", t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    patches("1,2,4,5", sizes="-1,-1", run=False, known="window-not-positive"),
    patches(
        "1,2,4,5", rates="-1,-1", auto_pad="same_lower", run=False, known="window-not-positive"
    ),
    patches("1,2,4,5", strides="-1,1", run=False, known="window-not-positive"),
    patches("2,4,5"),
    patches("1,2,4,5", sizes="2"),
    patches("1,2,4,5", strides="1,1,1"),
    patches("1,2,4,5", strides="0,1"),
    patches("1,2,4,5", rates="0,1"),
    patches("1,2,4,5", rates=""),
    patches("1,2,4,5", auto_pad="explicit"),
    patches("1,2,4,5", auto_pad="notset"),
    row("ExtractImagePatches-3", "sizes=2,2 strides=1,1 rates=1,1", "f32[1,1,3,3]"),
    row("ExtractImagePatches-2", "sizes=2,2 strides=1,1 rates=1,1 auto_pad=valid", "f32[1,1,3,3]"),
]


def image(
    shape: str = "2,8,9",
    size: object = (4, 4),
    kernel: object = (2, 2),
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    known: str = "",
    **attributes: str | None,
) -> Case:
    lists = all_given(index, size, kernel)
    given = written("strides=1,1 dilations=1,1 pads_begin=0,0 pads_end=0,0", **attributes)
    run = not (known or isinstance(size, str) or isinstance(kernel, str) or shape == "...")
    return row("Col2Im-15", given, data(t, shape, run_shape=fed), *lists, run=run, known=known)


IMAGE = [
    image(),
    image("8,9"),
    image("1,6,6", (4, 4), (2, 3)),
    image("1,4,4", (4, 4), strides="2,2"),
    image("1,4,4", (4, 4), dilations="2,2"),
    image("2,8,9", (2, 2), pads_begin="1,1", pads_end="1,1"),
    image("1,4,6", (2, 2), pads_begin="1,0", pads_end="0,2"),
    image("0,8,9"),
    image(index="i32"),
    image("2..3,8,?", fed=(2, 8, 9)),
    image("?,..9,9", fed=(2, 8, 9)),
    image("..."),
    image(size="2"),
    image(kernel="2"),
    image(size="...", kernel="?"),
    image("?,8,9", size=(4, -1), known="negative-size"),
    *(
        image("1,4,4", (3, 3), t=t)
        for t in ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")
    ),
    *(image("1,4,?", (3, 3), t=t) for t in (*PACKED, "boolean", "dynamic")),
    image(strides="1,1,1", known="two-numbers"),
    image(pads_begin="0,0,0", known="two-numbers"),
    image(pads_end="-1,-1", pads_begin="1,1", known="two-numbers"),
    *(
        image(**{name: None}, known="col2im-defaults")
        for name in ("strides", "dilations", "pads_begin", "pads_end")
    ),
    image("8"),
    image("1,2,8,9"),
    image("8,8"),
    image("9,9"),
    image(size=(4, 4, 4)),
    image(kernel=(2, 2, 1)),
    image(kernel=(0, 2)),
    image(kernel=(-2, -2)),
    image(size=(1, 1)),
    image(strides="1"),
    image(strides="0,1"),
    image(strides="2,2"),
    image(dilations="0,0"),
    image(pads_begin="1"),
    image(size=(4.0, 4.0), kernel=(2.0, 2.0), index="f32"),
    image(index="u8"),
    row("Col2Im-14", {}, "f32[8,9] i64{[4, 4]} i64{[2, 2]}"),
]

test_blocks = against_openvino(
    *depths("DepthToSpace"), *depths("SpaceToDepth"), *BATCHES, *PATCHES, *IMAGE
)
