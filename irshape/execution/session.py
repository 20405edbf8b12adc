"""Sessions run a model and keep state from one run to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..inference.declarations import Declarations
from ..model.graph import Layer, Model
from ..model.names import outputs_of, port_name
from ..model.snapshot import Snapshot
from ..numpy_types import Array
from ..ops.kernels import Kernels
from .admission import Admission
from .computing import LayerKernels
from .constant_folding import Keeper
from .constants import Constants, Rounding
from .errors import ExecutionError, LayerRefusal
from .feeds import Fed, Feeds, Given, by_id
from .interpreter import MAX_ITERATIONS, Interpreter, Observer, Replaced, Run
from .memory import default_max_memory, keep_freed_memory
from .refusals import origin

keep_freed_memory()


class Session:
    """Runs a model. Keeps the values of its variables from one call to the next, until `reset`.

    max_memory: how many bytes the tensors in memory at one time may take. The bytes are estimated
    before a run or, for sizes that depend on values, before the layer that determines them runs.
    max_iterations: how often the body of one layer may run in one run of the model.
    rounding: a function that is applied to every constant, input, and output of a layer.
    kernels: functions that replace the `evaluate` of operations.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_memory: int | None = None,
        max_iterations: int = MAX_ITERATIONS,
        rounding: Rounding | None = None,
        kernels: Kernels | None = None,
    ) -> None:
        if model.kind == "layers":
            raise ExecutionError("single layers cannot be run; give a whole model")
        self.model = model
        self.max_memory = default_max_memory() if max_memory is None else max_memory
        self.max_iterations = max_iterations
        self.rounding = rounding
        self.kernels = Kernels() if kernels is None else kernels
        self.state: dict[str, Array] = {}
        self._replaced: Replaced | None = None
        self._begin()

    _watches_ports = False
    """Whether a change of what ports declare counts as a change of the model."""

    def _begin(self) -> None:
        """Discards everything that was derived from the model. Variables keep their values."""
        model = self.model
        self._snapshot = Snapshot(model, ports=self._watches_ports)
        self.declarations = Declarations(model)
        self._feeds = Feeds(model, self.declarations)
        self._admission = Admission(model)
        self._result_names: list[str] | None = None
        self.share_constants(Constants(model, self.rounding))

    def share_constants(self, constants: Constants) -> None:
        """Discards all computed outputs, and uses these constants from now on, e.g. those that
        another session of the same model has read."""
        self._interpreter = Interpreter(
            LayerKernels(self.declarations, self.kernels),
            constants,
            max_memory=self.max_memory,
            max_iterations=self.max_iterations,
            replaced=self._replaced,
        )
        self._keeper = Keeper(self.model.net, self._interpreter, self._admission)

    @property
    def constants(self) -> Constants:
        """The constants of the model."""
        return self._interpreter.constants

    def _notice_changes(self) -> None:
        """Discards everything derived from the model if the model has changed."""
        if not self._snapshot.matches(self.model):
            self._change()

    def _change(self) -> None:
        """Updates the session after a change of the model."""
        self.model.net.reindex()
        self._begin()

    def sibling(
        self, *, rounding: Rounding | None = None, replaced: Replaced | None = None
    ) -> Session:
        """Returns a session of the same model with the same limits and empty variables.

        Both sessions share the constants, unless they round differently.
        replaced: a function that returns outputs to use instead of computing a layer.
        """
        session = Session(
            self.model,
            max_memory=self.max_memory,
            max_iterations=self.max_iterations,
            rounding=rounding,
            kernels=self.kernels,
        )
        session._replaced = replaced
        same = rounding is self.rounding
        session.share_constants(self.constants if same else session.constants)
        return session

    def limit_memory(self, max_memory: int | None) -> None:
        """Sets `max_memory`. If it becomes smaller, sizes that were accepted are checked again."""
        limit = default_max_memory() if max_memory is None else max_memory
        if limit < self.max_memory:
            self._admission.forget()
            self._keeper.forget()
        self.max_memory = self._interpreter.max_memory = limit

    def reset(self) -> None:
        """Clears all variables, which get their initial values in the next run."""
        self.state.clear()

    def run(
        self,
        inputs: Given = None,
        *,
        outputs: str = "results",
        observe: Observer | None = None,
        inside: bool = False,
    ) -> dict[str, Array]:
        """Runs the model once. `outputs`: `results` for the outputs of the model, or `all` for the
        outputs of every layer.

        observe: a function that is called with each layer of the net, its inputs and its outputs;
        if `inside` is True, also for the layers of bodies, in each run of the body. A run that
        fails leaves the variables unchanged. Raises `ExecutionError`.
        """
        if outputs not in ("results", "all"):
            raise ValueError(f"outputs is 'results' or 'all', got {outputs!r}")
        self._notice_changes()
        fed = self.bind(inputs)
        self._feeds.check_state(self.state)
        self.check_fit(fed)
        kept: dict[str, Array] = {}

        def note(layer: Layer, inputs: tuple[Array, ...], results: tuple[Array, ...]) -> None:
            if outputs == "all" and not layer.is_result:
                for index, array in enumerate(results):
                    kept[_name_among(kept, layer, index)] = array
            if observe is not None:
                observe(layer, inputs, results)

        inner = observe if inside else None
        self._interpreter.current = Run(self.state, inner)
        before = dict(self.state)
        try:
            if outputs == "all" or observe is not None:
                results = self._interpreter.run_body(self.model.net, by_id(fed), note)
            else:
                results = self._keeper.run(by_id(fed))
        except BaseException as problem:
            self.state.clear()
            self.state.update(before)
            if isinstance(problem, LayerRefusal):
                where = origin(self.model.net, problem.layer, by_id(fed), before)
                raise ExecutionError(f"{problem.reason}; {where}", problem.layer) from problem
            raise
        if outputs == "all":
            return kept
        if self._result_names is None:
            self._result_names = outputs_of(self.model).names
        return dict(zip(self._result_names, results.values(), strict=True))

    def bind(self, inputs: Given) -> Fed:
        """Returns the arrays by Parameter, each checked against its type and shape.

        Raises `ExecutionError`.
        """
        return self._feeds.bind(inputs)

    def check_fit(self, fed: Fed) -> None:
        """Checks, by inferring shapes, that every layer accepts these inputs and that memory
        suffices. Raises `ExecutionError` that names the layer and its dimensions."""
        self._admission.check(by_id(fed), self.state, self.max_memory)

    def evaluate(
        self, layer: Layer, inputs: Sequence[Array], observe: Observer | None = None
    ) -> tuple[Array, ...]:
        """Computes one layer alone, outside of a run, and with empty variables.

        inputs: arrays in the order of the layer's connected ports. observe: a function that is
        called for each layer in each run of a body. Raises `ExecutionError`.
        """
        return self._interpreter.evaluate(layer, inputs, observe)

    def constant(self, layer: Layer) -> Array:
        """Returns the array of a Const layer. Raises `ExecutionError` if it cannot be read."""
        return self.constants[layer]


def _name_among(taken: Mapping[str, Array], layer: Layer, index: int) -> str:
    """Returns a name for an output of a layer, different from all names in `taken`."""
    name = port_name(layer, index)
    return name if name not in taken else f"{name}#{layer.id}"


__all__ = [
    "MAX_ITERATIONS",
    "ExecutionError",
    "Observer",
    "Rounding",
    "Session",
]
