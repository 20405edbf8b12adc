"""What holds for a file that OpenVINO reads, whatever was edited in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from differential.oracle import Answer, Oracle

import irshape
from irshape import PartialShape

BODIES = ("body", "then_body", "else_body")
OTHER_NAMES = {"bool": "boolean", "unspecified": "dynamic", "undefined": "dynamic"}


class Output(NamedTuple):
    """An output port as a file declares it."""

    layer: str
    """The name of its layer, as in `Answer.layers`."""
    index: int
    place: tuple[str, ...]
    """The path and the id of its layer, and its own id."""
    element_type: str
    dims: list[int]

    @property
    def port(self) -> str:
        return self.place[-1]


def outputs_of(text: str) -> Iterator[Output]:
    """The output ports of the layers of a file, of those in bodies too."""
    yield from _outputs(ElementTree.fromstring(text), "", ())


def _outputs(net: ElementTree.Element, prefix: str, path: tuple[str, ...]) -> Iterator[Output]:
    for layer in net.iterfind("layers/layer"):
        name, place = prefix + layer.get("name", ""), (*path, layer.get("id", ""))
        for index, port in enumerate(layer.iterfind("output/port")):
            precision = re.sub("^fp", "f", port.get("precision", "").lower())
            dims = [int(dim.text or 0) for dim in port.iterfind("dim")]
            kind = OTHER_NAMES.get(precision, precision)
            yield Output(name, index, (*place, port.get("id", "")), kind, dims)
        for body in layer:
            if body.tag in BODIES:
                yield from _outputs(body, f"{name}/{body.tag}/", (*place, body.tag))


def contradicted(text: str, answer: Answer) -> list[Output]:
    """The output ports whose types or sizes OpenVINO infers otherwise."""
    return [
        port
        for port in outputs_of(text)
        if (known := _inferred(port, answer)) is not None and not _fits(port, *known)
    ]


def origins(text: str, ports: list[Output]) -> list[Output]:
    """Those of contradicted ports that follow from no other one.

    Behind a contradicted port, irshape goes on from what is declared, and reports no consequences.
    """
    wrong = {(port.layer, port.port) for port in ports}
    following = set(_following(ElementTree.fromstring(text), "", wrong, inherits=False))
    return [port for port in ports if port.layer not in following]


def _following(
    net: ElementTree.Element, prefix: str, wrong: set[tuple[str, str]], *, inherits: bool
) -> Iterator[str]:
    """The layers that a contradicted port feeds, or that have one in a body.

    inherits: whether such a port feeds the layer that has this body.
    """
    names = {each.get("id"): prefix + each.get("name", "") for each in net.iterfind("layers/layer")}
    fed = {
        edge.get("to-layer")
        for edge in net.iterfind("edges/edge")
        if (names.get(edge.get("from-layer")), edge.get("from-port")) in wrong
    }
    for layer in net.iterfind("layers/layer"):
        name = names[layer.get("id")]
        if layer.get("id") in fed or (inherits and layer.get("type") == "Parameter"):
            yield name
        for body in layer:
            if body.tag in BODIES:
                inner = f"{name}/{body.tag}/"
                yield from _following(body, inner, wrong, inherits=layer.get("id") in fed)
                if any(other.startswith(inner) for other, _ in wrong):
                    yield name


def _inferred(port: Output, answer: Answer) -> tuple[str, str] | None:
    known = answer.layers.get(port.layer, ())
    return known[port.index] if port.index < len(known) else None


def _fits(port: Output, element_type: str, shape: str) -> bool:
    if "dynamic" not in (element_type, port.element_type) and element_type != port.element_type:
        return False
    sizes = PartialShape.of(shape).dims
    return sizes is None or (
        len(sizes) == len(port.dims)
        and all(dim == -1 or size.contains(dim) for dim, size in zip(port.dims, sizes, strict=True))
    )


def behind(text: str, answer: Answer, inference: irshape.Inference) -> list[str]:
    """The ports that declare other sizes than OpenVINO infers, or irshape, which knows more."""
    refined = {}
    for layer in inference.model.walk():
        for port, tensor in zip(layer.outputs, inference.outputs(layer), strict=False):
            refined[(*layer.path, layer.id, port.id)] = tensor.shape
    found = []
    for port in outputs_of(text):
        known = _inferred(port, answer)
        if known is None or known[0] == "dynamic":
            continue
        shape = PartialShape.of(known[1])
        shapes = (shape, refined.get(port.place, shape))
        if port.element_type != known[0] or not any(
            _says_no_more(port.dims, each) for each in shapes
        ):
            found.append(f"{port.layer}:{port.port} {port.element_type}{port.dims}, not {known}")
    return found


def _says_no_more(dims: list[int], shape: PartialShape) -> bool:
    """Whether a port declares sizes that are known as such, or leaves them open; a dynamic rank is
    written as no dimensions."""
    return len(dims) == len(shape.dims or ()) and all(
        dim in (-1, size) for dim, size in zip(dims, shape.dims or (), strict=True)
    )


def findings(report: irshape.Report) -> Iterator[dict[str, Any]]:
    """The findings of one file as JSON has them, those that stand under others too."""
    (file,) = report.to_dict()["files"]
    for each in file["diagnostics"]:
        yield each
        yield from each.get("related", ())


def bare(name: str) -> str:
    """The layer's own name, without the layers in whose bodies it stands."""
    return re.split(r"/(?:then_|else_)?body/", name)[-1]


