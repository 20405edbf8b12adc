"""IR2xx: declarations of output ports, compared with the inferred types and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..inference.declarations import Declarations
from ..inference.result import BodyResult, Mismatch
from ..model.graph import Finding, Layer
from ..model.ports import Port
from ..model.weights import small_values
from ..ops import registry
from ..ops.tensors import Tensor
from ..rule_ids import (
    LOOSER_DECLARATION,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNPROVEN_DIMENSION,
    RuleId,
    Severity,
)
from ..shapes import PartialShape
from .attribute_values import deciding_attributes, places
from .base import Rule
from .context import Context

MAX_QUOTED = 8
"""Messages quote only constants with at most this many elements."""
MAX_EXPLAINED = 100
"""If more declared shapes than this are wrong, messages name no attributes."""
MAX_QUOTING = 20
"""If more declared shapes than this are wrong, messages quote no constants."""


class OutputDifference(NamedTuple):
    """An output port whose declaration differs from its inferred tensor."""

    layer: Layer
    port: Port
    declared: Tensor
    inferred: Tensor
    unknown: str = ""
    """For a single layer: the inputs whose unknown values determine the shape, as text."""


def output_differences(context: Context) -> dict[RuleId, list[OutputDifference]]:
    """Returns wrong declarations of output ports, by the rule that reports them."""
    mismatches = context.observed(Mismatch)
    by_rule: dict[RuleId, list[OutputDifference]] = {}
    unsure = _unsure(context.inference.result) if mismatches else set()
    for layer, mismatch in mismatches:
        if layer in context.doubtful:
            continue
        port = layer.outputs[mismatch.position]
        difference = OutputDifference(layer, port, mismatch.declared, mismatch.inferred)
        given, inferred = difference.declared, difference.inferred
        if (
            layer not in context.mistyped
            and not given.element_type.is_dynamic
            and not inferred.element_type.is_dynamic
            and given.element_type is not inferred.element_type
        ):
            by_rule.setdefault(OUTPUT_TYPE_MISMATCH, []).append(difference)
        rule = _shape_rule(difference, layer in unsure)
        if rule is None and context.model.kind == "layers":
            rule, difference = _without_values(context, mismatch.position, difference)
        if rule is not None:
            by_rule.setdefault(rule, []).append(difference)
    return by_rule


def _shape_rule(difference: OutputDifference, unsure: bool) -> RuleId | None:
    """Returns the rule that a declared shape breaks; None if the shape is right or possible.

    unsure: whether the inferred shape depends on declared ports, e.g. after an unknown operation.
    """
    layer, port = difference.layer, difference.port
    given, inferred = difference.declared.shape, difference.inferred.shape
    if given == inferred or port.dims is None:
        return None
    if not given.compatible(inferred):
        return OUTPUT_SHAPE_MISMATCH
    if unsure:
        return None
    if not given.encloses(_as_port(inferred)):
        return UNPROVEN_DIMENSION
    if layer.is_read_value or _as_port(given) == _as_port(inferred):
        return None
    return LOOSER_DECLARATION


def _without_values(
    context: Context, output: int, difference: OutputDifference
) -> tuple[RuleId | None, OutputDifference]:
    """Checks a declared shape if the inferred shape depends on unknown values of inputs. Returns
    the rule that the declared shape breaks (or None), and the difference with the inputs' names.

    Tries all values that inputs such as axes, orders and target shapes can have.
    """
    layer, given = difference.layer, difference.declared.shape
    result = context.inference.result
    inputs = result.inputs.get(result.body.layers.index(layer))
    declaration = Declarations(context.model).of(layer)
    if inputs is None or isinstance(declaration, registry.UnknownOperation) or not given.dims:
        return None, difference
    known = tuple(tensor for tensor in inputs if tensor is not None)
    if len(known) < len(inputs) or given == difference.inferred.shape:
        return None, difference
    from ..inference.attainable import attainable, unknown_operands

    names = unknown_operands(declaration[0], known)
    if not names or difference.port.dims is None:
        return None, difference
    difference = difference._replace(unknown=" and ".join(f"`{name}`" for name in names))
    if attainable(declaration[0], known, output, given) is False:
        return OUTPUT_SHAPE_MISMATCH, difference
    return UNPROVEN_DIMENSION, difference


def _unsure(result: BodyResult) -> set[Layer]:
    """Returns the layers, also in bodies, whose inferred outputs depend on declared ports."""
    layers = {result.body.layers[position] for position in result.unsure}
    for inner in result.inner.values():
        for body in inner.values():
            layers |= _unsure(body)
    return layers


def _as_port(shape: PartialShape) -> PartialShape:
    """Returns the shape as a port can declare it: each dimension is one size, or -1."""
    if shape.dims is None:
        return shape
    return PartialShape(dim if dim.is_static else -1 for dim in shape.dims)


def _advice(context: Context, shape: PartialShape) -> str:
    """Returns advice on how to declare a shape, e.g. `declare <dim>2</dim><dim>3</dim>`."""
    if not context.model.format.is_ir:
        return f"declare {shape}"
    if not shape.dims:
        return "remove every <dim> of the port"
    sizes = [dim.low if dim.is_static else -1 for dim in shape.dims[:8]]
    more = "…" if len(shape.dims) > 8 else ""
    return "declare " + "".join(f"<dim>{size}</dim>" for size in sizes) + more


def _shape_finding(
    rule: type[Rule],
    difference: OutputDifference,
    message: str,
    *,
    help: str,
    severity: Severity | None = None,
) -> Finding:
    """Returns a rule's finding about the shape that a port declares."""
    return rule.finding(
        message,
        difference.port,
        difference.layer,
        expected=str(difference.inferred.shape),
        actual=str(difference.declared.shape),
        help=help,
        severity=severity,
    )


