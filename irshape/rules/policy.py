"""IR9xx: the user's own policy, from `[tool.irshape.policy]` (see docs/configuration.md).

Without a policy, none of these rules reports anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from ..model.ends import End
from ..model.graph import Finding, Layer
from ..model.ports import names_in
from ..spelling import counted, suggestion, with_noun
from .base import Rule
from .context import Context
from .inputs_and_outputs import ends_of

if TYPE_CHECKING:
    from ..ops.tensors import Tensor
    from .settings import ExpectedPort


def _layers(context: Context, operation: str) -> list[Layer]:
    """Returns the layers that an entry of a policy names, e.g. `Interpolate@opset1`.

    Ignores the case of types, as OpenVINO does.
    """
    name, _, version = operation.partition("@")
    folded = name.lower()
    return [
        layer
        for layer in context.layers(folded)
        if layer.type.lower() == folded and (not version or layer.version == version)
    ]


class RequiredOperation(Rule):
    """The policy requires an operation that the model does not have.

    ## What it does
    Reports an entry of `required-operations` that no layer matches. Layers in bodies count too.

    ## Why it matters
    It is your requirement: for instance, a stateful model needs ReadValue, or the deployment relies
    on the fused ScaledDotProductAttention.

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

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            for operation in policy.required_operations:
                if not _layers(context, operation):
                    yield cls.finding(
                        f"the policy requires {operation}, but the model does not have it",
                        context.start,
                        expected=operation,
                        actual="none",
                    )


