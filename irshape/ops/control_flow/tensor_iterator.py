"""TensorIterator, which runs a body for each slice of its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...faults import Fault, fault, require
from ...rule_ids import PORT_MAP
from ...shapes import DYNAMIC, UNBOUNDED, Dimension
from ..declaration import ANY, operand
from ..differences import Site, facts, refused
from ..lazy import Array, element_type_of
from ..tensors import UNKNOWN, Tensor
from .base import body_of, connected
from .iteration import Iteration

if TYPE_CHECKING:
    from ..bodies import BodyView, PortBinding


def _joined_axis(site: Site) -> bool:
    return any(
        entry.direction == "output" and entry.attributes.get("axis", "").startswith("-")
        for entries in (site.layer.port_maps or {}).values()
        for entry in entries
    )


class TensorIterator(Iteration):
    """Runs a body for each slice of its inputs."""

    since = 1
    # 2023.0 is the oldest measured release
    released = tuple((opset, "2023.0") for opset in range(12, 17))
    differs = facts(
        refused("2024.0", "a TensorIterator that joins slices along a negative axis", _joined_axis),
    )
    inputs = operand(ANY, optional=True, variadic=True)

    def infer(
        self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]], outputs: int
    ) -> tuple[Tensor, ...]:
        view = body_of(bodies, "body")
        flat = all(layer.folded_type != "tensoriterator" for layer in view.body.layers)
        says = "the body contains a TensorIterator, too, which OpenVINO does not support"
        require(flat, says, rule=PORT_MAP, help="use Loop")
        self.require_all_connected(view, 0, len(inputs))
        parameters = {
            parameter: Tensor(view.declared_type(parameter), tensor.shape)
            for parameter, tensor in self.entering(view, inputs).items()
        }
        known, sliced = self.count(view, inputs), self.sliced(view, inputs)
        results = self.settled(
            view, parameters, view.run(parameters), UNBOUNDED if known is None else known
        )
        count: Dimension | int | None = known
        if known is None:
            count = self.symbolic_count(sliced, inputs)
        else:
            for binding in sliced:  # all inputs have the same number of slices
                if (binding.start, binding.end, binding.part_size) == (0, -1, 1):
                    # every element is a part, so that the number of parts is the size itself
                    size = inputs[binding.external or 0].shape[binding.axis or 0]
                    size.agrees(Dimension(max(known, 0)))
                parts = self.symbolic_count([binding], inputs)
                if parts is not None and parts.symbolic:
                    parts.merge(Dimension(max(known, 0)))
        return tuple(
            self.collected(binding, results.get(binding.internal, UNKNOWN), count)
            for binding in connected(view)
        )

    def counts(
        self, view: BodyView[Any], inputs: tuple[Tensor, ...]
    ) -> list[tuple[PortBinding, int]]:
        """Returns the entries for sliced inputs of known size, each with the number of slices.

        The slices cover the elements from `start` to `end`, both included.
        """
        counts = []
        for binding in self.sliced(view, inputs):
            size = inputs[binding.external or 0].shape[binding.axis or 0]
            if size.is_static:
                start, end = (
                    place + size.low if place < 0 else place
                    for place in (binding.start, binding.end)
                )
                length = (end - start if binding.stride >= 0 else start - end) + 1
                require(
                    length >= binding.part_size,
                    f"axis {binding.axis} of input {binding.external} has size {size}: start="
                    f"{binding.start} and end={binding.end} leave less than one slice of "
                    f"part_size={binding.part_size}; OpenVINO cannot run the layer",
                    rule=PORT_MAP,
                )
                counts.append((binding, length // binding.part_size))
        return counts

    def count(self, view: BodyView[Any], inputs: tuple[Tensor, ...]) -> int | None:
        """Returns the number of iterations, or None if it is unknown.

        The last sliced input of known size determines it, or an output if no input is sliced.
        """
        known = self.counts(view, inputs)
        if known:
            return max(known, key=lambda pair: pair[0].external or 0)[1]
        output = next((binding for binding in connected(view) if binding.axis is not None), None)
        if output is None or any(binding.axis is not None for binding in view.inputs):
            return None
        says = f"output {output.external} has part_size={output.part_size}; expected 1 or more"
        require(output.part_size > 0, says, rule=PORT_MAP)
        return abs(output.end - output.start) // output.part_size

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        count = self.count(bodies["body"], tuple(inputs))
        return {"body": DYNAMIC if count is None else Dimension(max(count, 0))}

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        sizes = [
            inputs[binding.external or 0].shape[binding.axis or 0].low
            for binding in self.sliced(view, tuple(inputs))
            if self.sliced_shape(binding, inputs[binding.external or 0]).rank  # the axis exists
        ]
        return min(sizes) > 0 if sizes else (self.count(view, tuple(inputs)) or 0) > 0

    def sliced(self, view: BodyView[Any], inputs: tuple[Tensor, ...]) -> list[PortBinding]:
        """Returns the port map's entries for sliced inputs of known rank."""
        return [
            binding
            for binding in view.inputs
            if binding.axis is not None
            and binding.external is not None
            and inputs[binding.external].rank is not None
        ]

    def symbolic_count(
        self, sliced: Sequence[PortBinding], inputs: tuple[Tensor, ...]
    ) -> Dimension | None:
        """Returns the number of iterations as an expression, e.g. `length // 2`, or None."""
        if not sliced:
            return None
        last = max(sliced, key=lambda binding: binding.external or 0)
        size = inputs[last.external or 0].shape[last.axis or 0]
        first, end = sorted((last.start, last.end))
        if first >= 0 or end < 0:  # both count from the same end of the axis
            return None
        return size.followed(
            DYNAMIC,
            lambda whole: (
                (whole + first - end + 1) // last.part_size
                if whole.facts.assume_at_least(whole + first, whole.facts.number(end))
                else None
            ),
        )

    def collected(
        self, binding: PortBinding, result: Tensor, count: Dimension | int | None
    ) -> Tensor:
        """Returns the tensor of an output: the last result, or all results, concatenated."""
        if binding.axis is None or result.shape.dims is None:
            return Tensor(result.element_type, result.shape)
        axis = self.output_axis(binding, result)
        dims = list(result.shape.dims) or [Dimension(1)]
        require(
            dims[axis].contains(binding.part_size) or binding.part_size < 1,
            f"the port map concatenates output {binding.external} with "
            f"part_size={binding.part_size}, but the body's result {result.shape} has "
            f"{dims[axis]} along axis {axis}; OpenVINO cannot run the layer",
            rule=PORT_MAP,
        )
        if count is None:
            dims[axis] = DYNAMIC
        elif isinstance(count, int):
            dims[axis] = Dimension(max(count * binding.part_size, 0))
        else:
            dims[axis] = count * max(binding.part_size, 0) if count.symbolic else DYNAMIC
        return Tensor(result.element_type, dims)

    def check(self, *inputs: Tensor, bodies: dict[str, BodyView[Tensor]]) -> Iterator[Fault]:
        yield from super().check(*inputs, bodies=bodies)
        view = bodies["body"]
        for binding in view.inputs:
            if binding.external is None:
                continue
            seen = inputs[binding.external].element_type
            declared = view.declared_type(binding.internal)
            if seen is not declared and not seen.is_dynamic and not declared.is_dynamic:
                yield fault(
                    f"input {binding.external} has element type {seen}, but Parameter "
                    f"{binding.internal} of the body declares {declared}, which OpenVINO uses",
                    relation="type",
                    expected=declared,
                    actual=seen,
                )
        known = self.counts(view, inputs)
        for binding, count in known[1:]:
            if count != known[0][1]:
                yield fault(
                    f"input {binding.external} is sliced for {count} iterations, but input "
                    f"{known[0][0].external} for {known[0][1]}",
                    rule=PORT_MAP,
                )

    def evaluate(
        self, *inputs: Array, bodies: dict[str, BodyView[Array]], outputs: int
    ) -> tuple[Array, ...]:
        view = body_of(bodies, "body")
        count = self.count(
            view, tuple(Tensor(element_type_of(array), array.shape) for array in inputs)
        )
        return self.iterate(view, inputs, 1 if count is None else count, None, None)
