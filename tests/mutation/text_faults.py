"""Single faults in the text of a valid IR, and in the values of its .bin."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise

from faults import INDICES, Tree, Where, edges, layer_of, where

Slip = tuple[int, int, bytes]
"""From where to where bytes are replaced, and by what."""
TextFault = Callable[[bytes], Iterator[Slip]]
TEXT_FAULTS: dict[str, TextFault] = {}

Patch = tuple[Where, int, bytes]
"""The Const, and what its bytes are from an offset of the .bin on."""
ValueFault = Callable[[Tree, bytes], Iterator[Patch]]
VALUE_FAULTS: dict[str, ValueFault] = {}


def text_fault(planted: TextFault) -> TextFault:
    TEXT_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def value_fault(planted: ValueFault) -> ValueFault:
    VALUE_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def matches(pattern: str, data: bytes) -> Iterator[re.Match[bytes]]:
    yield from re.finditer(pattern.encode(), data)


@text_fault
def truncated_file(data: bytes) -> Iterator[Slip]:
    for match in matches(r"</?(layer|port|edge|data)\b", data):
        yield match.start(), len(data), b""


@text_fault
def missing_end_tag(data: bytes) -> Iterator[Slip]:
    for match in matches(r"</(layer|port|output|input|dim)>", data):
        yield match.start(), match.end(), b""


@text_fault
def missing_start_tag(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<(output|input)>", data):
        yield match.start(), match.end(), b""


@text_fault
def misspelt_end_tag(data: bytes) -> Iterator[Slip]:
    for match in matches(r"</(layer|port|output|input)>", data):
        yield match.end() - 2, match.end() - 1, b""


@text_fault
def missing_quote(data: bytes) -> Iterator[Slip]:
    for match in matches(r'="[^"<>]*(")', data):
        yield match.start(1), match.end(1), b""


@text_fault
def missing_slash(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<(edge|data)\b[^<>]*(/)>", data):
        yield match.start(2), match.end(2), b""


@text_fault
def doubled_attribute(data: bytes) -> Iterator[Slip]:
    for match in matches(r'( (version|from-port|precision)="[^"]*")', data):
        if match.start() > 200:
            yield match.end(), match.end(), match[1]


@text_fault
def dimension_in_words(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<dim>(\d+)</dim>", data):
        yield match.start(1), match.end(1), match[1] + b".0"


@text_fault
def empty_dimension(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<dim>(\d+)</dim>", data):
        yield match.start(1), match.end(1), b""


@text_fault
def digit_lost(data: bytes) -> Iterator[Slip]:
    """A number of two digits or more in any attribute of a layer, port or edge lacks the last."""
    for match in matches(r'(?<=[a-z])="\d+(\d)"', data[: data.rfind(b"</edges>")]):
        if match.start() > 200:
            yield match.start(1), match.end(1), b""


@text_fault
def lower_case_type(data: bytes) -> Iterator[Slip]:
    """The type begins with a small letter and ends in a wrong one."""
    for match in matches(r' type="([A-Z])([A-Za-z]+)"', data):
        yield match.start(1), match.end(2), match[1].lower() + match[2] + b"s"


# values


def constants_of_indices(tree: Tree) -> Iterator[tuple[Tree, Tree, int, list[int]]]:
    """Layers that take axes, an order or lengths, with the Const, its offset and its size."""
    for body, edge in edges(tree):
        source = layer_of(body, edge.get("from-layer"))
        target = layer_of(body, edge.get("to-layer"))
        data = source.find("data")
        if (
            source.get("type") != "Const"
            or data is None
            or (target.get("type"), edge.get("to-port")) not in INDICES
            or data.get("element_type") not in ("i64", "i32")
        ):
            continue
        yield (
            source,
            target,
            int(str(data.get("offset"))),
            [
                int(str(data.get("size"))),
                8 if data.get("element_type") == "i64" else 4,
            ],
        )


def values_of(weights: bytes, offset: int, size: int, width: int) -> tuple[str, list[int]]:
    form = f"<{size // width}{'q' if width == 8 else 'i'}"
    return form, list(struct.unpack_from(form, weights, offset))


@value_fault
def wrong_index(tree: Tree, weights: bytes) -> Iterator[Patch]:
    """An axis, a length or an index is one more."""
    for source, _, offset, (size, width) in constants_of_indices(tree):
        form, values = values_of(weights, offset, size, width)
        if values and len(values) <= 8:
            values[-1] += 1
            yield where(source), offset, struct.pack(form, *values)


@value_fault
def wrong_order(tree: Tree, weights: bytes) -> Iterator[Patch]:
    """The order of a Transpose, with two axes exchanged."""
    for source, target, offset, (size, width) in constants_of_indices(tree):
        form, values = values_of(weights, offset, size, width)
        if target.get("type") != "Transpose":
            continue
        for at, _ in pairwise(range(len(values))):
            other = [*values]
            other[at], other[at + 1] = other[at + 1], other[at]
            yield where(source), offset, struct.pack(form, *other)
