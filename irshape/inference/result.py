"""The results of inference: the tensor of every output port, and observations about layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ..demands import Demand
from ..faults import Fault
from ..model.graph import Body, Layer, Model
from ..model.names import ends_of, layer_and_index
from ..model.ports import names_in
from ..model.wiring import OutputRef, Wiring
from ..ops.declaration import AttributeFault
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..spelling import suggestion

if TYPE_CHECKING:
    from ..symbols.conditions import Constraint
    from ..symbols.expressions import Expression
    from .declarations import Declarations
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
    """Whether the declaration is compatible with the inferred tensor, but less specific."""


class OutputCount(NamedTuple):
    """A layer declares more output ports than the operation has outputs, or no output port."""

    declared: int
    inferred: int


class Observation(NamedTuple):
    """A layer, and what inference has to report about it, e.g. a fault."""

    layer: Layer
    subject: Fault | AttributeFault | UnknownOperation | Mismatch | OutputCount


class Refusal(NamedTuple):
    """A layer that could not be inferred. Its outputs are the tensors that its ports declare."""

    layer: Layer
    line: int
    column: int
    message: str
    """Why the layer could not be inferred."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry of this layer in `Inference.to_dict`."""
        return {**self.layer.reference, "line": self.line, "message": self.message}


class BodyResult:
    """The result of inferring one body. Layers are given by their position in `body.layers`."""

    def __init__(self, body: Body, wiring: Wiring) -> None:
        self.body = body
        self.wiring = wiring
        self.outputs: list[tuple[Tensor, ...]] = [()] * len(body.layers)
        self.inputs: dict[int, tuple[Tensor | None, ...]] = {}
        self.demands: dict[int, frozenset[Demand]] = {}
        """The conditions of layers on dynamic dimensions of their inputs."""
        self.observations: list[Observation] = []
        self.inner: dict[int, dict[str, BodyResult]] = {}
        """For each layer with bodies, the results of the bodies by tag, such as `then_body`."""
        self.expressions: list[tuple[Expressions | None, ...]] | None = None
        """For each output, its dimensions as expressions of symbols if requested; None for a
        dynamic rank."""
        self.elements: list[tuple[Expressions | None, ...]] | None = None
        """For each output, its elements as expressions of symbols; None if they are not known."""
        self.faulty: set[int] = set()
        """The layers that refuse their inputs, or that have faulty attributes."""
        self.believed: set[int] = set()
        """Layers whose outputs are declared tensors, or may be less specific than possible."""
        self.doubtful: set[OutputRef] = set()
        """The output ports whose declarations differ from the inferred types and shapes."""

    @cached_property
    def unsure(self) -> set[int]:
        """The layers whose outputs may depend on declared ports: the layers in `believed`, and all
        layers that depend on them or on an output port in `doubtful`."""
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
        """Yields this result and the results of all inner bodies, in file order."""
        yield self
        for position in sorted(self.inner):
            for inner in self.inner[position].values():
                yield from inner.walk()

    def refusing(self) -> set[Layer]:
        """Returns the layers, also in bodies, that refuse their inputs or have faulty
        attributes."""
        refusing = set[Layer]()
        for part in self.walk():
            refusing.update(part.body.layers[position] for position in part.faulty)
            refusing.update(
                layer
                for layer, subject in part.observations
                if isinstance(subject, Fault) and subject.prevents_computing
            )
        return refusing

    def constants_before(self, layer: Layer) -> Iterator[tuple[Layer, tuple[int, ...]]]:
        """Yields the constants on which a layer depends, nearest first, each with its sizes.

        The sizes are the shape of the constant or, if its elements are used as a shape, the
        elements. Omits permutations of axes, and single elements, which are more often axes than
        sizes.
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


class LayerResult(NamedTuple):
    """The result of inferring one layer, independent of its place in a model."""

    outputs: tuple[Tensor, ...] | Fault
    """The tensor of each output; or a fault, if the operation refuses the layer."""
    faults: tuple[Fault, ...] = ()
    """Violations of the specification that OpenVINO accepts."""
    inner: Mapping[str, BodyResult] = MappingProxyType({})
    """The results of the layer's bodies, by tag, such as `then_body`."""
    unsure: bool = False
    """Whether outputs may be less specific than possible, because irshape does not know a value or
    type, or because OpenVINO assumes more than it knows."""
    demands: frozenset[Demand] = frozenset()
    """The conditions of the layer on dynamic dimensions of its inputs."""


