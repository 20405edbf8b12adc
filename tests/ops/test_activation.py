"""Activations against OpenVINO: element types, refusals and values."""

from __future__ import annotations

import numpy as np
from differential.cases import Case, const, data
from rows import against_openvino, names, row, unrun

INF, NAN = float("inf"), float("nan")
SIMPLE = {
    ("ReLU", "opset1"): {},
    ("Sigmoid", "opset1"): {},
    ("Elu", "opset1"): {"alpha": "0.5"},
    ("Clamp", "opset1"): {"min": "-0.75", "max": "1.25"},
    ("HSigmoid", "opset5"): {},
    ("HSwish", "opset4"): {},
    ("Mish", "opset4"): {},
    ("SoftPlus", "opset4"): {},
    ("SoftSign", "opset9"): {},
    ("Swish", "opset4"): {},
    ("Gelu", "opset2"): {},
    ("Gelu", "opset7"): {"approximation_mode": "erf"},
    ("SoftMax", "opset1"): {"axis": "0"},
    ("SoftMax", "opset8"): {"axis": "-1"},
    ("LogSoftmax", "opset5"): {"axis": "0"},
}
TYPES = names(
    "f64 f32 f16 bf16 f8e4m3 f8e5m2 f8e8m0 f4e2m1 nf4 i64 i32 u8 i4 u1 boolean string dynamic"
)
READS_TEXT = {"Clamp", "Elu", "SoftMax", "LogSoftmax"}

NOT_EVALUATED = {"Elu", "LogSoftmax", "Selu", "Gelu"}
"""What only the CPU plugin runs, which takes no dynamic rank."""


NOT_A_NUMBER = {
    "Clamp": "clamp-not-a-number",
    "ReLU": "clamp-not-a-number",
    "HSigmoid": "clamp-not-a-number",
}


def rows(operation: str, version: str, attributes: dict[str, str]) -> list[Case]:
    layer = f"{operation}-{version}"
    known = {"string": "text-as-number" if operation in READS_TEXT else ""}
    shapes = [
        ("2,3,4", None),
        ("", None),
        ("0,3", None),
        ("3", None),
        ("1..8,?", (3, 5)),
        ("...", (2, 2)),
        ("2,3..", (2, 4)),
    ]
    return [
        *(
            row(
                layer,
                attributes,
                data(
                    "f32",
                    shape,
                    low=-6,
                    high=6,
                    run_shape=None if shape == "..." and operation in NOT_EVALUATED else run_shape,
                ),
            )
            for shape, run_shape in shapes
        ),
        *(row(layer, attributes, data(t, "3,4", low=-6, high=6)) for t in ("f16", "bf16", "f64")),
        *(unrun(layer, attributes, f"{t}[2,?]", known=known.get(t, "")) for t in TYPES),
        unrun(layer, attributes, "f32[2,1000000000000]"),
        row(layer, attributes, data("f32", "5", [-100.0, -20.0, 20.0, 50.0, 100.0])),
        row(layer, attributes, data("f32", "1", [NAN]), known=NOT_A_NUMBER.get(operation, "")),
    ]


x = data("f32", "2,3,4", low=-4, high=4)
WHOLE = data("i32", "8", [-100, -3, -2, -1, 0, 1, 2, 100])

