"""Evaluates XPath expressions over documents: `python -m irshape.xpath.worker`.

This is the only module that imports lxml. In a separate process, an expression that takes too long
can be stopped, and one that needs too much memory does no harm.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from lxml import etree

from .frames import receive, send

MAX_MATCHES = 100_000
"""The maximum number of matches that are sent back for one expression and one document."""
MAX_TEXT = 1_000
"""How many characters of a matched text are sent back."""

_NAMESPACES = {"re": "http://exslt.org/regular-expressions"}
_BODIES = ("body", "then_body", "else_body")

Element = etree._Element
Ports = dict[str, list[list[str]]]
"""For each layer, by its path and id, its output ports: id, element type and shape."""


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers requests until the input ends."""
    document = ParsedDocument(b"<net/>", {})
    while (request := receive(requests)) is not None:
        try:
            if "document" in request:
                document = ParsedDocument(
                    requests.read(request["document"]), request["ports"], request["encoding"]
                )
                answer: dict[str, Any] = {}
            elif "check" in request:
                document.compiled(request["check"])
                answer = {}
            else:
                answer = document.evaluate(request["xpath"])
        except MemoryError:
            answer = {"problem": "it needs more memory than irshape allows"}
        except re.error as problem:
            pattern = problem.pattern
            text = pattern.decode() if isinstance(pattern, bytes) else pattern
            answer = {"problem": f"'{text}' is not a regular expression: {problem.msg}"}
        except (etree.LxmlError, ValueError, TypeError, RecursionError) as problem:
            answer = {"problem": str(problem) or type(problem).__name__}
        send(answers, answer)


class Connections(NamedTuple):
    """The edges of a net or body, to be found by consumer or by producer."""

    layers: dict[str | None, Element]
    """The layers by id."""
    into: dict[tuple[str | None, str | None], Element]
    """Maps an input port (the id of its layer and its own id) to the edge that feeds it."""
    out_of: dict[str | None, list[Element]]
    """The edges from each layer, by its id."""


