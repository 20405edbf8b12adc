"""Where mutants begin: small right inputs of every kind, and the files beside which they are read.

`narrow()` is enough for a sample and made at once; `wide()` adds a layer for every operation of the
differential tests and the node tests of ONNX, which takes some seconds.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from ir import Net, read

import irshape

from .case import Case

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES: dict[str, tuple[bytes, bytes]] = {
    path.stem: (path.read_bytes(), path.with_suffix(".bin").read_bytes())
    for path in sorted((ROOT / "examples").glob("*.xml"))
}
DOCUMENTS = sorted((ROOT / "examples" / "layers" / "right").glob("*.xml"))

LAYERS = """
ReduceMean-1(keep_dims=true f32[2,3,4] i64{[1]})
Convolution-1(strides=1,1 dilations=1,1 pads_begin=1,1 pads_end=1,1 auto_pad=explicit
    f32[1,3,8,8] f32[4,3,3,3])
Reshape-1(special_zero=true f32[?,3,4] i64{[0, -1]})
Concat-1(axis=1 f32[2,3] f32[2,4])
Split-1:2(num_splits=2 f32[2,6] i64{1})
TopK-11:2(axis=1 mode=max sort=value index_element_type=i64 f32[2,6] i64{3})
Slice-8(f32[8,6] i64{[1]} i64{[7]} i64{[2]} i64{[0]})
StridedSlice-1(begin_mask=0,1 end_mask=0,1 new_axis_mask=0,0 shrink_axis_mask=0,0
    ellipsis_mask=0,0 f32[8,6] i64{[1, 0]} i64{[7, 6]} i64{[2, 1]})
Pad-12(pad_mode=reflect f32[2,3] i64{[1, 1]} i64{[0, 2]})
MaxPool-8:2(strides=2,2 dilations=1,1 pads_begin=0,0 pads_end=0,0 kernel=3,3 rounding_type=ceil
    auto_pad=explicit index_element_type=i64 axis=0 f32[1,2,8,8])
Interpolate-11(mode=linear shape_calculation_mode=sizes antialias=false
    coordinate_transformation_mode=half_pixel nearest_mode=floor pads_begin=0 pads_end=0
    f32[1,2,4,4] i64{[8, 8]} i64{[2, 3]})
Gather-8(batch_dims=0 f32[5,4] i64{[1, 2]} i64{[0]})
MatMul-1(transpose_a=false transpose_b=false f32[2,3,4] f32[4,5])
Einsum-7(equation=ab,bc->ac f32[2,3] f32[3,4])
Broadcast-3(mode=numpy f32[1,3] i64{[4, 3]})
Tile-1(f32[2,3] i64{[2, 2]})
DepthToSpace-1(mode=blocks_first block_size=2 f32[1,8,2,2])
"""


def _layers() -> dict[str, tuple[bytes, bytes]]:
    """The .xml and the .bin of a model for each layer."""
    models = {}
    for text in re.split(r"\n(?=\S)", LAYERS.strip()):
        (written,) = read(text)
        net = Net()
        layer = net.add(text)
        for port in range(written.outputs):
            net.result(f"{layer}:{port}")
        models[written.type] = net.text().encode(), net.weights
    return models


SMALL = _layers()
LARGEST = 6_000
"""Bytes of an .xml from the differential tests; mutants of larger ones are slow."""

CONFIGURATIONS = (
    b"""extend-select = ["IR701", "IR9"]
ignore = ["IR301", "output-shape-mismatch"]
fail-level = "warning"
max-errors = 3
target = "2024.6"
extensions = ["MyOperation", "Other@their_opset"]
comments = false
cache = false

[per-file-ignores]
"legacy/**" = ["IR2"]
"*.xml" = ["IR301"]
""",
    b"""select = ["ALL"]
baseline = "baseline.json"
[policy]
required-operations = ["MatMul"]
forbidden-operations = ["NonMaxSuppression", "ReduceMean@opset1"]
allowed-element-types = ["f32", "i64"]
dynamic-batch = true
max-weights = "100MB"
max-layers = 10
inputs = [{ name = "p0", type = "f32", shape = "[?,3,4]" }]
outputs = [{ name = "y", type = "f32", shape = "[...]" }]
""",
    b"""[[rules.custom]]
code = "IR910"
name = "no-mean"
xpath = "//layer[@type='ReduceMean'][producer(.)/@type='Parameter']"
message = "{type} {name} {id} {text}"
severity = "warning"
files = ["*.xml"]
""",
    b"""[[contract]]
