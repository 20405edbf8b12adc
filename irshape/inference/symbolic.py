"""Infers with named sizes: dynamic dimensions become expressions of the inputs' dimensions.

The model is inferred several times, until no layer adds a fact about the sizes. During these
inferences, dimensions are `SymbolicDimension`s. The result has plain dimensions, and stores the
expressions separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from ..faults import Fault
from ..model.graph import Body, Layer, Model
from ..ops.declaration import Operation
from ..ops.tensors import Tensor, Value
from ..shapes import DYNAMIC, UNBOUNDED, Dimension, PartialShape, bare
from ..symbols.dimensions import SymbolicDimension, dimension
from ..symbols.expressions import Atom, Expression, TooLarge
from ..symbols.facts import Facts
from ..symbols.parsing import parse_condition, parse_expression
from .bodies import runs_surely
from .body_engine import BodyEngine
from .memory import Memory
from .named_sizes import NamedSizes, Origin, contradiction, tensor_name
from .result import BodyResult, Inference, LayerResult, Observation

if TYPE_CHECKING:
    from .result import Expressions

MAX_PASSES = 6
MAX_ATTEMPTS = 12
_MUCH = 1 << 20
"""The capacity of a cache for inference with named sizes; no other model uses the cache."""

NamedShapes = Mapping[str, tuple["str | None", ...]]
"""The names of the dimensions of inputs, by layer id; None for a dimension without a name."""


class SymbolicEngine(BodyEngine):
    """Infers bodies with named sizes, and records the layer that each condition comes from.

    If a body may not run, the conditions of its layers are recorded as `conditional`.
    """

    def __init__(self, plain: BodyEngine, sizes: NamedSizes) -> None:
        super().__init__(plain.model, plain)
        self.facts = sizes.facts
        self._sizes = sizes
        # a cached result does not record its conditions again: one that was found while conditions
        # narrow no sizes is kept apart
        self._narrowing, self._silent = Memory(_MUCH), Memory(_MUCH)
        self._certain: dict[Body, bool] = {}

    def infer(
        self,
        layer: Layer,
        operation: Operation,
        inputs: tuple[Tensor, ...],
        *,
        with_values: bool,
        compare: bool = False,
    ) -> LayerResult:
        facts = self.facts
        facts.source = layer
        for tag, body in (layer.bodies or {}).items():
            self._certain[body] = runs_surely(layer, operation, inputs, tag)
        self.memory = self._narrowing if facts.listening else self._silent
        result = super().infer(layer, operation, inputs, with_values=with_values, compare=compare)
        variable = getattr(operation, "variable_id", None)
        if variable and not layer.path and layer.is_read_value:
            return self._of_variable(layer, str(variable), result)
        return result

    def _of_variable(self, layer: Layer, variable: str, result: LayerResult) -> LayerResult:
        """Returns the result of a ReadValue with a new symbol for each dynamic dimension."""
        if isinstance(result.outputs, Fault) or result.outputs[0].shape.dims is None:
            return result
        tensor = result.outputs[0]
        dims = [
            dim
            if dim.is_static or dim.symbolic
            else named(self._sizes, f"{variable}_{axis}", dim, Origin(variable, axis, layer))
            for axis, dim in enumerate(tensor.shape)
        ]
        return result._replace(outputs=(Tensor(tensor.element_type, PartialShape(dims)),))

    def infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool
    ) -> BodyResult:
        with self.facts.inside_of(certain=self._certain.get(body, False)):
            return super().infer_inner(body, parameters, compare)


def named(sizes: NamedSizes, wanted: str, dim: Dimension, origin: Origin) -> Dimension:
    """Returns a dynamic dimension as a symbol, which `NamedSizes.name_of` names.

    origin: the axis that the symbol stands for. dim: the range of the size.
    """
    facts, name = sizes.facts, sizes.name_of(wanted, origin)
    high = math.inf if dim.high == UNBOUNDED else dim.high
    facts.source = origin.layer
    expression = facts.symbol(name, dim.low, high, origin.axis)
    facts.assume_at_least(expression, facts.number(dim.low))
    if high != math.inf:
        facts.assume_at_least(facts.number(dim.high), expression)
    return dimension(expression, dim)


def infer_symbolic(
    model: Model,
    shapes: Mapping[str, PartialShape],
    names: NamedShapes,
    assumptions: Iterable[str] = (),
    known: Inference | None = None,
    *,
    sure: bool = False,
) -> tuple[BodyResult, NamedSizes]:
    """Infers a model with named sizes.

    shapes: the new shapes of inputs, by layer id.
    names: the names of the inputs' dimensions, by layer id.
    assumptions: conditions such as `seq % 8 == 0`.
    known: an earlier inference of the unchanged model.
    sure: do not assume that sizes are equal, so that the bounds are valid for all sizes of inputs.

    Raises `ValueError` for an assumption that is malformed, or that cannot hold.
    """
    rejected: set[str] = set()
    plain = BodyEngine(model, None if known is None else known.engine)
    if known is not None and not shapes and not known.observations:
        refused = set[Layer]()
    else:
        refused = plain.infer_body(model.net, shapes).refusing()
    conditions = tuple(assumptions)
    for _ in range(MAX_ATTEMPTS):
        facts = Facts()
        facts.rejected, facts.sure = rejected, sure
        result, sizes = _settled(plain, shapes, names, conditions, facts)
        certain = {source for source, each in facts.conflicts.items() if each.is_certain}
        worse = result.refusing() - refused - certain
        doubtful = [
            text
            for text, constraint in facts.constraints.items()
            if constraint.assumed and constraint.relation == "==" and constraint.source is not None
        ]
        if not worse or not doubtful:
            break
        rejected = rejected | {doubtful[-1]}
    _name_sources(result, sizes, model)
    _strip(result, sizes)
    return result, sizes


def without_symbols(result: BodyResult) -> tuple[BodyResult, NamedSizes]:
    """Returns the result with an empty `NamedSizes`: single layers have no inputs to name."""
    sizes = NamedSizes(Facts())
    _strip(result, sizes)
    return result, sizes


def contradicts_itself(known: Inference) -> bool:
    """Whether layers require contradicting sizes, as found by one inference with symbols.

    known: the inference of the model without symbols.
    """
    plain = BodyEngine(known.model, known.engine)
    _, sizes = _settled(plain, {}, {}, (), Facts(), passes=1)
    return bool(sizes.facts.conflicts)


def _settled(
    plain: BodyEngine,
    shapes: Mapping[str, PartialShape],
    names: NamedShapes,
    assumptions: tuple[str, ...],
    facts: Facts,
    passes: int = MAX_PASSES,
) -> tuple[BodyResult, NamedSizes]:
    """Infers a model repeatedly, until a pass adds no condition on the symbols."""
    sizes = NamedSizes(facts)
    _parameters(plain, shapes, names, sizes)
    facts.source = None
    for text in assumptions:
        assume(facts, text)
    result: BodyResult | None = None
    for _ in range(passes):
        facts.forget_conditional()
        before = len(facts.constraints)
        fed = _parameters(plain, shapes, names, sizes)
        result = SymbolicEngine(plain, sizes).infer_body(plain.model.net, fed)
        certain = (each for each in facts.constraints.values() if not each.conditional)
        if sum(1 for _ in certain) == before:
            break
    assert result is not None
    return result, sizes


def _parameters(
    engine: BodyEngine,
    shapes: Mapping[str, PartialShape],
    names: NamedShapes,
    sizes: NamedSizes,
) -> dict[str, PartialShape]:
    """Returns the shapes of the inputs with symbols for dynamic dimensions, by layer id."""
    model, facts = engine.model, sizes.facts
    spoken = {name for given in model.dimension_names.values() for name in given if name}
    fed: dict[str, PartialShape] = {}
    for layer in model.parameters:
        shape = shapes[layer.id] if layer.id in shapes else _declared_shape(engine, layer)
        if shape is None or shape.dims is None:
            continue
        given = names.get(layer.id) or model.dimension_names.get(layer) or ()
        tensor = tensor_name(layer)
        dims: list[Dimension] = []
        for axis, dim in enumerate(shape.dims):
            own = given[axis] if axis < len(given) else None
            origin = Origin(tensor, axis, layer)
            if dim.is_static:
                dims.append(dim)
            elif own is not None and _is_expression(own, None if layer.id in names else spoken):
                facts.source = layer
                expression = parse_expression(own, facts)
                sizes.mention(expression, origin)
                dims.append(dimension(facts.resolved(expression), dim))
            else:
                dims.append(named(sizes, own or f"{tensor}_{axis}", dim, origin))
        if layer.id in shapes or dims != list(shape.dims):
            fed[layer.id] = PartialShape(dims)
    return fed


def _declared_shape(engine: BodyEngine, parameter: Layer) -> PartialShape | None:
    """Returns the shape that a Parameter declares; None if its attributes are faulty."""
    declaration = engine.declarations.of(parameter)
    if not isinstance(declaration, tuple) or not all(fault.silent for fault in declaration[1]):
        return None
    outputs = engine.infer_layer(parameter, ()).outputs
    return None if isinstance(outputs, Fault) or not outputs else outputs[0].shape


def _is_expression(text: str, names: set[str] | None) -> bool:
    """Whether a name is an expression such as `seq+1`. names: allowed symbols; None allows any."""
    if text.isidentifier():
        return False
    facts = Facts()
    try:
        parse_expression(text, facts)
    except ValueError:
        return False
    return names is None or names.issuperset(facts.symbols)


def assume(facts: Facts, text: str) -> None:
    """Records a condition. Raises `ValueError` for an unknown symbol or a contradiction."""
    known = set(facts.symbols)
    left, relation, right, remainder = parse_condition(text, facts)
    for name in set(facts.symbols) - known:
        listed = ", ".join(sorted(known)) or "none"
        raise ValueError(f"'{text}': the model has no symbol '{name}' (its symbols: {listed})")
    if remainder is not None:
        facts.require_multiple(left, remainder)
        return
    if relation == "==":
        holds = facts.equal(left, right)
    elif relation == ">=":
        holds = facts.assume_at_least(left, right)
    else:
        holds = facts.assume_at_least(right, left)
    if not holds:
        raise ValueError(f"'{text}' contradicts the shapes of the inputs")


def _name_sources(result: BodyResult, sizes: NamedSizes, model: Model) -> None:
    """Adds to each refusal's message the conditions of other layers that contradict the layer."""
    for part in dict.fromkeys(result.walk()):  # the runs of a body may share one result
        for index, (layer, subject) in enumerate(part.observations):
            conflict = sizes.facts.conflicts.get(layer)
            if isinstance(subject, Fault) and conflict is not None and conflict.earlier:
                text = f"{subject.message}; it needs {contradiction(model, conflict)}"
                part.observations[index] = Observation(layer, subject._replace(says=text))


