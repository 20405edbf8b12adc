"""The base class of If, Loop and TensorIterator, and functions that resolve their port maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from ...faults import Fault, fault, require
from ...rule_ids import PORT_MAP
from ..conditions import count
from ..declaration import Operation
from ..tensors import Tensor

if TYPE_CHECKING:
    from ..bodies import BodyView, PortBinding


def truth(tensor: Tensor, at: str) -> bool | None:
    """Returns a tensor's only element as a boolean; None if unknown. The caller checks the rank."""
    known = tensor.known
    if known is not None:
        count(len(known), 1, at=at)
    return None if known is None or tensor.value is None else bool(tensor.value.lower[0])


def body_of(bodies: dict[str, BodyView[Any]], tag: str) -> BodyView[Any]:
    require(tag in bodies, f"the layer has no <{tag}>", expected=f"<{tag}>", rule=PORT_MAP)
    return bodies[tag]


def fed(view: BodyView[Any], inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the input that the port map passes to each Parameter, by the Parameter's id."""
    return {
        binding.internal: inputs[binding.external]
        for binding in view.inputs
        if binding.external is not None
    }


def connected(view: BodyView[Any]) -> list[PortBinding]:
    """Returns the entries of the port map for the layer's outputs, in the order of the outputs."""
    lines = {
        binding.external: binding
        for binding in reversed(view.outputs)
        if binding.external is not None
    }
    return [lines[position] for position in sorted(lines)]


class ControlFlow(Operation):
    """The base class of If, Loop and TensorIterator."""

    bodies: ClassVar[tuple[str, ...]] = ("body",)

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        for view in bodies.values():
            used = {edge.from_layer for edge in view.body.edges}
            lines: dict[int, str] = {}
            feeding = {binding.internal for binding in view.inputs if binding.external is None}
            for binding in view.inputs:
                if (
                    binding.external is not None
                    and lines.setdefault(binding.external, binding.internal) == binding.internal
                ):
                    feeding.add(binding.internal)
            twice = {binding.internal: binding.external for binding in reversed(view.inputs)}
            for parameter in view.parameters:
                if parameter.id in used and parameter.id not in feeding:
                    why = "; OpenVINO feeds it zeros of the declared type and shape"
                    known = twice.get(parameter.id)
                    if known is not None:
                        why = f": OpenVINO feeds input {known} only to Parameter {lines[known]}"
                    yield fault(
                        f"nothing feeds Parameter {parameter.id} of `{view.tag}`{why}",
                        expected="an entry in the port map",
                        rule=PORT_MAP,
                        help="add an entry for the Parameter to the port map, or let one Parameter "
                        "feed all layers that use the input",
                    )
