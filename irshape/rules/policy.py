"""IR9xx: the user's own policy, from `[tool.irshape.policy]`. Without one, none of these rules says anything. See docs/configuration.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..faults import Fault
from ..model.graph import Finding, Layer, Model
from ..rule_ids import (
    EXPECTED_INPUTS,
    EXPECTED_OUTPUTS,
    FORBIDDEN_ELEMENT_TYPE,
    FORBIDDEN_OPERATION,
    LAYERS_LIMIT,
    REQUIRED_OPERATION,
    STATIC_BATCH,
    WEIGHTS_LIMIT,
    RuleId,
)
from .base import Rule
from .context import Context

if TYPE_CHECKING:
    from ..ops.tensors import Tensor
    from .settings import ExpectedPort


def _start(model: Model) -> int:
    """Where a finding about the whole model is placed: at <net>, or the first layer of a file of layers."""
    return (
        max(model.source.data.find(b"<net"), 0)
        if model.kind == "net"
        else (model.layers[0].offset if model.layers else 0)
    )


def _is(layer: Layer, operation: str) -> bool:
    """Whether a layer is an operation as a policy names it: `TYPE` or `TYPE@VERSION`, the type without regard to case, as OpenVINO reads it."""
    name, _, version = operation.partition("@")
    return layer.type.lower() == name.lower() and (not version or layer.version == version)


class RequiredOperation(Rule):
    """The policy requires an operation that the model does not have.

    ## What it does
    Reports an entry of `required-operations` for which there is no layer, bodies of control flow included.

    ## Why it matters
    The user says so: a model that is meant to be stateful without ReadValue, or one without the fused ScaledDotProductAttention that the deployment counts on.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    required-operations = ["ScaledDotProductAttention", "ReadValue@opset6"]
    ```

    ## How to fix it
    Convert the model so that it has the operation, or change the policy.
    """

    id = REQUIRED_OPERATION

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            for operation in policy.required_operations:
                kind = operation.partition("@")[0].lower()
                if not any(_is(layer, operation) for layer in context.layers(kind)):
                    yield Finding(
                        Fault(
                            cls.id,
                            f"the policy requires {operation}, and no layer is one",
                            expected=operation,
                            actual="none",
                        ),
                        _start(context.model),
                    )


class ForbiddenOperation(Rule):
    """The policy forbids this operation.

    ## What it does
    Reports each layer that is an operation of `forbidden-operations`, bodies of control flow included.

    ## Why it matters
    The user says so: the target has no kernel for it, or it is slow there.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    forbidden-operations = ["NonMaxSuppression", "Interpolate@opset1"]
    ```

    ## How to fix it
    Replace the operation in the original model, or change the policy.
    """

    id = FORBIDDEN_OPERATION

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        place = context.model.source.attribute
        for policy in context.settings.policies:
            for operation in policy.forbidden_operations:
                for layer in context.layers(operation.partition("@")[0].lower()):
                    if _is(layer, operation):
                        yield Finding(
                            Fault(
                                cls.id,
                                f"the policy forbids {operation}",
                                expected=f"no {operation}",
                                actual=f"{layer.type} of {layer.version}",
                            ),
                            place(layer.offset, "type"),
                            layer,
                        )


class AllowedElementTypes(Rule):
    """The policy does not allow this element type.

    ## What it does
    Reports each layer with an output of an element type that is not among `allowed-element-types`: what is inferred for it, and where nothing is, what its port declares.

    ## Why it matters
    The user says so: the target computes in other types, or converts these.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    allowed-element-types = ["f16", "i32", "i64", "boolean"]
    ```

    ## How to fix it
    Convert the model to the types that are allowed, or change the policy.
    """

    id = FORBIDDEN_ELEMENT_TYPE

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            if policy.allowed_element_types:
                allowed = ", ".join(policy.allowed_element_types)
                for layer, index, tensor in _outputs(context):
                    element_type = tensor.element_type
                    if (
                        not element_type.is_dynamic
                        and element_type.name not in policy.allowed_element_types
                    ):
                        port = layer.outputs[index]
                        message = (
                            f"output {port.id} is {element_type.name}; the policy allows {allowed}"
                        )
                        yield Finding(
                            Fault(cls.id, message, expected=allowed, actual=element_type.name),
                            port.offset,
                            layer,
                            port=("output", port.id),
                        )


def _outputs(context: Context) -> Iterator[tuple[Layer, int, Tensor]]:
    for body in context.bodies:
        result = context.results.get(id(body))
        if result is not None:
            for position, layer in enumerate(body.layers):
                yield from (
                    (layer, index, tensor)
                    for index, tensor in enumerate(result.outputs[position])
                    if index < len(layer.outputs)
                )


class ExpectedInputs(Rule):
    """The inputs of the model are not those that the policy expects.

    ## What it does
    Compares the Parameters of the net with `inputs`: one that is missing, one that is not listed, another element type, or a shape that cannot be the expected one. An input is
    found by tensor name, layer name or id. A `?` in an expected shape must be dynamic in the model too, and an interval the same.

    ## Why it matters
    The program that calls the model feeds it by these names, types and shapes.

    ## What OpenVINO does
    Reads the model; the program fails later: "Port for tensor name image was not found".

    ## Example
    ```toml
    [tool.irshape.policy]
    inputs = [{ name = "image", type = "f32", shape = "[?,3,224,224]" }]
    ```

    ## How to fix it
    Convert the model with the inputs that are expected, or change the policy.
    """

    id = EXPECTED_INPUTS

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            if policy.inputs is not None:
                yield from _compare(
                    context, cls.id, "input", context.model.parameters, policy.inputs
                )


class ExpectedOutputs(Rule):
    """The outputs of the model are not those that the policy expects.

    ## What it does
    Compares the Results of the net with `outputs`, as `expected-inputs` does with the inputs. An output is found by a tensor name of the port that feeds it, by the name or id of its
    Result, or by the name of the layer that feeds it.

    ## Why it matters
    The program that calls the model reads its outputs by these names, types and shapes.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    outputs = [{ name = "scores", type = "f32", shape = "[?,1000]" }]
    ```

    ## How to fix it
    Convert the model with the outputs that are expected, or change the policy.
    """

    id = EXPECTED_OUTPUTS

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            if policy.outputs is not None:
                yield from _compare(
                    context, cls.id, "output", context.model.results, policy.outputs
                )


def _compare(
    context: Context, rule: RuleId, what: str, layers: list[Layer], expected: Iterable[ExpectedPort]
) -> Iterator[Finding]:
    if context.model.kind != "net":
        return
    known = {id(layer): _names(context, layer, what) for layer in layers}
    met: set[int] = set()
    listed = tuple(expected)
    for port in listed:
        layer = next(
            (layer for layer in layers if id(layer) not in met and port.name in known[id(layer)]),
            None,
        )
        if layer is None:
            from ..spelling import suggestion

            free = [
                name for other in layers if id(other) not in met for name in known[id(other)][:-1]
            ]
            message = f"the policy expects the {what} '{port.name}', and the model has none of that name{suggestion(port.name, free)}"
            yield Finding(
                Fault(
                    rule,
                    message,
                    expected=port.name,
                    actual=", ".join(dict.fromkeys(known[id(other)][0] for other in layers))
                    or f"no {what}s",
                ),
                _start(context.model),
            )
            continue
        met.add(id(layer))
        tensor = _tensor(context, layer, what)
        if tensor is None:
            continue
        if port.type is not None and tensor.element_type.name != port.type:
            yield Finding(
                Fault(
                    rule,
                    f"the policy expects {port.type} for the {what} '{port.name}', it is {tensor.element_type}",
                    expected=port.type,
                    actual=str(tensor.element_type),
                ),
                layer.offset,
                layer,
            )
        if port.shape is not None and str(tensor.shape) != port.shape:
            yield Finding(
                Fault(
                    rule,
                    f"the policy expects {port.shape} for the {what} '{port.name}', it is {tensor.shape}",
                    expected=port.shape,
                    actual=str(tensor.shape),
                ),
                layer.offset,
                layer,
            )
    for layer in layers:
        if id(layer) not in met:
            name = known[id(layer)][0]
            yield Finding(
                Fault(
                    rule,
                    f"the policy lists no {what} '{name}'",
                    expected=", ".join(port.name for port in listed) or f"no {what}s",
                    actual=name,
                ),
                layer.offset,
                layer,
            )


def _names(context: Context, layer: Layer, what: str) -> list[str]:
    """Tensor names, then the layer's own, then its id."""
    found: list[str] = []
    if what == "input":
        for port in layer.outputs:
            found += port.tensor_names
        return [*found, layer.name, layer.id]
    source = _source(context, layer)
    if layer.output_names:
        from ..model.graph import _NAMES

        found += [part.replace("\\,", ",") for part in _NAMES.findall(layer.output_names)]
    if source is not None:
        producer, index = source
        found += producer.outputs[index].tensor_names
        return [*found, layer.name, producer.name, layer.id]
    return [*found, layer.name, layer.id]


