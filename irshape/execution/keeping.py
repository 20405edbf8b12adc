"""Keeps outputs that are the same in every run of a session, so that they are computed once."""

from __future__ import annotations

from collections.abc import Collection

from ..model.graph import Body, Layer
from ..numpy_types import Array
from .admission import Admission, Shapes, shapes_of
from .interpreter import Interpreter
from .settled import Prepared, Recorder, arranged, frontier, settled_layers

_KEPT_SHARE = 4
"""Outputs that depend only on constants may take one part in this many of `max_memory`."""
_KEPT_BYTES = 8 << 20
"""Bytes that outputs may take that depend only on the shapes of one set of inputs."""


class Keeper:
    """Runs the net of a model, and computes outputs that are the same in every run only once.

    The first run keeps nothing. The second keeps outputs that depend only on constants. The second
    with inputs of the same shapes keeps outputs that depend only on these.
    """

    def __init__(self, net: Body, interpreter: Interpreter, admission: Admission) -> None:
        self._net = net
        self._interpreter = interpreter
        self._admission = admission
        self.forget()

    def forget(self) -> None:
        """Discards everything kept from earlier runs."""
        self._settled: dict[int, tuple[Array, ...]] | None = None
        self._of_constants: Prepared | None = None
        self._of_sizes: dict[Shapes, Prepared] = {}
        self._has_run = False
        self._sizes_run: set[Shapes] = set()

    def run(self, fed: dict[str, Array]) -> dict[str, Array]:
        """Runs the net once. The input sizes must have been admitted."""
        interpreter, net = self._interpreter, self._net
        if not interpreter.is_plain:
            return interpreter.run_body(net, fed)
        sizes = shapes_of(fed)
        prepared = self._of_sizes.get(sizes)
        if prepared is not None:
            return interpreter.run_body(net, fed, prepared=prepared)
        self._forget_sizes_but(self._admission.admitted)
        again = sizes in self._sizes_run
        if not self._has_run or (self._settled is not None and not again):
            results = interpreter.run_body(net, fed, prepared=self._of_constants)
        else:
            results = self._recorded(fed, sizes if again else None)
        self._has_run = True
        if sizes in self._admission.admitted:
            self._sizes_run.add(sizes)
        return results

    def _forget_sizes_but(self, admitted: Collection[Shapes]) -> None:
        self._sizes_run.intersection_update(admitted)
        if len(self._of_sizes) > len(self._sizes_run):
            self._of_sizes = {
                sizes: prepared for sizes, prepared in self._of_sizes.items() if sizes in admitted
            }

    def _recorded(self, fed: dict[str, Array], sizes: Shapes | None) -> dict[str, Array]:
        """Runs the net, and keeps outputs that depend only on constants and, with `sizes`, on
        shapes."""
        interpreter, net, admission = self._interpreter, self._net, self._admission
        repeatable = interpreter.kernels.repeatable
        plan = interpreter.plan(net)
        always = settled_layers(net, plan, repeatable, ())
        settled = (
            settled_layers(net, plan, repeatable, admission.settled_sizes) if sizes else always
        )
        max_memory = interpreter.max_memory
        limit = min(max_memory // _KEPT_SHARE, max(max_memory - admission.peak, 0))
        recorder = Recorder(net, frontier(plan, always) if self._settled is None else (), limit)
        of_sizes = Recorder(net, frontier(plan, settled) - frontier(plan, always), _KEPT_BYTES)

        def note(layer: Layer, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
            recorder.note(layer, inputs, outputs)
            of_sizes.note(layer, inputs, outputs)

        waits = recorder.waits or of_sizes.waits
        results = interpreter.run_body(net, fed, note if waits else None)
        tensors = interpreter.with_constants(net)
        if self._settled is None:
            for position, outputs in recorder.outputs.items():
                tensors[position] = outputs
            limit -= sum(array.nbytes for outputs in recorder.outputs.values() for array in outputs)
            copies = arranged(net, plan, tensors, repeatable, limit)
            self._settled = {**recorder.outputs, **copies}
            self._of_constants = Prepared(net, plan, always, tensors, self._settled)
        if sizes:
            kept = {**of_sizes.outputs, **self._settled}
            self._of_sizes[sizes] = Prepared(net, plan, settled, tensors, kept)
        return results
