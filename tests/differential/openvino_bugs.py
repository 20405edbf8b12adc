"""Bugs of OpenVINO, each reduced to the smallest IR that shows it.

    python tests/differential/openvino_bugs.py       # writes tests/measured/openvino-bugs.md
    python tests/differential/openvino_bugs.py --only lrn-whole-bias
    python tests/differential/openvino_bugs.py --environments FOLDER --releases 2023.0 2025.4

With `--environments` (`environments.py`), older releases also run each of the small IRs.

The script starts from the rows of the differential tests that name a known difference of the kind
`values` or `crash`. `irshape.reduce` makes their models small, as long as OpenVINO crashes, or its
values are far from those of the specification. `written` has models of other bugs.
"""

from __future__ import annotations

import argparse
import re
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

import irshape  # noqa: E402
from differential.cases import Case, build, feeds, parameters  # noqa: E402
from differential.coverage import cases  # noqa: E402
from differential.elements import REAL, Tensor  # noqa: E402
from differential.environments import NEWEST_PATCHES, interpreter  # noqa: E402
from differential.known_differences import KNOWN  # noqa: E402
from differential.oracle import Answer, Oracle  # noqa: E402
from irshape import ExecutionError, Graph, Model, Output, op  # noqa: E402
from irshape.execution.inputs import random_inputs  # noqa: E402
from irshape.numpy_types import element_type_of, pack  # noqa: E402
from irshape.shapes import PartialShape  # noqa: E402

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

WRONG_SHAPE = "a wrong inferred shape"

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
    what: str = "wrong values"
    """What happens, unless it is a crash."""
    bounds: Sequence[str] = ()
    """The shapes that OpenVINO infers for the outputs, if one of them is wrong."""


class Written(NamedTuple):
    """A model written by hand, as its bug is no difference between the results of one inference:
    it needs several inferences, or lies in the inferred shape or in an exception."""

    key: str
    reason: str
    graph: Graph
    inputs: dict[str, Array]
    times: int = 1

    def bug(self, oracle: Oracle, older: Mapping[str, Oracle]) -> Bug | None:
        """Returns the bug; None if OpenVINO's results agree with the specification."""
        model = self.graph.model()
        session = irshape.Session(model)
        for _ in range(self.times):
            ours = list(session.run(self.inputs).values())
        inputs = [self.inputs[layer.name] for layer in model.parameters]
        answer = asked(oracle, model, inputs, self.times)
        what = outcome(answer, model, ours)
        if not what:
            return None
        wrong = what == WRONG_SHAPE
        bounds = [answer.layers[layer.name][0][1] for layer in model.results if wrong]
        done = answer.execution
        theirs = [] if done is None else [each.array for each in done.results.values()]
        seen = {}
        for release, other in older.items():
            found = outcome(asked(other, model, inputs, self.times), model, ours)
            seen[release] = "seen" if found == what else _ELSE.get(found, found)
        found = (ours, theirs, "", oracle.version, seen, self.reason, self.times, what, bounds)
        return Bug(self.key, model, inputs, *found)


_ELSE = {"": "not seen", "an exception": "does not run"}


def outcome(answer: Answer, model: Model, ours: list[Array]) -> str:
    """Returns what is wrong with an answer of OpenVINO; "" if nothing is."""
    crash = _crash(answer)
    if answer.status == "refused" or crash:
        return f"a crash while {crash}" if crash else "does not read"
    for layer, array in zip(model.results, ours, strict=True):
        bound = PartialShape.of(answer.layers[layer.name][0][1])
        if not bound.encloses(PartialShape.of(list(array.shape))):
            return WRONG_SHAPE
    wrong = wrong_values(answer, ours)
    return "an exception" if wrong is None else "wrong values" if wrong else ""


def wrong_values(answer: Answer, ours: list[Array]) -> bool | None:
    """Returns whether the CPU computes other values than irshape; None if it computes none."""
    done = answer.execution
    if done is None or done.status != "done" or done.engine != "CPU":
        return None
    theirs = [each.array for each in done.results.values()]
    return any(_wrongness(*pair) for pair in zip(ours, theirs, strict=True))