files = ["*.xml"]
shapes = { x = "[batch,seq]" }
assume = ["seq % 8 == 0", "batch >= 1"]
require = [
  "result = [batch, seq+1, 8..]",
  "concat.* has no lost dimension",
  "nothing is unbounded",
  "x = [?, min(seq, 3*batch//2)]",
]
""",
    b"""[[policy]]
files = ["m*.xml", "a/**/[b-c]?.xml"]
max-layers = 10
[[policy]]
max-weights = 10
""",
)
BASELINE = json.dumps(
    {
        "version": 1,
        "files": {
            "wrong.xml": [
                {"code": "IR201", "layer": "2", "port": "output:2", "count": 2},
                {"code": "IR301", "layer": "4/then_body/1"},
            ]
        },
    }
).encode()
EXPORT = json.dumps(
    {
        "vocab_size": 4,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "hidden_size": 2,
        "head_dim": 1,
        "eos_token_id": [0, 1],
        "pad_token_id": None,
        "text_config": {"hidden_size": 2},
    }
).encode()
RESULTS = tuple(
    text.replace(b"MEAN", b'"id":"2","name":"reducemean2","type":"ReduceMean","port":0').replace(
        b"ERRORS",
        b'{"max_abs":0.25,"mean_abs":0.1,"max_rel":0.5,"mean_rel":0.2,"ulp":7,"cosine":0.99,'
        b'"nan":[0,1],"inf":[0,0],"place":[0,0,1],"reference":4.0,"other":4.25,"scale":19.0}',
    )
    for text in (
        b"""{"version":1,"model":"right.xml","outputs":[{"layer":{MEAN,"opset":"opset1","path":[]},
"port":0,"inferred":"f32 [2,1,4]","runtime":"f32 [2,1,4]","shape_verdict":"equal",
"value_verdict":"differs","error":0.25,"allowed":0.0006,"reason":null,"ranges":{},"errors":ERRORS,
"own_verdict":"differs","own_errors":ERRORS,"own_reason":null}]}""",
        b"""{"version":1,"model":"right.xml","outputs":[{"layer":{MEAN,"opset":"opset1","path":[]},
"port":0,"element_type":"f32","shape":[2,1,4],"elements":8,"lowest":-0.5,"highest":70000.0,
"mean":0.1,"nan":1,"inf":0,"zeros":0,"subnormals":0,"beyond_f16":1,"lost_in_f16":0,"runs":1,
"leaves_f16":true,"note":null}]}""",
        b"""{"version":1,"a":"right.xml","b":"wide.xml","tensors":[{"tensor":"x","a":{MEAN},
"b":{MEAN},"constant":false,"verdict":"differs","errors":ERRORS,"own_verdict":"differs",
"own_errors":ERRORS,"reason":null}]}""",
        b"""{"main":{"name":"latency","results":{"reducemean2":{"value":0.3,"bgColor":"#ff0000"},
"p0":{"value":"slow"}},"gradient":[{"stop":0,"bgColor":"green"},{"stop":1,"textColor":"red"}],
"thresholds":[{"value":0.1,"bgColor":"red"}]}}""",
    )
)
"""What `crosscheck`, `run --stats` and `compare` print as JSON, of one layer, and node data of
Model Explorer."""
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "infer --shape": ("p0=[1,3,?,?]", "p0=[1..10,3,..5]", "0=[...]"),
    "infer --value": ("axes=[0,2]", "1=[[1,2],[3,4]]", "1=1"),
    "run --shape": ("p0=[2,3,4]",),
    "run --input": ("x.npy", "p0=x.npy"),
    "run --max-memory": ("8G", "512M", "100"),
    "validate --select": ("IR2,IR301", "output-shape-mismatch", "ALL"),
    "validate --ignore": ("IR2",),
    "validate --per-file-ignores": ("legacy/**:IR2,IR125", "*.xml:ALL"),
    "validate --target": ("2023.3", "2026.4"),
    "validate --extension": ("MyOperation@custom_opset",),
    "validate --shard": ("1/2",),
    "validate --value": ("axes=[0,2]",),
    "convert --shape": ("p0=[1,3,?,?]",),
    "crosscheck --rtol": ("1e-3",),
    "infer --assume": ("seq % 8 == 0", "batch >= 1", "seq == min(batch*2, 7) // 3 - 1"),
    "infer --symbols": ("x=[batch,seq]", "x=[a+b,2*a]", "x=[n,n]", "x=[1..4,past+seq]"),
    "explain --assume": ("seq % 8 == 0", "batch >= 1"),
    "explain": ("x", "3:0"),
    "inspect --shape": ("p0=[1,3,?]",),
    "edit --set": ("2:keep_dims=false", "0:shape=1,2,3", "reducemean2:keep_dims=maybe"),
    "edit --bind": ("p0=1", "p0=[[1,2],[3,4]]", "p0=x.npy"),
    "edit --rename": ("p0=image", "0=1"),
    "edit --reshape": ("p0=[1..10,3,?]",),
    "edit --remove": ("2:0", "1"),
    "edit --cut": ("2:0", "p0"),
    "edit --mean": ("p0=0.5", "p0=[1,2,3]"),
    "edit --input-layout": ("p0=NHW:NWH",),
    "edit --make-stateful": ("p0=2",),
    "edit --keep": ("*norm*", "[a-"),
    "extract --from": ("p0", "2:0"),
    "split --at": ("2", "0+1"),
    "merge --connect": ("2=p0",),
    "query": (
        '//layer[@type="ReduceMean"]',
        'count(//layer[@type="Const"])',
        "//data/@shape[. != '2,3']",
        "//layer[producer(.)/@type='Parameter']",
        "shape(//layer)",
        "re:test(//@name, 'p[0-9]')",
    ),
    "ops": ("ReduceMean", "ReduceMean@opset1"),
    "rule": ("IR201", "output-shape-mismatch"),
}


def array() -> bytes:
    """An .npy that fits the input of the right model."""
    buffer = io.BytesIO()
    np.save(buffer, np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    return buffer.getvalue()


def recording() -> bytes:
    """A recording of the right model, with values that the device rounds a little."""
    shape = [2, 3, 4]
    members = {
        "tensor0": np.arange(24, dtype=np.float32).reshape(shape),
        "tensor1": np.arange(24, dtype=np.float32).reshape(shape).mean(1, keepdims=True),
        "tensor2": np.array([1], np.int64),
        "tensor3": np.frombuffer(b'["61", "6263"]', np.uint8),
    }

    def tensor(name: str) -> dict[str, object]:
        found = members[name]
        element_type = "i64" if found.dtype == np.int64 else "f32"
        return {"element_type": element_type, "shape": list(found.shape), "tensor": name}

    rows = [("0", "tensor0"), ("1", "tensor2"), ("2", "tensor1")]
    text = {"element_type": "string", "shape": [2], "tensor": "tensor3"}
    shapes = {"0": [["f32", "[2,3,4]"]], "1": [["i64", "[1]"]], "2": [["f32", "[2,1,4]"]]}
    question = {
        "label": "",
        "model": "0" * 64,
        "inputs": {"0": tensor("tensor0")},
        "options": {"device": "CPU", "hint": None, "config": {}, "layers": "all"},
        "answer": {
            "openvino": "2026.4",
            "device": "CPU",
            "refused": None,
            "crashed": None,
            "problem": None,
            "precision": "f32",
            "facts": {},
            "shapes": shapes,
            "values": [{"layer": layer, "port": 0, **tensor(name)} for layer, name in rows]
            + [{"layer": "4", "port": 0, **text}],
        },
    }
    index = {"recording": 1, "irshape": "0", "questions": [question]}
    return zipped({"recording.json": json.dumps(index).encode()} | npy(members))


def npy(members: dict[str, np.ndarray]) -> dict[str, bytes]:
    files = {}
    for name, values in members.items():
        buffer = io.BytesIO()
        np.save(buffer, values)
        files[f"{name}.npy"] = buffer.getvalue()
    return files


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


def sound(text: bytes, weights: bytes) -> Case:
    """An IR whose ports declare what is inferred, so that every command goes on with it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.xml"
        path.write_bytes(text)
        path.with_suffix(".bin").write_bytes(weights)
        return Case("ir", (irshape.fix(path).data, weights))


