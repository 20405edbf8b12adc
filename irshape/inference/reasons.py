"""The results of `irshape explain`: why dimensions are dynamic, and what their sizes depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from ..commands import assignments, model_argument
from ..model.graph import Layer
from ..shapes import UNBOUNDED, Dimension
from ..spelling import counted, first_of

Verdict = Literal["input", "constant", "computed", "data-dependent", "lost", "unbounded"]


def options(shapes: Mapping[str, str]) -> str:
    """Returns shapes of inputs as options of a command: `--shape 'x=[1,3]'`."""
    return " ".join(f"--shape {each}" for each in assignments(shapes))


class Part(NamedTuple):
    """A dimension or element of an input from which a layer computes its output."""

    label: str
    """The tensor with the axis or index: `past_key[2]`."""
    expression: str | None
    line: int


class Step(NamedTuple):
    """A step of an explanation: a layer that computes a dimension or element."""

    layer: Layer
    line: int
    axis: int | None
    """The axis of the dimension or index of the element; None if the step explains the rank."""
    expression: str | None
    reason: str
    parts: tuple[Part, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "layer": self.layer.reference,
            "line": self.line,
            "axis": self.axis,
            "expression": self.expression,
            "reason": self.reason,
            "from": [part._asdict() for part in self.parts],
        }

    def __str__(self) -> str:
        parts = ", ".join(
            part.label
            + (f" = {spaced(part.expression)}" if part.expression else "")
            + f" (line {part.line})"
            for part in self.parts
        )
        head = f"{self.layer.type} '{self.layer.name}' {self.reason} (line {self.line})"
        return head + (f"  <- {parts}" if parts else "")


class Explanation(NamedTuple):
    """A dimension with its expression, its verdict, and the layers that compute it."""

    tensor: str
    axis: int | None
    """The axis; None if the number of dimensions is not known."""
    expression: str | None
    dimension: Dimension | None
    verdict: Verdict
    chain: tuple[Step, ...]
    bounded_if: dict[str, str] | None
    """If the dimension is unbounded: shapes of inputs that bound it."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the object that `irshape explain --format json` prints for a dimension."""
        return {
            "tensor": self.tensor,
            "axis": self.axis,
            "expression": self.expression,
            "interval": "..." if self.dimension is None else str(self.dimension),
            "verdict": self.verdict,
            "chain": [step.to_dict() for step in self.chain],
            "bounded_if": self.bounded_if,
        }

    def __str__(self) -> str:
        if self.dimension is None:
            lines = [f"{self.tensor}: the number of dimensions is not known, {self.verdict}"]
            return "\n".join(lines + [f"  {step}" for step in self.chain])
        said = spaced(self.expression) if self.expression else "?"
        if not self.dimension.is_static and self.dimension.high != UNBOUNDED:
            said += f", {self.dimension}"
        verdict = "" if self.verdict == "constant" else f", {self.verdict}"
        lines = [f"{self.tensor}[{self.axis}] = {said}{verdict}"]
        lines += [f"  {step}" for step in self.chain]
        if self.bounded_if is not None:
            lines.append(f"  bounded if: {options(self.bounded_if)}")
        return "\n".join(lines)


_BETWEEN = re.compile(r"(?<=[\w)\]])([+-])")


@lru_cache(maxsize=1024)
def spaced(expression: str) -> str:
    """Returns an expression with spaces around + and -, for messages."""
    return _BETWEEN.sub(r" \1 ", expression)


class Group(NamedTuple):
    """Dimensions of a model that are dynamic for the same reason."""

    verdict: Verdict
    cause: str
    """The symbols in the dimension, or the layer (with its line) that makes the dimension."""
    dimensions: int
    examples: tuple[str, ...]
    """Some of the dimensions: `logits[1] = past + seq`."""


def _merged(groups: tuple[Group, ...]) -> Iterator[Group]:
    """Yields the groups, with the `input` group of a cause joined to its `unbounded` group."""
    inputs = {group.cause: group for group in groups if group.verdict == "input"}
    for group in groups:
        if group.verdict == "unbounded" and (own := inputs.pop(group.cause, None)) is not None:
            yield group._replace(
                dimensions=own.dimensions + group.dimensions,
                examples=(own.examples[:1] + group.examples)[: len(group.examples)],
            )
        elif group.verdict != "input" or group.cause in inputs:
            yield group


class ProposedSize(NamedTuple):
    """The size that `Overview.fix` proposes for a dynamic dimension of an input."""

    input: str
    axis: int
    size: int
    required: bool
    """Whether a layer refuses the other sizes that were tried."""
    step: int
    """A layer accepts only multiples of this number; 1 if there is no such layer."""
    reason: str
    """Names the layer that requires this size, and a constant of this size; may be empty."""
    equals: str = ""
    """What the dimension equals, if other dimensions decide it: `past[2] + input_ids[1]`."""


