"""Reads an IR, v10 or v11, as a stream of XML events: no tree is built, and every element keeps its byte offset.

expat is used, for its exact byte positions (libxml2's line numbers are wrong past line 65,535) and its small footprint. No DOCTYPE, hence no entity, is accepted.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from html import unescape
from typing import TYPE_CHECKING, Literal
from xml.parsers import expat

from ..model import NO_PORTS, BackEdge, Body, Edge, Layer, Model, Port, PortMap, Problem, Source

if TYPE_CHECKING:
    from .repair import Repaired

MAX_XML_BYTES = 1 << 30
MAX_DEPTH = 256
"""Elements inside one another. A body takes four, so 60 bodies may nest."""

READ_VERSIONS = (10, 11)
_MIN_DIM, _MAX_DIM = -1, 2**63 - 1

BODY_TAGS = ("body", "then_body", "else_body")
PORT_MAP_TAGS = ("port_map", "then_port_map", "else_port_map")
_OPAQUE = {"rt_info", "meta_data", "cli_parameters", "quantization_parameters", "statistics", "pre-process", "blobs", "weights", "biases"}

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


class NotReadable(Exception):
    """There is no model to return; carries the one problem that says why."""

    def __init__(self, problem: Problem, source: Source) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.source = source


def read(source: Source, *, prefix: bytes = b"", repaired: Repaired | None = None) -> Model:
    """Reads the bytes of `source`, or `repaired` in their place: layers on their own.

    `prefix` is fed before them, so that several layers have a root; it counts in no offset. Raises `NotReadable`.
    """
    enabled, encoding = gc.isenabled(), source.encoding
    gc.disable()  # a model is some hundred thousand objects that refer to each other in no circle: collecting while it grows doubles the time
    try:
        try:
            return _Reader(source, len(prefix), repaired).read(prefix)
        except _Irregular:
            source.encoding = encoding  # as it was before the file said something
            reader = _Reader(source, len(prefix), repaired)
            reader.regular = False
            return reader.read(prefix)
    finally:
        if enabled:
            gc.enable()


class _Irregular(Exception):
    """Something stands where a writer puts only ports or edges, or not as a writer puts it: the file is read once more, element by element."""


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


class _Reader:
    def __init__(self, source: Source, shift: int, repaired: Repaired | None) -> None:
        self.source = source
        self.shift = shift
        self.repaired = repaired
        self.regular = repaired is None and not shift
        """Whether ports and edges are looked for as writers put them."""
        self.model = Model(source)
        self.problems = self.model.problems
        self.port_ids: set[str] = set()
        """Those met that are well-formed: there are few, and they come again and again."""
        self.shapes: dict[bytes, tuple[int, ...]] = {}
        """The dimensions in what a <port> holds."""
        self.port_lists: dict[bytes, list[tuple[str, str | None, int, tuple[int, ...] | None]]] = {}
        """The ports in what an <input> or <output> holds, where they have no names: id, precision, offset from its beginning, dimensions."""

    def problem(self, rule: str, message: str, offset: int, layer: Layer | None = None, **details: str | None) -> None:
        self.problems.append(Problem(rule, message, offset, layer, **details))  # type: ignore[arg-type]

    def stop(self, rule: str, message: str, offset: int, **details: str) -> NotReadable:
        return NotReadable(Problem(rule, message, offset, **details), self.source)  # type: ignore[arg-type]

    def read(self, prefix: bytes) -> Model:
        repaired = self.repaired
        text = self.source.data if repaired is None else repaired.text
        parser = expat.ParserCreate("utf-8" if self.source.encoding == "utf-8-sig" else None)
        parser.ordered_attributes = True
        if repaired is None:
            parser.StartElementHandler, parser.EndElementHandler = self.handlers(parser, text)
        else:
            parser.StartElementHandler, parser.EndElementHandler = self.handlers(_Origins(parser, repaired, self.shift), repaired.plain)
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
                "malformed-xml", f"the file is not well-formed XML: {reason}", offset, help="repair the XML at this place; nothing past it was read"
            ) from None
        except (ValueError, LookupError) as error:  # an encoding that expat cannot take from Python
            raise self.stop("malformed-xml", f"the file cannot be decoded: {error}", 0, help="save it as UTF-8") from None
        return self.model

    def declare(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding:
            self.source.encoding = encoding if encoding.lower() not in ("utf-16", "utf16") else "utf-8"

    def refuse_doctype(self, parser: expat.XMLParserType) -> Callable[..., None]:
        def refuse(*_: object) -> None:
            offset = self.source.data.rfind(b"<!DOCTYPE", 0, parser.CurrentByteIndex - self.shift + len(b"<!DOCTYPE"))
            raise self.stop(
                "doctype",
                "the file has a DOCTYPE, which no IR has and which can define entities; OpenVINO reads past it in silence",
                max(offset, 0),
                help="delete the DOCTYPE declaration",
            )

        return refuse

    def handlers(self, parser: expat.XMLParserType | _Origins, text: bytes | bytearray) -> tuple[Callable[[str, list[str]], None], Callable[[str], None]]:
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
                port = self.port(attributes, parser.CurrentByteIndex - shift, layer, fragment, layer is not None and ports is layer.inputs)
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
                if (tag == "input" and layer.inputs is NO_PORTS) or (tag == "output" and layer.outputs is NO_PORTS):
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
                    maps.append(PortMap(tag, dict(zip(attributes[::2], attributes[1::2], strict=True)), parser.CurrentByteIndex - shift))  # type: ignore[arg-type]
                    state = _LEAF
                    return
            elif state == _BACK_EDGES:
                if tag == "edge":
                    found = dict(zip(attributes[::2], attributes[1::2], strict=True))
                    place = parser.CurrentByteIndex - shift
                    target = body if layer is None else next(iter(layer.bodies.values())) if layer.bodies else waiting
                    target.back_edges.append(BackEdge(found.get("from-layer", ""), found.get("to-layer", ""), place))
                    state = _LEAF
                    return
            elif state == _DOCUMENT:
                state = self.root(tag, attributes, parser.CurrentByteIndex - shift)
                return
            # an element that no reader knows here: pass over all that it holds
            if tag == "rt_info" and state in (_LAYER, _NET):
                started = parser.CurrentByteIndex - shift
            elif tag not in _OPAQUE:
                holder = layer if state not in (_NET, _LAYERS, _EDGES) else outer[-1][1] if outer else None
                self.odd_element(tag, _CHILDREN.get(state, ()), parser.CurrentByteIndex - shift, holder)
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
                    inner = bytes(text[text.find(b"<", port.offset + 1) : parser.CurrentByteIndex - shift])
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
                        span = (started, text.find(b">", place) + 1 if text.startswith(b"</", place) else place)  # `<rt_info />` ends where it is
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

    def regular_ports(self, inner: bytes, begun: int, ports: list[Port], layer: Layer) -> None:
        """The ports in the bytes that an <input> or <output> of a layer holds, which begin at `begun`. Raises `_Irregular`."""
        known = self.port_lists.get(inner)
        if known is not None:
            ports += [Port(id, precision, None, begun + place, dims) for id, precision, place, dims in known]
            return
        problems, at = len(self.problems), 0
        while match := _PORT.match(inner, at):
            _, id, early, precision, names, content = match.groups()
            names = early if names is None else names
            if names is not None and b"&#" in names:
                raise _Irregular
            port = Port(
                id.decode(),
                None if precision is None else precision.decode(),
                None if names is None else unescape(names.decode(self.source.encoding, "replace")),
                begun + match.start(1),
            )
            ports.append(port)
            held = content.find(b"<") if content else -1
            if held >= 0:
                if b"<!" in content or b"<port" in content:
                    raise _Irregular
                content = content[held:]
                port.dims = self.dims_of(content, port, layer, False)
            at = match.end()
        if inner[at:].strip():
            raise _Irregular
        if b"names=" not in inner and len(self.problems) == problems:
            self.port_lists[inner] = [(port.id, port.precision, port.offset - begun, port.dims) for port in ports]

    def regular_edges(self, inner: bytes, begun: int) -> list[Edge]:
        """The edges in the bytes that an <edges> holds, which begin at `begun`. Raises `_Irregular`."""
        text = inner.decode("latin-1")  # a character a byte
        edges = [Edge(match[1], match[2], match[3], match[4], begun + match.start()) for match in _EDGE.finditer(text)]
        if len(edges) != inner.count(b"<"):
            raise _Irregular
        return edges

    def odd_element(self, tag: str, known: tuple[str, ...], offset: int, layer: Layer | None) -> None:
        """An element that is passed over: it stands there a second time, is misspelt, or means nothing there."""
        if tag in known:
            message = f"a second <{tag}>: OpenVINO reads the first and passes over this one and all that it holds"
            self.problem(
                "repeated-element", message, offset, layer, expected=f"one <{tag}>", actual=tag, help=f"put what it holds into the first <{tag}>, or remove it"
            )
            return
        from difflib import get_close_matches

        close = get_close_matches(tag.lower(), known, 1, 0.75)
        if close:
            message = f"<{tag}> looks like a misspelling of <{close[0]}>; OpenVINO passes over it and all that it holds"
            self.problem("misspelt-element", message, offset, layer, expected=close[0], actual=tag, help=f"rename it to <{close[0]}>")
        else:
            wanted = ", ".join(f"<{name}>" for name in known) or "no element"
            message = f"<{tag}> has no meaning here; OpenVINO passes over it in silence"
            self.problem("unknown-element", message, offset, layer, expected=wanted, actual=tag, help="remove it, or correct its name")

    def too_deep(self, offset: int) -> NotReadable:
        return self.stop("nesting-limit", f"elements are nested deeper than {MAX_DEPTH}", offset, help="no real IR needs this; check where the file came from")

    def root(self, tag: str, attributes: list[str], offset: int) -> int:
        if self.shift and tag == "layers":
            self.model.kind = "layers"
            return _LAYERS
        if tag != "net":
            raise self.stop(
                "not-an-ir",
                f"the root element is <{tag}>; an IR begins with <net>, a layer on its own with <layer>",
                offset,
                expected="net",
                actual=tag,
                help="give the .xml of a model",
            )
        found = dict(zip(attributes[::2], attributes[1::2], strict=True))
        self.model.name = found.get("name", "")
        text = found.get("version", "")
        version = int(text) if re.fullmatch(r"\s*\+?[0-9]{1,5}", text) else -1  # as OpenVINO reads it
        self.model.version = version
        if version not in READ_VERSIONS:
            raise self.stop(
                "ir-version",
                _version_message(text, version),
                self.source.attribute(offset, "version"),
                expected="10 or 11",
                actual=text or "none",
                help=_version_help(version),
            )
        return _NET

    def layer(self, attributes: list[str], offset: int, body: Body, fragment: bool) -> Layer:
        if len(attributes) == 8 and attributes[0] == "id" and attributes[2] == "name" and attributes[4] == "type" and attributes[6] == "version":
            layer = Layer(attributes[1], attributes[3], attributes[5], attributes[7], offset, body.path)
        else:
            found = dict(zip(attributes[::2], attributes[1::2], strict=True))
            layer = Layer(found.pop("id", ""), found.pop("name", ""), found.pop("type", ""), found.pop("version", ""), offset, body.path)
            if layer.type.lower() == "result" or fragment:
                layer.output_names = found.pop("output_names", None)
            for name in ("type",) if fragment else ("id", "name", "type", "version"):
                if name not in attributes[::2]:
                    self.problem("missing-layer-attribute", f"the layer has no `{name}`", offset, layer, expected=name, help=f'add {name}="…" to this <layer>')
            if not fragment:
                for name in found:
                    self.problem(
                        "unknown-layer-attribute",
                        f"<layer> has no attribute `{name}`; OpenVINO passes over it",
                        self.source.attribute(offset, name),
                        layer,
                        expected="id, name, type, version",
                        actual=name,
                        help="remove it, or correct its name",
                    )
        text = layer.id
        if (
            (not text.isdigit() or text[0] == "0" or len(text) > 18 or not text.isascii())
            and not plain_id(text)
            and (text or (not fragment and "id" in attributes[::2]))
        ):
            self.odd_id("layer", layer.id, offset, layer, None)
        return layer

    def odd_id(self, what: str, text: str, offset: int, layer: Layer | None, port: tuple[str, str] | None) -> None:
        read = lenient_id(text)
        message = f"{what} id '{text}' is not a whole number from 0 to 2^63-1"
        severity: Literal["warning"] | None = None
        if read is not None:
            message, severity = f"{what} id '{text}' is written with a sign or leading zeros; OpenVINO reads it as {read}", "warning"
        elif not text:
            message = f"the {what} has no id"
        place = self.source.attribute(offset, "id")
        hint = f'write id="{read}"' if read is not None else "give it a number of its own; edges name it by that number"
        self.problems.append(Problem("malformed-id", message, place, layer, read or "a whole number", text or None, hint, port, severity))

    def port(self, attributes: list[str], offset: int, layer: Layer | None, fragment: bool, incoming: bool) -> Port:
        port = Port("", None, None, offset)
        for i in range(0, len(attributes), 2):
            name = attributes[i]
            if name == "id":
                port.id = attributes[i + 1]
            elif name == "precision":
                port.precision = attributes[i + 1]
            elif name == "names":
                port.names = attributes[i + 1]
            else:
                message = f"<port> has no attribute `{name}`; OpenVINO passes over it"
                number = next((attributes[j + 1] for j in range(0, len(attributes), 2) if attributes[j] == "id"), "")
                where = ("input" if incoming else "output", number)
                known, hint = "id, precision, names", "remove it, or correct its name"
                self.problems.append(Problem("unknown-port-attribute", message, self.source.attribute(offset, name), layer, known, name, hint, where))
        if port.id in self.port_ids:
            return port
        if plain_id(port.id):
            self.port_ids.add(port.id)
        elif port.id or not fragment:
            self.odd_id("port", port.id, offset, layer, ("input" if incoming else "output", port.id))
        return port

    def dims_of(self, inner: bytes, port: Port, layer: Layer | None, fragment: bool) -> tuple[int, ...] | None:
        """The same as `dims`, which is asked once for bytes that are in order."""
        found = self.shapes.get(inner)
        if found is None:
            problems = len(self.problems)
            found = self.dims(inner, port, layer, fragment)
            if found is not None and len(self.problems) == problems:
                self.shapes[inner] = found
        return found

    def dims(self, inner: bytes, port: Port, layer: Layer | None, fragment: bool) -> tuple[int, ...] | None:
        """The dimensions in what a <port> holds, or None where one of them is malformed."""
        start = self.source.data.find(b"<", port.offset + 1)
        found: list[int] = []
        well, broken = True, 0
        inner = _RT_INFO.sub(lambda info: b" " * len(info[0]), inner)
        if b"<!" in inner or b"<?" in inner:  # comments, processing instructions, and CDATA around a number
            inner = _COMMENT.sub(lambda comment: b" " * len(comment[0]), inner)
            inner = inner.replace(b"<![CDATA[", b" " * 9).replace(b"]]>", b" " * 3)
        for match in _INSIDE_PORT.finditer(inner):
            tag = match["tag"]
            if tag is None:
                continue  # a comment
            place = start + match.start()
            if tag == b"port":
                raise self.stop("not-an-ir", "a <port> stands inside another", place, help="close the first <port> before the second")
            if tag != b"dim":
                name = tag.decode(errors="replace")
                if name not in _OPAQUE and match.start() >= broken:
                    self.odd_element(name, ("dim",), place, layer)
                continue
            text = unescape((match["text"] or b"").decode(self.source.encoding, "replace")).strip()
            size = _size(text, fragment)
            if size is None:
                message = f"dimension '{text[:40]}' is not a whole number from -1 up" if text else "the <dim> holds no number"
                if (leading := _LEADING.match(text)) and _MIN_DIM <= int(leading[0]) <= _MAX_DIM:
                    message += f"; OpenVINO reads it as {int(leading[0])} in silence"
                incoming = layer is not None and any(candidate is port for candidate in layer.inputs)
                where = ("input" if incoming else "output", port.id)
                hint = "write a whole number, or -1 where the size is not known"
                self.problems.append(Problem("malformed-dim", message, place, layer, "a size, or -1 for a dynamic dimension", text[:40], hint, where))
                well, broken = False, inner.find(b"</dim", match.start())
            else:
                found.append(size)
        return tuple(found) if well else None

    def edge(self, attributes: list[str], offset: int, body: Body) -> Edge:
        if attributes[::2] == _EDGE_ATTRIBUTES and "" not in attributes:
            return Edge(attributes[1], attributes[3], attributes[5], attributes[7], offset)
        found = dict(zip(attributes[::2], attributes[1::2], strict=True))
        for name in _EDGE_ATTRIBUTES:
            if not found.get(name):
                ends = (found.get("to-layer"), found.get("from-layer"))
                layer = next((layer for number in ends for layer in body.layers if layer.id == number), None)
                self.problem("malformed-edge", f"the edge has no `{name}`", offset, layer, expected=name, help=f'add {name}="…"')
        for name in found:
            if name not in _EDGE_ATTRIBUTES:
                message = f"<edge> has no attribute `{name}`; OpenVINO passes over it"
                known, hint = ", ".join(_EDGE_ATTRIBUTES), "remove it, or correct its name"
                self.problem("unknown-edge-attribute", message, self.source.attribute(offset, name), expected=known, actual=name, help=hint)
        return Edge(found.get("from-layer", ""), found.get("from-port", ""), found.get("to-layer", ""), found.get("to-port", ""), offset)


_BEGINNINGS = (b"<input>", b"<output>", b"<edges>")
_PORT = re.compile(
    rb"""
    \s*(<port)[ ]id="(0|[1-9][0-9]{0,17})"
    (?:[ ]names="([^"<\t\r\n]*)")?  # here in files of 2022 and before
    (?:[ ]precision="(\w+)")?
    (?:[ ]names="([^"<\t\r\n]*)")?
    [ ]?(?:/>|>(.*?)</port>)
    """,
    re.DOTALL | re.VERBOSE,
)
_EDGE = re.compile(r'<edge from-layer="([0-9]+)" from-port="([0-9]+)" to-layer="([0-9]+)" to-port="([0-9]+)" ?/>')
"""A port and an edge as writers put them."""
_RT_INFO = re.compile(rb"<rt_info\b[^>]*>.*?</rt_info\s*>", re.DOTALL)
_COMMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_LEADING = re.compile(r"[+-]?[0-9]{1,19}")
_INSIDE_PORT = re.compile(rb"<!--.*?-->|<(?P<tag>[^\s/>!]+)[^>]*?(?:/>|>(?P<text>[^<]*)(?:</dim\s*>)?)", re.DOTALL)
"""A comment, or an element with its text. Only a <dim> is taken with its end; the end of another element begins with `</`, which no tag name does."""


def _size(text: str, fragment: bool) -> int | None:
    if fragment and text in ("?", "..."):
        return -1
    number = int(text) if _WHOLE.fullmatch(text) else _MIN_DIM - 1
    return number if _MIN_DIM <= number <= _MAX_DIM else None


_WHOLE = re.compile(r"[+-]?[0-9]{1,100}")
_LENIENT = re.compile(r"\+?0*([0-9]{1,19})")


def plain_id(text: str) -> bool:
    """Whether a text is an id as it is usually written."""
    return text.isdigit() and text.isascii() and (text[0] != "0" or len(text) == 1) and (len(text) < 19 or (len(text) == 19 and int(text) <= _MAX_DIM))


def lenient_id(text: str) -> str | None:
    """The id that OpenVINO reads in a text with a sign or leading zeros; None where it refuses it."""
    match = _LENIENT.fullmatch(text)
    return match[1] if match and int(match[1]) <= _MAX_DIM else None


_EDGE_ATTRIBUTES = ["from-layer", "from-port", "to-layer", "to-port"]


def _version_message(text: str, version: int) -> str:
    if 2 <= version <= 7:
        return f"IR version {version}, written before 2020; OpenVINO reads versions 10 and 11"
    if version > max(READ_VERSIONS):
        return f"IR version {version} is newer than any that this irshape knows (10 and 11)"
    if version in (8, 9):
        return f"IR version {version} was never released; OpenVINO reads versions 10 and 11"
    return f"<net> has version '{text}'; OpenVINO reads versions 10 and 11" if text else "<net> has no version; OpenVINO reads versions 10 and 11"


def _version_help(version: int) -> str:
    if 2 <= version <= 7:
        return "convert the original model again with a current OpenVINO; its reader refuses this version too"
    return 'a version="10" or version="11" is expected; update irshape if OpenVINO has a newer one'
