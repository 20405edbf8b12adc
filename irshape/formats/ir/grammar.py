"""The elements of an IR, what each may contain, and regular expressions for tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.graph import PORT_MAPS

BODY_TAGS = tuple(PORT_MAPS)
PORT_MAP_TAGS = tuple(PORT_MAPS.values())

CHILDREN: dict[str, tuple[str, ...]] = {
    "net": ("layers", "edges", "rt_info"),
    "layers": ("layer",),
    "layer": ("data", "input", "output", "rt_info", *BODY_TAGS, *PORT_MAP_TAGS, "back_edges"),
    "data": (),
    "input": ("port",),
    "output": ("port",),
    "port": ("dim", "rt_info"),
    "dim": (),
    "edges": ("edge",),
    "edge": (),
    "back_edges": ("edge",),
    **dict.fromkeys(BODY_TAGS, ("layers", "edges", "rt_info", "back_edges")),
    **dict.fromkeys(PORT_MAP_TAGS, ("input", "output")),
}
"""For each element, the elements that it may contain."""

ATTRIBUTES = {
    "layer": ("id", "name", "type", "version"),
    "port": ("id", "precision", "names"),
    "edge": ("from-layer", "from-port", "to-layer", "to-port"),
}
"""For each element, its attributes. A Result may also have `output_names`."""

WITHOUT_TEXT = CHILDREN.keys() - {"dim"}
"""Elements that contain no text, but may contain other elements."""

OPAQUE = {
    "rt_info",
    "meta_data",
    "cli_parameters",
    "quantization_parameters",
    "statistics",
    "pre-process",
    "blobs",
    "weights",
    "biases",
}
"""Elements that the reader skips with their content, without reporting unknown elements."""

MARKUP = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|"
    rb"""<(?P<close>/?)(?P<name>[^\s<>/="'!?]+)(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""",
    re.DOTALL,
)
"""Matches a tag, or a comment, CDATA or processing instruction; only a tag has a `name`."""


def tags(data: bytes, start: int = 0) -> Iterator[re.Match[bytes]]:
    """Yields the tags of a text. Stops at a tag without an end: a search past this tag could take
    quadratic time."""
    at = data.find(b"<", start)
    while at >= 0 and (match := MARKUP.match(data, at)):
        if match["name"]:
            yield match
        at = data.find(b"<", match.end())
