"""One thing wrong in an input: in its text, its structure, its weights, its fields.

Every function takes a `random.Random`, so that a seed gives the same mutant everywhere.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from random import Random
from typing import Any
from xml.etree import ElementTree

from .case import Case
from .seeds import zipped

NUMBERS = (
    *("0", "-1", "1", "2", "3", "7", "-2", "64", "1000000", "4294967296", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "1" + "0" * 30, "9" * 5000, "1e9", "nan"),
    *("inf", "", " ", "?", "..", "1..", "4..2", "...", "true", "x", "0x10", "01", "+1", "1,1"),
    *(",", "&#9;"),
)
"""Texts in the place of a number."""
INTEGERS = (0, 1, 2, 3, -1, -2, 7, 64, 255, 65536, 1 << 31, -(1 << 31), 1 << 32, (1 << 63) - 1)
"""Sizes, axes and indices at which something changes."""
REALS = (0.0, -0.0, 1.0, -1.5, 1e-45, 3.5e38, 1e308, float("inf"), float("-inf"), float("nan"))
LARGEST = 60_000
"""Bytes of a mutant; a larger one is not kept."""

Pool = Sequence[Case]
"""Inputs of one kind, from which parts are taken over."""


def mutant(case: Case, generator: Random, pool: Pool) -> Case:
    """An input with one to four things wrong."""
    for _ in range(generator.choice((1, 1, 1, 2, 2, 4))):
        other = generator.choice(pool)
        try:
            changed = generator.choice(BY_KIND[case.kind])(case, other, generator)
        except Exception:  # whatever says that it
            changed = text(case, other, generator)  # what is too broken to have a structure
        if sum(map(len, changed.parts)) <= LARGEST:
            case = changed
    return case


# text


def text(case: Case, other: Case, generator: Random) -> Case:
    """Bytes of one part: changed, dropped, repeated, or taken from another input."""
    number = generator.randrange(len(case.parts))
    data, theirs = case.parts[number], other.parts[number]
    return _with(case, number, _bytes(data, theirs, generator))


def _bytes(data: bytes, theirs: bytes, generator: Random) -> bytes:
    at = generator.randrange(len(data) + 1)
    size = min(generator.choice((1, 1, 2, 4, 8, 30, 200)), len(data) - at)
    match generator.randrange(8):
        case 0:
            return data[:at] + bytes([generator.randrange(256)]) + data[at + 1 :]
        case 1:
            return data[:at] + data[at + size :]
        case 2:
            return data[: at + size] + data[at:]
        case 3:
            return data[:at]
        case 4:
            start = generator.randrange(len(theirs) + 1)
            piece = theirs[start : start + generator.choice((2, 8, 60, 400))]
            return data[:at] + piece + data[at + generator.choice((0, len(piece))) :]
        case 5:
            value = generator.choice(INTEGERS)
            width = generator.choice((1, 2, 4, 8))
            packed = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            return data[:at] + packed + data[at + width :]
        case 6:
            return data[:at] + generator.choice(NUMBERS).encode() + data[at:]
    return (
        data[:at] + bytes([data[at] ^ 1 << generator.randrange(8)]) + data[at + 1 :]
        if (at < len(data))
        else data + b"\0"
    )


def tokens(case: Case, other: Case, generator: Random) -> Case:
    """A tag, an element, a value, a name or a number of an XML text."""
    data = case.parts[0]
    pattern = generator.choice(TOKENS)
    spans = [each.span(each.lastindex or 0) for each in pattern.finditer(data)]
    if not spans:
        return text(case, other, generator)
    (a, b), (c, d) = sorted(generator.choice(spans) for _ in range(2))
    match generator.choice(("gone", "twice", "copied", "moved", "swapped", "changed")):
        case "gone":
            data = data[:a] + data[b:]
        case "twice":
            data = data[:b] + data[a:]
        case "copied":
            data = data[:a] + data[c:d] + data[b:]
        case "moved":
            data = data[:b] + data[c:d] + data[b:]
        case "swapped" if b <= c:
            data = data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]
        case "changed":
            data = data[:a] + generator.choice(NUMBERS).encode() + data[b:]
    return _with(case, 0, data)


TOKENS = (
    re.compile(rb"<[^<>]*>"),
    re.compile(
        rb"<(?:layer|port|edge|data|dim|input|output|body|rt_info)\b[^<>]*?/>"
        rb"|<dim>[^<>]*</dim>|<(?:port|layer|edge)\b[^<>]*>.*?</(?:port|layer|edge)>",
        re.DOTALL,
    ),
    re.compile(rb'="([^"<>]*)"'),
    re.compile(rb'\s([\w.-]+)="'),
    re.compile(rb'(?<=[">,])-?[0-9]+'),
)
"""Tags, elements, values of attributes, their names, and numbers."""


def lines(case: Case, other: Case, generator: Random) -> Case:
    """Lines of a text: dropped, repeated, moved, or taken from another."""
    mine, theirs = (one.parts[-1].split(b"\n") for one in (case, other))
    at = generator.randrange(len(mine))
    match generator.randrange(4):
        case 0:
            del mine[at]
        case 1:
            mine.insert(at, generator.choice(theirs))
        case 2:
            mine.insert(at, mine.pop(generator.randrange(len(mine))))
        case 3:
            key, equals, _ = mine[at].partition(b"=")
            value = generator.choice([*theirs, *VALUES]).rpartition(b"=")[2]
            mine[at] = key + equals + value
    return _with(case, len(case.parts) - 1, b"\n".join(mine))


VALUES = (
    *(b"=1", b"=-1", b"=true", b'=""', b"=[]", b"={}", b'=["ALL"]', b"=1e999", b"=nan"),
    *(b"=1979-05-27", b"=99999999999999999999", b'="\\u0000"', b'="IR"', b'="1e9GB"', b"=[[1]]"),
    *(b'="[1..2,?]"', b'="{0.__class__}"', b"=0x7fffffffffffffff", b"=[{}]", b'="//*["'),
)
"""Values of TOML of the wrong type or size."""


# the structure of an IR

TAGS = ("layer", "port", "edge", "dim", "data", "input", "output", "body", "port_map", "back_edges")


def structure(case: Case, other: Case, generator: Random) -> Case:
    """Elements, attributes, edges and bodies of an IR; the result is well-formed."""
    root = ElementTree.fromstring(case.parts[0])
    parents = [(above, element) for above in root.iter() for element in above]
    if not parents:
        return text(case, other, generator)
    change = generator.choice(STRUCTURAL)
    change(root, parents, other, generator)
    return _with(case, 0, ElementTree.tostring(root))


Element = ElementTree.Element
Parents = list[tuple[Element, Element]]


def _of_tag(parents: Parents, generator: Random) -> tuple[Element, Element]:
    tag = generator.choice(TAGS)
    return generator.choice([pair for pair in parents if pair[1].tag == tag] or parents)


def _drop(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    above, element = _of_tag(parents, generator)
    above.remove(element)


def _repeat(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    above, element = _of_tag(parents, generator)
    above.insert(generator.randrange(len(above) + 1), element)


def _move(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    above, element = _of_tag(parents, generator)
    elsewhere, _ = _of_tag(parents, generator)
    if elsewhere not in element.iter():
        above.remove(element)
        elsewhere.insert(generator.randrange(len(elsewhere) + 1), element)


def _attribute(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    with_some = [element for _, element in parents if element.attrib]
    element = generator.choice(with_some)
    name = generator.choice(list(element.attrib))
    match generator.randrange(5):
        case 0:
            del element.attrib[name]
        case 1:
            element.set(name, generator.choice(NUMBERS).replace("&#9;", "\t"))
        case 2:
            known = [one.get(name) for one in with_some if one.get(name) is not None]
            element.set(name, generator.choice(known) or "")
        case 3:
            source = generator.choice(with_some)
            element.attrib.update(source.attrib)
        case 4:
            values = element.attrib[name].split(",")
            at = generator.randrange(len(values))
            values[at : at + generator.randrange(2)] = [generator.choice(NUMBERS[:14])]
            element.set(name, ",".join(values))


def _size(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    dims = [pair for pair in parents if pair[1].tag == "dim"]
    if not dims:
        return _attribute(root, parents, other, generator)
    above, dim = generator.choice(dims)
    match generator.randrange(3):
        case 0:
            dim.text = str(generator.choice(INTEGERS))
        case 1:
            above.remove(dim)
        case 2:
            above.insert(0, dim)
    return None


def _wire(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    """An end of an edge, of a port map or of a back edge leads somewhere else."""
    ends = ("edge", "input", "output", "layer")
    wired = [element for _, element in parents if element.tag in ends and len(element.attrib) > 1]
    edge = generator.choice(wired or [root])
    ids = [element.get("id") or "0" for _, element in parents if element.get("id")]
    names = [name for name in edge.attrib if name.endswith(("layer", "port", "port_id", "id"))]
    if names and ids:
        edge.set(generator.choice(names), generator.choice([*ids, "-1"]))


def _type(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    """A layer of another operation, with the attributes that it had."""
    layers = [element for _, element in parents if element.tag == "layer"]
    theirs = list(ElementTree.fromstring(other.parts[0]).iter("layer"))
    if layers and theirs:
        layer, given = generator.choice(layers), generator.choice(theirs)
        for name in generator.choice((("type",), ("version",), ("type", "version"))):
            layer.set(name, given.get(name) or "")


def _graft(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    """A layer of another input in the place of one, under its id; or one of its elements."""
    theirs = ElementTree.fromstring(other.parts[0])
    above, element = _of_tag(parents, generator)
    alike = [found for found in theirs.iter(element.tag) if found is not theirs]
    if not alike:
        return
    given = generator.choice(alike)
    if element.tag == "layer" and generator.randrange(4):
        given.set("id", element.get("id") or "0")
        ports = [one.get("id") or "" for one in element.iter("port")]
        for mine, port in zip(ports, given.iter("port"), strict=False):
            port.set("id", mine)
    above[list(above).index(element)] = given


def _precision(root: Element, parents: Parents, other: Case, generator: Random) -> None:
    """The element types of a port, a Parameter, a Const or an attribute."""
    typed = [
        (element, name)
        for _, element in parents
        for name in element.attrib
        if name in ("precision", "element_type", "destination_type", "index_element_type")
    ]
    if typed:
        element, name = generator.choice(typed)
        element.set(name, generator.choice(TYPES))


TYPES = (
    *("f32", "f16", "bf16", "f64", "i64", "i32", "i8", "u8", "u4", "i4", "u1", "nf4", "boolean"),
    *("string", "f8e4m3", "f8e8m0", "f4e2m1", "u2", "u3", "u6", "dynamic", "undefined"),
    *("FP32", "FP16", "I64", "BOOL", "BIN", "U64", "STRING", "UNSPECIFIED", "Q78"),
)

STRUCTURAL = (
    *(_drop, _repeat, _move, _attribute, _attribute, _size, _wire, _wire),
    *(_type, _graft, _graft, _precision),
)


def weights(case: Case, other: Case, generator: Random) -> Case:
    """The .bin: cut, longer, changed, or that of another model."""
    data = case.parts[1]
    at = generator.randrange(len(data) // 8 + 1) * 8
    match generator.randrange(6):
        case 0:
            data = data[: generator.randrange(len(data) + 1)]
        case 1:
            data += bytes(generator.randrange(100))
        case 2:
            data = other.parts[1]
        case 3:
            data = _bytes(data, other.parts[1], generator)
        case 4 | 5:
            value = generator.choice(INTEGERS) & ((1 << 64) - 1)
            data = data[:at] + value.to_bytes(8, "little") + data[at + 8 :]
    return _with(case, 1, data)


# ONNX


def fields(case: Case, other: Case, generator: Random) -> Case:
    """A field of a protobuf message: changed, cleared, repeated, or taken from another model."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    model, theirs = ModelProto(), ModelProto()
    try:
        model.ParseFromString(case.parts[0])
        theirs.ParseFromString(other.parts[0])
    except DecodeError:
        return text(case, other, generator)
    messages = list(_messages(model))
    message = generator.choice(messages[generator.randrange(len(messages)) :])
    alike = [one for one in _messages(theirs) if type(one) is type(message)]
    if alike and not generator.randrange(6):
        message.CopyFrom(generator.choice(alike))
    else:
        _change_field(message, generator, alike)
    return _with(case, 0, model.SerializeToString())


