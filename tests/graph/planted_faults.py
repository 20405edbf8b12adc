"""Plants faults in networks, and reduces each with `irshape reduce` to the layers that matter.

    python tests/graph/planted_faults.py NETWORKS…            # a line for each fault
    python tests/graph/planted_faults.py --only nan NETWORKS…
    python tests/graph/planted_faults.py --table NETWORKS…    # as docs/reduce.md has it

NETWORKS are IRs, or folders of them; a fault is planted in the first that has a suitable place,
the preferred one first. `python tests/graph/planted_faults.py --program NAME MODEL` is what the
reductions run: a reader, device or check with that fault.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import irshape
from irshape import Graph, GraphLayer, Layer, Model
from irshape.model.wiring import wire

MAX_LAYERS = 5
"""At most so many layers besides Parameters, Constants and Results may be left."""


class NoPlace(Exception):
    """A network has no place for a fault."""


# what the programs do


def crash_on(found: bool) -> int:
    if found:
        os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def refuse(message: str, found: bool) -> int:
    if found:
        print(message, file=sys.stderr)
    return 3 if found else 0


class Fed(NamedTuple):
    """A layer and the layers that feed it."""

    layer: Layer
    sources: list[Layer | None]


def connected(model: Model) -> Iterator[Fed]:
    """The layers of a model, those of bodies too."""
    for body in model.net.all_bodies():
        for layer, row in zip(body.layers, wire(body).sources, strict=True):
            yield Fed(layer, [None if each is None else body.layers[each[0]] for each in row])


def feeds(model: Model, first: str, second: str, **attributes: str) -> bool:
    """Whether a layer of one type, with those attributes, feeds one of another."""
    return any(
        fed.layer.type == second
        and any(
            source is not None
            and source.type == first
            and attributes.items() <= source.attributes.items()
            for source in fed.sources
        )
        for fed in connected(model)
    )


def constants(model: Model) -> Iterator[tuple[Layer, np.ndarray]]:
    for layer in model.walk():
        if layer.is_constant:
            yield layer, model.constant(layer).array()


def outputs(model: Model) -> list[np.ndarray]:
    """The outputs for random inputs, as the command `irshape run` draws them."""
    from irshape.execution.inputs import random_inputs

    return list(irshape.run(model, random_inputs(model)).values())


def in_half(model: Model) -> list[np.ndarray]:
    """The outputs of a device that keeps every tensor in f16."""
    from irshape.execution.inputs import random_inputs
    from irshape.execution.session import Session

    def rounding(array: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return (
                array.astype(np.float16).astype(np.float32) if array.dtype == np.float32 else array
            )

    return list(Session(model, rounding=rounding).run(random_inputs(model)).values())


def has_nan(model: Model) -> bool:
    return any(np.isnan(each).any() for each in outputs(model) if each.dtype.kind == "f")


def overflows(model: Model) -> bool:
    exact = all(np.isfinite(each).all() for each in outputs(model) if each.dtype.kind == "f")
    return exact and not all(np.isfinite(each).all() for each in in_half(model))


def differs(model: Model, kind: str, **attributes: str) -> bool:
    """Whether a device that takes all layers of a type for ones with other attributes differs."""
    right = outputs(model)
    for layer in model.walk():
        if layer.type == kind:
            layer.attributes = {**layer.attributes, **attributes}
    return any(
        not np.allclose(one, other, rtol=1e-4, atol=1e-4)
        for one, other in zip(right, outputs(model), strict=True)
    )


def openvino(model: Path, *, compile: bool = True, run: bool = False) -> int:
    """OpenVINO itself: reads a model, compiles it for the CPU, runs it."""
    import openvino as ov

    core = ov.Core()
    try:
        read = core.read_model(model)
        if compile:
            compiled = core.compile_model(read, "CPU")
            if run:
                from irshape.execution.inputs import random_inputs

                compiled(list(random_inputs(irshape.load(model)).values()))
    except RuntimeError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def _residual(model: Model) -> bool:
    """An Add that joins a tensor and what other layers make of it."""
    for body in model.net.all_bodies():
        sources = wire(body).sources
        for layer, row in zip(body.layers, sources, strict=True):
            if layer.type != "Add" or None in row:
                continue
            for one, other in (row, row[::-1]):
                waiting, seen = [other[0]], set()
                while waiting:
                    at = waiting.pop()
                    if one in sources[at] and not body.layers[one[0]].is_constant:
                        return True
                    if at not in seen:
                        seen.add(at)
                        waiting += [each[0] for each in sources[at] if each is not None]
    return False


def _hangs(model: Model) -> int:
    while any(layer.type == "GatherElements" for layer in model.walk()):
        time.sleep(1)
    return 0


def _element_type(layer: Layer | None) -> str | None:
    return None if layer is None else layer.attribute("element_type")


PROGRAMS: dict[str, Callable[[Path], int]] = {
    "crash-reshape-matmul": lambda path: crash_on(feeds(irshape.load(path), "Reshape", "MatMul")),
    "crash-rotary": lambda path: crash_on(feeds(irshape.load(path), "Slice", "Multiply")),
    "refuse-f64": lambda path: refuse(
        "this device has no f64",
        any(
            port.precision == "FP64" for each in irshape.load(path).walk() for port in each.outputs
        ),
    ),
    "refuse-strings": lambda path: refuse(
        "this device has no strings",
        any(
            port.precision == "STRING"
            for each in irshape.load(path).walk()
            for port in each.outputs
        ),
    ),
    "refuse-zero-point": lambda path: refuse(
        "zero points of u4 are not supported",
        any(
            fed.layer.type == "Convert" and _element_type(fed.sources[0]) == "u4"
            for fed in connected(irshape.load(path))
        )
        and feeds(irshape.load(path), "Convert", "Subtract"),
    ),
    "refuse-codebook": lambda path: refuse(
        "a codebook of f8e4m3 cannot be gathered from",
        any(
            fed.layer.type == "Convert" and _element_type(fed.sources[0]) == "f8e4m3"
            for fed in connected(irshape.load(path))
        ),
    ),
    "refuse-state": lambda path: refuse(
        "variables of dynamic shape are not supported",
        any(
            layer.type == "ReadValue" and "?" in (layer.attribute("variable_shape") or "")
            for layer in irshape.load(path).walk()
        ),
    ),
    "refuse-large-weights": lambda path: refuse(
        "out of memory on the device",
        any(array.nbytes >= 10_000 for _, array in constants(irshape.load(path))),
    ),
    "refuse-outlier": lambda path: refuse(
        "weights out of range",
        any(
            fed.layer.type == "Convolution"
            and fed.sources[1] is not None
            and fed.sources[1].is_constant
            and np.abs(irshape.load(path).constant(fed.sources[1]).array()).max() > 1000
            for fed in connected(irshape.load(path))
        ),
    ),
    "refuse-residual": lambda path: refuse("fusion failed", _residual(irshape.load(path))),
    "refuse-levels": lambda path: refuse(
        "a division by zero",
        any(layer.attribute("levels") == "1" for layer in irshape.load(path).walk()),
    ),
    "hang-gather": lambda path: _hangs(irshape.load(path)),
    "nan": lambda path: refuse("an output is not a number", has_nan(irshape.load(path))),
    "overflow": lambda path: refuse("an output overflows in f16", overflows(irshape.load(path))),
    "wrong-attention": lambda path: refuse(
        "the outputs differ",
        differs(irshape.load(path), "ScaledDotProductAttention", causal="true"),
    ),
    "wrong-mvn": lambda path: refuse(
        "the outputs differ", differs(irshape.load(path), "MVN", eps="0.5")
    ),
    "openvino-read": lambda path: openvino(path, compile=False),
    "openvino-compile": openvino,
    "openvino-run": lambda path: openvino(path, run=True),
}
"""The faulty programs, by name. Each returns its exit status, or crashes."""


# how the faults are planted


def first(graph: Graph, type: str, number: int = 0) -> GraphLayer:
    layers = [layer for layer in graph if layer.type == type]
    if not layers:
        raise NoPlace
    return layers[min(number, len(layers) - 1)]


def planted_after(type: str, number: int, *chain: tuple[str, dict[str, object]]) -> Planter:
    """Puts layers of one input behind the layer of a type."""

    def plant(path: Path, target: Path) -> None:
        graph = Graph.load(path)
        output = old = first(graph, type, number).outputs[0]
        users = old.users
        for kind, attributes in chain:
            output = graph.add(kind, output, **attributes)
        old.replace_uses(output, users)
        graph.save(target)

    return plant


def as_it_is(path: Path, target: Path) -> None:
    """The fault is in the program alone."""
    irshape.save(path, target)


def in_text(pattern: str, replacement: str, number: int = 0) -> Planter:
    """Changes the text of the model at one place."""

    def plant(path: Path, target: Path) -> None:
        irshape.save(path, target)
        text = target.read_text()
        matches = list(re.finditer(pattern, text))
        if not matches:
            raise NoPlace
        match = matches[min(number, len(matches) - 1)]
        target.write_text(text[: match.start()] + match.expand(replacement) + text[match.end() :])

    return plant


def with_weights(type: str, number: int, change: Callable[[np.ndarray], np.ndarray]) -> Planter:
    """Changes the weights of a layer: the constant that is its second input."""

    def plant(path: Path, target: Path) -> None:
        graph = Graph.load(path)
        layers = [
            layer
            for layer in graph
            if layer.type == type and layer.inputs[1].source.layer.value is not None
        ]
        if not layers:
            raise NoPlace
        end = layers[min(number, len(layers) - 1)].inputs[1]
        value = end.source.layer.value
        assert value is not None
        end.source = graph.constant(change(value.copy()))
        graph.save(target)

    return plant


def nan_weight(weights: np.ndarray) -> np.ndarray:
    weights.reshape(-1)[weights.size // 3] = np.nan
    return weights


def outlier(weights: np.ndarray) -> np.ndarray:
    weights.reshape(-1)[weights.size // 2] = 4096
    return weights


def with_state(path: Path, target: Path) -> None:
    graph = Graph.load(path)
    output = next(
        (
            layer.outputs[0]
            for layer in graph
            if layer.type == "MatMul" and len(layer.outputs[0].shape.dims or ()) == 3
        ),
        None,
    )
    if output is None:
        raise NoPlace
    users = output.users
    read = graph.add(
        "ReadValue",
        output,
        variable_id="state",
        variable_type=str(output.element_type),
        variable_shape="[?,?,?]",
    )
    total = graph.add("Add", output, read)
    output.replace_uses(total, users)
    graph.add_layer("Assign", total, variable_id="state")
    graph.save(target)


def with_softmax(path: Path, target: Path) -> None:
    graph = Graph.load(path)
    output = first(graph, "MVN", 12).outputs[0]
    users = output.users
    output.replace_uses(graph.add("SoftMax", output, axis=1, opset=1), users)
    graph.save(target)
    text = target.read_text()
    start = text.index('type="SoftMax" version="opset1"')
    target.write_text(text[:start] + text[start:].replace('<data axis="1" />', "", 1))


def with_dynamic_rank(path: Path, target: Path) -> None:
    graph = Graph.load(path)
    output = first(graph, "Add", 5).outputs[0]
    axes = graph.parameter("i64", "[?]", name="axes")
    graph.result(graph.add("Unsqueeze", output, axes), "unsqueezed")
    graph.save(target)


def with_columns(path: Path, target: Path) -> None:
    """A Col2Im without its strides, at which OpenVINO's reader crashes."""
    graph = Graph.load(path)
    graph.result(
        graph.add(
            "Col2Im",
            np.ones((1, 12, 9), np.float32),
            np.array([4, 4]),
            np.array([2, 2]),
            strides=[1, 1],
            dilations=[1, 1],
            pads_begin=[0, 0],
            pads_end=[0, 0],
        )
    )
    graph.save(target)
    text = target.read_text()
    start = text.index('type="Col2Im"')
    target.write_text(text[:start] + re.sub(r' strides="[^"]*"', "", text[start:], count=1))


