"""A row of the differential tests beside a release of OpenVINO that is not the newest.

`compared` says what the release does with the row, and `unexplained` what of that neither irshape
(`requires`, `--target`) nor the list of known differences says.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import irshape
from irshape.inference.sites import details, sites
from irshape.ops import registry
from irshape.ops.differences import Kind
from irshape.releases import (
    LATE_VERSION,
    LAYER_NAMES,
    SHORT_FILE,
    TENSOR_NAMES,
    Detail,
    Release,
    parse_release,
    shows,
    written,
)
from irshape.shapes import PartialShape

from .cases import Case, build, feeds, parameters
from .compare import (
    by_name,
    computed,
    declaring,
    diagnosed,
    difference_of_types,
    difference_of_values,
    refusals,
    with_declared_nodes,
)
from .coverage import version_under_test
from .elements import Array
from .known_differences import KNOWN, OLDER
from .oracle import Answer, Oracle, Question
from .tables import question

Ports = Mapping[str, Sequence[tuple[str, str]]]

KINDS: dict[str, Kind] = {
    "IR605": "refused",
    "IR606": "ignored",
    "IR607": "not run",
    "IR608": "inferred",
}
"""The facts by which `--target` reports a code; IR605 has others besides."""


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
    inferred: str = ""
    """An output whose type or shape is not irshape's."""
    message: str = ""
    """Why it refuses the row or does not run it, or how its values differ."""


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
    told: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The codes that irshape reports for a release as the target."""
    facts: tuple[tuple[str, Detail], ...] = ()
    """The codes of the facts that concern the row, whatever the release."""


class Expected(NamedTuple):
    """What irshape makes of a row."""

    row: Row
    question: Question
    inferred: Ports
    outputs: Sequence[tuple[str, Array]]


def compared(cases: Sequence[Case], oracles: Mapping[str, Oracle]) -> list[Row]:
    """What irshape and the releases make of rows.

    Releases from 2024.0 on are asked about all of them together. A row is asked about alone if it
    is known to differ, or differs in its values: what runs beside it may have changed its memory.
    """
    all_expected = [_expected(case, oracles) for case in cases]
    apart = [_differs_by_itself(case) for case in cases]
    for release, oracle in oracles.items():
        joined = [not each and parse_release(release) >= JOINED_FROM for each in apart]
        together = [
            each.question for each, other in zip(all_expected, joined, strict=True) if other
        ]
        answers = iter(oracle.ask_together(together) if together else ())
        for case, expected, beside in zip(cases, all_expected, joined, strict=True):
            answer = next(answers) if beside else oracle.ask(*expected.question)
            verdict = _verdict(case, answer, expected)
            if verdict.values == "other" and beside:
                verdict = _verdict(case, oracle.ask(*expected.question), expected)
            expected.row.verdicts[release] = verdict
    return [expected.row for expected in all_expected]


JOINED_FROM = (2024, 0)
"""The first release that is asked about rows together: those before do not run many of them, and
are then asked about parts again and again.
"""


def _differs_by_itself(case: Case) -> bool:
    kinds = {KNOWN[key].kind for key in case.keys}
    return case.run == "alone" or not kinds.isdisjoint(("values", "hardware", "crash"))


def _expected(case: Case, releases: Iterable[str]) -> Expected:
    inferred: Ports = {}
    outputs: list[tuple[str, Array]] = []
    told: dict[str, tuple[str, ...]] = {}
    with _written(case) as path:
        error = _refused(case, path)
        if not error:
            model = irshape.load(path)
            inference = irshape.infer(model)
            inferred = by_name(inference.to_dict()["layers"])
            told = _told(inference, releases)
            if case.run and feeds(case) is not None:
                outputs = computed(case, model)
    row = Row(case.id, version_under_test(case), error, case.keys, _runs_nowhere(case), {}, told)
    return Expected(row, question(case), inferred, outputs)


@contextmanager
def _written(case: Case) -> Iterator[Path]:
    """The row as a file, for as long as it is needed."""
    xml, weights = build(case)
    with tempfile.TemporaryDirectory(prefix="row-") as folder:
        path = Path(folder) / "model.xml"
        path.write_text(xml, encoding="utf-8")
        if weights:
            path.with_suffix(".bin").write_bytes(weights)
        yield path


def with_claims(row: Row, case: Case) -> Row:
    """A row that irshape reads, with what `--target` says of it."""
    with _written(case) as path:
        inference = irshape.infer(irshape.load(path))
        return replace(row, told=_told(inference, row.verdicts), facts=_facts(inference))


def _runs_nowhere(case: Case) -> bool:
    """Whether OpenVINO cannot run a row, or an input is of any rank: no CPU plugin runs that."""
    return case.run == "alone" or any(each.shape == "..." for each in parameters(case))


def _refused(case: Case, path: Path) -> bool:
    """Whether irshape reports an error, where all ports declare what it infers.

    How many ports there are is the row's own.
    """
    if any(found.code == "IR116" for found in irshape.validate(path).diagnostics):
        return True
    if case.edit is None:
        path = with_declared_nodes(case, path)
        layers = irshape.infer(irshape.load(path)).to_dict()["layers"]
        path = declaring(case, path, by_name(layers))
    return bool(refusals(diagnosed(path)))


def _told(inference: irshape.Inference, releases: Iterable[str]) -> dict[str, tuple[str, ...]]:
    requirements = irshape.requires(inference.model)
    facts = [(code, detail) for code, detail in _facts(inference) if code != "IR605"]
    codes = {}
    for release in releases:
        parsed = parse_release(release)
        refused = () if requirements.reads(release) else ("IR605",)
        others = dict.fromkeys(code for code, fact in facts if shows(fact, parsed))
        codes[release] = (*refused, *others)
    return codes


def all_facts() -> Iterator[tuple[str, Detail]]:
    """The facts about details of operations and files, each with its code."""
    for detail in (SHORT_FILE, LATE_VERSION, LAYER_NAMES, TENSOR_NAMES):
        yield "IR605", detail
    names = registry.type_names()
    declared = [
        each for name in names for version in registry.versions(name) for each in version.differs
    ]
    for code, kind in KINDS.items():
        for detail in dict.fromkeys(each.detail for each in declared if each.kind == kind):
            yield code, detail


def _facts(inference: irshape.Inference) -> tuple[tuple[str, Detail], ...]:
    return tuple(
        {
            (code, detail): None
            for site in sites(inference)
            for code, kind in KINDS.items()
            for detail in details(site, kind)
        }
    )


def _verdict(case: Case, answer: Answer, expected: Expected) -> Verdict:
    if answer.status != "accepted" or not expected.inferred:
        return Verdict(answer.status, message=answer.message[-300:])
    shapes, inferred = _shapes(answer, expected.inferred)
    values, message = _execution(case, answer, expected.outputs)
    return Verdict(answer.status, shapes, values, inferred, message)


def _execution(case: Case, answer: Answer, outputs: Sequence[tuple[str, Array]]) -> tuple[str, str]:
    """`Verdict.values` and its message."""
    execution = answer.execution
    if execution is None or not outputs or _by_hardware(case):
        return "", ""
    if execution.status == "crashed":
        return "crashed", ""
    if execution.status != "done" or execution.engine != "CPU":
        return "not run", execution.message[:300]
    differences = [
        difference_of_types(name, array, theirs)
        or difference_of_values(array, theirs.array, name, case)
        for (name, array), theirs in zip(outputs, execution.results.values(), strict=True)
    ]
    return "other" if any(differences) else "same", "; ".join(filter(None, differences))[:300]


def _by_hardware(case: Case) -> bool:
    return any(KNOWN[key].kind == "hardware" for key in case.keys)


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


def differences(row: Row, release: str, newest: str) -> dict[str, bool]:
    """Whether what a code of `--target` says is so with a release, for each code where that is
    known: what the release does is compared with what the newest does.
    """
    verdict, reference = row.verdicts[release], row.verdicts[newest]
    if row.error or reference.reads != "accepted":
        return {}
    if verdict.reads != "accepted":
        return {"IR605": True}
    shown = {
        "IR605": False,
        "IR608": (verdict.shapes, verdict.inferred) != (reference.shapes, reference.inferred),
    }
    if reference.values in ("same", "other") and verdict.values:
        shown["IR607"] = verdict.values in ("not run", "crashed")
    if reference.values == "same" and verdict.values in ("same", "other"):
        shown["IR606"] = verdict.values == "other"
    return shown


def unexplained(row: Row, release: Release) -> tuple[str, str] | None:
    """In what a release differs, and its message, where nothing says that it would."""
    verdict = row.verdicts[written(release)]
    what = difference(row, written(release))
    if not what or any(entry.covers(row.operation, what, release) for entry in OLDER):
        return None
    return what, verdict.inferred if what == "shapes" else verdict.message


def difference(row: Row, release: str) -> str:
    """One of `Older.what` that `--target` does not say, or nothing."""
    verdict, codes = row.verdicts[release], row.told.get(release, ())
    kinds = {KNOWN[key].kind for key in row.known}
    if row.error:
        return "takes" if verdict.reads == "accepted" and "stricter" not in kinds else ""
    if "IR605" in codes:
        return "reads" if verdict.reads == "accepted" else ""
    if verdict.reads != "accepted":
        known = "lenient" if verdict.reads == "refused" else "crash"
        return "" if known in kinds else "refuses" if verdict.reads == "refused" else "crashes"
    wider = verdict.shapes == "wider" and ("tighter" in kinds or "IR608" in codes)
    narrower = verdict.shapes == "narrower" and "wider" in kinds
    if verdict.shapes not in ("", "same") and not wider and not narrower and "IR608" not in codes:
        return "shapes"
    if verdict.values in ("crashed", "not run"):
        explained = row.alone or "IR607" in codes
        return "" if explained else "crashes" if verdict.values == "crashed" else "not run"
    explained = "values" in kinds or "IR606" in codes
    return "values" if verdict.values == "other" and not explained else ""
