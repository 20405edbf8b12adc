"""If, Loop and TensorIterator against OpenVINO: shapes in and around bodies, refusals, values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np
from differential.cases import Blob, Case, Data, Input, Source, const, data, xml_edges, xml_layer
from rows import against_openvino, row

Port = tuple[int, int]
NUMPY = {"auto_broadcast": "numpy"}


class Graph:
    """A body under construction: every method adds a layer and returns its output port."""

    def __init__(self, blob: Blob) -> None:
        self.blob = blob
        self.layers: list[str] = []
        self.edges: list[tuple[int, int, int, int]] = []
        self.types: dict[Port, tuple[str, str]] = {}

    def parameter(self, type: str, shape: str) -> Port:
        attributes = {"shape": shape, "element_type": type}
        number = len(self.layers)
        self.layers.append(
            xml_layer(number, "Parameter", "opset1", attributes, [], [(type, shape)])
        )
        return self.declared((type, shape), 0)

    def const(self, type: str, values: Any) -> Port:
        self.layers.append(self.blob.const(len(self.layers), type, values))
        return self.declared((type, "[" + ",".join(map(str, np.shape(values))) + "]"), 0)

    def op(
        self,
        kind: str,
        sources: Sequence[Port],
        shape: str,
        attributes: dict[str, str] | None = None,
        version: str = "opset1",
        type: str = "f32",
        extra: str = "",
    ) -> Port:
        number = len(self.layers)
        inputs = [self.types[source] for source in sources]
        self.layers.append(
            xml_layer(number, kind, version, attributes, inputs, [(type, shape)], extra=extra)
        )
        self.edges += [(*source, number, index) for index, source in enumerate(sources)]
        return self.declared((type, shape), len(sources))

    def result(self, source: Port) -> int:
        number = len(self.layers)
        self.layers.append(xml_layer(number, "Result", "opset1", {}, [self.types[source]]))
        self.edges.append((*source, number, 0))
        return number

    def declared(self, form: tuple[str, str], port: int) -> Port:
        self.types[len(self.layers) - 1, port] = form
        return len(self.layers) - 1, port

    def text(self, tag: str = "body") -> str:
        return "\n".join(
            [f"<{tag}>", "<layers>", *self.layers, "</layers>", xml_edges(self.edges), f"</{tag}>"]
        )


Line = tuple[str, int, int, dict[str, int | str]]


def port_map(*lines: Line, tag: str = "port_map") -> str:
    """Lines as (direction, external port, internal layer, the rest)."""
    texts = [
        f'<{direction} external_port_id="{external}" internal_layer_id="{internal}"'
        + "".join(f' {name}="{value}"' for name, value in rest.items())
        + "/>"
        for direction, external, internal, rest in lines
    ]
    return "\n".join([f"<{tag}>", *texts, f"</{tag}>"])


def back_edges(*edges: tuple[int, int]) -> str:
    lines = [f'<edge from-layer="{a}" to-layer="{b}"/>' for a, b in edges]
    return "\n".join(["<back_edges>", *lines, "</back_edges>"])


TRUE, FALSE = const("boolean", True), const("boolean", False)
X = data("f32", "2,3")
ROWS: dict[str, int | str] = {"axis": 0}
COLUMNS: dict[str, int | str] = {"axis": -1}
SECOND: dict[str, int | str] = {"axis": 1}
ONE_BY_ONE = SECOND | {"start": 0, "end": -1, "stride": 1, "part_size": 1}
GOES_ON: dict[str, int | str] = {"purpose": "execution_condition"}


Given = Union[Input, str, Sequence[Union[Input, str]]]


def several(inputs: Given) -> Sequence[Input | str]:
    """Inputs of which a single one, or the text of some, needs no list."""
    return [inputs] if isinstance(inputs, str | Source) else inputs


def bodied(graph: Graph, back: Sequence[Port], *lines: Line) -> str:
    """A body with its maps; every pair of `back` is an edge from a Result to a Parameter."""
    return "\n".join([port_map(*lines), back_edges(*back), graph.text()])


def two_bodies(then: Graph, then_lines: Sequence[Line], other: Graph, *lines: Line) -> str:
    maps = [port_map(*then_lines, tag="then_port_map"), port_map(*lines, tag="else_port_map")]
    return "\n".join([*maps, then.text("then_body"), other.text("else_body")])


# If


def branches(
    then: str | tuple[str, str], other: str | tuple[str, str], ids: tuple[int, int] = (0, 0)
) -> Callable[[Blob], str]:
    """Two bodies that each give a constant of their own shape (f32, or type and shape) doubled."""

    def text(blob: Blob) -> str:
        parts = []
        for tag, form, external in (("then", then, ids[0]), ("else", other, ids[1])):
            type, shape = ("f32", form) if isinstance(form, str) else form
            sizes = [int(size) for size in shape.split(",")] if shape else []
            graph = Graph(blob)
            constant = graph.const(type, np.full(sizes, 1 if tag == "then" else 2))
            result = graph.result(graph.op("Add", [constant, constant], shape, NUMPY, type=type))
            parts += [
                port_map(("output", external, result, {}), tag=f"{tag}_port_map"),
                graph.text(f"{tag}_body"),
            ]
        return "\n".join(parts)

    return text


def with_inputs(then_shape: str = "2,3", else_shape: str = "3,2") -> Callable[[Blob], str]:
    """then: relu(x); else: transpose of y. Two outputs each, in another order."""

    def text(blob: Blob) -> str:
        then = Graph(blob)
        x = then.parameter("f32", then_shape)
        relu, plain = then.result(then.op("ReLU", [x], then_shape)), then.result(x)
        other = Graph(blob)
        y = other.parameter("f32", else_shape)
        plain_too = other.result(y)
        turned = other.result(other.op("Exp", [y], else_shape))
        first: list[Line] = [("output", 0, relu, {}), ("output", 1, plain, {})]
        second: list[Line] = [("output", 1, plain_too, {}), ("output", 0, turned, {})]
        first.insert(0, ("input", 1, x[0], {}))
        return two_bodies(then, first, other, ("input", 2, y[0], {}), *second)

    return text


def nested_if(blob: Blob) -> str:
    outer, other = Graph(blob), Graph(blob)
    c = outer.parameter("boolean", "1")
    inside = outer.op("If", [c], "?", version="opset8", extra=branches("2", "5")(blob))
    r = outer.result(inside)
    s = other.result(other.const("f32", [7.0, 8, 9]))
    first: list[Line] = [("input", 1, c[0], {}), ("output", 0, r, {})]
    return two_bodies(outer, first, other, ("output", 0, s, {}))


def one_output_short(blob: Blob) -> str:
    then, other = Graph(blob), Graph(blob)
    a, b = then.const("f32", [1.0]), other.const("f32", [1.0])
    lines: list[Line] = [("output", index, then.result(a), {}) for index in range(2)]
    return two_bodies(then, lines, other, ("output", 0, other.result(b), {}))


def twice_the_same(blob: Blob) -> str:
    then, other = Graph(blob), Graph(blob)
    a, b = then.parameter("f32", "2,3"), then.parameter("f32", "2,3")
    r = then.result(then.op("Add", [a, b], "2,3", NUMPY))
    c = other.parameter("f32", "2,3")
    s = other.result(c)
    first: list[Line] = [("input", 1, a[0], {}), ("input", 1, b[0], {}), ("output", 0, r, {})]
    return two_bodies(then, first, other, ("input", 1, c[0], {}), ("output", 0, s, {}))


def conditional(
    id: str, condition: Input | str, body: Callable[[Blob], str], inputs: Given = (), **rest: Any
) -> Case:
    inputs = [condition, *several(inputs)]
    return row("If-8", {}, *inputs, id=f"if-{id}", extra_xml=body, **rest)


CONDITION = data("boolean", "", True)
OTHERWISE = data("boolean", "1", [False])
Y = data("f32", "3,2")

IF = [
    conditional("same-shape", CONDITION, branches("2,3", "2,3")),
    conditional("same-shape-else", OTHERWISE, branches("2,3", "2,3")),
    conditional("union", CONDITION, branches("2,3", "4,1")),
    conditional("union-zero-size", OTHERWISE, branches("0", "7")),
    conditional("other-rank", CONDITION, branches("2,3", "2"), run=False),
    conditional(
        "scalar-and-vector", CONDITION, branches("", "5"), run=False, known="if-scalar-or-vector"
    ),
    conditional("scalar-and-one", OTHERWISE, branches("", "1"), known="if-scalar-or-vector"),
    conditional("scalars", CONDITION, branches("", "")),
    conditional("other-type", CONDITION, branches("2", ("i32", "2"))),
    conditional("known-true", TRUE, branches("2", ("i32", "3"))),
    conditional("known-false", FALSE, branches("2", ("i32", "3"))),
    conditional("known-vector", const("boolean", [False]), branches("2", "3")),
    conditional("known-number", const("f32", 0.5), branches("2", "3")),
    conditional("two-values", const("boolean", [True, False]), branches("2", "3")),
    conditional("two-values-at-run-time", data("boolean", "2"), branches("2", "3"), run=False),
    conditional("matrix-condition", data("boolean", "1,1"), branches("2", "3")),
    conditional("odd-output-ids", CONDITION, branches("2", "3", ids=(1, 5))),
    conditional("inputs", CONDITION, with_inputs(), [X, Y], outputs=2),
    conditional("inputs-else", OTHERWISE, with_inputs(), [X, Y], outputs=2),
    conditional("inputs-known", TRUE, with_inputs("?,3", "?,?"), [X, Y], outputs=2),
    conditional(
        "inputs-dynamic",
        CONDITION,
        with_inputs("?,3", "?,?"),
        "f32[2..5,3] f32[4,?]",
        outputs=2,
        run=False,
        known="if-interval-union",
    ),
    conditional(
        "inputs-dynamic-rank",
        CONDITION,
        with_inputs("...", "..."),
        ["f32[...]", Y],
        outputs=2,
        run=False,
    ),
    conditional(
        "nested",
        CONDITION,
        nested_if,
        data("boolean", "1", [False]),
        run=False,
        known="if-interval-union",
    ),
    conditional("an-output-short", CONDITION, one_output_short, outputs=2),
    conditional("an-input-twice", CONDITION, twice_the_same, X, known="port-map-input-twice"),
    conditional("no-bodies", CONDITION, lambda blob: "", outputs=1),
]


# Loop


def going_on(on: bool | str, graph: Graph) -> tuple[Port, list[Line]]:
    """The body's condition: a constant, or `in N`: what comes in by port N."""
    if isinstance(on, bool):
        return graph.const("boolean", on), []
    parameter = graph.parameter("boolean", "")
    return parameter, [("input", int(on.split()[1]), parameter[0], {})]


