"""Bugs of OpenVINO, each reduced to the smallest IR that shows it.

    python tests/differential/openvino_bugs.py       # writes tests/measured/openvino-bugs.md
    python tests/differential/openvino_bugs.py --only lrn-whole-bias
    python tests/differential/openvino_bugs.py --environments FOLDER --releases 2023.0 2025.4

With `--environments` (`environments.py`), older releases also run each of the small IRs.

The script starts from the rows of the differential tests that name a known difference of the kind
`values` or `crash`. `irshape.reduce` makes their models small, as long as OpenVINO crashes, or its
values are far from those of the specification. Rows run one inference; `stateful` has models that
are wrong from the second inference on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve()
TESTS, ROOT = HERE.parent.parent, HERE.parent.parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(ROOT), str(TESTS / "ops")]

from ir import Net  # noqa: E402

import irshape  # noqa: E402
from differential.cases import Case, build, feeds, parameters  # noqa: E402
from differential.coverage import cases  # noqa: E402
from differential.elements import REAL, Tensor  # noqa: E402
from differential.environments import NEWEST_PATCHES, interpreter  # noqa: E402
from differential.known_differences import KNOWN  # noqa: E402
from differential.oracle import Answer, Oracle  # noqa: E402
from irshape import ExecutionError, Model  # noqa: E402
from irshape.execution.inputs import random_inputs  # noqa: E402
from irshape.numpy_types import element_type_of, pack  # noqa: E402

PAGE = ROOT / "tests" / "measured" / "openvino-bugs.md"

CRASHES = ("signal-size", "multinomial-too-many", "ctc-numbers")
"""Known differences whose models break the specification, and crash the CPU plugin."""

NO_BUGS = (
    "i64-as-i32",
    "f64-as-f32",
    "u8-sum-wraps",
    "topk-ties",
    "round-just-below-half",
    "explicit-broadcast",
)
"""Differences that are no bugs: documented narrowing, and an order that the specification leaves
open."""

FAR = 1e-3
"""Values that differ by more than this, absolutely and relatively, are wrong."""

Array = np.ndarray[Any, Any]


class Bug(NamedTuple):
    key: str
    model: Model
    inputs: list[Array]
    ours: list[Array]
    theirs: list[Array]
    """Empty if OpenVINO crashes."""
    where: str
    """`reading` or `running`, for a crash."""
    version: str
    releases: dict[str, str]
    """For each older release: `seen`, `not seen`, `does not read` or `does not run`."""
    reason: str
    times: int = 1
    """The number of inferences after which the bug is seen."""


class Stateful(NamedTuple):
    """A model that is wrong from its second inference on."""

    key: str
    reason: str
    net: Net
    inputs: dict[str, Array]
    times: int = 2

    def bug(self, oracle: Oracle, older: Mapping[str, Oracle]) -> Bug | None:
        """Returns the bug; None if OpenVINO's results agree with the specification."""
        with tempfile.TemporaryDirectory() as folder:
            model = self.net.load(Path(folder))
            session = irshape.Session(model)
            for _ in range(self.times):
                ours = list(session.run(self.inputs).values())
            inputs = [self.inputs[layer.name] for layer in model.parameters]
            done = asked(oracle, model, inputs, self.times).execution
            theirs = [] if done is None else [each.array for each in done.results.values()]
            if not any(_wrongness(*pair) for pair in zip(ours, theirs, strict=True)):
                return None
            seen = {
                release: _seen(model, inputs, ours, "", other, self.times)
                for release, other in older.items()
            }
        found = (ours, theirs, "", oracle.version, seen, self.reason, self.times)
        return Bug(self.key, model, inputs, *found)


def stateful() -> Iterator[Stateful]:
    net = Net()
    begin, value = net.parameter("?", name="in0"), net.constant([1.0, 2.0], "f32")
    variable = 'variable_id="v" variable_type="f32" variable_shape="?"'
    state = net.layer("ReadValue", [begin], variable, version="opset6", outputs=["FP32:-1"])
    net.layer("Assign", [value], variable, version="opset6", outputs=[])
    net.result(state)
    yield Stateful(
        "constant-not-stored",
        "an Assign of a constant to a variable of dynamic shape has no effect; after an Assign of "
        "another value of static shape, the inference raises an exception",
        net,
        {"in0": np.zeros(2, np.float32)},
    )


