"""ROIAlign, ROIAlignRotated, ROIPooling, PSROIPooling and DeformablePSROIPooling."""

from __future__ import annotations

from differential.cases import Case, data
from rows import against_openvino, parameters, row, table, unrun, written

ROIS = table("0 0 12 9; 3.3 1.7 9.1 14.2; -4 -3 2 3; 10 10 40 40; 5 5 5.2 5.1; 30 30 34 35")
TURNED = [
    [6, 5, 8, 4, 0],
    [6, 5, 8, 4, 0.5],
    [3.3, 7.7, 5, 9, -1.2],
    [0, 0, 6, 6, 0.7],
    [15, 12, 12, 10, 3],
    [40, 40, 3, 3, 0.1],
]
BATCHED = [
    [0, 0, 0, 12, 9],
    [1, 3.3, 1.7, 9.1, 14.2],
    [1, -4, -3, 2, 3],
    [0, 10, 10, 40, 40],
    [0, 5, 5, 5.2, 5.1],
    [1, 30, 30, 34, 35],
    [0, 9, 9, 3, 3],
]
PARTS = [
    [0, 0, 0, 1, 1],
    [1, 0.1, 0.2, 0.7, 0.95],
    [1, 0.5, 0.25, 0.5, 0.8],
    [0, -0.2, 0.3, 0.4, 1.2],
    [0, 0.8, 0.9, 0.3, 0.1],
]


ALIGN = {3: "ROIAlign-3", 9: "ROIAlign-9", 15: "ROIAlignRotated-15"}


def align_attributes(version: int, given: dict[str, str]) -> dict[str, str]:
    way = "mode=avg" if version < 15 else "clockwise_mode=false"
    return written(f"pooled_h=2 pooled_w=3 sampling_ratio=2 spatial_scale=0.5 {way}", **given)


def align(version: int = 9, element_type: str = "f32", **given: str) -> Case:
    rois = ROIS if version < 15 else TURNED
    regions = data(element_type, f"6,{len(rois[0])}", rois)
    inputs = f"{element_type}[2,3,9,8]", regions, "i32{[0, 1, 1, 0, 1, 0]}"
    return row(ALIGN[version], align_attributes(version, given), *inputs)


def align_shapes(version: int, *shapes: str, types: str = "f32 f32 i32", **given: str) -> Case:
    return unrun(ALIGN[version], align_attributes(version, given), *parameters(shapes, types))


ALIGNED = [
    *[
        align(version, **given)
        for version in (3, 9)
        for given in (
            {},
            {"mode": "max"},
            {"sampling_ratio": "0"},
            {"sampling_ratio": "0", "mode": "max"},
            {"sampling_ratio": "1"},
            {"spatial_scale": "1"},
            {"spatial_scale": "0.0625"},
            {"pooled_h": "1", "pooled_w": "1", "sampling_ratio": "3"},
            {"element_type": "f16"},
        )
    ],
    *[
        align(9, aligned_mode=mode, **given)
        for mode in ("asymmetric", "half_pixel_for_nn", "half_pixel")
        for given in (
            {},
            {"mode": "max"},
            {"sampling_ratio": "0"},
            {"spatial_scale": "1.5", "sampling_ratio": "3"},
        )
    ],
    *[
        align(15, **given)
        for given in (
            {},
            {"clockwise_mode": "true"},
            {"sampling_ratio": "0"},
            {"spatial_scale": "1", "sampling_ratio": "3"},
            {"pooled_h": "4", "pooled_w": "4"},
            {"element_type": "f16"},
        )
    ],
    *[
        align_shapes(v, f, rois.replace("#", "5" if v == 15 else "4"), i, **given)
        for v in (3, 9, 15)
        for f, rois, i, given in (
            ("2,3,9,8", "6,#", "6", {}),
            ("?,..4,?,?", "2..9,#", "4..", {}),
            ("...", "...", "...", {}),
            ("...", "...", "7", {}),
            ("2,3,9,8", "?,?", "?", {}),
            ("2,3,9,8", "1000,#", "...", {}),
            ("3,9,8", "6,#", "6", {}),
            ("2,3,9,8", "6", "6", {}),
            ("2,3,9,8", "6,#", "6,1", {}),
            ("2,3,9,8", "6,6", "6", {}),
            ("2,3,9,8", "6,#", "7", {}),
            ("2,3,9,8", "2..5,#", "6..", {}),
            ("2,3,9,8", "6,#", "6", {"types": "f32 f16 i32"}),
            ("2,3,9,8", "6,#", "6", {"types": "i32 i32 i32"}),
            ("2,3,9,8", "6,#", "6", {"types": "f32 f32 f32"}),
            ("2,3,9,8", "6,#", "6", {"types": "bf16 bf16 u8"}),
            ("2,3,9,8", "6,#", "6", {"pooled_h": "0"}),
            ("2,3,9,8", "6,#", "6", {"pooled_w": "-1"}),
            ("2,3,9,8", "6,#", "6", {"pooled_h": "x"}),
            ("2,3,9,8", "1000000000000,#", "1000000000000", {}),
        )
    ],
    align_shapes(9, "2,3,9,8", "6,4", "6", aligned_mode="half"),
    align_shapes(9, "2,3,9,8", "6,4", "6", mode="average"),
    align_shapes(9, "2,3,9,8", "6,4", "6", mode="AVG", aligned_mode="Half_Pixel"),
]


