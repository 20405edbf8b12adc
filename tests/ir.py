"""Small IRs for tests: a `Net` writes layers and edges, so a test shows what matters.

A layer can be a text, `ReduceMean-1(keep_dims=true f32[2,?] i64{[1]})`: type and opset, attributes
and inputs. `f32[2,?]` is a Parameter, `i64{[1, 2]}` a Const, `f32{0}[3,4]` one of a shape, `same`
the input before it once more, `@` the next of the layers that are given; an input may be a layer
itself. `x:f32[2]` is a Parameter with a name, and `x` that Parameter once more. `Split-1:2(…)` has
two outputs.
"""

from __future__ import annotations

import re
import struct
from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import irshape

CODES = {"i64": "q", "i32": "i", "f32": "f", "u8": "B", "boolean": "?"}


TOKEN = re.compile(
    r"(?P<type>\w+)(?:-(?P<opset>\d+))?(?::(?P<outputs>\d))?\(|(?P<end>\))"
    r"|(?P<name>[\w.-]+)=(?P<value>[^\s()]*)|(?P<same>same\b|@)"
    r"|(?:(?P<label>\w+):)?(?P<of>\w+)(?:{(?P<values>[^}]*)})?(?:\[(?P<shape>[^]]*)\])?"
)


class Source(NamedTuple):
    """A Parameter of a text, or a Const if it has values."""

    element_type: str
    shape: str | None
    values: Any = None
    label: str = ""


class Written(NamedTuple):
    """A layer of a text."""

    type: str
    opset: int | None
    outputs: int
    attributes: dict[str, str]
    inputs: list[Written | Source]

    @property
    def version(self) -> str:
        return f"opset{self.opset or 1}"


def read(text: str) -> Iterator[Written]:
    """The layers of a text; between them stand blanks or `|`."""
    tokens = _tokens(text)
    return (_layer(token, tokens) for token in tokens)


def _tokens(text: str) -> Iterator[re.Match[str]]:
    place = 0
    for token in TOKEN.finditer(text):
        if text[place : token.start()].strip(" \n|"):
            break
        yield token
        place = token.end()
    if text[place:].strip(" \n|"):
        raise ValueError(f"no layer: {text[place:]!r}")


def _layer(head: re.Match[str], tokens: Iterator[re.Match[str]]) -> Written:
    if not head["type"]:
        raise ValueError(f"no layer: {head.string[head.start() :]!r}")
    opset = int(head["opset"]) if head["opset"] else None
    layer = Written(head["type"], opset, int(head["outputs"] or 1), {}, [])
    for token in tokens:
        if token["end"]:
            return layer
        if token["name"]:
            layer.attributes[token["name"]] = token["value"]
        elif token["type"]:
            layer.inputs.append(_layer(token, tokens))
        elif token["same"]:
            given = Source("@", "")
            layer.inputs.append(given if token["same"] == "@" else layer.inputs[-1])
        else:
            values = None if token["values"] is None else literal_eval(token["values"])
            layer.inputs.append(Source(token["of"], token["shape"], values, token["label"] or ""))
    raise ValueError(f"the layer {layer} has no end")


def grown(graph: irshape.Graph, text: str, *given: Any, name: str | None = None) -> Any:
    """The first output of the layer of a text in a graph, of the newest version unless it says."""
    (layer,) = read(text)
    return _grown(graph, layer, iter(given), name)


def _grown(
    graph: irshape.Graph, written: Written | Source, given: Iterator[Any], name: str | None = None
) -> Any:
    if isinstance(written, Source):
        if written.element_type == "@":
            return next(given)
        if written.values is not None:
            return written.values
        return graph.parameter(written.element_type, f"[{written.shape}]")
    inputs = [_grown(graph, each, given) for each in written.inputs]
    attributes = {
        name.replace("-", "_").replace(".", "_"): _value(value)
        for name, value in written.attributes.items()
    }
    layer = graph.add_layer(written.type, *inputs, opset=written.opset, name=name, **attributes)
    return layer.outputs[0]


