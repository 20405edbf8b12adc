"""The operations as Python functions: `op.reduce_mean(x, -1, keep_dims=True)`.

Names, signatures and docstrings come from the classes in `ops/`. The stub `op.pyi` repeats them for
editors and type checkers; `tests/graph/make_stub.py` writes it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ..ops import registry
from ..ops.declaration import Attribute, Operation
from ..spelling import suggestion
from .building import Building, version_of
from .control_flow import Carried, Iteration, RepeatWhile, Sliced, Stacked
from .errors import GraphError
from .nodes import GraphLayer, Output, innermost

_APART = ("Const", "Parameter", "Result")
"""The types for which this module defines functions below."""

_NAMES = {
    "BGRtoNV12": "bgr_to_nv12",
    "Col2Im": "col2im",
    "ErfInv": "erfinv",
    "ExperimentalDetectronTopKROIs": "experimental_detectron_topk_rois",
    "GroupedMatMul": "grouped_matmul",
    "HSigmoid": "hsigmoid",
    "HSwish": "hswish",
    "I420toBGR": "i420_to_bgr",
    "I420toRGB": "i420_to_rgb",
    "If": "if_",
    "IsNaN": "is_nan",
    "MatMul": "matmul",
    "NV12toBGR": "nv12_to_bgr",
    "NV12toRGB": "nv12_to_rgb",
    "PReLU": "prelu",
    "RGBtoNV12": "rgb_to_nv12",
    "ReLU": "relu",
    "SoftMax": "softmax",
    "SoftPlus": "softplus",
    "SoftSign": "softsign",
    "TopK": "topk",
}
"""The names of functions that do not follow from the type of the operation. If `openvino.opset` has
the operation, the names are the same there."""

_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def function_name(type_name: str) -> str:
    """Returns the Python name of an operation: `reduce_mean` for ReduceMean."""
    return _NAMES.get(type_name) or _PARTS.sub("_", type_name).lower()


def types_by_name() -> dict[str, str]:
    """Maps each function name to the type of its operation. Imports all operations."""
    return _by_function_name(registry.type_names())


@lru_cache(maxsize=1)
def _by_function_name(types: tuple[str, ...]) -> dict[str, str]:
    return {function_name(name): name for name in types if name not in _APART}


def _type_of(name: str) -> str | None:
    folded = name.replace("_", "").lower()
    return next((k for n, k in types_by_name().items() if n.replace("_", "") == folded), None)


class Operations:
    """The operations as functions.

    graph: the graph that gets a layer if no input of the layer belongs to a graph, such as a new
    constant. If `graph` is None, the functions raise `GraphError` for such a layer.
    """

    def __init__(self, graph: Any = None) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = _type_of(name)
        if kind is None:
            raise AttributeError(
                f"there is no operation '{name}'{suggestion(name, list(types_by_name()))}"
            )
        function = _function(self, kind)
        setattr(self, name, function)
        return function

    def __dir__(self) -> Iterable[str]:
        return sorted({*types_by_name(), *(n for n in vars(Operations) if not n.startswith("_"))})

    def parameter(self, element_type: Any, shape: Any, *, name: str | None = None) -> Output:
        """Adds an input to the graph; see `Graph.parameter`."""
        return self._home(()).parameter(element_type, shape, name=name)

    def constant(self, value: Any, element_type: Any = None, *, name: str | None = None) -> Output:
        """Adds a constant; see `Graph.constant`."""
        return self._home(()).constant(value, element_type, name=name)

    def result(self, value: Any, name: str | None = None) -> GraphLayer:
        """Adds an output to the graph; see `Graph.result`."""
        return self._home((value,)).result(value, name)

    # the arguments and results of the bodies of If, Loop and TensorIterator

    sliced = Sliced
    carried = Carried
    iteration = Iteration
    stacked = Stacked
    repeat_while = RepeatWhile

    def _home(self, values: Iterable[Any]) -> Building:
        """Returns the graph to which a layer with these inputs is added: the innermost graph of the
        inputs. Raises `GraphError` if no input belongs to a graph."""
        home: Building | None = innermost(values, self._graph)
        if home is None:
            raise GraphError(
                "no input is an output of a graph",
                help="call the operation of a graph, as in graph.op.constant(1.0)",
            )
        return home


def _function(operations: Operations, kind: str) -> Any:
    """Returns the Python function that adds a layer of a type."""
    versions = registry.versions(kind)
    newest = versions[-1]
    shown = signature(versions)
    several = bool(newest.operands) and newest.operands[-1].variadic

    def call(*given: Any, opset: Any = None, name: str | None = None, **attributes: Any) -> Any:
        if several and given and isinstance(given[0], (list, tuple)):
            # as NumPy and openvino.opset have it: concat([x, y], 1)
            rest = dict(zip(newest.attributes, given[1:], strict=False))
            plain = all(isinstance(each, (int, str)) for each in given[1:])
            if len(newest.operands) == 1 and plain and rest.keys().isdisjoint(attributes):
                attributes |= rest
                given = (given[0], *given[1 + len(rest) :])
            if len(given) == 1:
                given = tuple(given[0])
        if attributes:
            version = newest if opset is None else version_of(kind, opset)
            for at, operand in enumerate(version.operands):
                if operand.name in attributes and operand.name not in version.attributes:
                    given += (None,) * (at + 1 - len(given))
                    given = (*given[:at], attributes.pop(operand.name), *given[at + 1 :])
        graph = operations._home(given)
        return graph.add(kind, *given, opset=opset, name=name, **attributes)

    call.__name__ = call.__qualname__ = function_name(kind)
    call.__doc__ = docstring(versions)
    call.__signature__ = shown  # type: ignore[attr-defined]
    return call


def attributes_of(versions: Iterable[type[Operation]]) -> dict[str, Attribute]:
    """Returns the attributes of all versions of an operation, newest first, by Python name."""
    merged: dict[str, Attribute] = {}
    for version in reversed(list(versions)):
        for name, declared in version.attributes.items():
            merged.setdefault(name, declared)
    return merged


def signature(versions: tuple[type[Operation], ...]) -> inspect.Signature:
    """Returns the signature of the function of an operation: the inputs of its newest version, and
    the attributes of all its versions."""
    newest = versions[-1]
    parameters = []
    for operand in newest.operands:
        if operand.variadic:
            parameters.append(inspect.Parameter(operand.name, inspect.Parameter.VAR_POSITIONAL))
            continue
        default = None if operand.optional else inspect.Parameter.empty
        place = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(operand.name, place, default=default))
    word = inspect.Parameter.KEYWORD_ONLY
    for tag in newest.bodies:
        parameters.append(inspect.Parameter(tag, word))
    inputs = {operand.name for operand in newest.operands}
    for name, declared in attributes_of(versions).items():
        if name in inputs:
            continue  # an attribute that has become an input
        required = name in newest.attributes and declared.refused_when_absent
        default = inspect.Parameter.empty if required else None
        if not required and not declared.refused_when_absent:
            default = declared.default
        parameters.append(inspect.Parameter(name, word, default=default))
    parameters.append(inspect.Parameter("opset", word, default=None))
    parameters.append(inspect.Parameter("name", word, default=None))
    return inspect.Signature(parameters)


def docstring(versions: tuple[type[Operation], ...]) -> str:
    """Returns the docstring of the function of an operation."""
    newest = versions[-1]
    lines = [newest.documentation(), ""]
    for operand in newest.operands:
        notes = [operand.describe_shape(), "may be left out" if operand.optional else None]
        told = ", ".join(note for note in notes if note)
        lines.append(f"{operand.name}: {told or 'an input'}.")
    for name, declared in attributes_of(versions).items():
        has = [version for version in versions if name in version.attributes]
        only = "" if versions[-1] in has else f" (up to opset{registry.opsets(has[-1])[-1]})"
        lines.append(f"{name}: {declared.describe()}{only}.")
    return "\n".join(lines).strip()
