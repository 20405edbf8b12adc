"""Checks the values of variables against the types and shapes that they declare."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..inference.declarations import Declarations
from ..model.graph import Model
from ..numpy_types import Array, element_type_of
from ..ops.infrastructure import ReadValue_6
from ..ops.tensors import Tensor
from ..shapes import PartialShape
from ..spelling import with_article
from .errors import ExecutionError


class Variables:
    """The types and shapes of the variables of a model, determined once there are values."""

    def __init__(self, model: Model, declarations: Declarations) -> None:
        self._model = model
        self._declarations = declarations
        self._declared: dict[str, Tensor] | None = None

    def check(self, state: Mapping[str, Array]) -> None:
        """Checks that the variables accept their values. Raises `ExecutionError`."""
        if not state:
            return
        if self._declared is None:
            self._declared = _declared(self._model, self._declarations)
        for name, array in state.items():
            declared = self._declared.get(name)
            if not isinstance(array, np.ndarray):
                raise ExecutionError(
                    f"the variable '{name}' holds {with_article(type(array).__name__)} "
                    "instead of an array"
                )
            if declared is None:
                continue
            try:
                kept = element_type_of(array)
            except ValueError as problem:
                raise ExecutionError(f"the variable '{name}': {problem}") from None
            fits = declared.element_type.is_dynamic or kept is declared.element_type
            if not fits or not declared.shape.encloses(PartialShape(array.shape)):
                raise ExecutionError(
                    f"the variable '{name}' is {declared.element_type}{declared.shape}, "
                    f"but holds {kept}{list(array.shape)}"
                )


def _declared(model: Model, declarations: Declarations) -> dict[str, Tensor]:
    """Returns the declared type and shape of each variable that has one."""
    declared: dict[str, Tensor] = {}
    for layer in model.walk():
        declaration = declarations.of(layer) if layer.folded_type == "readvalue" else None
        if isinstance(declaration, tuple) and isinstance(declaration[0], ReadValue_6):
            operation = declaration[0]
            content = Tensor(operation.variable_type, operation.variable_shape)
            declared[operation.variable_id] = content
    return declared