class OutputShapeMismatch(Rule):
    """An output port declares a shape that the layer cannot have.

    ## What it does
    Compares the `<dim>`s of every output port, also inside bodies, with the shape that follows from
    the operation, its attributes and its inputs. irshape infers the layers after the port from its
    declared shape, so that one mistake causes one finding.

    ## Why it matters
    The file contradicts itself. Tools and people that trust the ports work with a wrong shape.

    ## What OpenVINO does
    Silently ignores the shapes that output ports declare, and infers the shapes itself.

    ## Example
    ```xml
    <!-- the mean of a [2,3] over axis 1, with keep_dims="true" -->
    <output><port id="2" precision="FP32"><dim>2</dim></port></output>
    ```

    ## How to fix it
    Declare the inferred shape. If the declared shape is the intended one, correct the attributes or
    the inputs.

    ## Use instead
    ```xml
    <output><port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port></output>
    ```
    """

    doubt = "values"
    suspects = ("ports", "attributes", "sources", "constants")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        differences = context.shared(output_differences).get(cls.id, ())
        for difference in differences:
            given, inferred = difference.declared.shape, difference.inferred.shape
            reason = _reason(given, inferred)
            decided = _attributes(context, difference.layer, len(differences))
            if context.reasons and len(differences) <= MAX_QUOTING:
                reason += _decided_by(context, difference.layer)
            if difference.unknown:
                reason = f": no value of {difference.unknown} gives the declared shape"
            yield _shape_finding(
                cls,
                difference,
                f"declared {given}, inferred {inferred}{decided}{reason}",
                help=f"{_advice(context, inferred)}, or correct the inputs or attributes of the "
                f"layer{_or_the_class(difference.layer)}",
            )


def _or_the_class(layer: Layer) -> str:
    """For a custom operation, returns text that says that `infer` of its class may be wrong."""
    operation = registry.declaration_of(layer)
    if operation is None or operation.custom_version is None:
        return ""
    return f", or `infer` of the class {operation.__name__}"


def _attributes(context: Context, layer: Layer, differences: int) -> str:
    """Returns text such as ` with keep_dims=false`, which names attributes that may be wrong. The
    text is empty for more than `MAX_EXPLAINED` findings."""
    if not context.reasons or differences > MAX_EXPLAINED:
        return ""
    return context.shared(deciding_attributes, layer)


def _decided_by(context: Context, layer: Layer) -> str:
    """Returns text that quotes the small constants whose values determine a shape."""
    place = context.shared(places).get(layer)
    declaration = Declarations(context.model).of(layer)
    if place is None or isinstance(declaration, registry.UnknownOperation):
        return ""
    result, position = place
    sources = result.wiring.sources[position]
    constants = dict(context.constants)
    quoted = []
    for index, operand in declaration[0].signature.valued:
        source = sources[index] if index < len(sources) else None
        producer = None if source is None else result.body.layers[source[0]]
        constant = constants.get(producer) if producer is not None else None
        if producer is None or constant is None or not 0 <= constant.elements <= MAX_QUOTED:
            continue
        values = small_values(constant)
        if values is not None:
            line, _ = context.model.source.place(producer.offset)
            text = ",".join(map(str, values))
            quoted.append(f"`{operand.name}` is [{text}] ({producer.label} in line {line})")
    return f"; {', '.join(quoted)}" if quoted else ""


