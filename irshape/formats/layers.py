"""Layers on their own: files whose root is `<layer>`, as operation documents print them, repaired where it is clear what is meant.

Repairs keep the length of the text, so every place in a diagnostic is a place in the file: `...` inside a tag and `\\*` become blanks. The shapes of the inputs come from
the ports, values from comments such as `<!-- value is [2, 3] that means … -->`, `<!-- axes: [0, 1] -->`, `<!-- The tensor contains 2 elements: 0, -1 -->`, `<!-- 10 -->`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ..model import Layer, Model, Port, Source
from ..ops import registry
from ..ops.declaration import Operation
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..types import DYNAMIC_SHAPE, DYNAMIC_TYPE, ElementType, PartialShape
from .ir_reader import read

_TAG = re.compile(rb"<!--.*?-->|<[^<>]*>", re.DOTALL)
_DECLARATION = re.compile(rb"\A\s*<\?xml\b.*?\?>", re.DOTALL)
_DOTS = re.compile("\\.{3}|…".encode())


def read_layers(source: Source) -> Model:
    """Reads a file of one layer or several. Raises `NotReadable` where it cannot be repaired."""
    return read(source, prefix=b"<layers>", text=repaired(source.data), on_comment=note_value)


def repaired(text: bytes) -> bytes:
    """The text with its XML declaration and every `...` blanked; every byte stays where it is."""
    text = _DECLARATION.sub(lambda declaration: b" " * len(declaration[0]), text)
    return _DOTS.sub(lambda dots: b" " * len(dots[0]), _TAG.sub(_repaired_tag, text))


def _repaired_tag(match: re.Match[bytes]) -> bytes:
    tag = match[0]
    if tag.startswith(b"<!--"):
        # `--` is not allowed inside a comment
        return b"<!--" + tag[4:-3].replace(b"--", b"- ").rstrip(b"-").ljust(len(tag) - 7) + b"-->"
    return tag


_LIST = re.compile(r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]")
_WORDED = re.compile(
    r"^\s*(?:the\s+)?(?:[\w`\- ]+?\s+)?(?:value|values|contains?|are|is)\b[\w ]*?\s*(?:is|are|:|=|elements?:?)?\s*:?\s*(?P<rest>[-\[\d.].*)$", re.IGNORECASE | re.DOTALL
)
_NAMED = re.compile(r"^\s*[\w ]+?\s*[:=]\s*(?P<rest>[-\[\d.].*)$", re.DOTALL)
_BARE = re.compile(r"^\s*(?P<rest>(?:-?\d+(?:\.\d+)?|\[[^\]]*\]))\s*$", re.DOTALL)


def note_value(port: Port, comment: str, offset: int) -> None:
    """Keeps the value that a comment gives for a port, if it gives one."""
    if port.value is None:
        found = value_in(comment)
        if found is not None:
            port.value = found


def value_in(comment: str) -> str | None:
    """The list or number that a comment states as the value of an input, as text; None where it says something else."""
    if re.search(r"\boutput value|\bresult|\bpromoted\b|^\s*\d+ = |=\s*\d+\s*[-+]", comment):
        return None
    match = _BARE.match(comment) or _WORDED.match(comment) or _NAMED.match(comment)
    if match is None:
        return None
    rest = match["rest"]
    listed = re.match(r"\[", rest) and _LIST.match(rest)
    if listed:
        return listed[0]
    numbers = re.match(r"-?\d+(?:\.\d*)?(?:\s*,\s*-?\d+(?:\.\d*)?)*", rest)
    return f"[{numbers[0]}]" if numbers and "," in numbers[0] else numbers[0] if numbers else None


def give_values(model: Model, values: Mapping[str, str]) -> None:
    """Gives the inputs of layers on their own a value, by port id, else by position. Raises `ValueError` for a port that no layer has, or a text that is no value."""
    if model.kind != "layers":
        raise ValueError("values can be given to layers on their own; a whole model takes its own constants")
    for name, text in values.items():
        if parse_value(text) is None:
            raise ValueError(f"'{text}' is no value: expected numbers, such as 7 or [2, 3]")
        found = False
        for layer in model.layers:
            at = next((port for port in layer.inputs if port.id == name), None)
            if at is None and name.isdigit() and int(name) < len(layer.inputs):
                at = layer.inputs[int(name)]
            if at is not None:
                at.value, found = text, True
        if not found:
            raise ValueError(f"no layer has an input port {name}")


def parse_value(text: str) -> tuple[int | float, ...] | None:
    """The elements of a value such as `[2, 3]`, `7` or `[[0, 1], [2, 3]]`, in row-major order; None where it is none."""
    try:
        parsed = ast.literal_eval(re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", text, flags=re.I), flags=re.I).strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    flat = list(_flattened(parsed))
    numbers = [item for item in flat if isinstance(item, (int, float))]
    return tuple(numbers) if len(numbers) == len(flat) <= MAX_VALUE_ELEMENTS else None


def _flattened(item: object) -> Iterator[object]:
    if isinstance(item, (list, tuple)):
        for part in item:
            yield from _flattened(part)
    else:
        yield item


def port_tensor(port: Port) -> Tensor:
    """The tensor that an input port of a layer on its own stands for: what it declares, with the value given for it."""
    element_type = port.element_type or DYNAMIC_TYPE
    shape = DYNAMIC_SHAPE if port.dims is None else PartialShape(port.dims)
    numbers = None if port.value is None else parse_value(port.value)
    if numbers is None:
        return Tensor(element_type, shape)
    if shape.static is None or _product(shape.static) != len(numbers):
        if port.dims:
            return Tensor(element_type, shape)
        shape = PartialShape(()) if len(numbers) == 1 and "[" not in (port.value or "") else PartialShape((len(numbers),))
    if element_type is DYNAMIC_TYPE:
        element_type = ElementType.of("i64") if all(isinstance(number, int) for number in numbers) else ElementType.of("f32")
    return Tensor(element_type, shape, Value(numbers))


def _product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def newest_fitting(layer: Layer) -> type[Operation]:
    """The newest version of the layer's type whose attributes and number of inputs fit; the newest of all where none does. Raises `UnknownOperation`."""
    known = registry.versions(layer.type)
    if not known:
        registry.find(layer.type, "opset1")
        raise registry.UnknownOperation(f"no opset contains an operation {layer.type}")
    for cls in reversed(known):
        declared = {attribute.name for attribute in cls.attributes.values()} | set(cls.tolerated)
        needed = {attribute.name for attribute in cls.attributes.values() if attribute.refused_when_absent}
        least = sum(not operand.optional for operand in cls.operands)
        most = len(cls.operands) if not (cls.operands and cls.operands[-1].variadic) else 1 << 30
        given = set(layer.items[::2])
        if given <= declared and needed <= given and least <= len(layer.inputs) <= most:
            return cls
    return known[-1]