def _value(text: str) -> Any:
    try:
        return literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (SyntaxError, ValueError):
        return text


class Net:
    """Builds an IR layer by layer.

    Each method returns the layer's id, by which later layers refer to it (`"3"`, or `"3:1"` for its
    second output).
    """

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.weights = b""
        self.named: dict[str, str] = {}
        self.version = "11"

    def parameter(self, shape: str, element_type: str = "f32", name: str = "") -> str:
        number = len(self.layers)
        label = name or f"p{number}"
        precision = irshape.ElementType.of(element_type).precision
        sizes = [] if shape in ("...", "") else shape.split(",")
        dims = "".join(f"<dim>{size if size.isdigit() else -1}</dim>" for size in sizes)
        self.layers.append(
            f'<layer id="{number}" name="{label}" type="Parameter" version="opset1">'
            f'<data shape="{shape}" element_type="{element_type}"/>'
            f'<output><port id="0" precision="{precision}" names="{label}">'
            f"{dims}</port></output></layer>"
        )
        return str(number)

    def constant(
        self, values: list[int] | list[float] | int | float, element_type: str = "i64"
    ) -> str:
        number = len(self.layers)
        flat = values if isinstance(values, list) else [values]
        precision = irshape.ElementType.of(element_type).precision
        raw = struct.pack(f"<{len(flat)}{CODES[element_type]}", *flat)
        shape = str(len(flat)) if isinstance(values, list) else ""
        dims = f"<dim>{shape}</dim>" if shape else ""
        self.layers.append(
            f'<layer id="{number}" name="c{number}" type="Const" version="opset1">'
            f'<data element_type="{element_type}" shape="{shape}" offset="{len(self.weights)}" '
            f'size="{len(raw)}"/>'
            f'<output><port id="0" precision="{precision}">{dims}</port></output></layer>'
        )
        self.weights += raw
        return str(number)

    def layer(
        self,
        type: str,
        inputs: list[str],
        attributes: str = "",
        *,
        version: str = "opset1",
        outputs: list[str] | None = None,
        name: str = "",
        inside: str = "",
    ) -> str:
        """outputs: for each port `FP32:2,3` or `FP32` without dimensions."""
        number = len(self.layers)
        ports = "".join(f'<port id="{index}"/>' for index in range(len(inputs)))
        for index, source in enumerate(inputs):
            producer, _, port = source.partition(":")
            self.edges.append(
                f'<edge from-layer="{producer}" '
                f'from-port="{self._port(producer, int(port or 0))}" to-layer="{number}" '
                f'to-port="{index}"/>'
            )
        declared = ""
        for index, output in enumerate(["FP32"] if outputs is None else outputs):
            precision, _, dims = output.partition(":")
            sizes = "".join(f"<dim>{size}</dim>" for size in dims.split(",") if size)
            port = f'<port id="{len(inputs) + index}" precision="{precision}">'
            declared += f"{port}{sizes}</port>"
        self.layers.append(
            f'<layer id="{number}" name="{name or f"{type.lower()}{number}"}" type="{type}" '
            f'version="{version}">'
            + (f"<data {attributes}/>" if attributes else "")
            + (f"<input>{ports}</input>" if inputs else "")
            + (f"<output>{declared}</output>" if declared else "")
            + inside
            + "</layer>"
        )
        return str(number)

    def add(self, text: str, *given: str, outputs: list[str] | None = None, name: str = "") -> str:
        """The layer of a text, with its inputs; `outputs` as of `layer`."""
        (written,) = read(text)
        return self._add(written, iter(given), outputs, name)

    def _add(
        self,
        written: Written | Source,
        given: Iterator[str],
        outputs: list[str] | None = None,
        name: str = "",
    ) -> str:
        if isinstance(written, Source):
            if written.element_type == "@":
                return next(given)
            if written.values is not None:
                return self.constant(written.values, written.element_type)
            if written.shape is None:
                return self.named[written.element_type]
            made = self.parameter(written.shape, written.element_type, written.label)
            self.named[written.label] = made
            return made
        inputs: list[str] = []
        for index, each in enumerate(written.inputs):
            same = index and each is written.inputs[index - 1]
            inputs.append(inputs[-1] if same else self._add(each, given))
        attributes = " ".join(f'{name}="{value}"' for name, value in written.attributes.items())
        outputs = outputs or ["FP32"] * written.outputs
        return self.layer(
            written.type, inputs, attributes, version=written.version, outputs=outputs, name=name
        )

    def _port(self, producer: str, index: int) -> int:
        text = self.layers[int(producer)]
        return text.partition("<output>")[0].count("<port ") + index

    def result(self, source: str, name: str = "") -> str:
        return self.layer("Result", [source], outputs=[], name=name)

    def text(self) -> str:
        return (
            f'<?xml version="1.0"?>\n<net name="m" version="{self.version}">\n<layers>\n'
            + "\n".join(self.layers)
            + "\n</layers>\n<edges>\n"
            + "\n".join(self.edges)
            + "\n</edges>\n</net>\n"
        )

    def save(self, folder: Path, name: str = "m", *, declare: bool = True) -> Path:
        """declare: give the output ports without dimensions what irshape infers."""
        path = folder / f"{name}.xml"
        path.write_text(self.text())
        path.with_suffix(".bin").write_bytes(self.weights)
        if declare:
            path.write_text(declared(path))
        return path

    def load(self, folder: Path) -> irshape.Model:
        return irshape.load(self.save(folder))


