"""Maps each name in `Rule.suspects`, except `ports`, to the function that proposes changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..model.graph import Finding
from ..rules import Suspect
from .attributes import attributes, names
from .change import Change
from .constants import constants
from .edges import edges, ids, sources
from .notations import element_names, notations
from .operations import types, versions
from .site import Sites


class Maker(NamedTuple):
    """A function that proposes changes for one of `Rule.suspects`, and its properties."""

    changes: Callable[[Sites, Finding], Iterator[Change]]
    """Yields the changes to try for a finding."""
    cheap: bool = False
    """Whether `changes` is fast, so that it runs even after `MOST_SEARCHED` findings of a file."""
    of_layer: bool = False
    """Whether the findings depend only on the attributes and inputs of the layer they are about."""


SUSPECTS: dict[Suspect, Maker] = {
    "attributes": Maker(attributes, of_layer=True),
    "constants": Maker(constants),
    "edges": Maker(edges),
    "element_names": Maker(element_names),
    "ids": Maker(ids),
    "names": Maker(names, cheap=True, of_layer=True),
    "notations": Maker(notations, cheap=True),
    "sources": Maker(sources),
    "types": Maker(types, of_layer=True),
    "versions": Maker(versions, of_layer=True),
}