def language_model() -> Case:
    """A model that looks tokens up in a table, and gives logits."""
    net = Net()
    tokens = net.parameter("?,?", "i64", name="input_ids")
    table = net.layer(
        "Broadcast",
        [net.constant([0.5, 0.5], "f32"), net.constant([4, 2])],
        'mode="numpy"',
        version="opset3",
    )
    logits = net.layer("Gather", [table, tokens, net.constant(0)], version="opset8")
    net.result(logits)
    text = net.text().replace('id="3" precision', 'id="3" names="logits" precision')
    return sound(text.encode(), net.weights)


def widened() -> Case:
    """A model whose dimensions follow from two that are open."""
    net = Net()
    x = net.parameter("?,?", name="x")
    joined = net.layer("Concat", [x, x, x], 'axis="1"')
    flat = net.layer("Reshape", [joined, net.constant([0, -1, 3])], 'special_zero="true"')
    found = net.layer("NonZero", [flat], 'output_type="i64"', version="opset3", outputs=["I64"])
    net.result(flat)
    net.result(found)
    return sound(net.text().encode(), net.weights)


def beside() -> dict[str, bytes]:
    """The files that lie in the folder of every mutant."""
    right, weights = sound(*SMALL["ReduceMean"]).parts
    language, tables = language_model().parts
    wrong = (ROOT / "examples" / "layers" / "wrong" / "wrong_dimension.xml").read_bytes()
    wide, wide_weights = widened().parts
    return {
        "wide.xml": wide,
        "wide.bin": wide_weights,
        "right.xml": right,
        "right.bin": weights,
        "wrong.xml": wrong,
        "x.npy": array(),
        "right.npz": recording(),
        "export/openvino_model.xml": language,
        "export/openvino_model.bin": tables,
    }