def declared(path: Path) -> str:
    """The text of an IR whose output ports without dimensions declare what irshape infers."""
    text = path.read_text()
    try:
        model = irshape.load(path)
    except irshape.LoadError:
        return text
    if model.kind == "layers":
        return text
    inference = irshape.infer(model)
    ports: dict[int, irshape.Tensor] = {}
    for layer in model.walk():
        for port, tensor in zip(layer.outputs, inference.outputs(layer), strict=False):
            if port.dims == () and port.value is None and tensor.shape.dims is not None:
                ports[port.offset] = tensor
    for offset in sorted(ports, reverse=True):
        start, _, rest = text[offset:].partition(">")
        if start.endswith("/"):
            start = start[:-1]
        else:
            rest = rest[rest.index("</port>") + len("</port>") :]
        precision = ports[offset].element_type.precision
        start = re.sub('precision="[^"]*"', f'precision="{precision}"', start)
        sizes = [dim.low if dim.is_static else -1 for dim in ports[offset].shape]
        dims = "".join(f"<dim>{size}</dim>" for size in sizes)
        text = text[:offset] + f"{start}>{dims}</port>" + rest
    return text


def shapes(inference: irshape.Inference, layer: str) -> list[str]:
    """What was inferred of a layer: `f32 [2,3]` for each output."""
    return [f"{tensor.element_type} {tensor.shape}" for tensor in inference.outputs(layer)]


def mean_net() -> Net:
    """`mean`: a ReduceMean of `data`, `[?,3,4]`, along axis 1."""
    net = Net()
    data = net.parameter("?,3,4", name="data")
    mean = net.add("ReduceMean-1(keep_dims=true @ i64{[1]})", data, outputs=["FP32:-1,1,4"])
    net.result(mean, name="mean")
    return net


def network(
    type: str = "ReLU",
    version: str = "opset1",
    *,
    precision: str = "FP32",
    ir: str = "11",
    attributes: str = "",
) -> Net:
    """`type` between an input and an output; `ir` is the version of the file."""
    net = Net()
    x = net.parameter("2,3", name="x")
    made = net.layer(
        type, [x], attributes, version=version, outputs=[f"{precision}:2,3"], name="layer"
    )
    net.layers[int(made)] = net.layers[int(made)].replace("precision=", 'names="y" precision=')
    net.result(made, "y")
    net.version = ir
    return net
