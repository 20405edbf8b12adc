"""How much is done to find causes: no more than it takes to validate the file once more.

Work is counted in layers, not in seconds, so that a file has the same causes on every machine: as
many layers of a net would be read, inferred and checked in that time.
"""

from __future__ import annotations

from ...rules import Context
from .trial import Trial

OF_A_FILE = 36
"""The work of validating a file, but for its layers."""
OF_AN_INNER_LAYER = 2.5
"""That of a layer in a body, which is inferred several times."""
OF_A_TRIAL = 12
"""That of a trial, but for its layers."""
OF_ITS_LAYER = 1.2
"""That of each of these, with what feeds it, and of each layer in their bodies."""
OF_A_BIN = 14
"""That of looking at a layer alone with another .bin."""
OF_A_SOURCE = 4
"""That of making candidates of one kind."""
OF_A_LOOK = 1.5
"""That of a candidate that a layer by itself refutes."""
OF_A_PORT_MAP = 8
"""That of one that changes a port map."""
OF_A_SCENE = 0.15
"""That of seeing who feeds whom, for each layer."""
OF_ANOTHER_INFERENCE = 0.5
"""That of inferring the whole file once more, of what it takes to validate it."""
LEAST = 420
"""The work that is done for a small file, but for half of what it takes to validate it."""
SPARED = 0.4
"""With so much of the work left, less likely causes are tried no more."""
BEYOND = 0.3
"""So much more is done for what is as likely as a known cause."""
FOR_THE_NEXT = 80
"""So much work is left at least when one cause is known and others are looked for."""


class Work:
    """The work that is left for one file."""

    def __init__(self, context: Context) -> None:
        layers, inner = len(context.model.layers), len(context.every_layer)
        inner -= layers
        self.whole = OF_A_FILE + layers + OF_AN_INNER_LAYER * inner
        """That of validating the file."""
        self.most = max(LEAST - self.whole / 2, self.whole)
        self.left = self.most

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to be tried."""
        return self.left <= 0

    @property
    def is_overdone(self) -> bool:
        """Whether not even what is as likely as a known cause is to be tried."""
        return self.left <= -BEYOND * self.most

    @property
    def is_spared(self) -> bool:
        """Whether what is left is for what is likely."""
        return self.left < SPARED * self.most

    def go_on(self) -> None:
        """Leaves some work for another cause."""
        self.left = max(self.left, FOR_THE_NEXT)

    def count(self, work: float) -> None:
        self.left -= work

    def count_trial(self, trial: Trial) -> None:
        self.left -= OF_A_TRIAL + OF_ITS_LAYER * trial.every_layer

    def count_inference(self) -> None:
        """Counts an inference of the whole file."""
        self.left -= OF_ANOTHER_INFERENCE * self.whole
