"""Explains a dimension by the layers that compute it, back to inputs, constants or data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..faults import Violation
from ..model.graph import Layer
from ..ops.bodies import BodyView
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..shapes import UNBOUNDED, Dimension, PartialShape
from ..spelling import first_of
from ..symbols.expressions import Expression
from .attainable import unknown_operands
from .bodies import bind
from .body_engine import BodyEngine, declarations_of
from .bounding import Binding, Proposals
from .input_sizes import sizes_for
from .reasons import Explanation, Part, Step, Verdict
from .result import BodyResult, OutputNames

if TYPE_CHECKING:
    from .result import Inference

MAX_STEPS = 40
"""The maximum number of layers in the chain of an explanation."""


class Place(NamedTuple):
    """A dimension of a layer's output, or an element of the value of the output."""

    body: BodyResult
    position: int
    port: int
    kind: Literal["dimension", "element"]
    at: int
    """The axis of the dimension, or the index of the element in row-major order."""

    @property
    def layer(self) -> Layer:
        return self.body.body.layers[self.position]

    def dimension_in(self, body: BodyResult | None) -> Dimension | None:
        """Returns this dimension in another result for the body; None if that result lacks it."""
        outputs = () if body is None else body.outputs[self.position]
        dims = outputs[self.port].shape.dims if self.port < len(outputs) else None
        return None if dims is None or self.at >= len(dims) else dims[self.at]


def explain(inference: Inference, tensor: str, axis: int | None) -> list[Explanation]:
    """Returns the explanations of a tensor's dimensions; see `Inference.explain`."""
    reasons = Reasons(inference)
    body, position, port = reasons.names.find(tensor)
    shape = body.outputs[position][port].shape
    if shape.dims is None:
        return [reasons.of_rank(tensor, body, position, port)]
    rank = len(shape.dims)
    if axis is not None and not -rank <= axis < rank:
        label = body.body.layers[position].label
        raise ValueError(f"'{tensor}' {shape}, of {label}, has no axis {axis}")
    axes = range(rank) if axis is None else (axis % rank,)
    return [
        reasons.explanation(tensor, Place(body, position, port, "dimension", at)) for at in axes
    ]


