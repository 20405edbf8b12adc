"""Recognises in the layers of a model what `releases` says that older releases refuse, ignore, do
not run, or infer otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...releases import Detail
from ..sites import Site, sites
from . import inferred_otherwise, not_run, refused

__all__ = ["Site", "details", "sites"]


def details(site: Site, table: Mapping[str, Detail]) -> Iterator[str]:
    """The keys of the details of a table that a layer shows."""
    if site.operation is None:
        return
    version = site.version
    if version in table:
        yield version
    type_name = site.operation.type_name()
    for recognisers in _RECOGNISERS:
        for key, recognise in recognisers.get(type_name, ()):
            if key in table and recognise(site):
                yield key


_RECOGNISERS = (refused.RECOGNISERS, not_run.RECOGNISERS, inferred_otherwise.RECOGNISERS)
