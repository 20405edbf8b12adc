"""Writes the stub of `irshape.op` from the declarations of the operations.

python -m tests.graph.make_stub
"""

from __future__ import annotations

import keyword
from pathlib import Path
from textwrap import wrap

import irshape
from irshape.element_types import ElementType
from irshape.graph.operations import docstring, function_name, types_by_name
from irshape.ops import kinds, registry
from irshape.ops.declaration import Attribute, Operation

STUB = Path(irshape.__file__).parent / "graph" / "op.pyi"

HEADER = '''"""Written by tests/graph/make_stub.py from the declarations of the operations."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from ..element_types import ElementType
from ..shapes import ShapeLike
from .control_flow import Carried, Iteration, RepeatWhile, Sliced, Stacked
from .nodes import GraphLayer, Output

Operand = Output | GraphLayer | npt.ArrayLike | Sequence[Output | int]
"""What feeds an input: an output, or an array or numbers, which become a constant."""

Opset = str | int

ElementTypeName = Literal[
{types}
]

class Operations:
    """The operations as functions."""

    def __init__(self, graph: Any = None) -> None: ...
    def parameter(
        self,
        element_type: ElementTypeName | ElementType,
        shape: ShapeLike,
        *,
        name: str | None = None,
    ) -> Output:
        """Adds an input to the graph; see `Graph.parameter`."""

    def constant(
        self,
        value: npt.ArrayLike,
        element_type: ElementTypeName | ElementType | None = None,
        *,
        name: str | None = None,
    ) -> Output:
        """Adds a constant; see `Graph.constant`."""

    def result(self, value: Output | GraphLayer, name: str | None = None) -> GraphLayer:
        """Adds an output to the graph; see `Graph.result`."""

    @staticmethod
    def sliced(
        value: Operand,
        axis: int = 0,
        *,
        start: int = 0,
        end: int = -1,
        stride: int = 1,
        part_size: int = 1,
    ) -> Sliced:
        """Returns an input of a Loop or TensorIterator that is split among the iterations."""

    @staticmethod
    def carried(value: Operand) -> Carried:
        """Returns an input of a Loop or TensorIterator with the initial value of a state."""

    @staticmethod
    def iteration() -> Iteration:
        """Returns an input of a Loop's body: the number of the iteration."""

    @staticmethod
    def stacked(
        value: Operand,
        axis: int = 0,
        *,
        start: int = 0,
        end: int = -1,
        stride: int = 1,
        part_size: int = 1,
    ) -> Stacked:
        """Returns a value for a body to return. The layer joins its values of all iterations."""

    @staticmethod
    def repeat_while(condition: Operand) -> RepeatWhile:
        """Returns a value for a Loop's body to return: the condition for another iteration."""
'''

OUTPUTS = {
    "AdaptiveMaxPool": 2,
    "CTCGreedyDecoderSeqLen": 2,
    "ConvertPromoteTypes": 2,
    "DetectionOutput": 1,
    "ExperimentalDetectronDetectionOutput": 3,
    "ExperimentalDetectronGenerateProposalsSingleImage": 2,
    "ExperimentalDetectronROIFeatureExtractor": 2,
    "GRUSequence": 2,
    "GenerateProposals": 3,
    "LSTMCell": 2,
    "LSTMSequence": 3,
    "MatrixNms": 3,
    "MaxPool_8": 2,
    "MaxPool_14": 2,
    "MulticlassNms": 3,
    "NMSRotated": 3,
    "NonMaxSuppression_5": 3,
    "NonMaxSuppression_9": 3,
    "Proposal_4": 2,
    "RNNSequence": 2,
    "SparseFillEmptyRows": 3,
    "StringTensorUnpack": 3,
    "TopK": 2,
    "Unique": 4,
}
"""How many outputs a type or a version has, where that is not one."""

SEVERAL = ("BGRtoNV12", "If", "Loop", "RGBtoNV12", "Split", "TensorIterator", "VariadicSplit")
"""Types whose attributes, inputs or bodies decide how many outputs there are."""