def stepping(
    shape: str = "2,3",
    *,
    on: bool | str = True,
    state: bool = True,
    grow: bool = False,
    concat: dict[str, int | str] | None = None,
    sliced: dict[str, int | str] | None = None,
    counter: tuple[str, str] | None = None,
    purpose: str = "execution_condition",
) -> Callable[[Blob], str]:
    """A body with one tensor: x + x, or x concatenated with itself.

    The outputs are the last value and, with `concat`, all values.
    """

    def text(blob: Blob) -> str:
        graph = Graph(blob)
        x = graph.parameter("f32", shape)
        y = (
            graph.op("Concat", [x, x], _grown(shape), {"axis": "0"})
            if grow
            else graph.op("Add", [x, x], shape, NUMPY)
        )
        lines: list[Line] = [("input", 2, x[0], sliced or {})]
        if counter is not None:
            number = graph.parameter(*counter)
            lines.append(("input", -1, number[0], {"purpose": "current_iteration"}))
            real = graph.op("Convert", [number], counter[1], {"destination_type": "f32"})
            y = graph.op("Add", [y, real], shape, NUMPY)
        condition, more = going_on(on, graph)
        last = graph.result(y)
        outside = 3 + len([line for line in more if line[1] > 2])
        lines += [*more, ("output", outside, last, {})]
        if concat is not None:
            every = graph.result(graph.op("ReLU", [y], shape))
            lines.append(("output", outside + 1, every, concat))
        lines.append(("output", -1, graph.result(condition), {"purpose": purpose}))
        return bodied(graph, [(last, x[0])] if state else [], *lines)

    return text