def _strip(result: BodyResult, sizes: NamedSizes) -> None:
    """Replaces symbolic dimensions by plain ones, and stores the expressions in the result."""
    facts = sizes.facts
    simplified: dict[Expression, Expression | None] = {}
    known: dict[Atom, Expression] = {}

    def final(expression: Expression) -> Expression | None:
        if expression not in simplified:
            try:
                simplified[expression] = facts.simplified(expression, known)
            except (TooLarge, ZeroDivisionError):
                simplified[expression] = None
        return simplified[expression]

    def expression(dim: Dimension) -> Expression | None:
        if isinstance(dim, SymbolicDimension):
            return final(dim.expression)
        return facts.number(dim.low) if dim.is_static else None

    shared: dict[Tensor, Tensor] = {}

    @cache
    def stripped(tensor: Tensor) -> tuple[Tensor, Tensor, Expressions | None, Expressions | None]:
        """Returns the plain tensor, the same tensor narrowed by its expressions, the expressions of
        its dimensions, and those of its elements. Equal tensors share one object."""
        dims, value = tensor.shape.dims, tensor.value
        sizes = None if dims is None else tuple(map(expression, dims))
        elements = None
        if value is not None:
            elements = tuple(value.expression(index, facts) for index in range(len(value)))
        wide, narrow = (_plain(tensor, known) for known in (None, sizes))
        return shared.setdefault(wide, wide), shared.setdefault(narrow, narrow), sizes, elements

    doubtful: dict[BodyResult, set[int]] = {}
    if facts.symbols:
        _find_doubtful(result, doubtful, whole=False)
    for part in result.walk():
        rows = [tuple(map(stripped, tensors)) for tensors in part.outputs]
        for position in doubtful.get(part, ()):
            rows[position] = tuple([(wide, wide, None, None) for wide, *_ in rows[position]])
        part.outputs = [tuple([narrow for _, narrow, _, _ in row]) for row in rows]
        part.expressions = [tuple([sizes for _, _, sizes, _ in row]) for row in rows]
        part.elements = [tuple([elements for *_, elements in row]) for row in rows]
        part.inputs = {
            position: tuple([None if each is None else stripped(each)[0] for each in tensors])
            for position, tensors in part.inputs.items()
        }


