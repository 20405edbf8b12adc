"""PriorBox and PriorBoxClustered."""

from __future__ import annotations

from differential.cases import Case, const, data
from rows import against_openvino, node, row, written

image = data("f32", "1,3,..300,200..400", run_shape=(1, 3, 224, 300))
feature = data("f32", "1,16,3..7,?", run_shape=(1, 16, 4, 5))


def sides(*given: object) -> list[object]:
    return [const("i64", list(side)) if isinstance(side, tuple) else side for side in given]


def prior(
    version: int = 8,
    size: object = (2, 3),
    image: object = (32, 48),
    known: object = (),
    run: object = True,
    **attributes: str,
) -> Case:
    attributes = {"offset": "0.5", **attributes}
    return row(f"PriorBox-{version}", attributes, *sides(size, image), known=known, run=run)


def clustered(
    size: object = (2, 3),
    image: object = (32, 48),
    known: object = (),
    run: object = True,
    **attributes: str,
) -> Case:
    attributes = written("offset=0.5 width=4,9,16 height=5,10,15", **attributes)
    return row("PriorBoxClustered-1", attributes, *sides(size, image), known=known, run=run)


def spatial(of: object) -> object:
    """Height and width by ShapeOf and StridedSlice, as converters write it."""
    masks = "begin_mask=0 end_mask=0 new_axis_mask=0 shrink_axis_mask=0 ellipsis_mask=0"
    return node("StridedSlice-1", masks, node("ShapeOf-3", {}, of), "i64{[2]} i64{[4]} i64{[1]}")


SSD = written(
    "min_size=16 max_size=38.46 aspect_ratio=2 flip=true variance=0.1,0.1,0.2,0.2 step=16"
)
PRIORS = [
    *[
        prior(v, **given)
        for v in (1, 8)
        for given in (
            SSD,
            {**SSD, "clip": "true"},
            {**SSD, "step": "0"},
            {**SSD, "flip": "false"},
            {**SSD, "aspect_ratio": "2,3"},
            {**SSD, "aspect_ratio": "2,0.5,1,2"},
            {**SSD, "max_size": ""},
            {**SSD, "variance": ""},
            {**SSD, "variance": "0.3"},
            {"min_size": "4,8", "max_size": "6,12", "aspect_ratio": "3"},
            {"min_size": "4,8", "max_size": "6"},
            {"min_size": "8"},
            {"fixed_size": "8", "density": "2"},
            {"fixed_size": "8,17", "density": "2,1"},
            {"fixed_size": "16", "fixed_ratio": "0.25", "density": "3", "step": "4"},
            {"fixed_size": "9", "density": "2", "aspect_ratio": "2", "flip": "true"},
            written("min_size=0.2,0.4 aspect_ratio=2,3 scale_all_sizes=false step=0.25"),
            {"min_size": "0.2", "scale_all_sizes": "false", "step": "-1", "aspect_ratio": "2"},
        )
    ],
    prior(min_max_aspect_ratios_order="false", **SSD),
    prior(min_max_aspect_ratios_order="false", **{**SSD, "min_size": "4,8", "max_size": "6,12"}),
    prior(1, min_max_aspect_ratios_order="false", run=False, **SSD),
    prior(size=spatial(feature), image=spatial(image), **SSD),
    prior(size=data("i64", "2", [2, 3]), **SSD),
    prior(size=data("i32", "?", [1, 2], run_shape=(2,)), image=data("i32", "2", [16, 16]), **SSD),
    prior(1, size=(0, 3), run=False, **SSD),
    prior(1, size=(-1, 3), run=False, **SSD),
    prior(size=(2, 3, 4), run=False),
    prior(size=(2,), run=False),
    prior(size=(10**8, 10**8), run=False, **SSD),
    prior(size=data("f32", "2"), run=False),
    prior(size=data("i64", "1,2"), run=False),
    prior(image=data("f16", "2"), run=False),
    prior(image=data("i64", "1,2"), run=False),
    prior(size=data("u8", "..."), run=False),
    prior(min_size="0", aspect_ratio="0", flip="true", run=False),
    prior(min_size="1e30", aspect_ratio="-1,-0.5", run=False),
    prior(min_size="abc", run=False),
    prior(size=(2, 3), min_size="2", scale_all_sizes="maybe", known="boolean-text"),
]

CLUSTERED = [
    clustered(),
    clustered(clip="false"),
    clustered(step="16"),
    clustered(step_w="8", step_h="4"),
    clustered(step="16", step_w="8"),
    clustered(variance="0.1,0.1,0.2,0.2"),
    clustered(variance="0.3"),
    clustered(offset="0"),
    clustered(size=spatial(feature), image=spatial(image), step="10"),
    clustered(size=data("i64", "2", [2, 3])),
    clustered(width="86.0", height="44.0", flip="0", img_h="0", img_w="0", img_size="0"),
    clustered(width="", height="", run=False),
    clustered(width="1,2", run=False),
    clustered(size=(2, 3, 1), run=False),
    clustered(size=data("f32", "2"), run=False),
    clustered(size=data("i64", "2,1"), run=False),
    clustered(size=(10**6, 10**6), run=False),
    clustered(size=data("i16", "..."), image=data("i64", "..."), run=False),
]

test_priors = against_openvino(*PRIORS, *CLUSTERED)