def onednn() -> list[Case]:
    graphs = sorted((ROOT / "tests" / "formats" / "onednn" / "graphs").glob("*.json"))
    return [Case("onednn", (path.read_bytes(),)) for path in graphs if path.stat().st_size < 3000]


def narrow() -> list[Case]:
    """Inputs of every kind, the small ones."""
    documents = [*DOCUMENTS, *(ROOT / "examples/layers/wrong").glob("*.xml")]
    return [
        *(sound(*both) for both in SMALL.values()),
        widened(),
        *(Case("ir", (path.read_bytes(), b"")) for path in documents),
        *onednn()[::6],
        *onnx(),
        *(Case("configuration", (text,)) for text in CONFIGURATIONS),
        Case("baseline", (BASELINE,)),
        Case("recording", (recording(),)),
        *(Case("result", (result,)) for result in RESULTS),
        Case("array", (array(),)),
        Case("export", (EXPORT,)),
        *(
            Case("argument", (option.encode(), value.encode()))
            for option, values in ARGUMENTS.items()
            for value in values
        ),
    ]


def onnx() -> list[Case]:
    """A few ONNX models, made here."""
    from formats.onnx.models import model, value
    from onnx import TensorProto, helper

    node = helper.make_node
    branch = helper.make_graph([node("Relu", ["x"], ["z"])], "branch", [], [value("z:f32")])
    truth = helper.make_tensor("t", TensorProto.BOOL, [], [True])
    constants = {"axes": np.array([1], np.int64), "w": np.ones((2, 3, 3, 3), np.float32)}
    models: list[tuple[list[object], str]] = [
        ([node("ReduceMean", ["x", "axes"], ["y"], keepdims=0)], "axes"),
        ([node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], "w"),
        (
            [
                node("Constant", [], ["c"], value=truth),
                node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
            ],
            "",
        ),
    ]
    cases = []
    for nodes, name in models:
        given = {name: constants[name]} if name else {}
        made = model(nodes, ["x:f32[batch,3,8,8]"], ["y:f32"], 18, constants=given, ir_version=9)
        cases.append(Case("onnx", (made.SerializeToString(),)))
    return cases


def wide() -> list[Case]:
    """`narrow`, a layer for every version of every operation, examples, and ONNX's node tests."""
    cases = narrow() + onednn()
    cases += [
        Case("ir", EXAMPLES[name]) for name in ("control_flow", "compressed", "int8", "reductions")
    ]
    cases += differential()
    from formats.onnx import node_tests

    smallest: dict[tuple[str, ...], bytes] = {}
    for test in node_tests.cases():
        if len(test.model) < len(smallest.get(test.operators, b" " * 2000)):
            smallest[test.operators] = test.model
    return cases + [Case("onnx", (data,)) for data in smallest.values()]


def differential() -> list[Case]:
    """The smallest rows of the differential tests for each operation, version and attributes.

    One that OpenVINO runs, and one of the others.
    """
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ops"))
    from differential.cases import build
    from differential.coverage import cases

    smallest: dict[tuple[object, ...], Case] = {}
    for row in cases():
        key = (row.type, row.version, tuple(row.attributes), len(row.inputs), bool(row.run))
        try:
            text, weights = build(row)
        except Exception:  # a row that needs more than itself
            continue
        known = smallest.get(key)
        size = len(text) + len(weights)
        if size < LARGEST and (known is None or size < sum(map(len, known.parts))):
            smallest[key] = Case("ir", (text.encode(), weights))
    return [sound(*case.parts) for case in smallest.values()]