Planter = Callable[[Path, Path], None]

IRSHAPE = (sys.executable, "-m", "irshape")


class Fault(NamedTuple):
    """A fault, where it is planted, and the command that fails for it."""

    what: str
    network: str
    """The network that is preferred, by the name of its file."""
    plant: Planter
    command: tuple[str, ...]
    """A name of PROGRAMS, or the words of a command."""
    contains: str | None = None
    timeout: float | None = None


def irshape_command(*words: str) -> tuple[str, ...]:
    return (*IRSHAPE, *words)


FAULTS: dict[str, Fault] = {
    "crosscheck": Fault(
        "crosscheck blames a SoftMax-1 without axis, which OpenVINO takes for 0 instead of 1",
        "vit_12",
        with_softmax,
        irshape_command("crosscheck", "{}"),
        "by itself.*SoftMax",
    ),
    "release": Fault(
        "an operation that OpenVINO 2023.0 cannot read",
        "bert_12",
        as_it_is,
        irshape_command("validate", "--target", "2023.0", "{}"),
        "IR60",
    ),
    "reader-segfault": Fault(
        "OpenVINO's reader crashes at a Col2Im without strides",
        "mobilenet_v2",
        with_columns,
        ("openvino-read",),
    ),
    "reader-refuses": Fault(
        "OpenVINO's reader refuses an auto_pad of no meaning",
        "resnet_static",
        in_text(r'auto_pad="explicit"', 'auto_pad="banana"', 20),
        ("openvino-read",),
        "banana",
    ),
    "plugin-refuses": Fault(
        "the CPU plugin cannot compile an output of dynamic rank",
        "gpt2_12",
        with_dynamic_rank,
        ("openvino-compile",),
    ),
    "crash-chain": Fault(
        "a reader crashes where a Reshape feeds a MatMul",
        "bart",
        as_it_is,
        ("crash-reshape-matmul",),
    ),
    "crash-rotary": Fault(
        "a reader crashes where a Slice feeds a Multiply",
        "phi_24",
        as_it_is,
        ("crash-rotary",),
    ),
    "f64": Fault(
        "a device refuses f64",
        "swin",
        planted_after(
            "Add",
            40,
            ("Convert", {"destination_type": "f64"}),
            ("Tanh", {}),
            ("Convert", {"destination_type": "f32"}),
        ),
        ("refuse-f64",),
    ),
    "zero-point": Fault(
        "a device refuses zero points of u4",
        "bert_12_int4_asym",
        as_it_is,
        ("refuse-zero-point",),
    ),
    "codebook": Fault(
        "a device refuses codebooks of f8e4m3",
        "bert_12_cb4",
        as_it_is,
        ("refuse-codebook",),
    ),
    "state": Fault(
        "a device refuses variables of dynamic shape",
        "phi_6",
        with_state,
        ("refuse-state",),
    ),
    "memory": Fault(
        "a device has no room for a constant of 10,000 bytes",
        "convnext",
        as_it_is,
        ("refuse-large-weights",),
    ),
    "outlier": Fault(
        "a device refuses a Convolution with one weight of 4,096",
        "mobilenet_v2",
        with_weights("Convolution", 17, outlier),
        ("refuse-outlier",),
    ),
    "fusion": Fault(
        "a compiler fails at an Add that joins a tensor and what becomes of it",
        "vit_12",
        as_it_is,
        ("refuse-residual",),
    ),
    "levels": Fault(
        "a device divides by levels - 1 of a FakeQuantize",
        "mobilenet_v2_int8",
        in_text(r'levels="256"', 'levels="1"', 25),
        ("refuse-levels",),
    ),
    "hang": Fault(
        "a converter never ends at a GatherElements",
        "bert_12",
        as_it_is,
        ("hang-gather",),
        timeout=5,
    ),
    "nan": Fault(
        "a weight is NaN, and so are the outputs",
        "convnext",
        with_weights("MatMul", 20, nan_weight),
        ("nan",),
    ),
    "nan-domain": Fault(
        "a Log of negative numbers makes the outputs NaN",
        "vit_12",
        planted_after("MVN", 10, ("Log", {})),
        ("nan",),
    ),
    "overflow": Fault(
        "a tensor overflows in f16, and only there",
        "vit_12",
        planted_after("MVN", 10, ("Exp", {}), ("Exp", {}), ("Log", {})),
        ("overflow",),
    ),
    "kernel": Fault(
        "a device computes every attention as a causal one",
        "vit_12",
        as_it_is,
        ("wrong-attention",),
    ),
    "kernel-eps": Fault(
        "a device takes another epsilon in MVN",
        "bert_12",
        as_it_is,
        ("wrong-mvn",),
    ),
    "declared": Fault(
        "a port declares another shape than the layer has",
        "resnet_static",
        in_text(
            r'(?s)(type="ReLU"(?:(?!</layer>).)*?<output>\s*<port[^>]*>\s*<dim>)(-?\d+)',
            r"\g<1>77",
            30,
        ),
        irshape_command("validate", "{}"),
        "IR201",
    ),
    "unknown": Fault(
        "a file has an operation that nobody knows",
        "swin",
        in_text(r'type="Roll"', 'type="Rol"', 4),
        irshape_command("validate", "{}"),
        "Rol",
    ),
    "edge": Fault(
        "an edge begins at a layer that does not exist",
        "gpt2_12",
        in_text(r'<edge from-layer="\d+"', '<edge from-layer="99999"', 300),
        irshape_command("validate", "{}"),
        "99999",
    ),
}


