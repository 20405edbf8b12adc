"""Reads an IR as a stream of XML events, without building a tree, and records byte offsets.

The parser is expat: its byte positions are exact, and it needs little memory. libxml2's line
numbers are wrong past 65,535. A file with a DOCTYPE, which can define entities, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING
from xml.parsers import expat

from ...garbage_collection import collection_paused
from ...model.graph import NO_PORTS, BackEdge, Body, Layer, Model, NotReadable, PortMap
from ...model.ports import Port
from ...model.source import Source
from ...releases import HEADER_BYTES, IR_VERSIONS
from ...rule_ids import (
    DOCTYPE,
    IR_VERSION,
    MALFORMED_XML,
    NESTING_LIMIT,
    NOT_AN_IR,
    PREPROCESSING,
    STRAY_TEXT,
)
from .elements import Elements
from .grammar import BODY_TAGS, CHILDREN, OPAQUE, PORT_MAP_TAGS
from .regular import read_edges, read_layers
from .stray_text import texts_between

if TYPE_CHECKING:
    from .printed_layers import Repaired

MAX_BODIES = 83
"""The maximum number of bodies inside each other. Each takes three levels of elements."""

MOST_TEXTS = 3
"""If more texts than this are between elements, only the first one is reported."""
_ASCII_IN_ONE_BYTE = ("utf-8", "utf-8-sig")
_TURNS = re.compile(rb"</layer>|<layers>|<edges>")
"""Matches a tag that layers or edges in the usual layout may follow."""


def read(source: Source, *, prefix: bytes = b"", repaired: Repaired | None = None) -> Model:
    """Reads a model from the bytes of `source` or, for single layers, of `repaired`.

    prefix: a start tag to parse before the file, as the root element of single layers. Offsets are
    those in the file. Raises `NotReadable`.
    """
    with collection_paused():
        return _Reader(source, len(prefix), repaired).read(prefix)


class _Reader(Elements):
    """Handles XML events, and builds the model.

    Reads layers and edges in the usual layout with `regular`, all other text with the XML parser.
    Inside an ignored element, handlers that only count the depth replace the others.
    """

    def __init__(self, source: Source, shift: int, repaired: Repaired | None) -> None:
        super().__init__(source)
        self.shift = shift
        """The position of the parser, minus the offset in the file.

        This is the size of `prefix` minus the number of bytes that `regular` read.
        """
        self.repaired = repaired
        self.fragment = repaired is not None
        self.text: bytes | bytearray = source.data if repaired is None else repaired.plain
        self.encoding = "utf-8" if source.encoding == "utf-8-sig" else None
        """The encoding for the parser; None for the encoding that the file declares."""
        self.parser = expat.ParserCreate(self.encoding)

        self.state = ""
        """The element that is being read: `net` also means a body, `input` also an `<output>`."""
        self.stack: list[str] = []
        """The values of `state` for the enclosing elements, outermost first."""
        self.body = self.model.net
        self.current: Layer | None = None
        self.ports: list[Port] = []
        self.sizes: list[int | None] = []
        """The dimensions of the current port so far; None in place of a malformed dimension."""
        self.dim = 0
        """The offset of the last <dim>."""
        self.texts: list[str] = []
        """The text of the current `<dim>`, in pieces."""
        self.shapes: dict[tuple[int, ...], tuple[int, ...]] = {}
        """The dimensions of ports. Equal tuples are stored once, to save memory."""
        self.maps: list[PortMap] = []
        self.outer: list[tuple[Body, Layer, list[Port], list[PortMap]]] = []
        """For each layer around the current body: the state of the reader before that body."""
        self.early = Body()
        """Holds back edges until their body begins: OpenVINO writes them before the body."""
        self.passed_over, self.passed_start = 0, 0
        """In an ignored element: the current depth in it, and the offset of the element."""
        self.seen: set[tuple[Body, str]] = set()
        self.items: dict[tuple[str, ...], tuple[str, ...]] = {}
        """The attributes of `<data>`. Equal tuples are stored once, to save memory."""

        self._enter: dict[str, Callable[[str, dict[str, str], int], str | None]] = {
            "": self.root,
            "net": self.enter_net,
            "layers": self.enter_layers,
            "layer": self.enter_layer,
            "edges": self.enter_edges,
            "port_map": self.enter_port_map,
            "back_edges": self.enter_back_edges,
            "input": self.enter_ports,
            "port": self.enter_port,
        }
        self._start, self._end = self.start, self.end

    def read(self, prefix: bytes) -> Model:
        repaired, parser = self.repaired, self.parser
        text = self.source.data if repaired is None else repaired.edited.data
        self.resume()
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        parser.XmlDeclHandler = self.declare
        try:
            if prefix:
                parser.Parse(prefix, False)
                parser.Parse(text, False)
                parser.Parse(b"</layers>", True)
            elif repaired is not None:
                parser.Parse(text, True)
            else:
                self.parse(text)
        except expat.ExpatError as error:
            offset = min(max(parser.ErrorByteIndex - self.shift, 0), len(text))
            offset = offset if repaired is None else repaired.edited.origin(offset)
            reason = expat.ErrorString(error.code)
            from .malformed import ADVICE, malformation

            known = None
            if repaired is None:
                known = malformation(
                    self.source.data,
                    offset,
                    self.encoding,
                    mismatched=reason == expat.errors.XML_ERROR_TAG_MISMATCH,
                    ended=reason == expat.errors.XML_ERROR_NO_ELEMENTS,
                )
            what, place, hint = known or (
                *(reason, offset),
                ADVICE.get(reason, "repair the XML at this place; nothing past it was read"),
            )
            message = f"the file is not well-formed XML: {what}"
            raise self.stop(MALFORMED_XML, message, place, help=hint) from None
        except (ValueError, LookupError) as error:  # an encoding that expat cannot take from Python
            raise self.stop(
                MALFORMED_XML, f"the file cannot be decoded: {error}", 0, help="save it as UTF-8"
            ) from None
        finally:
            self.release()
        return self.model

    def parse(self, data: bytes) -> None:
        """Parses a file. `regular` reads layers and edges in the usual layout, the parser all
        others."""
        text = str(data, "latin-1")
        begin = at = 0
        parsed: list[tuple[int, int]] = []
        while turn := _TURNS.search(data, at):
            piece = data[at : turn.end()]
            at = turn.end()
            self.parser.Parse(piece, False)
            if _ends_inside(piece) or self.source.encoding.lower() not in _ASCII_IN_ONE_BYTE:
                break
            if self.state not in ("layers", "edges") or self.passed_over:
                continue
            if self.state == "layers":
                end = read_layers(text, at, self.body)
            else:
                end = read_edges(data, at, self.body)
            self.shift -= end - at
            parsed.append((begin, at))
            begin = at = end
        self.parser.Parse(data[at:], True)
        self.report_texts(texts_between(data, [*parsed, (begin, len(data))]))

    def report_texts(self, spans: list[tuple[int, int]]) -> None:
        """Reports texts between elements; if there are more than `MOST_TEXTS`, only the first."""
        for start, end in spans[:1] if len(spans) > MOST_TEXTS else spans:
            line = self.source.data[start:end].decode("utf-8", "replace").split("\n")[0].strip()
            message = f"the text `{line[:40]}` stands between elements; OpenVINO ignores it"
            if len(spans) > MOST_TEXTS:
                message += f"; {len(spans) - 1} more such texts follow"
            self.report(
                STRAY_TEXT,
                message,
                start,
                expected="elements only",
                actual=line[:40],
                help="remove it",
            )

    def release(self) -> None:
        """Breaks the reference cycle of the reader, the parser and its handlers."""
        parser = self.parser
        parser.StartElementHandler = parser.EndElementHandler = None
        parser.StartDoctypeDeclHandler = parser.XmlDeclHandler = None
        parser.CharacterDataHandler = None
        self._enter = {}
        del self._start, self._end

    def declare(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding and _is_known(encoding):
            self.source.encoding = (
                encoding if encoding.lower() not in ("utf-16", "utf16") else "utf-8"
            )

    def refuse_doctype(self, *_: object) -> None:
        offset = self.source.data.rfind(
            b"<!DOCTYPE", 0, self.parser.CurrentByteIndex - self.shift + len(b"<!DOCTYPE")
        )
        raise self.stop(
            DOCTYPE,
            "the file has a DOCTYPE, which no IR has and which can define entities; "
            "OpenVINO silently ignores it",
            max(offset, 0),
            help="delete the DOCTYPE declaration",
        )

    # any element

    @property
    def place(self) -> int:
        """The offset of the current XML event in the file."""
        at = self.parser.CurrentByteIndex - self.shift
        return at if self.repaired is None else self.repaired.edited.origin(at)

    def resume(self) -> None:
        """Sets the handlers for elements that are not ignored."""
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        state = self.state
        enter = self._enter.get(state)
        entered = enter(tag, attributes, self.place) if enter else None
        if entered is None:
            self.pass_over(tag, self.place)
        else:
            self.stack.append(state)
            self.state = entered

    def end(self, tag: str) -> None:
        state = self.state
        if state == "dim":
            self.end_dim()
        elif state == "port":
            self.end_port()
        elif state == "layer":
            self.current = None
        elif state == "net" and self.outer:
            self.body, self.current, self.ports, self.maps = self.outer.pop()
        self.state = self.stack.pop()

    # elements that are passed over

    def pass_over(self, tag: str, place: int) -> None:
        """Skips an element with its content. Reports it unless it is in `OPAQUE`."""
        state = self.state
        self.passed_over, self.passed_start = 1, place
        self.parser.CharacterDataHandler = None
        self.parser.StartElementHandler = self.start_inside_passed
        self.parser.EndElementHandler = self.end_inside_passed
        if tag in OPAQUE:
            return
        holder = self.current
        if state in ("net", "layers", "edges"):
            holder = self.outer[-1][1] if self.outer else None
        self.odd_element(tag, CHILDREN.get(state, ()), place, holder)

    def start_inside_passed(self, tag: str, attributes: dict[str, str]) -> None:
        self.passed_over += 1

    def end_inside_passed(self, tag: str) -> None:
        self.passed_over -= 1
        if self.passed_over:
            return
        self.resume()
        if tag == "pre-process" and self.state == "net" and not self.outer:
            end = self.place
            self.preprocessing(self.passed_start, b"<mean" in self.text[self.passed_start : end])
        if tag == "rt_info":
            place, text = self.place, self.text
            # `<rt_info />` ends where it is
            end = text.find(b">", place) + 1 if text.startswith(b"</rt_info", place) else place
            if self.state == "layer" and self.current is not None:
                self.current.rt_info_span = (self.passed_start, end)
            elif self.state == "net" and not self.outer:
                self.model.rt_info_span = (self.passed_start, end)

    def preprocessing(self, offset: int, has_means: bool) -> None:
        """Reports the first <pre-process> that contains mean values."""
        if not has_means or self.model.subtracts_means:
            return
        self.model.subtracts_means = True
        self.report(
            PREPROCESSING,
            "OpenVINO subtracts the means in <pre-process> from an input of the model; irshape "
            "neither checks them nor computes values of this model",
            offset,
            expected="a Subtract after the input",
            actual="pre-process",
            help="let OpenVINO read the model and save it: it writes the Subtract as a layer",
        )

    # ports and edges

    def enter_ports(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag != "port":
            return None
        layer, ports = self.current, self.ports
        incoming = layer is not None and ports is layer.inputs
        ports.append(self.port(attributes, place, layer, self.fragment, incoming))
        self.sizes = []
        return "port"

    def enter_port(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag == "port":
            raise self.stop(
                NOT_AN_IR,
                "a <port> is nested inside another <port>",
                place,
                help="close the first <port> before the second",
            )
        if tag != "dim":
            return None
        self.dim, self.texts = place, []
        self.parser.CharacterDataHandler = self.texts.append
        return "dim"

    def end_dim(self) -> None:
        self.parser.CharacterDataHandler = None
        text = "".join(self.texts)
        self.sizes.append(self.size(text, self.dim, self.ports[-1], self.current, self.fragment))

    def end_port(self) -> None:
        sizes = tuple([size for size in self.sizes if size is not None])
        whole = len(sizes) == len(self.sizes)
        self.ports[-1].dims = self.shapes.setdefault(sizes, sizes) if whole else None

    # what each element may contain: the state of the child, or None for an unknown one

    def enter_net(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag in ("layers", "edges") and (self.body, tag) not in self.seen:
            self.seen.add((self.body, tag))
            return "layers" if tag == "layers" else "edges"
        if tag == "back_edges" and self.outer:  # some writers put it inside the body
            return "back_edges"
        return None

    def enter_layers(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag != "layer":
            return None
        self.current = self.layer(attributes, place, self.body, self.fragment)
        self.body.layers.append(self.current)
        if self.early.back_edges:  # the layer that had them has no body
            self.early.back_edges = []
        return "layer"

    def enter_layer(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        layer = self.current
        assert layer is not None
        if tag == "data" and layer.data_offset < 0:
            layer.data_offset = place
            items = tuple(chain.from_iterable(attributes.items()))
            layer.items = self.items.setdefault(items, items) if layer.type != "Const" else items
            return "data"
        if tag == "input" and layer.inputs is NO_PORTS:
            self.ports = layer.inputs = []
            return "input"
        if tag == "output" and layer.outputs is NO_PORTS:
            self.ports = layer.outputs = []
            return "input"
        if tag in BODY_TAGS and tag not in (layer.bodies or ()):
            self.begin_body(tag, place, layer)
            return "net"
        if tag in PORT_MAP_TAGS and tag not in (layer.port_maps or ()):
            if layer.port_maps is None:
                layer.port_maps = {}
            self.maps = layer.port_maps[tag] = []
            return "port_map"
        return "back_edges" if tag == "back_edges" else None

    def begin_body(self, tag: str, place: int, layer: Layer) -> None:
        if len(self.outer) >= MAX_BODIES:
            raise self.too_deep(place)
        self.outer.append((self.body, layer, self.ports, self.maps))
        if layer.bodies is None:
            layer.bodies = {}
        self.body = layer.bodies[tag] = Body((*layer.path, layer.id, tag), place)
        self.body.back_edges, self.early.back_edges = self.early.back_edges, []

    def enter_edges(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag != "edge":
            return None
        self.body.edges.append(self.edge(attributes, place, self.body))
        return "edge"

    def enter_port_map(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag == "input" or tag == "output":
            self.maps.append(PortMap(tag, attributes, place))  # type: ignore[arg-type]
            return "edge"
        return None

    def enter_back_edges(self, tag: str, attributes: dict[str, str], place: int) -> str | None:
        if tag != "edge":
            return None
        target = self.body
        if self.current is not None:
            bodies = self.current.bodies
            target = next(iter(bodies.values())) if bodies else self.early
        target.back_edges.append(
            BackEdge(attributes.get("from-layer", ""), attributes.get("to-layer", ""), place)
        )
        return "edge"

    def too_deep(self, offset: int) -> NotReadable:
        return self.stop(
            NESTING_LIMIT,
            f"bodies are nested more than {MAX_BODIES} deep",
            offset,
            help="no real IR is nested so deeply; check where the file came from",
        )

    def root(self, tag: str, attributes: dict[str, str], offset: int) -> str:
        if self.shift and tag == "layers":
            self.model.kind = "layers"
            return "layers"
        if tag != "net":
            raise self.stop(
                NOT_AN_IR,
                f"the root element is <{tag}>; an IR begins with <net>, "
                "a single layer with <layer>",
                offset,
                expected="net",
                actual=tag,
                help="give the .xml of a model",
            )
        self.model.name = attributes.get("name", "")
        text = attributes.get("version", "")
        as_openvino_reads_it = re.fullmatch(r"\s*\+?[0-9]{1,5}", text, re.ASCII)
        version = int(text) if as_openvino_reads_it else -1
        self.model.version = version
        if version not in IR_VERSIONS:
            message, hint = _refused_version(text, version)
            raise self.stop(
                IR_VERSION,
                message,
                self.source.attribute(offset, "version"),
                expected=_versions("or"),
                actual=text or "none",
                help=hint,
            )
        self.check_header(offset)
        return "net"

    def check_header(self, net: int) -> None:
        """Reports a `version` that begins within the first `HEADER_BYTES` of the file and ends
        after them. OpenVINO looks for the version only in these bytes, and finds a part of it."""
        if net > HEADER_BYTES or self.source.raw is not None:
            return
        for name, start, _, end in self.source.attributes(net):
            if name == "version" and start + len(name) <= HEADER_BYTES < end:
                self.report(
                    IR_VERSION,
                    f"the version of <net> crosses byte {HEADER_BYTES} of the file; OpenVINO looks "
                    "for it only before this byte, and refuses the part that it finds",
                    start,
                    expected=f"a version that ends before byte {HEADER_BYTES}, or begins after it",
                    actual=f"a version that ends at byte {end}",
                    help="put `version` before the other attributes of <net>",
                )


def _is_known(encoding: str) -> bool:
    """Whether Python has a text encoding with this name."""
    try:
        "<".encode(encoding)
    except (LookupError, ValueError):
        return False
    return True


def _ends_inside(piece: bytes) -> bool:
    """Whether a text ends inside a comment, CDATA section or processing instruction."""
    return (b"<!" in piece or b"<?" in piece) and any(
        piece.rfind(closing) < piece.rfind(opening) + len(opening)
        for opening, closing in ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))
        if opening in piece
    )


def _versions(word: str) -> str:
    *others, last = map(str, IR_VERSIONS)
    return f"{', '.join(others)} {word} {last}"


def _refused_version(text: str, version: int) -> tuple[str, str]:
    """Returns a message and advice about an IR version that OpenVINO does not read."""
    reads, newest = f"OpenVINO reads versions {_versions('and')}", max(IR_VERSIONS)
    if 2 <= version <= 7:
        message = f"IR version {version} dates from before 2020; {reads}"
        return message, "convert the original model again with a current OpenVINO"
    if version > newest:
        message = f"IR version {version}: this release of irshape knows versions up to {newest}"
        return message, "upgrade irshape"
    expected = " or ".join(f'version="{known}"' for known in IR_VERSIONS)
    if version in (8, 9):
        message = f"IR version {version} was never released; {reads}"
    else:
        written = f"version '{text}'" if text else "no version"
        message = f"<net> has {written}; {reads}"
    return message, f"a {expected} is expected"
