"""Learns facts about a device from models and from what it made of each.

The layers of refused models that the reason names, or all of them if it names none, are compared
with all layers of the same type in models that compile. Conditions on element types, ranks, sizes,
constants and attributes are added to a rule one by one, the one that tells most first, as long as
they make it more likely that the rule holds for other models; then for the refused layers that are
left. A rule says `fails` if enough refusals and no compiled model are behind it, otherwise
`likely`. A layer of which no rule holds is `clear` if an operation like it compiled. Facts that are
not measured are in `irshape/devices/tables/stated.tsv`.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import irshape
from irshape.devices.cures import Cures
from irshape.devices.facts import VERDICTS, Condition, Fact, Key, Verdict, family_of, tables
from irshape.devices.layers import DeviceLayer, device_layers
from irshape.devices.models import CHECKS

# what there is to learn from: the layers of each model, with all that conditions can ask


OF_MODELS = ("dynamic-rank", "untyped-input", "inner-rank", "large-buffer")
"""The checks of whole models that the measurements count."""

MAX_ALLOC = 4_294_959_104
"""CL_DEVICE_MAX_MEM_ALLOC_SIZE of most Intel GPUs."""


class Seen(NamedTuple):
    """A layer of a measured model."""

    family: str
    operation: str
    opset: str
    name: str
    values: dict[str, str]


IGNORED = {"Const": ("offset", "size", "shape", "element_type"), "Parameter": ("shape",)}
"""Attributes that tell nothing about a layer of a type, or what its output tells, too."""

RANKS = 12


def keys_of(layer: DeviceLayer) -> Iterator[str]:
    """What a condition can ask of a layer."""
    yield from ("operation", "opset", "inputs", "types", "mixed", "shapes", "kept", "dims")
    yield "body"
    for name in layer.layer.attributes:
        if name not in IGNORED.get(layer.layer.type, ("variable_id",)):
            yield f"@{name}"
            yield f"@{name}.least"
    for kind, tensors in (("in", layer.inputs), ("out", layer.outputs)):
        for at, tensor in enumerate(tensors[:8]):
            if tensor is None:
                continue
            names = [
                "type",
                "as",
                "kind",
                "rank",
                "dims",
                "elements",
                "const" if kind == "in" else "used",
            ]
            names += [f"dim{axis}" for axis in range(min(len(tensor.sizes), RANKS))]
            names += [f"dim-{axis + 1}" for axis in range(min(len(tensor.sizes), RANKS))]
            yield from (f"{kind}{at}.{name}" for name in names)


def read(path: str) -> tuple[list[Seen], frozenset[str]] | None:
    """The layers of a model that devices see, and the checks of whole models that find something;
    None for a model that irshape cannot read."""
    try:
        inference = irshape.infer(irshape.load(path))
    except (irshape.LoadError, OSError):
        return None
    cures = Cures(inference.model)
    shown = {name for name in OF_MODELS if any(CHECKS[name](inference, cures, MAX_ALLOC))}
    rows = []
    for layer in device_layers(inference.result):
        values = {key: layer.value(Key.parse(key)) for key in keys_of(layer)}
        own = values["operation"], values["opset"], layer.layer.name
        rows.append(Seen(family_of(*own[:2]), *own, values))
    return rows, frozenset(shown)


class Model(NamedTuple):
    """A measured model."""

    name: str
    answer: str
    layers: list[Seen]
    obstacles: frozenset[str]
    """The checks of whole models that find something."""

    @property
    def compiles(self) -> bool:
        return self.answer == "ok"

    @property
    def origin(self) -> str:
        """The model of which it is a variant, as device_variants.py names them; else itself."""
        folder = self.name.rpartition("/")[0]
        return folder.replace("+", "/") if "+" in folder else self.name.removesuffix(".xml")


def blamed(model: Model) -> list[Seen]:
    """The layers that may be the reason of a refusal: those that it names, or else all."""
    inner = [layer for layer in model.layers if layer.operation not in ("Parameter", "Result")]
    named = [
        layer
        for layer in inner
        if len(layer.name) > 2
        and re.search(rf"(?<![\w.]){re.escape(layer.name)}(?![\w.])", model.answer)
    ]
    typed = [layer for layer in inner if re.search(rf"\b{layer.operation}\b", model.answer)]
    return named or typed or inner or model.layers


# how conditions are found

MOST_CONDITIONS = 4

SHARED = 0.7
"""How much variants of one model count together: 0 as many models, 1 as one."""

DOUBT = 4.0
"""How many layers, of which as many are refused as of all, are added to those of a rule when it is
compared with others: what holds for few layers may hold by chance."""
FEWEST_FAILS = 6
"""How many refused models, variants apart, a rule that says `fails` has behind it at least."""

LIKELY = 0.65
UNKNOWN = 0.3
"""The shares of refused models, among all for which a rule holds, from which on it says so."""

SUSPECTS = 8
"""A refusal that names no layer and may come from more layers than this is left out."""

SPREAD = 12
"""An attribute of more different values is a size, not a mode: no condition asks for it."""


def holding(condition: Condition, text: str) -> bool:
    """Whether a condition holds for a value."""
    return condition.holds(lambda _: text)


Layers = NDArray[np.bool_]
"""A set of layers: for each of a group, whether it is in the set."""


class Group:
    """Layers of one type, each with its model."""

    def __init__(self) -> None:
        self.rows: list[tuple[Model, dict[str, str]]] = []
        self._holding: dict[Condition, Layers] = {}

    @cached_property
    def working(self) -> Layers:
        """Those of compiled models."""
        return np.array([model.compiles for model, _ in self.rows])

    @cached_property
    def failing(self) -> Layers:
        """Those of refused models."""
        return ~self.working

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """How much each layer counts: variants of one model, if all are refused or all compile,
        count together as one."""
        alike = [(model.origin, model.compiles) for model, _ in self.rows]
        counts = Counter(alike)
        return np.array([counts[each] ** -SHARED for each in alike])

    @cached_property
    def values(self) -> dict[str, dict[str, Layers]]:
        """The layers that have each value, by key."""
        at: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for index, (_, row) in enumerate(self.rows):
            for key, value in row.items():
                at[key][value].append(index)
        found: dict[str, dict[str, Layers]] = {}
        for key, indices in at.items():
            found[key] = {value: self._at(those) for value, those in indices.items()}
            rest = ~np.logical_or.reduce(list(found[key].values()))
            found[key][""] = rest | found[key].get("", False)
        return found

    def _at(self, indices: list[int]) -> Layers:
        layers = np.zeros(len(self.rows), np.bool_)
        layers[indices] = True
        return layers

    def holding(self, *conditions: Condition) -> Layers:
        """The layers for which all conditions hold."""
        layers = np.ones(len(self.rows), np.bool_)
        for each in conditions:
            if each not in self._holding:
                values = self.values.get(str(each.key), {"": layers})
                those = [those for text, those in values.items() if holding(each, text)]
                self._holding[each] = np.logical_or.reduce(those or [~layers])
            layers = layers & self._holding[each]
        return layers

    def models(self, layers: Layers) -> list[Model]:
        """The refused models of layers, once each."""
        refused = [self.rows[at][0] for at in np.flatnonzero(layers & self.failing)]
        return list({model.name: model for model in refused}.values())

    def both(self, layers: Layers) -> tuple[float, float]:
        """The weights of the layers of refused and of compiled models in a set."""
        return (
            float(self.weights[layers & self.failing].sum()),
            float(self.weights[layers & self.working].sum()),
        )

    def counted(self, *conditions: Condition) -> tuple[int, int]:
        """For how many refused models and compiled layers conditions hold."""
        layers = self.holding(*conditions)
        return len(self.models(layers)), int((layers & self.working).sum())


def groups_of(models: Iterable[Model]) -> dict[str, Group]:
    """The layers of each family. Where a refusal names no layer, and several families may be the
    reason, it is held against those that are refused most often when they are alone."""
    groups: dict[str, Group] = defaultdict(Group)
    doubtful: list[tuple[Model, list[Seen]]] = []
    for model in models:
        if model.obstacles:
            continue
        if model.compiles:
            for layer in model.layers:
                groups[layer.family].rows.append((model, layer.values))
            continue
        layers = blamed(model)
        if len({layer.family for layer in layers}) > 1:
            if len(layers) <= SUSPECTS:
                doubtful.append((model, layers))
            continue
        for layer in layers:
            groups[layer.family].rows.append((model, layer.values))
    alone = {
        family: share(
            len({model.name for model, _ in group.rows if not model.compiles}),
            sum(model.compiles for model, _ in group.rows),
        )
        for family, group in groups.items()
    }
    for model, layers in doubtful:
        worst = max(alone.get(layer.family, 0.0) for layer in layers)
        for layer in layers:
            if alone.get(layer.family, 0.0) == worst:
                groups[layer.family].rows.append((model, layer.values))
    return groups


def candidates(group: Group, left: Layers) -> list[Condition]:
    """The conditions that may tell refused layers of a type from others: those on ranks past a
    limit first, and sizes only where they are 0, 1 or not known."""
    limits: list[Condition] = []
    single: list[Condition] = []
    concerned = left | group.working
    for key, found in sorted(group.values.items()):
        values = {value for value, layers in found.items() if (layers & concerned).any()}
        if key.startswith("@") and len(values) > SPREAD:
            continue
        refused = {value for value in values if (found[value] & left).any()}
        if key.endswith(".rank"):
            ranks = sorted(int(value) for value in values if value.isdecimal())
            limits += [Condition.parse(f"{key}>{rank}") for rank in ranks[:-1]]
        if DIM.search(key):
            refused &= {"0", "1", "?"}
        single += [Condition(Key.parse(key), "=", frozenset((value,))) for value in sorted(refused)]
    return limits + single


def is_numeric(condition: Condition) -> bool:
    """Whether a condition asks for a number in an attribute."""
    values = "".join(condition.values)
    return condition.key.where == "attribute" and bool(re.fullmatch(r"[-+0-9.,e]+", values))


DIM = re.compile(r"\.dim-?[0-9]+$")
OF_FEW_VALUES = re.compile(r"^operation$|\.(type|as)$|^@[^.]*$")


def together(group: Group, layers: Layers, atoms: list[Condition]) -> list[Condition]:
    """Conditions that name several values: all that occur in refused layers and in no other."""
    several = []
    for key in sorted(filter(OF_FEW_VALUES.search, {str(each.key) for each in atoms})):
        only = [
            value
            for value, found in group.values[key].items()
            if (found & layers).any() and not (found & layers & group.working).any()
        ]
        condition = Condition(Key.parse(key), "=", frozenset(only))
        if len(only) > 1 and not is_numeric(condition):
            several.append(condition)
    return several


def weight(condition: Condition) -> float:
    """How much a condition is trusted: one on a size holds by chance more often."""
    if condition.key.name == "dim" or is_numeric(condition):
        return 0.4
    return 0.7 if condition.key.name in ("dims", "elements", "shapes") else 1.0


def share(refused: float, compiled: float) -> float:
    return refused / (refused + compiled) if refused else 0.0


def rule(group: Group, left: Layers) -> tuple[Condition, ...]:
    """The conditions, added one by one, that tell most of the refused layers that are left; as many
    of them as make a rule that is likely to hold for other models, too."""
    atoms = candidates(group, left)
    table = np.array([group.holding(each) for each in atoms])
    chosen: list[Condition] = []
    layers = left | group.working
    refused, compiled = group.both(layers)
    base = share(refused, compiled)
    best: tuple[float, tuple[Condition, ...]] = (base, ())
    while (layers & group.working).any() and len(chosen) < MOST_CONDITIONS and atoms:
        several = together(group, layers, atoms)
        conditions = atoms + several
        holding = np.concatenate([table, *([group.holding(each)] for each in several)])
        yes = holding @ np.where(layers & group.failing, group.weights, 0)
        no = holding @ np.where(layers & group.working, group.weights, 0)
        before = math.log2((refused + 0.1) / (refused + compiled + 0.2))
        gains = yes * (np.log2((yes + 0.1) / (yes + no + 0.2)) - before)
        gains *= [weight(each) for each in conditions]
        gains[(yes == 0) | (no >= compiled - 1e-9)] = 0
        at = int(gains.argmax())
        if gains[at] <= 1e-9:
            break
        chosen.append(conditions[at])
        layers = layers & holding[at]
        refused, compiled = group.both(layers)
        expected = (refused + DOUBT * base) / (refused + compiled + DOUBT)
        best = max(best, (expected, tuple(chosen)), key=lambda each: each[0])
    return pruned(best[1], group)


def pruned(conditions: tuple[Condition, ...], group: Group) -> tuple[Condition, ...]:
    """A rule without the conditions that change nothing."""
    for each in conditions:
        fewer = tuple(other for other in conditions if other is not each)
        if share(*group.both(group.holding(*fewer))) >= share(
            *group.both(group.holding(*conditions))
        ):
            conditions = fewer
    return conditions


def stated(device: str) -> Iterator[list[str]]:
    """The rows of the facts that are stated for a device."""
    for line in Path(tables(), "stated.tsv").read_text("utf-8").splitlines():
        row = line.split("\t")
        if row[0] == device:
            yield row[1:]


def counted_stated(device: str, groups: dict[str, Group]) -> dict[str, list[Fact]]:
    """The facts about layers that are stated, as far as the measured models bear them out."""
    facts: dict[str, list[Fact]] = {}
    for family, texts, given, reason, source in stated(device):
        if family == "*":
            continue
        if family not in groups:
            sys.exit(f"stated.tsv: no measured model has a layer of the family '{family}'")
        conditions = tuple(Condition.parse(text) for text in texts.split())
        group = groups[family]
        refused, compiled = group.counted(*conditions)
        covered = group.models(group.holding(*conditions))
        verdict = said(conditions, refused, compiled, covered)
        if given in VERDICTS:
            verdict = given
        elif verdict == "unknown" and (not compiled or share(refused, compiled) > LIKELY):
            verdict = "likely"
        elif verdict == "unknown":
            print(f"not borne out, {refused} to {compiled}: {family} {texts}", file=sys.stderr)
            continue
        fact = Fact(family, conditions, verdict, refused, compiled, reason, source)
        facts.setdefault(family, []).append(fact)
    return facts


def learn(
    device: str, models: list[Model], earlier: Earlier | None = None
) -> dict[str, list[Fact]]:
    """The facts about layers that follow from measured models, by family."""
    groups = groups_of(models)
    facts = counted_stated(device, groups)
    for type_name, group in sorted(groups.items()):
        left = group.failing
        for fact in facts.get(type_name, ()):
            left = left & ~group.holding(*fact.conditions)
        while left.any():
            conditions = rule(group, left)
            refused, compiled = group.counted(*conditions)
            covered = group.models(left & group.holding(*conditions))
            if not covered:
                break
            left = left & ~group.holding(*conditions)
            enough = UNKNOWN if len(covered) > 1 and conditions else 1.0
            if share(refused, compiled) < enough:
                continue  # too little to warn of
            verdict = said(conditions, refused, compiled, covered)
            reason = reason_of([model.answer for model in covered])
            facts.setdefault(type_name, []).append(
                Fact(type_name, conditions, verdict, refused, compiled, reason)
            )
        facts.setdefault(type_name, []).extend(measured(type_name, group, earlier or {}))
    return facts


MEASURED = (
    "opset",
    "types",
    "kept",
    "in0.elements",
    "in1.as",
    "in1.elements",
    "out0.as",
    "out0.elements",
)
"""What must have been measured of an operation for a layer to be `clear`: not met values of these
tell most often, in cross-validation, what a device refuses."""


def deciding(group: Group, layers: Layers) -> Iterator[str]:
    """What else must have been measured of an operation: inputs that are constants in all compiled
    models, and attributes, but for sizes, of which only refused models have some values."""
    for key, found in sorted(group.values.items()):
        working, failing = (
            {text for text, those in found.items() if (those & layers & part).any()}
            for part in (group.working, group.failing)
        )
        if key.endswith(".const"):
            if "no" not in working:
                yield key
        elif (
            key[0] == "@"
            and len(working) <= SPREAD
            and failing - working
            and not any(map(SIZE.fullmatch, working | failing))
        ):
            yield key


SIZE = re.compile(r"(?=.*[2-9])[-+0-9.,e]+")
"""A text of numbers that is no mask."""


Earlier = dict[tuple[str, str], frozenset[str]]
"""The values with which an operation compiled when an earlier table was measured, by the operation
and the key."""


def measured(family: str, group: Group, earlier: Earlier) -> Iterator[Fact]:
    """A fact for each operation, that holds for the values with which it compiled."""
    for name, layers in sorted(group.values["operation"].items()):
        working = layers & group.working
        if name and working.any():
            conditions = [Condition.parse(f"operation={name}")]
            for key in (*MEASURED, *deciding(group, layers)):
                found = group.values.get(key, {})
                values = {text for text, those in found.items() if (those & working).any()}
                values |= earlier.get((name, key), frozenset())
                if values - {""}:
                    conditions.append(Condition(Key.parse(key), "=", frozenset(values)))
            conditions += measured_ranks(group)
            yield Fact(family, tuple(conditions), "clear", 0, int(working.sum()), "")


def measured_ranks(group: Group) -> Iterator[Condition]:
    """That the rank of a layer is not below or above those with which its family compiled."""
    found = group.values.get("out0.rank", {})
    texts = {text for text, those in found.items() if (those & group.working).any()}
    ranks = [int(text) for text in texts if text.isdecimal()]
    if ranks and "?" not in texts and min(ranks) > 1:
        yield Condition.parse(f"out0.rank>{min(ranks) - 1}")
    if ranks:
        yield Condition.parse(f"out0.rank<={max(ranks)}")


def said(
    conditions: tuple[Condition, ...], refused: int, compiled: int, covered: list[Model]
) -> Verdict:
    """The verdict of a rule. `fails` takes enough refusals of several origins, no compiled model,
    and no condition on sizes or ranks, which passes may change before a plugin looks. What is known
    from a single model is `unknown`, and so is what most often compiles."""
    origins = {model.origin for model in covered}
    plain = all(PLAIN.search(str(each.key)) for each in conditions)
    if len(origins) >= FEWEST_FAILS and not compiled and plain:
        return "fails"
    return "likely" if refused > 1 and share(refused, compiled) >= LIKELY else "unknown"


PLAIN = re.compile(r"^op|^@[^.]*$|(type|as|kind|const|used)$")


def reason_of(answers: list[str]) -> str:
    """What most refusals say, without names and numbers."""
    return Counter(map(plain_reason, answers)).most_common(1)[0][0]


def plain_reason(answer: str) -> str:
    """What a refusal says, without names, numbers and tensors."""
    if answer.startswith("crash"):
        return "the plugin ends the process"
    text = answer.removeprefix("refused: ").rpartition("| ")[2]
    text = re.sub(
        r"\(?opset\d*::.*|Operation name: .*|Exception from \S+:\s*|params raw.*", "", text
    )
    text = re.sub(r"(?:with name|with friendly_name) '[^']*'|\b\w+_\d+\b|\[[^\]]*\]", "", text)
    text = shorten(text.strip(".:;, |"), 110, placeholder=" …")
    if len(re.findall(r"[A-Za-z]{3,}", text)) < 3 or ("(" in text and ")" not in text):
        return "the plugin finds no kernel, or says nothing that tells why"
    return f"the plugin says: {text}"