# the reductions


class Reduced(NamedTuple):
    name: str
    network: str
    before: int
    after: list[str]
    """The types of the layers that are left, besides Parameters, Constants and Results."""
    others: int
    tries: int
    seconds: float
    sound: bool
    """Whether `validate` finds no error, or none of another rule than in the original."""

    @property
    def passed(self) -> bool:
        return len(self.after) <= MAX_LAYERS and self.sound


def computing(model: Model) -> list[str]:
    plain = ("parameter", "const", "result")
    return [layer.type for layer in model.walk() if layer.folded_type not in plain]


def errors(model: Path | Model) -> set[str]:
    """The codes of all errors, those that stand under another finding included."""
    return {
        code
        for each in irshape.validate(model).diagnostics
        for code, severity in (
            (each.code, each.severity),
            *((under["code"], under["severity"]) for under in each.related),
        )
        if severity == "error"
    }


def command_of(fault: Fault) -> tuple[str, ...]:
    if fault.command[0] in PROGRAMS:
        return (sys.executable, __file__, "--program", fault.command[0], "{}")
    return fault.command


def reduced(name: str, networks: dict[str, Path], folder: Path, *options: str) -> Reduced:
    """Plants a fault, and reduces the network by the command. Raises `NoPlace`."""
    fault = FAULTS[name]
    ordered = sorted(networks, key=lambda each: each != fault.network)
    model, small = folder / f"{name}.xml", folder / f"{name}.reduced.xml"
    for network in ordered:
        try:
            fault.plant(networks[network], model)
            break
        except NoPlace:
            continue
    else:
        raise NoPlace(name)
    words = [*IRSHAPE, "reduce", str(model), "-o", str(small), *options]
    if fault.contains is not None:
        words += ["--contains", fault.contains]
    if fault.timeout is not None:
        words += ["--timeout", str(fault.timeout)]
    words += ["--", *command_of(fault)]
    start = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stdout}{done.stderr}")
    counted = re.search(r"irshape: ([\d,]+) tr", done.stderr)
    result = irshape.load(small)
    before = computing(irshape.load(model))
    left = computing(result)
    return Reduced(
        name,
        network,
        len(before),
        left,
        sum(1 for _ in result.walk()) - len(left),
        int(counted[1].replace(",", "")) if counted else 0,
        seconds,
        errors(small) <= errors(model),
    )