class Witness:
    """Runs models in OpenVINO, and remembers the last result that shows the bug.

    Reducing must not turn one bug into another. Therefore constants keep their values, inputs keep
    their shapes if the row gives values or integers, and the same outputs stay wrong in the same
    way.
    """

    def __init__(self, oracle: Oracle, case: Case, model: Model) -> None:
        self.oracle = oracle
        self.type = case.type
        self.given = {name: array for name, (_, array) in (feeds(case) or {}).items()}
        self.fixed = any(
            parameter.values is not None or parameter.element_type not in REAL
            for parameter in parameters(case)
        )
        self.constants = _constants(model)
        self.kind: tuple[Any, ...] | None = None
        self.bug: tuple[list[Array], list[Array], list[Array], str] | None = None

    def __call__(self, model: Model) -> bool:
        if all(layer.type != self.type for layer in model.walk()):
            return False
        constants = _constants(model)
        if any(self.constants.get(name) != value for name, value in constants.items()):
            return False
        try:
            inputs = self._inputs(model)
        except ValueError:
            return False
        answer = asked(self.oracle, model, inputs)
        crash = _crash(answer)
        if crash:
            return self._same_kind((crash,)) and self._note(inputs, [], [], crash)
        done = answer.execution
        if done is None or done.status != "done" or done.engine != "CPU":
            return False
        try:
            ours = list(irshape.run(model, inputs).values())
        except ExecutionError:
            return False
        theirs = [each.array for each in done.results.values()]
        if len(ours) != len(theirs):
            return False
        wrong = [_wrongness(*pair) for pair in zip(ours, theirs, strict=True)]
        return any(wrong) and self._same_kind(wrong) and self._note(inputs, ours, theirs, "")

    def _same_kind(self, kind: Sequence[str]) -> bool:
        """Returns whether a result is wrong in the same way as the first result."""
        if self.kind is None:
            self.kind = tuple(kind)
        return self.kind == tuple(kind)

    def _note(self, inputs: list[Array], ours: list[Array], theirs: list[Array], at: str) -> bool:
        self.bug = inputs, ours, theirs, at
        return True

    def _inputs(self, model: Model) -> list[Array]:
        """Returns the inputs of the row where they fit, else random inputs."""
        drawn = random_inputs(model)
        inputs = []
        for layer in model.parameters:
            array, row = drawn[layer], self.given.get(layer.name)
            fits = row is not None and row.shape == array.shape and row.dtype == array.dtype
            if self.fixed and row is not None and not fits:
                raise ValueError(f"{layer.name} does not go with the inputs of the row any more")
            inputs.append(row if fits and row is not None else array)
        return inputs


def _crash(answer: Answer) -> str:
    if answer.status == "crashed":
        return "reading"
    if answer.execution is not None and answer.execution.status == "crashed":
        return "running"
    return ""


def _wrongness(ours: Array, theirs: Array) -> str:
    """Returns in what way an output of OpenVINO is wrong; "" if it is right."""
    if ours.dtype.kind == "O" or theirs.dtype.kind == "O":
        return "" if ours.tolist() == theirs.tolist() else "texts"
    if ours.shape != theirs.shape:
        return "shape"
    with np.errstate(all="ignore"):
        one, other = ours.astype(np.float64), theirs.astype(np.float64)
        if np.allclose(one, other, rtol=FAR, atol=FAR, equal_nan=True):
            return ""
    return "values" if (np.isfinite(one) == np.isfinite(other)).all() else "not finite"


def _constants(model: Model) -> dict[str, list[Any]]:
    return {
        layer.name: model.constant(layer).array().tolist()
        for layer in model.walk()
        if layer.is_constant
    }


def rows(key: str) -> Iterator[Case]:
    for case in cases():
        if key in case.keys and case.edit is None:
            yield case


def reduced(key: str, oracle: Oracle, older: dict[str, Oracle]) -> Bug | None:
    """Returns the smallest model that shows a known difference; None if no row shows it."""
    for case in list(rows(key))[:6]:
        xml, weights = build(case)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.xml"
            path.write_text(xml, encoding="utf-8")
            path.with_suffix(".bin").write_bytes(weights)
            model = irshape.load(path)
            irshape.save(model, path, inference=irshape.infer(model))  # ports declare shapes
            witness = Witness(oracle, case, model)
            try:
                reduction = irshape.reduce(path, witness, max_time=120)
            except (ValueError, irshape.LoadError):
                continue
            assert witness(reduction.model)
            assert witness.bug is not None
            inputs, ours, _, where = witness.bug
            seen = {
                release: _seen(reduction.model, inputs, ours, where, other)
                for release, other in older.items()
            }
            reason = KNOWN[key].reason
            return Bug(key, reduction.model, *witness.bug, oracle.version, seen, reason)
    return None


def _seen(
    model: Model, inputs: list[Array], ours: list[Array], where: str, oracle: Oracle, times: int = 1
) -> str:
    """Returns whether a release shows a bug that the newest release shows with these inputs."""
    answer = asked(oracle, model, inputs, times)
    if answer.status == "refused":
        return "does not read"
    if where or _crash(answer):
        return "seen" if _crash(answer) else "not seen"
    done = answer.execution
    if done is None or done.status != "done" or done.engine != "CPU":
        return "does not run"
    theirs = [each.array for each in done.results.values()]
    wrong = any(_wrongness(*pair) for pair in zip(ours, theirs, strict=True))
    return "seen" if wrong else "not seen"


