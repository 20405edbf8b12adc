"""Random dynamic models: 5 to 25 operations of shape arithmetic, loops and branches.

`python tests/inference/random_models.py --models 3000 --seed 7` checks as many as asked for.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import irshape
from irshape.execution.session import ExecutionError, Session
from irshape.shapes import UNBOUNDED, PartialShape

RUNS = 6
SIZES = (0, 1, 1, 2, 2, 3, 4, 5, 6, 8)
MAX_TENSORS = 2000
"""Of a run; loops that make more are left."""
Seen = tuple[irshape.Layer, int, tuple[int, ...]]
"""An output of a layer in a run: the layer, the port and the shape."""


class Builder:
    """Builds one model with OpenVINO's own operations."""

    def __init__(self, seed: int) -> None:
        import openvino as ov
        from openvino import opset15 as ops

        self.ov, self.ops = ov, ops
        self.chance = random.Random(seed)
        self.parameters: list[Any] = []
        self.tensors: list[Any] = []
        """Outputs of f32."""
        self.numbers: list[Any] = []
        """Outputs of i64 and shape [1]: sizes, and what is computed of them."""
        self.depth = 0

    def model(self) -> Any:
        chance = self.chance
        for number in range(chance.choice((1, 1, 2, 2, 3))):
            rank = chance.choice((1, 2, 2, 3, 3, 4))
            shape = [self.dimension() for _ in range(rank)]
            if number and chance.random() < 0.4:  # much like the first
                shape = list(self.parameters[0].get_partial_shape())
            self.tensors.append(self.input(shape, "f32", f"x{number}"))
        if chance.random() < 0.4:
            self.numbers.append(self.input([1], "i64", "n"))
        wanted = chance.randint(5, 25)
        attempts = 0
        made = 0
        while made < wanted and attempts < 4 * wanted:
            attempts += 1
            made += self.step()
        used = [*self.tensors[-4:], *self.numbers[-2:]]
        return self.ov.Model([self.ops.result(each) for each in used], self.parameters)

    def input(self, shape: list[Any], kind: str, name: str) -> Any:
        parameter = self.ops.parameter(
            self.ov.PartialShape(shape), np.int64 if kind == "i64" else np.float32, name=name
        )
        parameter.output(0).get_tensor().set_names({name})
        self.parameters.append(parameter)
        return parameter.output(0)

    def dimension(self) -> Any:
        chance = self.chance
        kind = chance.random()
        if kind < 0.45:
            return self.ov.Dimension()
        if kind < 0.65:
            low = chance.choice((0, 1, 1, 2, 3))
            return self.ov.Dimension(low, low + chance.randint(1, 6))
        return self.ov.Dimension(chance.choice((1, 2, 2, 3, 3, 4, 6)))

    def step(self) -> bool:
        """Adds an operation, or a few that belong together; whether OpenVINO takes them."""
        bodies = () if self.depth else (self.branch, self.branch, self.loop, self.loop, self.slices)
        own = (self.arithmetic,) * 3 + (self.reshape,) * 3
        try:
            made: Any = self.chance.choice((*self.simple(), *own, *bodies))()
        except (RuntimeError, ValueError):  # OpenVINO refuses it
            return False
        output = made if isinstance(made, self.ov.Output) else made.output(0)
        kind, shape = output.get_element_type().get_type_name(), output.get_partial_shape()
        if kind == "i64" and shape == self.ov.PartialShape([1]):
            self.numbers.append(output)
        elif kind in ("f32", "i64"):
            if kind == "i64":
                output = self.ops.convert(output, "f32").output(0)
            self.tensors.append(output)
        return True

    def simple(self) -> list[Callable[[], Any]]:
        """Operations on tensors and numbers that are there; one that is refused is left out."""
        ops, chance, number, constant = self.ops, self.chance, self.number, self.constant
        x = self.tensor()
        rank, axis = self.rank(x), self.axis(x)
        one, zero = constant(1.0, np.float32), constant(0.0, np.float32)
        rest, ones, twos = [0] * (rank - 1), [1] * (rank - 2), [2] * (rank - 2)
        order = chance.sample(range(rank), rank)
        flip, half = chance.random() < 0.5, chance.random() < 0.5
        ends = number(0, 1, 2, -1, -3, 2**63 - 1), number(0, 2, -1, 2**63 - 1, -(2**63))
        step = chance.choice((1, 1, 2, 3, -1, -1, -2))
        other = x if half else self.tensor()
        masks = [[int(chance.random() < 0.3)] for _ in range(4)]
        shape, along, last = ops.shape_of(x), constant([axis]), constant([rank - 1])
        known = not x.get_partial_shape()[axis].is_dynamic  # else it is taken to be 1
        reduction = ops.reduce_sum if half else ops.reduce_max
        lengths = [number(1, 2), constant([-1])][:: 1 if flip else -1]
        sizes = [number(1, 2, 3) for _ in range(1 + half)]
        mode = "numpy" if flip else "bidirectional"
        strides, pads = (ones if flip else twos), (ones if half else [0] * len(ones))
        scale = constant([0.5 if flip else 2.0], np.float32)
        tiles = ops.concat([number(1, 2), constant([1 + (flip and i == 0) for i in rest])], 0)
        before = ops.concat([number(0, 1, 2), constant(rest)], 0)
        after = constant([chance.choice((0, 1, -1)), *rest])
        stop = self.scalar(number(3, 5))
        replaced = ops.scatter_update(shape, constant([0]), number(1, 2), constant(0))
        return [
            *(lambda: self.size(x, axis),) * 3,
            *(lambda: ops.slice(x, *ends, constant([step]), along),) * 2,
            lambda: ops.strided_slice(x, *ends, constant([chance.choice((1, 2, -1))]), *masks),
            lambda: ops.concat([x, other], axis),
            lambda: ops.pad(x, before, after, "constant", zero),
            lambda: ops.tile(x, tiles),
            lambda: ops.range(constant(int(flip)), stop, constant(-1 if half else 2), "i64"),
            lambda: ops.broadcast(one, ops.concat(sizes, 0)),
            lambda: ops.broadcast(x, ops.concat([*sizes, shape], 0), broadcast_spec=mode),
            lambda: ops.broadcast(one, replaced),
            lambda: ops.squeeze(x, along) if known else ops.squeeze(x),
            lambda: ops.unsqueeze(x, along),
            lambda: reduction(x, along, flip),
            lambda: reduction(x, number(0), flip),
            lambda: ops.split(x, constant(axis), 2 + flip).output(int(half)),
            lambda: ops.variadic_split(x, constant(axis), ops.concat(lengths, 0)).output(int(half)),
            lambda: ops.transpose(x, constant(order)),
            lambda: ops.add(x, self.tensor(ranked=False)),
            lambda: ops.matmul(x, other, False, flip),
            lambda: ops.gather(x, number(0, 0, -1), constant(axis)),
            lambda: ops.topk(x, self.scalar(number(1, 1, 2)), axis, "max", "value").output(0),
            lambda: ops.non_zero(ops.relu(x), "i64"),
            lambda: ops.unique(x, constant(axis) if flip else None, True, "i64", "i64"),
            lambda: ops.avg_pool(
                x, strides, pads, pads, twos, True, "ceil" if chance.random() < 0.5 else "floor"
            ),
            lambda: ops.one_hot(ops.convert(x, "i64"), self.scalar(number(2, 3)), one, zero, -1),
            lambda: ops.select(self.compared(), x, other),
            lambda: ops.interpolate(x, number(2, 3), "nearest", "sizes", axes=last),
            lambda: ops.interpolate(x, scale, "nearest", "scales", axes=last),
        ]

    # parts

    def constant(self, value: Any, kind: Any = np.int64) -> Any:
        return self.ops.constant(np.array(value, kind)).output(0)

    def tensor(self, *, ranked: bool = True) -> Any:
        known = [t for t in self.tensors if t.get_partial_shape().rank.is_static]
        chosen = known if ranked else self.tensors
        recent = chosen[-5:] if self.chance.random() < 0.6 else chosen
        if not recent:
            raise RuntimeError
        return self.chance.choice(recent)

    def rank(self, tensor: Any) -> int:
        return int(tensor.get_partial_shape().rank.get_length())

    def axis(self, tensor: Any) -> int:
        rank = self.rank(tensor)
        if not rank:
            raise RuntimeError
        axis = self.chance.randrange(rank)
        return axis - rank if self.chance.random() < 0.3 else axis

    def size(self, tensor: Any, axis: int) -> Any:
        shape = self.ops.shape_of(tensor)
        return self.ops.gather(shape, self.constant([axis]), self.constant(0)).output(0)

    def number(self, *values: int) -> Any:
        """A size that is known, computed, or one of some values."""
        if self.numbers and self.chance.random() < 0.6:
            return self.chance.choice(self.numbers[-6:])
        return self.constant([self.chance.choice(values or (0, 1, 2, 3, -1))])

    def scalar(self, number: Any) -> Any:
        return self.ops.squeeze(number, self.constant([0])).output(0)

    def compared(self) -> Any:
        """A condition: of sizes, a constant, or of data."""
        kind = self.chance.random()
        if kind < 0.15:
            return self.constant(self.chance.random() < 0.5, bool)
        if kind < 0.3:
            total = self.ops.reduce_sum(
                self.tensor(), self.constant(list(range(self.rank(self.tensors[0])))), False
            )
            flat = self.ops.reshape(total, self.constant([-1]), False)
            first = self.ops.reduce_max(flat, self.constant([0]), True)
            return self.scalar(self.ops.greater(first, self.constant([0.5], np.float32)))
        compare = self.chance.choice(
            (self.ops.greater, self.ops.less, self.ops.equal, self.ops.greater_equal)
        )
        return self.scalar(compare(self.number(), self.number(0, 1, 2, 3, 4)))

    def arithmetic(self) -> Any:
        ops, first, second = self.ops, self.number(1, 2, 3, 4), self.number(1, 2, 2, 3, 4)
        kind = self.chance.randrange(12)
        two = (ops.add, ops.subtract, ops.multiply, ops.divide, ops.floor_mod, ops.maximum,
               ops.minimum, ops.mod)  # fmt: skip
        if kind < 8:
            return two[kind](first, second)
        if kind == 8:
            half = self.constant([self.chance.choice((0.5, 2.0, 1.5))], np.float32)
            real = ops.multiply(ops.convert(first, "f32"), half)
            return ops.convert(self.chance.choice((ops.floor, ops.ceiling))(real), "i64")
        if kind == 9:
            return ops.abs(first)
        if kind == 10:
            return ops.select(ops.greater(first, second), first, self.number())
        return ops.reduce_prod(ops.concat([first, second], 0), self.constant([0]), True)

    def reshape(self) -> Any:
        tensor = self.tensor(ranked=self.chance.random() < 0.9)
        rank = tensor.get_partial_shape().rank
        chance, ops = self.chance, self.ops
        if rank.is_dynamic or not rank.get_length():
            return ops.reshape(tensor, self.constant([-1]), False)
        sizes = [self.size(tensor, axis) for axis in range(rank.get_length())]
        special = chance.random() < 0.3
        parts: list[Any] = []
        start = 0
        while start < len(sizes):  # runs of axes become one
            stop = min(len(sizes), start + chance.choice((1, 1, 2, 3)))
            part = sizes[start]
            for other in sizes[start + 1 : stop]:
                part = ops.multiply(part, other).output(0)
            if special and stop == start + 1 and start == len(parts) and chance.random() < 0.5:
                part = self.constant([0])
            parts.append(part)
            start = stop
        if chance.random() < 0.4:
            parts[chance.randrange(len(parts))] = self.constant([-1])
        if chance.random() < 0.3:
            parts.insert(chance.randrange(len(parts) + 1), self.number(1, 1, 2))
        if chance.random() < 0.15:
            chance.shuffle(parts)
        return ops.reshape(tensor, ops.concat(parts, 0), special)

    # bodies

    def inner(self, *shapes: Any) -> tuple[list[Any], list[Any]]:
        """Parameters of a body, and what a few operations in it make of the first."""
        parameters = [self.ops.parameter(shape, np.float32) for shape in shapes]
        outer = self.tensors, self.numbers, self.depth
        self.tensors, self.numbers, self.depth = [p.output(0) for p in parameters], [], 1
        try:
            for _ in range(self.chance.randint(0, 3)):
                self.step()
            return parameters, self.tensors
        finally:
            self.tensors, self.numbers, self.depth = outer

    def branch(self) -> Any:
        tensor = self.tensor()
        node = self.ops.if_op(self.compared())
        sides = [self.inner(tensor.get_partial_shape()) for _ in range(2)]
        results = [self.ops.result(self.chance.choice(tensors[-2:])) for _, tensors in sides]
        bodies = [
            self.ov.Model([result], parameters)
            for result, (parameters, _) in zip(results, sides, strict=True)
        ]
        node.set_then_body(bodies[0])
        node.set_else_body(bodies[1])
        node.set_input(tensor, sides[0][0][0], sides[1][0][0])
        return node.set_output(*results)

    def loop(self) -> Any:
        """A Loop with a state, and perhaps slices and a concatenated output."""
        ops, chance = self.ops, self.chance
        state = self.tensor()
        starts = self.constant(True, bool) if chance.random() < 0.6 else self.compared()
        trips = self.scalar(self.number(0, 1, 2, 3, -1))
        node = ops.loop(trips, starts)
        (parameter,), tensors = self.inner(state.get_partial_shape())
        grown = chance.choice(tensors[-2:])
        going = self.constant(chance.random() < 0.9, bool)
        if chance.random() < 0.3:
            size = self.size(grown, 0) if self.rank(grown) else self.constant([1])
            going = self.scalar(ops.less(size, self.constant([6])))
        condition, result = ops.result(going), ops.result(grown)
        body = self.ov.Model([condition, result], [parameter])
        node.set_function(body)
        node.set_special_body_ports([-1, 0])
        if chance.random() < 0.7:
            node.set_merged_input(parameter, state, result.output(0))
        else:
            node.set_invariant_input(parameter, state)
        if chance.random() < 0.4:
            return node.get_concatenated_slices(result.output(0), 0, 1, 1, -1, 0)
        return node.get_iter_value(result.output(0), -1)

    def slices(self) -> Any:
        """A TensorIterator over an axis."""
        tensor = self.tensor()
        axis = self.axis(tensor) % max(self.rank(tensor), 1)
        shape = list(tensor.get_partial_shape())
        shape[axis] = self.ov.Dimension(1)
        (parameter,), tensors = self.inner(self.ov.PartialShape(shape))
        result = self.ops.result(self.chance.choice(tensors[-2:]))
        node = self.ops.tensor_iterator()
        node.set_function(self.ov.Model([result], [parameter]))
        node.set_sliced_input(parameter, tensor, 0, 1, 1, -1, axis)
        made = result.input_value(0).get_partial_shape()
        size = made[0] if made.rank.is_static and len(made) else self.ov.Dimension(1)
        if size.is_dynamic or not size.get_length() or self.chance.random() < 0.5:
            return node.get_iter_value(result.output(0), -1)
        part = size.get_length()
        return node.get_concatenated_slices(result.output(0), 0, part, part, -1, 0)