def pooling(
    method: str = "max",
    rois: object = None,
    element_type: str = "f32",
    features: str = "2,3,9,8",
    **given: str,
) -> Case:
    rois = rois or (BATCHED if method == "max" else PARTS)
    attributes = written(f"pooled_h=2 pooled_w=3 spatial_scale=0.5 method={method}", **given)
    regions = data(element_type, f"{len(rois)},5", rois)
    return row("ROIPooling-2", attributes, f"{element_type}[{features}]", regions)


def pooling_shapes(features: str, rois: str, types: str = "f32", **given: str | None) -> Case:
    attributes = written("pooled_h=2 pooled_w=3 spatial_scale=0.5", **given)
    return unrun("ROIPooling-2", attributes, *parameters((features, rois), types))


ENDED = [BATCHED[0], [-1, 0, 0, 0, 0], BATCHED[1], BATCHED[2]]
POOLED = [
    pooling(),
    pooling(spatial_scale="1"),
    pooling(spatial_scale="0.0625"),
    pooling(pooled_h="1", pooled_w="1"),
    pooling(pooled_h="7", pooled_w="6"),
    pooling(element_type="f16"),
    pooling(rois=ENDED),
    pooling(features="2,17,9,8"),
    pooling("bilinear"),
    pooling("bilinear", pooled_h="1", pooled_w="1"),
    pooling("bilinear", pooled_h="5", pooled_w="1"),
    pooling("bilinear", features="2,17,1,8"),
    pooling("bilinear", rois=[PARTS[0], ENDED[1], PARTS[1]]),
    pooling_shapes("2,3,9,8", "6,5"),
    pooling_shapes("?,..4,?,?", "2..9,5"),
    pooling_shapes("...", "?,?"),
    pooling_shapes("2,3,9,8", "..."),
    pooling_shapes("3,9,8", "6,5"),
    pooling_shapes("2,3,9,8", "6,4"),
    pooling_shapes("2,3,9,8", "5"),
    pooling_shapes("2,3,9,8", "6,5", "f32 f16"),
    pooling_shapes("2,3,9,8", "6,5", "i32 i32"),
    pooling_shapes("2,3,9,8", "6,5", "f64 f64"),
    pooling_shapes("2,3,9,8", "6,5", method="MAX"),
    pooling_shapes("2,3,9,8", "6,5", method="avg"),
    pooling_shapes("2,3,9,8", "6,5", pooled_h="0"),
    pooling_shapes("2,3,9,8", "6,5", spatial_scale="0"),
    pooling_shapes("2,3,9,8", "6,5", spatial_scale="-1"),
    pooling_shapes("2,3,9,8", "6,5", spatial_scale=None),
    pooling_shapes("2,3,9,8", "6,5", pooled_h=None),
    pooling_shapes("2,3,9,8", "6,5", pooled_h=None, pooled_w=None, output_roi="4,5"),
    pooling_shapes("2,3,9,8", "6,5", pooled_h=None, output_roi="4,5"),
    pooling_shapes("2,3,9,8", "6,5", output_roi="4"),
    pooling_shapes("2,3,9,8", "6,5", output_roi="4,5,6"),
    pooling_shapes("2,3,9,8", "6,5", output_roi="4,5", output_size="7,8"),
    pooling_shapes("2,3,9,8", "6,5", spatial_scale="1e-40"),
]


def sensitive(
    mode: str = "average",
    rois: object = None,
    element_type: str = "f32",
    group: int = 2,
    output: int = 3,
    bins: tuple[int, int] = (2, 3),
    **given: str,
) -> Case:
    whole = mode == "average"
    rois = rois or (BATCHED if whole else PARTS)
    channels = output * (group * group if whole else bins[0] * bins[1])
    text = f"mode={mode} output_dim={output} group_size={group}"
    text += f" spatial_scale={0.5 if whole else 1}"
    text += f" spatial_bins_x={bins[0]} spatial_bins_y={bins[1]}"
    regions = data(element_type, f"{len(rois)},5", rois)
    features = f"{element_type}[2,{channels},9,8]"
    return row("PSROIPooling-1", written(text, **given), features, regions)


def sensitive_shapes(features: str, rois: str, types: str = "f32", **given: str | None) -> Case:
    text = "mode=average output_dim=3 group_size=2 spatial_scale=0.5"
    attributes = written(f"{text} spatial_bins_x=1 spatial_bins_y=1", **given)
    return unrun("PSROIPooling-1", attributes, *parameters((features, rois), types))