def written() -> Iterator[Written]:
    graph = Graph(name="m")
    begin = graph.parameter("f32", "[?]", name="in0")
    variable = {"variable_id": "v", "variable_type": "f32", "variable_shape": "[?]"}
    graph.result(graph.add("ReadValue", begin, **variable), "out0")
    graph.add("Assign", np.float32([1, 2]), variable_id="v")
    yield Written(
        "constant-not-stored",
        "an Assign of a constant to a variable of dynamic shape has no effect; after an Assign of "
        "another value of static shape, the inference raises an exception",
        graph,
        {"in0": np.zeros(2, np.float32)},
        times=2,
    )

    for kind, shape in (("HardSigmoid", "[]"), ("Selu", "[1]")):
        graph = Graph(name="m")
        data, alpha = (
            graph.parameter("f32", "[3]", name="in0"),
            graph.parameter("f32", shape, name="in1"),
        )
        rest = np.full(alpha.shape.static, 0.5, np.float32)
        graph.result(graph.add(kind, data, alpha, rest), "out0")
        yield Written(
            f"{kind.lower().replace('hards', 'hard-s')}-alpha-at-run-time",
            f"{kind}: the CPU plugin does not compile a model that computes `alpha` at run time",
            graph,
            {"in0": np.float32([-1, 0, 1]), "in1": np.full(alpha.shape.static, 0.25, np.float32)},
        )

    graph = Graph(name="m")
    trips, data = (
        graph.parameter("i64", "[]", name="in0"),
        graph.parameter("f32", "[1]", name="in1"),
    )

    def body(state: Output) -> tuple[Any, ...]:
        go_on = op.squeeze(op.less(state, 3.0), [0], opset=1)
        return op.repeat_while(go_on), state + 1.0, op.stacked(state, 0)

    graph.result(op.loop(trips, True, op.carried(data), body=body)[1], "out0")
    yield Written(
        "loop-negative-trip-count",
        "Loop with a trip count below -1: an output that concatenates the iterations is empty "
        "(before 2025.2, the inference raises an exception)",
        graph,
        {"in0": np.array(-3), "in1": np.zeros(1, np.float32)},
    )

    sizes = {
        "floor-mod": (4, "FloorMod of 1 to 8 by 5", lambda size: op.floor_mod(size, 5)),
        "power": (5, "Power of -3 to 4 by 2", lambda size: op.power(size - 4, 2)),
        "abs": (5, "Abs of -3 to 4", lambda size: op.abs(size - 4)),
    }
    for name, (size, what, computed) in sizes.items():
        graph = Graph(name="m")
        data = graph.parameter("f32", "[1..8]", name="in0")
        graph.result(op.broadcast(np.float32(1), computed(op.shape_of(data))), "out0")
        yield Written(
            f"{name}-interval",
            f"{what}, as a size: the bounds are computed from both ends alone",
            graph,
            {"in0": np.zeros(size, np.float32)},
        )

    graph = Graph(name="m")
    data, other = (
        graph.parameter("f32", "[1..]", name="in0"),
        graph.parameter("f32", "[1..]", name="in1"),
    )
    graph.result(op.slice(data, [-1], op.shape_of(other), [1], [0]), "out0")
    yield Written(
        "slice-last-to-size",
        "Slice x[-1:n]: OpenVINO infers one element, although there is none if n is less than the "
        "size of x",
        graph,
        {"in0": np.zeros(3, np.float32), "in1": np.zeros(1, np.float32)},
    )

    graph = Graph(name="m")
    data, indices = (
        graph.parameter("f32", "[4]", name="in0"),
        graph.parameter("i64", "[1]", name="in1"),
    )
    graph.result(op.scatter_update(data, indices, np.float32([1]), 0), "out0")
    yield Written(
        "scatter-update-from-the-end",
        "ScatterUpdate with an index below 0: the kernel refuses it, but the inference returns a "
        "result that is not set (before 2025.2, it raises an exception)",
        graph,
        {"in0": np.zeros(4, np.float32), "in1": np.array([-3])},
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
    wrong = wrong_values(answer, ours)
    return "does not run" if wrong is None else "seen" if wrong else "not seen"


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
        lines += _section(bug)
    return "\n".join(lines)


def updated(page: str, bugs: list[Bug]) -> str:
    """Returns the page with the rows and sections of these bugs replaced or added."""
    table, *sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    rows = table.rstrip().splitlines()
    texts = {text.partition("\n")[0]: text.rstrip() for text in sections}
    for bug in bugs:
        mark = f"| [{bug.key}]"
        at = next((at for at, row in enumerate(rows) if row.startswith(mark)), len(rows))
        rows[at : at + 1] = [*_table([bug])][2:]
        texts[f"## {bug.key}"] = "\n".join(_section(bug)).rstrip()
    return "\n".join([*rows, *(f"\n{text}" for text in texts.values())]) + "\n"


def _section(bug: Bug) -> Iterator[str]:
    yield from (f"## {bug.key}", "", f"**The bug:** {bug.reason}.", "", *_shown(bug))


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
    return f"a crash while {bug.where}" if bug.where else bug.what


def _shown(bug: Bug) -> Iterator[str]:
    if bug.where:
        call = "read_model" if bug.where == "reading" else "infer"
        yield f"With this model, `{call}` crashes: the process dies."
        yield ""
    if bug.what == "an exception":
        yield from ("OpenVINO reads this model, and raises an exception when it runs it.", "")
    if bug.times > 1:
        yield f"- run {bug.times} inferences with one InferRequest, each with these inputs"
    for layer, array in zip(bug.model.parameters, bug.inputs, strict=True):
        yield f"- input `{layer.name}`: `{_whole(array)}`"
    for at, ours in enumerate(bug.ours):
        theirs = bug.theirs[at] if bug.theirs else None
        if bug.bounds or theirs is None or _wrongness(ours, theirs):
            yield f"- expected output: `{_text(ours)}`"
        if bug.bounds:
            yield f"- the shape that OpenVINO infers: `{bug.bounds[at]}`"
        elif theirs is not None and _wrongness(ours, theirs):
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
    by_hand = list(written())
    parser.add_argument("--only", action="append", choices=[*KNOWN, *(w.key for w in by_hand)])
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
        for key in (key for key in keys if key in KNOWN):
            bug = reduced(key, oracle, older)
            layers = "none" if bug is None else f"{sum(1 for _ in bug.model.walk())} layers"
            print(f"{key}: {layers}", flush=True)
            if bug is not None:
                bugs.append(bug)
        chosen = [each for each in by_hand if not given.only or each.key in given.only]
        bugs += filter(None, (each.bug(oracle, older) for each in chosen))
    text = updated(PAGE.read_text(encoding="utf-8"), bugs) if given.only else page(bugs)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