def networks_in(paths: list[Path]) -> dict[str, Path]:
    files = [
        file
        for path in paths
        for file in (sorted(path.rglob("*.xml")) if path.is_dir() else [path])
    ]
    return {file.stem: file for file in files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("networks", nargs="*", type=Path)
    parser.add_argument("--only", action="append", choices=[*FAULTS])
    parser.add_argument("--table", action="store_true", help="print a table in Markdown")
    parser.add_argument(
        "--keep", type=Path, help="a folder for the models, in place of a temporary one"
    )
    parser.add_argument("--program", choices=[*PROGRAMS], help="be a faulty program")
    given = parser.parse_args()
    if given.program:
        sys.exit(PROGRAMS[given.program](given.networks[0]))
    networks = networks_in(given.networks)
    if given.table:
        print("| fault | network | layers | left | tries | seconds |\n|---|---|--:|---|--:|--:|")
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.only or FAULTS:
            try:
                row = reduced(name, networks, given.keep or Path(temporary))
            except (NoPlace, RuntimeError) as problem:
                print(f"{name}: {problem!r}", file=sys.stderr, flush=True)
                failed.append(name)
                continue
            if not row.passed:
                failed.append(name)
            left = ", ".join(row.after) or "none"
            cells = [
                FAULTS[name].what if given.table else name,
                row.network,
                f"{row.before:,}",
                f"{len(row.after)}: {left}" if row.after else "0",
                str(row.tries),
                f"{row.seconds:.0f}",
            ]
            end = "" if row.passed else " FAILED"
            print("| " + " | ".join(cells) + " |" + end, flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