def _messages(message: Any) -> Iterator[Any]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else (value,):
                yield from _messages(inner)


def _change_field(message: Any, generator: Random, alike: list[Any]) -> None:
    present = [field for field, _ in message.ListFields()]
    every = list(message.DESCRIPTOR.fields)
    field = generator.choice(present if present and generator.randrange(4) else every)
    name = field.name
    theirs = [getattr(one, name) for one in alike]
    if field.is_repeated:
        values = getattr(message, name)
        what = generator.randrange(5)
        at = generator.randrange(len(values)) if len(values) else 0
        if what == 0 and len(values):
            del values[at]
        elif what == 1 and len(values):
            values.append(values[at])
        elif what == 2 and any(theirs):
            values.extend(generator.choice([one for one in theirs if one])[:1])
        elif field.message_type is not None:
            values.add()
        elif what == 3 and len(values):
            values[at] = _scalar(field, values[at], generator)
        else:
            values.append(_scalar(field, None, generator))
    elif field.message_type is not None or not generator.randrange(5):
        message.ClearField(name)
    else:
        setattr(message, name, _scalar(field, getattr(message, name), generator))


def _scalar(field: Any, value: Any, generator: Random) -> Any:
    kind = field.cpp_type
    if kind == field.CPPTYPE_STRING:
        if field.type == field.TYPE_BYTES:
            return _bytes(value or b"", b"\0" * 8, generator)
        texts = ("", "x", "y", "w", "axes", "\u202e", "Add", "If", "Loop", "ai.onnx.ml", "a" * 300)
        return generator.choice(texts)
    if kind in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return generator.choice(REALS)
    if kind == field.CPPTYPE_BOOL:
        return not value
    if kind == field.CPPTYPE_ENUM:
        return generator.choice(list(field.enum_type.values_by_number))
    number = generator.choice((*INTEGERS, *range(30)))
    bits = 32 if kind in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
    unsigned = kind in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64)
    number &= (1 << bits) - 1
    return number if unsigned or number < 1 << bits - 1 else number - (1 << bits)


