"""The document of a page: its contents as JSON.

The document is compact, since a model may have 35,000 layers. A layer is a list of the fields in
`LAYER`, in that order. Values that many layers share, such as types, are in separate lists; the
layer contains positions in these lists. `model.js` reads the same fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics.report import Diagnostic
from ..inference.body_engine import declarations_of
from ..inference.ports import declared as declared_tensor
from ..inference.result import BodyResult, Inference, written
from ..inspection.costs import fixed_positions
from ..model.graph import Body, Layer, Model
from ..model.ports import Port, names_in
from ..model.wiring import OutputRef, Wiring, wire
from ..spelling import counted
from .constants import Constants
from .operations import operation_page
from .port_texts import agrees, as_declared, port_text, value_text
from .scopes import Group, grouped
from .texts import rt_info, xml_lines

if TYPE_CHECKING:
    from ..inference.result import Expressions
    from ..ops.tensors import Tensor

LAYER = (
    "id",
    "name",
    "type",  # a position in `types`
    "line",
    "group",  # a position in `groups`
    "folded",  # 1: part of its consumers, since it depends only on constants
    "attributes",  # a position in `attributes`: names and values in turn
    "ports",  # a position in `ports`: the ids of the inputs, and those of the outputs
    "inputs",  # the producer of each and the number of its output, in turn; -1 for none
    "outputs",  # a position in `outputs` for each
    "tensors",  # the tensor names of each output
    "xml",  # where it begins in the text of `xml`; -1 if it is not XML
    "extra",  # other declarations of inputs, rt_info, constant, port_maps, if there are any
)
OUTPUT = ("declared", "inferred", "symbols", "clash", "value", "dynamic")
LISTS = (
    *("facts", "types", "attributes", "ports", "outputs"),
    *("layers", "symbols", "constraints", "overlays", "xml"),
)
"""The lists in a document that are empty if no model can be read."""


class Shown(NamedTuple):
    """A model with its inferred types and shapes. findings: each finding with its layer."""

    model: Model
    inference: Inference
    symbols: Inference | None
    findings: list[tuple[Diagnostic, Layer | None]]


class Numbering:
    """Gives the layers of a model, bodies included, their positions in the document."""

    def __init__(self, model: Model) -> None:
        self.layers: list[Layer] = list(model.walk())
        self.at: dict[Layer, int] = {layer: at for at, layer in enumerate(self.layers)}
        self._by_reference = {
            (layer.path, layer.id): at for at, layer in reversed(list(enumerate(self.layers)))
        }

    def of_reference(self, reference: dict[str, Any]) -> int:
        """Returns the position of the layer that a report names; -1 if there is none."""
        return self._by_reference.get((tuple(reference["path"]), reference["id"]), -1)


def unreadable_document(path: str, findings: list[Diagnostic]) -> dict[str, Any]:
    """Returns the document of a file from which no model can be read."""
    return {
        **{name: [] for name in LISTS},
        "path": path,
        "name": "",
        "groups": [["root", "", -1, -1]],
        "findings": [_finding(each, -1) for each in findings],
        "rtInfo": {},
    }


class Writer:
    """Writes the document of a model. histograms: whether to read the .bin, and show histograms of
    constants."""

    def __init__(self, shown: Shown, numbering: Numbering, histograms: bool) -> None:
        self.shown = shown
        self.model = shown.model
        self.numbering = numbering
        self.constants = Constants(self.model, histograms)
        self.declarations = declarations_of(shown.inference)
        self.types: dict[tuple[str, str], int] = {}
        self.pages: list[list[Any]] = []
        self.attributes: dict[tuple[str, ...], int] = {}
        self.ports: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self.outputs: dict[tuple[object, ...], int] = {}
        """Maps declarations of outputs, with the inferred tensors, to positions in `known`."""
        self.known: list[list[Any]] = []
        self.groups: list[Group] = []
        self.rows: list[list[Any]] = [[]] * len(numbering.layers)
        self.results = {result.body: result for result in shown.inference.result.walk()}
        self.symbols: dict[Body, BodyResult] = {}
        if shown.symbols is not None:
            self.symbols = {result.body: result for result in shown.symbols.result.walk()}

    def document(self) -> dict[str, Any]:
        """Returns the document."""
        model = self.model
        self._body(model.net, Group("root", model.name, -1))
        sizes = {} if self.shown.symbols is None else self.shown.symbols.symbols
        constraints = [] if self.shown.symbols is None else self.shown.symbols.constraints
        at = self.numbering.at
        xml = xml_lines(model, self.numbering.layers, self.rows, LAYER.index("xml"))
        return {
            "path": model.path,
            "name": model.name,
            "facts": self._facts(),
            "types": self.pages,
            "attributes": list(self.attributes),
            "ports": list(self.ports),
            "outputs": self.known,
            "groups": [list(group) for group in self.groups],
            "layers": self.rows,
            "findings": [
                _finding(each, -1 if layer is None else at.get(layer, -1))
                for each, layer in self.shown.findings
            ],
            "symbols": [
                [name, size.tensor, size.axis, str(size.range)] for name, size in sizes.items()
            ],
            "constraints": [[str(each), each.assumed] for each in constraints],
            "rtInfo": rt_info(model.source, model.rt_info_span),
            "overlays": [],
            "xml": xml,
        }

    def _facts(self) -> list[list[str]]:
        model = self.model
        layers = self.numbering.layers
        constants = sum(layer.is_constant for layer in layers)
        of_layers = counted(len(layers) - constants, "layer") + " and "
        facts = [["file", model.path], ["holds", of_layers + counted(constants, "constant")]]
        if model.format.is_ir and model.kind == "net":
            facts.append(["IR version", str(model.version)])
        else:
            facts.append(["format", model.format.name])
        if model.weights is not None and model.weights.size:
            of = ".bin" if model.format.is_ir else "constants"
            facts.append([of, counted(model.weights.size, "byte")])
        return facts

    # bodies

    def _body(self, body: Body, root: Group) -> None:
        result = self.results.get(body) or self.symbols.get(body)
        if result is None:
            alone = self.model.kind == "layers"
            result = BodyResult(body, _unconnected(body) if alone else wire(body))
        folded = _folded(result)
        shown = [position not in folded for position in range(len(body.layers))]
        first = len(self.groups)
        groups, group_of = grouped(body.layers, result.wiring, shown, root, first)
        self.groups += groups
        layers, at = body.layers, self.numbering.at
        numbers = [at[layer] for layer in layers]
        of_attributes, of_ports = self.attributes, self.ports
        for position, layer in enumerate(layers):
            inputs: list[int] = []
            declared = {}
            for index, source in enumerate(result.wiring.sources[position]):
                port = layer.inputs[index]
                if source is None:
                    inputs += (-1, -1)
                    declared[index] = port_text(port)
                    continue
                producer, output = source
                inputs += (numbers[producer], output)
                if port.dims or port.precision:
                    feeding = layers[producer].outputs[output]
                    if port.dims != feeding.dims or (
                        port.precision not in (None, feeding.precision)
                    ):
                        declared[index] = port_text(port)
            row = self.rows[numbers[position]] = [
                layer.id,
                layer.name,
                self._type(layer),
                self._line(layer),
                group_of[position],
                0 if shown[position] else 1,
                of_attributes.setdefault(layer.items, len(of_attributes)),
                of_ports.setdefault((_ids(layer.inputs), _ids(layer.outputs)), len(of_ports)),
                inputs,
                self._outputs(result, position),
                _tensor_names(layer),
                -1,
            ]
            if extra := self._extra(layer, declared):
                row.append(extra)
            for tag, inner in (layer.bodies or {}).items():
                self._body(inner, Group("body", tag, group_of[position], numbers[position]))

    def _line(self, layer: Layer) -> int:
        """Returns the line of a layer in the file; 0 if it has none."""
        if not self.model.format.is_ir or layer.offset < 0:
            return 0
        return self.model.source.line_number(layer.offset)

    def _type(self, layer: Layer) -> int:
        key = (layer.type, layer.version)
        number = self.types.get(key)
        if number is None:
            number = self.types[key] = len(self.types)
            declared = self.declarations.of(layer)
            page = operation_page(type(declared[0])) if isinstance(declared, tuple) else None
            self.pages.append([*key, page])
        return number

    # ports

    def _outputs(self, result: BodyResult, position: int) -> list[int]:
        """Returns the positions of a layer's outputs in the list `outputs` of the document."""
        tensors = result.outputs[position]
        sure = position not in result.unsure
        named = self.symbols.get(result.body)
        sizes = named.expressions[position] if named and named.expressions is not None else ()
        row = []
        for index, port in enumerate(result.body.layers[position].outputs):
            key = (
                port.dims,
                port.precision,
                tensors[index] if index < len(tensors) else None,
                sure,
                sizes[index] if index < len(sizes) else None,
            )
            if (number := self.outputs.get(key)) is None:
                number = self.outputs[key] = len(self.known)
                self.known.append(_known(*key))
            row.append(number)
        return row

    def _extra(self, layer: Layer, declared: dict[int, str | None]) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if declared:
            extra["declared"] = declared
        if layer.rt_info_span is not None:
            extra["rtInfo"] = rt_info(self.model.source, layer.rt_info_span)
        if layer.is_constant:
            extra["constant"] = self.constants.of(layer)
        if layer.port_maps:
            extra["portMaps"] = [
                [tag, entry.direction, *(f"{key}={text}" for key, text in entry.attributes.items())]
                for tag, entries in layer.port_maps.items()
                for entry in entries
            ]
        if layer.output_names:
            extra["names"] = layer.output_names
        return extra


