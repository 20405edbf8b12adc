"""Measures what a device makes of models, and writes the table of facts that follow from it.

usage: device_facts.py --device GPU --measured FILE.tsv [--holdout PARTS] [-o FOLDER] MODELS...

MODELS are folders of IRs. FILE.tsv has a line for each: its path, and `ok`, `refused: REASON` or
`crash` (what `compile_model` of the installed OpenVINO made of it). Those without a line are asked
first, in a process that may crash, and added; so a new release is measured by one command with a
new FILE.tsv. GPU needs a device, or a library that stands for one in LD_LIBRARY_PATH.

How conditions are found: the layers of refused models that the reason names, or all of them where
it names none, are compared with all layers of the same type in models that compile. Conditions on
element types, ranks, sizes, constants and attributes are added to a rule one by one, the one that
tells most first, until it holds for no layer that compiles; then for the refused layers that are
left. A rule says `fails` if enough refusals and no compiled model are behind it, otherwise
`likely`. Facts that are not measured here are in `irshape/devices/tables/stated.tsv`.

device_variants.py writes more models to learn from: other types and shapes of the inputs.

--holdout 2 learns from one half of the models, by a hash of their names, and judges the other;
--holdout 10 learns from nine tenths.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property, reduce
from multiprocessing import Pool
from operator import or_
from pathlib import Path
from typing import NamedTuple

import irshape
from irshape.devices.facts import VERDICTS, Condition, Fact, Verdict, tables
from irshape.devices.layers import DeviceLayer, device_layers

ASK = """
import sys, signal, openvino as ov
core = ov.Core()
core.set_property({"CACHE_DIR": ""})
core.get_property(sys.argv[1], "FULL_DEVICE_NAME")  # no device, no measurement
for line in sys.stdin:
    path = line.rstrip("\\n")
    print(sys.argv[2], flush=True)
    signal.alarm(120)
    try:
        model = core.read_model(path)
    except Exception:
        print("unread", flush=True)
        continue
    try:
        core.compile_model(model, sys.argv[1])
        print("ok", flush=True)
    except Exception as refusal:
        lines = [each.strip() for each in str(refusal).splitlines() if each.strip()]
        print("refused: " + " | ".join(lines[-2:])[-300:].replace("\\t", " "), flush=True)
