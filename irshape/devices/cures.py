"""Suggests how to remove an obstacle, such as a dynamic shape that a device does not compile."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ..commands import assignments, model_argument
from ..model.graph import Model
from ..model.names import inputs_of
from .facts import Condition, Fact


class Cure(NamedTuple):
    """Advice on how to remove an obstacle, and the irshape command for it, if there is one."""

    text: str
    command: str | None = None


class Cures:
    """Finds advice for the obstacles of one model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._path = model_argument(model.path)

    @cached_property
    def _reshape(self) -> str | None:
        names = inputs_of(self._model).names[:2]
        inputs = " ".join(f"--reshape {each}" for each in assignments(dict.fromkeys(names, "[…]")))
        return f"irshape edit {self._path} {inputs} -o OUT.xml" if inputs else None

    def sizes(self, text: str) -> Cure:
        """Returns the advice to give the inputs of the model static sizes."""
        return Cure(text, self._reshape)

    def of(self, fact: Fact) -> Cure:
        """Returns advice for the obstacle that a fact describes: how to change the layer so that
        the conditions of the fact no longer hold."""
        if fact.verdict == "unknown":
            return Cure("ask the device itself", f"irshape requires {self._path} --ask")
        for condition in fact.conditions:
            key, _, name = condition.key.partition(".")
            if name == "const" and "no" in condition.values:
                return Cure(f"make {_port(key)} a constant", self._bind)
            if name == "dims" or (name.startswith("dim") and "?" in condition.values):
                return self.sizes(f"make the shape of {_port(key)} static")
            if condition.key == "dims":
                return self.sizes("make the shapes of its inputs static")
            if name in ("type", "kind", "as"):
                return Cure(f"convert {_port(key)} to another element type, such as f32 or i32")
            if name == "rank":
                return Cure(f"change the rank of {_port(key)} by a Reshape, {_ranks(condition)}")
            if key.startswith("@"):
                return Cure(f"give the attribute `{key[1:]}` another value")
        return Cure(
            "run this layer on another device: cut the model before and after it",
            f"irshape split {self._path} --at TENSOR TENSOR -o PART.xml",
        )

    @cached_property
    def _bind(self) -> str:
        return f"irshape edit {self._path} --bind INPUT=VALUE --fold -o OUT.xml"


def _port(key: str) -> str:
    kind, at = ("input", key[2:]) if key.startswith("in") else ("output", key[3:])
    return f"{kind} {at}"


def _ranks(condition: Condition) -> str:
    limits = "|".join(sorted(condition.values))
    return f"to at most {limits}" if condition.relation == ">" else f"not {limits}"
