"""The memory that a model needs on a device, as far as it is known before a run."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ..byte_sizes import parse_size
from ..devices.facts import facts_of
from ..devices.models import largest_tensors
from ..model.graph import Layer
from ..ops.tensors import Tensor
from ..settings.configuration import device_names
from ..shapes import UNBOUNDED, Dimension
from .inspection import Inspection, span

UNCOUNTED = (
    "scratch buffers of kernels, weights that the plugin keeps in another layout or precision, "
    "compiled kernels, and the memory of the driver"
)
"""Memory that a plugin also needs. Only the device can tell how much."""


class Cache(NamedTuple):
    """A variable, or an input used in place of a variable, e.g. for the keys of earlier tokens."""

    name: str
    layer: Layer
    fixed: int | None
    """The bytes of a cache that does not grow; None if it grows or its rank is not known."""
    per_token: int | None
    """The bytes for each token, for batch 1; None unless exactly one axis grows."""

    def bytes(self, context: int | None) -> int | None:
        """Returns the bytes of the cache after a number of tokens; None if they are not known."""
        if self.fixed is not None:
            return self.fixed
        return None if self.per_token is None or context is None else self.per_token * context


class DeviceMemory:
    """The memory that a model takes on a device.

    `to_dict` is the section `device_memory` of `irshape inspect --format json`.
    """

    def __init__(self, inspection: Inspection, device: str, context: int | None) -> None:
        """device: the name of the device, and perhaps the size of its memory, such as `gpu:16GiB`.

        Raises `ValueError` for another text.
        """
        name, colon, size = device.partition(":")
        (self.device,) = device_names([name])
        self.memory = parse_size(size) if colon else None
        """The bytes of the memory of the device; None if the user does not give the size."""
        self.context = context
        self.weights = inspection.used_bytes
        """The bytes of the constants, as they are stored."""
        self.caches = _caches(inspection)
        self.peak, self.peak_layer = inspection.peak
        self.is_static = inspection.is_static
        caches = [(cache.bytes(context) or 0, cache.layer) for cache in self.caches]
        tensors = largest_tensors(inspection.inference)
        self.largest, self.largest_layer = max(
            ((0, None), *tensors, *caches), key=lambda each: each[0]
        )
        """The bytes of the largest tensor whose shape is known, constants and caches included."""
        self.max_alloc = facts_of(self.device).max_alloc

    @property
    def per_token(self) -> int | None:
        """The bytes by which one token makes all caches grow; None if unknown for one of the
        caches."""
        growing = [cache.per_token for cache in self.caches if cache.fixed is None]
        return None if None in growing else sum(each or 0 for each in growing)

    @property
    def cached(self) -> int | None:
        """The bytes of all caches when the context is full; None if unknown for one of the
        caches."""
        sizes = [cache.bytes(self.context) for cache in self.caches]
        return None if None in sizes else sum(each or 0 for each in sizes)

    @property
    def together(self) -> Dimension:
        """The bytes of weights, caches and the peak of activations. There is no upper bound if a
        cache grows."""
        fixed = all(cache.fixed is not None for cache in self.caches)
        known = self.peak + self.weights + (self.cached or 0)
        return known if fixed else Dimension(known.low, UNBOUNDED)

    @property
    def known(self) -> int:
        """The lower bound of the bytes that the model needs."""
        return self.together.low

    @property
    def fits(self) -> bool | None:
        """False if even the lower bound is too large; None if the size of the memory is not given.
        True does not guarantee that the model fits."""
        return None if self.memory is None else self.known <= self.memory

    def to_dict(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "memory": self.memory,
            "context": self.context,
            "weights": self.weights,
            "caches": [
                {
                    "name": cache.name,
                    "layer": cache.layer.reference,
                    "per_token": cache.per_token,
                    "bytes": cache.bytes(self.context),
                }
                for cache in self.caches
            ],
            "per_token": self.per_token,
            "cached": self.cached,
            "largest_buffer": {
                "bytes": self.largest,
                "layer": None if self.largest_layer is None else self.largest_layer.reference,
                "max_alloc": self.max_alloc,
            },
            "activations": {
                "bytes": self.peak.low,
                "max": span(self.peak)["max"],
                "exact": self.is_static,
                "plan": "irshape",
            },
            "known": self.known,
            "most": span(self.together)["max"],
            "fits": self.fits,
            "not_known": UNCOUNTED,
        }


def _caches(inspection: Inspection) -> list[Cache]:
    """Returns the variables, and the inputs that exporters use in place of variables for past
    tokens."""
    caches = [
        _cache(state.name, (*state.read, *state.assigned)[0], state.tensor)
        for state in inspection.states
    ]
    for port in inspection.inputs:
        if any(name.startswith(("past", "cache")) for name in port.names):
            caches.append(_cache(port.name, port.layer, port.tensor))
    return caches


def _cache(name: str, layer: Layer, tensor: Tensor) -> Cache:
    """Returns the cache for a variable or input, for batch 1. If an axis other than the first is
    dynamic, the cache grows along this axis."""
    dims = tensor.shape.dims
    if dims is None:
        return Cache(name, layer, None, None)
    size = tensor.element_type.byte_size(prod(dim.low for dim in dims if dim.is_static))
    growing = sum(dim.is_dynamic for dim in dims[1:])
    return Cache(name, layer, None if growing else size, size if growing == 1 else None)
