"""Recurrent cells and sequences, and OneHot, against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, Data, Input, const, data
from rows import against_openvino, row, size_of

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": "tanh", "GRU": "sigmoid, tanh", "LSTM": "sigmoid, tanh, tanh"}
CELLS = [("RNNCell", "opset1"), ("GRUCell", "opset3"), ("LSTMCell", "opset4")]
SEQUENCES = [("RNNSequence", "opset5"), ("GRUSequence", "opset5"), ("LSTMSequence", "opset5")]


def family(operation: str) -> str:
    return operation.removesuffix("Cell").removesuffix("Sequence")


def settings(operation: str, **changes: str | None) -> dict[str, str | None]:
    """Attributes as OpenVINO writes them, some of them changed or (None) left out."""
    given: dict[str, str | None] = {
        "hidden_size": "3",
        "activations": FUNCTIONS[family(operation)],
        "activations_alpha": "",
        "activations_beta": "",
        "clip": "0",
    }
    if family(operation) == "GRU":
        given["linear_before_reset"] = "false"
    if operation.endswith("Sequence"):
        given["direction"] = "forward"
    return given | changes


def cell(
    operation: str,
    version: str,
    *,
    id: str,
    shapes: dict[str, str] | None = None,
    types: dict[str, str] | None = None,
    drop: int = 0,
    run: bool = True,
    known: str = "",
    bias: int | None = None,
    **changes: str | None,
) -> Case:
    """A cell of batch 2, input size 4, hidden size 3; `shapes` and `types` by operand."""
    gates = GATES[family(operation)]
    forms = {
        "X": "2,4",
        "H": "2,3",
        **({"C": "2,3"} if gates == 4 else {}),
        "W": f"{gates * 3},4",
        "R": f"{gates * 3},3",
        "B": str((bias or gates) * 3),
    } | (shapes or {})
    inputs: list[Input] = [
        data((types or {}).get(name, (types or {}).get("all", "f32")), shape, low=-1, high=1)
        for name, shape in forms.items()
    ]
    return row(
        f"{operation}-{version}",
        settings(operation, **changes),
        *inputs[: len(inputs) - drop],
        outputs=2 if gates == 4 else 1,
        id=f"{operation}-{id}",
        run=run,
        known=known,
    )


def cells(operation: str, version: str) -> list[Case]:
    gates = GATES[family(operation)]
    count = len(FUNCTIONS[family(operation)].split(","))

    def row(id: str, **rest: Any) -> Case:
        return cell(operation, version, id=id, **rest)

    return [
        row("plain"),
        row("f16", types={"all": "f16"}),
        row("f64", types={"all": "f64"}, run=False),
        row("clipped", clip="0.3"),
        row("relu", activations=", ".join(["relu"] * count)),
        row("hardsigmoid", activations=", ".join(["hardsigmoid"] * count), run=False),
        row("capitals", activations=FUNCTIONS[family(operation)].upper()),
        row("defaults", activations=None, activations_alpha=None, activations_beta=None, clip=None),
        row("batch-dynamic", shapes={"X": "1..5,4", "H": "2..9,3"}, run=False),
        row(
            "hidden-from-weights",
            shapes={"H": "2,?", "R": f"{3 * gates},?"} | ({"C": "2,?"} if gates == 4 else {}),
            run=False,
        ),
        row("rank-dynamic", shapes={"X": "..."}, run=False),
        row(
            "all-dynamic",
            shapes=dict.fromkeys("XHWRB" + ("C" if gates == 4 else ""), "..."),
            run=False,
        ),
        row(
            "hidden-interval",
            shapes={"H": "2,1..8", "R": f"?,{2}..{10}", "W": "?,4", "B": "?"}
            | ({"C": "2,?"} if gates == 4 else {}),
            run=False,
        ),
        row("type-dynamic", types={"X": "dynamic"}, run=False),
        row(
            "empty-batch",
            shapes={"X": "0,4", "H": "0,3"} | ({"C": "0,3"} if gates == 4 else {}),
            run=False,
        ),
        # what OpenVINO refuses
        row("batch-mismatch", shapes={"H": "5,3"}),
        row("hidden-mismatch", shapes={"R": f"{3 * gates},5"}),
        row("W-rows", shapes={"W": f"{3 * gates + 1},4"}),
        row("R-rows", shapes={"R": f"{3 * gates + 3},3"}),
        row("B-size", shapes={"B": str(3 * gates + 1)}),
        row("X-rank", shapes={"X": "2,1,4"}),
        row("B-rank", shapes={"B": f"1,{3 * gates}"}),
        row("no-bias", drop=1),
        row("types-differ", types={"R": "f16"}),
        row("unknown-function", activations=", ".join(["softsign"] * count)),
        row("too-few-functions", activations=""),
        # what it passes over
        row("input-size", shapes={"W": f"{3 * gates},5"}, run=False, known="recurrent-input-size"),
        row("hidden-size-attribute", hidden_size="7", run=False, known="recurrent-hidden-size"),
        row("no-hidden-size", hidden_size=None, run=False, known="missing-attribute"),
        row("negative-clip", clip="-1", run=False, known="recurrent-clip"),
    ]


def peephole(
    id: str,
    *,
    count: int = 7,
    shapes: dict[int, str] | None = None,
    run: bool | str = False,
    expected: Any = None,
    known: str = "",
    **changes: str,
) -> Case:
    forms = ["2,4", "2,3", "2,3", "12,4", "12,3", "12", "9"]
    inputs = [
        data("f32", (shapes or {}).get(index, shape), low=-1, high=1)
        for index, shape in enumerate(forms)
    ][:count]
    attributes = settings("LSTMCell", **changes)
    return row(
        "LSTMCell-1",
        attributes,
        *inputs,
        outputs=2,
        id=f"LSTMCell-1-{id}",
        run=run,
        known=known,
        expected=expected,
    )  # type: ignore[arg-type]


LSTM_1 = [
    peephole("all-inputs"),
    peephole("without-peepholes", count=6, run=True),
    peephole("without-peepholes-fico", count=6, run=True, weights_format="fico"),
    peephole("without-peepholes-icof", count=6, run=True, weights_format="icof"),
    peephole("without-bias", count=5, run=True),
    peephole("coupled-gates", input_forget="true"),
    peephole("without-recurrence-weights", count=4),
    peephole("bias-of-other-hidden-size", count=5, hidden_size="4"),
    peephole("peepholes-too-short", shapes={6: "6"}),
    peephole("peepholes-dynamic", shapes={6: "?"}),
    peephole("unknown-format", weights_format="zz"),
]


def sequence(
    operation: str,
    *,
    id: str,
    lengths: list[int] | None = None,
    shapes: dict[str, str] | None = None,
    types: dict[str, str] | None = None,
    run: bool | str = True,
    known: str = "",
    bias: int | None = None,
    **changes: str | None,
) -> Case:
    """A sequence of batch 2, 5 steps, input size 4, hidden size 3."""
    gates = GATES[family(operation)]
    many = 2 if changes.get("direction") == "bidirectional" else 1
    forms = {
        "X": "2,5,4",
        "H": f"2,{many},3",
        **({"C": f"2,{many},3"} if gates == 4 else {}),
        "L": "2",
        "W": f"{many},{gates * 3},4",
        "R": f"{many},{gates * 3},3",
        "B": f"{many},{(bias or gates) * 3}",
    }
    inputs: list[Data] = []
    for name, shape in (forms | (shapes or {})).items():
        type = (types or {}).get(name, "i64" if name == "L" else (types or {}).get("all", "f32"))
        inputs.append(
            data(
                type,
                shape,
                lengths if name == "L" and lengths is not None else None,
                low=-1 if name != "L" else 5,
                high=1 if name != "L" else 5,
            )
        )
    return row(
        f"{operation}-5",
        settings(operation, **changes),
        *inputs,
        outputs=3 if gates == 4 else 2,
        id=f"{operation}-{id}",
        run=run,
        known=known,
    )  # type: ignore[arg-type]


def sequences(operation: str) -> list[Case]:
    gates = GATES[family(operation)]
    states = "HC" if gates == 4 else "H"

    def row(id: str, **rest: Any) -> Case:
        return sequence(operation, id=id, **rest)

    return [
        row("forward"),
        row("reverse", direction="reverse"),
        row("bidirectional", direction="bidirectional"),
        row("short-forward", lengths=[2, 4]),
        row("short-reverse", lengths=[2, 4], direction="reverse"),
        row("short-bidirectional", lengths=[5, 1], direction="bidirectional"),
        row("i32-lengths", types={"L": "i32"}),
        row("f16", types={"all": "f16"}),
        row("clipped", clip="0.25", direction="bidirectional"),
        row("capitals", direction="FORWARD", activations=FUNCTIONS[family(operation)].upper()),
        row(
            "batch-from-lengths",
            shapes={"X": "?,5,4", **dict.fromkeys(states, "?,1,3"), "L": "1..7"},
            run=False,
        ),
        row("time-interval", shapes={"X": "2,3..5,4"}, run=False),
        row("hidden-from-weights", shapes={**dict.fromkeys(states, "..."), "R": "..."}, run=False),
        row("all-dynamic", shapes=dict.fromkeys("XLWRB" + states, "..."), run=False),
        row("directions-dynamic", shapes=dict.fromkeys(states, "2,?,3"), run=False),
        row("type-dynamic", types={"X": "dynamic"}, run=False),
        # what OpenVINO refuses
        row("directions", shapes={"W": f"2,{3 * gates},4"}),
        row("directions-of-bidirectional", direction="bidirectional", shapes={"H": "2,1,3"}),
        row("batch-mismatch", shapes={"L": "3"}),
        row("hidden-mismatch", shapes={"R": f"1,{3 * gates},5"}),
        row("W-rows", shapes={"W": f"1,{3 * gates + 1},4"}),
        row("X-rank", shapes={"X": "2,4"}),
        row("B-rank", shapes={"B": f"{3 * gates}"}),
        row("lengths-rank", shapes={"L": "2,1"}),
        row("types-differ", types={"B": "f16"}),
        row("unknown-direction", direction="zz"),
        # what it passes over
        row("no-direction", direction=None, run=False, known="missing-attribute"),
        row(
            "input-size", shapes={"W": f"1,{3 * gates},5"}, run=False, known="recurrent-input-size"
        ),
        row("unknown-function", activations="zz", run=False, known="recurrent-functions"),
    ]


GRU = [
    cell("GRUCell", "opset3", id="linear-before-reset", linear_before_reset="true", bias=4),
    cell(
        "GRUCell",
        "opset3",
        id="linear-before-reset-clipped",
        linear_before_reset="true",
        bias=4,
        clip="0.2",
    ),
    cell("GRUCell", "opset3", id="linear-before-reset-short-bias", linear_before_reset="true"),
    cell(
        "GRUCell",
        "opset3",
        id="type-of-W",
        types={"W": "f16"},
        run=False,
        known="gru-cell-type-of-w",
    ),
    sequence(
        "GRUSequence",
        id="linear-before-reset",
        linear_before_reset="true",
        bias=4,
        direction="bidirectional",
        lengths=[3, 5],
    ),
]


def test_peepholes_and_coupled_gates() -> None:
    """Peepholes and coupled gates against the equations, as OpenVINO cannot run them.

    Gates f and i see the cell state, o the new one; coupled, i = 1 - f.
    """
    from irshape.ops.sequence.recurrent import LSTMCell_1

    rng = np.random.default_rng(3)
    x, h, c, w, r, b, p = (
        rng.uniform(-1, 1, shape).astype(np.float32)
        for shape in ((2, 4), (2, 3), (2, 3), (12, 4), (12, 3), (12,), (9,))
    )
    rows = (x @ w.T + h @ r.T + b).reshape(2, 4, 3)
    gate = dict(zip("fico", (rows[:, i] for i in range(4)), strict=True))

    def sigmoid(value: Any) -> Any:
        return 1 / (1 + np.exp(-value))

    for coupled in (False, True):
        f = sigmoid(gate["f"] + p[:3] * c)
        i = 1 - f if coupled else sigmoid(gate["i"] + p[3:6] * c)
        cell_state = f * c + i * np.tanh(gate["c"])
        hidden = sigmoid(gate["o"] + p[6:] * cell_state) * np.tanh(cell_state)
        states = LSTMCell_1(hidden_size=3, input_forget=coupled).evaluate(x, h, c, w, r, b, p)
        np.testing.assert_allclose(states[0], hidden, rtol=1e-5)
        np.testing.assert_allclose(states[1], cell_state, rtol=1e-5)


# OneHot

ON, OFF = const("f32", 1.5), const("f32", -0.5)
FOUR = const("i64", 4)
PLACES = data("i64", "2,3", low=-2, high=5)


def one_hot(
    indices: Input,
    depth: Input = FOUR,
    on: Input = ON,
    off: Input = OFF,
    axis: str | None = "-1",
    version: str = "opset1",
    mode: str | None = None,
    **rest: Any,
) -> Case:
    attributes = ({"axis": axis} if axis is not None else {}) | (
        {"negative_indices_mode": mode} if mode is not None else {}
    )
    return Case("OneHot", version, attributes, [indices, depth, on, off], **rest)


def both(indices: Input, *others: Input, **rest: Any) -> list[Case]:
    return [one_hot(indices, *others, version=version, **rest) for version in ("opset1", "opset16")]


ONE_HOT = [
    *both(PLACES),
    *both(PLACES, axis="0"),
    *both(PLACES, axis="1"),
    *both(PLACES, axis="-3"),
    *both(data("i32", "", 2)),
    *both(data("i32", "0,3")),
    *both(PLACES, const("i32", 0)),
    *both(PLACES, FOUR, const("i8", 7), const("i8", -7)),
    *both(PLACES, FOUR, const("boolean", True), const("boolean", False)),
    *both(data("i64", "?,2..3"), run=False),
    *both(data("i64", "..."), run=False),
    *both(PLACES, data("i64", "", 3), axis="1"),
    *both(PLACES, data("i64", "?"), run=False),
    *both(data("i64", "..."), const("i64", -1), run=False),
    *both(PLACES, FOUR, data("dynamic", ""), OFF, run=False),
    *both(PLACES, FOUR, ON, data("dynamic", ""), run=False),
    *both(data("dynamic", "2"), run=False),
    *both(PLACES, size_of("2..10,3"), run=False),
    *both(data("i32", "1..3,?"), data("i64", ""), axis="1", run=False),
    *both(
        data("u8", "2", [0, 3]),
        run="alone",
        expected=[[[1.5, -0.5, -0.5, -0.5], [-0.5, -0.5, -0.5, 1.5]]],
    ),
    *both(data("i64", ""), const("i64", 2**40), run=False),
    *(
        case
        for kind in ("f16", "bf16", "f64", "i64", "u8")
        for case in both(PLACES, FOUR, const(kind, 3), const(kind, 0), run=kind != "f64")
    ),
    # what OpenVINO refuses
    *both(PLACES, axis="3"),
    *both(PLACES, axis="-4"),
    *both(PLACES, const("i64", [4])),
    *both(PLACES, const("i64", -1)),
    *both(PLACES, FOUR, const("f32", [1.0]), OFF),
    *both(PLACES, FOUR, ON, const("f32", [0.0])),
    *both(PLACES, FOUR, const("i32", 1), OFF),
    *both(data("f32", "2")),
    *both(PLACES, const("f32", 4.0)),
    # what it passes over
    *both(PLACES, axis=None, run=False, known="missing-attribute"),
    # negative indices
    one_hot(PLACES, mode="normalize", version="opset16"),
    one_hot(PLACES, mode="NORMALIZE", version="opset16", axis="0"),
    one_hot(PLACES, mode="ignore_negative", version="opset16"),
    one_hot(PLACES, mode="zz", version="opset16"),
    one_hot(data("i32", "6", [-4, -5, -1, 0, 3, 4]), mode="normalize", version="opset16"),
]

test_against_openvino = against_openvino(
    *(case for pair in CELLS for case in cells(*pair)),
    *LSTM_1,
    *(case for name, _ in SEQUENCES for case in sequences(name)),
    *GRU,
    *ONE_HOT,
)
