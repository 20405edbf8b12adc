"""Einsum: products and sums over axes with labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...faults import Violation, require
from ...rule_ids import ATTRIBUTE_VALUE
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, ONE, Dimension, PartialShape
from ...spelling import counted
from ..conversion import narrowed, widened
from ..declaration import NUMERIC, Operation, attribute, operand
from ..differences import Site, facts, not_run, refused
from ..kinds import STRING
from ..lazy import Array, np
from ..tensors import Tensor

_SUBSCRIPT = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")
_LABEL = re.compile(r"\.\.\.|[A-Za-z]")
ELLIPSIS: Final = "..."


def _subscripts(site: Site) -> tuple[list[str], str, str]:
    """Returns the inputs' subscripts, the arrow (empty if absent), and the output's subscript."""
    inputs, arrow, output = (site.attribute("equation") or "").replace(" ", "").partition("->")
    return inputs.split(","), arrow, output


def _sizes(site: Site) -> bool:
    """Returns whether axes of one label differ in size, or an input of unknown rank has `...`."""
    parts, _, _ = _subscripts(site)
    sizes: dict[str, Dimension] = {}
    for part, tensor in zip(parts, site.inputs, strict=False):
        if tensor is None or tensor.shape.rank is None:
            if "..." in part:
                return True
            continue
        before, ellipsis, after = part.partition("...")
        dims = tensor.shape[:]
        behind = dims[len(dims) - len(after) :] if ellipsis else ()
        for label, size in zip(before + after, (*dims[: len(before)], *behind), strict=False):
            if not sizes.setdefault(label, size).compatible(size):
                return True
    return False


def _ellipsis(site: Site) -> bool:
    """Returns whether an ellipsis is on one side of the arrow only, or matches no axis."""
    parts, arrow, output = _subscripts(site)
    if arrow and any("..." in part for part in parts) != ("..." in output):
        return True
    shapes = [tensor and tensor.shape for tensor in site.inputs]
    return any(
        "..." in part and shape is not None and shape.rank == len(part) - len("...")
        for part, shape in zip(parts, shapes, strict=False)
    )


def _scalar(site: Site) -> bool:
    return not _subscripts(site)[0][-1]


def _repeated_labels(site: Site) -> bool:
    """Returns whether a label occurs twice in one input, or an ellipsis occurs."""
    return any("..." in part or len({*part}) < len(part) for part in _subscripts(site)[0])


class Einsum(Operation):
    """Einstein summation: axes with the same label are multiplied elementwise. The result is the
    sum over all labels that the output does not have."""

    since = 7
    differs = facts(
        refused("2025.1", "an Einsum that broadcasts a label, or `...` of dynamic rank", _sizes),
        refused("2025.1", "an Einsum with `...` on one side of `->`, or for no axis", _ellipsis),
        refused("2025.2", "an Einsum whose last input is a scalar", _scalar),
        not_run("2025.1", "an Einsum with `...`, or a label twice in one input", _repeated_labels),
    )
    inputs = operand(NUMERIC, like="inputs", variadic=True)
    equation: str = attribute(STRING)

    def subscripts(self) -> tuple[list[list[str]], list[str]]:
        """Returns the labels, including `...`, of each input and the output, from `equation`."""
        left, arrow, right = self.equation.partition("->")
        parts = left.split(",")
        for part in [*parts, right]:
            says = f"the subscript '{part}' of `equation` may have only letters and one `...`"
            require(_SUBSCRIPT.fullmatch(part), says, at="equation", rule=ATTRIBUTE_VALUE)
        labels = [_LABEL.findall(part) for part in parts]
        if arrow:
            return labels, _LABEL.findall(right)
        alone = [
            label
            for i, own in enumerate(labels)
            for label in own
            if label != ELLIPSIS
            and not any(label in other for j, other in enumerate(labels) if j != i)
        ]
        return labels, [ELLIPSIS] * any(ELLIPSIS in own for own in labels) + sorted(alone)

    def infer(self, *inputs: Tensor) -> Tensor:
        subscripts, output = self.subscripts()
        wanted = counted(len(subscripts), "input")
        says = f"`equation` '{self.equation}' is for {wanted}, not {len(inputs)}"
        require(len(subscripts) == len(inputs), says, at="equation")
        sizes: dict[str, PartialShape] = {}
        for index, (labels, tensor) in enumerate(zip(subscripts, inputs, strict=True)):
            for label, shape in self.labelled(index, labels, tensor.shape).items():
                known = sizes.get(label)
                merged: PartialShape | None
                if known is None:
                    merged = shape
                elif tensor.rank is None and label != ELLIPSIS:
                    merged = known
                else:
                    merged = known.broadcast(shape)
                if merged is None:
                    raise _unequal(index, label, shape, sizes[label])
                sizes[label] = merged
        result: list[Dimension] = []
        for label in output:
            if label not in sizes:
                says = f"no input has the label '{label}' of the output in `equation`"
                require(label == ELLIPSIS, says, at="equation", rule=ATTRIBUTE_VALUE)
            elif sizes[label].rank is None:
                return Tensor(inputs[0].element_type, DYNAMIC_SHAPE)
            else:
                result += sizes[label]
        return Tensor(inputs[0].element_type, result)

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """Counts the multiply-adds if nested loops, one for each label, multiply all inputs."""
        subscripts, _ = self.subscripts()
        sizes: dict[str, Dimension] = {}
        for index, (labels, tensor) in enumerate(zip(subscripts, inputs, strict=True)):
            for label, shape in self.labelled(index, labels, tensor.shape).items():
                known = sizes.get(label, ONE)
                sizes[label] = known.broadcast(shape.size) or known
        total = Dimension(len(inputs) - 1)
        for size in sizes.values():
            total = total * size
        return total

    def labelled(
        self, index: int, labels: list[str], shape: PartialShape
    ) -> dict[str, PartialShape]:
        """Returns the dimension of each label of an input. An ellipsis can have several dimensions.

        Raises `Violation` if the labels do not fit the shape.
        """
        if shape.rank is None:
            return {
                label: DYNAMIC_SHAPE if label == ELLIPSIS else PartialShape((DYNAMIC,))
                for label in labels
            }
        more = shape.rank - len(labels)
        if more != 0 and (more < -1 or ELLIPSIS not in labels):
            says = f"input {index} {shape} does not fit its subscript '{''.join(labels)}'"
            raise Violation(
                says, at="inputs", relation="rank", expected=len(labels), actual=shape.rank
            )
        result: dict[str, PartialShape] = {}
        at = 0
        for label in labels:
            width = more + 1 if label == ELLIPSIS else 1
            own = PartialShape(shape[at : at + width])
            merged = result[label].merge(own) if label in result else own
            if merged is None:
                raise _unequal(index, label, own, result[label])
            result[label] = merged
            at += width
        return result

    def evaluate(self, *inputs: Array) -> Array:
        subscripts, output = self.subscripts()
        summed = ELLIPSIS not in output and any(ELLIPSIS in labels for labels in subscripts)
        left = ",".join("".join(labels) for labels in subscripts)
        right = ELLIPSIS * summed + "".join(output)  # NumPy does not sum over an ellipsis
        operands = map(widened, inputs)
        result = np.einsum(f"{left}->{right}", *operands, optimize=len(inputs) > 1)
        if summed:
            result = result.sum(axis=tuple(range(result.ndim - len(output))), dtype=result.dtype)
        return narrowed(np.asarray(result), inputs[0])


def _unequal(index: int, label: str, shape: PartialShape, known: PartialShape) -> Violation:
    seen, wanted = (str(each[0]) if each.rank == 1 else str(each) for each in (shape, known))
    says = f"the label '{label}' of `equation` is {seen} in input {index}, but {wanted} earlier"
    return Violation(says, at="inputs", relation="equal", expected=wanted, actual=seen)
