"""Writes variants of small models for device_facts.py: inputs of other element types and shapes.

usage: device_variants.py [--models 2] MODELS OUT

For each version of an operation it takes some models of a few layers from the folder MODELS. The
inputs of one element type get each other type, in the shapes of the model and in dynamic ones; or
all inputs get dynamic dimensions, intervals, or up to three axes more. What OpenVINO does not read
is left out, so is what two variants have in common. It also writes models with a variable of each
rank.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import irshape

TYPES = ("f16", "f64", "bf16", "i64", "i32", "i16", "i8", "u64", "u8", "boolean")
INPUT = re.compile(r'type="Parameter"[^>]*>\s*<data [^>]*>')
MOST_LAYERS = 8


def chosen(folder: Path, count: int) -> list[Path]:
    """The models with the fewest layers of each operation version, static ones first."""
    ranked = defaultdict(list)
    for path in sorted(folder.rglob("*.xml")):
        try:
            model = irshape.load(str(path))
        except irshape.LoadError:
            continue
        shapes = [layer.attribute("shape") or "" for layer in model.layers if layer.is_parameter]
        if not shapes or "..." in shapes or len(list(model.walk())) > MOST_LAYERS:
            continue
        dynamic = any("?" in shape or ".." in shape for shape in shapes)
        mixed = hashlib.sha1(path.name.encode()).hexdigest()
        for layer in model.layers:
            rank = dynamic, len(model.layers), mixed, path
            ranked[layer.type, layer.version].append(rank)
    return sorted({each[-1] for ranks in ranked.values() for each in sorted(ranks)[:count]})


def shaped(text: str, change: Callable[[str], str]) -> str:
    """The model with each dimension of its inputs changed."""

    def one(found: re.Match[str]) -> str:
        shape = found[1] and ",".join(map(change, found[1].split(",")))
        return f'shape="{shape}"'

    return INPUT.sub(lambda input: re.sub(r'shape="([^"]*)"', one, input[0]), text)


def wider(input: str, axes: str) -> str:
    """An input with more axes at the front."""
    return input.replace('shape="', f'shape="{axes}')


def retyped(text: str, old: str, new: str) -> str:
    """The model with the inputs of one element type, in quotes, of another."""
    return INPUT.sub(lambda input: input[0].replace(old, new), text)


def variants(text: str) -> Iterator[tuple[str, str]]:
    """The variants of a model, with their names."""
    dynamic = shaped(text, lambda dim: "?")
    yield "dynamic", dynamic
    yield "interval", shaped(text, lambda dim: f"1..{dim}" if dim.strip().isdecimal() else dim)
    for name, axes in (("rank", "1,"), ("rank-2", "1,1,"), ("rank-3", "1,1,1,")):
        yield (
            name,
            INPUT.sub(lambda each, axes=axes: each[0].replace('shape="', f'shape="{axes}'), text),
        )
    for old in sorted(set(re.findall(r'element_type="(\w+)"', " ".join(INPUT.findall(text))))):
        for new in TYPES:
            for shapes, model in (("", text), ("-dynamic", dynamic)):
                yield f"{old}-{new}{shapes}", retyped(model, f'"{old}"', f'"{new}"')


def write_variables(folder: Path) -> None:
    """Writes models with a variable: static, of any batch, or a cache that grows with each run."""
    sizes, folder = (2, 4, 6, 3, 2, 2), folder / "variables"
    folder.mkdir(parents=True, exist_ok=True)
    for rank, type, kind in product(
        range(1, 7), ("f32", "f16", "i32", "i64", "u8", "boolean"), ("static", "batch", "cache")
    ):
        dynamic = {"static": (), "batch": (0,), "cache": (0, min(2, rank - 1))}[kind]
        shape = [-1 if axis in dynamic else size for axis, size in enumerate(sizes[:rank])]
        graph = irshape.Graph()
        x, past = (graph.parameter(type, shape, name=name) for name in ("x", "past"))
        if kind == "cache":
            value = irshape.op.concat(past, x, axis=min(2, rank - 1))
        else:
            value = (irshape.op.logical_or if type == "boolean" else irshape.op.maximum)(past, x)
        graph.result(value, "next")
        graph.result(value, "y")
        of_cache = {"beam_idx": "beam_idx", "batch_from": "x"} if kind == "cache" else {}
        graph.make_stateful({"past": "next"}, **of_cache)
        graph.save(folder / f"state_of_rank_{rank}_{type}_{kind}.xml")


def main() -> None:
    import openvino

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", type=int, default=2, dest="count")
    given = parser.parse_args()
    write_variables(given.out)
    core, written = openvino.Core(), set()
    for source in chosen(given.models, given.count):
        folder = given.out / str(source.relative_to(given.models).with_suffix("")).replace("/", "+")
        for name, text in variants(source.read_text("utf-8")):
            if text in written:
                continue
            written.add(text)
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{name}.xml"
            path.write_text(text, "utf-8")
            if source.with_suffix(".bin").exists():
                shutil.copy(source.with_suffix(".bin"), path.with_suffix(".bin"))
            try:
                core.read_model(path)
            except RuntimeError:
                path.unlink()


if __name__ == "__main__":
    main()