# JSON, and archives with JSON in them


def values(case: Case, other: Case, generator: Random) -> Case:
    """A value of a JSON text: another, none, one of another place, or one too many."""
    return _with(case, 0, _json(case.parts[0], other.parts[0], generator))


def _json(data: bytes, theirs: bytes, generator: Random) -> bytes:
    document = json.loads(data)
    places = list(_places(document))
    if not places:
        return _bytes(data, theirs, generator)
    holder, key = generator.choice(places)
    match generator.randrange(5):
        case 0:
            del holder[key]
        case 1:
            holder[key] = generator.choice(JSON)
        case 2:
            other, name = generator.choice(list(_places(json.loads(theirs))))
            holder[key] = other[name]
        case 3 if isinstance(holder, list):
            holder.append(holder[key])
        case 3:
            holder[generator.choice(("", "id", "shape", "x"))] = holder[key]
        case 4:
            old = holder[key]
            holder[key] = [old] if generator.randrange(2) else generator.choice((*INTEGERS, "f32"))
    return json.dumps(document).encode("utf-8", "surrogatepass")


JSON: tuple[Any, ...] = (
    *(None, True, False, "", "x", [], {}, [[]], {"": None}, -1, 0, 1, 1 << 63, 10**40, 1e308),
    *(
        float("nan"),
        float("inf"),
        "f32",
        "s64",
        "string",
        "u4",
        "bf16",
        [1, 2],
        [-1],
        "\ud800",
        "9" * 5000,
        [10**30],
    ),
)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All places where something else could stand: a list or an object, and the index or key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield value, index
            yield from _places(inner)


