"""What all searches for causes in one file look at: bodies, and parts of them that are tried."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.graph import Body, Finding
from ...rules import Context
from .scene import Scene
from .trial import Trial


class Stage:
    """The bodies of a model and parts of them, as all searches in it look at them."""

    def __init__(
        self, context: Context, everything: Sequence[Finding], *, as_read: bool = False
    ) -> None:
        """everything: all that the rules that look at layers found, reported or not. as_read: the
        model is what its text says."""
        self._as_read = as_read
        self.context = context
        self._everything = everything
        self._scenes: dict[Body, Scene] = {}
        self._trials: dict[tuple[Body, frozenset[int]], Trial] = {}

    def scene(self, body: Body) -> Scene | None:
        """A body as it is looked at; None if it was not inferred."""
        scene = self._scenes.get(body)
        if scene is None:
            result = self.context.results.get(body)
            if result is None:
                return None
            scene = self._scenes[body] = Scene(self.context, result, self._everything)
        return scene

    def trial(self, scene: Scene, core: frozenset[int]) -> Trial:
        """The trial of a part."""
        key = (scene.body, core)
        trial = self._trials.get(key)
        if trial is None:
            trial = self._trials[key] = Trial(scene, core, remembers=self._as_read)
        return trial
