"""Implements `irshape.Session` and `irshape.run`, which check a model before they run it.

`run` keeps sessions for its models, so that it checks an unchanged model only once.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Literal, cast
from weakref import ReferenceType, proxy, ref

from ..execution import session as execution
from ..execution.constants import Constants, Rounding
from ..execution.feeds import Given
from ..execution.session import MAX_ITERATIONS
from ..model.graph import Model
from ..model.snapshot import Snapshot
from ..numpy_types import Array
from ..ops.kernels import Kernels
from .soundness import require_sound

MAX_MODELS = 8
"""The number of models, those that ran last, for which `run` keeps sessions."""
MAX_SESSIONS = 4
"""The largest number of idle sessions that `run` keeps for a model. Each thread uses one."""


class Session(execution.Session):
    """Runs a model. Keeps the values of its variables from one call to the next, until `reset`.

    If layers, attributes, edges or constants have changed, a session checks the model again;
    variables keep their values. For a Graph, a session runs the current state.

    max_memory: the number of bytes that all tensors in use at one time may take. The session
    estimates this number before it runs a layer. If sizes depend on values, it estimates the number
    before the layer that determines the sizes.
    max_iterations: the number of times that the body of one layer may run in one inference.
    rounding: a function that is applied to every constant, and to every tensor after the layer that
    computes it.
    kernels: functions that replace the evaluation of operations.
    force: run a model although `validate` reports errors that affect types, shapes or bytes.

    Raises `ExecutionError`, whose `diagnostics` are the errors of `validate`.
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
            model = as_model()  # for a Graph, its current state
        if not isinstance(model, Model):
            raise TypeError(
                f"a Session runs a Model or a Graph, got {type(model).__name__}: "
                "irshape.load(path) returns a Model"
            )
        self._force = force
        if not force:
            require_sound(model)
        self._sound = True
        """Whether the model may run in its current state."""
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
    """A session that `run` keeps. Its model is known to be unchanged."""

    def _notice_changes(self) -> None:
        pass


class _Kept:
    """What `run` keeps for a model: a snapshot, whether the model may run, and idle sessions."""

    def __init__(self, model: Model) -> None:
        self.snapshot = Snapshot(model)
        self.sound = False
        """Whether the model is known to have no errors that stop a run."""
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
    """Implements `irshape.run`: runs a model with its variables reset. Any thread may call it."""
    kept = _kept_for(model)
    if not force and not kept.sound:
        require_sound(model)
        kept.sound = True
    with _lock:
        session = kept.idle.pop() if kept.idle else None
    if session is None:
        # the kept sessions must not keep the model alive
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
    """Returns the kept sessions of a model; empty if the model has changed."""
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
    """Drops the sessions of a model that Python has freed. Uses no lock: Python may call it in a
    thread that already has the lock."""
    _kept.pop(key, None)