ATTRIBUTES = [
    row("Clamp-1", "min=1 max=1", x),
    row("Clamp-1", "min=-inf max=0.5", x),
    row("Clamp-1", "min=2 max=1", x),
    row("Clamp-1", "min=nan max=1", x),
    *(
        unrun("Elu-1", {"alpha": text}, x)
        for text in ("inf", "-inf", "nan", " 1 ", "1.", "INF", "infinity", "+inf", "NaN", "\uff11")
    ),
    row("Clamp-1", "min=1.5", x),
    row("Clamp-1", {}, x, known="missing-attribute"),
    row("Clamp-1", "min=low max=1", x),
    row("Clamp-1", "min=-1.5 max=2.5", WHOLE),
    row("Clamp-1", "min=-1e20 max=1e20", WHOLE),
    row("Clamp-1", "min=-5 max=300", data("u8", "3", [0, 4, 255])),
    row(
        "Clamp-1",
        "min=0 max=6",
        data("f32", "4", [NAN, INF, -INF, 3.0]),
        known="clamp-not-a-number",
        expected=[[NAN, 6.0, 0.0, 3.0]],
    ),
    row("Clamp-1", "min=0.1 max=0.3", data("f16", "3", [0.0, 0.2, 1.0])),
    row("Elu-1", "alpha=0", x),
    row("Elu-1", "alpha=-2.5", x),
    row("Elu-1", {}, x, known="missing-attribute"),
    row("Elu-1", "alpha=one", x),
    row("Gelu-7", {}, x),
    row("Gelu-7", "approximation_mode=TANH", x),
    row("Gelu-7", "approximation_mode=TANH", data("f32", "4", [3e38, -3e38, 2e38, 1e30])),
    row("Gelu-7", "approximation_mode=tanh", data("f16", "2,3", low=-4, high=4)),
    row("Gelu-7", "approximation_mode=sigmoid", x),
    row("Gelu-1", {}, x),
    row("Gelu-6", {}, x),
    unrun("Gelu-6", "approximation_mode=tanh", x),
    row("ReLU-1", {}, WHOLE),
    row("ReLU-1", {}, data("f32", "3", [INF, -INF, -0.0])),
    row("ReLU-1", {}, data("i4", "4", [-8, -1, 0, 7])),
    row("Sigmoid-1", {}, WHOLE),
    row("Sigmoid-1", {}, data("f32", "2", [INF, -INF])),
    row("HSwish-4", {}, WHOLE),
    row("Elu-1", "alpha=1.5", WHOLE),
    row("Relu-1", {}, x),
    row("softmax-8", "axis=1", x),
    # axes
    *(row("SoftMax-1", f"axis={axis}", x) for axis in ("0", "1", "2", "3", "-1", "-4", "one")),
    *(
        row(f"{operation}-{version}", f"axis={axis}", x)
        for operation, version in (("SoftMax", "opset8"), ("LogSoftmax", "opset5"))
        for axis in ("0", "1", "-3", "-1", "3", "-4")
    ),
    *(
        row(f"{operation}-{version}", f"axis={axis}", "f32[]")
        for operation, version in (("SoftMax", "opset8"), ("LogSoftmax", "opset5"))
        for axis in ("0", "-1", "1", "-2")
    ),
    *(
        row(f"{operation}-{version}", {}, f"f32[{shape}]")
        for operation, version in (("SoftMax", "opset8"), ("LogSoftmax", "opset5"))
        for shape in ("2", "2,3")
    ),
    row("SoftMax-1", {}, "f32[2]", known="softmax-1-default-axis"),
    row("SoftMax-1", {}, "f32[2,3]", known="softmax-1-default-axis-values"),
    row("SoftMax-1", "axis=-1", "f32[...]", known="softmax-1-from-the-end"),
    row("SoftMax-8", "axis=5", "f32[...]"),
    row("SoftMax-8", "axis=0", "f32[2,0]"),
    row("SoftMax-8", "axis=1", data("f32", "1,3", [[1e30, 1e30, -1e30]])),
    row("LogSoftmax-5", "axis=1", data("f32", "1,3", [[1000.0, 0.0, -1000.0]])),
]


def scalar(element_type: str, value: float) -> object:
    return const(element_type, value)


