"""`check(case, oracle)`: a case through OpenVINO and through irshape, and what must agree."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from irshape.releases import MINOR_RELEASES, Release, written
from irshape.shapes import PartialShape

from . import elements, tables
from .cases import Case, Node, build, feeds
from .elements import EPSILON, REAL, Array, Tensor
from .known_differences import KNOWN, Known
from .oracle import Answer, Oracle

NEWEST: Release = max((year, last) for year, (_, last) in MINOR_RELEASES.items())
"""The release whose shapes and values irshape's are."""


@dataclass
class _Talk:
    """What is shown when a case fails."""

    case: Case
    xml: str
    answer: Answer
    irshape: list[str] = field(default_factory=list)

    def fail(self, message: str) -> NoReturn:
        case, answer = self.case, self.answer
        remarks = (f"   ({case.note})" if case.note else "") + (
            f"   known={case.known!r}" if case.known else ""
        )
        lines = [message, "", f"case      {case.id}{remarks}"]
        lines.append(
            f"OpenVINO  {answer.version.split('-')[0]} {answer.status} {_last_line(answer.message)}"
        )
        lines += [f"          {name}: {_ports(ports)}" for name, ports in answer.layers.items()]
        if answer.execution is not None:
            lines.append(
                f"          run: {answer.execution.status} {answer.execution.engine} "
                f"{_last_line(answer.execution.message)}"
            )
            for name, tensor in answer.execution.results.items():
                lines.append(
                    f"          {name}: {tensor.element_type}{list(tensor.shape)} "
                    f"{_shown(tensor.array)}"
                )
        lines += [
            ("irshape   " if index == 0 else "          ") + line
            for index, line in enumerate(self.irshape)
        ]
        shown = self.xml if len(self.xml) < 12_000 else self.xml[:12_000] + "\n…"
        pytest.fail("\n".join([*lines, "", shown]), pytrace=False)


def check(case: Case, oracle: Oracle) -> None:
    """Fails unless irshape and OpenVINO agree on a case, or differ exactly as `case.known` says.

    Where an older release of OpenVINO answers, also if it differs as irshape says of that release,
    or as `known_differences.OLDER` does.
    """
    __tracebackhide__ = True
    if oracle.release != NEWEST:
        from .older import compared, unexplained

        (row,) = compared([case], {written(oracle.release): oracle})
        difference = unexplained(row, oracle.release)
        if difference:
            pytest.fail(
                f"{case.id}: {written(oracle.release)} {': '.join(difference)}; explain it in "
                "`differs` of the operation, or in tests/differential/older_differences.tsv"
            )
        return
    beside_others = tables.answer(case, oracle)
    if beside_others is not None:
        with suppress(pytest.fail.Exception):
            _hold(case, beside_others)
            return
    _hold(case, oracle.ask(*tables.question(case)))  # what fails has failed alone


def _hold(case: Case, answer: Answer) -> None:
    """Holds irshape against what OpenVINO makes of a case."""
    __tracebackhide__ = True
    import irshape

    xml, weights = build(case)
    fed = feeds(case) if case.run else None
    talk = _Talk(case, xml, answer)
    known = _known(case, answer)
    path = _write(Path(_folder().name), xml, weights)
    declares = case.edit is None and answer.status == "accepted"
    diagnostics = diagnosed(
        declaring(case, path, answer.layers) if declares else with_declared_nodes(case, path)
    )
    errors = refusals(diagnostics)
    talk.irshape = [
        _diagnostic(found) for found in diagnostics if not found["code"].startswith("IR2")
    ] or ["no diagnostics"]
    if answer.status != "accepted":
        _not_accepted(talk, known, errors)
        if fed is not None and case.expected is not None and not errors:
            model = irshape.load(str(path))
            layers = irshape.infer(model).to_dict()["layers"]
            _computed(talk, model, by_name(layers)["op"])
        return
    for kind in ("lenient", "crash"):
        if kind in known:
            talk.fail(f"stale entry: {known[kind]!r}, but OpenVINO takes the model")
    if "stricter" in known:
        if not errors:
            talk.fail(f"stale entry: {known['stricter']!r}, but irshape reports no error")
        return
    if errors:
        talk.fail("OpenVINO takes it, irshape reports an error")
    model = irshape.load(str(path))
    layers = irshape.infer(model).to_dict()["layers"]
    inferred = by_name(layers)
    talk.irshape += [f"{name}: {_ports(ports)}" for name, ports in inferred.items()]
    _compare_shapes(talk, known, inferred)
    if fed is not None:
        _compare_values(talk, known, model, inferred["op"])
    elif "values" in known or "hardware" in known:
        talk.fail(
            f"stale entry: {(known.get('values') or known['hardware'])!r}, but the case is not run"
        )
    if declares:
        _check_declared(talk, case, diagnostics)