SENSITIVE = [
    sensitive(),
    sensitive(group=3),
    sensitive(group=1),
    sensitive(spatial_scale="0.0625"),
    sensitive(spatial_scale="1"),
    sensitive(element_type="f16"),
    sensitive(rois=ENDED),
    sensitive(output=1),
    sensitive("bilinear"),
    sensitive("bilinear", group=1),
    sensitive("bilinear", group=3, bins=(1, 1)),
    sensitive("bilinear", spatial_scale="0.5"),
    sensitive("bilinear", rois=[PARTS[0], ENDED[1], PARTS[1]]),
    sensitive_shapes("2,12,9,8", "6,5"),
    sensitive_shapes("?,10..20,?,?", "2..9,5"),
    sensitive_shapes("...", "..."),
    sensitive_shapes("2,12,9,8", "?,?"),
    sensitive_shapes("2,13,9,8", "6,5"),
    sensitive_shapes("2,1..11,9,8", "6,5"),
    sensitive_shapes("12,9,8", "6,5"),
    sensitive_shapes("2,12,9,8", "6,4"),
    sensitive_shapes("2,12,9,8", "6"),
    sensitive_shapes("2,12,9,8", "6,5", "i32 f32"),
    sensitive_shapes("2,12,9,8", "6,5", "f32 i8"),
    sensitive_shapes("2,12,9,8", "6,5", "f16 f64"),
    sensitive_shapes("2,12,9,8", "6,5", mode="Average"),
    sensitive_shapes("2,12,9,8", "6,5", mode=None),
    sensitive_shapes("2,12,9,8", "6,5", output_dim=None),
    sensitive_shapes("2,12,9,8", "6,5", group_size=None),
    sensitive_shapes("2,12,9,8", "6,5", spatial_bins_x=None),
    sensitive_shapes("2,12,9,8", "6,5", group_size="0"),
    sensitive_shapes("2,12,9,8", "6,5", spatial_scale="0"),
    sensitive_shapes("2,12,9,8", "6,5", mode="bilinear", spatial_bins_x="0"),
    sensitive_shapes("2,12,9,8", "6,5", mode="bilinear", spatial_bins_x="2", spatial_bins_y="2"),
    sensitive_shapes("2,12,9,8", "6,5", mode="bilinear", spatial_bins_x="2", spatial_bins_y="3"),
    sensitive_shapes("2,12,9,8", "6,5", spatial_bins_x="0"),
]


def deformable(
    rois: list[list[float]] = BATCHED, moved: int = 0, group: int = 2, part: int = 2, **given: str
) -> Case:
    text = f"output_dim=4 group_size={group} spatial_scale=0.5 part_size={part}"
    attributes = written(f"{text} spatial_bins_x=2 spatial_bins_y=3 trans_std=0.4", **given)
    inputs = [f"f32[2,{4 * group * group},9,8]", data("f32", f"{len(rois)},5", rois)]
    if moved:
        inputs.append(data("f32", f"{len(rois)},{2 * moved},{part},{part}", low=-1, high=1))
    return row("DeformablePSROIPooling-1", attributes, *inputs)


def deformable_shapes(*shapes: str, types: str = "f32", **given: str) -> Case:
    attributes = written("output_dim=3 spatial_scale=0.5", **given)
    return unrun("DeformablePSROIPooling-1", attributes, *parameters(shapes, types))


DEFORMABLE = [
    deformable(),
    deformable(moved=1),
    deformable(moved=2),
    deformable(moved=4, group=3, part=3),
    deformable(group=1, part=1, moved=1),
    deformable(moved=1, group=4, part=2),
    deformable(spatial_scale="0.0625", moved=2),
    deformable(rois=ENDED, moved=1),
    deformable(spatial_bins_x="1", spatial_bins_y="1"),
    deformable(spatial_scale="1", trans_std="2", moved=4),
    deformable_shapes("2,12,9,8", "6,5"),
    deformable_shapes("2,12,9,8", "6,5", "6,2,1,1"),
    deformable_shapes("...", "..."),
    deformable_shapes("?,?,?,?", "2..4,?", "..."),
    deformable_shapes("12,9,8", "6,5"),
    deformable_shapes("2,12,9,8", "5"),
    deformable_shapes("2,12,9,8", "6,5", "6,2,1"),
    deformable_shapes("2,12,9,8", "6,5", output_dim="0"),
    deformable_shapes("2,12,9,8", "6,5", group_size="-1"),
    deformable_shapes("2,12,9,8", "6,5", types="i32 f16"),
    deformable_shapes("2,12,9,8", "6,5", group_size="3", mode="anything"),
    deformable_shapes("2,12,9,8", "6,7"),
]

test_regions = against_openvino(*ALIGNED, *POOLED, *SENSITIVE, *DEFORMABLE)
