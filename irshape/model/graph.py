"""A model as its file describes it: layers, ports, edges and bodies.

This module neither infers nor corrects anything. A model may have any fault that XML can express:
repeated ids, edges to missing layers, unknown types. `rules` finds these faults. Places are byte
offsets into the file; the model's `Source` converts them to lines and columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..faults import Fault
from ..rule_ids import RuleId, Severity
from .format import Format
from .ports import Port
from .source import Source
from .weights import Constant, Weights


class PortMap(NamedTuple):
    """An entry of a `port_map`: connects a port with a Parameter or Result of the body."""

    direction: Literal["input", "output"]
    attributes: dict[str, str]
    offset: int


NO_PORTS: list[Port] = []


NO_ATTRIBUTES: tuple[str, ...] = ()


class Layer:
    """A layer as the file declares it.

    `items` has the attributes of `<data>` as written: name, value, name, value …
    """

    __slots__ = (
        "bodies",
        "data_offset",
        "id",
        "inputs",
        "items",
        "name",
        "offset",
        "output_names",
        "outputs",
        "path",
        "port_maps",
        "rt_info_span",
        "type",
        "version",
    )

    def __init__(
        self, id: str, name: str, type: str, version: str, offset: int, path: tuple[str, ...]
    ) -> None:
        self.id = id
        self.name = name
        self.type = type
        self.version = version
        self.offset = offset
        self.path = path
        self.items: tuple[str, ...] = NO_ATTRIBUTES
        self.data_offset = -1
        self.inputs: list[Port] = NO_PORTS
        """The input ports, in file order."""
        self.outputs: list[Port] = NO_PORTS
        """The output ports, in file order."""
        self.bodies: dict[str, Body] | None = None
        self.port_maps: dict[str, list[PortMap]] | None = None
        self.output_names: str | None = None
        """The tensor names on a Result, in its attribute `output_names` (IR version 11)."""
        self.rt_info_span: tuple[int, int] | None = None
        """The start and end of the layer's `<rt_info>` in the file."""

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes of `<data>`, in file order.

        The mapping is read-only. To change attributes, assign all of them:
        `layer.attributes = {**layer.attributes, "axis": "1"}`. An existing session or inference
        keeps the old attributes.
        """
        return MappingProxyType(dict(zip(self.items[::2], self.items[1::2], strict=True)))

    @attributes.setter
    def attributes(self, attributes: Mapping[str, str]) -> None:
        self.items = tuple(text for item in attributes.items() for text in item)

    @property
    def folded_type(self) -> str:
        """The type in lower case, as OpenVINO's reader compares it.

        Both `Const` and `Constant` become `const`.
        """
        return folded_type(self.type)

    @property
    def is_parameter(self) -> bool:
        """Whether the layer is an input of its body: a Parameter."""
        return self.type.lower() == "parameter"

    @property
    def is_result(self) -> bool:
        """Whether the layer is an output of its body: a Result."""
        return self.type.lower() == "result"

    @property
    def is_constant(self) -> bool:
        """Whether the layer is a constant: a Const."""
        return self.type.lower() in ("const", "constant")

    @property
    def is_read_value(self) -> bool:
        """Whether the layer reads a variable: a ReadValue."""
        return self.type.lower() == "readvalue"

    @property
    def is_sink(self) -> bool:
        """Whether the model needs the layer even if it feeds no layer: a Result or an Assign."""
        return self.type.lower() in ("result", "assign")

    @property
    def computes(self) -> bool:
        """Whether the layer is neither a Parameter nor a constant nor a Result."""
        return not (self.is_parameter or self.is_constant or self.is_result)

    @property
    def label(self) -> str:
        """The type, name and id of the layer, for messages."""
        return f"{self.type} '{self.name}' (id {self.id})"

    @property
    def reference(self) -> dict[str, Any]:
        """The type, name, id, opset and path of the layer, for reports in JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "opset": self.version,
            "path": list(self.path),
        }

    def attribute(self, name: str) -> str | None:
        """Returns the value of one attribute of `<data>`; None if it is missing."""
        items = self.items
        for i in range(0, len(items), 2):
            if items[i] == name:
                return items[i + 1]
        return None

    def __repr__(self) -> str:
        return f"<{self.type} id={self.id} {self.name!r}>"


def folded_type(type: str) -> str:
    """Returns a type in lower case, and `constant` as `const`, as OpenVINO compares types."""
    folded = type.lower()
    return "const" if folded == "constant" else folded


class Edge(NamedTuple):
    """An edge from the output port of one layer to the input port of another. Layers and ports are
    given by id."""

    from_layer: str
    from_port: str
    to_layer: str
    to_port: str
    offset: int = -1
    """The byte offset of the `<edge>` in the file; -1 for an edge that is in no file."""

    @property
    def ends(self) -> tuple[str, str, str, str]:
        """The ids of the producer, its output port, the consumer and its input port."""
        return self[:4]


class BackEdge(NamedTuple):
    from_layer: str
    to_layer: str
    offset: int


PORT_MAPS = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}
"""The elements of a layer that contain a body, each with the element that holds its port map."""