def check_loosely(case: Case, oracle: Oracle) -> None:
    """Fails if OpenVINO refuses a random case that irshape accepts, or infers a tighter shape.

    Where OpenVINO reads on in silence an error is no failure, and neither is a narrower shape:
    whether they are right is for the rows to say.
    """
    __tracebackhide__ = True
    import irshape

    xml, weights = build(case)
    answer = oracle.ask(xml, weights)
    talk = _Talk(case, xml, answer)
    path = _write(Path(_folder().name), xml, weights)
    errors = refusals(diagnosed(with_declared_nodes(case, path)))
    if answer.status == "refused" and not errors:
        talk.fail("OpenVINO refuses it; irshape reports no error")
    if answer.status != "accepted" or errors:
        return
    inferred = by_name(irshape.infer(irshape.load(str(path))).to_dict()["layers"])["op"]
    talk.irshape = [f"op: {_ports(inferred)}"]
    for index, ((our_type, our_shape), (their_type, their_shape)) in enumerate(
        zip(inferred, answer.layers["op"], strict=True)
    ):
        both = PartialShape.of(our_shape).merge(PartialShape.of(their_shape))
        if our_type != their_type or both != PartialShape.of(our_shape):
            talk.fail(
                f"output {index}: {our_type} {our_shape} does not lie within OpenVINO's "
                f"{their_type} {their_shape}"
            )


def _known(case: Case, answer: Answer) -> dict[str, Known]:
    found: dict[str, Known] = {}
    for key in case.keys:
        if key not in KNOWN:
            pytest.fail(f"{case.id}: `{key}` is no key of known_differences.KNOWN", pytrace=False)
        if answer.version.startswith(KNOWN[key].versions):
            found[KNOWN[key].kind] = KNOWN[key]
    return found


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the files of a case lie until those of the next one take their places.

    Kept as it is, not by its path: a folder that only `atexit` knew would be removed by any process
    that Python 3.13 forks, since that forgets first of all what is to be done at exit.
    """
    return tempfile.TemporaryDirectory(prefix="cases-")


def _write(folder: Path, xml: str, weights: bytes, name: str = "model.xml") -> Path:
    path = folder / name
    for old in (path, path.with_suffix(".bin")):
        old.unlink(missing_ok=True)  # it may be mapped: it is replaced, not written over
    path.write_text(xml, encoding="utf-8")
    if weights:
        path.with_suffix(".bin").write_bytes(weights)
    return path


def with_declared_nodes(case: Case, path: Path) -> Path:
    """The same IR; the layers that feed the one under test declare what irshape infers for them.

    Validation goes on from what ports declare.
    """
    import irshape

    if case.edit is not None or not any(isinstance(item, Node | tuple) for item in case.inputs):
        return path
    inferred = by_name(irshape.infer(irshape.load(str(path))).to_dict()["layers"])
    return declaring(
        case, path, {name: ports for name, ports in inferred.items() if name.startswith("node")}
    )


def declaring(case: Case, path: Path, ports: dict[str, list[tuple[str, str]]]) -> Path:
    """The same IR, with types and shapes declared on the outputs of layers."""
    xml, weights = build(case, ports)
    return _write(path.parent, xml, weights, "declared.xml")


def diagnosed(path: Path) -> list[dict[str, Any]]:
    import irshape

    diagnostics: list[dict[str, Any]] = irshape.validate(str(path)).to_dict()["files"][0][
        "diagnostics"
    ]
    return diagnostics


def refusals(diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The errors other than IR2xx: what OpenVINO refuses."""
    return [
        found
        for found in diagnostics
        if found["severity"] == "error" and not found["code"].startswith("IR2")
    ]


def _not_accepted(talk: _Talk, known: dict[str, Known], errors: list[Any]) -> None:
    kind = "lenient" if talk.answer.status == "refused" else "crash"
    for other in known.keys() - {kind}:
        talk.fail(f"stale entry: {known[other]!r}, but OpenVINO's answer is: {talk.answer.status}")
    if kind in known and errors:
        talk.fail(f"stale entry: {known[kind]!r}, but irshape reports an error")
    if kind not in known and not errors:
        talk.fail(
            f"OpenVINO's answer is: {talk.answer.status}; irshape reports no error (other than "
            "IR2xx)"
        )


