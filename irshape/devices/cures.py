"""What would cure an obstacle, by the conditions of the fact behind it."""

from __future__ import annotations

from typing import NamedTuple

from ..model.graph import Model
from .facts import Condition, Fact


class Cure(NamedTuple):
    """What to do, and the command of irshape that does it, where there is one."""

    text: str
    command: str | None = None


def reshape(model: Model, text: str = "give the inputs sizes") -> Cure:
    """Sizes for the inputs of a model."""
    inputs = " ".join(f"--reshape '{_name(model, layer)}=[…]'" for layer in model.parameters[:2])
    return Cure(text, f"irshape edit {model.path} {inputs} -o OUT.xml" if inputs else None)


def _name(model: Model, layer: object) -> str:
    from ..model.names import inputs_of

    return dict(zip(model.parameters, inputs_of(model).names, strict=True))[layer]  # type: ignore[index]


def cure_of(fact: Fact, model: Model) -> Cure:
    """What would make the conditions of a fact no longer hold."""
    for condition in fact.conditions:
        key, _, name = condition.key.partition(".")
        if name == "const" and "no" in condition.values:
            return Cure(f"make {_port(key)} a constant")
        if name == "dims" or (name.startswith("dim") and "?" in condition.values):
            return reshape(model, f"make the shape of {_port(key)} static")
        if name == "type":
            return Cure(f"convert {_port(key)} to another element type, such as f32 or i32")
        if name == "rank":
            return Cure(f"change the rank of {_port(key)} by a Reshape, {_ranks(condition)}")
        if key.startswith("@"):
            return Cure(f"give the attribute `{key[1:]}` another value")
    return Cure("cut the model here and run the layer elsewhere", "irshape split")


def _port(key: str) -> str:
    kind, at = ("input", key[2:]) if key.startswith("in") else ("output", key[3:])
    return f"{kind} {at}"


def _ranks(condition: Condition) -> str:
    limits = "|".join(sorted(condition.values))
    return f"to at most {limits}" if condition.relation == ">" else f"not {limits}"