def _reason(given: PartialShape, inferred: PartialShape) -> str:
    """Describes a difference in rank or in one dimension; empty if several dimensions differ."""
    if given.dims is None or inferred.dims is None:
        return ""
    if len(given.dims) != len(inferred.dims):
        return f": rank {len(given.dims)} instead of {len(inferred.dims)}"
    wrong = [
        axis
        for axis, (here, there) in enumerate(zip(given.dims, inferred.dims, strict=True))
        if not here.compatible(there)
    ]
    if len(wrong) != 1 or len(given.dims) == 1:
        return ""
    return f": dimension {wrong[0]} is {inferred.dims[wrong[0]]}, not {given.dims[wrong[0]]}"


class OutputTypeMismatch(Rule):
    """An output port declares an element type that the layer cannot have.

    ## What it does
    Compares the `precision` of every output port with the element type that follows from the
    operation and its inputs.

    ## Why it matters
    The file contradicts itself. Often a part of the model was converted to another type, but its
    ports were not.

    ## What OpenVINO does
    Silently ignores the declared type, as long as it is the name of an element type.

    ## Example
    ```xml
    <output>
        <port id="2" precision="I32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```

    ## How to fix it
    Declare the inferred type. If the declared type is the intended one, insert a Convert.

    ## Use instead
    ```xml
    <output>
        <port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port>
    </output>
    ```
    """

    doubt = "values"
    suspects = ("ports", "attributes", "sources", "constants")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        written = context.model.format.is_ir
        differences = context.shared(output_differences).get(cls.id, ())
        for difference in differences:
            decided = _attributes(context, difference.layer, len(differences))
            given, inferred = difference.declared.element_type, difference.inferred.element_type
            if written:
                expected, actual = inferred.precision, difference.port.precision
                message = f"declared precision {actual}, inferred {expected}{decided}"
                hint = f'write precision="{expected}"' + (
                    _or_the_class(difference.layer)
                    or f"; OpenVINO ignores the declared precision and uses {inferred}"
                )
            else:
                expected, actual = str(inferred), str(given)
                message = f"declared {actual}, inferred {expected}{decided}"
                hint = f"declare {inferred}, or convert the inputs of the node"
            yield cls.finding(
                message,
                context.model.source.attribute(difference.port.offset, "precision"),
                difference.layer,
                port=("output", difference.port.id),
                expected=expected,
                actual=actual,
                help=hint,
            )


class UnprovenDimension(Rule):
    """An output port declares a size that nothing in the file guarantees.

    ## What it does
    Reports a port that declares a static dimension where irshape infers a dynamic one. The declared
    size is possible, but not certain.

    ## Why it matters
    The layer may produce another size than the file says. Often an input was made dynamic, but the
    ports after it were not.

    ## What OpenVINO does
    Silently ignores the declared size, and uses the dynamic dimension.

    ## Example
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Declare the dimension as -1, or make the input static.

    ## Use instead
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>-1</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    suspects = ("ports", "attributes")

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        differences = context.shared(output_differences).get(cls.id, ())
        for difference in differences:
            given, inferred = difference.declared.shape, difference.inferred.shape
            if difference.unknown:
                yield _shape_finding(
                    cls,
                    difference,
                    f"declared {given}, but irshape infers {inferred}, because the value of "
                    f"{difference.unknown} is not known",
                    help="give the value with --value, or in a comment beside the port",
                    severity="info",
                )
                continue
            yield _shape_finding(
                cls,
                difference,
                f"declared {given}, but irshape infers only {inferred}"
                f"{_attributes(context, difference.layer, len(differences))}: nothing in the file "
                + ("fixes the rank" if inferred.dims is None else "makes the dimension static"),
                help=_advice(context, inferred),
                # in other formats, the exporter vouches for a declared shape
                severity=None if context.model.format.is_ir else "info",
            )


class LooserDeclaration(Rule):
    """An output port declares a dynamic dimension whose size is certain.

    ## What it does
    Reports a port that declares a dynamic dimension where irshape infers a size.

    ## Why it matters
    The file is correct, but less precise than it could be. Often a Parameter was made static, but
    the ports after it were not.

    ## What OpenVINO does
    Ignores the declared dimension, and uses the inferred size.

    ## Example
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>-1</dim><dim>3</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Declare the size, or do nothing. After a Parameter was edited, `irshape fix` updates all ports.

    ## Use instead
    ```xml
    <layer id="2" name="relu" type="ReLU" version="opset1">
        <input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    ```
    """

    trifling = True
    suspects = ("ports",)

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for difference in context.shared(output_differences).get(cls.id, ()):
            given, inferred = difference.declared.shape, difference.inferred.shape
            yield _shape_finding(
                cls,
                difference,
                f"declared {given}, but irshape infers the more precise {inferred}",
                help=_advice(context, inferred),
            )
