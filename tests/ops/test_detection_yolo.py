"""RegionYolo and ReorgYolo."""

from __future__ import annotations

from differential.cases import Case, data
from rows import against_openvino, row, written


def region(
    shape: str,
    element_type: str = "f32",
    run: bool = True,
    run_shape: tuple[int, ...] | None = None,
    **given: str,
) -> Case:
    attributes = written("axis=1 end_axis=3 coords=4 classes=3 num=2 do_softmax=true", **given)
    return row(
        "RegionYolo-1",
        attributes,
        data(element_type, shape, low=-4, high=4, run_shape=run_shape),
        run=run,
    )


def reorg(
    shape: str,
    stride: str = "2",
    element_type: str = "f32",
    run: bool = True,
    run_shape: tuple[int, ...] | None = None,
    known: object = (),
) -> Case:
    return row(
        "ReorgYolo-2",
        f"stride={stride}",
        data(element_type, shape, run_shape=run_shape),
        run=run,
        known=known,
    )


v3 = {"do_softmax": "false", "mask": "0,1"}
CASES = [
    region("1,16,2,3"),
    region("2,16,2,3"),
    region("2,16,3,1", axis="-3", end_axis="-1"),
    region("1,16,2,3", end_axis="1"),
    region("1,16,2,3", axis="0", end_axis="3"),
    region("1,16,2,3", axis="2", end_axis="3"),
    region("1,16,2,3", "f16"),
    region("2,16,2,3", **v3),
    region("2,24,2,3", do_softmax="false", mask="3,4,5", num="9", anchors="10,14,23,27,37,58"),
    region("1,16,2,3", "f16", **v3),
    region("2,?,2..3,?", run_shape=(2, 16, 2, 3)),
    region("?,16,2,3", run_shape=(3, 16, 2, 3), **v3),
    region("1..4,16,2..3,?", run=False),
    region("...", run=False),
    region("...", run=False, **v3),
    region("1,16,2,3", run=False, axis="3", end_axis="1"),
    region("1,16,2,3", run=False, axis="4"),
    region("1,16,2,3", run=False, end_axis="-5"),
    region("1,16,2", run=False),
    region("1,16,2,3", "i32", run=False),
    region("1,255,26,26", run=False),
    region("1,16,2,3", run=False, do_softmax="false", mask=""),
    region("1,16,4000000000,4000000", run=False),
    region("1,16,2,3", "bf16", run=False),
    region("2,8,2,3", num="1", classes="0", coords="7"),
    reorg("1,26,4,6"),
    reorg("2,5,2,4"),
    reorg("2,17,3,6", "3"),
    reorg("1,4,2,2"),
    reorg("2,8,4,6"),
    reorg("2,18,6,3", "3"),
    reorg("1,3,2,2", "1"),
    reorg("1,8,4,4", element_type="i32"),
    reorg("1,8,4,4", element_type="f16"),
    reorg("1,8,4,4", "2,4"),
    reorg("?,4..9,2..7,?", run_shape=(1, 8, 4, 2)),
    reorg("...", run=False),
    reorg("2,?,5,6", run=False),
    reorg("2,4,3..5,6", run=False),
    reorg("2,3,4,6", run=False),
    reorg("2,2..3,4,6", run=False),
    reorg("2,4,4", run=False),
    reorg("2,4,4,5", run=False),
    reorg("2,4,4,6", "-2", run=False),
    reorg("2,4,4,6", "", run=False),
    reorg("2,4,4,6", "x", run=False),
    reorg("2,4,4,6", element_type="boolean", run=False),
]

test_yolo = against_openvino(*CASES)
