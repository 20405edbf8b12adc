"""The result of comparing two models, A and B: a pair for each tensor that both have."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from ..model.graph import Layer, Model
from ..numbers.statistics import Errors
from ..spelling import counted
from .pairing import Means
from .result import Verdict, feeding_results, reference

CODES = ("i8", "u8", "i4", "u4", "u6", "u3", "u2", "u1", "nf4")
"""Element types in which a constant may encode other numbers, such as compressed weights."""


class Pair(NamedTuple):
    """A tensor that both models have.

    name: the name of the tensor. means: how it was matched. verdict: whether its values agree in
    the runs of A and B. own_verdict: whether A's value agrees with what B's layer computes from A's
    input values. causes: what differs in the layer itself, such as constants and attributes.
    """

    name: str
    means: Means
    first: Layer
    first_port: int
    second: Layer
    second_port: int
    verdict: Verdict
    errors: Errors
    excess: float
    constant: bool
    """Whether the tensor depends only on constants and shapes."""
    reason: str | None
    own_verdict: Verdict = "not compared"
    own_errors: Errors | None = None
    causes: tuple[str, ...] = ()
    empty: bool = False
    """Whether the tensor has no elements in this run."""

    @property
    def extent(self) -> str:
        """Returns the largest error as text, e.g. for "differs by …". For compressed weights, the
        error is in units of their element type."""
        name = self.second.attribute("element_type") if self.second.is_constant else None
        return self.errors.extent(f" in {name}" if name in CODES else "")

    @property
    def inherited(self) -> bool:
        """Whether the tensor differs, but its layer is not known to differ for equal inputs."""
        return self.verdict == "differs" and self.own_verdict != "differs"

    @property
    def state(self) -> str:
        """`differs` if the layer differs even for equal inputs, `inherited` if the tensor differs
        only because the inputs do, otherwise the verdict on the whole runs."""
        if self.own_verdict == "differs":
            return "differs"
        return "inherited" if self.inherited else self.verdict

    @property
    def is_close(self) -> bool:
        """Whether the values are equal within the tolerance, but not exactly."""
        return self.verdict == "equal" and bool(self.errors.max_abs)


class ModelComparison:
    """The result of `irshape compare`. Its pairs are in the order in which the second model
    computes the tensors."""

    def __init__(
        self, first: Model, second: Model, precision: str | None, *, own_tolerance: bool = False
    ) -> None:
        """own_tolerance: whether the user set the tolerance."""
        self.first = first
        self.second = second
        self.precision = precision
        """The precision, such as f16, that only one of the models has. It sets the tolerance."""
        self._own_tolerance = own_tolerance
        self.pairs: list[Pair] = []
        self.unmatched: tuple[list[str], list[str]] = ([], [])
        """The layers of each model without a counterpart in the other model, except constants and
        computations of shapes."""
        self.unpaired_outputs: tuple[list[str], list[str]] = ([], [])
        """For each model, the names of its outputs without a counterpart in the other model."""
        self.altered: list[str] = []
        """The constants that differ between the models by more than rounding."""
        self.notes: list[str] = []
        self.runtimes: tuple[str, str] = ("irshape", "irshape")
        """The names of the runtimes that ran the two models."""

    def __repr__(self) -> str:
        return f"<ModelComparison: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """Says what was compared, how many tensors differ, and the layer to blame or, if there is
        none, the first layer that differs."""
        if not self.compared:
            return f"{self.first.path} and {self.second.path}: nothing could be compared"
        head, *lines = self.counts()
        lines.insert(0, f"{self.first.path} and {self.second.path}: {head}")
        for what, pair in (("to blame", self.blamed), ("first to diverge", self.diverging)):
            if pair is not None:
                lines.append(f"{what}: {pair.second.label} output {pair.second_port}")
                break
        return "\n".join(lines)

    def counts(self) -> list[str]:
        """Says how many tensors are equal, how many of these only within the tolerance, and which
        of these has the largest error."""
        pairs = [pair for pair in self.pairs if not pair.constant or pair.second in self.outputs]
        states = [pair.state for pair in pairs]
        close = [pair for pair in pairs if pair.is_close]
        tolerance = f"of {self.precision or 'their element types'}"
        within = f" within the tolerance {'given' if self._own_tolerance else tolerance}"
        kinds = (("inherited", "with inherited differences"), ("differs", "different"))
        lines = [
            f"{counted(len(pairs), 'tensor')} matched, {states.count('equal')} equal"
            f"{within if close else ''}"
            + "".join(f", {states.count(kind)} {t}" for kind, t in kinds if kind in states)
        ]
        if close:
            largest = max(close, key=lambda pair: pair.excess)
            lines.append(
                f"{counted(len(close), 'tensor')} equal only within the tolerance; "
                f"the largest error is {largest.excess:.2g} × the tolerance, at '{largest.name}'"
            )
        return lines

    @cached_property
    def outputs(self) -> set[Layer]:
        """The layers of the second model that feed its Results."""
        return {layer for layer, _ in feeding_results(self.second)}

    @property
    def diverging(self) -> Pair | None:
        """The first tensor, except constants, whose values in the two whole runs differ."""
        return next(
            (pair for pair in self.pairs if pair.verdict == "differs" and not pair.constant), None
        )

    @property
    def blamed(self) -> Pair | None:
        """The first tensor that differs even if B's layer is computed from A's input values."""
        return next(
            (pair for pair in self.pairs if pair.own_verdict == "differs" and not pair.constant),
            None,
        )

    @property
    def compared(self) -> bool:
        """Whether at least one output of the models could be compared and is not empty."""
        return any(pair.second in self.outputs and not pair.empty for pair in self.pairs)

    @property
    def outputs_agree(self) -> bool:
        """Whether an output was compared, and no output differs."""
        verdicts = {pair.verdict for pair in self.pairs if pair.second in self.outputs}
        return self.compared and "differs" not in verdicts

    @property
    def ok(self) -> bool:
        """Whether an output was compared, no output differs, no layer differs for equal inputs."""
        return self.outputs_agree and self.blamed is None

    def worst(self, count: int = 5) -> list[Pair]:
        """Returns tensors with errors: the one to blame, then those whose errors are the largest
        multiples of the tolerance."""
        blamed = self.blamed
        pairs = [pair for pair in self.pairs if pair.excess > 0 and not pair.constant]
        return sorted(pairs, key=lambda pair: (pair is not blamed, -pair.excess))[:count]

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `irshape compare --format json` prints."""

        def matched(pair: Pair) -> dict[str, Any]:
            return {
                "tensor": pair.name,
                "matched_by": pair.means,
                "a": reference(pair.first, pair.first_port),
                "b": reference(pair.second, pair.second_port),
            }

        blamed, diverging = self.blamed, self.diverging
        return {
            "version": 1,
            "a": self.first.path,
            "b": self.second.path,
            "runtimes": {"a": self.runtimes[0], "b": self.runtimes[1]},
            "precision": self.precision,
            "ok": self.ok,
            "blamed": None
            if blamed is None
            else {**matched(blamed), "causes": list(blamed.causes)},
            "diverging": None if diverging is None else matched(diverging),
            "altered_constants": self.altered,
            "unmatched": {"a": self.unmatched[0], "b": self.unmatched[1]},
            "unmatched_outputs": dict(zip("ab", self.unpaired_outputs, strict=True)),
            "notes": self.notes,
            "tensors": [
                {
                    **matched(pair),
                    "constant": pair.constant,
                    "state": pair.state,
                    "verdict": pair.verdict,
                    "errors": pair.errors.to_dict(),
                    "own_verdict": pair.own_verdict,
                    "own_errors": None if pair.own_errors is None else pair.own_errors.to_dict(),
                    "reason": pair.reason,
                    "causes": list(pair.causes),
                }
                for pair in self.pairs
            ],
        }