def _find_doubtful(
    result: BodyResult, doubtful: dict[BodyResult, set[int]], *, whole: bool
) -> bool:
    """Collects faulty layers and the layers that depend on them: their expressions may be wrong.

    whole: collect all layers of the body, since they depend on a faulty layer outside. Returns
    whether a layer of the body was collected.
    """
    wiring = result.wiring.sources
    positions = doubtful[result] = set(range(len(wiring))) if whole else set()
    for position in result.wiring.order if result.faulty or result.inner else ():
        rests = (
            position in positions
            or position in result.faulty
            or any(each is not None and each[0] in positions for each in wiring[position])
        )
        for inner in result.inner.get(position, {}).values():
            rests |= _find_doubtful(inner, doubtful, whole=rests)
        if rests:
            positions.add(position)
    return bool(positions)


def _plain(tensor: Tensor, known: Expressions | None) -> Tensor:
    """Returns a tensor with intervals as dimensions, narrowed by the expressions `known`."""
    if tensor.shape.dims is None:
        return tensor
    if not tensor.known_by_name and not any(dim.symbolic for dim in tensor.shape.dims):
        return tensor
    dims = []
    for axis, dim in enumerate(tensor.shape.dims):
        plain = Dimension(dim.low, dim.high) if dim.symbolic else dim
        expression = known[axis] if known is not None and dim.symbolic else None
        if expression is not None:
            narrow = dimension(expression, plain)
            plain = Dimension(narrow.low, narrow.high)
        dims.append(plain)
    value = tensor.value and Value(tensor.value.lower, tensor.value.upper)
    return Tensor(tensor.element_type, PartialShape(dims), value)


def parse_named_shape(text: str) -> tuple[PartialShape, tuple[str | None, ...]]:
    """Parses a shape with names or expressions, `[batch,seq,64]`. Returns the shape and the names.

    Raises `ValueError`.
    """
    inner = bare(text)
    if inner in ("", "..."):
        return PartialShape.parse(inner), ()
    dims: list[Dimension] = []
    names: list[str | None] = []
    for part in parts_of_shape(inner):
        try:
            dims.append(Dimension.of(part))
            names.append(None)
        except ValueError as problem:
            if not part[:1].isalpha() and part[:1] not in "_(":
                raise
            try:
                parse_expression(part, Facts())
            except ValueError:
                raise problem from None
            dims.append(DYNAMIC)
            names.append(part)
    return PartialShape(dims), tuple(names)


def parts_of_shape(text: str) -> list[str]:
    """Returns the parts of a text between commas, except commas in parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]