PURPOSES = {"input": "current_iteration", "output": "execution_condition"}
"""The allowed `purpose` of an `<input>` and an `<output>` in the port map of a Loop."""


class Body:
    """Layers and the edges between them: the net itself, or a body of an If, Loop or the like."""

    __slots__ = ("_by_id", "back_edges", "edges", "layers", "offset", "path")

    def __init__(self, path: tuple[str, ...] = (), offset: int = 0) -> None:
        self.layers: list[Layer] = []
        self.edges: list[Edge] = []
        """The edges, in file order."""
        self.back_edges: list[BackEdge] = []
        self.path = path
        self.offset = offset
        self._by_id: dict[str, Layer] | None = None

    @property
    def by_id(self) -> dict[str, Layer]:
        """The layers by id; if several layers have the same id, only the first of them."""
        if self._by_id is None:
            self._by_id = {layer.id: layer for layer in reversed(self.layers)}
        return self._by_id

    def reindex(self) -> None:
        """Rebuilds `by_id`, also in inner bodies. Call it after changing layers or ids."""
        for body in self.all_bodies():
            body._by_id = None

    def walk(self) -> Iterator[Layer]:
        """Yields every layer in file order. The layers of a body follow the layer that contains
        it."""
        for layer in self.layers:
            yield layer
            if layer.bodies:
                for body in layer.bodies.values():
                    yield from body.walk()

    def all_bodies(self) -> Iterator[Body]:
        """Yields this body and every body inside it."""
        yield self
        for layer in self.layers:
            if layer.bodies:
                for body in layer.bodies.values():
                    yield from body.all_bodies()


class Finding(NamedTuple):
    """A fault and its place: a byte offset and, if known, the layer and the port."""

    fault: Fault
    offset: int
    layer: Layer | None = None
    port: tuple[str, str] | None = None
    """The direction (`input` or `output`) and the id of the port."""
    related: tuple[Finding, ...] = ()
    """Findings that one change would remove together with this one."""

    @property
    def rule(self) -> RuleId:
        return self.fault.rule

    @property
    def message(self) -> str:
        return self.fault.message

    @property
    def expected(self) -> str | None:
        return self.fault.expected_text

    @property
    def actual(self) -> str | None:
        return self.fault.actual_text

    @property
    def help(self) -> str | None:
        return self.fault.help or self.fault.rule.help

    @property
    def severity(self) -> Severity:
        return self.fault.severity or self.fault.rule.severity


class NotReadable(Exception):
    """Raised if a file cannot be read as a model. `finding` has the reason."""

    def __init__(self, finding: Finding, source: Source, begun: Model | None = None) -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.source = source
        self.begun = begun
        """The part of the model that was read before the fault. Its last layer may be
        incomplete."""


class Model:
    """A model file in memory: its net, its constants, and the findings of its reader.

    A local .bin is memory-mapped. The bytes of constants are only read when they are needed.
    """

    def __init__(
        self, source: Source, name: str = "", version: int = 11, *, format: Format
    ) -> None:
        self.source = source
        self.name = name
        self.version = version
        self.kind: Literal["net", "layers"] = "net"
        """`net` for a model, `layers` for a file of single layers, which have no edges."""
        self.format = format
        """The format of the file. Models in other formats than the IR were converted to OpenVINO's
        operations."""
        self.net = Body()
        self.findings: list[Finding] = []
        """The faults that the reader found."""
        self.weights: Weights | None = None
        self.rt_info_span: tuple[int, int] | None = None
        self.subtracts_means = False
        """Whether OpenVINO subtracts the means in a `<pre-process>` from an input of the net."""
        self.dimension_names: dict[Layer, tuple[str | None, ...]] = {}
        """For a Parameter, the names of its dimensions in the file, e.g. `dim_param` of ONNX."""

    @property
    def path(self) -> str:
        """The path of the file, as the caller gave it."""
        return self.source.path

    @property
    def layers(self) -> list[Layer]:
        """The layers of the net, in file order; the layers of bodies are in `Layer.bodies`."""
        return self.net.layers

    def walk(self) -> Iterator[Layer]:
        """Yields every layer, including layers in bodies."""
        return self.net.walk()

    @property
    def parameters(self) -> list[Layer]:
        """The inputs of the net: its Parameters."""
        return [layer for layer in self.net.layers if layer.type.lower() == "parameter"]

    @property
    def results(self) -> list[Layer]:
        """The outputs of the net: its Results."""
        return [layer for layer in self.net.layers if layer.is_result]

    @property
    def rt_info(self) -> dict[str, object]:
        """The `rt_info` of the net as nested dictionaries of texts."""
        from .rt_info import parse

        return parse(self.source, self.rt_info_span)

    def constant(self, layer: Layer) -> Constant:
        """Returns the constant of a Const layer. `.array()` returns its elements.

        Raises `ValueError` for a layer of another type, and for faulty attributes.
        """
        if not layer.is_constant:
            raise ValueError(f"{layer!r} is not a Const")
        return Constant.of(layer.items, self.weights)

    def __repr__(self) -> str:
        return f"<Model {self.name!r} of {len(self.net.layers)} layers, {self.path}>"
