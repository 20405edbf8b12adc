"""Random cuts and random chains of surgery, held against the values that OpenVINO computes.

    python tests/graph/random_surgery.py cuts 1000 examples/*.xml
    python tests/graph/random_surgery.py chains 1000 examples/*.xml
    python tests/graph/random_surgery.py chains 1000 7 examples/*.xml       another seed

Every result is validated, saved, read by OpenVINO, and run there; its outputs are compared with
what OpenVINO computes for the same tensors of the original. What OpenVINO cannot compile (a rank
that nobody knows any more once a shape is an input) is counted apart, by its message.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino as ov

import irshape
from irshape import Graph, GraphError, Output, PartialShape
from irshape.execution.feeds import by_id
from irshape.execution.inputs import random_inputs

EXACT = {
    "INFERENCE_PRECISION_HINT": "f32",
    "INFERENCE_NUM_THREADS": 1,
    "ENABLE_MMAP": "NO",
    "LP_TRANSFORMS_MODE": "NO",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
}
"""Quantized layers compute in f32: in integers, what is fused decides how they round."""
CORE = ov.Core()
VARIABLES: Counter[str] = Counter()
"""What became of inputs that were made variables: where only the key or only the value of an
attention is one, the CPU plugin does not compile the model, gives empty tensors, or crashes."""


class Original(NamedTuple):
    """A model with the values of all its tensors on one set of inputs."""

    path: Path
    graph: Graph
    inputs: dict[str, Any]
    """By the id of the Parameter."""
    values: dict[tuple[str, int], Any]
    """By the id of the layer and the index of the output."""
    results: list[Any]
    """What the model gives as it is, where the plugin fuses as it likes."""


def run(path: Path, inputs: list[Any]) -> list[Any]:
    """What OpenVINO computes for inputs in the order of the Parameters."""
    compiled = CORE.compile_model(CORE.read_model(path), "CPU", EXACT)
    request = compiled.create_infer_request()
    feed = dict(enumerate(inputs))
    request.infer(feed)
    return [np.array(request.get_tensor(port).data) for port in compiled.outputs]


def opened(path: Path, seed: int = 0) -> Original:
    """Runs a model with an output for every tensor that the CPU plugin can give."""
    graph = Graph.load(path)
    drawn = by_id(random_inputs(graph.model(), seed))
    every = graph.copy()
    for result in every.results:
        result.remove()
    tensors = [
        output
        for layer in graph.layers
        if not layer.raw.is_constant and layer.type not in ("Result", "Assign")
        for output in layer.outputs
        if output.element_type.name in ("f32", "i64", "i32", "boolean", "u8", "i8")
    ]
    for layer in every.layers:
        for output in layer.outputs:
            output.names = ()  # IR 10 takes the names of layers for names of outputs too
    for output in tensors:
        every.result(every.content.by_id[output.layer.id].outputs[output.index])
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "every.xml"
        every.save(target)
        arrays = run(target, [drawn[layer.id] for layer in every.parameters])
    # where the plugin fuses layers whose results are outputs as well, it gives other tensors for
    # some: those of another shape than the layer has cannot be what it computes
    values = {
        (output.layer.id, output.index): array
        for output, array in zip(tensors, arrays, strict=True)
        if output.shape.compatible(PartialShape(array.shape))
    }
    results = run(path, [drawn[layer.id] for layer in graph.parameters])
    return Original(path, graph, drawn, values, results)


def agrees(actual: Any, expected: Any) -> bool:
    """Whether two arrays are equal as far as f32 goes: kernels differ with what is fused."""
    if actual.shape != expected.shape:
        return False
    if actual.dtype.kind not in "f":
        return bool((actual == expected).all())
    finite = expected[np.isfinite(expected)]
    size = float(np.abs(finite).max()) if finite.size else 0.0
    return bool(np.allclose(actual, expected, 2e-3, 1e-4 * max(size, 1e-3), equal_nan=True))


def proven(
    part: Graph, feed: Callable[[Output], Any], expect: list[Any], as_it_is: list[Any] | None = None
) -> str:
    """What became of a result: `equal`, or what is wrong.

    as_it_is: what the original gives when it is run as it is, which is right too. Where OpenVINO
    does not compile a result, or computes something else, irshape is asked too: one that gives the
    values of the original is right, and the plugin has another opinion of this model.
    """
    verdict = by_openvino(part, feed, expect)
    if not verdict.startswith(("not compiled", "output")):
        return verdict
    if as_it_is is not None and by_openvino(part, feed, as_it_is) == "equal":
        return "equal"
    if verdict.startswith("output") and unfused(part, feed, expect):
        return f"equal where nothing is fused: {verdict}"
    inputs = {output.layer.id: feed(output) for output in part.inputs}
    ours = list(irshape.run(part, inputs).values())
    same = len(ours) == len(expect) and all(map(agrees, ours, expect))
    return f"equal in irshape alone: {verdict}" if same else verdict


def unfused(part: Graph, feed: Callable[[Output], Any], expect: list[Any]) -> bool:
    """Whether OpenVINO gives these values once all tensors are outputs, which keeps it from fusing
    layers: quantized values that lie between two levels then round as in the original.
    """
    every = part.copy()
    tensors = [
        output
        for layer in every.layers
        if not layer.raw.is_constant and layer.type not in ("Result", "Assign")
        for output in layer.outputs
        if output.element_type.name in ("f32", "i64", "i32", "boolean", "u8", "i8")
    ]
    for output in tensors:
        output.names = ()
    for output in tensors:
        every.result(output)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "every.xml"
        every.save(target)
        try:
            actual = run(target, [feed(output) for output in part.inputs])[: len(expect)]
        except RuntimeError:
            return False
    return all(map(agrees, actual, expect))


def by_openvino(part: Graph, feed: Callable[[Output], Any], expect: list[Any]) -> str:
    """What became of a result: `equal`, or what is wrong."""
    report = irshape.validate(part)
    if not report.ok:
        return "not sound: " + next(str(d) for d in report.diagnostics if d.severity == "error")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "part.xml"
        part.save(target)
        read = CORE.read_model(target)
        if len(read.outputs) != len(expect):
            return f"{len(read.outputs)} outputs, not {len(expect)}"
        inputs = [feed(output) for output in part.inputs]
        try:
            actual = run(target, inputs)
        except RuntimeError as problem:
            text = str(problem)
            dynamic = [each for each in part.layers for o in each.outputs if o.shape.rank is None]
            if dynamic:
                return "not compiled: dynamic rank"
            return "not compiled: " + " ".join(text.split())[-160:]
    for number, (one, other) in enumerate(zip(actual, expect, strict=True)):
        if not agrees(one, other):
            worst = ""
            if one.shape == other.shape and one.dtype.kind == "f":
                worst = f" by {np.nanmax(np.abs(one - other))} of {np.nanmax(np.abs(other))}"
            return f"output {number} differs{worst} {one.shape} {other.shape}"
    return "equal"


def cut(original: Original, chance: random.Random) -> str:
    """Extracts what lies between some random tensors and some others."""
    graph, values = original.graph, original.values
    keys = [key for key in values if not graph.content.by_id[key[0]].raw.is_parameter]
    ends = [_at(graph, chance.choice(keys)) for _ in range(chance.randint(1, 2))]
    behind = graph._reachable(end.layer for end in ends)
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
    by_name = {}
    for output in (*needed, *given):
        by_name[output.layer.id, output.index] = values.get((output.layer.id, output.index))
    feeds = _feeds(part, [*needed, *given], original)
    expect = [values[end.layer.id, end.index] for end in dict.fromkeys(ends)]
    return proven(part, lambda output: feeds[output.layer.id], expect)


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
    feeds = {}
    new = [layer for layer in part.parameters if layer.origin is None]
    cuts = [output for output in given if not output.layer.raw.is_parameter]
    for layer, output in zip(new, cuts, strict=True):
        feeds[layer.id] = original.values[output.layer.id, output.index]
    for layer in part.parameters:
        if layer.origin is not None:
            feeds[layer.id] = original.inputs[layer.id]
    return feeds


def chain(original: Original, chance: random.Random) -> str:
    """Does a random chain of things that leave the values of the outputs as they are."""
    graph = original.graph.copy()
    feeds: dict[str, Any] = {layer.name: original.inputs[layer.id] for layer in graph.parameters}
    steps = [STEPS[chance.randrange(len(STEPS))] for _ in range(chance.randint(2, 7))]
    expect = [
        original.values[output.layer.id, output.index] if not output.layer.raw.is_constant else None
        for output in original.graph.outputs
    ]
    order = {result.id: at for at, result in enumerate(original.graph.results)}
    done = []
    for step in steps:
        try:
            graph = step(graph, feeds, chance) or graph
        except GraphError as problem:
            return f"refused: {step.__name__} after {done}: {problem}"
        done.append(step.__name__)
    kept = [order[result.id] for result in graph.results if result.id in order]
    if any(expect[at] is None for at in kept) or len(kept) != len(graph.results):
        return f"not compared: an output is a constant, or new, after {done}"
    verdict = proven(
        graph,
        lambda output: feeds[output.layer.name],
        [expect[at] for at in kept],
        [original.results[at] for at in kept],
    )
    return verdict if verdict == "equal" else f"{verdict} after {done}"


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
    before = _values(graph, [feeds[layer.name] for layer in graph.parameters])
    at = graph.outputs.index(output)
    twin = graph.copy()
    name = state.layer.name
    twin.make_stateful({name: output.names[0]})
    assert irshape.validate(twin).ok
    rest = [array for place, array in enumerate(before) if place != at] + [before[at]]
    session = irshape.Session(twin.model())
    session.state[name] = feeds[name]
    ours = list(session.run([feeds[layer.name] for layer in twin.parameters]).values())
    plain = list(irshape.run(graph, [feeds[each.name] for each in graph.parameters]).values())
    plain.append(plain.pop(at))
    if not all(map(agrees, [*ours, session.state[name]], plain)):
        raise GraphError(f"with '{name}' as a variable the values differ")
    try:
        inputs = [feeds[layer.name] for layer in twin.parameters]
        outputs = _values(twin, inputs, {name: feeds[name]})
        VARIABLES["equal" if all(map(agrees, outputs, rest)) else "equal in irshape alone"] += 1
    except RuntimeError:
        VARIABLES["equal in irshape alone"] += 1
    if twin.make_stateless() != {name: output.names[0]}:
        raise GraphError("other names")
    assert irshape.validate(twin).ok
    assert sorted(layer.name for layer in graph.parameters) == sorted(
        layer.name for layer in twin.parameters
    )
    after = _values(twin, [feeds[layer.name] for layer in twin.parameters])
    if not all(map(agrees, after, rest)) or len(after) != len(before):
        raise GraphError(f"with '{name}' as an input again the values differ")


def _carries(graph: Graph, state: Output, output: Output) -> bool:
    """Whether an output can be the next value of a state, and it is known what that begins as."""
    if output.element_type is not state.element_type or not state.shape.rank:
        return False
    if output.shape != state.shape:
        return False  # the plugin does not update a dynamic variable by a value of a static shape
    others = [each.shape.dims for each in graph.inputs if each is not state and each.shape.rank]
    batches = [dims[0] for dims in (state.shape.dims, *others) if dims]
    return batches[0].is_static or not all(batch.is_static for batch in batches[1:])


def _values(graph: Graph, inputs: list[Any], states: Mapping[str, Any] | None = None) -> list[Any]:
    """What OpenVINO computes: the outputs, and after them what the variables are set to.

    states: what the variables are before.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "values.xml"
        graph.save(target)
        request = CORE.compile_model(CORE.read_model(target), "CPU", EXACT).create_infer_request()
        for variable in request.query_state():
            variable.state = ov.Tensor((states or {})[variable.name])
        request.infer(dict(enumerate(inputs)))
        outputs = [np.array(request.get_tensor(port).data) for port in request.model_outputs]
        return outputs + [np.array(each.state.data) for each in request.query_state()]


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
    print(kind, dict(verdicts), *(["variables", dict(VARIABLES)] if VARIABLES else []), flush=True)
    return verdicts


if __name__ == "__main__":
    numbers = [text for text in sys.argv[2:] if text.isdigit()]
    models = [text for text in sys.argv[2:] if not text.isdigit()]
    main(sys.argv[1], int(numbers[0]), models, *map(int, numbers[1:]))
