"""Reads single layers: files whose root is `<layer>`, as in OpenVINO's operation specification.

Shapes of inputs come from ports, values from comments at the ports, such as
`<!-- value is [2, 3] that means … -->`, `<!-- axes: [0, 1] -->`, `<!-- k = 3 -->`, `<!-- The tensor
contains 2 elements: 0, -1 -->` or `<!-- 10
-->`. Element types come from `precision`, or from comments such as `<!-- type: i32 -->`. Everything
else is dynamic. A layer without a version gets the newest version of the operation that fits its
attributes and ports.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from math import prod
from typing import Any

from ...element_types import ElementType
from ...faults import Fault
from ...inference.declarations import newest_fitting
from ...inference.literals import MAX_VALUE_TEXT, parse_value
from ...model.graph import Finding, Layer, Model
from ...model.ids import is_number
from ...model.ports import Port
from ...model.source import Source
from ...ops.declaration import Operation
from ...ops.registry import UnknownOperation, find
from ...rule_ids import LEFT_OUT
from ...spelling import first_of, suggestion, with_noun
from .reader import read


def read_layers(source: Source) -> Model:
    """Reads a file of single layers. Raises `NotReadable` if the file cannot be repaired."""
    from .printed_layers import Repaired

    repaired = Repaired(source.data)
    model = read(source, prefix=b"<layers>", repaired=repaired)
    layers = sorted(model.walk(), key=lambda layer: layer.offset)
    for problem in repaired.problems:
        holder = next((layer for layer in reversed(layers) if layer.offset <= problem.offset), None)
        model.findings.append(problem._replace(layer=holder))
    said: dict[int, list[tuple[str, bool]]] = {}
    for comment in repaired.comments:
        said.setdefault(comment.port, []).append((comment.text, comment.at_dim))
    for layer in layers:
        if layer.type.lower() in ("parameter", "const", "constant"):
            _complete(model, layer)
        for port in layer.inputs:
            if port.offset in repaired.vague:
                port.dims = None
            if port.offset in said:
                note_comments(port, said[port.offset])
        for port in layer.outputs:
            if port.offset in repaired.vague:
                port.dims = None
            _note_type(port, (text for text, _ in said.get(port.offset, ())))
    return model


def _complete(model: Model, layer: Layer) -> None:
    """Completes the `shape` and `element_type` of a Parameter or Const from its output port.

    The operation specification omits these attributes in bodies.
    """
    if not layer.outputs:
        return
    port = layer.outputs[0]
    said = {
        "shape": "..." if port.dims is None else ",".join(map(str, port.dims)),
        "element_type": port.element_type.name if port.element_type is not None else None,
    }
    absent = {
        name: text
        for name, text in said.items()
        if text is not None and layer.attribute(name) is None
    }
    for name, text in absent.items():
        layer.items = (*layer.items, name, text)
    if absent:
        place = layer.data_offset if layer.data_offset >= 0 else layer.offset
        names = " and ".join(f"`{name}`" for name in absent)
        message = f"the {layer.type} has no {names}; irshape uses what the output port declares"
        model.findings.append(
            Finding(
                Fault(LEFT_OUT, message, expected=names, help=f"write {names} into its <data>"),
                place,
                layer,
            )
        )


# Element types and values in comments

_NO_VALUE = re.compile(
    r"\b(?:outputs?|result)\b|\bundefined\b|\bshouldn't\b|\.shape\b|\b(?:min|max)\(|\d\s*=\s*-?\d|=\s*-?\d+\s*[-+*/]|^\s*\d+\s*[-+*/]\s*\d"
    r"|\b(?:to|from|of shape|with shape)\s+[\[({]",
    re.IGNORECASE,
)
_LEADING_LIST = re.compile(
    r"\s*\[[^\[\]]*\]\s*,?\s*(?:will|that|which|means?|is|are|stands?|promoted|broadcast)\b"
)
"""Matches a list at the start of a comment, with other text after it."""
_LIST = re.compile(r"(?:^|(?<=[\s:=#]))\[")
_NUMBER = r"(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?f?|true|false)"
_NUMBERS = re.compile(
    rf"\belements?\s*(?::|are|is)?\s*({_NUMBER}(?:\s*,\s*{_NUMBER})*)\s*\.?\s*$", re.IGNORECASE
)
_ALONE = re.compile(rf"^\s*({_NUMBER})\s*$", re.IGNORECASE)
_WITH_VALUE = re.compile(rf"value\s*(?:is|are|of)?\s*[:=#]?\s*({_NUMBER})(?![\w.])", re.IGNORECASE)
_NAMED = re.compile(rf"^\s*[A-Za-z][\w ]*?\s*(?:[:=]|\bis)\s*({_NUMBER})(?![\w.])", re.IGNORECASE)
_EMPTY = re.compile(
    r"\bempty (?:1D |1-D |one-dimensional )?(?:tensor|list|array|vector)\b|\bvalue is empty\b"
    r"|[:=]\s*empty\s*$",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"^\s*(?:result |output |element |data )*type\s*(?:[:=]|is)\s*`?([A-Za-z]\w*)`?\s*\.?\s*$",
    re.IGNORECASE,
)
_LONG_NAMES = {
    "float64": "f64",
    "double": "f64",
    "float32": "f32",
    "float": "f32",
    "float16": "f16",
    "half": "f16",
    "bfloat16": "bf16",
    "bool": "boolean",
}


def note_comments(port: Port, comments: list[tuple[str, bool]]) -> None:
    """Stores in a port the element type and the value that its comments state.

    comments: the text of each comment, and whether the comment follows a dimension.
    """
    _note_type(port, (text for text, _ in comments))
    texts = deque((text.replace("{", "[").replace("}", "]"), at_dim) for text, at_dim in comments)
    values: list[str] = []
    while texts:
        text, at_dim = texts.popleft()
        while (
            texts
            and len(text) <= MAX_VALUE_TEXT
            and text.count("[") > text.count("]")
            and texts[0][0].lstrip().startswith("[")
        ):
            text = text.rstrip() + " " + texts.popleft()[0].lstrip()  # one value on several lines
        value = value_in(text, port.dims, at_dim=at_dim)
        if value is not None:
            values.append(value)
    if values:
        port.value = next(
            (value for value in (*values, f"[{', '.join(values)}]") if _fits(value, port.dims)),
            values[0],
        )


def _fits(value: str, dims: tuple[int, ...] | None) -> bool:
    """Whether a value has as many elements as the dimensions of its port."""
    numbers = parse_value(value)
    return not dims or min(dims) < 0 or (numbers is not None and len(numbers) == prod(dims))


def _note_type(port: Port, comments: Iterator[str]) -> None:
    if port.precision is None:
        for text in comments:
            match = _TYPE.match(text)
            element_type = named_type(match[1]) if match else None
            if element_type is not None:
                port.precision = element_type.precision


def named_type(name: str) -> ElementType | None:
    """Returns the element type that a document calls `i32`, `int32`, `float` or `FP16`, for
    example."""
    short = re.sub(r"^(u?)int(?=\d)", lambda match: match[1] or "i", name.lower())
    try:
        return ElementType.of(_LONG_NAMES.get(short, short))
    except ValueError:
        return ElementType.of_precision(name.upper())


def value_in(
    comment: str, dims: tuple[int, ...] | None = (), *, at_dim: bool = False
) -> str | None:
    """Returns the text of the value that a comment gives for an input with dimensions `dims`.

    The value is a list or a number. Returns None if the comment has no value. at_dim: whether the
    comment follows a dimension. A number in such a comment is taken for a remark on the dimension,
    unless the comment contains the word `value`.
    """
    if len(comment) > MAX_VALUE_TEXT:
        return None
    comment = comment.replace("\\", " ").replace("`", " ")
    elements = prod(dims) if dims is not None and all(size >= 0 for size in dims) else None
    if _NO_VALUE.search(comment):
        leading = _balanced(comment, comment.index("[")) if _LEADING_LIST.match(comment) else None
        numbers = parse_value(leading) if leading is not None else None
        return leading if numbers is not None and len(numbers) == elements else None
    for start in islice(_LIST.finditer(comment), _MAX_LISTS):
        text = _balanced(comment, start.start())
        numbers = None if text is None else parse_value(text)
        if text is None or numbers is None:
            continue
        before = comment[: start.start()].lower()
        if (
            re.search(r"\b(?:shape|dims|dimensions|size|layout)\s*(?:is|of|:|=)?\s*$", before)
            and "value" not in before
            and (len(dims or ()) != 1 or len(numbers) != elements or numbers == dims)
        ):
            continue  # more likely a shape than the value
        return text
    if _EMPTY.search(comment):
        return "[]"
    if match := _NUMBERS.search(comment):
        return f"[{match[1]}]"
    if match := _WITH_VALUE.search(comment):
        return match[1]
    if (match := _ALONE.match(comment) or _NAMED.match(comment)) and (
        elements == 1 or (dims is None and not at_dim)
    ):
        return match[1]
    return None


def _balanced(text: str, start: int) -> str | None:
    """Returns the list that begins at `start`, with nested lists; None if it is not closed."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "[") - (text[at] == "]")
        if not depth:
            return text[start : at + 1]
    return None


