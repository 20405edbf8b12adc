"""Holds a reader of IR, a module as README.md says, against this corpus: harness.py READER"""

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np


def stored(entry, values):
    return np.ndarray(entry["shape"], entry["dtype"], values, entry["offset"])


def difference(reader, case, xml, values, said="refuses"):
    try:
        shapes = reader.shapes(xml)
        if case["answer"] != "read":
            return "reads what OpenVINO refuses" if case["answer"] == "refused" else ""
        for name, outputs in case["outputs"].items():
            if [*map(list, shapes.get(name, ()))] != outputs:
                return f"{name}: {shapes.get(name)}, not {outputs}"
        said, ran = "does not run", bool(case["results"]) and hasattr(reader, "values")
        inputs = {entry["name"]: stored(entry, values) for entry in case["inputs"]}
        results = reader.values(xml, inputs) if ran else ()
        for entry, result in zip(case["results"] if ran else (), results, strict=True):
            pair = [np.asarray(result), stored(entry, values)]
            if entry["element_type"] == "bf16":  # the upper halves of f32
                pair = [(each.view("u2") * np.uint32(65536)).view("f4") for each in pair]
            close = case["rtol"], case["atol"], True
            if pair[0].shape != pair[1].shape or not np.allclose(*pair, *close):
                return f"{entry['name']}: {pair[0].ravel()[:4]}…, not {pair[1].ravel()[:4]}…"
    except Exception as problem:
        return f"{said}: {' '.join(str(problem).split())[-200:]}" * (case["answer"] == "read")


def main(name, folder):
    reader, counts, values = import_module(name), Counter(), (folder / "values").read_bytes()
    for case in json.loads((folder / "index.json").read_text(encoding="utf-8"))["cases"]:
        said = difference(reader, case, str(folder / case["model"]), values)
        verdict = ("arguable" if case["known"] else "differs") if said else "agrees"
        counts[verdict] += 1
        if verdict == "differs":
            print(f"{case['id']}: {said}")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return counts


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], Path(__file__).resolve().parent)["differs"] else 0)
