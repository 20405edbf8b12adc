"""Converts the element types and shapes that callers give: OpenVINO's, NumPy's, or names."""

from __future__ import annotations

from typing import Any

from ..element_types import ElementType
from ..ops.lazy import np, numpy_types
from ..shapes import PartialShape
from .errors import GraphError


def element_type_of(given: Any) -> ElementType:
    """Returns the element type for `f32`, `float32`, `FP32`, `np.float32`, an `np.dtype` or an
    `ov.Type`.

    Raises `GraphError` for anything else.
    """
    if isinstance(given, ElementType):
        return given
    name = given.get_type_name() if hasattr(given, "get_type_name") else given  # an ov.Type
    known = None
    if isinstance(name, str):
        name = name.lower()
        known = ElementType.of_precision(name) or ElementType.of_precision(name.upper())
    known = known or _of_dtype("f4" if name in (float, "float") else name)
    if known is None:
        raise GraphError(
            f"{given!r} is not an element type",
            help="give a name such as f32 or float32, an np.dtype or an ov.Type",
        )
    return known


def _of_dtype(given: Any) -> ElementType | None:
    """Returns the element type for a NumPy type, Python type or name; None if unknown."""
    import ml_dtypes  # noqa: F401 - NumPy then knows its names

    try:
        array = np.empty(0, given)
        # NumPy takes any class for `object`, and None for `float64`
        unknown = given is None or (array.dtype == object and given not in (object, "object"))
        return None if unknown else numpy_types.element_type_of(array)
    except (TypeError, ValueError):
        return None


def shape_of(given: Any) -> PartialShape:
    """Returns the partial shape for `[1,3,?]`, an `ov.PartialShape`, or a list with None, -1, "?"
    or `ov.Dimension`.

    Raises `GraphError` for anything else.
    """
    plain = [_plain(each) for each in given] if isinstance(given, (list, tuple)) else _plain(given)
    try:
        return PartialShape.of(plain)
    except (TypeError, ValueError) as problem:
        raise GraphError(str(problem)) from None


def _plain(given: Any) -> Any:
    """Returns a shape or dimension of OpenVINO as text. Returns anything else unchanged."""
    return str(given) if type(given).__module__.startswith("openvino") else given
