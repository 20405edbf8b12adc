"""Measures which operations OpenVINO does not fold, and lists them for irshape.

usage: device_folding.py MODELS

MODELS is a folder of IRs. For each operation, some that have no other layer with inputs get
constants for their inputs, and the pass ConstantFolding runs over them, in a process that may
crash. Operations that stay in each of them go to `irshape/devices/tables/unfolded.tsv`.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

import irshape
from irshape.devices.facts import tables

SAMPLES = 30

FOLD = """
import math, sys, openvino as ov
from openvino.passes import ConstantFolding, Manager
for path in sys.argv[1:]:
    try:
        model = ov.Core().read_model(path)
        for input in model.get_parameters():
            zeros = [0] * math.prod(input.shape)
            constant = ov.op.Constant(input.element_type, input.shape, zeros)
            input.output(0).replace(constant.output(0))
        manager = Manager()
        manager.register_pass(ConstantFolding())
        manager.run_passes(model)
    except Exception:
        print("refused", flush=True)
        continue
    left = {each.get_type_name() for each in model.get_ops()} - {"Constant", "Parameter", "Result"}
    print("stays" if left else "folds", flush=True)
"""


def answers(paths: list[Path]) -> set[str]:
    """What became of models: `folds`, `stays`, `refused` or `crash`."""
    found: list[str] = []
    while len(found) < len(paths):
        command = [sys.executable, "-c", FOLD, *map(str, paths[len(found) :])]
        found += subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=False
        ).stdout.split()
        if len(found) < len(paths):
            found.append("crash")
    return set(found)


def main() -> None:
    import openvino

    samples = defaultdict(list)
    for path in sorted(Path(sys.argv[1]).rglob("*.xml")):
        try:
            layers = list(irshape.load(str(path)).walk())
        except irshape.LoadError:
            continue
        types = [each.type for each in layers if each.type not in ("Parameter", "Const", "Result")]
        shapes = " ".join(each.attribute("shape") or "" for each in layers)
        if len(types) == 1 and "?" not in shapes and ".." not in shapes:
            samples[types[0]].append(path)
    release = openvino.__version__.partition("-")[0]
    lines = [f"# release: {release}", f"# source: ConstantFolding of OpenVINO, {date.today()}"]
    for type_name, paths in sorted(samples.items()):
        found = answers(paths[:: -(-len(paths) // SAMPLES)])
        if "stays" in found and "folds" not in found:
            lines.append(type_name)
    Path(tables(), "unfolded.tsv").write_text("\n".join(lines) + "\n", "utf-8")


main()
