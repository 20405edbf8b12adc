"""Compares inferred tensors with the tensors that output ports declare."""

from __future__ import annotations

from collections.abc import Sequence

from ..element_types import DYNAMIC_TYPE
from ..model.graph import Layer
from ..model.ports import Port
from ..model.wiring import OutputRef
from ..ops.tensors import Tensor
from .ports import declared
from .result import Mismatch

Contradictions = dict[OutputRef, tuple[tuple[int, ...] | None, Tensor]]
"""Maps each output port that contradicts inference to its `dims` and its declared tensor."""


def mismatches(layer: Layer, tensors: tuple[Tensor, ...]) -> Sequence[Mismatch]:
    """Returns the output ports of a layer whose declarations differ from the inferred tensors."""
    ports = layer.outputs
    if (
        len(ports) == 1 == len(tensors)
        and ports[0].dims == tensors[0].shape.declared
        and ports[0].precision == tensors[0].element_type.precision
    ):
        return ()  # nearly always
    differing: list[Mismatch] | None = None
    for index, (port, tensor) in enumerate(zip(ports, tensors, strict=False)):
        if port.dims == tensor.shape.declared and (
            port.precision is None
            or port.precision == tensor.element_type.precision
            or port.element_type is tensor.element_type
        ):
            continue
        if differing is None:
            differing = []
        said = declared(port, tensor)
        differing.append(Mismatch(index, said, tensor, says_less(said, tensor)))
    return differing or ()


def compatible(declared: Tensor, other: Tensor) -> bool:
    """Whether types and shapes of two tensors are compatible, e.g. [?,3] and [2,?]."""
    types = declared.element_type, other.element_type
    same = types[0] is types[1] or DYNAMIC_TYPE in types
    return same and declared.shape.compatible(other.shape)


def says_less(declared: Tensor, inferred: Tensor) -> bool:
    """Whether a declared tensor equals the inferred one or is less specific, e.g. [?] for [2]."""
    return declared.element_type in (
        inferred.element_type,
        DYNAMIC_TYPE,
    ) and declared.shape.encloses(inferred.shape)


def repeated(
    port: Port, inferred: Tensor, dims: tuple[int, ...] | None, contradicting: Tensor
) -> Tensor:
    """Returns the tensor that an input gets from an output port that contradicts inference.

    If the input `port` repeats the declared shape, the consumer gets this shape, and the fault is
    reported only once, for the output port. The same holds for the element type. Otherwise, or if
    the declared shape is only less specific, the consumer gets what was inferred.
    """
    repeats = port.dims == dims and not contradicting.shape.encloses(inferred.shape)
    shape = contradicting.shape if repeats else inferred.shape
    element_type = inferred.element_type
    if contradicting.element_type not in (element_type, DYNAMIC_TYPE):
        consumed = port.element_type
        if consumed is None:
            element_type = DYNAMIC_TYPE
        elif consumed is contradicting.element_type:
            element_type = consumed
    if shape == inferred.shape and element_type is inferred.element_type:
        return inferred
    return Tensor(element_type, shape)
