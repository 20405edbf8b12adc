"""Holds a reader of OpenVINO IR against the corpus beside this file: python harness.py READER

READER is a module with `shapes(xml)`, and `values(xml, inputs)` if it computes; see README.md.
"""

import importlib
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np


def difference(reader, case, path, stored):
    """What differs in one case, in words; empty where nothing does."""
    try:
        shapes = reader.shapes(path)
    except Exception as refusal:
        said = " ".join(str(refusal).split())[-200:]
        return f"refuses: {said}" if case["answer"] == "read" else ""
    if case["answer"] != "read":
        return "reads what OpenVINO refuses" if case["answer"] == "refused" else ""
    for name, outputs in case["outputs"].items():
        inferred = [list(output) for output in shapes.get(name, ())]
        if inferred != outputs:
            return f"{name}: {inferred}, not {outputs}"
    try:
        inputs = {entry["name"]: array(entry, stored) for entry in case["inputs"]}
        ran = case["results"] and hasattr(reader, "values")
        results = reader.values(path, inputs) if ran else []
    except Exception as problem:
        return f"does not run: {problem}"
    for entry, result in zip(case["results"], results, strict=bool(ran)):
        both = np.asarray(result), array(entry, stored)
        if entry["element_type"] == "bf16":  # the upper halves of f32
            both = [(each.view("u2") * np.uint32(65536)).view("f4") for each in both]
        close = case["rtol"], case["atol"], True
        if both[0].shape != both[1].shape or not np.allclose(*both, *close):
            return f"{entry['name']}: {both[0].ravel()[:4]}…, not {both[1].ravel()[:4]}…"
    return ""


def array(entry, stored):
    flat = np.frombuffer(stored[entry["offset"] :][: entry["size"]], entry["dtype"])
    return flat.reshape(entry["shape"])


def main(name, folder):
    reader, counts = importlib.import_module(name), Counter()
    stored = memoryview((folder / "values").read_bytes())
    for case in json.loads((folder / "index.json").read_text(encoding="utf-8"))["cases"]:
        said = difference(reader, case, str(folder / case["model"]), stored)
        verdict = ("arguable" if case["known"] else "differs") if said else "agrees"
        counts[verdict] += 1
        if verdict == "differs":
            print(f"{case['id']}: {said}")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return counts


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], Path(__file__).resolve().parent)["differs"] else 0)