class ParsedDocument:
    """A parsed document, with the functions that expressions can call, such as `shape`. ports: the
    inferred outputs of the layers, which only `shape` and `element-type` need."""

    def __init__(self, data: bytes, ports: Ports, encoding: str | None = None) -> None:
        parser = etree.XMLParser(
            encoding=encoding,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
        )
        self.root = etree.fromstring(data, parser)
        self.ports = ports
        self._connections: dict[Element, Connections] = {}

    def compiled(self, xpath: str) -> etree.XPath:
        """Returns a compiled expression. Raises `LxmlError` for a malformed one."""
        functions: dict[tuple[None, str], Callable[..., Any]] = {
            (None, "producer"): lambda _, nodes: list(self.producers(nodes)),
            (None, "consumers"): lambda _, nodes: list(self.consumers(nodes)),
            (None, "shape"): lambda _, nodes: self.inferred(nodes, 2),
            (None, "element-type"): lambda _, nodes: self.inferred(nodes, 1),
        }
        return etree.XPath(xpath, namespaces=_NAMESPACES, extensions=functions, smart_strings=True)

    def evaluate(self, xpath: str) -> dict[str, Any]:
        """Returns the matches of an expression, or its value if it gives a number, text or truth
        value. A match is a list: the number of its element in the document, the number of the
        `<layer>` around it, the name of the matched attribute, and the matched text."""
        result = self.compiled(xpath)(self.root)
        if not isinstance(result, list):
            return {"value": result if not isinstance(result, str) else str(result)[:MAX_TEXT]}
        matches = [match for match in map(_match, result[:MAX_MATCHES]) if match is not None]
        wanted = {id(node) for element, layer, _, _ in matches for node in (element, layer)}
        numbers = {
            id(element): number
            for number, element in enumerate(self.root.iter("*"))
            if id(element) in wanted
        }
        return {
            "matches": [
                [numbers[id(element)], None if layer is None else numbers[id(layer)], name, text]
                for element, layer, name, text in matches
            ],
        }

    def inferred(self, nodes: Any, column: int) -> str:
        """Returns the inferred element type or shape of the first port or layer in `nodes`."""
        for node in _elements(nodes):
            layer = around(node, "layer")
            if layer is None:
                continue
            end = node.getparent()
            if node.tag == "port" and end is not None and end.tag == "input":
                feeding = self.producer(layer, node.get("id"))
                if feeding is None:
                    continue
                return self._port(*feeding, column)
            return self._port(layer, node.get("id") if node.tag == "port" else None, column)
        return ""

    def _port(self, layer: Element, port: str | None, column: int) -> str:
        """Returns the inferred tensor of an output port; of the first port if `port` is None."""
        rows = self.ports.get(key(layer), [])
        return next((row[column] for row in rows if port is None or row[0] == port), "")

    def connections(self, layer: Element) -> Connections:
        """Returns the edges of the net or body that contains a layer."""
        layers = layer.getparent()
        graph = None if layers is None else layers.getparent()
        if graph is None:
            return Connections({}, {}, {})
        known = self._connections.get(graph)
        if known is None:
            known = self._connections[graph] = Connections({}, {}, {})
            for each in graph.iterfind("layers/layer"):
                known.layers.setdefault(each.get("id"), each)
            for edge in graph.iterfind("edges/edge"):
                known.into.setdefault((edge.get("to-layer"), edge.get("to-port")), edge)
                known.out_of.setdefault(edge.get("from-layer"), []).append(edge)
        return known

    def producer(self, layer: Element, port: str | None) -> tuple[Element, str] | None:
        """Returns the source of an input port: the layer, and the id of its output port."""
        known = self.connections(layer)
        edge = known.into.get((layer.get("id"), port))
        source = None if edge is None else known.layers.get(edge.get("from-layer"))
        return None if edge is None or source is None else (source, edge.get("from-port", ""))

    def producers(self, nodes: Any) -> Iterator[Element]:
        """Implements `producer(NODES)`: for an input port, the layer that feeds it; for a layer,
        the layers that feed any of its inputs."""
        for node in _elements(nodes):
            layer = around(node, "layer")
            if layer is None:
                continue
            for port in [node] if node.tag == "port" else layer.iterfind("input/port"):
                feeding = self.producer(layer, port.get("id"))
                if feeding is not None:
                    yield feeding[0]

    def consumers(self, nodes: Any) -> Iterator[Element]:
        """Implements `consumers(NODES)`: for an output port, the layers that it feeds; for a layer,
        the layers that any of its outputs feeds."""
        for node in _elements(nodes):
            layer = around(node, "layer")
            if layer is None:
                continue
            known = self.connections(layer)
            for edge in known.out_of.get(layer.get("id"), ()):
                consumer = known.layers.get(edge.get("to-layer"))
                leaves = node.tag != "port" or edge.get("from-port") == node.get("id")
                if consumer is not None and leaves:
                    yield consumer


def _match(result: Any) -> tuple[Element, Element | None, str | None, str | None] | None:
    if isinstance(result, etree._Element):
        return (
            (result, around(result, "layer"), None, None) if isinstance(result.tag, str) else None
        )
    element = result.getparent()
    if element is None:
        return None
    return element, around(element, "layer"), result.attrname, str(result)[:MAX_TEXT]


def _elements(nodes: Any) -> Iterator[Element]:
    """Yields the elements in a function's argument. For an attribute or text, yields its parent."""
    for node in nodes if isinstance(nodes, list) else ():
        element = node if isinstance(node, etree._Element) else node.getparent()
        if element is not None:
            yield element


def around(element: Element, *tags: str) -> Element | None:
    """Returns an element with one of these tags: `element` itself, or else the nearest element
    around it."""
    if element.tag in tags:
        return element
    return next(element.iterancestors(*tags), None)


def key(layer: Element) -> str:
    """Returns the path and the id of a layer, such as `12/body/3`."""
    parts = [layer.get("id", "")]
    body = around(layer, *_BODIES)
    while body is not None:
        owner = body.getparent()
        parts += [str(body.tag), "" if owner is None else owner.get("id", "")]
        body = None if owner is None else around(owner, *_BODIES)
    return "/".join(reversed(parts))


def limit_memory(limit: int) -> None:
    """Limits the address space to a number of bytes, on systems that support it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    limit_memory(int(sys.argv[1]))
    serve(sys.stdin.buffer, sys.stdout.buffer)