def slicing(axis: int, shape: str = "2,3") -> Callable[[Blob], str]:
    return stepping(shape, state=False, sliced={"axis": axis})


def _grown(shape: str) -> str:
    first, _, rest = shape.partition(",")
    return (str(2 * int(first)) if first.isdigit() else "?") + ("," + rest if rest else "")


def until_large(blob: Blob) -> str:
    """Doubles x while its sum is below 100; gives x and the number of iterations."""
    graph = Graph(blob)
    x = graph.parameter("f32", "3")
    number = graph.parameter("i64", "")
    y = graph.op("Add", [x, x], "3", NUMPY)
    total = graph.op("ReduceSum", [y, graph.const("i64", [0])], "", {"keep_dims": "false"})
    condition = graph.op("Less", [total, graph.const("f32", 100.0)], "", NUMPY, type="boolean")
    last, goes_on, counted = graph.result(y), graph.result(condition), graph.result(number)
    return bodied(
        graph,
        [(last, x[0])],
        ("input", 2, x[0], {}),
        ("input", -1, number[0], {"purpose": "current_iteration"}),
        ("output", 3, last, {}),
        ("output", 4, counted, {}),
        ("output", 5, graph.result(total), {"axis": 0}),
        ("output", -1, goes_on, GOES_ON),
    )


