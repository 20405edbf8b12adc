"""IR900: the required dimensions of a model, from `[[contract]]` (see docs/symbols.md).

Without a contract, the rule neither infers nor reports anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from ..faults import Fault
from ..model.graph import Finding, Layer, Model
from ..model.ports import names_in
from ..shapes import UNBOUNDED, Dimension
from .base import Rule
from .context import Context
from .settings import Contract

if TYPE_CHECKING:
    from ..inference.explaining import Reasons
    from ..inference.result import Inference

KINDS = ("unbounded", "dynamic", "lost", "data-dependent")


class Statement(NamedTuple):
    """A requirement: tensors have the dimensions `dims`, or have no dimension of some `kind`."""

    tensors: str
    """A pattern of tensor names, such as `state.*`."""
    dims: tuple[str, ...] | None
    kind: str
    """The excluded kind of dimension (one of `KINDS`); empty if `dims` are given."""


_SHAPE = r"(?P<name>.+?)\s*=\s*\[(?P<dims>.*)\]\s*"
_NONE_OF = r"(?P<name>\S+)\s+has\s+no\s+(?P<kind>[a-z-]+)\s+dimension\s*"
_NOTHING = r"nothing\s+is\s+(?P<kind>[a-z-]+)\s*"


def statement(text: str) -> Statement:
    """Parses a statement of a contract. Raises `ValueError` for a malformed text."""
    text = text.strip()
    match = re.fullmatch(_NOTHING, text) or re.fullmatch(_NONE_OF, text)
    if match is not None:
        kind = match["kind"]
        if kind not in KINDS:
            raise ValueError(f"'{text}': expected one of {', '.join(KINDS)}, got '{kind}'")
        return Statement(match.groupdict().get("name", "*"), None, kind)
    match = re.fullmatch(_SHAPE, text)
    if match is None or match["name"][-1] in "=<>!":
        raise ValueError(
            f"'{text}' is not a statement such as 'logits = [batch, seq, 32000]', "
            "'state.* has no lost dimension' or 'nothing is unbounded'"
        )
    from ..inference.symbolic import parse_named_shape, parts_of_shape

    parse_named_shape(match["dims"])
    return Statement(match["name"], tuple(parts_of_shape(match["dims"])), "")


class Tensor(NamedTuple):
    """An output of a layer, with every name that a contract can use for it."""

    layer: Layer
    position: int
    port: int
    names: tuple[str, ...]


class BrokenContract(Rule):
    """A dimension differs from what a `[[contract]]` of the configuration requires.

    ## What it does
    For each `[[contract]]` that applies to the file, infers the model with the names that `shapes`
    gives to dimensions of inputs. Reports each statement of `require` that does not hold, at the
    layer that produces the tensor. A statement gives the dimensions of tensors (`logits = [batch,
    seq, 32000]`), or excludes a kind of dimension (`state.* has no lost dimension`, `nothing is
    unbounded`). The kinds are `unbounded`, `dynamic`, `data-dependent` (it depends on values of
    tensors), and `lost` (irshape has no expression for it in terms of the inputs). A dimension that
    breaks `nothing is …` is reported only at the first layer that has it. A statement can name a
    tensor, a layer, a variable (`variable_id`) or, for an output of the model, its Result. Also
    reports layers that need contradictory sizes of a dimension. Without the .bin, for example with
    `--weights none`, the rule reports nothing: sizes may depend on the values of constants.

    ## Why it matters
    It is your requirement. A new version of an exporter may fix the batch, or make a length depend
    on data. The types do not show this, and often the shapes do not either, until the model is
    compiled for another device.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```toml
    [[contract]]
    files = ["llm/*.xml"]
    shapes = { input_ids = "[batch,seq]" }
    require = ["logits = [batch, seq, 32000]", "nothing is lost"]
    ```

    ## How to fix it
    `irshape explain MODEL TENSOR` shows which layer determines the dimension. Export the model
    again, or change the contract.
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if not context.settings.contracts or _lacks_values(context.model):
            return
        for contract in context.settings.contracts:
            if context.model.kind == "net":
                yield from cls._broken(context, contract)

    @classmethod
    def _broken(cls, context: Context, contract: Contract) -> Iterator[Finding]:
        from ..inference.engine import infer
        from ..inference.explaining import Reasons

        try:
            inference = infer(
                context.model, dict(contract.shapes), symbols=True, assume=contract.assume
            )
        except ValueError as problem:
            yield cls.finding(f"the contract does not fit the model: {problem}", context.start)
            return
        for layer, subject in inference.observations:
            conflict = inference.sizes.facts.conflicts.get(layer)
            if isinstance(subject, Fault) and conflict is not None and conflict.earlier:
                yield cls.finding(subject.message, layer.offset, layer)
        reasons = Reasons(inference)
        tensors = list(_tensors(inference))
        for text in contract.require:
            required = statement(text)
            unnamed = _unnamed(inference, required)
            everything = required.tensors == "*"
            # a name such as x[0] is no pattern
            chosen = [tensor for tensor in tensors if required.tensors in tensor.names] or [
                tensor
                for tensor in tensors
                if any(fnmatchcase(name, required.tensors) for name in tensor.names)
                and not (everything and tensor.layer.is_result)
            ]
            if not chosen:
                yield cls.finding(
                    f"the contract requires '{text}', but the model has no tensor "
                    f"'{required.tensors}'",
                    context.start,
                    expected=text,
                )
            breaking: set[tuple[int, int]] = set()
            for tensor in chosen:
                seen = _contradicts(reasons, tensor, required)
                if seen is None:
                    continue
                breaking.add((tensor.position, tensor.port))
                if not (everything and _follows(reasons, tensor, breaking)):
                    yield cls.finding(
                        f"the contract requires '{text}', but {tensor.names[0]} is {seen}",
                        tensor.layer.offset,
                        tensor.layer,
                        expected=text,
                        actual=seen,
                        help=unnamed,
                    )


