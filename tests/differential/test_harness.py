"""The harness itself: packing, crashes, bodies, and that `check` is strict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from . import elements, tables
from .cases import Blob, Case, build, const, data, feeds, node, xml_edges, xml_layer
from .compare import check
from .elements import Tensor
from .oracle import Answer, Execution, Oracle, Question


def ask(case: Case, oracle: Oracle) -> Answer:
    fed = feeds(case)
    return oracle.ask(
        *build(case), None if fed is None else {name: tensor for name, (tensor, _) in fed.items()}
    )


def executed(answer: Answer) -> Execution:
    assert answer.status == "accepted", answer.message
    assert answer.execution is not None
    assert answer.execution.status == "done", answer.execution.message
    return answer.execution


@pytest.mark.parametrize(
    "name", [name for name in elements.BITS if name not in elements.FLOATS and name != "nf4"]
)
def test_openvino_packs_integers_alike(name: str, oracle: Oracle) -> None:
    low, high = elements.limits(name)
    values = np.random.default_rng(1).integers(low, high, 37, endpoint=True)
    packed = elements.pack(values, name)
    assert np.array_equal(elements.unpack(packed, name, (37,)), values)
    answer = ask(
        Case("Convert", "opset1", {"destination_type": "i32"}, [const(name, values)]), oracle
    )
    assert np.array_equal(executed(answer).results["result0"].array, values)


@pytest.mark.parametrize("name", [*elements.FLOATS, "f16"])
def test_openvino_holds_small_floats_alike(name: str, oracle: Oracle) -> None:
    values = elements.cast([0.5, 1, 2, 4], name)
    assert np.array_equal(Tensor.of(values, name).array, values)
    answer = ask(
        Case("Convert", "opset1", {"destination_type": "f32"}, [const(name, values)]), oracle
    )
    assert executed(answer).results["result0"].array.tolist() == [0.5, 1, 2, 4]


def test_small_types_go_in_and_out(oracle: Oracle) -> None:
    for name in ("bf16", "u4", "boolean", "f8e4m3"):
        case = Case(
            "Reshape", "opset1", {"special_zero": "false"}, [data(name, "5"), const("i64", [5, 1])]
        )
        fed = feeds(case)
        assert fed is not None
        result = executed(ask(case, oracle)).results["result0"]
        assert result.element_type == name
        assert np.array_equal(result.array.ravel(), fed["in0"][1])


def test_strings(oracle: Oracle) -> None:
    case = Case(
        "Reshape",
        "opset1",
        {"special_zero": "false"},
        [const("string", ["", "Straße", "x"]), const("i64", [3, 1])],
        run=False,
    )
    answer = oracle.ask(*build(case))
    assert answer.layers["op"] == [("string", "[3,1]")]


def test_refusal_and_empty_constants(oracle: Oracle) -> None:
    refused = ask(Case("ReduceMean", "opset1", {}, [data("f32", "2,3"), const("i64", [7])]), oracle)
    assert refused.status == "refused"
    assert "tensor rank range" in refused.message
    assert ask(
        Case("ReduceMean", "opset1", {}, [data("f32", "2,3"), const("i64", [], (0,))]), oracle
    ).layers["op"] == [("f32", "[2,3]")]


CRASHING = Case(
    "Col2Im",
    "opset15",
    {"dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
    [data("f32", "3,12,81"), const("i64", [16, 16]), const("i64", [2, 2])],
)


def test_a_crash_is_an_answer(oracle: Oracle) -> None:
    crashed = ask(CRASHING, oracle)
    assert crashed.status == "crashed"
    assert ask(Case("ReLU", "opset1", {}, [data("f32", "2")]), oracle).status == "accepted"


def loop_parts(blob: Blob) -> str:
    layers = [
        xml_layer(
            0,
            "Parameter",
            "opset1",
            {"shape": "1,3", "element_type": "f32"},
            [],
            [("f32", "1,3")],
            "x",
        ),
        blob.const(1, "f32", [[2.0]]),
        xml_layer(
            2, "Multiply", "opset1", {"auto_broadcast": "numpy"}, ["f32", "f32"], ["f32"], "mul"
        ),
        xml_layer(3, "Result", "opset1", {}, ["f32"]),
        blob.const(4, "boolean", [True]),
        xml_layer(5, "Result", "opset1", {}, ["boolean"]),
    ]
    edges = xml_edges([(0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (4, 0, 5, 0)])
    return f"""<port_map>
