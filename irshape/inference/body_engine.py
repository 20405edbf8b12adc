"""Infers the bodies of a model, and remembers the results of inner bodies."""

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
from .memory import MEMORY
from .mismatches import mismatches
from .result import BodyResult, Inference, LayerResult
from .walk import Walk, compatible, own_tensor

MAX_WORK = 1_000_000
"""The maximum number of layers to infer inside bodies, counting all runs. Beyond that, the
bodies count as endless."""


class BodyEngine:
    """Infers the bodies of one model, and layers added to the model. Infers an inner body once for
    each set of inputs.

    lasting: share the memory of layers with other models. Inference with named sizes must not.
    """

    def __init__(self, model: Model, *, lasting: bool = False) -> None:
        self.model = model
        self.declarations = Declarations(model)
        self.layers = LayerEngine(model, MEMORY if lasting else None)
        self.wirings: dict[Body, Wiring] = {}
        """The wirings of the bodies that were inferred."""
        self._results: dict[tuple[Body, bool, frozenset[tuple[str, Tensor]]], BodyResult] = {}
        self._work = 0

    def go_on_from(self, known: Inference | None) -> None:
        """Takes over the declarations and wirings that an inference of the same model read."""
        if known is not None and isinstance(known.engine, BodyEngine):
            self.declarations, self.wirings = known.engine.declarations, known.engine.wirings

    def serve(self, model: Model) -> None:
        """Continues with another model that has the same bytes, and keeps what was inferred."""
        self.model = self.layers.model = model
        self._work = 0

    def infer_layer(self, layer: Layer, inputs: tuple[Tensor, ...]) -> LayerResult:
        """Infers one layer from its inputs, with the values of its outputs.

        An attribute for which OpenVINO refuses the layer is a fault; others are not reported.
        Raises `UnknownOperation`.
        """
        declaration = self.declarations.of(layer)
        if isinstance(declaration, UnknownOperation):
            raise declaration
        operation, faulty = declaration
        refused = next((each.fault for each in faulty if not each.silent), None)
        if refused is not None:
            return LayerResult(refused)
        if operation.bodies:
            return self.infer_around(layer, operation, inputs, compare=False)
        return self.layers.infer(layer, operation, inputs, True)

    def infer_around(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], *, compare: bool
    ) -> LayerResult:
        """Infers a layer with bodies; see `infer_with_bodies`."""
        return infer_with_bodies(layer, operation, inputs, self.infer_inner, compare=compare)

    def forget_bodies(self) -> None:
        """Forgets the results of bodies, and resets the count of work."""
        self.wirings.clear()
        self._results.clear()
        self._work = 0

    def infer_body(
        self,
        body: Body,
        parameters: Mapping[str, PartialShape | Tensor],
        *,
        compare: bool = False,
        result_values: bool = False,
    ) -> BodyResult:
        """Infers a body in one pass.

        parameters: by layer id, the shape or tensor that replaces the one that a Parameter
        declares.
        compare: compare the declared ports; after a port that differs, continue with the
        declaration that its consumer repeats.
        result_values: compute the values of the Results.
        """
        wiring = self.wirings.get(body)
        if wiring is None:
            wiring = self.wirings[body] = wire(body)
        walk = Walk(self, body, wiring, compare=compare)
        walk.run(parameters, result_values)
        return walk.result

    def infer_inner(
        self, body: Body, parameters: Mapping[str, Tensor], compare: bool
    ) -> BodyResult:
        """Infers a body of a layer, once for the same parameters.

        Raises `Violation` if nested bodies make the work endless.
        """
        fed = frozenset(parameters.items())
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
                    f"the inference of nested bodies takes more than {MAX_WORK:,} steps",
                    expected="bodies whose shapes stop changing",
                    rule=PORT_MAP,
                )
            result = self._results[key] = self.infer_body(
                body, parameters, compare=compare, result_values=True
            )
        return result

    def _declares(self, result: BodyResult, parameters: Mapping[str, Tensor]) -> bool:
        """Whether all ports of a body declare what was inferred without comparing.

        If so, comparing gives the same result.
        """
        if result.inner or result.unsure:
            return False
        for layer, tensors in zip(result.body.layers, result.outputs, strict=True):
            if not layer.output_count:
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


def declarations_of(inference: Inference) -> Declarations:
    """Returns the declarations of an inferred model. Those already read are not read again."""
    known = inference.engine
    return known.declarations if isinstance(known, BodyEngine) else Declarations(inference.model)