def asked(oracle: Oracle, model: Model, inputs: list[Array], times: int = 1) -> Answer:
    """Returns OpenVINO's answer on a model, with inputs in the order of its Parameters."""
    fed = {
        layer.name: Tensor(
            element_type_of(array).name, array.shape, pack(array, element_type_of(array))
        )
        for layer, array in zip(model.parameters, inputs, strict=True)
        if array.dtype.kind != "O"
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        irshape.save(model, path)
        return oracle.ask_file(path, fed, times)


# the page


MEASURED = "Measured with OpenVINO "
"""The beginning of the part of the page that this script writes."""


def page(bugs: list[Bug]) -> str:
    head = PAGE.read_text(encoding="utf-8").partition(MEASURED)[0]
    version = bugs[0].version.partition("-")[0]
    lines = [f"{head}{MEASURED}{version}{_asked(bugs)}.", "", *_table(bugs), ""]
    for bug in bugs:
        lines += [f"## {bug.key}", "", f"**The bug:** {bug.reason}.", "", *_shown(bug)]
    return "\n".join(lines)


def _asked(bugs: list[Bug]) -> str:
    older = list(bugs[0].releases)
    return f" and {len(older)} older releases, from {older[0]} on" if older else ""


def _table(bugs: list[Bug]) -> Iterator[str]:
    yield "| bug | what happens | first release | last release | other releases |"
    yield "|---" * 5 + "|"
    for bug in bugs:
        newest = ".".join(bug.version.split(".")[:2])
        answers = {**bug.releases, newest: "seen"}
        seen = [release for release, answer in answers.items() if answer == "seen"]
        cells = [f"[{bug.key}](#{bug.key})", _happens(bug), seen[0], seen[-1], _others(answers)]
        yield f"| {' | '.join(cells)} |"


def _others(answers: dict[str, str]) -> str:
    """Returns the releases that do not show a bug, in spans, with what they do."""
    spans = []
    for answer, span in groupby(answers.items(), key=lambda item: item[1]):
        releases = [release for release, _ in span]
        if answer != "seen":
            ends = releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"
            spans.append(f"{ends}: {answer}")
    return "; ".join(spans) or "none"


def _happens(bug: Bug) -> str:
    return f"a crash while {bug.where}" if bug.where else "wrong values"


def _shown(bug: Bug) -> Iterator[str]:
    if bug.where:
        call = "read_model" if bug.where == "reading" else "infer"
        yield f"With this model, `{call}` crashes: the process dies."
        yield ""
    if bug.times > 1:
        yield f"- run {bug.times} inferences with one InferRequest, each with these inputs"
    for layer, array in zip(bug.model.parameters, bug.inputs, strict=True):
        yield f"- input `{layer.name}`: `{_whole(array)}`"
    for ours, theirs in zip(bug.ours, bug.theirs, strict=True):
        if not _wrongness(ours, theirs):
            continue
        yield f"- expected output: `{_text(ours)}`"
        yield f"- OpenVINO's output: `{_text(theirs)}`"
    for layer in bug.model.walk():
        if layer.is_constant:
            yield f"- constant `{layer.name}`: `{_text(bug.model.constant(layer).array())}`"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        irshape.save(bug.model, path)
        xml, weights = path.read_text(encoding="utf-8"), path.with_suffix(".bin").read_bytes()
    if weights:
        yield f"- the .bin in base64: `{b64encode(weights).decode()}`"
    yield from ("", "```xml", xml.strip(), "```", "")


def _whole(array: Array) -> str:
    """Returns an array as a line, with enough digits to tell all numbers of its type apart."""
    numbers = ", ".join(map(str, array.reshape(-1)))
    return f"{element_type_of(array)} {list(array.shape)}: {numbers}"


def _text(array: Array) -> str:
    """Returns an array as a line; of a long array, only the first 16 elements."""
    flat = array.reshape(-1).tolist()
    numbers = [f"{each:.6g}" if isinstance(each, float) else str(each) for each in flat[:16]]
    more = ", …" if len(flat) > 16 else ""
    return f"{element_type_of(array)} {list(array.shape)}: {', '.join(numbers)}{more}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", action="append", choices=[*KNOWN])
    parser.add_argument("--environments", type=Path, help="the folder of environments.py")
    parser.add_argument("--releases", nargs="+", default=[*NEWEST_PATCHES][:-1])
    given = parser.parse_args()
    keys = given.only or [
        key
        for key, known in KNOWN.items()
        if (known.kind in ("values", "crash") and key not in NO_BUGS) or key in CRASHES
    ]
    bugs = []
    with Oracle(timeout=20) as oracle, ExitStack() as stack:
        older = {
            release: stack.enter_context(Oracle(python=interpreter(release, given.environments)))
            for release in (given.releases if given.environments else ())
        }
        for key in keys:
            bug = reduced(key, oracle, older)
            layers = "none" if bug is None else f"{sum(1 for _ in bug.model.walk())} layers"
            print(f"{key}: {layers}", flush=True)
            if bug is not None:
                bugs.append(bug)
        if not given.only:
            bugs += filter(None, (each.bug(oracle, older) for each in stateful()))
    if given.only:
        print(page(bugs))
    else:
        PAGE.write_text(page(bugs), encoding="utf-8")


if __name__ == "__main__":
    main()
