"""Which elements an IR may hold where, and how writers lay them out."""

from __future__ import annotations

import re

BODIES = ("body", "then_body", "else_body")
_PORT_MAPS = ("port_map", "then_port_map", "else_port_map")
CHILDREN: dict[str, tuple[str, ...]] = {
    "net": ("layers", "edges", "rt_info", "meta_data"),
    "layers": ("layer",),
    "layer": ("data", "input", "output", "rt_info", "back_edges", *BODIES, *_PORT_MAPS),
    "input": ("port",),
    "output": ("port",),
    "port": ("dim", "rt_info"),
    "edges": ("edge",),
    "back_edges": ("edge",),
    **dict.fromkeys(BODIES, ("layers", "edges", "rt_info", "back_edges")),
    **dict.fromkeys(_PORT_MAPS, ("input", "output")),
    **dict.fromkeys(("dim", "data", "edge"), ()),
}
KNOWN = {name for names in CHILDREN.values() for name in names}
WITHOUT_TEXT = ("data", "edge")
"""Elements that end with their start tag."""
TAG = re.compile(rb"""<(/?)([A-Za-z_][\w.-]*)((?:[^<>"']|"[^"<>]*"|'[^'<>]*')*?)(/?)>""")
_VALUE = rb'"[^"<>]*+"'
_PORTS = (
    rb"(?:\s*+<port id=%s(?: precision=%s)?(?: names=%s)?"
    rb"(?:/>|>(?:\s*+<dim>[^<>]*+</dim>)*+\s*+</port>))++" % ((_VALUE,) * 3)
)
_LAYER = (
    rb"(?:\s*+<layer id=%s name=%s type=%s version=%s>(?:\s*+<data(?P<data>(?: \w++=%s)*+) ?/>)?+"
    rb"(?:\s*+<input>%s\s*+</input>)?+(?:\s*+<output>%s\s*+</output>)?+\s*+</layer>)"
    % (*(_VALUE,) * 5, _PORTS, _PORTS)
)
_EDGES = rb"(?:\s*+<edge from-layer=%s from-port=%s to-layer=%s to-port=%s ?/>)++" % ((_VALUE,) * 4)
REGULAR = {
    name: re.compile(pattern)
    for name, pattern in (
        *(("layers", _LAYER), ("input", _PORTS), ("output", _PORTS), ("edges", _EDGES)),
    )
}
"""What elements contain as writers put it, with which nothing is wrong."""
PASSED = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>", re.DOTALL)
FREE = re.compile(
    rb"<(rt_info|meta_data)\b[^<>]*>(?<!/>)"
    rb"(?:[^<]|<(?!/?(?:layers?|edges?|port|net|rt_info|meta_data)\b))*</\1\s*>"
)
NAME = re.compile(rb"<(/?)([A-Za-z_][\w.-]*)")