def _ids(ports: list[Port]) -> tuple[str, ...]:
    return tuple([port.id for port in ports])


def _tensor_names(layer: Layer) -> list[str]:
    """Returns the tensor names of each output; an empty list if no output has a tensor name."""
    names = [port.names or "" for port in layer.outputs]
    if not any(names):
        return []
    return [", ".join(names_in(text)) if "," in text else text for text in names]


def _known(
    dims: tuple[int, ...] | None,
    precision: str | None,
    tensor: Tensor | None,
    sure: bool,
    sizes: Expressions | None,
) -> list[Any]:
    """Returns an entry of the list `outputs` in the document, with the fields of `OUTPUT`. `clash`
    is 1 if the declaration contradicts the inferred tensor."""
    port = Port("", precision, None, -1, dims)
    same = tensor is not None and as_declared(port, tensor)
    clash = tensor is not None and not same and not agrees(port, tensor)
    inferred = _tensor_text(tensor) if tensor is not None and (clash or sure) else None
    declared = inferred if same and sure else port_text(port)
    known = tensor if inferred is not None else declared_tensor(port, tensor)
    dynamic = known is not None and not known.shape.is_static
    symbols = _sizes_text(written(sizes)) if dynamic else None
    return [declared, inferred, symbols, int(clash), value_text(tensor), int(dynamic)]


