"""The overlays of a page: errors, ranges, costs, dynamic sizes, releases, devices.

An overlay gives each layer a note, and either a number (`heat`) or one of a few groups (`groups`,
the most important first). `focus` lists the layers to show first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..byte_sizes import written_size
from ..devices.facts import DEVICES
from ..devices.verdicts import judge
from ..inference.engine import infer
from ..inference.explaining import Place, Reasons
from ..inference.overview import dynamic_places
from ..inference.reasons import spaced
from ..inference.result import Inference
from ..inspection.costs import LayerCost, costs_of
from ..inspection.requirements import Requirements
from ..model.graph import Layer
from ..model.names import inputs_of
from ..releases import Release, written
from ..rules.settings import PLAIN, Devices, Settings
from ..shapes import UNBOUNDED, Dimension
from .document import Numbering

LARGEST = 1e30
"""The number that stands for infinity, which JSON does not have and a scale cannot show."""

Groups = tuple[tuple[str, str], ...]
"""The names of groups, each with a tone, i.e. its colour: `bad`, `warn`, `note`, `good`, or `none`
for no colour."""


class Overlay(NamedTuple):
    """An overlay of a page. values: for each layer, a number or the position of a group, and a
    note."""

    id: str
    title: str
    about: str
    values: list[tuple[int, float, str]]
    groups: Groups | None = None
    unit: str = ""
    focus: list[tuple[int, str]] = []  # noqa: RUF012  (a tuple's default, never changed)
    first: bool = False
    """Whether the page shows this overlay first."""
    unmatched: list[str] = []  # noqa: RUF012
    """The keys in a file of node data that do not name a layer of the model."""

    def document(self) -> dict[str, Any]:
        """Returns the overlay as JSON. Layers with the same value are in one list."""
        layers: dict[tuple[float, str], list[int]] = {}
        for at, value, note in self.values:
            layers.setdefault((value, note), []).append(at)
        return {
            **{key: value for key, value in self._asdict().items() if key != "unmatched"},
            "kind": "heat" if self.groups is None else "groups",
            "values": [[value, note, at] for (value, note), at in layers.items()],
        }


# overlays that need no run of the model


def static_overlays(
    inference: Inference,
    symbols: Inference | None,
    numbering: Numbering,
    settings: Settings = PLAIN,
) -> list[Overlay]:
    """Returns the overlays of costs, dynamic sizes, releases and devices. settings: the release and
    the devices that interest the user; their overlays come first."""
    overlays = [*_costs(inference, numbering)]
    if symbols is not None and symbols.model.kind == "net":
        overlays.append(_dynamic(symbols, numbering))
    if inference.model.format.is_ir:
        overlays.append(_releases(inference, numbering, settings.target))
        overlays += _devices(inference, numbering, settings.devices)
    return [overlay for overlay in overlays if overlay.values]


def _costs(inference: Inference, numbering: Numbering) -> list[Overlay]:
    least, sizes = _at_least_sizes(inference)
    costs = costs_of(least)

    def column(value: Callable[[LayerCost], Dimension], write: Callable[[int], str]) -> list[Any]:
        return [
            (
                numbering.at[cost.layer],
                _amount(size),
                _span(size, write),
            )
            for cost in costs
            if (size := value(cost)).high
        ]

    return [
        Overlay(
            "multiply-adds",
            "Multiply-adds",
            "The multiply-adds of one evaluation; bodies count once per iteration." + sizes,
            column(lambda cost: cost.multiply_adds, "{:,} multiply-adds".format),
        ),
        Overlay(
            "activations",
            "Bytes of outputs",
            "How many bytes the outputs take in one evaluation." + sizes,
            column(lambda cost: cost.bytes, written_size),
            unit="bytes",
        ),
        Overlay(
            "parameters",
            "Bytes of weights",
            "How many bytes of constants the layer uses; each constant counts only for the first "
            "layer that uses it.",
            column(lambda cost: Dimension(cost.parameter_bytes), written_size),
            unit="bytes",
        ),
    ]


def _at_least_sizes(inference: Inference) -> tuple[Inference, str]:
    """Infers shapes with the lower bound, or at least 1, for each dynamic size of an input.
    Otherwise the costs of unbounded sizes would be unknown. Also returns a sentence that tells the
    user these shapes of the inputs."""
    model = inference.model
    shapes: dict[Layer, list[int]] = {}
    if model.kind == "net":
        for layer, outputs in zip(model.net.layers, inference.result.outputs, strict=True):
            sizes = outputs[0].shape.dims if layer.is_parameter and outputs else None
            if sizes is not None and not all(size.is_static for size in sizes):
                shapes[layer] = [max(1, size.low) for size in sizes]
    if not shapes:
        return inference, ""
    names = dict(zip(model.parameters, inputs_of(model).names, strict=True))
    written_sizes = ", ".join(
        f"{names[layer]} [{','.join(map(str, sizes))}]" for layer, sizes in list(shapes.items())[:4]
    )
    more = ", …" if len(shapes) > 4 else ""
    note = f" Assumed shapes of dynamic inputs: {written_sizes}{more}."
    return infer(model, shapes, known=inference), note


UNKNOWN = -1.0
"""The number that stands for an unknown value. The page lists such a layer last, without colour."""


def _amount(size: Dimension) -> float:
    amount = size.low or size.high
    return UNKNOWN if amount >= UNBOUNDED else float(amount)


def _span(size: Dimension, write: Callable[[int], str]) -> str:
    if size.low == 0 and size.high == UNBOUNDED:
        return "not known"
    if size.is_static:
        return write(size.low)
    if size.high == UNBOUNDED:
        return f"{write(size.low)} or more"
    return f"{write(size.low)} to {write(size.high)}"


REASONS: Groups = (
    ("lost", "bad"),
    ("data-dependent", "warn"),
    ("unbounded", "warn"),
    ("computed", "note"),
    ("input", "good"),
)


def _dynamic(symbols: Inference, numbering: Numbering) -> Overlay:
    reasons = Reasons(symbols)
    order = [name for name, _ in REASONS]
    worst: dict[Layer, int] = {}
    notes: dict[Layer, list[str]] = {}
    for place in dynamic_places(symbols.result):
        verdict = reasons.verdict(place)
        if verdict in order:
            layer = place.layer
            worst[layer] = min(worst.get(layer, len(order)), order.index(verdict))
            notes.setdefault(layer, []).append(
                f"axis {place.at}: {_reason(reasons, place, verdict)}"
            )
    values = [
        (numbering.at[layer], float(group), "; ".join(notes[layer]))
        for layer, group in worst.items()
    ]
    return Overlay(
        "dynamic",
        "Dynamic dimensions",
        "Why dimensions are dynamic, as in `irshape explain`: given by an input, computed from "
        "dimensions of inputs, without upper bound, dependent on data, or lost by a layer.",
        values,
        REASONS,
    )


def _reason(reasons: Reasons, place: Place, verdict: str) -> str:
    known = reasons.expression(place)
    if known is not None:
        return f"{spaced(str(known))} ({verdict})"
    maker = reasons.maker(place)
    return f"{verdict}, by {maker.layer.label} {reasons.reason(maker)}"


def _releases(inference: Inference, numbering: Numbering, target: Release | None) -> Overlay:
    newest: dict[Layer, tuple[Release, tuple[str, ...]]] = {}
    required = Requirements(inference)
    for need in required.needs:
        if (layer := need.layer) is not None:
            known = newest.get(layer)
            if known is None or need.release > known[0]:
                newest[layer] = need.release, (need.what,)
            elif need.release == known[0] and need.what not in known[1]:
                newest[layer] = need.release, (*known[1], need.what)
    releases = sorted({release for release, _ in newest.values()}, reverse=True)
    groups = [("no release", "bad")]
    for release in releases:
        if target is not None:
            tone = "bad" if release > target else "good"
        else:
            tone = "note" if release == releases[0] and len(releases) > 1 else "none"
        groups.append((f"from {written(release)}", tone))
    values = [(numbering.at[layer], 0.0, why) for layer, why in required.unknown]
    unknown = {at for at, _, _ in values}
    ranks = {
        each: (1.0 + releases.index(each[0]), f"OpenVINO {written(each[0])}: {', '.join(each[1])}")
        for each in set(newest.values())
    }
    values += [
        (numbering.at[layer], *ranks[each])
        for layer, each in newest.items()
        if numbering.at[layer] not in unknown
    ]
    about = "The oldest OpenVINO release that reads each layer, and the reason."
    if target is not None:
        about += f" OpenVINO {written(target)} does not read the red layers."
    return Overlay(
        "releases",
        "Releases" if target is None else f"Read by OpenVINO {written(target)}",
        about,
        values,
        tuple(groups),
        first=target is not None and any(release > target for release in releases),
    )


VERDICT_TONES: Groups = (("fails", "bad"), ("likely", "warn"), ("unknown", "note"))
"""The groups for the verdicts of a device on layers. Layers without an obstacle have no colour."""


def _devices(inference: Inference, numbering: Numbering, devices: Devices) -> Iterator[Overlay]:
    order = [verdict for verdict, _ in VERDICT_TONES]
    for name, judged in judge(inference, DEVICES, devices.max_alloc).items():
        values: dict[int, tuple[int, float, str]] = {}
        for each in judged.obstacles:
            at, note = numbering.at[each.layer], f"{each.reason}; {each.cure.text}"
            values.setdefault(at, (at, float(order.index(each.verdict)), note))
        yield Overlay(
            f"device-{name.lower()}",
            f"Device: {name}",
            f"The known obstacles to compiling the layers for {name} with OpenVINO "
            f"{judged.release}. Evidence: {judged.source}.",
            list(values.values()),
            VERDICT_TONES,
            first=name in devices.names,
        )


# results of runs


def crosscheck_overlays(result: Mapping[str, Any], numbering: Numbering) -> list[Overlay]:
    """Returns the overlays for the JSON that is printed by `irshape crosscheck --format json`.

    Raises `ValueError` for another document.
    """
    rows = rows_of(result, "outputs", ("layer", "shape_verdict", "value_verdict", "own_verdict"))
    where = f"{result.get('device', '?')}, OpenVINO {result.get('openvino', '?')}"
    heat: dict[int, tuple[float, str]] = {}
    verdicts: dict[int, tuple[int, str]] = {}
    for row in rows:
        at = _layer(row, numbering)
        if at < 0:
            continue
        state = _state(row)
        note = _crosscheck_note(row, state)
        excess = _excess(row)
        if excess > heat.get(at, (-1.0, ""))[0]:
            heat[at] = excess, note
        if _STATES.index(state) < verdicts.get(at, (len(_STATES), ""))[0]:
            verdicts[at] = _STATES.index(state), note
    focus = _first_differing(result, rows, numbering)
    about = f"Compared with {where}. The error of each layer, as a multiple of its tolerance."
    problems = [str(each) for each in result.get("problems", ())]
    differs = any(_STATE_TONES[group] not in ("good", "none") for group, _ in verdicts.values())
    if not focus and not problems:
        about += " Nothing differs."
    return [
        Overlay(
            "crosscheck",
            "Cross-check: verdicts",
            f"Compared with {where}. {' '.join(problems)}",
            [(at, float(group), note) for at, (group, note) in verdicts.items()],
            tuple(zip(_STATES, _STATE_TONES, strict=True)),
            focus=focus,
            first=differs,
        ),
        Overlay(
            "crosscheck-errors",
            "Cross-check: errors",
            about,
            [(at, excess, note) for at, (excess, note) in heat.items()],
            unit="× allowed",
            focus=focus,
            first=not differs,
        ),
    ]


_STATES = (
    "differs by itself",
    "other type or shape",
    "differs",
    "inherits a difference",
    "explained",
    "agrees",
    "not compared",
)
_STATE_TONES = ("bad", "bad", "bad", "warn", "note", "good", "none")


def _state(row: Mapping[str, Any]) -> str:
    own, whole = row["own_verdict"], row["value_verdict"]
    if own == "differs":
        return _STATES[0]
    if row["shape_verdict"] == "differs":
        return _STATES[1]
    if whole == "differs":
        return _STATES[3] if own == "equal" else _STATES[4] if own == "explained" else _STATES[2]
    if "explained" in (whole, own):
        return _STATES[4]
    return _STATES[6] if whole == "not compared" else _STATES[5]


def _excess(row: Mapping[str, Any]) -> float:
    error, allowed = row.get("error"), row.get("allowed")
    if not isinstance(error, (int, float)) or not isinstance(allowed, (int, float)):
        return LARGEST if row["value_verdict"] == "differs" else 0.0
    if not allowed:
        return LARGEST if error else 0.0
    return min(error / allowed, LARGEST) if math.isfinite(error / allowed) else LARGEST


def _crosscheck_note(row: Mapping[str, Any], state: str) -> str:
    parts = [state]
    if row["shape_verdict"] == "differs":
        parts.append(f"irshape infers {row.get('inferred')}, the runtime {row.get('runtime')}")
    error, allowed = row.get("error"), row.get("allowed")
    if isinstance(error, (int, float)) and isinstance(allowed, (int, float)):
        parts.append(f"error {error:.3g}, allowed {allowed:.3g}")
    own = row.get("own_errors")
    if isinstance(own, dict) and isinstance(own.get("max_abs"), (int, float)):
        parts.append(f"by itself {own['max_abs']:.3g}")
    parts += [str(row[key]) for key in ("reason", "own_reason") if row.get(key)]
    return "; ".join(parts)


def _first_differing(
    result: Mapping[str, Any], rows: list[Any], numbering: Numbering
) -> list[tuple[int, str]]:
    """Returns the first layer that differs by itself, or else the first that differs. If irshape
    searched the layer's bodies, also returns the first layer in them that differs."""
    focus: list[tuple[int, str]] = []
    outer = next((row for row in rows if _state(row) == _STATES[0]), None) or next(
        (row for row in rows if _state(row) in _STATES[1:3]), None
    )
    if outer is not None:
        focus.append((_layer(outer, numbering), "The first layer that differs"))
    inside = result.get("inside")
    while isinstance(inside, dict):
        blamed, path = inside.get("blamed"), inside.get("path")
        if isinstance(blamed, dict) and isinstance(path, list):
            at = numbering.of_reference({"path": path, "id": blamed.get("id")})
            focus.append((at, f"Inside, in run {inside.get('iteration', 0) + 1} of its body"))
        inside = inside.get("inside")
    return [(at, label) for at, label in focus if at >= 0]


