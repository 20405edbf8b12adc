"""Reads an IR, v10 or v11, as a stream of XML events: no tree is built, and every element keeps its byte offset.

expat is used, for its exact byte positions (libxml2's line numbers are wrong past line 65,535) and its small footprint. No DOCTYPE, hence no entity, is accepted.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.parsers import expat

from ...model.graph import NO_PORTS, BackEdge, Body, Layer, Model, NotReadable, Port, PortMap
from ...model.source import Source
from ...releases import IR_VERSIONS
from ...rule_ids import DOCTYPE, IR_VERSION, MALFORMED_XML, NESTING_LIMIT, NOT_AN_IR
from .elements import OPAQUE, Elements, Irregular

if TYPE_CHECKING:
    from .repair import Repaired

HEADER_BYTES = 512
"""Where OpenVINO looks for the version of the IR before it parses the file."""

MAX_DEPTH = 256
"""Elements inside one another. A body takes four, so 60 bodies may nest."""

BODY_TAGS = ("body", "then_body", "else_body")
PORT_MAP_TAGS = ("port_map", "then_port_map", "else_port_map")
_BEGINNINGS = (b"<input>", b"<output>", b"<edges>")
"""The start tags as writers put them: what they hold is read as a whole."""

# What the element being read is; the number of a state has no meaning.
_DOCUMENT, _NET, _LAYERS, _LAYER, _PORTS, _DATA, _EDGES, _PORT_MAP, _BACK_EDGES, _LEAF = range(10)

_CHILDREN: dict[int, tuple[str, ...]] = {
    _NET: ("layers", "edges", "rt_info"),
    _LAYERS: ("layer",),
    _LAYER: ("data", "input", "output", "rt_info", *BODY_TAGS, *PORT_MAP_TAGS, "back_edges"),
    _PORTS: ("port",),
    _EDGES: ("edge",),
    _PORT_MAP: ("input", "output"),
    _BACK_EDGES: ("edge",),
}
"""What each element may hold, for messages."""


def read(source: Source, *, prefix: bytes = b"", repaired: Repaired | None = None) -> Model:
    """Reads the bytes of `source`, or `repaired` in their place: layers on their own.

    `prefix` is fed before them, so that several layers have a root; it counts in no offset. Raises `NotReadable`.
    """
    enabled, encoding = gc.isenabled(), source.encoding
    gc.disable()  # a model is some hundred thousand objects that refer to each other in no circle: collecting while it grows doubles the time
    try:
        try:
            return _Reader(source, len(prefix), repaired).read(prefix)
        except Irregular:
            source.encoding = encoding  # as it was before the file said something
            reader = _Reader(source, len(prefix), repaired)
            reader.regular = False
            return reader.read(prefix)
    finally:
        if enabled:
            gc.enable()


class _Origins:
    """The position of a parser that reads a repaired text, as the place in the file."""

    def __init__(self, parser: expat.XMLParserType, repaired: Repaired, shift: int) -> None:
        self.parser = parser
        self.repaired = repaired
        self.shift = shift
        self.StartElementHandler: object = None
        """Set by the handlers; here every element is handed to them."""

    @property
    def CurrentByteIndex(self) -> int:
        return self.repaired.origin(self.parser.CurrentByteIndex - self.shift) + self.shift


class _Reader(Elements):
    def __init__(self, source: Source, shift: int, repaired: Repaired | None) -> None:
        super().__init__(source)
        self.shift = shift
        self.repaired = repaired
        self.regular = repaired is None and not shift
        """Whether ports and edges are looked for as writers put them."""

    def read(self, prefix: bytes) -> Model:
        repaired = self.repaired
        text = self.source.data if repaired is None else repaired.text
        parser = expat.ParserCreate("utf-8" if self.source.encoding == "utf-8-sig" else None)
        parser.ordered_attributes = True
        if repaired is None:
            parser.StartElementHandler, parser.EndElementHandler = self.handlers(parser, text)
        else:
            parser.StartElementHandler, parser.EndElementHandler = self.handlers(
                _Origins(parser, repaired, self.shift), repaired.plain
            )
        parser.StartDoctypeDeclHandler = self.refuse_doctype(parser)
        parser.XmlDeclHandler = self.declare
        try:
            if prefix:
                parser.Parse(prefix, False)
            parser.Parse(text, not prefix)
            if prefix:
                parser.Parse(b"</layers>", True)
        except expat.ExpatError as error:
            offset = min(max(parser.ErrorByteIndex - self.shift, 0), len(text))
            offset = offset if repaired is None else repaired.origin(offset)
            reason = expat.ErrorString(error.code)
            raise self.stop(
                MALFORMED_XML,
                f"the file is not well-formed XML: {reason}",
                offset,
                help="repair the XML at this place; nothing past it was read",
            ) from None
        except (ValueError, LookupError) as error:  # an encoding that expat cannot take from Python
            raise self.stop(
                MALFORMED_XML, f"the file cannot be decoded: {error}", 0, help="save it as UTF-8"
            ) from None
        return self.model

    def declare(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding:
            self.source.encoding = (
                encoding if encoding.lower() not in ("utf-16", "utf16") else "utf-8"
            )

    def refuse_doctype(self, parser: expat.XMLParserType) -> Callable[..., None]:
        def refuse(*_: object) -> None:
            offset = self.source.data.rfind(
                b"<!DOCTYPE", 0, parser.CurrentByteIndex - self.shift + len(b"<!DOCTYPE")
            )
            raise self.stop(
                DOCTYPE,
                "the file has a DOCTYPE, which no IR has and which can define entities; OpenVINO reads past it in silence",
                max(offset, 0),
                help="delete the DOCTYPE declaration",
            )

        return refuse

    def handlers(
        self, parser: expat.XMLParserType | _Origins, text: bytes | bytearray
    ) -> tuple[Callable[[str, list[str]], None], Callable[[str], None]]:
        """The two handlers, as closures: their state is local, which at a million events is worth it.

        Little is called for the elements inside an <input>, <output> or <edges>: as long as they are `regular`, ports and edges are read from the bytes between its
        tags, and the dimensions of a port from those between its own; few distinct texts make them up.
        """
        model, shift, regular = self.model, self.shift, self.regular
        fragment = self.repaired is not None
        state, skipping, depth = _DOCUMENT, 0, 0
        stack: list[int] = []
        body = model.net
        outer: list[tuple[Body, Layer, list[Port], list[PortMap]]] = []
        layer: Layer | None = None
        ports: list[Port] = []
        maps: list[PortMap] = []
        port: Port | None = None
        region, begun = "", 0
        """The element that is read as a whole, and where what it holds begins."""
        started = 0
        waiting = Body()
        """Holds the back edges that stand before their body, which is where OpenVINO writes them."""
        met: set[tuple[int, str]] = set()
        kept: dict[tuple[str, ...], tuple[str, ...]] = {}

        def start(tag: str, attributes: list[str]) -> None:
            nonlocal state, skipping, depth, body, layer, ports, maps, port, region, begun, started
            if port is not None:
                return
            if state == _PORTS and tag == "port" and not skipping:
                port = self.port(
                    attributes,
                    parser.CurrentByteIndex - shift,
                    layer,
                    fragment,
                    layer is not None and ports is layer.inputs,
                )
                ports.append(port)
                parser.StartElementHandler = None
                return
            depth += 1
            if skipping:
                return
            stack.append(state)
            if state == _LAYER:
                assert layer is not None
                if tag == "data" and layer.data_offset < 0:
                    layer.data_offset = parser.CurrentByteIndex - shift
                    items = tuple(attributes)
                    layer.items = kept.setdefault(items, items) if layer.type != "Const" else items
                    state = _DATA
                    return
                if (tag == "input" and layer.inputs is NO_PORTS) or (
                    tag == "output" and layer.outputs is NO_PORTS
                ):
                    ports = []
                    if tag == "input":
                        layer.inputs = ports
                    else:
                        layer.outputs = ports
                    state = _PORTS
                    place = parser.CurrentByteIndex
                    if regular and text.startswith(_BEGINNINGS, place):
                        region, begun = tag, place + len(tag) + 2
                        parser.StartElementHandler = None
                    return
                if tag in BODY_TAGS and tag not in (layer.bodies or ()):
                    if depth > MAX_DEPTH - 4:
                        raise self.too_deep(parser.CurrentByteIndex - shift)
                    outer.append((body, layer, ports, maps))
                    if layer.bodies is None:
                        layer.bodies = {}
                    body = Body((*layer.path, layer.id, tag), parser.CurrentByteIndex - shift)
                    layer.bodies[tag] = body
                    body.back_edges, waiting.back_edges = waiting.back_edges, []
                    state = _NET
                    return
                if tag in PORT_MAP_TAGS and tag not in (layer.port_maps or ()):
                    if layer.port_maps is None:
                        layer.port_maps = {}
                    maps = layer.port_maps[tag] = []
                    state = _PORT_MAP
                    return
                if tag == "back_edges":
                    state = _BACK_EDGES
                    return
            elif state == _LAYERS:
                if tag == "layer":
                    layer = self.layer(attributes, parser.CurrentByteIndex - shift, body, fragment)
                    body.layers.append(layer)
                    state = _LAYER
                    return
            elif state == _EDGES:
                if tag == "edge":
                    body.edges.append(self.edge(attributes, parser.CurrentByteIndex - shift, body))
                    state = _LEAF
                    return
            elif state == _NET:
                if tag == "layers" and (id(body), tag) not in met:
                    met.add((id(body), tag))
                    state = _LAYERS
                    return
                if tag == "edges" and (id(body), tag) not in met:
                    met.add((id(body), tag))
                    state = _EDGES
                    place = parser.CurrentByteIndex
                    if regular and text.startswith(_BEGINNINGS, place):
                        region, begun = tag, place + len(tag) + 2
                        parser.StartElementHandler = None
                    return
                if tag == "back_edges" and outer:  # some writers put it inside the body
                    state = _BACK_EDGES
                    return
            elif state == _PORT_MAP:
                if tag == "input" or tag == "output":
                    maps.append(
                        PortMap(
                            tag,  # type: ignore[arg-type]
                            dict(zip(attributes[::2], attributes[1::2], strict=True)),
                            parser.CurrentByteIndex - shift,
                        )
                    )
                    state = _LEAF
                    return
            elif state == _BACK_EDGES:
                if tag == "edge":
                    found = dict(zip(attributes[::2], attributes[1::2], strict=True))
                    place = parser.CurrentByteIndex - shift
                    target = (
                        body
                        if layer is None
                        else next(iter(layer.bodies.values()))
                        if layer.bodies
                        else waiting
                    )
                    target.back_edges.append(
                        BackEdge(found.get("from-layer", ""), found.get("to-layer", ""), place)
                    )
                    state = _LEAF
                    return
            elif state == _DOCUMENT:
                state = self.root(tag, attributes, parser.CurrentByteIndex - shift)
                return
            # an element that no reader knows here: pass over all that it holds
            if tag == "rt_info" and state in (_LAYER, _NET):
                started = parser.CurrentByteIndex - shift
            elif tag not in OPAQUE:
                holder = (
                    layer
                    if state not in (_NET, _LAYERS, _EDGES)
                    else outer[-1][1]
                    if outer
                    else None
                )
                self.odd_element(
                    tag, _CHILDREN.get(state, ()), parser.CurrentByteIndex - shift, holder
                )
            stack.pop()
            skipping = depth

        def end(tag: str) -> None:
            nonlocal state, skipping, depth, body, layer, ports, maps, port, region
            if region:
                if tag == region:
                    inner = bytes(text[begun : parser.CurrentByteIndex])
                    if region == "edges":
                        body.edges += self.regular_edges(inner, begun)
                    else:
                        assert layer is not None
                        self.regular_ports(inner, begun, ports, layer)
                    region = ""
                    parser.StartElementHandler = start
                    depth -= 1
                    state = stack.pop()
                return
            if port is not None:
                if tag == "port":
                    inner = bytes(
                        text[text.find(b"<", port.offset + 1) : parser.CurrentByteIndex - shift]
                    )
                    if inner:
                        port.dims = self.dims_of(inner, port, layer, fragment)
                    port = None
                    parser.StartElementHandler = start
                return
            depth -= 1
            if skipping:
                if depth < skipping:
                    skipping = 0
                    if tag == "rt_info":
                        place = parser.CurrentByteIndex - shift
                        span = (
                            started,
                            text.find(b">", place) + 1 if text.startswith(b"</", place) else place,
                        )  # `<rt_info />` ends where it is
                        if state == _LAYER and layer is not None:
                            layer.rt_info_span = span
                        elif state == _NET and not outer:
                            model.rt_info_span = span
                return
            if state == _NET and outer:
                body, layer, ports, maps = outer.pop()
            elif state == _LAYER:
                layer = None
            state = stack.pop()

        return start, end

    def too_deep(self, offset: int) -> NotReadable:
        return self.stop(
            NESTING_LIMIT,
            f"elements are nested deeper than {MAX_DEPTH}",
            offset,
            help="no real IR needs this; check where the file came from",
        )

    def root(self, tag: str, attributes: list[str], offset: int) -> int:
        if self.shift and tag == "layers":
            self.model.kind = "layers"
            return _LAYERS
        if tag != "net":
            raise self.stop(
                NOT_AN_IR,
                f"the root element is <{tag}>; an IR begins with <net>, a layer on its own with <layer>",
                offset,
                expected="net",
                actual=tag,
                help="give the .xml of a model",
            )
        found = dict(zip(attributes[::2], attributes[1::2], strict=True))
        self.model.name = found.get("name", "")
        text = found.get("version", "")
        version = (
            int(text) if re.fullmatch(r"\s*\+?[0-9]{1,5}", text) else -1
        )  # as OpenVINO reads it
        self.model.version = version
        if version not in IR_VERSIONS:
            raise self.stop(
                IR_VERSION,
                _version_message(text, version),
                self.source.attribute(offset, "version"),
                expected=_versions("or"),
                actual=text or "none",
                help=_version_help(version),
            )
        self.check_header(offset)
        return _NET

    def check_header(self, net: int) -> None:
        """Reports a version that OpenVINO sees cut: it looks for it in the first bytes alone."""
        if net > HEADER_BYTES or self.source.raw is not None:
            return
        for name, start, _, end in self.source.attributes(net):
            if name == "version" and start + len(name) <= HEADER_BYTES < end:
                self.report(
                    IR_VERSION,
                    f"the version of <net> crosses byte {HEADER_BYTES} of the file; OpenVINO "
                    "looks for it in the bytes before, and refuses what it finds",
                    start,
                    expected=f"a version that ends before byte {HEADER_BYTES}, or begins behind it",
                    actual=f"a version that ends at byte {end}",
                    help="put `version` before the other attributes of <net>",
                )


def _versions(word: str) -> str:
    *others, last = map(str, IR_VERSIONS)
    return f"{', '.join(others)} {word} {last}"


def _version_message(text: str, version: int) -> str:
    reads = f"OpenVINO reads versions {_versions('and')}"
    if 2 <= version <= 7:
        return f"IR version {version}, written before 2020; {reads}"
    if version > max(IR_VERSIONS):
        known = _versions("and")
        return f"IR version {version} is newer than any that this irshape knows ({known})"
    if version in (8, 9):
        return f"IR version {version} was never released; {reads}"
    return f"<net> has version '{text}'; {reads}" if text else f"<net> has no version; {reads}"


def _version_help(version: int) -> str:
    if 2 <= version <= 7:
        return "convert the original model again with a current OpenVINO; its reader refuses this version too"
    expected = " or ".join(f'version="{known}"' for known in IR_VERSIONS)
    return f"a {expected} is expected; update irshape if OpenVINO has a newer one"
