"""Named sizes inside If, Loop and TensorIterator: what their layers demand, and reasons there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import irshape
from irshape import Graph, op
from irshape.faults import Fault


def beside(x: Any, rows: int) -> Any:
    """A layer that demands that `x` has so many rows."""
    return op.concat([x, np.ones((rows, 3), np.float32)], axis=1, name=f"rows{rows}")


def branch(graph: Graph, x: Any, condition: Any) -> Any:
    return op.if_(
        condition, x, then_body=lambda a: beside(a, 8), else_body=lambda a: beside(a, 8) * 2
    )


def open_branch(graph: Graph, x: Any) -> Any:
    return branch(graph, x, graph.parameter("boolean", "[]", name="condition"))


def certain_branch(graph: Graph, x: Any) -> Any:
    return branch(graph, x, graph.constant(True))


def loop(graph: Graph, x: Any, trips: Any) -> Any:
    return op.loop(
        trips, True, op.carried(x), x, body=lambda state, each: (state * 2, beside(each, 8))
    )[1]


def open_loop(graph: Graph, x: Any) -> Any:
    return loop(graph, x, graph.parameter("i64", "[]", name="trips"))


def certain_loop(graph: Graph, x: Any) -> Any:
    return loop(graph, x, 3)


def nested(graph: Graph, x: Any) -> Any:
    """A body that surely runs inside one that may not."""
    condition = graph.parameter("boolean", "[]", name="condition")
    return op.if_(
        condition,
        x,
        then_body=lambda a: op.loop(2, True, a, body=lambda b: beside(b, 8)),
        else_body=lambda a: a,
    )


def slices(graph: Graph, x: Any, rows: str) -> Any:
    parts = graph.parameter("f32", f"[{rows},4]", name="parts")
    return op.tensor_iterator(op.sliced(parts, axis=0), x, body=lambda part, each: beside(each, 8))


def open_slices(graph: Graph, x: Any) -> Any:
    return slices(graph, x, "?")


def certain_slices(graph: Graph, x: Any) -> Any:
    return slices(graph, x, "1..")


class Case(NamedTuple):
    build: Callable[[Graph, Any], Any]
    conditional: bool


CASES = [
    Case(open_branch, True),
    Case(certain_branch, False),
    Case(open_loop, True),
    Case(certain_loop, False),
    Case(nested, True),
    Case(open_slices, False),  # without slices it could not be inferred
    Case(certain_slices, False),
]


def inferred(build: Callable[[Graph, Any], Any], shape: str = "[?,?]") -> irshape.Inference:
    graph = Graph(name="bodies")
    graph.result(build(graph, graph.parameter("f32", shape, name="x")), "y")
    return irshape.infer(graph.model(), symbols=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.build.__name__)
def test_what_a_body_demands(case: Case) -> None:
    """It holds for the model where the body surely runs; else it is written down only."""
    inference = inferred(case.build)
    demands = [each for each in inference.constraints if str(each) == "x_0 == 8"]
    assert [each.conditional for each in demands] == [case.conditional]
    rows = inference.outputs("0")[0].shape[0]
    assert str(rows) == ("?" if case.conditional else "8")
    assert {"condition": "x_0 == 8", "assumed": False, "conditional": case.conditional} in (
        inference.to_dict()["constraints"]
    )
    assert ("x_0" in inference.symbols) == case.conditional


def both(graph: Graph, x: Any) -> Any:
    return op.concat([beside(x, 8)[:1], beside(x, 4)[:1]], axis=0)


def both_inside(graph: Graph, x: Any) -> Any:
    condition = graph.parameter("boolean", "[]", name="condition")
    return op.if_(condition, x, then_body=lambda a: both(graph, a), else_body=lambda a: a)


def both_in_a_loop(graph: Graph, x: Any) -> Any:
    return op.loop(3, True, x, body=lambda a: both(graph, a))


def chained(graph: Graph, x: Any) -> Any:
    """x and z have as many rows as each other, x has 8, and z has 4."""
    z = graph.parameter("f32", "[?,3]", name="z")
    joined = op.concat([x, z], axis=1, name="joined")
    return op.concat([beside(x, 8)[:1], beside(z, 4)[:1], joined[:1]], axis=1)


def outside_and_inside(graph: Graph, x: Any) -> Any:
    condition = graph.parameter("boolean", "[]", name="condition")
    then = beside(x, 8)
    return op.if_(condition, x, then, then_body=lambda a, b: beside(a, 4), else_body=lambda a, b: b)


@pytest.mark.parametrize(
    ("build", "needs"),
    [
        (both, {"rows4": "x_0 == 4", "rows8": "x_0 == 8"}),
        (both_inside, {"rows4": "x_0 == 4", "rows8": "x_0 == 8"}),
        (both_in_a_loop, {"rows4": "x_0 == 4", "rows8": "x_0 == 8"}),
        (outside_and_inside, {"rows4": "x_0 == 4", "rows8": "x_0 == 8"}),
        (chained, {"rows4": "z_0 == 4", "joined": "x_0 == z_0", "rows8": "x_0 == 8"}),
    ],
)
def test_a_contradiction_names_all_sources(
    build: Callable[[Graph, Any], Any], needs: dict[str, str]
) -> None:
    """needs: by the names of layers. The first is refused."""
    inference = inferred(build, "[?,3]")
    model = inference.model
    lines = {layer.name: str(model.source.place(layer.offset)[0]) for layer in model.walk()}
    (fault,) = [seen for _, seen in inference.observations if isinstance(seen, Fault)]
    (contradiction,) = inference.overview().contradictions
    stated = re.compile(r"(?:'(\w+)' \(line (\d+)\)|it) needs (\w+ == \w+)")
    expected = [(name, lines[name], needs[name]) for name in needs]
    assert stated.findall(contradiction) == expected
    assert stated.findall(fault.message) == [("", "", needs["rows4"]), *expected[1:]]
    assert not [seen for _, seen in irshape.infer(model).observations if isinstance(seen, Fault)]


def growing(graph: Graph, x: Any) -> Any:
    """The second output has as many rows as there are iterations, the first more each time."""
    trips = graph.parameter("i64", "[]", name="trips")

    def body(state: Any, each: Any) -> Any:
        return op.concat([state, each], axis=0, name="longer"), op.stacked(each[:1], axis=0)

    return op.loop(trips, True, op.carried(x), x, body=body, name="loop")[0]


class Reason(NamedTuple):
    build: Callable[[Graph, Any], Any]
    tensor: str
    axis: int
    expression: str | None
    verdict: str
    chain: list[str]


@pytest.mark.parametrize(
    "reason",
    [
        Reason(open_branch, "If_2/then_body/rows8", 1, "x_1+3", "unbounded", ["rows8", "x"]),
        Reason(open_branch, "y", 1, "x_1+3", "unbounded", ["rows8", "x"]),
        Reason(growing, "loop/body/longer", 1, "x_1", "unbounded", ["x"]),
        Reason(growing, "y", 0, None, "data-dependent", ["state"]),
        Reason(certain_loop, "y", 0, "8", "constant", ["x"]),
    ],
    ids=lambda reason: f"{reason.build.__name__}-{reason.tensor}",
)
def test_reasons_lead_through_bodies(reason: Reason) -> None:
    (explanation,) = inferred(reason.build).explain(reason.tensor, reason.axis)
    assert explanation.expression == reason.expression
    assert explanation.verdict == reason.verdict
    assert [step.layer.name for step in explanation.chain] == reason.chain
