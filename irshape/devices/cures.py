"""Suggests how to remove an obstacle, such as a dynamic shape that a device does not compile."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ..commands import assignments, model_argument
from ..model.graph import Model
from ..model.names import inputs_of
from .facts import Condition, Fact, Key


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
        """Returns advice against the obstacle that a fact describes: usually how to change the
        layer so that the fact no longer applies to it."""
        if fact.verdict == "unknown":
            return Cure("ask the device itself", f"irshape requires {self._path} --ask")
        for condition in fact.conditions:
            key = condition.key
            if key.where == "attribute":
                return Cure(f"give the attribute `{key.name}` another value")
            if key == Key("layer", "dims"):
                return self.sizes("make the shapes of the layer's inputs static")
            if key.name == "const" and "no" in condition.values:
                return Cure(f"make {key.port} a constant", self._bind)
            if key.name == "dims" or (key.name == "dim" and "?" in condition.values):
                return self.sizes(f"make the shape of {key.port} static")
            if key.name in ("type", "kind", "as"):
                return Cure(f"convert {key.port} to another element type, such as f32 or i32")
            if key.name == "rank":
                return Cure(f"change the rank of {key.port} by a Reshape, {_ranks(condition)}")
        return Cure(
            "run this layer on another device: cut the model before and after it",
            f"irshape split {self._path} --at TENSOR TENSOR -o PART.xml",
        )

    @cached_property
    def _bind(self) -> str:
        return f"irshape edit {self._path} --bind INPUT=VALUE --fold -o OUT.xml"


def _ranks(condition: Condition) -> str:
    limits = "|".join(sorted(condition.values))
    return f"to at most {limits}" if condition.relation == ">" else f"not {limits}"
