"""The results of inference: tensors for every output port, and observations about layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from ..demands import Demand
from ..faults import Fault
from ..model.graph import Body, Layer, Model
from ..model.names import layer_and_index
from ..model.ports import names_in
from ..model.wiring import OutputRef, Wiring
from ..ops.declaration import AttributeFault
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..spelling import suggestion

if TYPE_CHECKING:
    from ..symbols.conditions import Constraint
    from ..symbols.expressions import Expression
    from .named_sizes import NamedSize, NamedSizes
    from .reasons import Explanation, Overview

    Expressions = tuple[Expression | None, ...]

T = TypeVar("T")


class Mismatch(NamedTuple):
    """An output port whose declaration differs from the inferred tensor."""

    position: int
    declared: Tensor
    inferred: Tensor
    says_less: bool = False
    """Whether the declaration is less specific than the inferred tensor, and does not contradict
    it."""


class OutputCount(NamedTuple):
    """A layer declares more output ports than the operation has outputs, or none."""

    declared: int
    inferred: int


class Observation(NamedTuple):
    """Something to report about a layer."""

    layer: Layer
    subject: Fault | AttributeFault | UnknownOperation | Mismatch | OutputCount


class Refusal(NamedTuple):
    """A layer that could not be inferred: inference takes its outputs from its declared ports."""

    layer: Layer
    line: int
    column: int
    message: str
    """Why: what does not fit."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry of `Inference.to_dict`."""
        return {**self.layer.reference, "line": self.line, "message": self.message}


class BodyResult:
    """The inference of one body. Layers are given by their position in `body.layers`."""

    def __init__(self, body: Body, wiring: Wiring) -> None:
        self.body = body
        self.wiring = wiring
        self.outputs: list[tuple[Tensor, ...]] = [()] * len(body.layers)
        self.inputs: dict[int, tuple[Tensor | None, ...]] = {}
        self.demands: dict[int, frozenset[Demand]] = {}
        """The demands of layers on dynamic dimensions of their inputs."""
        self.observations: list[Observation] = []
        self.inner: dict[int, dict[str, BodyResult]] = {}
        """The results of the bodies inside a layer, by tag."""
        self.expressions: list[tuple[Expressions | None, ...]] | None = None
        """The dimensions of the outputs as expressions of named sizes, if requested; None for a
        dynamic rank."""
        self.elements: list[tuple[Expressions | None, ...]] | None = None
        """The elements of the outputs as expressions of named sizes; None if no value is known."""
        self.faulty: set[int] = set()
        """Layers that refuse their inputs, or whose attributes are faulty."""
        self.believed: set[int] = set()
        """Layers whose outputs come from their own ports, or may be too wide."""
        self.doubtful: set[OutputRef] = set()
        """Output ports that declare something other than is inferred."""

    @cached_property
    def unsure(self) -> set[int]:
        """Layers whose outputs depend on declarations, not on inference alone: layers whose ports
        are believed, and all layers after these or after doubtful ports."""
        unsure, doubtful = set(self.believed), self.doubtful
        if not unsure and not doubtful:
            return unsure
        producers = unsure.union([producer for producer, _ in doubtful])
        sources = self.wiring.sources
        for position in self.wiring.order:
            for source in sources[position]:
                if source is None or source[0] not in producers:
                    continue
                if source[0] in unsure or source in doubtful:
                    unsure.add(position)
                    producers.add(position)
                    break
        return unsure

    def walk(self) -> Iterator[BodyResult]:
        """Yields this result and the results of all bodies inside, in file order."""
        yield self
        for position in sorted(self.inner):
            for inner in self.inner[position].values():
                yield from inner.walk()

    def refusing(self) -> set[Layer]:
        """Returns the layers that do not fit their inputs or have faulty attributes, also in
        bodies."""
        refusing = set[Layer]()
        for part in self.walk():
            refusing.update(part.body.layers[position] for position in part.faulty)
            refusing.update(
                layer
                for layer, subject in part.observations
                if isinstance(subject, Fault) and subject.refuses
            )
        return refusing

    def constants_before(self, layer: Layer) -> Iterator[tuple[Layer, tuple[int, ...]]]:
        """Yields the constants of the body on which a layer depends, nearest first, each with the
        sizes that it gives.

        The sizes are the shape of the constant, or the elements of a list from which shapes are
        computed. Orders of axes are left out, and so are single elements, which are more often axes
        than sizes.
        """
        layers = self.body.layers
        for at in self.wiring.upstream(layers.index(layer)):
            if not layers[at].is_constant or not self.outputs[at]:
                continue
            (tensor,) = self.outputs[at]
            if tensor.value is None or tensor.shape.rank != 1:
                yield layers[at], tensor.shape.static or ()
            elif len(known := tensor.known or ()) > 1 and sorted(known) != [*range(len(known))]:
                yield layers[at], known


