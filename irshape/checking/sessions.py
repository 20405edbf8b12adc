"""`irshape.Session` and `irshape.run`: runs of models that have been examined before.

`run` keeps a session for each model that it is called with, so that only the first call works out
what the model needs.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Literal, cast
from weakref import ReferenceType, proxy, ref

from ..execution import session as execution
from ..execution.constants import Constants, Rounding
from ..execution.feeds import Given
from ..execution.session import MAX_ITERATIONS, Array
from ..model.graph import Model
from ..model.snapshot import Snapshot
from ..ops.kernels import Kernels
from .soundness import require_sound

MAX_MODELS = 8
"""How many models `run` keeps sessions for; those that were run last."""
MAX_SESSIONS = 4
"""How many idle sessions it keeps for a model: as many threads run it without new ones."""


class Session(execution.Session):
    """Runs a model; keeps the values of its variables from one call to the next, until `reset`.

    A session notices when the model changes: layers, attributes, edges or constants. It then works
    everything out anew, and the variables stay. Of a Graph, it runs what the graph is now.

    max_memory: bytes that the tensors alive at one time may take. It is estimated before anything
    runs; where sizes depend on values, before the layer that makes them runs.
    max_iterations: how often the body of one layer may run in one inference.
    rounding: applied to every constant, and to every tensor after the layer that computes it.
    kernels: functions that compute operations in place of the evaluation that these declare.
    force: run a model although `validate` reports errors that decide types, shapes or bytes.

    Raises `ExecutionError`, whose `diagnostics` are those errors.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_memory: int | None = None,
        max_iterations: int = MAX_ITERATIONS,
        rounding: Rounding | None = None,
        kernels: Kernels | None = None,
        force: bool = False,
    ) -> None:
        as_model = getattr(model, "model", None)
        if callable(as_model):
            model = as_model()  # of a Graph, as it is now
        if not isinstance(model, Model):
            raise TypeError(
                f"a Session runs a Model or a Graph, got {type(model).__name__}: "
                "irshape.load(path) reads one"
            )
        self._force = force
        if not force:
            require_sound(model)
        self._sound = True
        """Whether the model, as it is, may be run."""
        super().__init__(
            model,
            max_memory=max_memory,
            max_iterations=max_iterations,
            rounding=rounding,
            kernels=kernels,
        )

    def __repr__(self) -> str:
        return f"<Session of {self.model!r}>"

    _watches_ports = True

    def _change(self) -> None:
        super()._change()
        self._sound = self._force

    def _notice_changes(self) -> None:
        super()._notice_changes()
        if not self._sound:
            require_sound(self.model)
            self._sound = True


class _KeptSession(execution.Session):
    """A session that `run` keeps; the model is known not to have changed."""

    def _notice_changes(self) -> None:
        pass


class _Kept:
    """The idle sessions of a model, whether it is sound, and what the model was then."""

    def __init__(self, model: Model) -> None:
        self.snapshot = Snapshot(model)
        self.sound = False
        """Whether it is known that nothing stops a run."""
        self.idle: list[_KeptSession] = []
        self.constants: Constants | None = None


_kept: OrderedDict[ReferenceType[Model], _Kept] = OrderedDict()
_lock = Lock()


def run(
    model: Model,
    inputs: Given = None,
    *,
    outputs: Literal["results", "all"] = "results",
    max_memory: int | None = None,
    force: bool = False,
) -> dict[str, Array]:
    """`irshape.run`: a run whose variables are empty before it, in any thread."""
    kept = _kept_for(model)
    if not force and not kept.sound:
        require_sound(model)
        kept.sound = True
    with _lock:
        session = kept.idle.pop() if kept.idle else None
    if session is None:
        # what is kept must not keep the model alive
        session = _KeptSession(cast(Model, proxy(model)))
        if kept.constants is None:
            kept.constants = session.constants
        session.share_constants(kept.constants)
    session.limit_memory(max_memory)
    try:
        return session.run(inputs, outputs=outputs)
    finally:
        session.reset()
        with _lock:
            if len(kept.idle) < MAX_SESSIONS:
                kept.idle.append(session)


def _kept_for(model: Model) -> _Kept:
    """What is kept for a model, made anew if the model has changed."""
    key = ref(model, _forget)
    with _lock:
        kept = _kept.get(key)
        if kept is not None:
            _kept.move_to_end(key)
    if kept is None or not kept.snapshot.matches(model):
        kept = _Kept(model)
        with _lock:
            _kept.pop(key, None)
            _kept[key] = kept
            while len(_kept) > MAX_MODELS:
                _kept.popitem(last=False)
    return kept


def _forget(key: ReferenceType[Model]) -> None:
    """Called when a model is gone, perhaps while this thread holds the lock."""
    _kept.pop(key, None)
