"""Infers a single layer of a body, with its own or other attributes and inputs."""

from __future__ import annotations

from functools import cached_property

from ..inference.alternatives import Fit, fit_of, inputs_of
from ..inference.result import BodyResult
from ..model.graph import Edge, Finding, Layer
from ..model.wiring import OutputRef
from ..ops.declaration import Operation
from ..ops.tensors import Tensor
from ..rules import Context
from ..rules.attribute_values import layer_engine, operation_of, places


class Site:
    """A layer at its position in a body, with its inputs."""

    def __init__(self, sites: Sites, result: BodyResult, position: int) -> None:
        self.sites, self.result, self.position = sites, result, position
        self.layer: Layer = result.body.layers[position]

    @cached_property
    def inputs(self) -> tuple[Tensor | None, ...]:
        """The tensor that feeds each input port; None if nothing feeds it."""
        return inputs_of(self.result, self.position)

    @property
    def sources(self) -> list[OutputRef | None]:
        return self.result.wiring.sources[self.position]

    @cached_property
    def operation(self) -> type[Operation] | None:
        return operation_of(self.sites.context.model, self.layer)

    def fit(
        self,
        items: tuple[str, ...] | None = None,
        operation: type[Operation] | None = None,
        inputs: tuple[Tensor | None, ...] | None = None,
    ) -> Fit:
        """Returns how well the layer's outputs would match its declared ports with other
        attributes, another operation or other inputs. None means: those of the file."""
        declared = operation or self.operation
        if declared is None:
            return Fit.OPEN
        written = self.layer.items if items is None else items
        fed = self.inputs if inputs is None else inputs
        return fit_of(self.sites.engine, self.layer, declared, written, fed)

    @cached_property
    def decides_values(self) -> bool:
        """Whether the layer computes values on which shapes of later layers may depend."""
        return any(tensor.value is not None for tensor in self.result.outputs[self.position])


class Sites:
    """Finds the layer, the XML element or the edge that a finding is about."""

    def __init__(self, context: Context, graver: list[Finding]) -> None:
        self.context = context
        self.graver = graver
        """The errors and warnings, in file order."""
        self.source = context.model.source
        self.engine = context.shared(layer_engine)
        self._last: Site | None = None
        """The site that was requested last."""
        self._attributes: tuple[int, dict[str, tuple[int, int, int]]] = (-1, {})
        """The element whose attributes were requested last, and these attributes."""

    def of(self, layer: Layer | None) -> Site | None:
        """Returns the site of a layer; None if the layer was not inferred."""
        place = None if layer is None else self.context.shared(places).get(layer)
        if place is None or layer is None:
            return None
        if self._last is None or self._last.layer is not layer:
            self._last = Site(self, *place)
        return self._last

    def element(self, offset: int) -> int:
        """Returns the offset of the start of the tag that contains an offset."""
        return self.source.data.rfind(b"<", 0, offset + 1)

    def attributes(self, element: int) -> dict[str, tuple[int, int, int]]:
        """Maps each attribute of an element to the offsets of its name, value and end."""
        if self._attributes[0] != element:
            places = self.source.attributes(element)
            self._attributes = element, {name: (at, begin, end) for name, at, begin, end in places}
        return self._attributes[1]

    def edge_of(self, finding: Finding) -> tuple[BodyResult, Edge] | None:
        """Returns the edge at the place of a finding, with its body; None if there is no edge."""
        start = self.element(finding.offset)
        if not self.source.data.startswith(b"<edge", start):
            return None
        for result in self.context.results.values():
            for edge in result.body.edges:
                if edge.offset == start:
                    return result, edge
        return None
