"""The result of a cross-check: a row for each output port, and the comparison of a body."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..model.graph import Layer, Model
from ..model.wiring import wire
from ..numbers.statistics import Errors, errors, range_of
from ..numbers.tolerance import Tolerance
from ..numpy_types import Array, element_type_of
from ..shapes import PartialShape
from .answers import Answer
from .explanations import Kind, Remark, fact

Measured = Literal["equal", "differs", "not compared"]
Verdict = Literal["equal", "tighter", "differs", "explained", "not compared"]


class TensorType(NamedTuple):
    """The element type of a tensor, by its name, and the shape."""

    element_type: str
    shape: PartialShape

    def __str__(self) -> str:
        return f"{self.element_type} {self.shape}"


class Row(NamedTuple):
    """An output port with what irshape and the runtime infer and compute, and the verdicts on it.

    value: the comparison of two whole runs, which includes errors inherited from the inputs. own:
    the comparison of the device's output with the output that irshape computes from the device's
    input values. The verdicts follow from `value`, `own` and the remarks.
    """

    layer: Layer
    port: int
    inferred: TensorType
    runtime: TensorType
    shape_verdict: Verdict
    value: Measured = "not compared"
    error: float | None = None
    """The largest absolute difference between two finite values."""
    allowed: float | None = None
    remark: Remark | None = None
    ranges: dict[str, str] = {}  # noqa: RUF012  (a tuple's default, never changed)
    """The ranges of the inputs, irshape's output and the runtime's output, if the values differ."""
    errors: Errors = Errors()
    own: Measured = "not compared"
    own_errors: Errors | None = None
    """The errors of the output, computed from the device's input values. None if all inputs agree:
    see `errors`."""
    own_remark: Remark | None = None

    def measured(
        self,
        inputs: tuple[Array, ...],
        mine: Array,
        theirs: Array,
        tolerance: Tolerance,
        *,
        runtime: str = "OpenVINO",
        types: bool = False,
    ) -> Row:
        """Returns the row with the difference of two values. inputs: the inputs of the layer; if
        the values differ, the row gets their ranges. types: whether the element types must agree,
        too."""
        row, remark = self, None
        if mine.shape == theirs.shape and (mine.dtype == theirs.dtype or not types):
            error, allowed, same = tolerance.difference(mine, theirs)
            row = row._replace(error=error, allowed=allowed, errors=errors(mine, theirs))
            if same:
                return row._replace(value="equal")
        else:
            own, other = (
                f"{array.dtype} {list(array.shape)}" if types else f"{list(array.shape)}"
                for array in (mine, theirs)
            )
            remark = fact(f"irshape computes {own}, {runtime} {other}")
        arrays = {f"input {index}": array for index, array in enumerate(inputs)}
        arrays |= {"irshape": mine, runtime: theirs}
        ranges = {
            name: f"{element_type_of(each)} {range_of(each)}" for name, each in arrays.items()
        }
        return row._replace(value="differs", remark=remark, ranges=ranges)

    @property
    def value_verdict(self) -> Verdict:
        """The verdict on the values of two whole runs."""
        return _verdict(self.value, self.remark)

    @property
    def own_verdict(self) -> Verdict:
        """The verdict on the output that irshape computes from the device's input values."""
        return _verdict(self.own, self.own_remark)

    @property
    def reason(self) -> str | None:
        """Why the values of the two whole runs differ, or a note on them."""
        return None if self.remark is None else self.remark.text

    @property
    def own_reason(self) -> str | None:
        """Why the output differs if it is computed from the device's input values, or a note."""
        return None if self.own_remark is None else self.own_remark.text

    @property
    def explanation(self) -> Remark | None:
        """The remark that explains the difference; None if the values agree, the difference is only
        inherited, or nothing explains it."""
        if self.own_verdict == "differs":
            return None
        remarks = (self.own_remark,) if self.merged else (self.remark, self.own_remark)
        measured = {self.value, self.own}
        known = (each for each in remarks if each is not None and each.explains)
        return next(known, None) if "differs" in measured else None

    @property
    def differs(self) -> bool:
        """Whether the type, the shape or the values differ."""
        return "differs" in (self.shape_verdict, self.value_verdict)

    @property
    def inherited(self) -> bool:
        """Whether the tensor differs in the whole run, although its layer agrees or is explained
        for equal inputs."""
        return self.value_verdict == "differs" and self.own_verdict in ("equal", "explained")

    @property
    def state(self) -> str:
        """One word for both verdicts: `differs`, `explained` or `merged` if the layer differs even
        for equal inputs; `inherited` if it differs only in the whole run; or else the verdict on
        the whole run."""
        if self.own_verdict == "differs":
            return "differs"
        if self.value_verdict == "differs" and self.own_verdict == "explained":
            return "merged" if self.merged else "explained"
        return "inherited" if self.inherited else self.value_verdict

    @property
    def merged(self) -> bool:
        """Whether the tensor differs because the device merges the layer with its neighbours."""
        return (
            self.value_verdict == "differs"
            and self.own_remark is not None
            and self.own_remark.kind is Kind.MERGING
        )

    @property
    def excess(self) -> float:
        """The error as a multiple of the tolerance; infinite if the values cannot be subtracted."""
        if self.error is None or self.allowed is None:
            return math.inf if self.value_verdict == "differs" else 0.0
        if not self.allowed:
            return math.inf if self.error or self.value_verdict == "differs" else 0.0
        return self.error / self.allowed