def _lacks_values(model: Model) -> bool:
    """Returns whether the model has constants, but no .bin with their values."""
    return (model.weights is None or model.weights.data is None) and any(
        layer.is_constant and layer.attribute("size") not in (None, "0") for layer in model.walk()
    )


def _follows(reasons: Reasons, tensor: Tensor, breaking: set[tuple[int, int]]) -> bool:
    """Returns whether a layer only passes on a violation: an input of the layer already breaks the
    statement, and the layer itself adds no unknown size."""
    from ..inference.explaining import Place

    result = reasons.result
    dims = result.outputs[tensor.position][tensor.port].shape.dims or ()
    for axis in range(len(dims)):
        place = Place(result, tensor.position, tensor.port, "dimension", axis)
        if reasons.expression(place) is None and reasons.maker(place) == place:
            return False
    return any(source in breaking for source in result.wiring.sources[tensor.position])


def _tensors(inference: Inference) -> Iterator[Tensor]:
    """Yields the outputs of all layers outside bodies, producers before their consumers."""
    layers = inference.result.body.layers
    for position in inference.result.wiring.order:
        layer = layers[position]
        variable = layer.attribute("variable_id")
        if layer.is_result and inference.result.outputs[position]:
            yield Tensor(layer, position, 0, (*names_in(layer.output_names), layer.name))
        for port, output in enumerate(layer.outputs):
            names = [*output.tensor_names, layer.name, *([variable] if variable else [])]
            if port < len(inference.result.outputs[position]):
                yield Tensor(layer, position, port, tuple(names))


def _contradicts(reasons: Reasons, tensor: Tensor, required: Statement) -> str | None:
    """Returns the shape of a tensor as text if the shape breaks a statement, otherwise None."""
    inference = reasons.inference
    known = inference.expressions(tensor.layer)[tensor.port]
    shape = inference.outputs(tensor.layer)[tensor.port].shape
    if known is None or shape.dims is None:
        return str(shape)
    seen = "[" + ", ".join(
        str(dim) if size is None else str(size) for size, dim in zip(known, shape.dims, strict=True)
    )
    seen += "]"
    if required.dims is None:
        return seen if _has(reasons, tensor, required.kind) else None
    if len(required.dims) != len(known):
        return seen
    for wanted, size, dim in zip(required.dims, known, shape.dims, strict=True):
        if not _is(inference, wanted, None if size is None else str(size), dim):
            return seen
    return None


def _is(inference: Inference, wanted: str, size: str | None, dim: Dimension) -> bool:
    """Returns whether a dimension fits `wanted`: an interval such as `1..8`, or an expression."""
    from ..symbols.parsing import parse_expression

    try:
        return Dimension.of(wanted).encloses(dim)
    except ValueError:
        pass
    if size is None:
        return False
    facts = inference.sizes.facts
    known = set(facts.symbols)
    expression = parse_expression(wanted, facts)
    if not {symbol.name for symbol in expression.symbols} <= known:
        return False
    return str(facts.simplified(expression)) == size


def _unnamed(inference: Inference, required: Statement) -> str | None:
    """Returns advice if a statement uses a name that no dimension of an input has, else None."""
    from ..symbols.facts import Facts
    from ..symbols.parsing import parse_expression

    facts = Facts()
    for wanted in required.dims or ():
        try:
            Dimension.of(wanted)
        except ValueError:
            parse_expression(wanted, facts)
    lacking = [name for name in facts.symbols if name not in inference.sizes.facts.symbols]
    if not lacking:
        return None
    return f"no input has a dimension '{lacking[0]}': `shapes` of the contract can give this name"


def _has(reasons: Reasons, tensor: Tensor, kind: str) -> bool:
    """Returns whether a tensor has a dimension of a kind, e.g. `unbounded`."""
    from ..inference.explaining import Place

    inference = reasons.inference
    dims = inference.outputs(tensor.layer)[tensor.port].shape.dims or ()
    if kind == "dynamic":
        return any(dim.is_dynamic for dim in dims)
    if kind == "unbounded":
        return any(dim.high == UNBOUNDED for dim in dims)
    return any(
        reasons.verdict(Place(inference.result, tensor.position, tensor.port, "dimension", axis))
        == kind
        for axis, dim in enumerate(dims)
        if dim.is_dynamic
    )