RANGES: Groups = (
    ("NaN", "bad"),
    ("infinite", "bad"),
    ("beyond f16", "warn"),
    ("lost in f16", "note"),
    ("fits f16", "none"),
)


def stats_overlays(result: Mapping[str, Any], numbering: Numbering) -> list[Overlay]:
    """Returns the overlays for the JSON that is printed by `irshape run --stats --format json`.

    Raises `ValueError` for another document.
    """
    rows = rows_of(result, "outputs", ("layer", "element_type"))
    groups: dict[int, tuple[int, str]] = {}
    sizes: dict[int, tuple[float, str]] = {}
    focus: dict[str, tuple[int, str]] = {}
    for row in rows:
        at = _layer(row, numbering)
        if at < 0 or "lowest" not in row:
            continue
        counts = [row.get(key) or 0 for key in ("nan", "inf", "beyond_f16", "lost_in_f16")]
        group = next((index for index, count in enumerate(counts) if count), 4)
        note = _range_note(row)
        if group < groups.get(at, (len(RANGES), ""))[0]:
            groups[at] = group, note
        ends = [row.get(key) for key in ("lowest", "highest")]
        size = max((abs(end) for end in ends if isinstance(end, (int, float))), default=0.0)
        if size > sizes.get(at, (-1.0, ""))[0]:
            sizes[at] = size, note
        if group < 3:
            focus.setdefault(RANGES[group][0], (at, f"The first with {RANGES[group][0]}"))
            if group == 2:
                focus[RANGES[2][0]] = (
                    focus[RANGES[2][0]][0],
                    "The first layer with values beyond the range of f16",
                )
    fits = all(RANGES[group][1] == "none" for group, _ in groups.values())
    return [
        Overlay(
            "ranges",
            "Values: NaN and f16",
            "Ranges of outputs in one run; NaN, infinities, and values that f16 cannot represent.",
            [(at, float(group), note) for at, (group, note) in groups.items()],
            RANGES,
            focus=list(focus.values()),
            first=not fits,
        ),
        Overlay(
            "magnitudes",
            "Values: largest magnitude",
            "The largest magnitude of an output in one run.",
            [(at, size, note) for at, (size, note) in sizes.items()],
            first=fits,
        ),
    ]