def replaced(into: str, to: str = "f32", axis: int | None = None) -> Callable[[Blob], str]:
    """A body whose next state is another input, of the shape `into`; both are outputs.

    axis: the state goes through a Softmax along this axis, not through a ReLU.
    """

    def text(blob: Blob) -> str:
        graph = Graph(blob)
        x, y = graph.parameter("f32", "..."), graph.parameter("f32", into)
        source = (
            y if to == "f32" else graph.op("Convert", [y], into, {"destination_type": to}, type=to)
        )
        along = (
            ("ReLU", [x], "...") if axis is None else ("SoftMax", [x], "...", {"axis": f"{axis}"})
        )
        brought, seen = graph.result(source), graph.result(graph.op(*along))
        condition = graph.result(graph.const("boolean", True))
        return bodied(
            graph,
            [(brought, x[0])],
            ("input", 2, x[0], {}),
            ("input", 3, y[0], {}),
            ("output", 4, brought, {}),
            ("output", 5, seen, {}),
            ("output", -1, condition, GOES_ON),
        )

    return text


def with_slices(blob: Blob) -> str:
    """state + slice of the second input; outputs: the state, and the slices made longer."""
    graph = Graph(blob)
    state, part = graph.parameter("f32", "2,1"), graph.parameter("f32", "2,1")
    total = graph.op("Add", [state, part], "2,1", NUMPY)
    last = graph.result(total)
    every = graph.result(graph.op("Concat", [total, part], "4,1", {"axis": "0"}))
    condition = graph.result(graph.const("boolean", [True]))
    return bodied(
        graph,
        [(last, state[0])],
        ("input", 2, state[0], {}),
        ("input", 3, part[0], ONE_BY_ONE),
        ("output", 4, last, {}),
        ("output", 5, every, ONE_BY_ONE),
        ("output", -1, condition, GOES_ON),
    )


def nested_loop(blob: Blob) -> str:
    """A loop of two iterations around a loop of three that grows its tensor."""
    graph = Graph(blob)
    x = graph.parameter("f32", "?,3")
    count, starts = graph.const("i64", 3), graph.const("boolean", True)
    inner = graph.op(
        "Loop", [count, starts, x], "?,3", version="opset5", extra=stepping("?,3", grow=True)(blob)
    )
    last, condition = graph.result(inner), graph.result(graph.const("boolean", True))
    return bodied(
        graph,
        [(last, x[0])],
        ("input", 2, x[0], {}),
        ("output", 3, last, {}),
        ("output", -1, condition, GOES_ON),
    )


def loop(
    id: str,
    body: Callable[[Blob], str] | str,
    inputs: Given = X,
    *,
    count: int | Input | str = 3,
    starts: Input | str = TRUE,
    **rest: Any,
) -> Case:
    times = const("i64", count) if isinstance(count, int) else count
    inputs = [times, starts, *several(inputs)]
    return row("Loop-5", {}, *inputs, id=f"loop-{id}", extra_xml=body, **rest)


def counted(value: int) -> Data:
    return data("i64", "", np.array(value))


def edited(old: str, new: str) -> Callable[[Blob], str]:
    return lambda blob: stepping()(blob).replace(old, new)


BOUNDED, UNSTARTED = "loop-iterations-bounded", "loop-may-not-start"
OTHER_TYPE = "iterator-parameter-type"
ROW = data("f32", "1,3")  # the CPU plugin joins only parts of size 1