def _source(context: Context, layer: Layer) -> tuple[Layer, int] | None:
    """The layer and output that feed a Result."""
    body = context.model.net
    position = next(index for index, other in enumerate(body.layers) if other is layer)
    row = context.wiring(body).sources[position]
    if not row or row[0] is None:
        return None
    return body.layers[row[0][0]], row[0][1]


def _tensor(context: Context, layer: Layer, what: str) -> Tensor | None:
    body = context.model.net
    result = context.results[id(body)]
    if what == "output":
        source = _source(context, layer)
        if source is None:
            return None
        layer, index = source
    else:
        index = 0
    position = next(at for at, other in enumerate(body.layers) if other is layer)
    tensors = result.outputs[position]
    return tensors[index] if index < len(tensors) else None


class StaticBatch(Rule):
    """The policy wants dynamic batches, and the first dimension of this input is static.

    ## What it does
    With `dynamic-batch = true`, reports each Parameter of the net whose first dimension is a number. A scalar has no first dimension and is passed over.

    ## Why it matters
    A server that gathers requests into batches needs a model that takes any number of them.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    dynamic-batch = true
    ```

    ## How to fix it
    Convert the model with a dynamic first dimension: `irshape infer MODEL --shape x=[?,3,224,224]` tells whether the rest of it allows that.
    """

    id = STATIC_BATCH

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if any(policy.dynamic_batch for policy in context.settings.policies):
            for layer in context.model.parameters:
                tensor = _tensor(context, layer, "input")
                if tensor is not None and tensor.shape.dims and tensor.shape.dims[0].is_static:
                    place = (
                        context.model.source.attribute(layer.data_offset, "shape")
                        if layer.data_offset >= 0
                        else layer.offset
                    )
                    message = f"the policy wants dynamic batches, and the first dimension of {tensor.shape} is {tensor.shape.dims[0]}"
                    yield Finding(
                        Fault(cls.id, message, expected="?", actual=str(tensor.shape.dims[0])),
                        place,
                        layer,
                    )


