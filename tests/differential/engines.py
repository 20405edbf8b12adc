"""irshape's values beside both engines of OpenVINO: the CPU plugin and `Model.evaluate`.

Each of the two has faults of its own, and the CPU plugin other ones on other processors. What both
agree on is right.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import irshape
from irshape.faults import Fault
from irshape.rule_ids import DUPLICATE_VALUES

from . import compare
from .cases import Case, build, feeds
from .compare import difference_of_types, difference_of_values
from .elements import Array, Tensor
from .oracle import Oracle

LIMIT = 64 << 20
"""Bytes that a run may take: values make tensors of any size."""

Outputs = list[tuple[str, Array]]
"""Element types and arrays."""


def written(case: Case, folder: Path) -> Path:
    """The IR of a case as a file; outputs declare their types."""
    xml, weights = build(case)
    path = folder / "case.xml"
    path.write_text(xml, encoding="utf-8")
    path.with_suffix(".bin").unlink(missing_ok=True)  # it may be mapped
    path.with_suffix(".bin").write_bytes(weights or b"\0")
    return path


def refusals(case: Case) -> set[str]:
    """What inference and the check refuse of the layer under test; repeated axes are computed."""
    with tempfile.TemporaryDirectory() as folder:
        observations = irshape.infer(irshape.load(written(case, Path(folder)))).observations
    return {
        subject.message if isinstance(subject, Fault) else str(subject)
        for layer, subject in observations
        if layer.name == "op"
        and not (
            isinstance(subject, Fault)
            and (
                subject.rule == DUPLICATE_VALUES
                or (subject.severity or subject.rule.severity) != "error"
            )
        )
    }


def computed(case: Case) -> Outputs | str:
    """What irshape computes, or why it refuses to."""
    with tempfile.TemporaryDirectory() as folder:
        model = irshape.load(written(case, Path(folder)))
        try:
            return compare.computed(case, model, LIMIT)
        except irshape.ExecutionError as refusal:
            return str(refusal)


def contradiction(case: Case, ours: Outputs | str, oracle: Oracle) -> str:
    """In what both engines agree against irshape; empty where they do not.

    ours: the outputs, or a text for a refusal.
    """
    fed = feeds(case)
    assert fed is not None
    inputs = {name: tensor for name, (tensor, _) in fed.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = written(case, Path(folder))
        theirs: list[Outputs] = []
        for engine, times in (("CPU", 1), ("evaluate", 0)):
            ran = oracle.ask_file(path, inputs, times).execution
            if ran is None or ran.status != "done" or ran.engine != engine:
                return ""
            outputs = [(each.element_type, each.array) for each in ran.results.values()]
            if not isinstance(ours, str) and not _difference(case, ours, outputs):
                return ""
            theirs.append(outputs)
    if _difference(case, *theirs):
        return ""
    wrong = ours if isinstance(ours, str) else _difference(case, ours, theirs[0])
    return f"both engines give {_shown(theirs[0])}; {wrong}"


def _difference(case: Case, ours: Outputs, theirs: Outputs) -> str:
    for index, ((one, array), (other, expected)) in enumerate(zip(ours, theirs, strict=True)):
        difference = difference_of_types(one, array, Tensor.of(expected, other)) or (
            difference_of_values(array, expected, one, case)
        )
        if difference:
            return f"result {index}: {difference}"
    return ""


def _shown(outputs: Outputs) -> str:
    return ", ".join(
        f"{name}{list(array.shape)} {array.ravel()[:12].tolist()}" for name, array in outputs
    )