def archive(case: Case, other: Case, generator: Random) -> Case:
    """A file of a recording: what it holds, its name, whether it is there."""
    with zipfile.ZipFile(BytesIO(case.parts[0])) as found:
        files = {name: found.read(name) for name in found.namelist()}
    name = generator.choice([*files, *["recording.json"] * 6])
    if name == "recording.json" and generator.randrange(8):
        files[name] = _json(files[name], files[name], generator)
    elif generator.randrange(3):
        files[name] = _bytes(files[name], generator.choice(list(files.values())), generator)
    else:
        files.pop(name)
    return _with(case, 0, zipped(files))


def option(case: Case, other: Case, generator: Random) -> Case:
    """The value of another option."""
    return Case(case.kind, (case.parts[0], other.parts[1]))


def value(case: Case, other: Case, generator: Random) -> Case:
    """Bytes of the value of an option, never of its name."""
    return _with(case, 1, _bytes(case.parts[1], other.parts[1], generator))


def _with(case: Case, number: int, data: bytes) -> Case:
    parts = list(case.parts)
    parts[number] = data
    return Case(case.kind, tuple(parts))


Mutator = Callable[[Case, Case, Random], Case]
BY_KIND: dict[str, tuple[Mutator, ...]] = {
    "ir": (structure, structure, structure, structure, tokens, tokens, weights, text),
    "onnx": (fields, fields, fields, fields, fields, text),
    "onednn": (values, values, values, values, lines, text),
    "configuration": (lines, lines, text),
    "baseline": (values, values, text),
    "recording": (archive, archive, archive, text),
    "result": (values, values, values, text),
    "array": (text,),
    "export": (values, values, text),
    "argument": (value, value, option),
}