class OutputNames:
    """Finds outputs of a model by tensor name, or by the name or id of the layer.

    around: for each inner body, the outer body, the position of the layer in it, and the tag.
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
        """Returns the body, the layer's position and the output's position for a name.

        name: a tensor name, a layer by name or id, or `LAYER:INDEX`. Outputs of the net come before
        outputs of bodies. Raises `ValueError` for a name that the model does not have.
        """
        parts = layer_and_index(name)
        wanted = [(name, 0)] + ([] if parts is None else [parts])
        net, *inner = self._result.walk()
        for results in ([net], inner):
            output = next(self._named(results, name, wanted), None)
            if output is not None:
                return output
        layers = net.body.layers
        known = [text for layer in layers for port in layer.outputs for text in port.tensor_names]
        known += [layer.name for layer in layers]
        hint = suggestion(name, known) or ends_of(layers, net.wiring.sources)
        raise ValueError(f"the model has no tensor and no layer '{name}'{hint}")

    def _named(
        self, results: Iterable[BodyResult], name: str, wanted: Iterable[tuple[str, int]]
    ) -> Iterator[tuple[BodyResult, int, int]]:
        """Yields the outputs with the tensor name `name`, then each layer and port in `wanted`."""
        for result, position, layer in _layers(results):
            for port, output in enumerate(layer.outputs):
                if name in output.tensor_names:
                    yield result, position, port
            if layer.is_result and name in names_in(layer.output_names):
                yield result, position, 0
        for text, port in wanted:
            for key, value in (
                (_name, text),
                (_id, text.removeprefix("id:")),
                (self.label_of, text),
            ):
                for result, position, _ in _layers(results):
                    if port < len(result.outputs[position]) and key(result, position) == value:
                        yield result, position, port

    def label_of(self, result: BodyResult, position: int) -> str:
        """Returns the name of a layer; in a body, as `OUTER/TAG/NAME`, e.g. `loop/body/add`."""
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


class Reusable(Protocol):
    """The parts of a `BodyEngine` that a later inference of the same model reuses."""

    declarations: Declarations
    wirings: dict[Body, Wiring]
    constants: dict[Layer, LayerResult]


class Inference:
    """The inferred element type and shape of every output port of a model.

    `str()` returns a line for each layer.
    """

    def __init__(
        self,
        model: Model,
        result: BodyResult,
        sizes: NamedSizes | None = None,
        engine: Reusable | None = None,
    ) -> None:
        """engine: the `BodyEngine` that inferred the model. Later inferences reuse it."""
        self.model = model
        self.result = result
        self.engine = engine
        self._sizes = sizes

    @property
    def observations(self) -> list[Observation]:
        """The observations about layers, including layers in bodies, in file order."""
        return list(_observations(self.result))

    @cached_property
    def refused(self) -> tuple[Refusal, ...]:
        """The layers that could not be inferred, including layers in bodies: they refuse their
        inputs, have a faulty attribute, or have an unknown type."""
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

        layer: any layer of the model, also in a body, or the id of a layer of the net. An id that
        several layers share means the first of them. A tensor has an `element_type`, a `shape` and,
        if an operation needed it, a `value`. Raises `KeyError` for a layer that the model does not
        have.
        """
        try:
            return self._outputs[layer]
        except KeyError:
            raise KeyError(
                f"the model has no layer with the id '{layer}'; for names, use `tensor`"
                if isinstance(layer, str)
                else f"{layer!r} is neither a layer of the model nor the id of a layer as a string"
            ) from None

    def tensor(self, name: str) -> Tensor:
        """Returns the inferred element type and shape of the output with a name.

        name: a tensor name, a layer by name or id, or `LAYER:INDEX` if the layer has several
        outputs. Raises `ValueError` for a name that the model does not have.
        """
        body, position, port = OutputNames(self.result).find(name)
        return body.outputs[position][port]

    @property
    def symbols(self) -> dict[str, NamedSize]:
        """Maps each symbol's name to the tensor and axis that it stands for, and its `range`."""
        return self.sizes.named()

    @property
    def constraints(self) -> list[Constraint]:
        """The conditions that layers set on the sizes of symbols; expressions assume that all hold.

        The model does not require a condition with `assumed`. It requires a condition with
        `conditional` only if a certain body runs.
        """
        return list(self.sizes.facts.constraints.values())

    @property
    def sizes(self) -> NamedSizes:
        """The symbols, and all facts about them."""
        if self._sizes is None:
            raise ValueError(_WITHOUT_SYMBOLS)
        return self._sizes

    def expressions(self, layer: Layer | str) -> tuple[Expressions | None, ...]:
        """Returns the dimensions of a layer's outputs as expressions of symbols.

        layer: the layer, or its id in the net. For each output, the result has an expression for
        each dimension (None if the dimension depends on data), or None if the rank is dynamic.
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
        """Maps each layer, and each layer id of the net, to its item in what `rows` returns."""
        known: dict[Layer | str, T] = {
            layer: row
            for result in self.result.walk()
            for layer, row in zip(result.body.layers, rows(result), strict=True)
        }
        return known | {layer.id: known[layer] for layer in reversed(self.result.body.layers)}

    def evaluate(self, sizes: Mapping[str, int]) -> dict[str, tuple[int | None, ...] | None]:
        """Returns the shapes of all outputs for these sizes of the symbols. Does not infer again.

        The keys are the names that `run` gives to the outputs of layers: `name`, or `name:port` if
        a layer has several outputs. A size that depends on data, or a shape of dynamic rank, is
        None. Layers in bodies are left out. Raises `ValueError` for a symbol that is unknown or
        missing, and for sizes that the model does not allow.
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
        """Returns an explanation for each dimension of a tensor: which layers determine it.

        tensor: a tensor name, a layer by name or id, or `LAYER:INDEX` for one of several outputs.
        axis: explain only this axis; a negative axis counts from the end.
        Raises `ValueError` for a tensor or an axis that the model does not have, and for an
        inference without symbols.
        """
        raise ValueError(_WITHOUT_SYMBOLS)

    def overview(self) -> Overview:
        """Groups the dynamic dimensions of the net by their cause.

        Also proposes shapes of the inputs that bound as many dimensions as possible, and shapes
        that make as many as possible static. Raises `ValueError` for an inference without symbols.
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
    """Returns why a layer could not be inferred; None if the observation is about something else.

    reported: the message of the reader if it could not read the node, e.g. of an ONNX model.
    """
    if isinstance(subject, UnknownOperation):
        return reported or str(subject)
    if isinstance(subject, AttributeFault):
        return None if subject.silent else subject.fault.message
    if isinstance(subject, Fault) and subject.prevents_computing:
        return subject.message
    return None


def written(known: Expressions | None) -> list[str | None] | None:
    """Returns the expressions of an output's dimensions as strings, for JSON; None for a dimension
    that has no expression."""
    if known is None:
        return None
    return [None if expression is None else str(expression) for expression in known]


def _rows(result: BodyResult) -> Iterator[dict[str, Any]]:
    """Yields a JSON object for each layer, including layers in bodies."""
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
