"""A short program for each version of an operation, from the rows of the differential tests.

A program builds one layer with `irshape.Graph` and prints what is inferred. This script runs each
program, and the site shows its real output.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "ops")]

from differential import elements  # noqa: E402
from differential.cases import Case, Const, Data, Node, build, static  # noqa: E402
from differential.coverage import cases  # noqa: E402

import irshape  # noqa: E402
from irshape.inference.result import Mismatch  # noqa: E402
from irshape.ops import registry  # noqa: E402
from irshape.ops.declaration import LibraryOperation, Operation  # noqa: E402
from irshape.ops.kinds import Malformed  # noqa: E402

MOST_NUMBERS = 24
"""The largest number of elements of a constant that a program writes as a list."""
WIDTH = 92
"""The largest desirable number of columns of a line in a program."""
TRIES = 40
"""How many programs to try for one version, the shortest first."""

WRITTEN: dict[tuple[str, int], str] = {
    ("Const", 1): """\
x = graph.constant([[1, 2], [3, 4]], "f16")
print(x.element_type, x.shape)
""",
    ("Parameter", 1): """\
x = graph.parameter("f32", "[1..8,3,?,?]", name="x")
print(x.element_type, x.shape)
""",
    ("Result", 1): """\
x = graph.parameter("f32", "[2,3]", name="x")
result = graph.result(x, "y")
print(result.inputs[0].source.shape)
""",
    ("If", 8): """\
condition = graph.parameter("boolean", "[]", name="condition")
x = graph.parameter("f32", "[2,3]", name="x")
y = op.if_(
    condition,
    x,
    then_body=lambda value: op.relu(value),
    else_body=lambda value: op.reduce_max(value, 1, keep_dims=True),
)
print(y.element_type, y.shape)
""",
    ("Loop", 5): """\
x = graph.parameter("f32", "[5,4]", name="x")
total, every = op.loop(
    -1,
    True,
    op.carried(np.zeros((1, 4), np.float32)),
    op.sliced(x, axis=0),
    body=lambda sum, row: (sum + row, op.stacked(sum + row, axis=0), op.repeat_while(True)),
)
print(total.shape, every.shape)
""",
    ("TensorIterator", 1): """\
x = graph.parameter("f32", "[5,4]", name="x")
total, every = op.tensor_iterator(
    op.carried(np.zeros((1, 4), np.float32)),
    op.sliced(x, axis=0),
    body=lambda sum, row: (sum + row, op.stacked(sum + row, axis=0)),
)
print(total.shape, every.shape)
""",
}
"""Programs for operations whose rows cannot be written as a single call."""


class Program(NamedTuple):
    text: str
    printed: str
    """What the program prints."""
    layer: str
    """The XML of the layer in the IR that `Graph.save` writes."""


class ShapeRow(NamedTuple):
    """The element types and shapes of a layer's inputs and outputs, and the attributes."""

    attributes: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@cache
def rows() -> dict[type[Operation], list[Case]]:
    """Returns for each version of an operation the rows of the differential tests that test it."""
    collected: dict[type[Operation], list[Case]] = defaultdict(list)
    for case in cases():
        try:
            collected[registry.find(case.type, case.version)].append(case)
        except (registry.UnknownOperation, KeyError):
            # a row about a version that does not exist, or of a library
            added = registry.library_operation(case.type)
            if added is not None:
                collected[added].append(case)
    return collected


def program(operation: type[Operation]) -> Program:
    """Returns a program that builds a layer. Raises `LookupError` if no row gives a program."""
    key = (operation.type_name(), operation.since)
    if key in WRITTEN:
        return executed(operation, WRITTEN[key])
    texts = [text for case in rows()[operation] if (text := written(case, operation))]
    refused = "no row can be written as a call"
    for text in sorted(dict.fromkeys(texts), key=_shortness)[:TRIES]:
        try:
            return executed(operation, text)
        except Exception as error:  # a row that is about a refusal
            refused = f"{type(error).__name__}: {error}"
    raise LookupError(f"no example of {key[0]}-{key[1]}: {refused}")


