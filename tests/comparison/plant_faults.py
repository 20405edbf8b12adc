"""Plants faults in networks, and says whether the cross-check blames exactly the layers that have
them: `python tests/comparison/plant_faults.py [--hint bf16] [--sites N] MODEL.xml…`

Each network is cross-checked with OpenVINO once and recorded. Then one value of one constant is
altered in a copy of the .bin, and the copy is cross-checked against that recording. It prints a row
of Markdown for each network, and a line for each fault that is not found or does not stand alone.

It is no test: it takes minutes for a network, and networks worth it are made with torch and NNCF.
`tests/comparison/test_quantised.py` has the cases that it brought up.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import irshape
from irshape.comparison.recording import Recording
from irshape.model.graph import Layer
from irshape.model.wiring import wire

NARROW = ("i8", "u8", "i4", "u4", "u2", "nf4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0")
DECOMPRESSING = ("Convert", "Subtract", "Gather", "Multiply", "Reshape")
WEIGHTED = {"MatMul": 1, "Convolution": 1, "GroupConvolution": 1, "LSTMSequence": 4, "Gather": 0}
"""Operations by the input that is their weight in a network that is not compressed."""


class Site(NamedTuple):
    """A constant that one layer reads. kind: what it is to that layer."""

    kind: str
    constant: Layer
    reader: Layer


class Use(NamedTuple):
    """Who reads a constant: a layer by an input; and who reads that layer, by type and input."""

    reader: Layer
    port: int
    first_input: Layer | None
    following: list[tuple[str, int]]


def uses(model: irshape.Model) -> Iterator[tuple[Layer, Use]]:
    """The constants whose bytes are read by one layer only."""
    layers, wiring = model.net.layers, wire(model.net)
    readers: dict[int, list[tuple[int, int]]] = {}
    for position, sources in enumerate(wiring.sources):
        for port, source in enumerate(sources):
            if source is not None:
                readers.setdefault(source[0], []).append((position, port))
    places = {at: model.constant(each).offset for at, each in enumerate(layers) if each.is_constant}
    of_bytes: dict[int, set[int]] = {}
    for at, offset in places.items():
        of_bytes.setdefault(offset, set()).update(reader for reader, _ in readers.get(at, ()))
    for at, offset in places.items():
        if len(of_bytes[offset]) == 1 and model.constant(layers[at]).size:
            reader, port = readers[at][0]
            first = wiring.sources[reader][0]
            following = [(layers[user].type, taken) for user, taken in readers.get(reader, ())]
            fed_by = None if first is None else layers[first[0]]
            yield layers[at], Use(layers[reader], port, fed_by, following)


def kind_of(element_type: str, size: int, use: Use) -> str | None:
    """What a constant is to the layer that reads it; None for what is not altered."""
    type_name = use.reader.type
    if type_name == "FakeQuantize":
        return "limit" if use.port in (2, 4) else None
    if type_name == "Convert" and element_type in NARROW:
        for following, kind in ((("Subtract", 1), "zero point"), (("Multiply", 1), "scale")):
            if following in use.following:
                return kind
        if ("Gather", 0) in use.following:
            return "codebook" if size <= 256 else "weight"
        return "weight" if size > 256 or ("Gather", 1) in use.following else None
    if element_type not in ("f16", "f32"):
        return None
    if type_name == "Multiply" and use.port == 1 and use.first_input is not None:
        return "scale" if use.first_input.type in DECOMPRESSING else None
    if WEIGHTED.get(type_name) == use.port:
        return "weight"
    return "bias" if type_name == "Add" and size > 4 else None


def sites(model: irshape.Model) -> dict[str, list[Site]]:
    """What can be altered, by kind."""
    by_kind: dict[str, list[Site]] = {}
    for constant, use in uses(model):
        element_type = constant.attribute("element_type") or ""
        kind = kind_of(element_type, model.constant(constant).size, use)
        if kind is not None:
            by_kind.setdefault(kind, []).append(Site(kind, constant, use.reader))
    return by_kind


def altered(model: irshape.Model, site: Site, data: bytes) -> bytes:
    """The .bin with one element of a constant altered: the largest, or one in the middle."""
    constant = model.constant(site.constant)
    raw = bytearray(data[constant.offset : constant.offset + constant.size])
    element_type = site.constant.attribute("element_type") or ""
    if element_type in ("f32", "f16"):
        values = np.frombuffer(raw, np.float32 if element_type == "f32" else np.float16)
        place = int(np.argmax(np.abs(values)))
        values[place] = values[place] * 1.5 if values[place] else 1.5
    elif element_type in ("i8", "u8"):
        values = np.frombuffer(raw, np.int8 if element_type == "i8" else np.uint8)
        place = len(values) // 2
        values[place] = int(values[place]) + (-40 if values[place] > 40 else 40)
    else:
        raw[len(raw) // 2] ^= {"f8e4m3": 0x40, "f8e5m2": 0x08, "f8e8m0": 0x03}.get(
            element_type, 0x77
        )
    return data[: constant.offset] + bytes(raw) + data[constant.offset + constant.size :]


def has_effect(path: Path, copy: Path, recording: Path) -> bool:
    """Whether any tensor changes: what an altered weight is multiplied with may be 0 everywhere."""
    with Recording(recording) as kept:
        return not irshape.compare(path, copy, kept.inputs).ok


def planted(path: Path, hint: str | None, count: int, folder: Path) -> str:
    """The row of a network; what is not as it should be goes to stderr."""
    recording = folder / "unaltered.npz"
    clean = irshape.crosscheck(path, hint=hint, record=recording)  # type: ignore[arg-type]
    if not clean.ok:
        print(f"{path.stem}, unaltered: {clean}", file=sys.stderr)
    model = irshape.load(path)
    data = path.with_suffix(".bin").read_bytes()
    by_kind = sites(model)
    exact, false, total = 0, 0, 0
    for kind, alike in by_kind.items():
        step = max(len(alike) // count, 1)
        for site in alike[step // 2 :: step][:count]:
            copy = Path(shutil.copy(path, folder / path.name))
            copy.with_suffix(".bin").write_bytes(altered(model, site, data))
            if not has_effect(path, copy, recording):
                print(f"{path.stem}, {kind} of {site.reader.label}: no effect", file=sys.stderr)
                continue
            total += 1
            rows = irshape.crosscheck(copy, replay=recording).rows
            blamed = list({row.layer: row for row in rows if row.own_verdict == "differs"})
            right = bool(blamed) and blamed[0].id == site.reader.id
            exact += right
            false += len(blamed) - (site.reader.id in [layer.id for layer in blamed])
            if not right or len(blamed) > 1:
                said = ", ".join(layer.label for layer in blamed[:5]) or "nothing"
                print(f"{path.stem}, {kind} of {site.reader.label}: blamed {said}", file=sys.stderr)
    kinds = ", ".join(by_kind)
    return f"| {path.stem} | {kinds} | {total} | {exact} | {false} |"


def main() -> None:
    """The table of the networks that are given."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--hint", choices=["f32", "f16", "bf16"])
    parser.add_argument("--sites", type=int, default=1, help="faults of each kind")
    options = parser.parse_args()
    print("| network | altered | planted | found | false blames |\n|---|---|---|---|---|")
    for path in options.models:
        with tempfile.TemporaryDirectory() as folder:
            print(planted(path, options.hint, options.sites, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