"""


MARK = "--- the next model ---"
"""What the worker prints before it asks about a model: nothing that a plugin prints, too."""


def measure(device: str, paths: dict[str, str], into: Path) -> None:
    """Asks a device about models by path, and adds a line for each, by name, to a file."""
    waiting = list(paths)
    while waiting:
        done = subprocess.run(
            [sys.executable, "-c", ASK, device, MARK],
            input="\n".join(waiting) + "\n",
            capture_output=True,
            text=True,
            env={**os.environ, "STUB_BUILD": "1"},
            check=False,
        )
        answers = done.stdout.split(MARK)[1:]
        if not answers:
            sys.exit(done.stderr[-500:])
        with into.open("a", encoding="utf-8") as file:
            for path, answer in zip(waiting, answers, strict=False):
                file.write(f"{paths[path]}\t{said_last(answer)}\n")
        waiting = waiting[len(answers) :]


def said_last(text: str) -> str:
    """The answer among what the worker and the plugin have printed; a crash without one."""
    answers = re.findall(r"^(?:ok|unread|refused: .*)$", text, re.MULTILINE)
    return answers[-1] if answers else "crash"


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
            dims = tensor.shape.dims or ()
            names += [f"dim{axis}" for axis in range(min(len(dims), RANKS))]
            names += [f"dim-{axis + 1}" for axis in range(min(len(dims), RANKS))]
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
        rows.append(Seen(layer.family, *own, values))
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


def holds(conditions: Iterable[Condition], values: dict[str, str]) -> bool:
    return all(each.holds(lambda key: values.get(key, "")) for each in conditions)


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
        if family == "*" or family not in groups:
            continue
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
        facts.setdefault(type_name, []).extend(unmeasured(type_name, group))
    return facts


def unmeasured(family: str, group: Group) -> Iterator[Fact]:
    """A fact for each operation, that holds for the element types with which none compiled."""
    for name, layers in sorted(group.values["operation"].items()):
        types = {
            text for text, those in group.values["types"].items() if those & layers & group.working
        }
        if name and types - {""}:
            conditions = (
                Condition("operation", "=", frozenset((name,))),
                Condition("types", "!=", frozenset(types)),
            )
            compiled = (layers & group.working).bit_count()
            yield Fact(
                family, conditions, "unknown", 0, compiled, "not measured with these element types"
            )


def said(
    conditions: tuple[Condition, ...],
    refused: int,
    compiled: int,
    covered: list[Model],
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
    text = " ".join(text.split()).strip(".:;, |")[:110]
    if len(re.findall(r"[A-Za-z]{3,}", text)) < 3 or ("(" in text and ")" not in text):
        return "the plugin finds no kernel, or says nothing that tells why"
    return f"the plugin says: {text}"


# judging, and writing the table


def verdict(model: Model, facts: dict[str, list[Fact]]) -> str:
    """The gravest verdict on a model."""
    if model.obstacles:
        return "fails" if "dynamic-rank" in model.obstacles else "likely"
    verdicts = {
        fact.verdict
        for layer in model.layers
        for fact in facts.get(layer.family, ())
        if holds(fact.conditions, layer.values)
    }
    return min(verdicts, key=VERDICTS.index, default="clear")


def part(model: Model, parts: int) -> int:
    return int.from_bytes(hashlib.sha1(model.name.encode()).digest()[:4]) % parts


def holdout(device: str, models: list[Model], parts: int, listed: int) -> None:
    """Learns from all parts of the models but one, and judges that; for two of the parts."""
    for side in range(2):
        facts = learn(device, [model for model in models if part(model, parts) != side])
        counts: Counter[tuple[bool, str]] = Counter()
        wrong = []
        for model in models:
            if part(model, parts) == side:
                found = verdict(model, facts)
                counts[model.compiles, found] += 1
                if model.compiles == (found != "clear") and found != "unknown":
                    why = [
                        f"{fact.operation}: {' '.join(map(str, fact.conditions))} "
                        f"{fact.refused}/{fact.compiled}"
                        for layer in model.layers
                        for fact in facts.get(layer.family, ())
                        if holds(fact.conditions, layer.values)
                    ]
                    wrong.append((model, found, "; ".join(why)))
        if listed:
            support(facts, [model for model in models if part(model, parts) == side])
        total = sum(counts.values())
        refused = sum(count for (compiles, _), count in counts.items() if not compiles)
        unknown = counts[True, "unknown"] + counts[False, "unknown"]
        right = counts[True, "clear"] + counts[False, "fails"] + counts[False, "likely"]
        print(
            f"{total} judged by {sum(map(len, facts.values()))} facts: {unknown / total:.2%} "
            f"unknown, of the others {right / (total - unknown):.2%} right; of {refused} refused "
            f"{counts[False, 'clear']} clear ({counts[False, 'clear'] / refused:.2%}); of "
            f"{total - refused} compiled {counts[True, 'fails']} fails, {counts[True, 'likely']} "
            f"likely, {counts[True, 'unknown']} unknown"
        )
        for model, found, why in wrong[:listed]:
            print(f"  {found}\t{model.name}\t{why or model.answer[:150]}")


def support(facts: dict[str, list[Fact]], models: list[Model]) -> None:
    """By how many refused models facts were learned from, how often they are right."""
    table: Counter[tuple[int, str]] = Counter()
    for model in models:
        if not model.obstacles:
            held = {
                (min(fact.refused, 5), str(fact.compiled > 0))
                for layer in model.layers
                for fact in facts.get(layer.family, ())
                if holds(fact.conditions, layer.values)
            }
            table.update((*each, model.compiles) for each in held)
    for each, count in sorted(table.items()):
        print("   ", each, count)


def measured(file: Path, folders: list[str], device: str) -> list[Model]:
    """The models with what the device made of them; those without an answer are asked."""
    paths = {
        os.path.relpath(path, folder): str(path)
        for folder in folders
        for path in sorted(Path(folder).rglob("*.xml"))
    }
    answers = dict(
        line.split("\t", 1)
        for line in (file.read_text("utf-8").splitlines() if file.exists() else ())
    )
    unasked = {path: name for name, path in paths.items() if name not in answers}
    if unasked:
        print(f"{len(paths)} models, asking about {len(unasked)}", file=sys.stderr)
        measure(device, unasked, file)
        return measured(file, folders, device)
    with Pool() as pool:
        rows = pool.map(layers_of, paths.values(), 50)
    return [
        Model(name, answers[name], layers)
        for name, layers in zip(paths, rows, strict=True)
        if layers is not None and answers.get(name, "unread") != "unread"
    ]


def written(device: str, models: list[Model]) -> str:
    """The table of a device."""
    import openvino

    release = openvino.__version__.partition("-")[0]
    facts = learn(device, models)
    lines = [
        f"# device: {device}",
        f"# release: {release}",
        f"# source: compile_model of OpenVINO {release} for {len(models):,} models, {date.today()}"
        + OVER.get(device, ""),
        *([f"# hardware: {instruction_sets()}"] if device == "CPU" else []),
    ]
    if device == "GPU":
        lines.append(f"# max-alloc: {MAX_ALLOC}")
    shown = Counter((each, model.compiles) for model in models for each in model.obstacles)
    for family, check, verdict, reason, source in stated(device):
        if family == "*":
            counts = str(shown[check, False]), str(shown[check, True])
            lines.append("\t".join(("*", check, verdict, *counts, reason, source)))
    known = Counter(
        (layer.operation, layer.opset) for model in models for layer in model.layers if layer.opset
    )
    lines += [
        f"{name}\topset{since}\tknown\t0\t{known[name, since]}" for name, since in sorted(known)
    ]
    for _, found in sorted(facts.items()):
        for fact in found:
            conditions = " ".join(map(str, fact.conditions))
            counts = str(fact.refused), str(fact.compiled)
            lines.append(
                "\t".join((fact.operation, conditions, fact.verdict, *counts, fact.reason))
            )
    return "\n".join(lines) + "\n"


OVER = {"GPU": ", over a library that stands for OpenCL and an integrated GPU"}
MAX_ALLOC = 4_294_959_104
"""CL_DEVICE_MAX_MEM_ALLOC_SIZE of most Intel GPUs."""


def instruction_sets() -> str:
    """Those of this machine that OpenVINO's CPU plugin asks for."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    known = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512_fp16": "AVX512-FP16", "amx_tile": "AMX"}
    found = flags[1].split() if flags else []
    return ", ".join(name for flag, name in known.items() if flag in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--device", required=True, choices=("CPU", "GPU"))
    parser.add_argument("--measured", type=Path, required=True)
    parser.add_argument("--holdout", type=int, metavar="PARTS")
    parser.add_argument("--list", type=int, default=0)
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    models = measured(given.measured, given.models, given.device)
    if given.holdout:
        holdout(given.device, models, given.holdout, given.list)
    if given.o is not None:
        text = written(given.device, models)
        release = text.splitlines()[1].removeprefix("# release: ")
        (given.o / f"{given.device.lower()}-{release}.tsv").write_text(text, "utf-8")


main()