class Overview(NamedTuple):
    """The dynamic dimensions of a model, and the inputs to bound or fix."""

    groups: tuple[Group, ...]
    bind: dict[str, str] | None
    """Shapes of inputs that bound as many dimensions as possible."""
    unbounded: tuple[str, ...]
    """The layers whose dimensions stay unbounded even with the shapes in `bind`."""
    fix: dict[str, str] | None
    """Shapes of inputs that make as many dimensions as possible static."""
    dynamic: tuple[str, ...]
    """The layers whose dimensions stay dynamic even with the shapes in `fix`."""
    contradictions: tuple[str, ...] = ()
    """The conditions of layers that contradict conditions of other layers."""
    limits: tuple[str, ...] = ()
    """The largest and smallest allowed sizes of inputs, and the layers that require them."""
    path: str = "MODEL"
    """The path of the model."""
    obstacle: str = ""
    """The errors to correct before irshape can propose shapes; empty if there are none."""
    refused: str = ""
    """If no sizes suit every layer: a layer, and input sizes that it refuses. Otherwise empty."""
    sizes: tuple[ProposedSize, ...] = ()
    """The sizes in `fix`, and whether a layer requires them."""
    searched: bool = False
    """Whether irshape searched for input sizes that every layer accepts."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `irshape explain MODEL --format json` prints."""
        return {
            "version": 1,
            "groups": [
                {**group._asdict(), "examples": list(group.examples)} for group in self.groups
            ],
            "bind": self.bind,
            "unbounded": list(self.unbounded),
            "fix": self.fix,
            "dynamic": list(self.dynamic),
            "contradictions": list(self.contradictions),
            "limits": list(self.limits),
            "obstacle": self.obstacle,
            "refused": self.refused,
            "sizes": [size._asdict() for size in self.sizes],
        }

    def behind(self, obstacle: str) -> Overview:
        """Returns a copy without proposals. `obstacle`: the errors that prevent proposals."""
        return self._replace(
            bind=None, unbounded=(), fix=None, dynamic=(), refused="", sizes=(), obstacle=obstacle
        )

    def __str__(self) -> str:
        lines = [f"contradiction: {text}" for text in self.contradictions]
        if not self.groups and self.fix is None:
            return "\n".join([*lines, "every dimension is static"])
        if self.obstacle:
            lines.insert(0, f"no shapes are proposed: {self.obstacle}")
        for group in _merged(self.groups):
            count = counted(group.dimensions, "dimension")
            lines.append(f"{group.verdict}: {group.cause} ({count})")
            lines += [f"  {example}" for example in group.examples]
            if group.dimensions > len(group.examples) > 1:
                lines.append(f"  … and {group.dimensions - len(group.examples)} more")
        lines += [f"limit: {text}" for text in self.limits]
        if self.bind is not None:
            but = " except as listed" if self.unbounded else ""
            lines.append(f"to bound all dimensions{but}: {self._edit(self.bind)}")
            lines += [f"  except {text}" for text in self.unbounded]
        elif self.unbounded:
            lines.append("irshape found no input shapes that bound these dimensions:")
            lines += [f"  {text}" for text in self.unbounded]
        if self.fix is not None:
            but = " except as listed" if self.dynamic else ""
            lines.append(f"to make all dimensions static{but}: {self._edit(self.fix)}")
            lines += [f"  except {text}" for text in self.dynamic]
        elif self.searched and not self.obstacle:
            such = f"; {self.refused}" if self.refused else ""
            lines.append(f"irshape found no sizes of the inputs that every layer accepts{such}")
        lines += self._sizes()
        if self.bind is not None or self.fix is not None:
            lines.append("OpenVINO may infer larger ranges than irshape, or unbounded dimensions")
        return "\n".join(lines)

    def _sizes(self) -> Iterator[str]:
        """Yields lines about proposed sizes: required sizes, examples, and sizes that follow from
        other dimensions."""
        kinds: dict[tuple[str, str, str], dict[str, str]] = {}
        for size in self.sizes:
            kind = "equal" if size.equals else "required" if size.required else "example"
            step = "" if size.step == 1 else f" (a multiple of {size.step})"
            number = "" if size.equals else f" is {size.size}{step}"
            alike = kind, size.equals and f" = {size.equals}", "" if size.equals else size.reason
            kinds.setdefault(alike, {})[f"{size.input}[{size.axis}]{number}"] = size.reason
        order = ("required", "example", "equal")
        for (kind, equals, _), sizes in sorted(kinds.items(), key=lambda it: order.index(it[0][0])):
            reason, *others = set(sizes.values())
            why = f", which {reason}" if reason and not others else ""
            yield f"{kind}: {first_of(list(sizes), 8)}{equals}{why}"

    def _edit(self, shapes: Mapping[str, str]) -> str:
        """Returns the command that saves the model with these shapes of its inputs."""
        given = " ".join(assignments(shapes))
        return f"irshape edit {model_argument(self.path)} --reshape {given} -o OUT.xml"