def by_name(layers: list[dict[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """irshape's layers under the names that the oracle gives them."""
    names: dict[tuple[str, ...], str] = {}
    found: dict[str, list[tuple[str, str]]] = {}
    for layer in layers:
        names[(*layer["path"], layer["id"])] = layer["name"]
    for layer in layers:
        path, parts = layer["path"], []
        for end in range(1, len(path) + 1):
            parts.append(
                path[end - 1] if end % 2 == 0 else names.get(tuple(path[:end]), path[end - 1])
            )
        found["/".join([*parts, layer["name"]])] = [
            (port["element_type"], port["shape"]) for port in layer["outputs"]
        ]
    return found


def _compare_shapes(
    talk: _Talk, known: dict[str, Known], inferred: dict[str, list[tuple[str, str]]]
) -> None:
    from irshape.shapes import PartialShape

    seen: set[str] = set()
    for name, theirs in talk.answer.layers.items():
        if name not in inferred:
            if f'name="{name.rpartition("/")[2]}"' not in talk.xml:  # OpenVINO put it there
                continue
            talk.fail(f"irshape infers nothing for layer `{name}`")
        ours = inferred[name]
        if len(ours) != len(theirs):
            talk.fail(f"`{name}` has {len(theirs)} outputs, irshape gives {len(ours)}")
        for index, ((our_type, our_shape), (their_type, their_shape)) in enumerate(
            zip(ours, theirs, strict=True)
        ):
            if our_type != their_type:
                talk.fail(
                    f"`{name}` output {index}: element type {our_type}, OpenVINO {their_type}"
                )
            if our_shape == their_shape:
                continue
            inside = PartialShape.parse(their_shape).encloses(PartialShape.parse(our_shape))
            kind = "tighter" if inside else "wider"
            if kind not in known:
                talk.fail(
                    f"`{name}` output {index}: shape {our_shape} is {kind} than OpenVINO's "
                    f"{their_shape}, and known does not say so"
                )
            seen.add(kind)
    for kind in known.keys() & {"tighter", "wider"} - seen:
        talk.fail(f"stale entry: {known[kind]!r}, but no shape is {kind}")


def _compare_values(
    talk: _Talk, known: dict[str, Known], model: Any, promised: list[tuple[str, str]]
) -> None:
    case, execution = talk.case, talk.answer.execution
    assert execution is not None
    arrays = _computed(talk, model, promised)
    if execution.status != "done":
        if case.run != "alone":
            talk.fail(
                "OpenVINO could not run it: correct what is fed, or, where it is a limitation, "
                'run="alone" with `expected` values'
            )
        return
    if case.run == "alone":
        talk.fail('stale: run="alone", but OpenVINO runs it')
    compare_with_theirs(talk, known, arrays)


def _computed(talk: _Talk, model: Any, promised: list[tuple[str, str]]) -> list[tuple[str, Array]]:
    """The values that irshape computes, held against its own types and shapes, and `expected`."""
    try:
        arrays = computed(talk.case, model)
    except Exception:
        talk.irshape += traceback.format_exc().rstrip().split("\n")
        talk.fail("irshape.run raised")
    for index, (name, array) in enumerate(arrays):
        talk.irshape.append(f"result{index}: {name}{list(array.shape)} {_shown(array)}")
    _check_promises(talk, arrays, promised)
    return arrays


def computed(case: Case, model: Any, max_memory: int | None = None) -> list[tuple[str, Array]]:
    """What irshape computes of a case on its inputs."""
    import irshape

    given = [
        for_irshape(array, tensor.element_type) for tensor, array in (feeds(case) or {}).values()
    ]
    # the ports of a case declare nothing, which `validate` reports
    return held(irshape.run(model, given, force=True, max_memory=max_memory).values())


def held(outputs: Iterable[Any]) -> list[tuple[str, Array]]:
    """The outputs as the harness holds them, each with the name of its element type."""
    from irshape.numpy_types import element_type_of

    arrays = []
    for output in map(np.asarray, outputs):
        name = element_type_of(output).name
        packed = name in elements.BITS or name == "string"
        arrays.append((name, elements.cast(output, name) if packed else output))
    return arrays


def _check_promises(
    talk: _Talk, arrays: list[tuple[str, Array]], promised: list[tuple[str, str]]
) -> None:
    """The values have the inferred types and shapes, and are those that the case expects."""
    from irshape.shapes import PartialShape

    case = talk.case
    if len(arrays) != len(promised):
        talk.fail(f"irshape.run gave {len(arrays)} results, the layer has {len(promised)} outputs")
    for index, ((our_type, array), (element_type, shape)) in enumerate(
        zip(arrays, promised, strict=True)
    ):
        if our_type != element_type:
            talk.fail(f"result {index} was computed as {our_type}, inferred {element_type}")
        if not PartialShape.parse(shape).encloses(PartialShape(array.shape)):
            talk.fail(
                f"result {index} was computed with shape {list(array.shape)}, outside the "
                f"inferred {shape}"
            )
    if case.expected is not None:
        for index, ((our_type, array), wanted) in enumerate(
            zip(arrays, case.expected, strict=True)
        ):
            difference = difference_of_values(
                array, elements.cast(wanted, our_type), our_type, case
            )
            if difference:
                talk.fail(f"result {index} differs from what the case expects: {difference}")


def compare_with_theirs(
    talk: _Talk, known: dict[str, Known], arrays: list[tuple[str, Array]]
) -> None:
    case, execution = talk.case, talk.answer.execution
    assert execution is not None
    differences = []
    for index, ((our_type, array), theirs) in enumerate(
        zip(arrays, execution.results.values(), strict=True)
    ):
        difference = difference_of_types(our_type, array, theirs) or difference_of_values(
            array, theirs.array, our_type, case
        )
        if difference:
            differences.append(f"result {index}: {difference}")
    if "hardware" in known:
        if case.expected is None:
            talk.fail("the hardware decides on these values: the case needs `expected`")
        return
    if differences and "values" not in known:
        talk.fail("values differ from OpenVINO's: " + "; ".join(differences))
    if not differences and "values" in known:
        talk.fail(f"stale entry: {known['values']!r}, but the values are equal")


def for_irshape(array: Array, element_type: str) -> Array:
    from irshape.element_types import ElementType
    from irshape.numpy_types import dtype_of

    wanted = dtype_of(ElementType.of(element_type))
    return array.view(wanted) if wanted.metadata else array.astype(wanted)


def difference_of_types(our_type: str, array: Array, theirs: Tensor) -> str:
    if our_type != theirs.element_type:
        return f"element type {our_type}, OpenVINO {theirs.element_type}"
    return (
        ""
        if array.shape == theirs.shape
        else f"shape {list(array.shape)}, OpenVINO {list(theirs.shape)}"
    )


def difference_of_values(ours: Array, theirs: Array, element_type: str, case: Case) -> str:
    """What differs, in words; nothing where the arrays agree."""
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, not {list(theirs.shape)}"
    if element_type in REAL:
        with np.errstate(
            invalid="ignore"
        ):  # memory that OpenVINO leaves unwritten may hold any NaN
            a, b = ours.astype(np.float64), theirs.astype(np.float64)
        epsilon = EPSILON.get(element_type)
        rtol = case.rtol if case.rtol is not None else (1e-4 if epsilon is None else 2 * epsilon)
        atol = case.atol if case.atol is not None else (1e-5 if epsilon is None else 2 * epsilon)
        equal = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    elif element_type != "string" and (case.atol or case.rtol):
        with np.errstate(
            invalid="ignore"
        ):  # memory that OpenVINO leaves unwritten may hold any NaN
            a, b = ours.astype(np.float64), theirs.astype(np.float64)
        equal = np.isclose(a, b, rtol=case.rtol or 0.0, atol=case.atol or 0.0)
    else:
        a, b, equal = ours, theirs, np.asarray(ours == theirs)
    wrong = np.argwhere(~equal)
    if not len(wrong):
        return ""
    shown = ", ".join(
        f"{tuple(place.tolist())}: {a[tuple(place)]} not {b[tuple(place)]}" for place in wrong[:4]
    )
    return f"{len(wrong)} of {ours.size} elements, {shown}"


def _check_declared(talk: _Talk, case: Case, diagnostics: list[dict[str, Any]]) -> None:
    """With OpenVINO's types and shapes declared on every port, there is no error."""
    errors = [
        _diagnostic(found)
        for found in diagnostics
        if found["severity"] == "error" and not (case.extra_xml and _in_body(found))
    ]
    if errors:
        talk.xml = build(case, talk.answer.layers)[0]
        talk.fail(
            "with OpenVINO's own types and shapes declared, irshape reports " + "; ".join(errors)
        )


def _in_body(found: dict[str, Any]) -> bool:
    return bool((found.get("layer") or {}).get("path"))


def _diagnostic(found: dict[str, Any]) -> str:
    return f"{found['severity']} {found['code']} {found['rule']}: {found['message']}"


def _last_line(message: str) -> str:
    lines = [line for line in message.strip().split("\n") if line.strip()]
    return " | ".join(lines[-3:])


def _ports(ports: list[tuple[str, str]]) -> str:
    return ", ".join(f"{element_type}{shape}" for element_type, shape in ports) or "no outputs"


def _shown(array: Array) -> str:
    return np.array2string(array, threshold=40, edgeitems=4, max_line_width=160).replace(
        "\n", "\n            "
    )
