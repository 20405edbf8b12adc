"""Defines `Context`, which gives rules a model, its inferred types and shapes, and its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ..element_types import DYNAMIC_TYPE, ElementType
from ..faults import Fault
from ..inference.result import Inference, Mismatch, OutputCount
from ..model.graph import Body, Finding, Layer, Model, folded_type
from ..model.ports import Port
from ..model.weights import Constant
from ..model.wiring import Wiring, wire
from ..ops import registry
from ..ops.declaration import AttributeFault
from ..ops.tensors import Tensor
from ..rule_ids import (
    INPUT_COUNT,
    INPUT_SHAPES,
    MISSPELT_ELEMENT,
    REPEATED_ELEMENT,
    UNKNOWN_ATTRIBUTE,
    RuleId,
)
from ..shapes import UNBOUNDED
from .links import Links
from .settings import PLAIN, Settings

if TYPE_CHECKING:
    from ..inference.conflicts import SizeConflicts

T = TypeVar("T")


class Context:
    """A model, its inferred types and shapes, its edges, and analyses that several rules share."""

    def __init__(
        self,
        model: Model,
        inference: Inference,
        settings: Settings = PLAIN,
        *,
        reasons: bool = True,
    ) -> None:
        """reasons: whether messages explain what determines a shape, which takes longer."""
        self.model = model
        self.inference = inference
        self.settings = settings
        """The user's settings: target release, extensions, policies."""
        self.reasons = reasons
        self.results = {each.body: each for each in inference.result.walk()}
        """The inferred types and shapes of each body."""
        self._shared: dict[tuple[object, ...], Any] = {}

    def shared(self, analysis: Callable[..., T], *arguments: object) -> T:
        """Returns `analysis(context, *arguments)`, computed once for all rules that use it."""
        key = (analysis, *arguments)
        if key not in self._shared:
            self._shared[key] = analysis(self, *arguments)
        answer: T = self._shared[key]
        return answer

    # the contents of the model

    @cached_property
    def bodies(self) -> list[Body]:
        """The net and every body inside it."""
        return list(self.model.net.all_bodies())

    @cached_property
    def every_layer(self) -> list[Layer]:
        """The layers in file order. The layers of a body come after the layer that contains it."""
        return list(self.model.walk() if len(self.bodies) > 1 else self.model.layers)

    @cached_property
    def start(self) -> int:
        """The offset of `<net>`, or of the first layer, for a finding about the whole model."""
        if self.model.kind == "net":
            return max(self.model.source.data.find(b"<net"), 0)
        return self.model.layers[0].offset if self.model.layers else 0

    @cached_property
    def constants(self) -> list[tuple[Layer, Constant]]:
        """Each Const layer with its constant. Leaves out Const layers with missing or invalid
        attributes, which rules report."""
        layers = [body.layers[position] for body, position in self.by_type.get("const", ())]
        known = {items: self._constant(items) for items in {layer.items for layer in layers}}
        described = [(layer, known[layer.items]) for layer in layers]
        return [(layer, constant) for layer, constant in described if constant is not None]

    @cached_property
    def constants_end(self) -> int:
        """The byte of the .bin at which the last constant ends; 0 without constants."""
        return max((offset + size for _, (_, _, offset, size, _) in self.constants), default=0)

    def _constant(self, items: tuple[str, ...]) -> Constant | None:
        try:
            constant = Constant.of(items, self.model.weights)
        except ValueError:
            return None
        _, shape, offset, size, _ = constant
        sound = (
            offset >= 0
            and size >= 0
            and (not shape or (min(shape) >= 0 and max(shape) < UNBOUNDED))
        )
        return constant if sound else None

    @cached_property
    def kinds(self) -> dict[tuple[str, str], None]:
        """The distinct types and versions of layers, as in the file, e.g. `("Add", "opset1")`."""
        return dict.fromkeys(
            [(layer.type, layer.version) for body in self.bodies for layer in body.layers]
        )

    @cached_property
    def spellings(self) -> dict[str, list[str]]:
        """Maps each type (`Layer.folded_type`, e.g. `relu`) to its spellings in the file."""
        spellings: dict[str, list[str]] = {}
        for written in dict.fromkeys([type for type, _ in self.kinds]):
            spellings.setdefault(folded_type(written), []).append(written)
        return spellings

    @cached_property
    def by_type(self) -> dict[str, list[tuple[Body, int]]]:
        """Maps each type (`Layer.folded_type`) to its layers: pairs of a body and an index."""
        folded = {each: name for name, written in self.spellings.items() for each in written}
        places: dict[str, list[tuple[Body, int]]] = {name: [] for name in self.spellings}
        for body in self.bodies:
            for position, layer in enumerate(body.layers):
                places[folded[layer.type]].append((body, position))
        return places

    def layers(self, *types: str) -> Iterator[Layer]:
        """Yields the layers of some types. types: type names in lower case, e.g. `matmul`."""
        for name in types:
            folded = "const" if name == "constant" else name
            for body, position in self.by_type.get(folded, ()):
                yield body.layers[position]

    def outputs(self) -> Iterator[tuple[Layer, Port, Tensor]]:
        """Yields every output port with its inferred tensor."""
        for body, result in self.results.items():
            for layer, tensors in zip(body.layers, result.outputs, strict=True):
                for port, tensor in zip(layer.outputs, tensors, strict=False):
                    yield layer, port, tensor

    @cached_property
    def precisions(self) -> set[str | None]:
        """The distinct precisions of ports. Contains None if some port has no precision."""
        sides = [ports for layer in self.every_layer for ports in (layer.inputs, layer.outputs)]
        return {port.precision for ports in sides for port in ports}

    def wiring(self, body: Body) -> Wiring:
        """Returns the wiring of a body: the output that feeds each input."""
        result = self.results.get(body)
        return self.shared(_wired, body) if result is None else result.wiring

    def links(self, body: Body) -> Links:
        """Returns the faults of the edges of a body."""
        return self.shared(_linked, body)

    # the reports of the reader and the inference

    @cached_property
    def _observations(self) -> dict[type, list[tuple[Layer, Any]]]:
        grouped: dict[type, list[tuple[Layer, Any]]] = {}
        for observation in self.inference.observations:
            subject = observation.subject
            grouped.setdefault(type(subject), []).append((observation.layer, subject))
        return grouped

    def observed(self, kind: type[T]) -> list[tuple[Layer, T]]:
        """Returns the inference records of the class `kind`, e.g. `Mismatch`, with their layers."""
        return self._observations.get(kind, [])

    @cached_property
    def reported(self) -> dict[RuleId, list[Finding]]:
        """The faults that the file reader and shape inference report, by rule.

        Leaves out the faults that inference finds in a node that the reader of another format, e.g.
        ONNX, refuses: the node may lack inputs.
        """
        by_rule: dict[RuleId, list[Finding]] = {}
        for finding in self.model.findings:
            by_rule.setdefault(finding.rule, []).append(finding)
        refused = {} if self.model.format.is_ir else self.read_under
        for layer, fault in self.observed(Fault):
            if layer not in refused:
                by_rule.setdefault(fault.rule, []).append(self.placed(layer, fault))
        for layer, (fault, _) in self.observed(AttributeFault):
            element = layer.data_offset if layer.data_offset >= 0 else layer.offset
            offset = self.model.source.attribute(element, fault.at)
            by_rule.setdefault(fault.rule, []).append(Finding(fault, offset, layer))
        return by_rule

    @cached_property
    def _misfits(self) -> list[tuple[Layer, Fault]]:
        return [each for each in self.observed(Fault) if each[1].rule == INPUT_SHAPES]

    def with_reasons(self, finding: Finding) -> Finding:
        """Returns the finding with the contradicting sizes in its message, if its layer rejects its
        inputs. For the first such layer, the message also names contradictions of model inputs.

        The search for these sizes takes a few times as long as inferring the model.
        """
        misfits, layer = self._misfits, finding.layer
        if layer is None or not any(each[0] is layer for each in misfits):
            return finding
        conflicts, fault = self._size_conflicts, finding.fault
        inputs = conflicts.of_inputs if layer is misfits[0][0] else ()
        reasons = [
            *(text for sizes, text in inputs if sizes <= self._sizes_into(layer)),
            *conflicts.of(layer),
        ]
        return finding._replace(fault=fault._replace(says="; ".join([fault.message, *reasons])))

    def _sizes_into(self, layer: Layer) -> set[int]:
        """Returns the sizes of all dimensions of a layer's inputs."""
        for body, result in self.results.items():
            if layer in body.layers:
                inputs = result.inputs.get(body.layers.index(layer), ())
                return {size for each in inputs if each is not None for size in each.shape.declared}
        return set()

    @cached_property
    def _size_conflicts(self) -> SizeConflicts:
        from ..inference.conflicts import size_conflicts, sizes_of_inputs

        return size_conflicts(self.model, sizes_of_inputs(self.inference))

    def placed(self, layer: Layer, fault: Fault) -> Finding:
        """Returns a finding for a fault of a layer, at the faulty input port or attribute."""
        position = _operand_position(layer, fault.at)
        if position is not None and position < len(layer.inputs):
            port = layer.inputs[position]
            return Finding(fault, port.offset, layer, ("input", port.id))
        if fault.at and layer.data_offset >= 0:
            offset = self.model.source.attribute(layer.data_offset, fault.at)
            if offset != layer.data_offset:
                return Finding(fault, offset, layer)
        return Finding(fault, layer.offset, layer)

    @cached_property
    def read_under(self) -> dict[Layer, set[RuleId]]:
        """Maps each layer to the ids of the rules that the file reader reports at the layer."""
        rules: dict[Layer, set[RuleId]] = {}
        for finding in self.model.findings:
            if finding.layer is not None:
                rules.setdefault(finding.layer, set()).add(finding.rule)
        return rules

    @cached_property
    def torn(self) -> bool:
        """Whether irshape skipped layers or edges, because their tag is misspelt or repeated.

        If so, no rule reports a missing layer or edge.
        """
        return any(
            finding.rule in (MISSPELT_ELEMENT, REPEATED_ELEMENT)
            and {finding.expected, finding.actual} & {"layers", "edges"}
            for finding in self.model.findings
        )

    @cached_property
    def doubtful(self) -> set[Layer]:
        """The layers with an invalid or missing attribute, or with a misspelt or repeated element.

        irshape infers their outputs with a default value, so their declared ports may be right.
        """
        lost = {MISSPELT_ELEMENT, REPEATED_ELEMENT}
        layers = {layer for layer, rules in self.read_under.items() if rules & lost}
        return layers | {
            layer
            for layer, attribute in self.observed(AttributeFault)
            if attribute.fault.rule != UNKNOWN_ATTRIBUTE
        }

    @cached_property
    def mistyped(self) -> set[Layer]:
        """The Const layers whose `element_type` contradicts both their own port and a port that
        they feed.

        irshape assumes that such an attribute is wrong, and the ports right.
        """
        differing: dict[Layer, ElementType] = {
            layer: mismatch.declared.element_type
            for layer, mismatch in self.observed(Mismatch)
            if layer.is_constant
            and mismatch.declared.element_type not in (mismatch.inferred.element_type, DYNAMIC_TYPE)
        }
        mistyped: set[Layer] = set()
        if not differing:
            return mistyped
        for body in self.bodies:
            for position, row in enumerate(self.wiring(body).sources):
                for port, source in zip(body.layers[position].inputs, row, strict=True):
                    if source is None:
                        continue
                    declared = differing.get(body.layers[source[0]])
                    if declared is not None and port.element_type is declared:
                        mistyped.add(body.layers[source[0]])
        return mistyped


def _wired(context: Context, body: Body) -> Wiring:
    return wire(body)


def _linked(context: Context, body: Body) -> Links:
    miscounted = {layer for layer, each in context.observed(Fault) if each.rule == INPUT_COUNT}
    miscounted |= {layer for layer, each in context.observed(OutputCount) if not each.declared}
    return Links(
        body,
        context.wiring(body),
        unread=context.torn or context.model.kind == "layers",
        miscounted=miscounted,
    )


def _operand_position(layer: Layer, name: str) -> int | None:
    """Returns the position of the operation's input `name`; None if it has no such input."""
    try:
        if layer.version:
            operands = registry.find(layer.type, layer.version).operands
        else:
            operands = registry.versions(layer.type)[-1].operands
    except LookupError:
        return None
    return next((i for i, operand in enumerate(operands) if operand.name == name), None)