class Reasons:
    """Finds the layers that compute a dimension in a model that was inferred with symbols. Follows
    the dimension backwards through layers, also into and out of bodies."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.sizes = inference.sizes
        self.result = inference.result
        self.proposals = Proposals(inference)
        self._symbols = frozenset(inference.sizes.symbols)
        self.names = OutputNames(self.result)
        self._views: dict[BodyResult, BodyView[Tensor] | None] = {}
        self._makers: dict[Place, Place] = {}
        self._static: dict[BodyResult, BodyResult] | None = None

    def view(self, result: BodyResult) -> BodyView[Tensor] | None:
        """Returns an inner body and its port map; None for the net or if the map is faulty."""
        if result not in self._views:
            self._views[result] = None
            if result in self.names.around:
                outer, position, tag = self.names.around[result]
                with suppress(Violation):
                    self._views[result] = bind(outer.body.layers[position], tag)
        return self._views[result]

    def expression(self, place: Place) -> Expression | None:
        assert place.body.expressions is not None
        assert place.body.elements is not None
        dimensions = place.kind == "dimension"
        table = place.body.expressions if dimensions else place.body.elements
        known = table[place.position][place.port]
        return known[place.at] if known is not None and place.at < len(known) else None

    def line(self, layer: Layer) -> int:
        return self.inference.model.source.line_number(layer.offset)

    def inputs(self, place: Place) -> Iterator[Place]:
        """Yields the dimensions and elements of all inputs of the layer that computes `place`.

        For a layer with bodies, the Results of the bodies come first. For a Parameter in a body,
        yields the dimensions and elements that the outer layer passes to the Parameter.
        """
        if place.layer.is_parameter:
            yield from self._from_outside(place)
        for inner in place.body.inner.get(place.position, {}).values():
            view = self.view(inner)
            for binding in () if view is None else view.outputs:
                if binding.external == place.port:
                    yield from self._result(inner, binding.internal)
        for source in place.body.wiring.sources[place.position]:
            if source is not None:
                yield from _places(place.body, *source)

    def _from_outside(self, place: Place) -> Iterator[Place]:
        """Yields the dimensions and elements that the outer layer and the previous iteration pass
        to a Parameter."""
        view = self.view(place.body)
        if view is None:
            return
        outer, position, _ = self.names.around[place.body]
        for binding in view.inputs:
            if binding.internal == place.layer.id and binding.external is not None:
                source = outer.wiring.sources[position][binding.external]
                if source is not None:
                    yield from _places(outer, *source)
        for result, parameter in view.back_edges:
            if parameter == place.layer.id:
                yield from self._result(place.body, result)

    def _result(self, body: BodyResult, id: str) -> Iterator[Place]:
        """Yields the dimensions and elements of the Result that has this id in a body."""
        for position, layer in enumerate(body.body.layers):
            if layer.id == id:
                yield from _places(body, position, 0)
                return

    def passed_on(self, place: Place) -> Place | None:
        """Returns the dimension or element of an input that the layer passes on as `place`; None if
        the layer computes `place` itself."""
        own = self.expression(place)
        if own is None:
            if self.is_declared(place.body, place.position):
                return None
            unknown = [
                each
                for each in self.inputs(place)
                if each.kind == "dimension" and self.expression(each) is None
            ]
            same = [each for each in unknown if each.at == place.at]
            return next(iter(same or unknown), None)
        equal = [each for each in self.inputs(place) if self.expression(each) == own]
        # dimensions before elements
        return min(
            equal, key=lambda each: (each.kind == "element", each.at != place.at), default=None
        )

    def maker(self, place: Place) -> Place:
        """Returns the dimension that a layer computes, and that other layers pass on as `place`."""
        passed = {place}
        while place not in self._makers:
            before = self.passed_on(place)
            if before is None or before in passed:
                self._makers[place] = place
            else:
                passed.add(before)
                place = before
        maker = self._makers[place]
        self._makers.update(dict.fromkeys(passed, maker))  # long chains are followed once
        return maker

    def parts(self, place: Place) -> list[Place]:
        """Returns the dimensions and elements that `place` is computed from, traced by `maker`."""
        own = self.expression(place)
        if own is None or own.constant is not None:
            return []
        makers: dict[Expression, Place] = {}
        for each in self.inputs(place):
            known = self.expression(each)
            if known is None or known.constant is not None or known in makers:
                continue
            if not known.symbols.isdisjoint(own.symbols):
                makers[known] = self.maker(each)
        inside = {e: p for e, p in makers.items() if e.symbols <= own.symbols}
        return list((inside or makers).values())

    def chain(self, place: Place) -> tuple[Step, ...]:
        """Returns the layers that compute a dimension, nearest first."""
        waiting, visited = [self.maker(place)], set()
        steps: list[Step] = []
        while waiting and len(steps) < MAX_STEPS:
            at = waiting.pop(0)
            if at in visited:
                continue
            visited.add(at)
            parts = self.parts(at)
            waiting += parts
            known = self.expression(at)
            if at.kind == "element" and at.layer.is_constant:
                continue
            steps.append(
                Step(
                    at.layer,
                    self.line(at.layer),
                    at.at,
                    None if known is None else str(known),
                    self.reason(at),
                    tuple(map(self.part, parts)),
                )
            )
        return tuple(steps)

    def part(self, place: Place) -> Part:
        known = self.expression(place)
        text = None if known is None else str(known)
        return Part(f"{self.label(place)}[{place.at}]", text, self.line(place.layer))

    def label(self, place: Place) -> str:
        """Returns the tensor name of an output, or else the name of its layer."""
        layer = place.layer
        if place.body in self.names.around:
            return self.names.label_of(place.body, place.position)
        names = layer.outputs[place.port].tensor_names if place.port < len(layer.outputs) else []
        return next((name for name in names if not name.isdigit()), layer.name)

    def reason(self, place: Place) -> str:
        layer, known = place.layer, self.expression(place)
        where = "axis" if place.kind == "dimension" else "element"
        at = f"{where} {place.at}"
        if (
            place.kind == "dimension"
            and place.body.outputs[place.position][place.port].rank is None
        ):
            return f"rank, {self._rank(place.body, place.position)}"
        if layer.is_parameter:
            if place.body not in self.names.around:
                return f"{at}, an input"
            outer, position, tag = self.names.around[place.body]
            branch = outer.body.layers[position].folded_type == "if"
            own = "from outside" if known or branch else "different in some iterations"
            if branch and (source := outer.wiring.sources[position][0]) is not None:
                condition = outer.outputs[source[0]][source[1]].known
                if condition and bool(condition[0]) != (tag == "then_body"):
                    own = f"of {tag}, which does not run"
            return f"{at}, {own}"
        if layer.is_constant:
            return f"{at}, a constant"
        if layer.is_read_value:
            return f"{at}, a state"
        if known is None and layer.folded_type == "if" and place.kind == "dimension":
            given = [
                f"{tag} gives {size}"
                for tag, inner in place.body.inner.get(place.position, {}).items()
                if (size := self._branch(inner, place)) is not None
            ]
            return f"{at}, where " + " and ".join(given) if given else at
        if known is None:
            if self.is_declared(place.body, place.position):
                return f"{at}, which its port declares dynamic"
            if not self.depends_on_data(place):
                return f"{at}, lost here"
            deciding = self._deciding(place.body, place.position)
            return f"{at}, depends on data{': ' if deciding else ''}{first_of(deciding, 3)}"
        return at

    def depends_on_data(self, place: Place) -> bool:
        """Whether a dimension depends on values of inputs, not only on sizes. Returns False if a
        port declares the dimension dynamic."""
        maker = self.maker(place)
        if self.is_declared(maker.body, maker.position):
            return False
        dim = place.dimension_in(self.with_sizes().get(place.body))
        return dim is None or not dim.is_static

    def is_declared(self, body: BodyResult, position: int) -> bool:
        """Whether the outputs of a layer are only what its ports declare, because irshape cannot
        infer the operation, or because the layer refuses its inputs or attributes."""
        declaration = declarations_of(self.inference).of(body.body.layers[position])
        if isinstance(declaration, UnknownOperation) or declaration[0].opaque:
            return True
        if declaration[1]:
            return not all(each.silent for each in declaration[1])
        return position in body.faulty

    def with_sizes(self) -> dict[BodyResult, BodyResult]:
        """Maps each body's result to its result in an inference with numbers for all symbols."""
        if self._static is None:
            sizes = sizes_for(self.sizes)
            model = self.inference.model
            fed = {}
            for layer in model.parameters:
                known = next(iter(self.inference.expressions(layer)), None)
                if sizes is not None and known is not None and None not in known:
                    fed[layer.id] = PartialShape(
                        [max(size.evaluate(sizes), 0) for size in known if size is not None]
                    )
            self._static = counterparts(self.result, BodyEngine(model).infer_body(model.net, fed))
        return self._static

    def verdict(self, place: Place) -> Verdict:
        known = self.expression(place)
        dim = place.dimension_in(place.body)
        if dim is None:
            maker = self.maker(place)
            if maker.layer.is_parameter and maker.body not in self.names.around:
                return "input"
            return "data-dependent" if self.depends_on_data(place) else "lost"
        if dim.is_static:
            return "constant"
        if known is None:
            return "data-dependent" if self.depends_on_data(place) else "lost"
        if place.layer.is_parameter and place.body not in self.names.around:
            return "input"
        if dim.high == UNBOUNDED:
            return "unbounded"
        return "input" if known.atom in self._symbols else "computed"

    def is_bounded(self, place: Place, binding: Binding) -> bool:
        """Whether a dimension has an upper bound if the inputs have the shapes in `binding`."""
        body = counterparts(self.result, binding.result).get(place.body)
        dim = place.dimension_in(body)
        return dim is not None and dim.high != UNBOUNDED

    def of_rank(self, tensor: str, body: BodyResult, position: int, port: int) -> Explanation:
        """Explains why the rank of a tensor is unknown."""
        steps: list[Step] = []
        passed: set[tuple[BodyResult, int]] = set()
        while (body, position) not in passed and len(steps) < MAX_STEPS:
            passed.add((body, position))
            layer = body.body.layers[position]
            steps.append(Step(layer, self.line(layer), None, None, self._rank(body, position), ()))
            for source in body.wiring.sources[position]:
                if source is not None and body.outputs[source[0]][source[1]].rank is None:
                    position = source[0]
        verdict = self.verdict(Place(body, position, 0, "dimension", 0))
        return Explanation(tensor, None, None, None, verdict, tuple(steps), None)

    def _rank(self, body: BodyResult, position: int) -> str:
        """Returns a phrase about the rank of the outputs, such as `has the rank of its input`."""
        layer = body.body.layers[position]
        if layer.is_parameter:
            of_body = body in self.names.around
            return "of any rank" if of_body else "an input of any rank; give it a shape"
        if self.is_declared(body, position):
            return "of the rank that its port declares"
        results = {
            tag: self._result_ranks(inner) for tag, inner in body.inner.get(position, {}).items()
        }
        if results:
            said = " and ".join(f"{tag} gives rank {ranks}" for tag, ranks in results.items())
            return f"where {said}"
        inputs = body.inputs.get(position, ())
        if any(tensor is not None and tensor.rank is None for tensor in inputs):
            return "has the rank of its input"
        deciding = self._unknown_values(body, position)
        if deciding:
            return f"depends on the value of {deciding[0]}"
        return "depends on the sizes of its inputs"

    def _deciding(self, body: BodyResult, position: int) -> list[str]:
        """Returns a text for each input whose value inference needs but does not know. If there are
        none, returns a text for each input that is not constant; for a layer with bodies, no
        text."""
        if position in body.inner:
            return []
        layers = [body.body.layers[each[0]] for each in body.wiring.sources[position] if each]
        return self._unknown_values(body, position) or [
            f"'{layer.name}'" for layer in layers if not layer.is_constant
        ]

    def _unknown_values(self, body: BodyResult, position: int) -> list[str]:
        """Returns a text for each input whose value inference needs but does not know."""
        declaration = declarations_of(self.inference).of(body.body.layers[position])
        if isinstance(declaration, UnknownOperation):
            return []
        names = [operand.name for operand in declaration[0].operands]
        unknown = unknown_operands(declaration[0], body.inputs.get(position, ()))
        sources = body.wiring.sources[position]
        return [
            f"`{name}` from '{body.body.layers[source[0]].name}'"
            for name, source in zip(names, sources, strict=False)
            if name in unknown and source is not None
        ]

    def _branch(self, inner: BodyResult, place: Place) -> Expression | Dimension | None:
        """Returns the size that the branch `inner` of an If gives the output dimension `place`."""
        view = self.view(inner)
        for binding in () if view is None else view.outputs:
            if binding.external == place.port:
                for result in self._result(inner, binding.internal):
                    if result.kind == "dimension" and result.at == place.at:
                        return self.expression(result) or result.dimension_in(inner)
        return None

    def _result_ranks(self, inner: BodyResult) -> str:
        """Returns the ranks of the Results of a body as text, each rank once: `2 or 3`."""
        layers = inner.body.layers
        ranks = [
            inner.outputs[position][0].rank
            for position, layer in enumerate(layers)
            if layer.is_result and inner.outputs[position]
        ]
        return " or ".join("?" if rank is None else str(rank) for rank in dict.fromkeys(ranks))

    def explanation(self, tensor: str, place: Place) -> Explanation:
        known = self.expression(place)
        dim = place.dimension_in(place.body)
        assert dim is not None
        binding = None
        if dim.high == UNBOUNDED and known is not None and known.symbols:
            for symbols in (known.symbols, None):
                binding = self.proposals.binding(symbols)
                if binding is not None and self.is_bounded(place, binding):
                    break
                binding = None
        return Explanation(
            tensor,
            place.at,
            None if known is None else str(known),
            dim,
            self.verdict(place),
            self.chain(place),
            None if binding is None else binding.shapes,
        )


def _places(body: BodyResult, position: int, port: int) -> Iterator[Place]:
    """Yields a `Place` for each dimension and each known element of an output of a layer."""
    assert body.expressions is not None
    assert body.elements is not None
    if port >= len(body.outputs[position]):
        return
    dims, elements = body.expressions[position][port], body.elements[position][port]
    for index in range(1 if dims is None else len(dims)):
        yield Place(body, position, port, "dimension", index)
    for index in range(len(elements or ())):
        yield Place(body, position, port, "element", index)


def counterparts(one: BodyResult, other: BodyResult) -> dict[BodyResult, BodyResult]:
    """Maps the result of each body in `one` to the result of the same body in `other`."""
    pairs = {one: other}
    for position, bodies in one.inner.items():
        for tag, inner in bodies.items():
            if tag in other.inner.get(position, {}):
                pairs |= counterparts(inner, other.inner[position][tag])
    return pairs