ROW_BY_ROW, ABOVE_HALF = stepping("1,3", concat=ROWS), data("f32", "3", low=0.5)
UNUSED = (
    '<layer id="88" name="unused" type="Parameter" version="opset1"><data shape="2" '
    'element_type="f32"/><output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>'
)
STARTS = data("boolean", "", np.array(True))
ALL_ROWS, FROM_OUTSIDE = stepping(concat=ROWS), stepping("1,3", on="in 3", concat=ROWS)

LOOP = [
    # the number of iterations
    loop("for", stepping()),
    loop("for-vector", stepping(), count="i32{[3]}", starts="boolean{[True]}"),
    loop("concat", ROW_BY_ROW, ROW, outputs=2),
    loop("concat-last-axis", stepping("3,1", concat={"axis": 1}), "f32[3,1]", outputs=2),
    loop("concat-negative-axis", stepping(concat=COLUMNS), X, outputs=2, run=False),
    loop("concat-longer-parts", stepping("2,3", concat=ROWS), X, outputs=2, run=False),
    loop("concat-at-run-time", ROW_BY_ROW, ROW, count=counted(3), outputs=2),
    loop("concat-starts-at-run-time", ROW_BY_ROW, ROW, starts=STARTS, outputs=2, known=UNSTARTED),
    loop("concat-scalar", stepping("", concat=ROWS), "f32[]", count=4, outputs=2),
    loop("concat-bad-axis", stepping(concat={"axis": 2}), count=4, outputs=2),
    loop("do-while", stepping("1,3", on=False, concat=ROWS), ROW, count=7, outputs=2),
    loop("condition-from-outside", FROM_OUTSIDE, [ROW, TRUE], outputs=2),
    loop("condition-from-outside-false", FROM_OUTSIDE, [ROW, FALSE], outputs=2),
    loop("condition-from-outside-unknown", FROM_OUTSIDE, [ROW, STARTS], outputs=2, known=BOUNDED),
    loop("condition-is-the-first", stepping("1,3", on="in 1", concat=ROWS), ROW, outputs=2),
    loop("while", until_large, ABOVE_HALF, count=-1, outputs=3),
    loop("while-at-run-time", until_large, ABOVE_HALF, count=counted(-1), outputs=3),
    loop("while-cut-short", until_large, ABOVE_HALF, count=2, outputs=3, known=BOUNDED),
    loop("unknown-trip-count", ALL_ROWS, count=data("i64", "?"), outputs=2, run=False),
    # none
    loop("none-at-run-time", ROW_BY_ROW, ROW, count=counted(0), outputs=2),
    loop("none-known", ALL_ROWS, count=0, outputs=2, run=False),
    loop("never-starts", ALL_ROWS, starts=FALSE, outputs=2, run=False, known=UNSTARTED),
    loop("never-starts-growing", stepping(grow=True), starts=FALSE, run=False),
    # states
    loop("growing", stepping(grow=True)),
    loop("growing-once", stepping(grow=True), count=1, known=BOUNDED),
    loop("growing-never", stepping(grow=True), count=0, run=False, known=UNSTARTED),
    loop("growing-at-run-time", stepping("?,3", grow=True), count=counted(3)),
    loop("growing-interval", stepping("?,?", grow=True), "f32[2..4,?]", run=False),
    *(
        loop(f"state-{a}-then-{b}", replaced(b), f"f32[{a}] f32[{b}]", outputs=2, run=False)
        for a, b in (
            ("2", "3"),
            ("2", "?"),
            ("?", "2"),
            ("2..5", "3"),
            ("2..5", "2..4"),
            ("2..5", "4..9"),
            ("2..", "3.."),
            ("2,3", "?,4"),
            ("2..5,3", "3,4"),
            ("2,3", "3"),
            ("...", "3"),
            ("3", "..."),
        )
    ),
    loop(
        "state-of-other-type",
        replaced("2", "f16"),
        "f32[2] f32[2]",
        outputs=2,
        run=False,
        known=OTHER_TYPE,
    ),
    loop("one-iteration-widens", replaced("3"), "f32[2] f32[3]", count=1, outputs=2, known=BOUNDED),
    # slices
    loop("slices", with_slices, "f32[2,1] f32[2,4]", count=4, outputs=2),
    loop("slices-dynamic", with_slices, "f32[2,1] f32[?,?]@2,4", count=4, outputs=2, run=False),
    loop("slices-only", slicing(0, "1,3"), count=2),
    loop("slices-dynamic-rank", slicing(0, "..."), "f32[...]", count=2, run=False),
    loop("slices-bad-axis", slicing(5), count=2),
    loop("slices-negative-axis", slicing(-1), count=2),
    # the number of the iteration
    loop("counter", stepping("1,3", counter=("i64", ""), concat=ROWS), ROW, outputs=2),
    loop("counter-vector", stepping(counter=("i32", "1"))),
    loop("counter-matrix", stepping(counter=("i64", "1,1"))),
    loop("unused-parameter", edited("<layers>", f"<layers>{UNUSED}")),
    # bodies in bodies
    loop("nested", nested_loop, count=2),
    loop("real-trip-count", stepping(), count="f32{3}", run=False),
    # what OpenVINO refuses
    loop("no-condition", stepping(purpose=""), run=False, known="loop-without-condition"),
    loop("two-trip-counts", stepping(), count="i64{[3, 3]}"),
    loop("matrix-trip-count", stepping(), count="i64{[[3]]}"),
    loop("two-conditions", stepping(), starts="boolean{[True, True]}"),
    loop("matrix-condition", stepping(), starts="boolean{[[True]]}"),
    loop("unconnected-input", stepping(), [X, Y]),
    loop("no-such-input", edited('input external_port_id="2"', 'input external_port_id="9"')),
    loop("no-such-parameter", edited('internal_layer_id="0"', 'internal_layer_id="99"')),
    loop(
        "no-such-result",
        edited('from-layer="3" to-layer="0"/>\n</back', 'from-layer="77" to-layer="0"/>\n</back'),
    ),
    loop("state-of-too-low-rank", replaced("2,3,4", axis=2), [X, data("f32", "2,3,4")], outputs=2),
    loop("no-external-port", edited('input external_port_id="2"', "input")),
]


