"""Folds constants for a session: computes outputs that depend only on constants once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..model.graph import Body
from ..numpy_types import Array
from .admission import Admission
from .errors import ExecutionError
from .interpreter import Interpreter
from .plan import COMPUTED, Prepared, without

_KEPT_SHARE = 4
"""Kept outputs may take at most `max_memory` divided by this number."""


class Keeper:
    """Runs the net of a model. Before the second run, computes the outputs that depend only on
    constants, and uses them in all later runs."""

    def __init__(self, net: Body, interpreter: Interpreter, admission: Admission) -> None:
        self._net = net
        self._interpreter = interpreter
        self._admission = admission
        self.forget()

    def forget(self) -> None:
        """Discards everything kept from earlier runs."""
        self._prepared: Prepared | None = None
        self._has_run = False

    def run(self, fed: dict[str, Array]) -> dict[str, Array]:
        """Runs the net once. `Admission` must have accepted the sizes of the inputs."""
        if self._has_run and self._prepared is None and self._interpreter.is_plain:
            self._prepared = self._prepare()
        self._has_run = True
        return self._interpreter.run_body(self._net, fed, prepared=self._prepared)

    def _prepare(self) -> Prepared:
        """Computes the layers that depend only on constants, and keeps outputs as far as memory
        allows."""
        interpreter, net = self._interpreter, self._net
        plan, max_memory = interpreter.plan(net), interpreter.max_memory
        room = min(max_memory // _KEPT_SHARE, max(max_memory - self._admission.peak, 0))
        tensors = interpreter.with_constants(net)
        constant = {at for at, layer in enumerate(net.layers) if layer.is_constant}
        settled: set[int] = set()
        for step in plan.computed:
            layer = net.layers[step.position]
            if (
                step.kind != COMPUTED
                or not step.sources
                or interpreter.kernels.repeatable(layer) is None
                or any(
                    at not in settled and not net.layers[at].is_constant for at, _ in step.sources
                )
            ):
                continue
            try:
                inputs = [tensors[producer][port] for producer, port in step.sources]
                outputs = interpreter.evaluate(layer, inputs)
            except (ExecutionError, IndexError):
                continue  # the run reports it
            size = _bytes_of(outputs)
            if size > room:
                continue
            room -= size
            for array in outputs:
                array.flags.writeable = False  # an output of the model may be a view of it
            tensors[step.position] = outputs
            settled.add(step.position)
            constant.add(step.position)
            for producer in step.ended:
                room += _bytes_of(tensors[producer])
                tensors[producer] = ()
        kept = {position for position in settled if tensors[position]}
        for position, copy in self._arranged(tensors, room).items():
            tensors[position] = (copy,)
            kept.add(position)
        return Prepared(without(net, plan, settled, kept), tensors)

    def _arranged(self, tensors: Sequence[tuple[Array, ...]], room: int) -> dict[int, Array]:
        """Returns copies of kept tensors in the memory layout that their consumers prefer.

        A tensor is copied only if all its consumers have a preferred layout. That of the first
        consumer is used. The copies take at most `room` bytes in all.
        """
        takers: dict[int, list[Callable[[Array], Array] | None]] = {}
        for step in self._interpreter.plan(self._net).steps:
            layer = self._net.layers[step.position]
            taker = self._interpreter.kernels.repeatable(layer) if step.kind == COMPUTED else None
            for index, (producer, _) in enumerate(step.sources):
                if len(tensors[producer]) == 1:
                    arrange = None if taker is None else taker.arranged
                    takers.setdefault(producer, []).append(arrange and partial(arrange, index))
        copies: dict[int, Array] = {}
        for producer, wishes in takers.items():
            array = tensors[producer][0]
            if array.nbytes > room or None in wishes:
                continue
            copy = next(filter(None, wishes))(array)
            if copy is not array:
                room -= copy.nbytes
                copy.flags.writeable = False
                copies[producer] = copy
        return copies


def _bytes_of(outputs: Sequence[Array]) -> int:
    return sum(array.nbytes for array in outputs)
