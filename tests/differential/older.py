"""A row of the differential tests beside a release of OpenVINO that is not the newest.

`compared` says what the release does with the row, and `unexplained` what of that neither irshape
(`requires`, `--target`) nor the list of known differences says.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import irshape
from irshape.inference.details import details, sites
from irshape.releases import (
    IGNORED,
    INFERRED_OTHERWISE,
    NOT_RUN,
    Release,
    parse_release,
    shows,
    written,
)
from irshape.types import PartialShape

from .cases import Case, build, feeds, parameters
from .compare import (
    by_name,
    declaring,
    difference_of_types,
    difference_of_values,
    for_irshape,
    held,
    with_declared_nodes,
)
from .coverage import version_under_test
from .elements import Array
from .known_differences import KNOWN, OLDER
from .oracle import Answer, Oracle

Ports = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class Verdict:
    """What a release does with a row, beside what irshape says."""

    reads: str
    """`accepted`, `refused` or `crashed`."""
    shapes: str = ""
    """Its types and shapes are the `same` as irshape's, `wider`, `narrower`, or `other`."""
    values: str = ""
    """Its values on the CPU are the `same`, or `other`; or it does `not run` the row, or `crashed`.
    Empty where the row is not run, or its values depend on the kind of CPU.
    """
    said: tuple[str, ...] = ()
    """The codes that irshape reports for this release as the target."""
    message: str = ""


@dataclass(frozen=True)
class Row:
    id: str
    operation: str
    """The version of the layer under test, as `Softmax-8`."""
    error: bool
    """Whether irshape reports an error (other than IR2xx), whatever the release."""
    known: tuple[str, ...]
    alone: bool
    """Whether the CPU plugin of no release runs it."""
    verdicts: dict[str, Verdict] = field(default_factory=dict)


def compared(case: Case, oracles: Mapping[str, Oracle]) -> Row:
    """What irshape and the releases make of one row."""
    xml, weights = build(case)
    fed = feeds(case) if case.run else None
    known = (case.known,) if isinstance(case.known, str) else tuple(case.known)
    with tempfile.TemporaryDirectory(prefix="row-") as folder:
        path = Path(folder) / "model.xml"
        path.write_text(xml, encoding="utf-8")
        if weights:
            path.with_suffix(".bin").write_bytes(weights)
        row = Row(
            case.id,
            version_under_test(case),
            _refused(case, path),
            known,
            _runs_nowhere(case),
        )
        inferred: Ports = {}
        outputs: list[tuple[str, Array]] = []
        said: dict[str, tuple[str, ...]] = {}
        if not row.error:
            model = irshape.load(path)
            inference = irshape.infer(model)
            inferred = by_name(inference.to_dict()["layers"])
            said = _said(inference, oracles)
            outputs = _values(
                case, model, {name: array for name, (_, array) in (fed or {}).items()}
            )
        asked = None if fed is None else {name: tensor for name, (tensor, _) in fed.items()}
        for release, oracle in oracles.items():
            answer = oracle.ask_file(path, asked)
            row.verdicts[release] = _verdict(case, answer, inferred, outputs, said.get(release, ()))
    return row


def _runs_nowhere(case: Case) -> bool:
    """Whether OpenVINO cannot run a row, or an input is of any rank: no CPU plugin runs that."""
    return case.run == "alone" or any(each.shape == "..." for each in parameters(case))


def _refused(case: Case, path: Path) -> bool:
    """Whether irshape reports an error, where all ports declare what it infers."""
    if case.edit is None:
        path = with_declared_nodes(case, path)
        layers = irshape.infer(irshape.load(path)).to_dict()["layers"]
        path = declaring(case, path, by_name(layers))
    return any(
        found.severity == "error" and not found.code.startswith("IR2")
        for found in irshape.validate(path).diagnostics
    )


