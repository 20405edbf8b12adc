"""Writes the pages of this folder. Needs numpy.

usage: python examples/pages/make.py [--measure]

Some pages show results of runs. These results depend on the processor, so they are stored here as
*.json; --measure runs the models again, which needs openvino.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import irshape
from irshape import op
from irshape.cli import cli

FOLDER = Path(__file__).resolve().parent
EXAMPLES = FOLDER.parent
COMMANDS = {
    "control_flow.html": "view control_flow.xml --histograms --target 2020.1",
    "two_inputs_that_do_not_fit.html": "validate broken.xml --view",
    "first_layer_that_differs.html": "view buckets.xml --crosscheck crosscheck.json",
    "ranges.html": "view buckets.xml --stats ranges.json",
    "what_changed.html": "diff classifier.xml changed.xml --view",
}
MEASUREMENTS = {
    "crosscheck.json": "crosscheck buckets.xml --input positions=positions.npy -f json -o",
    "ranges.json": "run buckets.xml --input positions=positions.npy --stats -f json",
}


def call(*arguments: str) -> str:
    """Runs a command of irshape; returns what it prints."""
    done = CliRunner().invoke(cli, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def buckets(folder: Path) -> None:
    """Writes a model that sorts distances into buckets, as attention with relative positions does.

    OpenVINO's CPU plugin rounds the quotient towards zero, where the specification rounds down.
    """
    graph = irshape.Graph()
    positions = graph.parameter("i32", "[2,8]", name="positions")
    distance = op.subtract(positions, np.int32(50), name="distance")
    bucket = op.divide(distance, np.int32(7), name="bucket")
    weight = op.multiply(op.convert(bucket, destination_type="f32"), np.float32(3), name="weight")
    energy = op.exp(weight, name="energy")
    total = op.reduce_sum(energy, np.int64([-1]), keep_dims=True, name="total")
    graph.result(op.divide(energy, total, name="shares"), "shares")
    graph.save(folder / "buckets.xml")
    values = np.arange(16, dtype=np.int32).reshape(2, 8) * 7
    np.save(folder / "positions.npy", values + 3)


def changed(folder: Path) -> None:
    """Writes a changed classifier: another activation, another axis of SoftMax."""
    graph = irshape.Graph.load(folder / "classifier.xml")
    relu = next(layer for layer in graph.layers if layer.type == "ReLU")
    relu.outputs[0].replace_uses(op.swish(relu.inputs[0].source, name="stem/swish"))
    relu.remove()
    softmax = next(layer for layer in graph.layers if layer.type == "SoftMax")
    softmax.set(axis=0)
    graph.save(folder / "changed.xml")


def broken(folder: Path) -> None:
    """Writes a classifier whose last MatMul lacks a transposition, so its inputs do not fit."""
    text = (folder / "classifier.xml").read_text(encoding="utf-8")
    head, turned, tail = text.rpartition('transpose_b="true"')
    assert turned
    (folder / "broken.xml").write_text(f'{head}transpose_b="false"{tail}', encoding="utf-8")
    shutil.copy(folder / "classifier.bin", folder / "broken.bin")


def pages(folder: Path, measure: bool) -> None:
    """Writes models, results and pages into a folder."""
    for stem in ("classifier", "control_flow"):
        for suffix in (".xml", ".bin"):
            shutil.copy(EXAMPLES / f"{stem}{suffix}", folder)
    for prepare in (buckets, changed, broken):
        prepare(folder)
    before = Path.cwd()
    os.chdir(folder)  # pages name their models as the commands do
    try:
        for name, command in MEASUREMENTS.items():
            if not measure:
                shutil.copy(FOLDER / name, folder)
            elif command.endswith("-o"):
                call(*command.split(), name)
            else:
                Path(name).write_text(call(*command.split()), encoding="utf-8")
        for name, command in COMMANDS.items():
            call(*command.split(), *(["-o"] if command.startswith("view") else []), name)
    finally:
        os.chdir(before)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        pages(Path(temporary), "--measure" in sys.argv[1:])
        for name in (*COMMANDS, *MEASUREMENTS):
            shutil.copy(Path(temporary) / name, FOLDER / name)