def fed_by(text: str, names: frozenset[str]) -> set[str]:
    """The layers that those of these names feed, which may refuse what they get."""
    found = set()
    for net in ElementTree.fromstring(text).iter():
        layers = {each.get("id"): each for each in net.iterfind("layers/layer")}
        for edge in net.iterfind("edges/edge"):
            source, target = layers.get(edge.get("from-layer")), layers.get(edge.get("to-layer"))
            if source is not None and target is not None and source.get("name") in names:
                found.add(target.get("name", ""))
    return found


class Verdict(NamedTuple):
    """What is wrong with what irshape makes of a file that OpenVINO reads; all empty if nothing."""

    read: bool
    """Whether OpenVINO reads it."""
    meaning: str = ""
    """The safe fix, where OpenVINO reads something else after it."""
    ports: tuple[str, ...] = ()
    """Those that are not up to date after it."""
    silent: tuple[str, ...] = ()
    """Ports that OpenVINO contradicts, not for another one's sake, and the report does not name."""
    elsewhere: tuple[str, ...] = ()
    """Errors at layers that are neither edited nor contradicted."""
    again: str = ""
    """What a second fix changes."""

    @property
    def wrong(self) -> dict[str, object]:
        return {name: value for name, value in self._asdict().items() if value and name != "read"}


def judged(path: Path, oracle: Oracle, names: frozenset[str]) -> Verdict:
    """What irshape makes of a file. names: of the layers that were edited.

    Writes the fixed text in the place of the file.
    """
    text = path.read_text(encoding="utf-8")
    before, serialised = oracle.ask_file(path), oracle.serialised(path)
    fixes = irshape.fix(path)
    if not serialised:
        return Verdict(False)
    report = list(findings(irshape.validate(path)))
    wrong_ports = contradicted(text, before)
    told = set()
    for each in report:
        if each["layer"] is not None and each["port"] is not None:
            of_input = each["port"]["direction"] == "input"  # then the output follows from that
            told.add((each["layer"]["name"], None if of_input else each["port"]["id"]))
    silent = [
        f"{port.layer}:{port.port}"
        for port in origins(text, wrong_ports)
        if told.isdisjoint(((bare(port.layer), port.port), (bare(port.layer), None)))
    ]
    allowed = names | fed_by(text, names) | {bare(port.layer) for port in wrong_ports}
    elsewhere = [
        f"{each['code']} at {each['layer']['name'] if each['layer'] else 'the file'}"
        for each in report
        if each["severity"] == "error"
        and (each["layer"] is None or each["layer"]["name"] not in allowed)
    ]
    path.write_bytes(fixes.data)
    meaning = "" if oracle.serialised(path) == serialised else fixes.diff()
    again = irshape.fix(path).diff()
    late = behind(fixes.text, before, irshape.infer(path))
    return Verdict(True, meaning, tuple(late), tuple(silent), tuple(elsewhere), again)
