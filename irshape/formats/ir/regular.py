"""Reads layers and edges in OpenVINO's usual layout without an XML parser.

Many layers of a model have the same content, apart from their tensor names and the offsets of
constants. Such content is parsed once (`forms`).

The regular expressions accept only well-formed text without faults. The XML parser reads all other
text.
"""

from __future__ import annotations

import re
from sys import intern

from ...model.graph import Body, Edge, Layer
from .forms import ID, NAMES, OFFSET, SPACE, VALUE, form_of


def read_layers(text: str, at: int, body: Body) -> int:
    """Adds layers in the usual layout to a body, from offset `at` on. Returns the offset behind the
    last one. text: the file, with a character for each byte."""
    layers, path = body.layers, body.path
    match, find = _LAYER.match, text.find
    while head := match(text, at):
        begun = head.end()
        end = find("</layer>", begun)
        if end < 0:
            break
        id, name, type, version, output_names = head.groups()
        rest, left, offset = begun, "", ""
        if type == "Const" and (cut := find(OFFSET, begun, end)) >= 0:
            cut += len(OFFSET)
            left, rest = text[begun:cut], find('"', cut)
            offset = text[cut:rest]
        names: list[str] = []
        while (cut := find(NAMES, rest, end)) >= 0:
            cut += len(NAMES)
            left += text[rest:cut]
            rest = find('"', cut)
            tensor = text[cut:rest]
            if not tensor.isprintable() or not tensor.isascii() or "<" in tensor or "&" in tensor:
                return at
            names.append(tensor)
        form = form_of(left + text[rest:end])
        if (
            form is None
            or not (offset.isdecimal() if form.offset_at >= 0 else not offset)
            or (output_names is not None and type != "Result")
        ):
            break
        place = head.start(1) - len('<layer id="')
        layer = Layer(id, name, intern(type), intern(version), place, path)
        layer.output_names = output_names
        form.fill(layer, begun, offset, names)
        layers.append(layer)
        at = end + len("</layer>")
    return at


def read_edges(data: bytes, at: int, body: Body) -> int:
    """Reads the edges of a body, from offset `at` on. Returns the offset behind the last edge.

    If any edge is not in the usual layout, reads none and returns `at`.
    """
    edges = _EDGES.match(data, at)
    if edges is None:
        return at
    start, end = edges.span()
    # the digits are the four ids, each between quotes
    digits = data[start:end].translate(_SPACE_FOR_QUOTE, _NO_DIGITS)
    ids = digits.decode("latin-1").split()
    places = map(re.Match.start, _EDGE.finditer(data, start, end))
    columns = zip(ids[0::4], ids[1::4], ids[2::4], ids[3::4], places, strict=True)
    body.edges = list(map(Edge._make, columns))
    return end


_LAYER = re.compile(
    rf'{SPACE}<layer id="({ID})" name="({VALUE})" type="({VALUE})" version="({VALUE})"'
    rf'(?: output_names="({VALUE})")?+ ?+>'
)
_REGULAR = rf'<edge from-layer="{ID}" from-port="{ID}" to-layer="{ID}" to-port="{ID}" ?+/>'
_EDGES = re.compile(rf"(?:{SPACE}{_REGULAR})*+(?={SPACE}</edges>)".encode())
_EDGE = re.compile(b"<edge ")
_SPACE_FOR_QUOTE = bytes.maketrans(b'"', b" ")
_NO_DIGITS = bytes(set(range(256)) - set(b'0123456789"'))
