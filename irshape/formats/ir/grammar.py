"""The elements of an IR, what each may contain, and the syntax of a tag."""

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
"""The elements that each element may contain."""

ATTRIBUTES = {
    "layer": ("id", "name", "type", "version"),
    "port": ("id", "precision", "names"),
    "edge": ("from-layer", "from-port", "to-layer", "to-port"),
}
"""The attributes that an element may have. A Result may also have `output_names`."""

WITHOUT_TEXT = CHILDREN.keys() - {"dim"}
"""Elements that contain no text."""

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
"""Elements whose content the reader of ports and layers ignores."""

MARKUP = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|"
    rb"""<(?P<close>/?)(?P<name>[^\s<>/="'!?]+)(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""",
    re.DOTALL,
)
"""Matches a tag, or a comment, CDATA or processing instruction, which has no `name`."""


def tags(data: bytes, start: int = 0) -> Iterator[re.Match[bytes]]:
    """Yields the tags of a text, up to the first that has no end.

    A search for tags behind it would take time that grows with the square of the text.
    """
    at = data.find(b"<", start)
    while at >= 0 and (match := MARKUP.match(data, at)):
        if match["name"]:
            yield match
        at = data.find(b"<", match.end())