SLOPES = [
    ("2,3,4", [0.5]),
    ("2,3,4", [0.1, 0.2, 0.3]),
    ("2,3,4", [0.1, 0.2, 0.3, 0.4]),
    ("2,4,4", [0.1, 0.2, 0.3, 0.4]),
    ("3", [0.1, 0.2, 0.3]),
    ("3", [0.1]),
    ("2,3,4", [[[0.1], [0.2], [0.3]]]),
    ("2,3", [[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]]),
    ("0,3", [0.1, 0.2, 0.3]),
    ("2,3,4,5", [0.1, 0.2, 0.3]),
    ("", [0.5]),
    ("3", [[0.1]]),
]
INPUTS = [
    *(
        row("PReLU-1", {}, data("f32", shape, low=-3, high=3), const("f32", slope))
        for shape, slope in SLOPES
    ),
    row("PReLU-1", {}, "f16[2,3] f16{[0.25]}"),
    row("PReLU-1", {}, "f32[1..4,?,4]@2,3,4 f32[?]@3"),
    row("PReLU-1", {}, "f32[...]@2,3 f32{[0.25]}"),
    row("PReLU-1", {}, "f32[2,3] f32[...]"),
    unrun("PReLU-1", {}, "dynamic[2,3] f32[3]"),
    row("PReLU-1", {}, "f32[2,3] f16{[0.25]}", known="prelu-slope"),
    row("PReLU-1", {}, "f32[2,3] f32{[0.25, 0.5]}", known="prelu-slope"),
    row("PReLU-1", {}, "f32[3] f32{[[0.25], [0.5]]}", known="prelu-slope"),
    row("PReLU-1", {}, "f32[2,3]"),
    row("PRelu-1", {}, "f32[2,3] f32{[0.25]}"),
    row("Selu-1", {}, x, "f32{[1.6732632]} f32{[1.0507009]}"),
    row("Selu-1", {}, "f16[?,3]@2,3 f16{[1.5]} f16{[0.5]}"),
    row("Selu-1", {}, "f32[...] f32{1.5} f32{0.5}"),
    unrun("Selu-1", {}, "dynamic[2] f32{[1.5]} f32{[0.5]}"),
    row("Selu-1", {}, x, "f32{[1.5, 2.0]} f32{[0.5]}", known="selu-several"),
    row("Selu-1", {}, x, "f16{[1.5]} f32{[0.5]}"),
    row("Selu-1", {}, "i32[2] i32{[1]} i32{[1]}"),
    row("Selu-1", {}, x, "f32{[1.5]}"),
    row("HardSigmoid-1", {}, x, scalar("f32", 0.2), scalar("f32", 0.5)),  # type: ignore[list-item]
    row("HardSigmoid-1", {}, "f16[?,3]@2,3 f16{0.25} f16{0.5}"),
    row("HardSigmoid-1", {}, "f32[...] f32[] f32[...]"),
    row("HardSigmoid-1", {}, x, "f32{[0.2]} f32{0.5}"),
    row("HardSigmoid-1", {}, x, "f32{0.2} f32{[0.5]}"),
    row("HardSigmoid-1", {}, x, "f32[?] f32[]", known="hard-sigmoid-list"),
    row("HardSigmoid-1", {}, x, "f16{0.2} f32{0.5}"),
    row("HardSigmoid-1", {}, "i32[2] i32{1} i32{1}", known="hard-sigmoid-of-integers"),
    row("Swish-4", {}, x, "f32{0.7}"),
    row("Swish-4", {}, x, "f32{0.0}"),
    row("Swish-4", {}, "f16[1..4,3]@2,3 f16{1.5}"),
    unrun("Swish-4", {}, x, "f32[...]"),
    row("Swish-4", {}, x, "f32{[0.7]}"),
    row("Swish-4", {}, x, "f32[?]"),
    row("Swish-4", {}, x, "f16{0.7}"),
    row("Swish-4", {}, x, "f32{0.7} f32{0.7}"),
    row("Swish-3", {}, x),
]

test_against_openvino = against_openvino(
    *(
        row
        for (operation, version), attributes in SIMPLE.items()
        for row in rows(operation, version, attributes)
    ),
    *ATTRIBUTES,
    *INPUTS,
)


def test_erf_and_gelu_are_accurate() -> None:
    from math import erf

    from irshape.ops import error_function

    points = np.concatenate([np.linspace(-6.5, 6.5, 4001), 10.0 ** np.linspace(-30, 1, 500)])
    for dtype, ulps in ((np.float64, 4), (np.float32, 8)):
        given = points.astype(dtype)
        exact = np.array([erf(float(number)) for number in given])
        error = np.abs(error_function.erf(given).astype(np.float64) - exact) / np.spacing(
            np.abs(exact).astype(dtype)
        )
        assert error.max() <= ulps
    given = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(
        error_function.erf(given), np.array([0.0, -0.0, 1.0, -1.0, np.nan], np.float32)
    )
    given = points.astype(np.float32)
    exact = np.array([float(x) * (1 + erf(float(x) / 2**0.5)) / 2 for x in given])
    assert (np.abs(error_function.gelu(given) - exact) <= 1.5e-7 * np.abs(given)).all()
    back = error_function.erfinv(np.linspace(-0.999999, 0.999999, 501))
    np.testing.assert_allclose(
        error_function.erf(back), np.linspace(-0.999999, 0.999999, 501), rtol=1e-14
    )