VALUES = {kinds.Boolean: "bool", kinds.Integer: "int", kinds.Real: "float", kinds.Text: "str"}


def value_type(kind: kinds.Kind) -> str:
    """The Python type of the values of an attribute."""
    if isinstance(kind, kinds.Choice):
        return "Literal[" + ", ".join(f'"{word}"' for word in kind.words) + "]"
    if isinstance(kind, kinds.ListOf):
        return f"Sequence[{value_type(kind.item)}]"
    if isinstance(kind, kinds.TypeName):
        return "ElementTypeName | ElementType"
    if isinstance(kind, kinds.ShapeText):
        return "ShapeLike"
    return next((text for base, text in VALUES.items() if isinstance(kind, base)), "str")


def default_of(declared: Attribute) -> str:
    value = declared.default
    if isinstance(value, ElementType):
        return f'"{value}"'
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value) if isinstance(value, (bool, int, float, tuple, type(None))) else "..."


def returns(version: type[Operation]) -> str:
    """The type of what `Graph.add` returns."""
    kind = version.type_name()
    if kind in SEVERAL:
        return "Any" if version.bodies else "tuple[Output, ...]"
    count = OUTPUTS.get(version.__name__, OUTPUTS.get(kind, 1))
    if count == 1:
        return "Output"
    return f"tuple[{', '.join(['Output'] * count) or '()'}]"


def parameters(version: type[Operation], opset: str) -> list[str]:
    """The parameters of the function for one version."""
    lines = ["self"]
    star = "*"
    for operand in version.operands:
        assert not keyword.iskeyword(operand.name)
        given = "Operand"
        if version.bodies:
            given = "Operand | Sliced | Carried | Iteration"
        if operand.variadic:
            lines.append(f"*{operand.name}: {given}")
            star = ""
        else:
            lines.append(
                f"{operand.name}: {given}" + (" | None = None" if operand.optional else "")
            )
    if star:
        lines.append(star)
    lines += [f"{tag}: Callable[..., Any]" for tag in version.bodies]
    taken = {operand.name for operand in version.operands}
    for name, declared in version.attributes.items():
        if name in taken:
            continue
        text = f"{name}: {value_type(declared.kind)}"
        if not declared.refused_when_absent:
            default = default_of(declared)
            text += (" | None" if default == "None" else "") + f" = {default}"
        lines.append(text)
    return [*lines, f"opset: {opset}", "name: str | None = None"]


def functions(kind: str) -> str:
    """The declarations of the function of a type, an overload for each version."""
    versions = list(reversed(registry.versions(kind)))
    blocks = []
    for version in versions:
        opset = "Opset | None = None"
        if len(versions) > 1:
            numbers = ", ".join(f'{number}, "opset{number}"' for number in registry.opsets(version))
            opset = f"Literal[{numbers}]" + (" | None = None" if version is versions[0] else "")
        lines = ["    @overload"] if len(versions) > 1 else []
        lines += [f"    def {function_name(kind)}("]
        lines += [f"        {text}," for text in parameters(version, opset)]
        told = docstring(tuple(reversed(versions))) if version is versions[0] else ""
        end = f"    ) -> {returns(version)}:"
        blocks.append("\n".join([*lines, end + (_quoted(told) if told else " ...")]))
    return "\n\n".join(blocks)


def _quoted(text: str) -> str:
    """A docstring, wrapped."""
    escaped = text.replace("\\", "\\\\").replace('"""', "'''")
    wrapped = [
        line
        for paragraph in escaped.split("\n")
        for line in (wrap(paragraph, 90, break_long_words=False) or [""])
    ]
    inside = "\n".join(f"        {line}".rstrip() for line in wrapped)
    return f'\n        """{inside.strip()}\n        """'


def stub() -> str:
    """The text of the stub."""
    names = ",\n".join(f'    "{name}"' for name in ElementType.names())
    known = types_by_name()
    listed = "\n\n".join(functions(known[name]) for name in sorted(known))
    return f"{HEADER.replace('{types}', names)}\n{listed}\n\nop: Operations\n"


if __name__ == "__main__":
    STUB.write_text(stub())