def _range_note(row: Mapping[str, Any]) -> str:
    lowest, highest, mean = (row.get(key) for key in ("lowest", "highest", "mean"))
    parts = []
    if isinstance(lowest, (int, float)) and isinstance(highest, (int, float)):
        parts.append(f"{lowest:.4g} to {highest:.4g}")
    if isinstance(mean, (int, float)):
        parts.append(f"mean {mean:.4g}")
    for key, word in (
        ("nan", "NaN"),
        ("inf", "infinite"),
        ("beyond_f16", "beyond f16"),
        ("lost_in_f16", "become 0 in f16"),
        ("subnormals", "subnormal"),
    ):
        if row.get(key):
            parts.append(f"{row[key]:,} {word}")
    if row.get("note"):
        parts.append(str(row["note"]))
    return "; ".join(parts)


def rows_of(result: Mapping[str, Any], key: str, fields: tuple[str, ...]) -> list[Any]:
    """Returns a list from the JSON of a result. Raises `ValueError` unless all rows of the list
    have all `fields`."""
    rows = result.get(key) if isinstance(result, Mapping) else None
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and all(field in row for field in fields) for row in rows
    ):
        raise ValueError("it is not the JSON output of this irshape command")
    return rows


def _layer(row: Mapping[str, Any], numbering: Numbering) -> int:
    layer = row["layer"]
    if not isinstance(layer, dict) or not isinstance(layer.get("path"), list):
        raise ValueError("it is not the JSON output of this irshape command")
    return numbering.of_reference(layer)