<input external_port_id="2" internal_layer_id="0"\
 axis="0" start="0" end="-1" stride="1" part_size="1"/>
<output external_port_id="3" internal_layer_id="3"\
 axis="0" start="0" end="-1" stride="1" part_size="1"/>
<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition"/>
</port_map>
<body><layers>
{chr(10).join(layers)}
</layers>
{edges}
</body>"""


LOOP = Case(
    "Loop",
    "opset5",
    {},
    [const("i64", 4, ()), const("boolean", True, ()), data("f32", "4,3")],
    extra_xml=loop_parts,
)


def test_bodies(oracle: Oracle) -> None:
    answer = ask(LOOP, oracle)
    fed = feeds(LOOP)
    assert fed is not None
    assert np.allclose(executed(answer).results["result0"].array, 2 * fed["in0"][1])
    assert answer.layers["op/body/mul"] == [("f32", "[1,3]")]


def test_the_same_case_is_fed_the_same() -> None:
    first, second = (feeds(Case("ReLU", "opset1", {}, [data("f32", "2,3")])) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first["in0"][0] == second["in0"][0]


MEAN = [data("f32", "2,3,4"), const("i64", [1])]


VARIABLE = {"variable_id": "v", "variable_type": "f32", "variable_shape": "2"}
STORED = node("ReadValue", "opset6", VARIABLE, [data("f32", "2", [3, 4])])
TOGETHER = {
    "runs": Case("ReduceMean", "opset1", {}, MEAN),
    "refused": Case("ReduceMean", "opset1", {}, [data("f32", "2,3"), const("i64", [7])]),
    "crashes": CRASHING,
    "not run": Case("ReLU", "opset1", {}, [data("f32", "?")]),
    "a variable": Case("Assign", "opset6", {"variable_id": "v"}, [STORED]),
    "the same variable": Case("Assign", "opset6", {"variable_id": "v"}, [STORED]),
    "without inputs": Case("ReLU", "opset1", {}, [const("f32", [-1, 1])]),
    "run by evaluate": Case("ReLU", "opset1", {}, [data("f32", "...", run_shape=(2, 2))]),
    "dynamic": Case("ReLU", "opset1", {}, [data("f32", "?", run_shape=(3,))]),
    "two results": Case(
        "Split", "opset1", {"num_splits": "2"}, [data("f32", "4"), const("i64", 0)], 2
    ),
    "bodies": LOOP,
}


def without_numbers(answer: Answer) -> Answer:
    """OpenVINO counts the nodes that a process makes, and names one by its number."""
    return replace(answer, message=re.sub(r"_[0-9]+", "_N", answer.message))


def test_answers_to_many_are_those_to_each(oracle: Oracle) -> None:
    questions = [tables.question(case) for case in TOGETHER.values()]
    together = dict(zip(TOGETHER, oracle.ask_together(questions), strict=True))
    for (name, answer), question in zip(together.items(), questions, strict=True):
        alone = oracle.ask(*question)
        assert without_numbers(answer) == without_numbers(alone), name
    statuses = {name: answer.status for name, answer in together.items()}
    assert (statuses.pop("refused"), statuses.pop("crashes")) == ("refused", "crashed")
    assert set(statuses.values()) == {"accepted"}
    engines = {
        name: answer.execution.engine for name, answer in together.items() if answer.execution
    }
    assert engines == {
        "runs": "CPU",
        "a variable": "evaluate",
        "the same variable": "evaluate",
        "without inputs": "CPU",
        "run by evaluate": "evaluate",
        "dynamic": "CPU",
        "two results": "CPU",
        "bodies": "CPU",
    }


class Lying(Oracle):
    """Answers of the real one, changed before they are seen."""

    def __init__(
        self,
        real: Oracle,
        change: Callable[[Answer], Answer],
        together: Callable[[Answer], Answer] | None = None,
    ) -> None:
        super().__init__()
        self.real, self.change, self.together = real, change, together or change

    @property
    def release(self) -> tuple[int, int]:
        return self.real.release

    def ask(
        self,
        xml: str,
        weights: bytes = b"",
        inputs: Mapping[str, elements.Array | Tensor] | None = None,
    ) -> Answer:
        return self.change(self.real.ask(xml, weights, inputs))

    def ask_together(self, questions: Sequence[Question]) -> list[Answer]:
        return [self.together(answer) for answer in self.real.ask_together(questions)]


def with_shape(shape: str, element_type: str = "f32") -> Callable[[Answer], Answer]:
    return lambda answer: replace(
        answer, layers=answer.layers | {name: [(element_type, shape)] for name in ("op", "result0")}
    )


def with_values(change: Callable[[elements.Array], elements.Array]) -> Callable[[Answer], Answer]:
    def apply(answer: Answer) -> Answer:
        assert answer.execution is not None
        results = {
            name: Tensor.of(change(tensor.array), tensor.element_type)
            for name, tensor in answer.execution.results.items()
        }
        return replace(answer, execution=replace(answer.execution, results=results))

    return apply


LIES: list[tuple[str, str, Callable[[Answer], Answer]]] = [
    ("irshape reports no error", "", lambda answer: replace(answer, status="refused")),
    ("irshape reports no error", "", lambda answer: replace(answer, status="crashed")),
    ("shape", "", with_shape("[2,5]")),
    ("tighter than OpenVINO's", "", with_shape("[2,?]")),
    ("element type", "", with_shape("[2,4]", "f16")),
    ("values differ", "", with_values(lambda array: array + np.float32(0.01))),
    ("values differ", "", with_values(lambda array: array * np.float32(np.nan))),
    ("stale entry", "i64-as-i32", lambda answer: answer),
    ("stale entry", "duplicate-axes", lambda answer: answer),
    ("no key", "banana", lambda answer: answer),
    ("could not run it", "", lambda answer: replace(answer, execution=Execution("failed"))),
]


@pytest.mark.parametrize(("message", "known", "change"), LIES)
def test_check_is_strict(
    message: str, known: str, change: Callable[[Answer], Answer], oracle: Oracle
) -> None:
    check(Case("ReduceMean", "opset1", {}, MEAN), oracle)
    with pytest.raises(pytest.fail.Exception, match=message):
        check(Case("ReduceMean", "opset1", {}, MEAN, known=known), Lying(oracle, change))


def test_known_differences_excuse(oracle: Oracle) -> None:
    check(
        Case("ReduceMean", "opset1", {}, MEAN, known="i64-as-i32"),
        Lying(oracle, with_values(lambda array: array + np.float32(1))),
    )
    check(
        Case("ReduceMean", "opset1", {}, MEAN, run="alone"),
        Lying(oracle, lambda answer: replace(answer, execution=Execution("failed"))),
    )


def test_what_differs_beside_others_is_asked_alone(oracle: Oracle) -> None:
    cases = [Case("ReLU", "opset1", {}, [data("f32", "3", [-1, 0, value])]) for value in (1, 2)]
    tables.join(cases)
    change = with_values(lambda array: array + np.float32(1))
    check(cases[0], Lying(oracle, lambda answer: answer, together=change))
    with pytest.raises(pytest.fail.Exception, match="values differ"):
        check(cases[1], Lying(oracle, change))
