"""Reads single elements of an IR: the attributes of layers, ports and edges, and dimensions.

Reports faulty elements as findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Unpack

from ...faults import Fault, Stated
from ...model.graph import Body, Edge, Finding, Layer, Model
from ...model.ids import lenient_id, plain_id
from ...model.ports import Port
from ...model.source import Source
from ...rule_ids import (
    MALFORMED_DIM,
    MALFORMED_EDGE,
    MALFORMED_ID,
    MISSING_LAYER_ATTRIBUTE,
    MISSPELT_ELEMENT,
    REPEATED_ELEMENT,
    UNKNOWN_EDGE_ATTRIBUTE,
    UNKNOWN_ELEMENT,
    UNKNOWN_LAYER_ATTRIBUTE,
    UNKNOWN_PORT_ATTRIBUTE,
    RuleId,
)
from ...spelling import enumerated
from ..inputs import unreadable
from . import FORMAT
from .grammar import ATTRIBUTES

_MIN_DIM, _MAX_DIM = -1, 2**63 - 1
_BLANKS = " \t\r\n"


class Elements:
    """Creates the layers, ports and edges of a model, and collects the findings about them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.model = Model(source, format=FORMAT)
        self.findings = self.model.findings
        self.stop = partial(unreadable, source, begun=self.model)
        """Returns the error for a file that cannot be read past an offset; see `unreadable`."""

    def report(
        self,
        rule: RuleId,
        message: str,
        offset: int,
        layer: Layer | None = None,
        *,
        port: tuple[str, str] | None = None,
        **facts: Unpack[Stated],
    ) -> None:
        self.findings.append(Finding(Fault(rule, message, **facts), offset, layer, port))

    def unknown_attributes(
        self,
        rule: RuleId,
        element: str,
        names: Iterable[str],
        offset: int,
        layer: Layer | None = None,
        port: tuple[str, str] | None = None,
    ) -> None:
        """Reports unknown attributes of an element."""
        known = ATTRIBUTES[element]
        for name in names:
            if name not in known:
                self.report(
                    rule,
                    f"<{element}> has no attribute `{name}`; OpenVINO ignores it",
                    self.source.attribute(offset, name),
                    layer,
                    expected=", ".join(known),
                    actual=name,
                    help="remove it, or correct its name",
                    port=port,
                )

    def layer(self, attributes: dict[str, str], offset: int, body: Body, fragment: bool) -> Layer:
        named = dict(attributes)
        layer = Layer(
            named.pop("id", ""),
            named.pop("name", ""),
            named.pop("type", ""),
            named.pop("version", ""),
            offset,
            body.path,
        )
        if layer.type.lower() == "result" or fragment:
            layer.output_names = named.pop("output_names", None)
        for name in ("type",) if fragment else ATTRIBUTES["layer"]:
            if name not in attributes:
                self.report(
                    MISSING_LAYER_ATTRIBUTE,
                    f"the layer has no `{name}`",
                    offset,
                    layer,
                    expected=name,
                    help=f'add {name}="…" to this <layer>',
                )
        if not fragment:
            self.unknown_attributes(UNKNOWN_LAYER_ATTRIBUTE, "layer", named, offset, layer)
        if not plain_id(layer.id) and (layer.id or (not fragment and "id" in attributes)):
            self.odd_id("layer", layer.id, offset, layer, None)
        return layer

    def odd_id(
        self, what: str, text: str, offset: int, layer: Layer | None, port: tuple[str, str] | None
    ) -> None:
        read = lenient_id(text)
        message = f"{what} id '{text}' is not a whole number from 0 to 2^63-1"
        if read is not None:
            message = (
                f"{what} id '{text}' is written with a sign or leading zeros; OpenVINO "
                f"reads it as {read}"
            )
        elif not text:
            message = f"the {what} has no id"
        self.report(
            MALFORMED_ID,
            message,
            self.source.attribute(offset, "id"),
            layer,
            expected=read or "a whole number",
            actual=text or None,
            help="give it a unique number, by which edges refer to it"
            if read is None
            else f'write id="{read}"',
            port=port,
            severity=None if read is None else "warning",
        )

    def port(
        self,
        named: dict[str, str],
        offset: int,
        layer: Layer | None,
        fragment: bool,
        incoming: bool,
    ) -> Port:
        port = Port(named.get("id", ""), named.get("precision"), named.get("names"), offset)
        where = ("input" if incoming else "output", port.id)
        self.unknown_attributes(UNKNOWN_PORT_ATTRIBUTE, "port", named, offset, layer, where)
        if not plain_id(port.id) and (port.id or not fragment):
            self.odd_id("port", port.id, offset, layer, where)
        return port

    def size(
        self, text: str, place: int, port: Port, layer: Layer | None, fragment: bool
    ) -> int | None:
        """Returns the size in the text of a `<dim>`; reports a malformed text and returns None."""
        text = text.strip(_BLANKS)  # any other white space is part of the number
        if fragment and text in ("?", "...", "…"):
            return -1
        number = int(text) if _WHOLE.fullmatch(text) else _MIN_DIM - 1
        if _MIN_DIM <= number <= _MAX_DIM:
            return number
        self.malformed_dim(text, place, port, layer)
        return None

    def malformed_dim(self, text: str, place: int, port: Port, layer: Layer | None) -> None:
        message = (
            f"dimension {text[:40]!r} is not a whole number of at least -1"
            if text
            else "the <dim> contains no number"
        )
        if (leading := _LEADING.match(text)) and _MIN_DIM <= int(leading[0]) <= _MAX_DIM:
            message += f"; OpenVINO silently reads it as {int(leading[0])}"
        incoming = layer is not None and any(candidate is port for candidate in layer.inputs)
        self.report(
            MALFORMED_DIM,
            message,
            place,
            layer,
            expected="a size, or -1 for a dynamic dimension",
            actual=text[:40],
            help="write a whole number, or -1 for an unknown size",
            port=("input" if incoming else "output", port.id),
        )

    def edge(self, named: dict[str, str], offset: int, body: Body) -> Edge:
        lost = [name for name in ATTRIBUTES["edge"] if not named.get(name)]
        if lost:
            ends = (named.get("to-layer"), named.get("from-layer"))
            layer = next(
                (layer for number in ends for layer in body.layers if layer.id == number), None
            )
            self.report(
                MALFORMED_EDGE,
                f"the edge has no {enumerated(f'`{name}`' for name in lost)}",
                offset,
                layer,
                expected=", ".join(lost),
                help="add " + " ".join(f'{name}="…"' for name in lost),
            )
        self.unknown_attributes(UNKNOWN_EDGE_ATTRIBUTE, "edge", named, offset)
        return Edge(
            named.get("from-layer", ""),
            named.get("from-port", ""),
            named.get("to-layer", ""),
            named.get("to-port", ""),
            offset,
        )

    def odd_element(
        self, tag: str, known: tuple[str, ...], offset: int, layer: Layer | None
    ) -> None:
        """Reports an element that OpenVINO ignores because it is repeated, misspelt or unknown."""
        from difflib import get_close_matches

        close = get_close_matches(tag.lower().rpartition(":")[2], known, 1, 0.75)
        if tag in known:
            rule, expected = REPEATED_ELEMENT, f"one <{tag}>"
            message = (
                f"a second <{tag}>: OpenVINO reads the first and ignores this one and its content"
            )
            hint = f"move its content into the first <{tag}>, or remove it"
        elif close:
            rule, expected = MISSPELT_ELEMENT, close[0]
            message = (
                f"<{tag}> looks like a misspelling of <{close[0]}>; OpenVINO ignores it "
                "and its content"
            )
            hint = f"rename it to <{close[0]}>"
        else:
            rule = UNKNOWN_ELEMENT
            expected = ", ".join(f"<{name}>" for name in known) or "no element"
            message = f"<{tag}> has no meaning here; OpenVINO silently ignores it"
            hint = "remove it, or correct its name"
        self.report(rule, message, offset, layer, expected=expected, actual=tag, help=hint)


_LEADING = re.compile(r"[+-]?[0-9]{1,19}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,100}")