class Check:
    """Holds what is inferred of one model against real runs."""

    def __init__(self, path: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.model = irshape.load(path)
        self.plain = irshape.infer(self.model)
        self.named = irshape.infer(self.model, symbols=True)
        self.counts: Counter[str] = Counter(models=1)
        self.wrong: dict[tuple[str, str], str] = {}
        """By kind and layer."""
        self.contrary = refusals(self.named) - refusals(self.plain)
        if not self.contrary:  # else no sizes fit all layers
            self.enclosed()
        for _ in range(RUNS):
            arrays = self.arrays()
            shapes = {name: array.shape for name, array in arrays.items()}
            static = irshape.infer(self.model, shapes=shapes)
            try:
                tensors = [] if refusals(static) - refusals(self.plain) else self.run(arrays)
            except ExecutionError:
                tensors = []
            self.counts["runs"] += bool(tensors)
            self.inside(shapes, tensors)
        self.proposals()

    def say(self, kind: str, where: str, text: object) -> None:
        self.wrong.setdefault((kind, where), str(text))

    def arrays(self) -> dict[str, np.ndarray]:
        """Inputs of sizes within the declared shapes; equal sizes are likely."""
        chance, common = self.chance, self.chance.choice(SIZES)
        arrays: dict[str, np.ndarray] = {}
        for layer in self.model.parameters:
            drawn = [common if chance.random() < 0.5 else chance.choice(SIZES) for _ in range(4)]
            shape = PartialShape.parse(layer.attribute("shape") or "")
            sizes = [min(max(size, d.low), d.high) for size, d in zip(drawn, shape, strict=False)]
            if layer.attribute("element_type") == "i64":
                arrays[layer.name] = np.array([chance.randint(-2, 6)], np.int64)
            else:
                numbers = chance.choices((0.0, 1.0, -1.0, 0.3), k=int(np.prod(sizes)))
                arrays[layer.name] = np.array(numbers, np.float32).reshape(sizes)
        return arrays

    def run(self, arrays: dict[str, np.ndarray]) -> list[Seen]:
        """The shapes of all tensors of a run, those of bodies in every iteration."""
        seen: list[Seen] = []

        def note(layer: irshape.Layer, _: Any, results: tuple[np.ndarray, ...]) -> None:
            if len(seen) > MAX_TENSORS:
                raise ExecutionError("the loops take too long")
            if not layer.is_result:
                seen.extend((layer, port, array.shape) for port, array in enumerate(results))

        Session(self.model).run(arrays, observe=note, inside=True)
        return seen

    def enclosed(self) -> None:
        """Names make no shape wider; a body that does not run stays as it is declared."""
        for layer in self.model.layers:
            pairs = zip(self.plain.outputs(layer), self.named.outputs(layer), strict=False)
            for one, other in pairs:
                if not one.shape.encloses(other.shape):
                    self.say("wider with names", layer.label, f"{other.shape}, not {one.shape}")

    def inside(self, given: dict[str, tuple[int, ...]], tensors: list[Seen]) -> None:
        """The shapes of a run lie in what is inferred, and expressions give them."""
        known = self.named.sizes
        origins = {name: known.origin(name) for name in known.facts.symbols}
        sizes = {name: given[at.layer.name][at.axis] for name, at in origins.items() if at}
        holds = all(
            satisfied(each, sizes) for each in known.facts.constraints.values() if each.assumed
        )
        for label in self.contrary if holds and tensors else ():
            self.say("refused with names", label, given)
        for each in known.facts.constraints.values() if holds and tensors else ():
            if not each.conditional and not satisfied(each, sizes):
                self.say("required", str(each), given)
        for layer, port, shape in tensors:
            self.counts["shapes"] += 1
            for kind, inference in (("", self.plain), (" with names", self.named))[: 1 + holds]:
                inferred = inference.outputs(layer)[port].shape
                if not inferred.encloses(PartialShape(shape)):
                    text = f"{inferred}, a run has {shape}: {given}"
                    self.say("outside" + kind, layer.label, text)
            expressions = self.named.expressions(layer)[port] or ()
            for expression, size in zip(expressions, shape, strict=False) if holds else ():
                if expression is not None:
                    self.counts["expressions"] += 1
                    if expression.evaluate(sizes) != size:
                        self.say("wrong", layer.label, f"{expression} is {size}: {given}")

    def proposals(self) -> None:
        """What is proposed is inferred without a refusal, at its ends too, and runs."""
        overview = self.named.overview()
        proposed = [overview.bind, overview.fix]
        for layer in self.model.layers[-6:]:
            if self.named.outputs(layer):
                proposed += [each.bounded_if for each in self.named.explain(layer.id)]
        for shapes in {tuple(each.items()): each for each in proposed if each}.values():
            self.counts["proposals"] += 1
            for end, fed in at_ends(shapes, overview.fix or {}).items():
                new = refusals(irshape.infer(self.model, shapes=fed)) - refusals(self.plain)
                if new:
                    self.say(f"proposed {end}", str(shapes), new)


def at_ends(shapes: dict[str, str], fix: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Proposed shapes, and static ones at the lower and the upper end of their ranges.

    fix: the sizes of what is left open.
    """
    parsed = {name: PartialShape.parse(text) for name, text in shapes.items()}
    for name, shape in parsed.items():
        sizes = PartialShape.parse(fix.get(name, str(shape)))
        pairs = zip(shape, sizes, strict=True)
        parsed[name] = PartialShape(size if dim.high == UNBOUNDED else dim for dim, size in pairs)
    ends: dict[str, dict[str, Any]] = {"as it is": dict(shapes)}
    if all(dim.high < UNBOUNDED for shape in parsed.values() for dim in shape):
        ends["lower"] = {name: [dim.low for dim in shape] for name, shape in parsed.items()}
        ends["upper"] = {name: [dim.high for dim in shape] for name, shape in parsed.items()}
    return ends


def refusals(inference: irshape.Inference) -> set[str]:
    """The layers that refuse their inputs."""
    parts = inference.result.walk()
    return {part.body.layers[position].label for part in parts for position in part.faulty}


def satisfied(constraint: Any, sizes: dict[str, int]) -> bool:
    try:
        left, right = (each.evaluate(sizes) for each in (constraint.left, constraint.right))
    except ZeroDivisionError:
        return False
    if constraint.relation == ">=":
        return bool(left >= right)
    return left == right or (constraint.relation == "== 1 or" and left == 1)


def check(seed: int, folder: Path) -> Check:
    """Makes the model of a seed and checks it."""
    import openvino as ov

    ov.serialize(Builder(seed).model(), folder / "m.xml")
    return Check(folder / "m.xml", seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.models):
            checked = check(seed, Path(folder))
            counts += checked.counts + Counter(wrong=len(checked.wrong))
            for key, text in checked.wrong.items():
                print(seed, *key, text, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