def _said(inference: irshape.Inference, releases: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The codes that --target reports, by release."""
    requirements = irshape.requires(inference.model)
    tables = {"IR606": IGNORED, "IR607": NOT_RUN, "IR608": INFERRED_OTHERWISE}
    shown = {
        code: [table[key] for site in sites(inference) for key in details(site, table)]
        for code, table in tables.items()
    }
    said = {}
    for release in releases:
        parsed = parse_release(release)
        codes = [
            code for code, facts in shown.items() if any(shows(fact, parsed) for fact in facts)
        ]
        said[release] = (*(() if requirements.reads(release) else ("IR605",)), *codes)
    return said


def _values(case: Case, model: irshape.Model, inputs: dict[str, Array]) -> list[tuple[str, Array]]:
    if not case.run or (not inputs and parameters(case)):
        return []
    given = {
        name: for_irshape(array, parameter.element_type)
        for (name, array), parameter in zip(inputs.items(), parameters(case), strict=True)
    }
    return held(irshape.run(model, given, force=True).values())


def _verdict(
    case: Case,
    answer: Answer,
    inferred: Ports,
    outputs: Sequence[tuple[str, Array]],
    said: tuple[str, ...],
) -> Verdict:
    if answer.status != "accepted" or not inferred:
        return Verdict(answer.status, said=said, message=answer.message[-300:])
    shapes, message = _shapes(answer, inferred)
    values = ""
    execution = answer.execution
    if execution is not None and outputs and not _by_hardware(case):
        if execution.status == "crashed":
            values = "crashed"
        elif execution.status != "done" or execution.engine != "CPU":
            values, message = "not run", f"{message} {execution.message[:300]}"
        else:
            pairs = zip(outputs, execution.results.values(), strict=True)
            differences = [
                difference_of_types(name, array, theirs)
                or difference_of_values(array, theirs.array, name, case)
                for (name, array), theirs in pairs
            ]
            values = "other" if any(differences) else "same"
            message += "; ".join(filter(None, differences))[:300]
    return Verdict(answer.status, shapes, values, said, message)


def _by_hardware(case: Case) -> bool:
    keys = (case.known,) if isinstance(case.known, str) else case.known
    return any(key and KNOWN[key].kind == "hardware" for key in keys)


def _shapes(answer: Answer, inferred: Ports) -> tuple[str, str]:
    """How the types and shapes of a release compare with irshape's, and an example."""
    wider = narrower = False
    message = ""
    for name, theirs in answer.layers.items():
        if name not in inferred:
            continue  # OpenVINO has put the layer there
        ours = inferred[name]
        if len(ours) != len(theirs):
            return "other", f"{name}: {len(theirs)} outputs, irshape {len(ours)}"
        for one, other in zip(ours, theirs, strict=True):
            if one == other:
                continue
            message = f"{name}: {other[0]}{other[1]}, irshape {one[0]}{one[1]}"
            our_shape, their_shape = PartialShape.parse(one[1]), PartialShape.parse(other[1])
            if one[0] == other[0] and their_shape.encloses(our_shape):
                wider = True
            elif one[0] == other[0] and our_shape.encloses(their_shape):
                narrower = True
            else:
                return "other", message
    return "narrower" if narrower else "wider" if wider else "same", message


def unexplained(row: Row, release: Release) -> tuple[str, str] | None:
    """In what a release differs, and its message, where nothing says that it would."""
    verdict = row.verdicts[written(release)]
    what = _difference(row, verdict)
    if not what or any(entry.covers(row.operation, what, release) for entry in OLDER):
        return None
    return what, verdict.message


def _difference(row: Row, verdict: Verdict) -> str:
    """One of `Older.what`, or nothing."""
    kinds = {KNOWN[key].kind for key in row.known if key}
    if row.error:
        return "takes" if verdict.reads == "accepted" and "stricter" not in kinds else ""
    if "IR605" in verdict.said:
        return "reads" if verdict.reads == "accepted" else ""
    if verdict.reads != "accepted":
        known = "lenient" if verdict.reads == "refused" else "crash"
        return "" if known in kinds else "refuses" if verdict.reads == "refused" else "crashes"
    wider = verdict.shapes == "wider" and ("tighter" in kinds or "IR608" in verdict.said)
    if verdict.shapes not in ("", "same") and not wider and "IR608" not in verdict.said:
        return "shapes"
    if verdict.values in ("crashed", "not run"):
        explained = row.alone or (verdict.values == "not run" and "IR607" in verdict.said)
        return "" if explained else "crashes" if verdict.values == "crashed" else "not run"
    explained = "values" in kinds or "IR606" in verdict.said
    return "values" if verdict.values == "other" and not explained else ""
