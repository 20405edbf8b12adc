"""Proposes usual notations, e.g. `1` for `+1`, and names of XML attributes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ..formats.ir.edits import rename_attribute, set_attribute
from ..formats.ir.grammar import ATTRIBUTES
from ..model.graph import Finding
from .change import Change
from .site import Sites
from .spellings import likeness, only_word

REQUIRED = {**ATTRIBUTES, "port": ("id", "precision")}
"""Maps each tag to the attributes that OpenVINO requires. An input port needs no precision."""
KNOWN = {**ATTRIBUTES, "layer": (*ATTRIBUTES["layer"], "output_names")}


def notations(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields the usual spelling of a number or type, e.g. `1` for `+1`, `MatMul` for `matmul`."""
    written, wanted, layer = finding.actual, finding.expected, finding.layer
    if written is None or wanted is None:
        return
    same = finding.severity == "warning"
    if not same and written.lower() != wanted.lower():
        return
    source, element = sites.source, sites.element(finding.offset)
    places = sites.attributes(element)
    name = next((name for name, (start, *_) in places.items() if start == finding.offset), None)
    if name is None or (layer is not None and layer.is_constant):
        return
    edit = set_attribute(source, element, name, wanted)
    if edit is not None:
        yield Change(
            "notation", (edit,), finding.offset, layer, name, written, wanted, cost=0.1,
            exact=True, same_model=same, settles=(finding,),
        )  # fmt: skip


def element_names(sites: Sites, finding: Finding) -> Iterator[Change]:
    """Yields other names for an XML attribute that OpenVINO ignores, e.g. `to-port` for
    `to_port`."""
    source, element = sites.source, sites.element(finding.offset)
    tag = next((tag for tag in KNOWN if source.data.startswith(f"<{tag}".encode(), element)), None)
    present = sites.attributes(element)
    written = next((name for name, (start, *_) in present.items() if start == finding.offset), None)
    if tag is None or written is None:
        return
    absent = [name for name in KNOWN[tag] if name not in present]
    close = get_close_matches(written, absent, 2, 0.75)
    for name in close:
        edit = rename_attribute(source, finding.offset, written, name)
        if edit is None:
            continue
        output = finding.port is not None and finding.port[0] == "output"
        required = name in REQUIRED[tag] and (name != "precision" or output)
        required = required and only_word(written, absent) == name
        unread = tag == "port" and name == "precision" and not output
        yield Change(
            "name", (edit,), finding.offset, finding.layer, name, written, name,
            cost=1.0 - likeness(written, name),
            decided=f"`{name}` is required, and missing" if required else "",
            same_model=unread,
        )  # fmt: skip
