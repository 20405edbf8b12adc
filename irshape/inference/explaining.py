"""Why a dimension is what it is: the layers that make it, back to inputs, constants or data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..model.ids import is_number
from ..symbols.expressions import Expression
from ..types import UNBOUNDED, PartialShape
from .bindings import sizes_for
from .bounding import Binding, binding_for
from .reasons import Explanation, Part, Step, Verdict
from .walk import BodyEngine

if TYPE_CHECKING:
    from .result import Inference

MAX_STEPS = 40
"""The most layers that a chain has."""


class Place(NamedTuple):
    """A dimension of an output, or an element of its value."""

    position: int
    port: int
    kind: Literal["dimension", "element"]
    at: int
    """The axis, or the position of the element."""


def explain(inference: Inference, tensor: str, axis: int | None) -> list[Explanation]:
    """See `Inference.explain`."""
    reasons = Reasons(inference)
    position, port = reasons.find(tensor)
    shape = inference.result.outputs[position][port].shape
    if shape.dims is None:
        raise ValueError(f"'{tensor}' has a dynamic rank, so it has no dimensions to explain")
    rank = len(shape.dims)
    if axis is not None and not -rank <= axis < rank:
        raise ValueError(f"'{tensor}' {shape} has no axis {axis}")
    axes = range(rank) if axis is None else (axis % rank,)
    return [reasons.explanation(tensor, Place(position, port, "dimension", at)) for at in axes]


class Reasons:
    """Follows dimensions back through the net of an inference with symbols."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.sizes = inference.sizes
        self.result = inference.result
        self.layers = self.result.body.layers
        self._static: list[tuple[Any, ...]] | None = None

    def find(self, name: str) -> tuple[int, int]:
        """The output that a name means. Raises `ValueError`."""
        for position, layer in enumerate(self.layers):
            for port, output in enumerate(layer.outputs):
                if name in output.tensor_names:
                    return position, port
        base, _, index = name.rpartition(":")
        wanted = [(name, 0)] + ([(base, int(index))] if is_number(index) else [])
        for text, port in wanted:
            for key in ("name", "id"):
                for position, layer in enumerate(self.layers):
                    outputs = self.result.outputs[position]
                    if getattr(layer, key) == text and port < len(outputs):
                        return position, port
        raise ValueError(f"the model has no tensor and no layer '{name}'")

    def expression(self, place: Place) -> Expression | None:
        assert self.result.expressions is not None
        assert self.result.elements is not None
        table = self.result.expressions if place.kind == "dimension" else self.result.elements
        known = table[place.position][place.port]
        return known[place.at] if known is not None and place.at < len(known) else None

    def line(self, position: int) -> int:
        return self.inference.model.source.place(self.layers[position].offset)[0]

    def inputs(self, place: Place) -> Iterator[Place]:
        """The dimensions and elements of all inputs of a layer."""
        assert self.result.expressions is not None
        assert self.result.elements is not None
        for source in self.result.wiring.sources[place.position]:
            if source is None or source[1] >= len(self.result.outputs[source[0]]):
                continue
            dims = self.result.expressions[source[0]][source[1]]
            elements = self.result.elements[source[0]][source[1]]
            for index in range(1 if dims is None else len(dims)):
                yield Place(*source, "dimension", index)
            for index in range(len(elements or ())):
                yield Place(*source, "element", index)

    def passed_on(self, place: Place) -> Place | None:
        """The input that a layer passes on as it is; None where it makes something of its own."""
        own = self.expression(place)
        if own is None:
            unknown = [
                each
                for each in self.inputs(place)
                if each.kind == "dimension" and self.expression(each) is None
            ]
            same = [each for each in unknown if each.at == place.at]
            return next(iter(same or unknown), None)
        equal = [each for each in self.inputs(place) if self.expression(each) == own]
        order = {"dimension": 0, "element": 1}
        return min(
            equal,
            key=lambda each: (order[each.kind], each.at != place.at),
            default=None,
        )

    def maker(self, place: Place) -> Place:
        """Where a dimension comes from: behind all layers that pass it on."""
        visited = {place}
        while True:
            before = self.passed_on(place)
            if before is None or before in visited:
                return place
            visited.add(before)
            place = before

    def parts(self, place: Place) -> list[Place]:
        """What a layer makes a dimension of, each where it comes from."""
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
        """The layers that make a dimension, nearest first."""
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
            if at.kind == "element" and self.layers[at.position].is_constant:
                continue
            steps.append(
                Step(
                    self.layers[at.position],
                    self.line(at.position),
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
        return Part(
            f"{self.label(place)}[{place.at}]",
            text,
            self.line(place.position),
        )

    def label(self, place: Place) -> str:
        """The tensor of a place: its name where it has one."""
        layer = self.layers[place.position]
        names = layer.outputs[place.port].tensor_names if place.port < len(layer.outputs) else []
        return next((name for name in names if not name.isdigit()), layer.name)

    def reason(self, place: Place) -> str:
        layer, known = self.layers[place.position], self.expression(place)
        where = "axis" if place.kind == "dimension" else "element"
        at = f"{where} {place.at}"
        if layer.is_parameter:
            return f"{at}, an input"
        if layer.is_constant:
            return f"{at}, a constant"
        if layer.type.lower() == "readvalue":
            return f"{at}, a state"
        if known is None:
            return f"{at}, decided by data" if self.depends_on_data(place) else f"{at}, lost here"
        return at

    def depends_on_data(self, place: Place) -> bool:
        """Whether a dimension stays unknown once the sizes of all inputs are known."""
        outputs = self.with_sizes()[place.position]
        shape = outputs[place.port].shape if place.port < len(outputs) else None
        if shape is None or shape.dims is None or place.at >= len(shape.dims):
            return True
        return not shape.dims[place.at].is_static

    def with_sizes(self) -> list[tuple[Any, ...]]:
        """What is inferred once every size has a number."""
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
            self._static = BodyEngine(model).infer_body(model.net, fed).outputs
        return self._static

    def verdict(self, place: Place) -> Verdict:
        known = self.expression(place)
        dims = self.result.outputs[place.position][place.port].shape.dims
        if dims is None:
            return "data-dependent" if self.depends_on_data(place) else "lost"
        dim = dims[place.at]
        if dim.is_static:
            return "constant"
        if known is None:
            return "data-dependent" if self.depends_on_data(place) else "lost"
        if self.layers[place.position].is_parameter:
            return "input"
        if dim.high == UNBOUNDED:
            return "unbounded"
        return "input" if known.atom in set(self.sizes.symbols) else "computed"

    def is_bounded(self, place: Place, binding: Binding) -> bool:
        """Whether a dimension has an upper bound with other shapes of the inputs."""
        shape = binding.result.outputs[place.position][place.port].shape
        return shape.dims is not None and shape[place.at].high != UNBOUNDED

    def explanation(self, tensor: str, place: Place) -> Explanation:
        known = self.expression(place)
        dim = self.result.outputs[place.position][place.port].shape[place.at]
        binding = None
        if dim.high == UNBOUNDED and known is not None and known.symbols:
            for symbols in (known.symbols, None):
                binding = binding_for(self.inference, symbols)
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