# TensorIterator


def iterating(
    inputs: tuple[dict[str, int | str], dict[str, int | str]] = ({"axis": 1}, {}),
    outputs: tuple[dict[str, int | str], dict[str, int | str]] = ({"axis": 1}, {}),
    shapes: tuple[str, str] = ("2,1,3", "2,1"),
    *,
    state: bool = True,
    types: tuple[str, str] = ("f32", "f32"),
    connected: bool = True,
) -> Callable[[Blob], str]:
    """x + s and s + s, where s is a state; outputs: both."""

    def text(blob: Blob) -> str:
        graph = Graph(blob)
        x, s = (graph.parameter(type, shape) for type, shape in zip(types, shapes, strict=True))
        first = graph.result(graph.op("ReLU", [x], shapes[0], type=types[0]))
        second = graph.result(graph.op("Add", [s, s], shapes[1], NUMPY, type=types[1]))
        lines: list[Line] = [("input", 0, x[0], inputs[0])]
        if connected:
            lines.append(("input", 1, s[0], inputs[1]))
        lines += [("output", 2, first, outputs[0]), ("output", 3, second, outputs[1])]
        return bodied(graph, [(second, s[0])] if state else [], *lines)

    return text


SEVEN, EIGHT, S = data("f32", "2,7,3"), data("f32", "2,8,3"), data("f32", "2,1")


OF_EIGHT, OF_PAIRS = (EIGHT, S), ("2,2,3", "2,1")
TWO_SLICES = iterating((SECOND, ROWS), (SECOND, ROWS), ("2,1,3", "1,4"), state=False)


def iterator(
    id: str, body: Callable[[Blob], str], inputs: Given = (SEVEN, S), outputs: int = 2, **rest: Any
) -> Case:
    given = several(inputs)
    return row(
        "TensorIterator-1", {}, *given, outputs=outputs, id=f"iterator-{id}", extra_xml=body, **rest
    )


BACKWARDS = ONE_BY_ONE | {"start": -1, "end": 0, "stride": -1}
PAIRS: dict[str, int | str] = {"axis": 1, "stride": 2, "part_size": 2}
PAIRS_BACKWARDS = BACKWARDS | {"stride": -2, "part_size": 2}