def value_texts(values: Mapping[str, object]) -> dict[str, str]:
    """Converts values (texts, lists, numbers or arrays) to texts. Raises `TypeError`."""
    if not isinstance(values, Mapping):
        raise TypeError(f"expected values by names of inputs, as in {{'axes': 1}}, got {values!r}")
    return {str(name): str(_plain(value)) for name, value in values.items()}


def _plain(value: Any) -> object:
    """Converts a NumPy array or number, also in a list, to Python's lists and numbers."""
    if isinstance(value, (list, tuple, range)):
        return [_plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def give_values(model: Model, values: Mapping[str, str], *, counted: bool = True) -> None:
    """Sets the values of inputs in a file of single layers, by port id, position or operand name.

    Raises `ValueError` for a name that no input has, for two names of one input, and for a text
    that is no value of the input. counted: also raise `ValueError` if a value and its port have
    different numbers of elements; False leaves it to validation to report this.
    """
    if model.kind != "layers":
        raise ValueError(
            "only inputs of single layers can be given values; a whole model has its own constants"
        )
    given: set[Port] = set()
    for name, text in values.items():
        numbers = parse_value(text)
        if numbers is None:
            raise ValueError(f"'{text:.60}' is not a value; expected numbers, such as 7 or [2, 3]")
        ports = [port for layer in model.layers if (port := _named_input(layer, name)) is not None]
        if not ports:
            known = [each for layer in model.layers for each in _input_names(layer)]
            listed = first_of([*dict.fromkeys(known)], 8) or "none"
            raise ValueError(
                f"no layer has an input '{name}' (inputs: {listed}){suggestion(name, known)}"
                + "".join(dict.fromkeys(map(_why_unnamed, model.layers)))
            )
        for port in ports:
            kind = port.element_type
            broken = [each for each in numbers if isinstance(each, float) and not each.is_integer()]
            if broken and kind is not None and kind.is_integer:
                raise ValueError(f"the input '{name}' takes {kind}, not {broken[0]}")
            wanted = prod(port.dims or ())
            if counted and port.dims and min(port.dims) >= 0 and wanted != len(numbers):
                has = with_noun(wanted, "element")
                raise ValueError(f"the input '{name}' has {has}, not {len(numbers)}")
            if port in given:
                raise ValueError(f"the input '{name}' has two values, under two names")
            given.add(port)
            port.value = text


def _named_input(layer: Layer, name: str) -> Port | None:
    """Returns the input port with this id, position or operand name; None if there is none."""
    inputs = layer.inputs
    for port in inputs:
        if port.id == name:
            return port
    if is_number(name):
        return inputs[int(name)] if int(name) < len(inputs) else None
    names = _operand_names(layer)
    return inputs[names.index(name)] if name in names else None


def _operand_names(layer: Layer) -> list[str]:
    """Returns the operand names of a layer's inputs, in their order."""
    try:
        return [operand.name for operand in _declared(layer).operands][: len(layer.inputs)]
    except UnknownOperation:
        return []


def _declared(layer: Layer) -> type[Operation]:
    """Returns the class of a layer's operation. Raises `UnknownOperation`."""
    return find(layer.type, layer.version) if layer.version else newest_fitting(layer)


def _why_unnamed(layer: Layer) -> str:
    """Returns a text that says why a layer's inputs have no names; "" if they have names."""
    try:
        _declared(layer)
    except UnknownOperation as problem:
        return f"; the inputs of {layer.type} have no names: {problem}"
    return ""


def _input_names(layer: Layer) -> list[str]:
    """Returns for each input of a layer its operand name or, without one, the id of its port."""
    names = _operand_names(layer)
    return [*names, *(port.id for port in layer.inputs[len(names) :])]


_MAX_LISTS = 16
"""The maximum number of lists in a comment that are examined."""
