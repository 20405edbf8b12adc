"""Changes declared ports to the types and shapes that OpenVINO infers.

OpenVINO ignores the declarations of ports: the changes do not affect what it computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..element_types import ElementType
from ..faults import Fault
from ..formats.ir.edits import Edit, set_attribute, set_dims
from ..inference.engine import infer
from ..inference.mismatches import mismatches
from ..inference.ports import declared
from ..inference.result import BodyResult, Inference, Mismatch
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..model.source import Source
from ..ops import registry
from ..ops.tensors import Tensor
from ..rule_ids import OUTPUT_SHAPE_MISMATCH, RuleId
from ..rules import Context, rule_of
from ..rules.precisions import inputs_unlike_others
from ..shapes import Dimension, PartialShape

PortKey = tuple[Layer, str, str]
"""The layer, the direction and the id of a port."""


class Declaration(NamedTuple):
    """The dimensions and the precision that a port should declare."""

    dims: tuple[int, ...] | None
    precision: str | None


def asks_for_ports(findings: Iterable[Finding]) -> bool:
    """Returns whether an error or a warning concerns the declaration of a port."""
    return any(
        rule is not None and "ports" in rule.suspects
        for each in findings
        if each.severity != "info"
        for rule in [rule_of(each.rule)]
    )


def port_edits(
    context: Context, findings: list[Finding], evidence: set[Layer]
) -> dict[PortKey, tuple[Edit, ...]]:
    """Returns the edits that make ports declare what OpenVINO infers, where this is certain.

    The edits of an output port include those of the inputs that it feeds. Returns no edits if an
    error makes the edges uncertain. Also returns none if no error or warning is about ports and no
    Parameter was edited. evidence: layers whose ports do not change, since they may be right.
    """
    edited = any(map(_of_edited_input, findings))
    if not edited and not asks_for_ports(findings):
        return {}
    errors = [(each, rule_of(each.rule)) for each in findings if each.severity == "error"]
    if any(rule is not None and rule.doubt == "wiring" for _, rule in errors):
        return {}
    doubted = (
        context.doubtful
        | evidence
        | {
            each.layer
            for each, rule in errors
            if each.layer is not None and (rule is None or rule.doubt == "layer")
        }
    )
    inference = context.shared(as_read)
    refused = _faults(inference) - _faults(context.inference)
    if refused:
        doubted |= _leading_to(inference.result, {layer for layer, _ in refused})
    return dict(_Ports(context, doubted, whole=edited).of_body(inference.result))


def _of_edited_input(finding: Finding) -> bool:
    """Returns whether a finding says that a Parameter's port contradicts its `shape` or
    `element_type`.

    This happens if somebody edits a Parameter. The ports then do not describe the edited model.
    """
    rule, layer = rule_of(finding.rule), finding.layer
    own = layer is not None and layer.is_parameter and not layer.path
    return own and rule is not None and "ports" in rule.suspects


def as_read(context: Context) -> Inference:
    """Returns an inference of the model that ignores all declared ports, as OpenVINO does."""
    return infer(context.model, known=context.inference)


def _faults(inference: Inference) -> set[tuple[Layer, RuleId]]:
    return {
        (layer, subject.rule)
        for layer, subject in inference.observations
        if isinstance(subject, Fault)
    }


def _leading_to(result: BodyResult, refusing: set[Layer]) -> set[Layer]:
    """Returns the layers that may give a layer in `refusing` the types or shapes that it refuses.

    These are its producers whose declared ports contradict the inferred types and shapes, their
    producers with such ports, and so on. Since OpenVINO refuses the file, the ports may be right.
    """
    leading: set[Layer] = set()
    for part in result.walk():
        layers = part.body.layers
        waiting = [at for at, layer in enumerate(layers) if layer in refusing]
        while waiting:
            for source in part.wiring.sources[waiting.pop()]:
                if source is None or layers[source[0]] in leading:
                    continue
                producer = layers[source[0]]
                if mismatches(producer, part.outputs[source[0]]):
                    leading.add(producer)
                    waiting.append(source[0])
    return leading


def further_contradictions(context: Context, reported: list[Finding]) -> Iterator[Finding]:
    """Yields findings on ports that contradict the rest of the file but that no rule reports.

    After a port that a rule reports, irshape infers from the declared shape. Rules thus miss ports
    whose shapes depend on values computed from this shape, e.g. a Range after a ShapeOf.
    """
    named = {each.layer for each in reported}
    for result in context.shared(as_read).result.walk():
        layers, wrong = result.body.layers, set[tuple[int, int]]()
        differing: list[tuple[int, Mismatch]] = []
        for position, layer in enumerate(layers):
            for each in mismatches(layer, _outputs(result, position)):
                if not each.says_less:
                    wrong.add((position, each.position))
                    differing.append((position, each))
        for position, each in differing:
            row, layer = result.wiring.sources[position], layers[position]
            if (
                layer in named
                or position in result.unsure
                or not wrong.isdisjoint(filter(None, row))
            ):
                continue
            if each.declared.shape.compatible(each.inferred.shape):
                continue
            port = layer.outputs[each.position]
            said, there = str(each.declared.shape), str(each.inferred.shape)
            message = f"declared {said}, but without declared ports irshape infers {there}"
            fault = Fault(OUTPUT_SHAPE_MISMATCH, message, "", there, said)
            yield Finding(fault, port.offset, layer, ("output", port.id))


class _Ports:
    """Makes the edits of all ports of a model.

    doubted: layers whose inferred outputs are uncertain.
    whole: whether to also edit ports that declare less than irshape infers, e.g. -1 for 3.
    """

    def __init__(self, context: Context, doubted: set[Layer], *, whole: bool) -> None:
        self.source = context.model.source
        self.doubted = doubted
        self.whole = whole
        self.lacking = {port for _, port in context.shared(inputs_unlike_others)}
        """Input ports without a precision, although other input ports of the file have one."""

    def of_body(self, result: BodyResult) -> Iterator[tuple[PortKey, tuple[Edit, ...]]]:
        """Yields the edits of the ports in a body and in the bodies inside it."""
        layers, doubted = result.body.layers, _spread(result, self.doubted)
        for position, layer in enumerate(layers):
            trusted = position not in doubted
            if trusted:
                for inner in result.inner.get(position, {}).values():
                    yield from self.of_body(inner)
            tensors = _outputs(result, position) if trusted else ()
            sure = position not in result.unsure
            for out, port in enumerate(layer.outputs):
                wanted = Declaration(port.dims, port.precision)
                if out < len(tensors):
                    wanted = wanted_of(port, tensors[out], sure=sure, whole=self.whole)
                mine = edits_of(self.source, port, wanted)
                others: list[Edit] = []
                for user in result.wiring.users[position] if trusted else ():
                    if user.output != out:
                        continue
                    consumer = layers[user.position]
                    target = consumer.inputs[user.input]
                    its = self._input(consumer, target, wanted)
                    if its:
                        yield (consumer, "input", target.id), its
                    others += its
                if mine:
                    yield (layer, "output", port.id), (*mine, *others)

    def _input(self, consumer: Layer, port: Port, wanted: Declaration) -> tuple[Edit, ...]:
        """Returns edits that give an input port the type and shape of the output that feeds it."""
        if consumer in self.doubted or (port.dims == () and port.precision is None):
            return ()  # the ports of the consumer are evidence, or the port declares nothing
        named = None if wanted.precision is None else ElementType.of_precision(wanted.precision)
        silent = port.precision is None and port not in self.lacking
        if silent or named is None or named.is_dynamic or named is port.element_type:
            wanted = wanted._replace(precision=None)
        return edits_of(self.source, port, wanted)


def _outputs(result: BodyResult, position: int) -> tuple[Tensor, ...]:
    """Returns the outputs of a layer; for a Parameter, the tensor that its attributes declare."""
    layer = result.body.layers[position]
    own = own_output(layer) if layer.is_parameter else None
    return result.outputs[position] if own is None else (own,)


def own_output(parameter: Layer) -> Tensor | None:
    """Returns the element type and shape in the attributes of a Parameter.

    Returns None for a Parameter in a body, whose type and shape come from outside the body.
    """
    if parameter.path:
        return None
    try:
        operation = registry.find(parameter.type, parameter.version)
    except registry.UnknownOperation:
        return None
    own = operation.read(parameter.items)[0].infer()
    return own if isinstance(own, Tensor) else None


def _spread(result: BodyResult, doubted: set[Layer]) -> set[int]:
    """Returns the positions of the doubted layers and of all layers that depend on them."""
    spread = {at for at, layer in enumerate(result.body.layers) if layer in doubted}
    for at in result.wiring.order if spread else ():
        if any(ref is not None and ref[0] in spread for ref in result.wiring.sources[at]):
            spread.add(at)
    return spread


def wanted_of(port: Port, tensor: Tensor, *, sure: bool, whole: bool = False) -> Declaration:
    """Returns the dimensions and the precision that an output port should declare.

    These are the inferred ones. A port that declares less than irshape infers, e.g. -1 for 3, is
    changed only if `whole` is true.
    sure: whether the tensor is independent of declared ports. If not, the tensor may be less
    specific than intended, so only impossible sizes are replaced.
    """
    dims, precision = port.dims, port.precision
    if dims == tensor.shape.declared and precision == tensor.element_type.precision:
        return Declaration(dims, precision)
    inferred, said = tensor.shape, declared(port, tensor).shape
    if sure and (dims is None or whole or not said.encloses(inferred)):
        dims = () if inferred.dims is None else inferred.declared
    elif not sure and dims is not None and not said.compatible(inferred):
        dims = _merged(dims, inferred)
    named = None if precision is None else ElementType.of_precision(precision)
    if not tensor.element_type.is_dynamic and (
        named is None or not (named.is_dynamic or named is tensor.element_type)
    ):
        precision = tensor.element_type.precision
    return Declaration(dims, precision)


def _merged(dims: tuple[int, ...], shape: PartialShape) -> tuple[int, ...]:
    """Returns declared dimensions, with the inferred dimension in place of each impossible one."""
    inferred = shape.declared
    if len(dims) != len(inferred):
        return inferred
    known = zip(dims, inferred, shape.dims or (), strict=True)
    return tuple(
        size if size < 0 or there.compatible(Dimension(size)) else written
        for size, written, there in known
    )


def edits_of(source: Source, port: Port, wanted: Declaration) -> tuple[Edit, ...]:
    """Returns the edits that make a port declare `wanted`; none if it already does."""
    edits: list[Edit] = []
    if wanted.dims is not None and port.dims != wanted.dims:
        edits += set_dims(source, port.offset, wanted.dims)
    if wanted.precision is not None and port.precision != wanted.precision:
        edit = set_attribute(source, port.offset, "precision", wanted.precision, after="id")
        if edit is not None:
            edits.append(edit)
    return tuple(edits)