def nested_iterator(blob: Blob) -> str:
    graph, inner = Graph(blob), Graph(blob)
    y = inner.parameter("f32", "1,3")
    inside = bodied(inner, [], ("input", 0, y[0], ROWS), ("output", 1, inner.result(y), ROWS))
    x = graph.parameter("f32", "2,1,3")
    r = graph.result(graph.op("TensorIterator", [x], "2,1,3", extra=inside))
    return bodied(graph, [], ("input", 0, x[0], SECOND), ("output", 1, r, SECOND))


def loop_in_iterator(blob: Blob) -> str:
    graph = Graph(blob)
    x = graph.parameter("f32", "2,1,3")
    sources = [graph.const("i64", 2), graph.const("boolean", True), x]
    extra = stepping("2,1,3")(blob)
    inside = graph.op("Loop", sources, "2,1,3", version="opset5", extra=extra)
    r = graph.result(inside)
    return bodied(graph, [], ("input", 0, x[0], SECOND), ("output", 1, r, SECOND))


ITERATOR = [
    iterator("slices", iterating()),
    iterator("backwards", iterating(({**BACKWARDS}, {}))),
    iterator("backwards-both", iterating((BACKWARDS, {}), (BACKWARDS, {}))),
    iterator("pairs", iterating((PAIRS, {}), (PAIRS, {}), OF_PAIRS), OF_EIGHT),
    iterator("pairs-backwards", iterating((PAIRS_BACKWARDS, {}), (PAIRS, {}), OF_PAIRS), OF_EIGHT),
    iterator("part", iterating(({"axis": 1, "start": 2, "end": -2}, {})), known="iterator-start"),
    iterator("part-of-an-odd-number", iterating((PAIRS, {}), (PAIRS, {}), OF_PAIRS), run="alone"),
    iterator("concat-negative-axis", iterating(outputs=({"axis": -2}, {})), run=False),
    iterator("concat-bad-axis", iterating(outputs=({"axis": 3}, {}))),
    iterator(
        "concat-scalar",
        iterating(shapes=("2,1,3", ""), outputs=({"axis": 1}, {"axis": 0})),
        "f32[2,7,3] f32[]",
    ),
    iterator(
        "concat-scalar-bad-axis",
        iterating(shapes=("2,1,3", ""), outputs=({"axis": 1}, {"axis": 1})),
        "f32[2,7,3] f32[]",
    ),
    iterator("bad-axis", iterating(({"axis": 5}, {}))),
    iterator("dynamic-axis", iterating(), ["f32[2,?,3]@2,5,3", S]),
    iterator("interval-axis", iterating(), ["f32[2,3..7,3]", S], run=False),
    iterator("dynamic-rank", iterating(shapes=("...", "2,1")), ["f32[...]", S], run=False),
    iterator("other-axes", iterating(shapes=("?,1,?", "2,1")), ["f32[?,7,1..3]", S], run=False),
    iterator("two-slices", TWO_SLICES, "f32[2,5,3] f32[5,4]"),
    iterator("one-known-one-not", TWO_SLICES, "f32[2,7,3] f32[?,4]", run=False),
    iterator(
        "slices-disagree",
        TWO_SLICES,
        "f32[2,7,3] f32[5,4]",
        run=False,
        known="iterator-slices-disagree",
    ),
    iterator(
        "stride-without-part",
        iterating(({"axis": 1, "stride": 2}, {})),
        run=False,
        known="iterator-stride-not-part-size",
    ),
    iterator("no-slices", iterating(({}, {}), ({}, {}), ("2,7,3", "2,1"))),
    iterator(
        "no-slices-but-concat",
        iterating(({}, {}), ({"axis": 1, "start": 0, "end": 5}, {}), ("2,7,3", "2,1")),
        run=False,
        known="iterator-part-size",
    ),
    iterator("other-type", iterating(), ["f16[2,7,3]", S], run=False, known=OTHER_TYPE),
    iterator(
        "f16",
        iterating(types=("f16", "f16")),
        ["f16[2,7,3]", data("f16", "2,1", low=-0.1, high=0.1)],
    ),
    iterator("unconnected-input", iterating(connected=False)),
    iterator("nested", nested_iterator, "f32[2,7,3]", outputs=1),
    iterator("loop-inside", loop_in_iterator, "f32[2,7,3]", outputs=1),
]

test_control_flow = against_openvino(*IF, *LOOP, *ITERATOR)
