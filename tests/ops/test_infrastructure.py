"""Parameter, Const, Result, Identity, ReadValue and Assign against OpenVINO."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from differential import elements
from differential.cases import Blob, Case, Node, data
from rows import PACKED, TYPES, against_openvino, as_shape, node, row, unrun

INF, NAN = float("inf"), float("nan")
Shape = tuple[int, ...] | None


def parameter(attributes: dict[str, str], **fields: Any) -> Case:
    return unrun("Parameter-1", attributes, **fields)  # type: ignore[arg-type]


PARAMETER = [
    *(
        parameter({"shape": shape, "element_type": "f32"})
        for shape in (
            "2,3",
            "",
            "?",
            "...",
            "1..4,?",
            "2..,..5",
            "[2,3]",
            " 2 , 3 ",
            "-1,3",
            "0",
            "1000000000000",
            "?,?,?,?,?,?,?,?,?",
            "[]",
            "[...]",
        )
    ),
    *(
        parameter({"shape": "2,?", "element_type": t})
        for t in (*TYPES, *PACKED, "string", "dynamic", "F32", "undefined")
    ),
    parameter({"element_type": "f32"}, known="missing-attribute"),
    parameter({"shape": "2"}, known="missing-attribute"),
    parameter({}),
    parameter({"shape": "-2", "element_type": "f32"}, known="shape-text"),
    parameter({"shape": "4..2", "element_type": "f32"}, known="shape-text"),
    parameter({"shape": "9223372036854775808", "element_type": "f32"}, known="shape-text"),
    parameter({"shape": "two", "element_type": "f32"}),
    parameter({"shape": "1.5", "element_type": "f32"}),
    parameter({"shape": "2", "element_type": "FP32"}),
    parameter({"shape": "2", "element_type": ""}),
    unrun(
        "Result-1",
        {},
        "f32[2,3]",
        edit=lambda text: text.replace(
            'type="Parameter" version="opset1"', 'type="Parameter" version="opset17"', 1
        ),
        id="Parameter-opset17",
    ),
    unrun(
        "Result-1",
        {},
        "f32[2,3]",
        edit=lambda text: text.replace(
            'type="Parameter" version="opset1"', 'type="Parameter" version="opset18"', 1
        ),
        id="Parameter-opset18",
    ),
]

IDENTITY = [
    *(row("Identity-16", {}, f"{t}[2,3]") for t in TYPES),
    *(unrun("Identity-16", {}, f"{t}[2,3]") for t in (*PACKED, "string", "dynamic")),
    *(row("Identity-16", {}, f"f32{shape}") for shape in ("[]", "[0,2]", "[1..4,?]@2,3")),
    unrun("Identity-16", {}, "f32[...]"),
    row("Identity-16", {}, data("string", "2", ["a", ""]), run="alone", expected=[["a", ""]]),
    as_shape(node("Identity-16", {}, "i64{[2, -1]}"), known="sizes-moved"),
    row("Identity-16"),
    row("Identity-16", {}, "f32[2] f32[2]"),
    row("Identity-15", {}, "f32[2]"),
]


def constant(
    element_type: str,
    shape: str,
    given: bytes,
    offset: str = "0",
    size: str = "",
    without: str = "",
    **fields: Any,
) -> Case:
    attributes = {
        "element_type": element_type,
        "shape": shape,
        "offset": offset,
        "size": size or str(len(given)),
    }
    attributes.pop(without, None)

    def weights(blob: Blob) -> str:
        blob.add(given)
        return ""

    def declared(text: str) -> str:
        if element_type not in elements.NAMES:
            return text
        port = f'precision="{elements.precision(element_type)}"'
        sizes = [size.strip() for size in shape.split(",")]
        if not all(size.isdecimal() for size in sizes):
            return text.replace('precision="FP32"', port)
        dims = "".join(f"<dim>{size}</dim>" for size in sizes)
        return re.sub(
            r'<port id="0" precision="FP32"(.*?)/>', rf'<port id="0" {port}\1>{dims}</port>', text
        )

    case = row("Const-1", attributes, extra_xml=weights, edit=declared, **fields)  # type: ignore[arg-type]
    case.id += f"-without-{without}" * bool(without)
    return case


PAIR = np.array([1.5, -2.0], np.float32).tobytes()
CONST = [
    constant("f32", "2", PAIR),
    constant("f32", "2,1", PAIR),
    constant("f32", "1, 2", PAIR),
    constant("f32", "", PAIR[:4]),
    *(constant(t, "2", PAIR[:2]) for t in ("F32", "F16", "BOOLEAN")),
    *(
        constant("u8", "8", PAIR, offset=offset, size=size)
        for offset, size in (
            ("0 ", "8"),
            ("\uff10", "8"),
            ("+0", " 8"),
            ("0", "8 "),
            ("0", "\uff18"),
        )
    ),
    *(constant("u8", shape, PAIR, run=False) for shape in ("+8", "\uff18", " 8 ")),
    constant("f32", "0,3", b"", run=False),
    constant("f32", "1", PAIR, offset="4", size="4"),
    constant("i64", "1", b"\7" + b"\0" * 7),
    constant("boolean", "4", b"\0\1\1\0"),
    constant("u8", "8", PAIR),
    constant("i8", "2,4", PAIR),
    constant("f16", "4", np.array([1, NAN, INF, -0.5], np.float16).tobytes()),
    constant("bf16", "2", b"\x80\x3f\xc0\xc0"),
    constant("u4", "3", b"\x21\x0f"),
    constant("i4", "3", b"\x8f\x07"),
    *(constant(t, "8", PAIR[: elements.BITS.get(t, 8)], run=False) for t in PACKED),
    constant("string", "2", np.array([2, 0, 1, 3], np.int32).tobytes() + b"a\xc3\xbc", run=False),
    *(
        constant("f32", "2", PAIR, without=name)
        for name in ("offset", "size", "shape", "element_type")
    ),
    constant("f32", "3", PAIR),
    constant("f32", "-2", PAIR),
    constant("f32", "?", PAIR),
    constant("f32", "4611686018427387905,4", PAIR),
    constant("f32", "2", PAIR, size="4"),
    constant("f32", "2", PAIR, size="16"),
    constant("f32", "2", PAIR, size="-8"),
    constant("f32", "2", PAIR, offset="4"),
    constant("f32", "2", PAIR, offset="-4"),
    constant("f32", "2", PAIR, offset="18446744073709551612"),
    constant("f64", "2", PAIR),
    constant("float", "2", PAIR),
    row("Concat-1", "axis=0", data("i4", "1", [1]), "i4{[-8, 7, -1]}", expected=[[1, -8, 7, -1]]),
]

RESULT = [
    *(
        row("Result-1", {}, f"f32{shape}", outputs=0, id=f"Result-{shape}")
        for shape in ("[2,3]", "[1..4,?]@2,3", "[...]", "[]", "[0,2]")
    ),
    unrun("Result-1", {}, "f32[2] f32[2]", id="Result-two-inputs"),
]


def read(
    version: str,
    attributes: dict[str, str],
    initial: tuple[str, str] | None,
    fed: Shape = None,
    **fields: Any,
) -> Case:
    inputs = [] if initial is None else [data(initial[0], initial[1], run_shape=fed)]
    return row(f"ReadValue-{version}", {"variable_id": "v", **attributes}, *inputs, **fields)  # type: ignore[arg-type]


def variable(element_type: str, shape: str) -> dict[str, str]:
    return {"variable_type": element_type, "variable_shape": shape}


READ = [
    *(read("opset3", {}, ("f32", shape), run=False) for shape in ("2,3", "", "1..4,?", "...")),
    *(read("opset3", {}, (t, "2"), run=False) for t in (*TYPES, *PACKED, "string", "dynamic")),
    read("opset3", {}, None),
    row("ReadValue-3", {}, "f32[2]", known="missing-attribute"),
    *(
        read("opset6", variable("f32", shape), ("f32", "2,3"), run=False)
        for shape in ("2,3", "?,3", "...", "1..4,..3", "2,4", "2,3,1", "3..4,3")
    ),
    *(
        read("opset6", variable("f32", shape), None, run=False)
        for shape in ("2,3", "?,3", "...", "")
    ),
    *(
        read("opset6", variable("f32", "?,3"), ("f32", shape), run=False)
        for shape in ("1..4,3", "...", "?,?", "3")
    ),
    *(read("opset6", variable(t, "2"), ("f32", "2"), run=False) for t in ("f32", "i32", "dynamic")),
    read("opset6", variable("f32", "2"), ("dynamic", "2"), run=False),
    read("opset6", variable("dynamic", "..."), ("f32", "2,?"), run=False),
    read("opset6", variable("dynamic", "?"), ("f32", "2"), run=False),
    read("opset6", {"variable_type": "f32"}, ("f32", "2"), run=False, known="missing-attribute"),
    read("opset6", {"variable_shape": "2"}, ("f32", "2"), run=False, known="missing-attribute"),
    read("opset6", variable("float", "2"), ("f32", "2"), run=False),
    read("opset6", variable("f32", "two"), ("f32", "2"), run=False),
    unrun("ReadValue-6", variable("f32", "2"), "f32[2]", id="ReadValue-without-id"),
    unrun(
        "ReadValue-6",
        {"variable_id": "v", **variable("f32", "2")},
        *([data("f32", "2")] * 2),
        id="ReadValue-two-inputs",
    ),
    unrun("ReadValue-2", "variable_id=v", "f32[2]"),
    unrun(
        "ReadValue-6",
        {"variable_id": "v", **variable("f32", "?,2")},
        node(
            "Broadcast-3",
            "mode=numpy",
            "f32[]",
            node("ReLU-1", {}, node("Concat-1", "axis=0", "i64[1] i64{[2]}")),
        ),
        id="ReadValue-of-a-size-through-ReLU",
        known="initial-value-bounds",
    ),
]


def state(version: str, shape: str, initial: str, t: str = "f32") -> Node:
    attributes = (
        {"variable_id": "v"} if version == "opset3" else {"variable_id": "v", **variable(t, shape)}
    )
    return node(f"ReadValue-{version}", attributes, f"{t}[{initial}]")


INITIAL = node("ReadValue-3", "variable_id=v", data("f32", "2", [3, 4]))
ASSIGN = [
    *(
        unrun(f"Assign-{version}", "variable_id=v", state(version, shape, "2,3"))
        for version, shape in (
            ("opset3", ""),
            ("opset6", "2,3"),
            ("opset6", "?,3"),
            ("opset6", "..."),
        )
    ),
    *(row("Assign-6", "variable_id=v", state("opset6", "2,3", "2,3", t)) for t in TYPES),
    *(row("Assign-3", "variable_id=v", state("opset3", "", "2,3", t), run="alone") for t in TYPES),
    row(
        "Assign-6",
        "variable_id=v",
        node("ReadValue-6", {"variable_id": "v", **variable("f32", "2,3")}),
        expected=[np.zeros((2, 3))],
    ),
    *(
        unrun(f"Assign-{version}", "variable_id=v", state(version, "2", "2", t))
        for version in ("opset3", "opset6")
        for t in ("f16", "i64", "boolean", "string")
    ),
    row("Assign-6", "variable_id=v", node("Add-1", {}, state("opset6", "2,3", "2,3"), "f32[2,3]")),
    row(
        "Assign-3",
        "variable_id=v",
        node("Add-1", {}, INITIAL, data("f32", "2", [1, 2])),
        run="alone",
        expected=[[4, 6]],
    ),
    *(unrun(f"Assign-{version}", {}, state(version, "2", "2")) for version in ("opset3", "opset6")),
    *(unrun(f"Assign-{version}", "variable_id=v") for version in ("opset3", "opset6")),
    *(
        unrun(
            f"Assign-{version}",
            "variable_id=w",
            state(version, "2", "2"),
            id=f"Assign-{version}-unknown-variable",
        )
        for version in ("opset3", "opset6")
    ),
    unrun("Assign-2", "variable_id=v", state("opset3", "2", "2")),
]


REALS = (
    *("1e39", "-1e39", "1e400", "inf", "-inf", "INF", "+inf", "infinity", "nan", "NaN"),
    *(" 1.5", "1.5 ", "\uff11", ".5", ""),
)
NUMBERS = [
    *(
        unrun("SoftMax-8", {"axis": text}, "f32[2,3]")
        for text in ("1", " 1", "1 ", "-1", "+1", "\uff11", "\xa01", "01", "", "9" * 20)
    ),
    *(unrun("Elu-1", {"alpha": text}, "f32[2,3]") for text in REALS),
    *(
        unrun("ReLU-1", {}, f"f32[{shape}]@2")
        for shape in ("1 ..2", "1.. 2", " 1..2 ", "+2", "\uff12", "\xa02", "2\u2003")
    ),
]

test_against_openvino = against_openvino(
    *PARAMETER, *IDENTITY, *CONST, *RESULT, *READ, *ASSIGN, *NUMBERS
)