def reference(layer: Layer, port: int) -> dict[str, Any]:
    """Returns the JSON object that identifies an output by its layer and port."""
    return {"id": layer.id, "name": layer.name, "type": layer.type, "port": port}


def feeding_results(model: Model) -> set[tuple[Layer, int]]:
    """Returns the outputs that feed the Results of a model: the layer, and the port."""
    layers = model.net.layers
    return {
        (layers[source[0]], source[1])
        for layer, sources in zip(layers, wire(model.net).sources, strict=True)
        if layer.is_result
        for source in sources
        if source is not None
    }


def _verdict(measured: Measured, remark: Remark | None) -> Verdict:
    explained = measured == "differs" and remark is not None and remark.explains
    return "explained" if explained else measured


class Explained(NamedTuple):
    """Outputs that differ for the same kind of reason. text: the reason for the first output."""

    kind: Kind
    text: str
    rows: list[Row]


class Comparison:
    """The result of a cross-check: a row for each output, in topological order, and the problems
    that prevented parts of the comparison.

    runtime: the name and version of a runtime other than OpenVINO.
    """

    def __init__(
        self,
        model: Model,
        device: str,
        answer: Answer,
        rows: list[Row],
        problems: list[str],
        runtime: str | None = None,
    ) -> None:
        self.model = model
        self.device = device
        self.version = answer.version
        self.runtime = runtime or f"OpenVINO {answer.version}"
        self.device_name = answer.device
        self.rows = rows
        self.problems = problems
        """The reasons why parts of the comparison are missing, e.g. that OpenVINO refuses or cannot
        run the model, or that irshape cannot evaluate a layer."""
        self.notes: list[str] = []
        """Remarks about the whole comparison, such as where the first NaN comes from."""
        self.hint: str | None = None
        self.inside: Inside | None = None
        """The comparison of a body of the blamed layer, if it has any."""
        self.saved: Path | None = None
        """The path of the blamed layer's IR, if the user requested it."""

    def __repr__(self) -> str:
        return f"<Comparison: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """Says what was compared, how many outputs differ, the problems, and the first
        difference."""
        shapes, values = self.count("differs", values=False), self.count("differs")
        lines = [
            f"{self.model.path} on {self.device}, {self.runtime}: {len(self.rows)} outputs, "
            f"{shapes} of another type or shape, {values} of other values",
            *self.problems,
        ]
        first = self.first
        if first is not None:
            error = "" if first.error is None else f", largest error {first.error:.6g}"
            lines.append(f"first difference: {first.layer.label} output {first.port}{error}")
        return "\n".join(lines)

    @property
    def first(self) -> Row | None:
        """The first output whose difference makes `ok` false. If a layer is blamed, it is an output
        of that layer."""
        return self.blamed or next((row for row in self.rows if self.counts(row)), None)

    @property
    def blamed(self) -> Row | None:
        """The first output that differs even if irshape computes it from the device's input
        values."""
        return next((row for row in self.rows if row.own_verdict == "differs"), None)

    @property
    def ok(self) -> bool:
        """Whether no problem occurred, no type or shape differs, no output differs for equal
        inputs, and no output of the model differs in the whole run. Other tensors may inherit
        differences."""
        return self.first is None and not self.problems

    @property
    def equal(self) -> list[tuple[str, Errors, float]]:
        """The numeric outputs that are equal within the tolerance: the layer's name, the errors,
        and the tolerance."""
        return [
            (row.layer.name, row.errors, row.allowed or 0.0)
            for row in self.rows
            if row.value == "equal" and row.inferred.element_type != "string"
        ]

    @property
    def values_agree(self) -> bool:
        """Whether no value differs."""
        return all(row.value_verdict != "differs" for row in self.rows)

    def counts(self, row: Row) -> bool:
        """Returns whether the difference of a row makes `ok` false."""
        if row.shape_verdict == "differs" or row.own_verdict == "differs":
            return True
        return row.value_verdict == "differs" and (
            row.own_verdict == "not compared" or (row.layer, row.port) in self.outputs
        )

    @cached_property
    def outputs(self) -> set[tuple[Layer, int]]:
        """The outputs that feed the Results."""
        return feeding_results(self.model)

    @property
    def explanations(self) -> list[Explained]:
        """The explanations of rows that differ, one for each kind, in the order of the rows."""
        kinds: dict[Kind, Explained] = {}
        for row in self.rows:
            remark = row.explanation
            if remark is not None:
                each = kinds.setdefault(remark.kind, Explained(remark.kind, remark.text, []))
                each.rows.append(row)
        return list(kinds.values())

    def worst(self, count: int = 5) -> list[Row]:
        """Returns the rows with the largest errors, measured as multiples of the tolerance."""
        rows = [
            row
            for row in self.rows
            if row.value_verdict != "not compared"
            and (row.excess > 0 or row.differs)
            and (row.error is not None or not row.inherited)
        ]
        return sorted(rows, key=lambda row: row.excess, reverse=True)[:count]

    def count(self, verdict: Verdict, *, values: bool = True) -> int:
        """Counts the rows with a verdict on their values, or on their shapes if `values` is
        false."""
        return sum(
            (row.value_verdict if values else row.shape_verdict) == verdict for row in self.rows
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `irshape crosscheck --format json` prints."""
        rows = []
        for row in self.rows:
            own_errors = None if row.own_errors is None else row.own_errors.to_dict()
            explanation = row.explanation
            rows.append(
                {
                    "layer": row.layer.reference,
                    "port": row.port,
                    "inferred": str(row.inferred),
                    "runtime": str(row.runtime),
                    "shape_verdict": row.shape_verdict,
                    "state": row.state,
                    "value_verdict": row.value_verdict,
                    "error": row.error,
                    "allowed": row.allowed,
                    "reason": row.reason,
                    "ranges": row.ranges,
                    "errors": row.errors.to_dict(),
                    "own_verdict": row.own_verdict,
                    "own_errors": own_errors,
                    "own_reason": row.own_reason,
                    "explanation": None if explanation is None else explanation.kind,
                }
            )
        blamed = self.blamed
        return {
            "version": 1,
            "model": self.model.path,
            "device": self.device,
            "runtime" if self.runtime == self.version else "openvino": self.version,
            "hint": self.hint,
            "ok": self.ok,
            "blamed": None if blamed is None else reference(blamed.layer, blamed.port),
            "inside": None if self.inside is None else self.inside.to_dict(),
            "problems": self.problems,
            "notes": self.notes,
            "explanations": [
                {"kind": each.kind, "reason": each.text, "outputs": len(each.rows)}
                for each in self.explanations
            ],
            "outputs": rows,
        }


class Inside(NamedTuple):
    """The comparison of a body of a layer.

    tag: the tag of the body. iteration: the last run of the body that was compared, counted from 0.
    looked_at: how many runs were tried. comparison: the comparison of the body as a separate model,
    with irshape's inputs of that iteration. Its layers keep their ids and names from the body.
    """

    layer: Layer
    tag: str
    iteration: int
    looked_at: int
    comparison: Comparison

    @property
    def blamed(self) -> Row | None:
        """The first output in the body that differs even for equal inputs; None if there is
        none."""
        return self.comparison.blamed

    @property
    def path(self) -> list[str]:
        """The path to the body: for each layer that contains it, the id and the tag of the body."""
        return [*self.layer.path, self.layer.id, self.tag]

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON object `inside` of the document that `Comparison.to_dict` returns."""
        blamed, inner = self.blamed, self.comparison.inside
        return {
            "path": self.path,
            "iteration": self.iteration,
            "looked_at": self.looked_at,
            "blamed": None if blamed is None else reference(blamed.layer, blamed.port),
            "errors": None if blamed is None else (blamed.own_errors or blamed.errors).to_dict(),
            "inside": None if inner is None else inner.to_dict(),
        }
