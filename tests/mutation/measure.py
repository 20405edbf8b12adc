"""How well single faults are told and cured, kind by kind, as a Markdown table.

python tests/mutation/measure.py [--places N] [--kinds a,b] [--misses FILE] [--two] FILE…

Every kind of `faults` and `single_faults` is planted at N places of each file. Of the places where
the fault contradicts anything: how often there is exactly one error or warning, how often it is at
the layer that was changed (or the edge), how often the safe fixes, and those with `unsafe`, give
the original back, how often the original is among the first three candidates, and how many fixes
leave more errors and warnings than there were.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lxml import etree

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from faults import FAULTS, Where  # noqa: E402
from single_faults import SINGLE_FAULTS  # noqa: E402

import irshape  # noqa: E402

KINDS = FAULTS | SINGLE_FAULTS
COLUMNS = ("places", "silent", "one", "at", "safe", "unsafe", "three", "worse")


def canonical(data: bytes) -> bytes:
    """The document without white space between elements."""
    parser = etree.XMLParser(remove_blank_text=True)
    return etree.tostring(etree.fromstring(data, parser), method="c14n")


def serialised(tree: etree._Element) -> bytes:
    return bytes(etree.tostring(tree, encoding="utf-8", xml_declaration=True))


def graver(diagnostics: list) -> list:
    return [each for each in diagnostics if each.severity != "info"]


def placed(diagnostics: list, where: Where, lines: set[int]) -> bool:
    """Whether the first error or warning is at the layer, or in a line that was changed."""
    first = diagnostics[0]
    if first.line in lines:
        return True
    layer = first.layer
    return layer is not None and Where(tuple(layer["path"]), layer["id"]) == where


def changed_lines(before: bytes, after: bytes) -> set[int]:
    old, new = before.split(b"\n"), after.split(b"\n")
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    tail = next(
        (i for i, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b), 0
    )
    return set(range(start + 1, len(new) - tail + 1))


def candidates_of(fixes: object) -> list:
    return list(getattr(fixes, "candidates", ()))


def measure_one(path: Path, original: bytes, broken: bytes, where: Where) -> dict[str, object]:
    path.write_bytes(broken)
    diagnostics = graver(irshape.validate(path).diagnostics)
    answer: dict[str, object] = {"places": 1, "silent": int(not diagnostics)}
    if not diagnostics:
        return answer
    answer["one"] = int(len(diagnostics) == 1)
    answer["at"] = int(placed(diagnostics, where, changed_lines(original, broken)))
    goal = canonical(original)
    safe = irshape.fix(path)
    answer["safe"] = int(canonical(safe.data) == goal)
    takes_unsafe = "unsafe" in inspect.signature(irshape.fix).parameters
    unsafe = irshape.fix(path, unsafe=True) if takes_unsafe else safe
    answer["unsafe"] = int(canonical(unsafe.data) == goal)
    answer["worse"] = int(
        any(len(graver(each.remaining)) > len(diagnostics) for each in (safe, unsafe))
    )
    three = bool(answer["unsafe"] or answer["safe"])
    for choice in candidates_of(safe):
        for candidate in choice.alternatives[:3]:
            three = three or canonical(candidate.apply(broken)) == goal
    answer["three"] = int(three)
    answer["told"] = [f"{each}" for each in diagnostics[:4]]
    answer["did"] = unsafe.diff()[-600:]
    return answer


def planted(root: etree._Element, kind: str, places: int, seed: str):
    """The broken text and the layer of the fault, for a sample of the places."""
    count = sum(1 for _ in KINDS[kind](root))
    chosen = set(random.Random(f"{seed} {kind}").sample(range(count), min(count, places)))
    for index, where in enumerate(KINDS[kind](root)):
        if index in chosen:
            yield index, where, serialised(root)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--places", type=int, default=3)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--misses", type=Path)
    parser.add_argument("--seed", default="")
    options = parser.parse_args()
    kinds = options.kinds.split(",") if options.kinds else list(KINDS)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    misses = []
    for model in options.files:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / model.name
            weights = model.with_suffix(".bin")
            if weights.exists():
                shutil.copyfile(weights, path.with_suffix(".bin"))
            root = etree.parse(model).getroot()
            original = serialised(root)
            for kind in kinds:
                for index, where, broken in planted(
                    root, kind, options.places, options.seed + model.name
                ):
                    answer = measure_one(path, original, broken, where)
                    for column in COLUMNS:
                        counts[kind][column] += int(answer.get(column, 0))  # type: ignore[call-overload]
                    lost = [
                        c for c in ("one", "at", "safe", "unsafe", "three") if not answer.get(c)
                    ]
                    if (not answer["silent"] and lost) or answer.get("worse"):
                        misses.append(
                            {
                                "file": str(model),
                                "kind": kind,
                                "place": index,
                                "where": str(where),
                                "lost": lost,
                                **{k: answer[k] for k in ("told", "did", "worse")},
                            }
                        )
        print(model, file=sys.stderr)
    if options.misses:
        options.misses.write_text("".join(json.dumps(miss) + "\n" for miss in misses))
    show(counts)


def show(counts: dict[str, Counter[str]]) -> None:
    print(
        "| fault | places | silent | exactly one | at the element | safe | unsafe | "
        "first three | worse |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for kind, count in counts.items():
        total.update(count)
        print(row(kind.replace("-", " "), count))
    print(row("all", total))


def row(name: str, count: Counter[str]) -> str:
    seen = count["places"] - count["silent"]
    shares = [
        f"{100 * count[column] / seen:.1f}" if seen else "–"
        for column in ("one", "at", "safe", "unsafe", "three")
    ]
    cells = [name, str(count["places"]), str(count["silent"]), *shares, str(count["worse"])]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