def _shortness(text: str) -> tuple[bool, bool, bool, int]:
    """Returns a sort key: programs with known shapes, no empty tensor, f32, and short text
    first."""
    empty = bool(re.search(r"\"\[([\d,]*,)?0[,\]]|\[\]\"", text))
    return "?" in text or ".." in text, empty, "f32" not in text, len(text)


def executed(operation: type[Operation], lines: str) -> Program:
    """Runs the lines. Returns the program with its output and the XML of the layer."""
    names = "Graph, op" if re.search(r"(?<![a-z.])op\.", lines) else "Graph"
    head = "import numpy as np\n\n" if "np." in lines else ""
    text = f"{head}from irshape import {names}\n\ngraph = Graph()\n{lines}"
    namespace: dict[str, Any] = {}
    standard_output = io.StringIO()
    with contextlib.redirect_stdout(standard_output):
        exec(compile(text, "<example>", "exec"), namespace)
    graph = namespace["graph"]
    with tempfile.TemporaryDirectory() as folder:
        for layer in list(graph):
            for output in layer.outputs if not graph.outputs else ():
                if not output.users:
                    graph.result(output)
        path = Path(folder) / "model.xml"
        graph.save(path)
        kind = operation.type_name()
        layer = next(each for each in irshape.load(path).layers if each.type == kind)
        assert registry.find(kind, layer.version or "") is operation, layer.version
        xml = path.read_bytes()[layer.offset :].decode()
    xml = xml[: _end_of_layer(xml)]
    return Program(text, standard_output.getvalue(), _outdented(xml))


def _end_of_layer(xml: str) -> int:
    """Returns the position after the first XML element of a text, which begins with `<layer`."""
    depth = 0
    for tag in re.finditer(r"<(/?)layer\b[^>]*?(/?)>", xml):
        depth += -1 if tag[1] else 0 if tag[2] else 1
        if depth == 0:
            return tag.end()
    raise ValueError("the element of the layer does not end")


def _outdented(xml: str) -> str:
    first, *others = xml.expandtabs(4).split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first, *(line[margin:] for line in others)])


# A row as the call that adds its layer


def written(case: Case, operation: type[Operation]) -> str | None:
    """Returns program lines that add the layer of a row; None if no single call can do so."""
    if case.extra_xml or case.edit or case.known or operation.bodies:
        return None
    if issubclass(operation, LibraryOperation):
        return None
    lines: list[str] = []
    names: dict[int, str] = {}
    operands = [each.name for each in operation.operands]
    try:
        arguments = []
        for index, item in enumerate(case.inputs):
            name = operands[min(index, len(operands) - 1)]
            if index >= len(operands) or (operation.operands and operation.operands[-1].variadic):
                name += str(index + 1)
            arguments.append(_argument(item, name, lines, names))
        attributes = _attributes(case.attributes, operation)
    except (ValueError, KeyError, StopIteration, Malformed):
        return None
    start = f'graph.add("{case.type}"'
    parts = [*arguments, f"opset={operation.since}", *attributes]
    call = ", ".join([start, *parts]) + ")"
    if len(call) + 4 > WIDTH:
        call = start.replace("(", "(\n    ") + ",\n    " + ",\n    ".join(parts) + ",\n)"
    lines.append(f"{'y' if case.outputs == 1 else 'outputs'} = {call}")
    if case.outputs == 1:
        lines.append("print(y.element_type, y.shape)")
    else:
        lines += ["for y in outputs:", "    print(y.element_type, y.shape)"]
    return "\n".join(lines) + "\n"


def _argument(item: Any, name: str, lines: list[str], names: dict[int, str]) -> str:
    source, index = item if isinstance(item, tuple) else (item, None)
    if id(source) not in names:
        if isinstance(source, Data):
            value = f'graph.parameter("{source.element_type}", "[{source.shape}]", name="{name}")'
        elif isinstance(source, Const):
            value = f'graph.constant({_numbers(source)}, "{source.element_type}")'
        else:
            value = _feeding_layer(source, name, lines, names)
        names[id(source)] = name
        lines.append(f"{name} = {value}")
    return names[id(source)] if index is None else f"{names[id(source)]}[{index}]"