NO_DEMANDS: Final[frozenset[Demand]] = frozenset()


class LayerResult(NamedTuple):
    """The inference of one layer, wherever it stands."""

    outputs: tuple[Tensor, ...] | Fault
    """A tensor for each output of the operation, or the condition that the layer violates."""
    faults: tuple[Fault, ...] = ()
    """Conditions of the specification that the layer violates and OpenVINO tolerates."""
    inner: Mapping[str, BodyResult] = MappingProxyType({})
    """The results of its bodies, by tag."""
    unsure: bool = False
    """Whether the outputs may be wider than intended."""
    demands: frozenset[Demand] = NO_DEMANDS
    """The demands of the layer on dynamic dimensions of its inputs."""


class OutputNames:
    """The names of the outputs of a model: of tensors, and of layers by name and by id.

    around: for each inner body, the layer that contains it, given as the outer body and the
    position there, and the tag.
    """

    def __init__(self, result: BodyResult) -> None:
        self._result = result
        self.around: dict[BodyResult, tuple[BodyResult, int, str]] = {
            inner: (outer, position, tag)
            for outer in result.walk()
            for position, bodies in outer.inner.items()
            for tag, inner in bodies.items()
        }

    def find(self, name: str) -> tuple[BodyResult, int, int]:
        """Returns the body, the layer's position and the output port that a name stands for.

        name: a tensor name, a layer by name or id, or `LAYER:INDEX`. Outputs of the net come before
        outputs of bodies. Raises `ValueError` for a name that the model does not have.
        """
        parts = layer_and_index(name)
        wanted = [(name, 0)] + ([] if parts is None else [parts])
        net, *inner = self._result.walk()
        for results in ([net], inner):
            for result, position, layer in _layers(results):
                for port, output in enumerate(layer.outputs):
                    if name in output.tensor_names:
                        return result, position, port
                if layer.is_result and name in names_in(layer.output_names):
                    return result, position, 0
            for (text, port), key in product(wanted, (_name, _id, self.label_of)):
                for result, position, _ in _layers(results):
                    if port < len(result.outputs[position]) and key(result, position) == text:
                        return result, position, port
        layers = net.body.layers
        known = [text for layer in layers for port in layer.outputs for text in port.tensor_names]
        known += [layer.name for layer in layers]
        raise ValueError(f"the model has no tensor and no layer '{name}'{suggestion(name, known)}")

    def label_of(self, result: BodyResult, position: int) -> str:
        """Returns the name of a layer; in a body, after the name of the layer around it and the
        tag."""
        name = result.body.layers[position].name
        if result not in self.around:
            return name
        outer, at, tag = self.around[result]
        return f"{self.label_of(outer, at)}/{tag}/{name}"


def _layers(results: Iterable[BodyResult]) -> Iterator[tuple[BodyResult, int, Layer]]:
    for result in results:
        for position, layer in enumerate(result.body.layers):
            yield result, position, layer


def _name(result: BodyResult, position: int) -> str:
    return result.body.layers[position].name


def _id(result: BodyResult, position: int) -> str:
    layer = result.body.layers[position]
    return "/".join((*layer.path, layer.id))


_WITHOUT_SYMBOLS = "the model was inferred without symbols: use infer(…, symbols=True)"


