"""Corrections of what ports declare.

Every port is compared with an inference that uses the operations, their attributes and the inputs
of the model alone, so that a model whose input was changed is corrected in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..faults import Fault
from ..formats.ir.edits import add_attribute, read_dims, set_attribute, set_dims
from ..inference.engine import infer
from ..inference.ports import declared
from ..inference.result import BodyResult, Inference
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..ops import registry
from ..ops.tensors import Tensor
from ..rule_ids import (
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    LOOSER_DECLARATION,
    MALFORMED_DIM,
    MISSING_PRECISION,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNKNOWN_PRECISION,
    RuleId,
)
from ..shapes import PartialShape
from .base import Cure
from .context import Context
from .input_precisions import inputs_unlike_others

Dims = tuple[int, ...] | None


def port_corrections(context: Context, findings: Sequence[Finding]) -> dict[RuleId, list[Cure]]:
    """The corrections of all ports, by the rule that each belongs to.

    There are none where no finding asks for one, or where an error leaves open which layers feed
    each other.
    """
    from . import rule_of

    rules = {finding.rule: rule_of(finding.rule) for finding in findings}
    errors = [finding for finding in findings if finding.severity == "error"]
    asked = any(rule is not None and rule.phase == "ports" for rule in rules.values())
    doubts = {rule_id: "layer" if rule is None else rule.doubt for rule_id, rule in rules.items()}
    if not asked or any(doubts[error.rule] == "wiring" for error in errors):
        return {}
    inference = infer(context.model)
    before, after = _faults(context.inference), _faults(inference)
    excused = before - after
    blocked = {
        error.layer
        for error in errors
        if error.layer is not None
        and doubts[error.rule] == "layer"
        and (error.layer, error.rule) not in excused
    }
    blocked |= context.doubtful | context.mistyped
    if after - before:  # if all ports followed what is inferred, more would be refused
        blocked |= _leading_astray(inference.result, {layer for layer, _ in after - before})
    ports = Ports(context, inference.result, blocked)
    by_rule: dict[RuleId, list[Cure]] = {}
    for cure in ports.corrections():
        by_rule.setdefault(cure.finding.rule, []).append(cure)
    return by_rule


def _faults(inference: Inference) -> set[tuple[Layer, RuleId]]:
    """What layers refuse. Where ports are not believed, what only they gave cause for is gone."""
    return {
        (layer, subject.rule)
        for layer, subject in inference.observations
        if isinstance(subject, Fault)
    }


def _leading_astray(result: BodyResult, refusing: set[Layer]) -> set[Layer]:
    """The layers before some that refuse what is inferred, as far as their ports declare something
    else: it is more likely that these are right, and that something before them is wrong."""
    astray: set[Layer] = set()
    for part in result.walk():
        layers, sources = part.body.layers, part.wiring.sources
        waiting = [at for at, layer in enumerate(layers) if layer in refusing]
        for at in waiting:
            for source in sources[at]:
                if source is None or layers[source[0]] in astray:
                    continue
                producer, tensors = layers[source[0]], part.outputs[source[0]]
                ports = zip(producer.outputs, tensors, strict=False)
                if any(_differ(port, tensor) for port, tensor in ports):
                    astray.add(producer)
                    waiting.append(source[0])
    return astray


class Ports:
    """Compares every port of a model with an inference that believes none of them."""

    def __init__(self, context: Context, result: BodyResult, blocked: set[Layer]) -> None:
        self.context = context
        self.source = context.model.source
        self.blocked = blocked
        """Layers whose inference proves nothing about their outputs."""
        self.result = result
        self.tainted: set[Layer] = set()
        """Layers whose outputs are unknown because something before them is in doubt."""
        self.lacking = {port for _, port in context.shared(inputs_unlike_others)}
        self.corrected: dict[Port, tuple[Dims, str | None]] = {}
        """The dimensions and the precision of output ports after the correction."""
        self.fed: dict[Port, list[Port]] = {}
        """The input ports that output ports feed."""

    def corrections(self) -> Iterator[Cure]:
        for _ in range(len(self.context.bodies) + 1):
            before = len(self.tainted)
            self.taint(self.result, False)
            if len(self.tainted) == before:
                break
        yield from self.in_body(self.result)

    def in_body(self, result: BodyResult) -> Iterator[Cure]:
        """The corrections in one body and those inside it."""
        layers = result.body.layers
        for layer, row in zip(layers, result.wiring.sources, strict=True):
            for port, source in zip(layer.inputs, row, strict=True):
                if source is not None:
                    feeding = layers[source[0]].outputs[source[1]]
                    self.fed.setdefault(feeding, []).append(port)
        for position in result.wiring.order:
            layer = layers[position]
            if layer not in self.tainted and layer not in self.blocked:
                own = _own_output(layer)
                tensors = result.outputs[position] if own is None else (own,)
                for port, tensor in zip(layer.outputs, tensors, strict=False):
                    yield from self.output(layer, port, tensor, position not in result.unsure)
            for body in result.inner.get(position, {}).values():
                yield from self.in_body(body)
        for position, row in enumerate(result.wiring.sources):
            layer = layers[position]
            for port, source in zip(layer.inputs, row, strict=True):
                if source is not None and layers[source[0]] not in self.tainted:
                    yield from self.input(layer, port, layers[source[0]].outputs[source[1]])

    def taint(self, result: BodyResult, whole: bool) -> None:
        """Marks the layers in doubt whose ports show it, and all that depend on them."""
        layers = result.body.layers
        for position in result.wiring.order:
            layer = layers[position]
            own = _own_output(layer)
            fed = result.outputs[position]
            doubtful = whole or any(
                source is not None and layers[source[0]] in self.tainted
                for source in result.wiring.sources[position]
            )
            doubtful = doubtful or (
                own is not None and bool(fed) and not own.shape.compatible(fed[0].shape)
            )
            if layer in self.blocked and not doubtful:
                doubtful = any(
                    _differ(port, tensor) for port, tensor in zip(layer.outputs, fed, strict=False)
                )
            inner = result.inner.get(position, {})
            for body in inner.values():
                self.taint(body, doubtful)
            if doubtful or any(
                inside in self.tainted for body in inner.values() for inside in body.body.layers
            ):
                self.tainted.add(layer)

    def output(self, layer: Layer, port: Port, tensor: Tensor, certain: bool) -> Iterator[Cure]:
        """The corrections of an output port. certain: the tensor rests on inference alone."""
        precision = port.precision
        new_precision = self.output_precision(port, tensor, certain)
        if new_precision is not None:
            rule, precision = new_precision
            yield from self.set_precision(rule, layer, port, "output", precision)
        dims = port.dims
        new_dims = self.output_dims(layer, port, tensor, certain)
        if new_dims is not None:
            rule, dims = new_dims
            yield from self.set_dims(rule, layer, port, "output", dims)
        self.corrected[port] = (dims, precision)

    def output_precision(
        self, port: Port, tensor: Tensor, certain: bool
    ) -> tuple[RuleId, str] | None:
        """The precision that an output port should declare, and the rule; None to leave it."""
        element_type = tensor.element_type
        if port.element_type is None:
            missing = port.precision is None
            if not certain and element_type.is_dynamic:
                return None
            if missing and self.context.model.kind != "net":
                return None
            return (MISSING_PRECISION if missing else UNKNOWN_PRECISION), element_type.precision
        given = declared(port, tensor).element_type
        if element_type.is_dynamic or given.is_dynamic or given is element_type:
            return None
        return OUTPUT_TYPE_MISMATCH, element_type.precision

    def output_dims(
        self, layer: Layer, port: Port, tensor: Tensor, certain: bool
    ) -> tuple[RuleId, tuple[int, ...]] | None:
        """The dimensions that an output port should declare, and the rule; None to leave them."""
        shape = tensor.shape
        if shape.dims is None:
            return None
        inferred = tuple(dim.low if dim.is_static else -1 for dim in shape.dims)
        if port.dims is None:
            written = read_dims(self.source, port.offset)
            dims: Dims = inferred
            if not certain and len(written) == len(inferred):
                sizes = zip(written, inferred, strict=True)
                kept = tuple(there if size is None else size for size, there in sizes)
                dims = _merged(kept, shape)
            return MALFORMED_DIM, dims or inferred
        given = declared(port, tensor).shape
        if given == shape:
            return None
        if not given.compatible(shape):
            dims = inferred if certain else _merged(port.dims, shape)
            return OUTPUT_SHAPE_MISMATCH, dims or inferred
        if (
            certain
            and port.dims != inferred
            and layer.folded_type not in ("parameter", "readvalue")
            and given.encloses(PartialShape(inferred))
            and any(fed.dims == inferred for fed in self.fed.get(port, ()))
        ):  # where no port behind it says more, it is as it was meant
            return LOOSER_DECLARATION, inferred
        return None

    def input(self, layer: Layer, port: Port, feeding: Port) -> Iterator[Cure]:
        """The corrections of an input port to what the output port that feeds it declares."""
        dims, precision = self.corrected.get(feeding, (feeding.dims, feeding.precision))
        if not port.dims and port.dims is not None and port.precision is None:
            return  # it declares nothing
        if dims is not None and port.dims != dims:
            rule = MALFORMED_DIM if port.dims is None else INPUT_MISMATCH
            yield from self.set_dims(rule, layer, port, "input", dims)
        there = declared(Port("", precision, None, 0, dims)).element_type
        if there.is_dynamic or (port.precision is None and port not in self.lacking):
            return
        here = port.element_type
        if here is None:
            rule = MISSING_PRECISION if port.precision is None else UNKNOWN_PRECISION
            yield from self.set_precision(rule, layer, port, "input", there.precision)
        elif not here.is_dynamic and here is not there:
            yield from self.set_precision(
                INPUT_TYPE_MISMATCH, layer, port, "input", there.precision
            )

    def set_dims(
        self, rule: RuleId, layer: Layer, port: Port, direction: str, dims: tuple[int, ...]
    ) -> Iterator[Cure]:
        edits = set_dims(self.source, port.offset, dims)
        if not edits:
            return
        before, after = _shown(port.dims), _shown(dims)
        message = f"{direction} port {port.id}: {before} becomes {after}"
        fault = Fault(rule, message, expected=after, actual=before)
        yield Cure(Finding(fault, port.offset, layer, (direction, port.id)), tuple(edits))

    def set_precision(
        self, rule: RuleId, layer: Layer, port: Port, direction: str, precision: str
    ) -> Iterator[Cure]:
        if port.precision is None:
            offset = port.offset
            edit = add_attribute(self.source, offset, "precision", precision, after="id")
            change = f"precision {precision} is added"
        else:
            offset = self.source.attribute(port.offset, "precision")
            edit = set_attribute(self.source, offset, precision)
            change = f"precision {port.precision} becomes {precision}"
        if edit is not None:
            message = f"{direction} port {port.id}: {change}"
            fault = Fault(rule, message, expected=precision, actual=port.precision)
            yield Cure(Finding(fault, offset, layer, (direction, port.id)), (edit,))


def _shown(dims: Dims) -> str:
    if dims is None:
        return "malformed"
    return str(PartialShape(dims)) if dims else "no dimensions"


def _own_output(layer: Layer) -> Tensor | None:
    """What the attributes of a Parameter say that it is; None for other layers."""
    if not layer.is_parameter:
        return None
    try:
        tensor = registry.find(layer.type, layer.version).read(layer.items)[0].infer()
    except registry.UnknownOperation:
        return None
    return tensor if isinstance(tensor, Tensor) else None


def _differ(port: Port, tensor: Tensor) -> bool:
    """Whether a port declares something other than a tensor."""
    given = declared(port, tensor)
    types = (given.element_type, tensor.element_type)
    return (
        port.dims is None
        or given.shape != tensor.shape
        or (types[0] is not types[1] and not any(each.is_dynamic for each in types))
    )


def _merged(dims: tuple[int, ...], shape: PartialShape) -> Dims:
    """The declared dimensions, with those replaced that cannot be; None if the ranks differ."""
    if shape.dims is None or len(dims) != len(shape.dims):
        return None
    merged = []
    for size, inferred, given in zip(dims, shape.dims, PartialShape(dims).dims or (), strict=True):
        if size < 0 or inferred.compatible(given):
            merged.append(size)
        else:
            merged.append(inferred.low if inferred.is_static else -1)
    return tuple(merged)