class TooManyWeights(Rule):
    """The weights are larger than the policy allows.

    ## What it does
    Adds up the bytes in the .bin that constants take, those that several share once, and compares the sum with `max-weights`.

    ## Why it matters
    The target has so much memory, or the download may take so long.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    max-weights = "100MB"
    ```

    ## How to fix it
    Compress the weights (f16, int8, int4), or change the policy.
    """

    id = WEIGHTS_LIMIT

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        limits = [
            policy.max_weights
            for policy in context.settings.policies
            if policy.max_weights is not None
        ]
        if not limits:
            return
        total, reached = 0, 0
        for start, end in sorted(
            (constant.offset, constant.offset + constant.size) for _, constant in context.constants
        ):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        if total > min(limits):
            yield Finding(
                Fault(
                    cls.id,
                    f"the weights take {total} bytes; the policy allows {min(limits)}",
                    expected=f"at most {min(limits)}",
                    actual=str(total),
                ),
                _start(context.model),
            )


class TooManyLayers(Rule):
    """The model has more layers than the policy allows.

    ## What it does
    Counts the layers, those in bodies of control flow included, and compares their number with `max-layers`.

    ## Why it matters
    The user says so: a model of unusual size is often one that was exported with a loop unrolled.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    max-layers = 2000
    ```

    ## How to fix it
    Convert the model so that it stays below, or change the policy.
    """

    id = LAYERS_LIMIT

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        limits = [
            policy.max_layers
            for policy in context.settings.policies
            if policy.max_layers is not None
        ]
        if limits:
            count = len(context.every_layer)
            if count > min(limits):
                yield Finding(
                    Fault(
                        cls.id,
                        f"the model has {count} layers; the policy allows {min(limits)}",
                        expected=f"at most {min(limits)}",
                        actual=str(count),
                    ),
                    _start(context.model),
                )