def _feeding_layer(node: Node, name: str, lines: list[str], names: dict[int, str]) -> str:
    operation = registry.find(node.type, node.version)
    arguments = [
        _argument(item, f"{name}_{index}", lines, names) for index, item in enumerate(node.inputs)
    ]
    attributes = _attributes(node.attributes, operation)
    parts = [f'"{node.type}"', *arguments, f"opset={operation.since}", *attributes]
    return f"graph.add({', '.join(parts)})"


def _numbers(constant: Const) -> str:
    """Returns the values of a constant as Python text, or raises `ValueError` if there are many."""
    sizes = constant.shape
    count = 1
    for size in sizes:
        count *= size
    if count > MOST_NUMBERS:
        raise ValueError("too many elements")
    if count == 0 or constant.element_type == "string":
        if count == 0 and sizes == (0,):
            return "[]"
        raise ValueError("no elements")
    array = elements.unpack(constant.bytes, constant.element_type, sizes)
    if constant.element_type in ("f32", "f16", "bf16", "f64"):
        numbers = array.astype("float64")
        if (numbers == numbers.round(4)).all():
            return str(numbers.round(4).tolist())
    return str(array.tolist())


def _attributes(texts: dict[str, str], operation: type[Operation]) -> list[str]:
    listed = []
    for key, text in texts.items():
        name = operation.signature.python_names[key]
        value = operation.attributes[name].kind.read(text)
        if not isinstance(value, (bool, int, float, str, tuple, list)):
            value = str(value)
        listed.append(f"{name}={value!r}".replace("'", '"'))
    return listed


# Shapes


def shape_rows(operation: type[Operation], most: int = 6) -> list[ShapeRow]:
    """Returns inferred shapes for up to `most` rows that test a version, each of another kind."""
    chosen: dict[str, ShapeRow] = {}
    tries = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        for case in _short(rows()[operation]):
            form = _form(case)
            if form in chosen:
                continue
            tries += 1
            text, data = build(case)
            path.write_text(text, encoding="utf-8")
            path.with_suffix(".bin").write_bytes(data)
            row = _inferred(path, case)
            if row is not None:
                chosen[form] = row
            if len(chosen) == most or tries == 2 * most:
                break
    return list(chosen.values())


def _short(listed: list[Case]) -> list[Case]:
    plain = [case for case in listed if not case.known and not case.edit and len(case.id) < 160]
    return sorted(plain, key=lambda case: len(case.attributes))[: 4 * TRIES]


def _form(case: Case) -> str:
    """Returns the kind of a row: the names of its attributes, and the kinds of its input shapes."""
    shapes = [item.shape for item in case.inputs if isinstance(item, Data)]
    kinds = []
    for shape in shapes:
        if shape == "...":
            kinds.append("any rank")
        elif static(shape) is None:
            kinds.append("interval" if ".." in shape else "dynamic")
        else:
            kinds.append("scalar" if not shape else "static")
    return f"{sorted(kinds)} {sorted(case.attributes)}"


def _inferred(path: Path, case: Case) -> ShapeRow | None:
    """Returns the types and shapes of a row's tested layer; None if irshape refuses the layer."""
    try:
        model = irshape.load(path)
    except irshape.LoadError:
        return None
    inference = irshape.infer(model)
    if any(not isinstance(each.subject, Mismatch) for each in inference.observations):
        return None
    layer = next(each for each in model.layers if each.name == "op")
    producers = {
        (edge.to_layer, edge.to_port): (edge.from_layer, edge.from_port) for edge in model.net.edges
    }
    ports = {
        (row["id"], output["port"]): f"{output['element_type']} {output['shape']}"
        for row in inference.to_dict()["layers"]
        for output in row["outputs"]
    }
    inputs = []
    for port, item in zip(layer.inputs, case.inputs, strict=True):
        text = ports[producers[layer.id, port.id]]
        if isinstance(item, Const) and isinstance(item.values, (list, int, float)):
            values = str(item.values).replace(" ", "")
            text += f" = {values}" if len(values) < 25 else ""
        inputs.append(text)
    outputs = tuple(ports[layer.id, port.id] for port in layer.outputs)
    attributes = ", ".join(f"{key}={value}" for key, value in case.attributes.items())
    return ShapeRow(attributes, tuple(inputs), outputs)