class ForbiddenOperation(Rule):
    """The policy forbids this operation.

    ## What it does
    Reports every layer that matches an entry of `forbidden-operations`, also in bodies.

    ## Why it matters
    It is your requirement: for instance, the target has no kernel for the operation, or a slow one.

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

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            for operation in policy.forbidden_operations:
                for layer in _layers(context, operation):
                    yield cls.finding(
                        f"the policy forbids {operation}",
                        context.model.source.attribute(layer.offset, "type"),
                        layer,
                        expected=f"no {operation}",
                        actual=f"{layer.type} of {layer.version}",
                    )


class ForbiddenElementType(Rule):
    """The policy does not allow this element type.

    ## What it does
    Reports every layer with an output whose element type is not among `allowed-element-types`. The
    rule uses the inferred type, or the declared one if none can be inferred.

    ## Why it matters
    It is your requirement: for instance, the target does not support this type, or converts it at a
    cost.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    allowed-element-types = ["f16", "i32", "i64", "boolean"]
    ```

    ## How to fix it
    Convert the model to the allowed types, or change the policy.
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            if not policy.allowed_element_types:
                continue
            allowed = ", ".join(policy.allowed_element_types)
            for layer, port, tensor in context.outputs():
                element_type = tensor.element_type
                if element_type.is_dynamic or element_type.name in policy.allowed_element_types:
                    continue
                yield cls.finding(
                    f"output {port.id} is {element_type.name}; the policy allows {allowed}",
                    port,
                    layer,
                    expected=allowed,
                    actual=element_type.name,
                )


class PortsRule(Rule):
    """A rule that compares the inputs or outputs of a model with those that a policy expects."""

    what: ClassVar[Literal["input", "output"]]

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for policy in context.settings.policies:
            expected = policy.inputs if cls.what == "input" else policy.outputs
            if context.model.kind == "net" and expected is not None:
                yield from cls.compare(context, expected)

    @classmethod
    def compare(cls, context: Context, expected: tuple[ExpectedPort, ...]) -> Iterator[Finding]:
        what = cls.what
        every = [end for end in ends_of(context) if end.layer.is_parameter is (what == "input")]
        unmatched = list(every)
        for port in expected:
            # a name comes before an id: names may be the ids of others
            end = next((end for end in unmatched if port.name in _names(end)), None)
            ids = port.name, port.name.removeprefix("id:")
            end = end or next((end for end in unmatched if end.layer.id in ids), None)
            if end is None:
                free = [name for other in unmatched for name in _names(other)]
                first_names = dict.fromkeys(_names(other)[0] for other in every)
                yield cls.finding(
                    f"the policy expects the {what} '{port.name}', but the model has no {what} of "
                    f"this name{suggestion(port.name, free)}",
                    context.start,
                    expected=port.name,
                    actual=", ".join(first_names) or f"no {what}s",
                )
                continue
            unmatched.remove(end)
            tensor = _tensor(context, end)
            if tensor is not None:
                yield from cls.compare_tensor(end.layer, port, tensor)
        for end in unmatched:
            name = _names(end)[0]
            yield cls.finding(
                f"the model has the {what} '{name}', which the policy does not list",
                end.layer.offset,
                end.layer,
                expected=", ".join(port.name for port in expected) or f"no {what}s",
                actual=name,
            )

    @classmethod
    def compare_tensor(cls, layer: Layer, port: ExpectedPort, tensor: Tensor) -> Iterator[Finding]:
        for wanted, actual in (
            (port.type, str(tensor.element_type)),
            (port.shape, str(tensor.shape)),
        ):
            if wanted is not None and actual != wanted:
                yield cls.finding(
                    f"the policy expects {wanted} for the {cls.what} '{port.name}', but it is "
                    f"{actual}",
                    layer,
                    expected=wanted,
                    actual=actual,
                )


class ExpectedInputs(PortsRule):
    """The inputs of the model differ from the inputs that the policy expects.

    ## What it does
    Compares the Parameters of the net with `inputs`. Reports an input that is missing, that the
    policy does not list, or that has another element type or shape. irshape finds an input by a
    tensor name, or by the name or id of the layer. The shapes must be equal: for a `?` in the
    expected shape, the dimension of the model must be dynamic without bounds; for an interval, the
    dimension must have the same bounds.

    ## Why it matters
    The program that calls the model relies on these names, types and shapes.

    ## What OpenVINO does
    Reads the model. The program fails later: "Port for tensor name image was not found".

    ## Example
    ```toml
    [tool.irshape.policy]
    inputs = [{ name = "image", type = "f32", shape = "[?,3,224,224]" }]
    ```

    ## How to fix it
    Convert the model with the expected inputs, or change the policy.
    """

    what = "input"


class ExpectedOutputs(PortsRule):
    """The outputs of the model differ from the outputs that the policy expects.

    ## What it does
    Compares the Results of the net with `outputs`. Reports an output that is missing, that the
    policy does not list, or that has another element type or shape. irshape finds an output by a
    tensor name of the port that feeds it, by the name or id of its Result, or by the name of the
    layer that feeds it.

    ## Why it matters
    The program that calls the model relies on these names, types and shapes.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    outputs = [{ name = "scores", type = "f32", shape = "[?,1000]" }]
    ```

    ## How to fix it
    Convert the model with the expected outputs, or change the policy.
    """

    what = "output"


def _names(end: End) -> list[str]:
    """Returns the names of an input or output: those of its tensor, its layer and its producer."""
    named = [*names_in(end.layer.output_names), *end.port.tensor_names]
    return [*named, *dict.fromkeys((end.layer.name, end.producer.name))]


def _tensor(context: Context, end: End) -> Tensor | None:
    """Returns the inferred tensor of an input or output."""
    tensors = context.results[context.model.net].outputs[end.ref[0]]
    return tensors[end.ref[1]] if end.ref[1] < len(tensors) else None


class StaticBatch(Rule):
    """The policy requires a dynamic batch, but the first dimension of this input is static.

    ## What it does
    With `dynamic-batch = true`, reports every Parameter of the net whose first dimension is static.
    A scalar has no first dimension and is not reported.

    ## Why it matters
    A server that collects requests into batches needs a model that accepts batches of any size.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    dynamic-batch = true
    ```

    ## How to fix it
    Convert the model with a dynamic first dimension. `irshape infer MODEL --shape
    'x=[?,3,224,224]'` shows whether the rest of the model allows it.
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if not any(policy.dynamic_batch for policy in context.settings.policies):
            return
        for end in ends_of(context):
            layer, tensor = end.layer, _tensor(context, end)
            if (
                not layer.is_parameter
                or tensor is None
                or not tensor.shape.dims
                or not tensor.shape.dims[0].is_static
            ):
                continue
            offset = layer.offset
            if layer.data_offset >= 0:
                offset = context.model.source.attribute(layer.data_offset, "shape")
            batch = tensor.shape.dims[0]
            yield cls.finding(
                f"the policy requires a dynamic batch, but the first dimension of {tensor.shape} "
                f"is {batch}",
                offset,
                layer,
                expected="?",
                actual=str(batch),
            )


class WeightsLimit(Rule):
    """The weights are larger than the policy allows.

    ## What it does
    Adds up the bytes of the .bin that constants use, and compares the sum with `max-weights`. Bytes
    shared by several constants count once.

    ## Why it matters
    It is your requirement: for instance, the target has limited memory, or the download must not
    take too long.

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

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        limit = context.settings.limit("max_weights")
        if limit is None:
            return
        total, reached = 0, 0
        for start, end in sorted(
            (constant.offset, constant.offset + constant.size) for _, constant in context.constants
        ):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        if total > limit:
            yield cls.finding(
                f"the weights take {counted(total, 'byte')}; the policy allows {limit:,}",
                context.start,
                expected=f"at most {limit}",
                actual=str(total),
            )


class LayersLimit(Rule):
    """The model has more layers than the policy allows.

    ## What it does
    Counts the layers, also in bodies, and compares their number with `max-layers`.

    ## Why it matters
    It is your requirement. A model of unusual size often was exported with an unrolled loop.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [tool.irshape.policy]
    max-layers = 2000
    ```

    ## How to fix it
    Convert the model so that it has fewer layers, or change the policy.
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        limit, count = context.settings.limit("max_layers"), len(context.every_layer)
        if limit is not None and count > limit:
            yield cls.finding(
                f"the model has {with_noun(count, 'layer')}; the policy allows {limit}",
                context.start,
                expected=f"at most {limit}",
                actual=str(count),
            )