def _sizes_text(sizes: list[str | None] | None) -> str | None:
    if sizes is None or all(size is None or size.isdigit() for size in sizes):
        return None
    return f"[{','.join(size or '?' for size in sizes)}]"


def _unconnected(body: Body) -> Wiring:
    sources: list[list[OutputRef | None]] = [[None] * len(layer.inputs) for layer in body.layers]
    return Wiring(sources, list(range(len(body.layers))), frozenset())


def _folded(result: BodyResult) -> set[int]:
    """Returns the layers that depend only on constants and feed no Result: the page shows them
    inside their consumers."""
    layers = result.body.layers
    fixed = fixed_positions(result)
    used: set[int] = set()
    kept: set[int] = set()
    for position, row in enumerate(result.wiring.sources):
        for source in row:
            if source is not None:
                used.add(source[0])
                if layers[position].is_result:
                    kept.add(source[0])
    return (fixed & used) - kept


def _tensor_text(tensor: Tensor) -> str:
    if tensor.element_type.is_dynamic:
        return str(tensor.shape)
    return f"{tensor.element_type} {tensor.shape}"


def _finding(diagnostic: Diagnostic, layer: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "code": diagnostic.code,
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "layer": layer,
    }
    if diagnostic.port is not None:
        document["port"] = f"{diagnostic.port['direction']} port {diagnostic.port['id']}"
    for name in ("expected", "actual", "help"):
        if getattr(diagnostic, name) is not None:
            document[name] = getattr(diagnostic, name)
    if diagnostic.fixes:
        document["fixes"] = [fix["change"] for fix in diagnostic.fixes]
    return document
