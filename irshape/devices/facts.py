"""Reads the facts about devices: one table in `tables/` for each device and release.

A table has lines `# key: value` about itself, and a row for each fact: an operation, or a family of
operations as in `tables/families.tsv`; conditions on its layers; the verdict; how many IRs with
such a layer were refused and how many compiled; and the reason. A row with the verdict `clear`
describes layers that were measured and compile. The verdict on a layer to which no row applies is
`unknown`. `tests/measured/device_facts.py` measures and writes the tables. It copies facts that
were not measured, but have a source, from `tables/stated.tsv`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Literal, NamedTuple

Verdict = Literal["fails", "likely", "unknown", "clear"]

VERDICTS: tuple[Verdict, ...] = ("fails", "likely", "unknown", "clear")
"""The verdicts, most severe first."""

DEVICES = ("CPU", "GPU", "NPU")

RELEASE = "2026.4.1"
"""The OpenVINO release that the tables describe."""


_OF_PORT = re.compile(
    r"(in|out)(\d+)\.(type|as|kind|rank|dims|elements|const|used|dim(?=-?\d))(-?\d+)?"
)


class Key(NamedTuple):
    """What a condition tests, such as `in0.rank`; `DeviceLayer.value` lists the keys.

    at: the position of the input or output. axis: the axis of the size that `dim` tests. least:
    whether the least number of the attribute is tested.
    """

    where: Literal["layer", "input", "output", "attribute"]
    name: str
    at: int = 0
    axis: int = 0
    least: bool = False

    @classmethod
    def parse(cls, text: str) -> Key:
        if text[0] == "@":
            name = text[1:].removesuffix(".least")
            return cls("attribute", name, least=text.endswith(".least"))
        of_port = _OF_PORT.fullmatch(text)
        if of_port is None:
            return cls("layer", text)
        end, at, name, axis = of_port.groups()
        return cls("input" if end == "in" else "output", name, int(at), int(axis or 0))

    def __str__(self) -> str:
        if self.where == "attribute":
            return f"@{self.name}{'.least' if self.least else ''}"
        if self.where == "layer":
            return self.name
        axis = self.axis if self.name == "dim" else ""
        return f"{'in' if self.where == 'input' else 'out'}{self.at}.{self.name}{axis}"

    @property
    def port(self) -> str:
        """The input or output in words, such as `input 1`."""
        return f"{self.where} {self.at}"


class Condition(NamedTuple):
    """A condition on a layer, such as `in0.type=f64|string` (the type of input 0 is f64 or string),
    `in1.const!=yes`, `in0.rank>5` or `in0.rank<=5`, which also holds for a dynamic rank."""

    key: Key
    relation: Literal["=", "!=", ">", "<="]
    values: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> Condition:
        for relation in ("!=", "<=", ">", "="):
            key, parted, values = text.partition(relation)
            if parted:
                return cls(Key.parse(key), relation, frozenset(values.split("|")))
        raise ValueError(f"'{text}' is not a condition")

    def __str__(self) -> str:
        return f"{self.key}{self.relation}{'|'.join(sorted(self.values))}"

    def holds(self, value: Callable[[Key], str]) -> bool:
        """Returns whether a layer meets the condition. value: returns the layer's value for a
        key."""
        text = value(self.key)
        if self.relation in (">", "<="):
            (limit,) = self.values
            return (text.isdecimal() and int(text) > int(limit)) == (self.relation == ">")
        return (text in self.values) == (self.relation == "=")


class Fact(NamedTuple):
    """The verdict of a device on layers of an operation or family that meet all conditions."""

    operation: str
    conditions: tuple[Condition, ...]
    verdict: Verdict
    refused: int
    """How many of the measured IRs with such a layer were refused."""
    compiled: int
    reason: str
    source: str = ""
    """The source of the fact, if it is not the measurement of its table."""
    learned: bool = False
    """Whether the conditions were found by comparing measured models. In that case, the reason is
    the plugin's message."""

    def conditions_on(self, operation: str, opset: str) -> tuple[Condition, ...] | None:
        """Returns the conditions of the fact that are still to be checked for a version of an
        operation; None if the fact does not apply to this version."""
        known = {Key("layer", "operation"): operation, Key("layer", "opset"): opset}
        left = []
        for condition in self.conditions:
            if condition.key not in known:
                left.append(condition)
            elif not condition.holds(known.__getitem__):
                return None
        return tuple(left)


class Facts(NamedTuple):
    """The facts in the table of one device and release."""

    device: str
    release: str
    source: str
    """How and when the facts were measured, or the sources."""
    hardware: str
    """The hardware of the measurement, e.g. the instruction sets of a CPU."""
    max_alloc: int | None
    """The size in bytes of the largest buffer that such devices usually allow."""
    model: dict[str, Fact]
    """The facts about models as a whole, by the name of the check in `models.py`."""
    layers: dict[str, list[Fact]]
    """The facts about layers, by type of operation or family."""

    def about(self, type_name: str, opset: str) -> list[Fact]:
        """Returns the facts about an operation and its family."""
        names = dict.fromkeys((type_name, family_of(type_name, opset)))
        return [fact for name in names for fact in self.layers.get(name, ())]


def tables() -> str:
    """Returns the folder of the tables."""
    return os.path.join(os.path.dirname(__file__), "tables")


def family_of(type_name: str, opset: str) -> str:
    """Returns the name of the family of an operation in the tables, such as `Reduction`. Plugins
    treat the operations of a family alike. Returns the type if the operation is in no family."""
    families = _families()
    return families.get(f"{type_name}-{opset}") or families.get(type_name, type_name)


@cache
def _families() -> dict[str, str]:
    return {member: name for name, members in _rows("families") for member in members.split(" ")}


@cache
def unfolded() -> frozenset[str]:
    """Returns the types of layers that OpenVINO does not fold even if all inputs are constants, in
    the spelling of `Layer.folded_type`. `tests/measured/device_folding.py` writes their table."""
    return frozenset(["assign", "result", *(row[0].lower() for row in _rows("unfolded"))])


def _lines(table: str) -> list[str]:
    with open(os.path.join(tables(), f"{table}.tsv"), encoding="utf-8") as file:
        return file.read().splitlines()


def _rows(table: str) -> list[list[str]]:
    return [line.split("\t") for line in _lines(table) if not line.startswith("#")]


@lru_cache(maxsize=8)
def facts_of(device: str, release: str = RELEASE) -> Facts:
    """Returns the facts about a device, such as `GPU`."""
    about: dict[str, str] = {}
    model: dict[str, Fact] = {}
    layers: dict[str, list[Fact]] = {}
    stated = {reason for named, *_, reason, _ in _rows("stated") if named == device}
    for line in _lines(f"{device.lower()}-{release}"):
        if line.startswith("# "):
            key, _, text = line[2:].partition(": ")
            about[key] = text
            continue
        operation, condition, verdict, refused, compiled, *rest = line.split("\t")
        reason, source = (*rest, "", "")[:2]
        assert verdict in VERDICTS, verdict
        of_model = operation == "*"
        fact = Fact(
            operation,
            () if of_model else tuple(map(Condition.parse, condition.split())),
            verdict,
            int(refused),
            int(compiled),
            reason,
            source,
            learned=bool(reason) and not source and reason not in stated,
        )
        if of_model:
            model[condition] = fact
        else:
            layers.setdefault(operation, []).append(fact)
    limit = about.get("max-alloc")
    return Facts(
        device,
        release,
        about["source"],
        about.get("hardware", ""),
        None if limit is None else int(limit),
        model,
        layers,
    )
