"""Infers the bodies of a model, and remembers what may come again."""

from __future__ import annotations

from collections.abc import Mapping

from ..faults import Violation
from ..model.graph import Body, Layer, Model
from ..model.wiring import Wiring, wire
from ..ops.declaration import Operation
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..rule_ids import PORT_MAP
from ..shapes import PartialShape
from .bodies import infer_with_bodies
from .declarations import Declarations
from .layer import LayerEngine
from .mismatches import mismatches
from .remembered_bodies import Call, Fed, InnerCall, RememberedBodies, result_of
from .result import BodyResult, LayerResult
from .walk import Walk, compatible, own_tensor

MAX_WORK = 1_000_000
"""How many layers inside bodies are inferred, all runs of all bodies counted, before the bodies
are taken to be endless work."""


class BodyEngine:
    """Infers the bodies of one model, and layers added to it; remembers what may come again.

    lasting: see `LayerEngine`.
    """

    def __init__(self, model: Model, *, lasting: bool = False) -> None:
        self.model = model
        self.declarations = Declarations(model)
        self.layers = LayerEngine(model, lasting=lasting)
        self.wirings: dict[Body, Wiring] = {}
        """Those of the bodies that were inferred."""
        self._results: dict[tuple[object, ...], BodyResult] = {}
        self._around: dict[tuple[object, ...], tuple[LayerResult, list[Call]]] = {}
        """Layers with bodies, each with the inferences of its bodies."""
        self._remembered = RememberedBodies(self.declarations, self.layers) if lasting else None
        self._calls: list[Call] = []
        """The inferences of bodies inside the one at hand."""
        self._work = 0

    def serve(self, model: Model) -> None:
        """Goes on with another model that has the same bytes; what was worked out is kept."""
        self.model = self.layers.model = model
        self._calls = []
        self._work = 0

    def infer_layer(self, layer: Layer, inputs: tuple[Tensor, ...]) -> LayerResult:
        """One layer from its inputs, with the values of its outputs.

        Faulty attributes are not reported. Raises `UnknownOperation`.
        """
        declaration = self.declarations.of(layer)
        if isinstance(declaration, UnknownOperation):
            raise declaration
        operation, _ = declaration
        if operation.has_bodies:
            return self.infer_around(layer, operation, inputs, compare=False)
        return self.layers.infer(layer, operation, inputs, True)

    def infer_around(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], *, compare: bool
    ) -> LayerResult:
        """A layer with bodies, once for the same inputs; see `infer_with_bodies`."""
        if self._remembered is None:
            return infer_with_bodies(layer, operation, inputs, self.infer_inner, compare=compare)
        first, key = len(self._calls), (layer, compare, *inputs)
        known = self._around.get(key)
        if known is not None:
            self._calls += known[1]
            return known[0]
        result = self._infer_around(layer, operation, inputs, compare, self._remembered)
        if self._work <= MAX_WORK:  # else it may be less another time
            self._around[key] = result, self._calls[first:]
        return result

    def _infer_around(
        self,
        layer: Layer,
        operation: Operation,
        inputs: tuple[Tensor, ...],
        compare: bool,
        memory: RememberedBodies,
    ) -> LayerResult:
        """A layer with bodies, as it is remembered or inferred."""
        first, key = len(self._calls), memory.around(layer, operation, inputs, compare)
        given = None if key is None else memory.given_around(key)
        if given is not None:
            bodies = layer.bodies or {}
            within = self._repeated(given.calls, [bodies[call.tag] for call in given.calls])
            if within is not None:
                inner = {tag: within[number] for tag, number in given.inner.items()}
                return LayerResult(given.outputs, given.faults, inner, given.unsure, given.demands)
            del self._calls[first:]
        result = infer_with_bodies(layer, operation, inputs, self.infer_inner, compare=compare)
        if key is not None and self._work <= MAX_WORK:
            memory.keep_around(key, layer, result, self._calls[first:])
        return result

    def _repeated(self, calls: list[InnerCall], bodies: list[Body]) -> list[BodyResult] | None:
        """The results of bodies as a layer asked for them that is remembered.

        All of it is asked for again, so that the same is known, and as much work was counted, as if
        nothing were remembered. None where it is too much, which the layer has to tell.
        """
        results: list[BodyResult] = []
        for (_, _, parameters, compare, fed, same), body in zip(calls, bodies, strict=True):
            if same is None:
                try:
                    results.append(self._infer_fed(body, parameters, compare, fed))
                except Violation:
                    return None
            else:
                result = self._results.setdefault((body, compare, fed), results[same])
                self._calls.append(Call(body, parameters, compare, fed, result))
                results.append(result)
        return results

    def forget_bodies(self) -> None:
        """Forgets what was inferred of bodies, and how much work that was."""
        self.wirings.clear()
        self._results.clear()
        self._around.clear()
        self._calls.clear()
        if self._remembered is not None:
            self._remembered.forget()
        self._work = 0

    def infer_body(
        self,
        body: Body,
        parameters: Mapping[str, PartialShape | Tensor],
        *,
        compare: bool = False,
        result_values: bool = False,
    ) -> BodyResult:
        """One pass over a body.

        parameters: by layer id, the shape or the tensor that a Parameter has instead of the one
        it declares. compare: compare the declared ports, and go on behind a port that differs
        from what its consumer repeats. result_values: work out the values of the Results.
        """
        wiring = self.wirings.get(body)
        ports = None
        if wiring is None:
            wiring = self.wirings[body] = wire(body)
            if wiring.complete is not None:
                ports = wiring.complete.heads, wiring.complete.dims
        walk = Walk(self, body, wiring, compare=compare, ports=ports)
        walk.run(parameters, result_values)
        return walk.result

    def infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool
    ) -> BodyResult:
        """A body of a layer, once for the same parameters.

        Raises `Violation` where bodies within bodies make it endless work.
        """
        return self._infer_fed(body, parameters, compare, frozenset(parameters.items()))

    def _infer_fed(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool, fed: Fed
    ) -> BodyResult:
        """The same. fed: the parameters."""
        key = (body, compare, fed)
        result = self._results.get(key)
        if result is None and compare:
            plain = self._results.get((body, False, fed))
            if plain is not None and self._declares(plain, parameters):
                result = self._results[key] = plain
        if result is None:
            self._work += len(body.layers)
            if self._work > MAX_WORK:
                raise Violation(
                    f"the bodies within bodies take more than {MAX_WORK:,} steps to work out",
                    expected="bodies whose shapes settle",
                    rule=PORT_MAP,
                )
            around, self._calls = self._calls, []
            try:
                result = self._results[key] = self._infer_inner(body, parameters, compare, fed)
            finally:
                self._calls = around
        self._calls.append(Call(body, parameters, compare, fed, result))
        return result

    def _infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool, fed: Fed
    ) -> BodyResult:
        """A body of a layer, as it is remembered or inferred."""
        memory = self._remembered
        known = None if memory is None else memory.known(body)
        if memory is None or known is None:
            return self.infer_body(body, parameters, compare=compare, result_values=True)
        given = memory.given(known, compare, fed)
        if given is not None:
            around = [body.layers[call.position].bodies or {} for call in given.calls]
            bodies = [tags[call.tag] for tags, call in zip(around, given.calls, strict=True)]
            within = self._repeated(given.calls, bodies)
            if within is not None:
                return result_of(body, known, given, within)
            self._calls = []
        walk = Walk(self, body, known.content.wiring, compare=compare, known=known)
        walk.run(parameters, True)
        if self._work <= MAX_WORK:
            memory.keep(known, compare, fed, walk.result, self._calls)
        return walk.result

    def _declares(self, result: BodyResult, parameters: Mapping[str, Tensor]) -> bool:
        """Whether all ports of a body declare what was inferred of it without a look at them.

        Then a comparison gives the same result.
        """
        if result.inner or result.unsure:
            return False
        for layer, tensors in zip(result.body.layers, result.outputs, strict=True):
            if not layer.port_heads.output_ids:
                continue
            fed = parameters.get(layer.id) if layer.is_parameter else None
            if fed is None:
                declared_tensors = tensors
            else:
                own = own_tensor(self.declarations.of(layer))
                if own is None or not compatible(own, fed):
                    return False
                declared_tensors = (own,)
            if mismatches(layer, declared_tensors):
                return False
        return True
