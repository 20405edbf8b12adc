"""Learns facts about a device from models and from what it made of each.

The layers of refused models that the reason names, or all of them if it names none, are compared
with all layers of the same type in models that compile. Conditions on element types, ranks, sizes,
constants and attributes are added to a rule one by one, the one that tells most first, until it
holds for no layer that compiles; then for the refused layers that are left. A rule says `fails` if
enough refusals and no compiled model are behind it, otherwise `likely`. Facts that are not measured
are in `irshape/devices/tables/stated.tsv`.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import irshape
from irshape.devices.facts import Condition, Fact, Verdict, family_of, tables
from irshape.devices.layers import DeviceLayer, device_layers

# what there is to learn from: the layers of each model, with all that conditions can ask


class Seen(NamedTuple):
    """A layer of a measured model."""

    family: str
    operation: str
    opset: str
    name: str
    values: dict[str, str]


IGNORED = ("@shape", "@offset", "@size", "@variable_id", "@value", "@element_type")
RANKS = 12


def keys_of(layer: DeviceLayer) -> Iterator[str]:
    """What a condition can ask of a layer."""
    yield from ("operation", "opset", "inputs", "types", "mixed", "shapes", "kept", "dims")
    yield "body"
    for key in layer.layer.attributes:
        if f"@{key}" not in IGNORED or layer.layer.type == "Parameter":
            yield f"@{key}"
            yield f"@{key}.least"
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


def layers_of(path: str) -> list[Seen] | None:
    """The layers of a model that devices see; None for one that irshape cannot read."""
    try:
        result = irshape.infer(irshape.load(path)).result
    except (irshape.LoadError, OSError):
        return None
    rows = []
    for layer in device_layers(result):
        values = {key: layer.value(key) for key in keys_of(layer)}
        own = values["operation"], values["opset"], layer.layer.name
        rows.append(Seen(family_of(*own[:2]), *own, values))
    return rows


class Model(NamedTuple):
    """A measured model."""

    name: str
    answer: str
    layers: list[Seen]

    @property
    def compiles(self) -> bool:
        return self.answer == "ok"

    @property
    def obstacles(self) -> set[str]:
        """The checks of whole models that its inputs fail."""
        inputs = [
            layer.values
            for layer in self.layers
            if layer.operation == "Parameter" and layer.values["body"] == "no"
        ]
        found = {"dynamic-rank": any(each.get("out0.dims") == "rank" for each in inputs)}
        found["untyped-input"] = any(
            each.get("out0.type") == "dynamic" and each["out0.dims"] == "static" for each in inputs
        )
        return {name for name, holds in found.items() if holds}


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
FEWEST_FAILS = 6
"""How many refused models a rule that says `fails` has behind it at least."""

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


class Group:
    """Layers of one type: those of refused models with the model, and those of compiled ones.

    A set of layers is an integer: a bit a layer, those of refused models first.
    """

    def __init__(self) -> None:
        self.refused: list[tuple[Model, dict[str, str]]] = []
        self.compiled: list[dict[str, str]] = []

    @cached_property
    def failing(self) -> int:
        return (1 << len(self.refused)) - 1

    @cached_property
    def working(self) -> int:
        return ((1 << len(self.compiled)) - 1) << len(self.refused)

    @cached_property
    def values(self) -> dict[str, dict[str, int]]:
        """The layers that have each value, by key."""
        found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        rows = [*(values for _, values in self.refused), *self.compiled]
        for at, row in enumerate(rows):
            for key, value in row.items():
                found[key][value] |= 1 << at
        for value in found.values():
            value[""] |= (self.failing | self.working) & ~reduce(or_, value.values())
        return found

    def holding(self, *conditions: Condition) -> int:
        """The layers for which all conditions hold."""
        layers = self.failing | self.working
        for each in conditions:
            values = self.values[each.key] or {"": layers}
            layers &= reduce(or_, (values[text] for text in values if holding(each, text)), 0)
        return layers

    def models(self, layers: int) -> list[Model]:
        """The refused models of layers, once each."""
        return list(
            {m.name: m for at, (m, _) in enumerate(self.refused) if layers >> at & 1}.values()
        )

    def both(self, layers: int) -> tuple[int, int]:
        """How many layers of refused and of compiled models a set has."""
        return (layers & self.failing).bit_count(), (layers & self.working).bit_count()

    def counted(self, *conditions: Condition) -> tuple[int, int]:
        """For how many refused models and compiled layers conditions hold."""
        layers = self.holding(*conditions)
        return len(self.models(layers)), (layers & self.working).bit_count()


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
                groups[layer.family].compiled.append(layer.values)
            continue
        layers = blamed(model)
        if len({layer.family for layer in layers}) > 1:
            if len(layers) <= SUSPECTS:
                doubtful.append((model, layers))
            continue
        for layer in layers:
            groups[layer.family].refused.append((model, layer.values))
    alone = {
        family: share(len({model.name for model, _ in group.refused}), len(group.compiled))
        for family, group in groups.items()
    }
    for model, layers in doubtful:
        worst = max(alone.get(layer.family, 0.0) for layer in layers)
        for layer in layers:
            if alone.get(layer.family, 0.0) == worst:
                groups[layer.family].refused.append((model, layer.values))
    return groups


def candidates(group: Group, left: int) -> list[Condition]:
    """The conditions that may tell refused layers of a type from others: those on ranks past a
    limit first, and sizes only where they are 0, 1 or not known."""
    limits: list[Condition] = []
    single: list[Condition] = []
    for key, found in sorted(group.values.items()):
        values = {value for value, layers in found.items() if layers & (left | group.working)}
        if key.startswith("@") and len(values) > SPREAD:
            continue
        refused = {value for value in values if found[value] & left}
        if key.endswith(".rank"):
            ranks = sorted(int(value) for value in values if value.isdecimal())
            limits += [Condition(key, ">", frozenset((str(rank),))) for rank in ranks[:-1]]
        if DIM.search(key):
            refused &= {"0", "1", "?"}
        single += [Condition(key, "=", frozenset((value,))) for value in sorted(refused)]
    return limits + single


def is_numeric(condition: Condition) -> bool:
    """Whether a condition asks for a number in an attribute."""
    values = "".join(condition.values)
    return condition.key.startswith("@") and bool(re.fullmatch(r"[-+0-9.,e]+", values))


DIM = re.compile(r"\.dim-?[0-9]+$")
OF_FEW_VALUES = re.compile(r"^operation$|\.(type|as)$|^@[^.]*$")


def together(group: Group, layers: int, atoms: list[Condition]) -> list[Condition]:
    """Conditions that name several values: all that occur in refused layers and in no other."""
    several = []
    for key in sorted({each.key for each in atoms if OF_FEW_VALUES.search(each.key)}):
        only = [
            value
            for value, found in group.values[key].items()
            if found & layers and not found & layers & group.working
        ]
        condition = Condition(key, "=", frozenset(only))
        if len(only) > 1 and not is_numeric(condition):
            several.append(condition)
    return several


def weight(condition: Condition) -> float:
    """How much a condition is trusted: one on a size holds by chance more often."""
    if DIM.search(condition.key) or is_numeric(condition):
        return 0.4
    return 0.7 if condition.key.endswith((".dims", ".elements", "dims", "shapes")) else 1.0


def share(refused: int, compiled: int) -> float:
    return refused / (refused + compiled) if refused else 0.0


def rule(group: Group, left: int) -> tuple[Condition, ...]:
    """The conditions, added one by one, that tell most of the refused layers that are left."""
    atoms = [(each, group.holding(each)) for each in candidates(group, left)]
    chosen: list[Condition] = []
    layers = left | group.working
    while layers & group.working and len(chosen) < MOST_CONDITIONS:
        refused, compiled = group.both(layers)
        before = math.log2((refused + 0.1) / (refused + compiled + 0.2))
        best, gain = None, 1e-9
        several = together(group, layers, [each for each, _ in atoms])
        for atom, holding in atoms + [(each, group.holding(each)) for each in several]:
            yes, no = group.both(layers & holding)
            if yes and no < compiled:
                told = yes * (math.log2((yes + 0.1) / (yes + no + 0.2)) - before)
                told *= weight(atom)
                if told > gain:
                    best, gain = atom, told
        if best is None:
            break
        chosen.append(best)
        layers &= group.holding(best)
    return pruned(tuple(chosen), group)


def pruned(conditions: tuple[Condition, ...], group: Group) -> tuple[Condition, ...]:
    """A rule without the conditions that change nothing."""
    for each in conditions:
        fewer = tuple(other for other in conditions if other is not each)
        if share(*group.counted(*fewer)) >= share(*group.counted(*conditions)):
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
    for family, texts, _, reason, source in stated(device):
        if family == "*":
            continue
        if family not in groups:
            sys.exit(f"stated.tsv: no measured model has a layer of the family '{family}'")
        conditions = tuple(Condition.parse(text) for text in texts.split())
        group = groups[family]
        refused, compiled = group.counted(*conditions)
        covered = group.models(group.holding(*conditions))
        verdict = said(conditions, refused, compiled, covered)
        if verdict == "unknown" and share(refused, compiled) > LIKELY:
            verdict = "likely"
        if verdict == "unknown":
            print(f"not borne out, {refused} to {compiled}: {family} {texts}", file=sys.stderr)
            continue
        fact = Fact(family, conditions, verdict, refused, compiled, reason, source)
        facts.setdefault(family, []).append(fact)
    return facts


def learn(device: str, models: list[Model]) -> dict[str, list[Fact]]:
    """The facts about layers that follow from measured models, by family."""
    groups = groups_of(models)
    facts = counted_stated(device, groups)
    for type_name, group in sorted(groups.items()):
        left = group.failing
        for fact in facts.get(type_name, ()):
            left &= ~group.holding(*fact.conditions)
        while left:
            conditions = rule(group, left)
            refused, compiled = group.counted(*conditions)
            covered = group.models(left & group.holding(*conditions))
            if not covered:
                break
            left &= ~group.holding(*conditions)
            enough = UNKNOWN if len(covered) > 1 and conditions else 1.0
            if share(refused, compiled) < enough:
                continue  # too little to warn of
            verdict = said(conditions, refused, compiled, covered)
            reason = reason_of([model.answer for model in covered])
            facts.setdefault(type_name, []).append(
                Fact(type_name, conditions, verdict, refused, compiled, reason)
            )
        facts.setdefault(type_name, []).extend(measured(type_name, group))
    return facts


MEASURED = ("opset", "types", "kept", "in0.elements", "in1.elements", "out0.as", "out0.elements")
"""What must have been measured of an operation for a layer to be `clear`: not met values of these
tell most often, in cross-validation, what a device refuses."""


def measured(family: str, group: Group) -> Iterator[Fact]:
    """A fact for each operation, that holds for the values with which it compiled."""
    for name, layers in sorted(group.values["operation"].items()):
        working = layers & group.working
        if name and working:
            conditions = [Condition("operation", "=", frozenset((name,)))]
            for key in MEASURED:
                values = {text for text, those in group.values[key].items() if those & working}
                if values - {""}:
                    conditions.append(Condition(key, "=", frozenset(values)))
            yield Fact(family, tuple(conditions), "clear", 0, working.bit_count(), "")


def said(
    conditions: tuple[Condition, ...], refused: int, compiled: int, covered: list[Model]
) -> Verdict:
    """The verdict of a rule. `fails` takes enough refusals of several origins, no compiled model,
    and no condition on sizes, which passes may change before a plugin looks. What is known from a
    single model is `unknown`, and so is what most often compiles."""
    origins = {model.name.rpartition("/")[0] for model in covered}
    plain = all(PLAIN.search(each.key) for each in conditions)
    if refused >= FEWEST_FAILS and not compiled and plain and len(origins) > 1:
        return "fails"
    return "likely" if refused > 1 and share(refused, compiled) >= LIKELY else "unknown"


PLAIN = re.compile(r"^op|^@[^.]*$|(type|as|kind|const|used|rank)$")


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