class Inference:
    """Every output port of a model with its inferred element type and shape.

    `str()` lists them, a line for each layer.
    """

    def __init__(
        self,
        model: Model,
        result: BodyResult,
        sizes: NamedSizes | None = None,
        engine: object | None = None,
    ) -> None:
        """engine: the `BodyEngine` that inferred the model."""
        self.model = model
        self.result = result
        self.engine = engine
        self._sizes = sizes

    @property
    def observations(self) -> list[Observation]:
        """The observations about layers, in file order, bodies included."""
        return list(_observations(self.result))

    @cached_property
    def refused(self) -> tuple[Refusal, ...]:
        """The layers that could not be inferred, bodies included: they do not fit their inputs,
        have a faulty attribute, or are of an unknown type."""
        reported = {
            finding.layer: finding.message
            for finding in self.model.findings
            if finding.layer is not None
        }
        refusals = []
        for layer, subject in self.observations:
            reason = _reason(subject, reported.get(layer))
            if reason is not None:
                refusals.append(Refusal(layer, *self.model.source.place(layer.offset), reason))
        return tuple(refusals)

    def outputs(self, layer: Layer | str) -> tuple[Tensor, ...]:
        """Returns the outputs of a layer; for a `Result`, the tensor that it passes on.

        layer: any layer of the model, also one inside a body, or the id of a layer of the net (the
        first one with that id). A tensor has an `element_type`, a `shape` and, if inference needed
        it, a `value`.
        Raises `KeyError` for a layer that the model does not have.
        """
        try:
            return self._outputs[layer]
        except KeyError:
            raise KeyError(self._absent(layer)) from None

    def tensor(self, name: str) -> Tensor:
        """Returns an output by name: its element type and shape.

        name: a tensor name, a layer by name or id, or `LAYER:INDEX` for an output of several.
        Raises `ValueError` for a name that the model does not have.
        """
        body, position, port = OutputNames(self.result).find(name)
        return body.outputs[position][port]

    def _absent(self, layer: object) -> str:
        """Explains why there are no outputs."""
        if not isinstance(layer, str):
            return f"{layer!r} is neither a layer of the model nor an id as a string"
        return f"the model has no layer of the id '{layer}'; `tensor` takes names"

    @property
    def symbols(self) -> dict[str, NamedSize]:
        """The named sizes: for each symbol the tensor and axis whose size it is, and its `range`.

        Raises `ValueError` for an inference without symbols, as `expressions` and `evaluate` do.
        """
        return self.sizes.named()

    @property
    def constraints(self) -> list[Constraint]:
        """The conditions that layers put on the named sizes.

        The model does not require the `assumed` ones: for sizes that break them, inference gives
        other results than the expressions. It requires `conditional` ones only if a certain body
        runs.
        """
        return list(self.sizes.facts.constraints.values())

    @property
    def sizes(self) -> NamedSizes:
        """The facts about the named sizes."""
        if self._sizes is None:
            raise ValueError(_WITHOUT_SYMBOLS)
        return self._sizes

    def expressions(self, layer: Layer | str) -> tuple[Expressions | None, ...]:
        """Returns the dimensions of a layer's outputs in terms of the named sizes.

        layer: as for `outputs`. For each output, an expression for each dimension, None for one
        that depends on data; or None for a dynamic rank.
        """
        assert self.sizes
        return self._expressions[layer]

    @cached_property
    def _outputs(self) -> dict[Layer | str, tuple[Tensor, ...]]:
        return self._by_layer(lambda result: result.outputs)

    @cached_property
    def _expressions(self) -> dict[Layer | str, tuple[Expressions | None, ...]]:
        return self._by_layer(lambda result: result.expressions or ())

    def _by_layer(self, rows: Callable[[BodyResult], Iterable[T]]) -> dict[Layer | str, T]:
        """Returns the rows of results by layer, and those of the net also by id."""
        known: dict[Layer | str, T] = {
            layer: row
            for result in self.result.walk()
            for layer, row in zip(result.body.layers, rows(result), strict=True)
        }
        return known | {layer.id: known[layer] for layer in reversed(self.result.body.layers)}

    def evaluate(self, sizes: Mapping[str, int]) -> dict[str, tuple[int | None, ...] | None]:
        """Returns the shapes of all outputs for these sizes of the symbols, without inferring
        again.

        The keys are the names that `run` gives to the outputs of layers: `name`, or `name:port`
        where a layer has several outputs. Sizes that depend on data are None, as is a shape of
        unknown rank; layers inside bodies are left out. Raises `ValueError` for a symbol that is
        unknown or missing, and for sizes that the model does not allow.
        """
        bound = self.sizes.bound(sizes)
        shapes: dict[str, tuple[int | None, ...] | None] = {}
        for layer in self.result.body.layers:
            outputs = self.expressions(layer)
            for port, known in enumerate(outputs):
                name = layer.name if len(outputs) == 1 else f"{layer.name}:{port}"
                shapes[name] = (
                    None
                    if known is None
                    else tuple(None if size is None else size.evaluate(bound) for size in known)
                )
        return shapes

    def explain(self, tensor: str, axis: int | None = None) -> list[Explanation]:
        """Explains why the dimensions of a tensor are what they are, one explanation for each.

        tensor: a tensor name, a layer by name or id, or `LAYER:INDEX` for an output of several.
        axis: explain only this one; a negative one counts from the end.
        Raises `ValueError` for a tensor or an axis that the model does not have, and for an
        inference without symbols.
        """
        raise ValueError(_WITHOUT_SYMBOLS)

    def overview(self) -> Overview:
        """Groups the dynamic dimensions of the net by their cause, and lists the inputs to bound so
        that no dimension is unbounded, and the inputs to fix so that none is dynamic.

        Raises `ValueError` for an inference without symbols.
        """
        raise ValueError(_WITHOUT_SYMBOLS)

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `irshape infer --format json` prints."""
        document: dict[str, Any] = {
            "version": 1,
            "model": self.model.path,
            "layers": list(_rows(self.result)),
            "refused": [refusal.to_dict() for refusal in self.refused],
        }
        if self._sizes is not None:
            from .named_sizes import written_range

            document["symbols"] = {
                name: {"tensor": tensor, "axis": axis, "range": written_range(size.low, size.high)}
                for name, (tensor, axis, size) in self.symbols.items()
            }
            document["constraints"] = [
                {
                    "condition": str(constraint),
                    "assumed": constraint.assumed,
                    "conditional": constraint.conditional,
                }
                for constraint in self.constraints
            ]
        return document

    def __str__(self) -> str:
        lines = []
        for row in _rows(self.result):
            place = "/".join((*row["path"], row["id"]))
            outputs = ", ".join(f"{out['element_type']}{out['shape']}" for out in row["outputs"])
            lines.append(f"{place} {row['type']} '{row['name']}': {outputs or 'no outputs'}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Inference of {len(self.model.layers)} layers, {self.model.path}>"


def _observations(result: BodyResult) -> Iterator[Observation]:
    if not result.inner and len(result.observations) < 2:
        yield from result.observations
        return
    by_layer: dict[Layer, list[Observation]] = {}
    for observation in result.observations:
        by_layer.setdefault(observation.layer, []).append(observation)
    for position, layer in enumerate(result.body.layers):
        yield from by_layer.get(layer, ())
        for inner in result.inner.get(position, {}).values():
            yield from _observations(inner)


def _reason(subject: object, reported: str | None) -> str | None:
    """Returns why a layer could not be inferred; None for another observation.

    reported: the message of the reader, if it could not read a node of another format.
    """
    if isinstance(subject, UnknownOperation):
        return reported or str(subject)
    if isinstance(subject, AttributeFault):
        return None if subject.silent else subject.fault.message
    if isinstance(subject, Fault) and subject.refuses:
        return subject.message
    return None


def written(known: Expressions | None) -> list[str | None] | None:
    """Returns the named dimensions of an output for JSON: a string for each expression, else
    None."""
    if known is None:
        return None
    return [None if expression is None else str(expression) for expression in known]


def _rows(result: BodyResult) -> Iterator[dict[str, Any]]:
    """Yields a JSON object for each layer, bodies included."""
    for position, layer in enumerate(result.body.layers):
        ports = layer.inputs[:1] if layer.is_result else layer.outputs
        outputs: list[dict[str, Any]] = [
            {"port": port.id, "element_type": str(tensor.element_type), "shape": str(tensor.shape)}
            for port, tensor in zip(ports, result.outputs[position], strict=False)
        ]
        if result.expressions is not None:
            for output, known in zip(outputs, result.expressions[position], strict=False):
                output["symbols"] = written(known)
        yield {**layer.reference, "outputs": outputs}
        for inner in result.inner.get(position, {}).values():
            yield from _rows(inner)
