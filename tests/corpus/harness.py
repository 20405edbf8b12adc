"""Holds a reader of OpenVINO IR against the corpus beside this file: python harness.py READER

READER is a module with `shapes(xml)`, and `values(xml, inputs)` if it computes; see README.md.
"""

import importlib
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

CODES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "boolean": "?"} | {
    f"{sign}{8 * size}": f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)
}


def difference(reader, folder, case, values):
    """What differs in one case, in words; empty where nothing does."""
    try:
        shapes = reader.shapes(str(folder / case["model"]))
    except Exception as refusal:
        return f"refuses: {refusal}" if case["answer"] == "read" else ""
    if case["answer"] != "read":
        return "reads what OpenVINO refuses" if case["answer"] == "refused" else ""
    for name, outputs in case["outputs"].items():
        mine = [tuple(output) for output in shapes.get(name, ())]
        if mine != [tuple(output) for output in outputs]:
            return f"{name}: {mine}, not {outputs}"
    if not case["results"] or not hasattr(reader, "values"):
        return ""
    inputs = {entry["name"]: array(entry, values) for entry in case["inputs"]}
    try:
        results = reader.values(str(folder / case["model"]), inputs)
    except Exception as problem:
        return f"does not run: {problem}"
    for entry, result in zip(case["results"], results, strict=True):
        both = np.asarray(result), array(entry, values)
        if entry["element_type"] == "bf16":
            both = [(np.uint32(1 << 16) * each.view(np.uint16)).view("f4") for each in both]
        if both[0].shape != both[1].shape or not np.allclose(
            *both, case["rtol"], case["atol"], equal_nan=True
        ):
            return f"{entry['name']}: {both[0].ravel()[:4]}…, not {both[1].ravel()[:4]}…"
    return ""


def array(entry, values):
    """A tensor of the corpus; bf16 as u16."""
    code, end = "<" + CODES[entry["element_type"]], entry["offset"] + entry["size"]
    return np.frombuffer(values[entry["offset"] : end], code).reshape(entry["shape"])


def main(name, folder):
    reader, counts = importlib.import_module(name), Counter()
    values = (folder / "values").read_bytes()
    for case in json.loads((folder / "index.json").read_text(encoding="utf-8"))["cases"]:
        said = difference(reader, folder, case, values)
        verdict = ("arguable" if case["known"] else "differs") if said else "agrees"
        counts[verdict] += 1
        if verdict == "differs":
            print(f"{case['id']}: {said}")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return counts


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], Path(__file__).resolve().parent)["differs"] else 0)
