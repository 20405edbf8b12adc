"""Random cuts and random chains of surgery, compared with the values of the original.

    python -m tests.graph.random_surgery cuts 1000 examples/*.xml
    python -m tests.graph.random_surgery chains 1000 examples/*.xml
    python -m tests.graph.random_surgery chains 1000 7 examples/*.xml       another seed

irshape validates and runs every result, and compares its outputs with the same tensors of the
original. `random_changes` has OpenVINO read what changes make.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import irshape
from irshape import Graph, GraphError, Output
from irshape.execution.feeds import by_id
from irshape.execution.inputs import random_inputs


class Original(NamedTuple):
    """A model with the values of all its tensors for one set of inputs."""

    graph: Graph
    inputs: dict[str, Any]
    """By the id of the Parameter."""
    values: dict[tuple[str, int], Any]
    """By the id of the layer and the index of the output. Constants are left out."""


def opened(path: Path, seed: int = 0) -> Original:
    """Runs a model on random inputs."""
    graph = Graph.load(path)
    inputs = by_id(random_inputs(graph.model(), seed))
    arrays = irshape.run(graph, [inputs[layer.id] for layer in graph.parameters], outputs="all")
    values = {}
    for layer in graph.layers:
        if not layer.raw.is_constant:
            for output in layer.outputs:
                name = layer.name if len(layer.outputs) == 1 else f"{layer.name}:{output.index}"
                values[layer.id, output.index] = arrays[name]
    return Original(graph, inputs, values)


def agrees(actual: Any, expected: Any) -> bool:
    """Whether two arrays are equal, except for the rounding of sums in another order."""
    if actual.shape != expected.shape:
        return False
    if actual.dtype.kind not in "f":
        return bool((actual == expected).all())
    finite = expected[np.isfinite(expected)]
    size = float(np.abs(finite).max()) if finite.size else 0.0
    return bool(np.allclose(actual, expected, 2e-3, 1e-4 * max(size, 1e-3), equal_nan=True))


def compared(part: Graph, inputs: list[Any], expect: list[Any]) -> str:
    """Returns `equal`, or how the outputs of a part differ from the expected values."""
    report = irshape.validate(part)
    if not report.ok:
        return "not sound: " + next(str(d) for d in report.diagnostics if d.severity == "error")
    actual = list(irshape.Session(part).run(inputs).values())
    if len(actual) != len(expect):
        return f"{len(actual)} outputs, not {len(expect)}"
    for number, (one, other) in enumerate(zip(actual, expect, strict=True)):
        if not agrees(one, other):
            return f"output {number} differs: {one.shape} {other.shape}"
    return "equal"


def cut(original: Original, chance: random.Random) -> str:
    """Extracts what lies between some random tensors and some others."""
    graph, values = original.graph, original.values
    keys = [key for key in values if not graph.content.by_id[key[0]].raw.is_parameter]
    ends = [_at(graph, chance.choice(keys)) for _ in range(chance.randint(1, 2))]
    behind = [end.layer for end in ends]
    for layer in behind:
        behind += [other for other in layer.producers if other not in behind]
    starts = [
        _at(graph, key)
        for key in keys
        if graph.content.by_id[key[0]] in behind
        and (values[key].dtype.kind == "f" or chance.random() < 0.1)
    ]
    given = chance.sample(starts, min(len(starts), chance.randint(0, 2)))
    given = [each for each in given if each not in ends]
    needed = _parameters_needed(ends, given)
    try:
        part = graph.extract([*needed, *given], ends)
    except GraphError as problem:
        return f"refused: {problem}"
    feeds = _feeds(part, given, original)
    expect = [values[end.layer.id, end.index] for end in dict.fromkeys(ends)]
    return compared(part, [feeds[layer.id] for layer in part.parameters], expect)


def _at(graph: Graph, key: tuple[str, int]) -> Output:
    return graph.content.by_id[key[0]].outputs[key[1]]


def _parameters_needed(ends: list[Output], given: list[Output]) -> list[Output]:
    """The inputs of the graph without which these tensors cannot be computed."""
    reached, waiting, needed = set(), list(ends), {}
    while waiting:
        output = waiting.pop()
        if output in reached or output in given:
            continue
        reached.add(output)
        if output.layer.raw.is_parameter:
            needed[output] = None
        variable = output.layer.attributes.get("variable_id")
        if output.layer.type == "ReadValue":
            waiting += [
                end.source
                for layer in output.layer.graph.layers
                if layer.type == "Assign" and layer.attributes["variable_id"] == variable
                for end in layer.inputs
            ]
        waiting += [end.source for end in output.layer.inputs]
    return list(needed)


def _feeds(part: Graph, given: list[Output], original: Original) -> dict[str, Any]:
    """What to feed to each Parameter of a part: kept ones have their ids, new ones come last."""
    new = [layer for layer in part.parameters if layer.origin is None]
    cuts = [
        original.values[output.layer.id, output.index]
        for output in given
        if not output.layer.raw.is_parameter
    ]
    return original.inputs | {layer.id: cut for layer, cut in zip(new, cuts, strict=True)}


def chain(original: Original, chance: random.Random) -> str:
    """Does a random chain of things that leave the values of the outputs as they are."""
    graph = original.graph.copy()
    feeds: dict[str, Any] = {layer.name: original.inputs[layer.id] for layer in graph.parameters}
    steps = [STEPS[chance.randrange(len(STEPS))] for _ in range(chance.randint(2, 7))]
    order = {result.id: output for result, output in _ends(original.graph)}
    done = []
    for step in steps:
        try:
            graph = step(graph, feeds, chance) or graph
        except GraphError as problem:
            return f"refused: {step.__name__} after {done}: {problem}"
        done.append(step.__name__)
    kept = [order[result.id] for result in graph.results if result.id in order]
    if any(output.layer.raw.is_constant for output in kept) or len(kept) != len(graph.results):
        return f"not compared: an output is a constant, or new, after {done}"
    verdict = compared(
        graph,
        [feeds[layer.name] for layer in graph.parameters],
        [original.values[output.layer.id, output.index] for output in kept],
    )
    return verdict if verdict == "equal" else f"{verdict} after {done}"


def _ends(graph: Graph) -> zip[tuple[Any, Output]]:
    return zip(graph.results, graph.outputs, strict=True)


def _real(graph: Graph, chance: random.Random) -> Output:
    outputs = [
        output
        for layer in graph.layers
        if not layer.raw.is_constant
        for output in layer.outputs
        if output.element_type.name == "f32" and output.users
    ]
    return chance.choice(outputs)


def neutral(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    """Inserts a layer that changes nothing."""
    output = _real(graph, chance)
    kind, value = chance.choice([("Add", 0.0), ("Multiply", 1.0), ("Divide", 1.0)])
    output.insert_after(kind, np.float32(value))


def neutral_before(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    output = _real(graph, chance)
    chance.choice(output.users).insert_before("Convert", destination_type="f32")


def transposed(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    output = _real(graph, chance)
    if output.shape.rank is not None and output.shape.rank > 1:
        order = list(range(output.shape.rank))[::-1]
        with graph.batch():
            output.insert_after("Transpose", order).insert_after("Transpose", order)


def renamed(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    layer = chance.choice(graph.layers)
    name = f"renamed {len(graph)} <&> ü"
    if name in graph:
        return
    if layer.raw.is_parameter:
        feeds[name] = feeds.pop(layer.name)
    layer.name = name
    if layer.outputs and not layer.raw.is_parameter:
        layer.outputs[0].names = (name, *layer.outputs[0].names)


def dropped(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    outputs = graph.outputs
    if len(set(outputs)) > 1:
        graph.drop_output(chance.choice(outputs))


def cleaned(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    graph.clean()


def computed(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    graph.fold()


def bound(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    if len(graph.parameters) > 1:
        layer = chance.choice(graph.parameters)
        graph.bind(layer.output, feeds.pop(layer.name))


def pinned(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    with graph.batch():
        for layer in graph.parameters:
            graph.reshape({layer.name: list(feeds[layer.name].shape)})


def widened(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    layer = chance.choice(graph.parameters)
    dims = [str(dim) for dim in layer.output.shape.dims or ()]
    if dims:
        at = chance.randrange(len(dims))
        size = feeds[layer.name].shape[at]
        dims[at] = f"1..{max(64, size)}" if size else "?"
        try:
            graph.reshape({layer.name: f"[{','.join(dims)}]"})
        except GraphError:
            return  # some layer needs that size


def stripped(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    whole = graph.copy()
    graph.strip_weights()
    graph.restore_weights(whole)


def saved(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> Graph:
    twin = graph.copy()
    for new, old in zip(twin.layers, graph.layers, strict=True):
        assert new.id == old.id
    return twin


def loaded(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "x.xml")
        return Graph.load(Path(folder) / "x.xml")


def joined(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> Graph:
    """Splits the graph at a tensor and merges the parts."""
    whole = graph.extract([*graph.inputs], [*graph.outputs])
    return whole if len(whole.results) == len(graph.results) else graph


def refactored(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    """Removes a layer that was inserted to change nothing."""
    for layer in graph.layers:
        if layer.origin is not None or layer.type != "Convert":
            continue
        if layer.output.element_type is layer.inputs[0].source.element_type:
            layer.remove(bypass=0)
            return


def outlined(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    """Puts a layer and some that feed it into a Loop, and takes them out again or not."""
    kinds = ("Parameter", "Const", "Result", "ReadValue", "Assign")
    free = {layer for layer in graph.layers if layer.type not in kinds}
    group = {chance.choice(sorted(free, key=graph.layers.index))}
    for _ in range(chance.randint(0, 2)):
        group |= {each for layer in group for each in layer.producers if each in free}
    try:
        loop = graph.outline(sorted(group, key=graph.layers.index))
    except GraphError:
        return  # a path leaves the layers and comes back, or they give no tensor
    if chance.random() < 0.5:
        graph.inline(loop)


def recurrent(graph: Graph, feeds: dict[str, Any], chance: random.Random) -> None:
    """Turns an input and an output into a variable, and back; both are run."""
    pairs = [
        (layer.output, output)
        for layer in graph.parameters
        for output in graph.outputs
        if output.names and output is not layer.output and _carries(graph, layer.output, output)
    ]
    if not pairs:
        return
    state, output = chance.choice(pairs)
    at = graph.outputs.index(output)
    before = list(irshape.run(graph, [feeds[each.name] for each in graph.parameters]).values())
    expect = [*before[:at], *before[at + 1 :], before[at]]
    twin = graph.copy()
    name = state.layer.name
    twin.make_stateful({name: output.names[0]})
    assert irshape.validate(twin).ok
    session = irshape.Session(twin)
    session.state[name] = feeds[name]
    ours = list(session.run([feeds[layer.name] for layer in twin.parameters]).values())
    if not all(map(agrees, [*ours, session.state[name]], expect)):
        raise GraphError(f"with '{name}' as a variable the values differ")
    if twin.make_stateless() != {name: output.names[0]}:
        raise GraphError("other names")
    verdict = compared(twin, [feeds[layer.name] for layer in twin.parameters], expect)
    if verdict != "equal":
        raise GraphError(f"with '{name}' as an input again: {verdict}")


def _carries(graph: Graph, state: Output, output: Output) -> bool:
    """Whether an output can be the next value of a state whose first value has a known shape."""
    same_type = output.element_type is state.element_type
    if not same_type or output.shape != state.shape or not state.shape.rank:
        return False
    others = [each.shape.dims for each in graph.inputs if each is not state and each.shape.rank]
    batches = [dims[0] for dims in (state.shape.dims, *others) if dims]
    return batches[0].is_static or not all(batch.is_static for batch in batches[1:])


STEPS = (
    neutral,
    neutral,
    neutral_before,
    transposed,
    renamed,
    dropped,
    cleaned,
    computed,
    bound,
    pinned,
    widened,
    stripped,
    saved,
    loaded,
    joined,
    refactored,
    outlined,
    recurrent,
)


def main(kind: str, count: int, paths: list[str], seed: int = 0) -> Counter[str]:
    """Prints what became of each kind of result, and every one that is not equal."""
    task = {"cuts": cut, "chains": chain}[kind]
    verdicts: Counter[str] = Counter()
    for number, path in enumerate(paths):
        original = opened(Path(path))
        for turn in range(count // len(paths) + (number < count % len(paths))):
            verdict = task(original, random.Random(f"{path} {seed} {turn}"))
            verdicts[verdict.split(":")[0].split(" by")[0]] += 1
            if verdict != "equal":
                print(f"{path} {turn}: {verdict[:400]}", flush=True)
    print(kind, dict(verdicts), flush=True)
    return verdicts


if __name__ == "__main__":
    numbers = [text for text in sys.argv[2:] if text.isdigit()]
    models = [text for text in sys.argv[2:] if not text.isdigit()]
    main(sys.argv[1], int(numbers[0]), models, *map(int, numbers[1:]))
