"""How well single faults are told and cured, kind by kind, as a Markdown table.

python tests/mutation/measure.py [--places N] [--kinds a,b] [--misses FILE] [--two] FILE…

Every kind of `faults`, `single_faults`, `structure_faults`, `hand_faults` and `text_faults` is
planted at up to N places of each file. Of the places where the fault contradicts anything: how
often there is exactly one error or warning, how often it is at the element that was changed (a
dimension counts as its port; of what is missing, the layer that lacks it), how often the safe
fixes, and those with `unsafe`, give the original back, how often the original is among the first
three candidates, and how many fixes leave more errors and warnings than there were.

With --two, faults of two kinds are planted in two layers of one file, and it is counted how often
an error or warning stands at each.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

from lxml import etree

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from faults import FAULTS, Where  # noqa: E402
from hand_faults import HAND_FAULTS, HAND_SLIPS  # noqa: E402
from single_faults import SINGLE_FAULTS  # noqa: E402
from structure_faults import STRUCTURE_FAULTS  # noqa: E402
from text_faults import TEXT_FAULTS, VALUE_FAULTS  # noqa: E402

import irshape  # noqa: E402

KINDS = FAULTS | SINGLE_FAULTS | STRUCTURE_FAULTS | HAND_FAULTS
SLIPS = TEXT_FAULTS | HAND_SLIPS
LOST = {*VALUE_FAULTS, "truncated-file", "ampersand", "deleted-layer"}
"""Kinds of faults after which nothing in the file says what was there."""
COLUMNS = ("places", "silent", "one", "at", "safe", "unsafe", "three", "worse")


def canonical(data: bytes) -> bytes:
    """The document without white space between elements, its edges in one order."""
    parser = etree.XMLParser(remove_blank_text=True)
    root = etree.fromstring(data, parser)
    for group in root.iter("edges"):
        group[:] = sorted(group, key=lambda edge: sorted(edge.attrib.items()))
    return etree.tostring(root, method="c14n")


def serialised(tree: etree._Element) -> bytes:
    return bytes(etree.tostring(tree, encoding="utf-8", xml_declaration=True))


def graver(diagnostics: list) -> list:
    return [each for each in diagnostics if each.severity != "info"]


class Text:
    """Where the elements of a document stand, by line."""

    def __init__(self, data: bytes) -> None:
        self.opened: list[tuple[int, int, str, dict[str, str], int]] = []
        """First line, last line, name, attributes and index of the parent, in file order."""
        stack: list[int] = []
        parser = ParserCreate()
        rows: list[list[Any]] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            parent = stack[-1] if stack else -1
            stack.append(len(rows))
            line = parser.CurrentLineNumber
            rows.append([line, line, name, attributes, parent])

        def end(name: str) -> None:
            rows[stack.pop()][1] = parser.CurrentLineNumber

        parser.StartElementHandler, parser.EndElementHandler = start, end
        with suppress(ExpatError):
            parser.Parse(data, True)
        self.opened = [tuple(row) for row in rows]

    def elements(self, line: int) -> set[int]:
        """The lines of the elements that begin in a line, of ports for their dimensions.

        Where none begins there, that around the line.
        """
        starting = [row for row in self.opened if row[0] == line]
        if starting:
            lines = {line}
            lines.update(self.opened[row[4]][0] for row in starting if row[2] == "dim")
            return lines
        around = [row for row in self.opened if row[0] <= line <= row[1]]
        return {around[-1][0]} if around else {line}

    def layer_at(self, line: int) -> set[int]:
        """The line of the innermost layer around a line."""
        around = [row for row in self.opened if row[0] <= line <= row[1] and row[2] == "layer"]
        return {around[-1][0]} if around else set()


def expected_lines(before: bytes, after: bytes, where: Where | None) -> set[int]:
    """The lines of the elements that were changed, where a finding stands rightly."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    tail = next(
        (i for i, (a, b) in enumerate(zip(old[:start:-1], new[:start:-1], strict=False)) if a != b),
        max(0, min(len(old), len(new)) - start - 1),
    )
    text = Text(after)
    lines: set[int] = set()
    if len(old) == len(new):
        for line, (a, b) in enumerate(zip(old, new, strict=True), 1):
            lines |= text.elements(line) if a != b else set()
        return lines
    matcher = SequenceMatcher(
        None, old[start : len(old) - tail], new[start : len(new) - tail], autojunk=False
    )
    for how, a, b, c, d in matcher.get_opcodes():
        if how == "delete":
            lines |= text.elements(start + c) | text.layer_at(start + c)
            lines |= _lacking(old[start + a : start + b], text, where)
        elif how != "equal":
            for line in range(start + c + 1, start + d + 1):
                lines |= text.elements(line)
            if b - a > d - c:
                lines |= text.layer_at(start + c + 1)
                lines |= _lacking(old[start + a : start + b], text, where)
    return lines


def _lacking(lost: list[bytes], text: Text, where: Where | None) -> set[int]:
    """The layer from which an edge, or another layer, is gone: its ports and edges count."""
    if where is None or not any(b"<edge " in line or b"<layer " in line for line in lost):
        return set()
    owners = [row for row in text.opened if row[2] == "layer" and row[3].get("id") == where.id]
    number = re.search(rb'<layer [^>]*?id="(.*?)"', lost[0])
    edges = {
        row[0]
        for row in text.opened
        if row[2] == "edge"
        and number is not None
        and number[1].decode() in (row[3].get("from-layer"), row[3].get("to-layer"))
    }
    return edges.union(*(range(row[0], row[1] + 1) for row in owners))


def placed(diagnostics: list, where: Where | None, lines: set[int]) -> bool:
    """Whether the first error or warning is at an element that was changed."""
    if lines:
        return diagnostics[0].line in lines
    layer = diagnostics[0].layer
    return layer is not None and Where(tuple(layer["path"]), layer["id"]) == where


def candidates_of(fixes: object) -> list:
    return list(getattr(fixes, "candidates", ()))


def measure_one(
    path: Path, original: bytes, broken: bytes, where: Where | None, lines: set[int]
) -> dict[str, Any]:
    path.write_bytes(broken)
    diagnostics = graver(irshape.validate(path).diagnostics)
    answer: dict[str, Any] = {"places": 1, "silent": int(not diagnostics)}
    if not diagnostics:
        return answer
    answer["one"] = int(len(diagnostics) == 1)
    answer["at"] = int(placed(diagnostics, where, lines))
    answer["told"] = [f"{each.line} {each}" for each in diagnostics[:4]]
    if broken == original:
        return answer  # the fault is in the .bin, which nothing writes
    goal = canonical(original)
    safe = irshape.fix(path)
    answer["safe"] = int(gives(safe.data, goal))
    certain = len(safe.candidates) == 1 and safe.candidates[0].certain
    unsafe = safe if certain and answer["safe"] else irshape.fix(path, unsafe=True)
    answer["unsafe"] = int(gives(unsafe.data, goal))
    answer["worse"] = int(
        any(len(graver(each.remaining)) > len(diagnostics) for each in (safe, unsafe))
    )
    answer["three"] = int(
        answer["unsafe"]
        or answer["safe"]
        or any(
            gives(candidate.apply(broken), goal)
            for choice in safe.candidates
            for candidate in choice.alternatives[:3]
        )
    )
    answer["did"] = unsafe.diff()[-600:]
    answer["listed"] = [
        candidate.change for choice in safe.candidates for candidate in choice.alternatives
    ]
    return answer


def gives(data: bytes, goal: bytes) -> bool:
    try:
        return canonical(data) == goal
    except etree.XMLSyntaxError:
        return False


class Planted(NamedTuple):
    """A file with a fault."""

    place: int
    where: Where | None
    text: bytes
    weights: bytes | None = None
    """The .bin, if the fault is there."""


def sample(kind: str, count: int, places: int, seed: str) -> set[int]:
    return set(random.Random(f"{seed} {kind}").sample(range(count), min(count, places)))


def planted(
    root: etree._Element, original: bytes, weights: bytes, kind: str, places: int, seed: str
) -> Iterator[Planted]:
    """The model with a fault, for a sample of the places."""
    if kind in KINDS:
        count = sum(1 for _ in KINDS[kind](root))
        chosen = sample(kind, count, places, seed)
        for index, where in enumerate(KINDS[kind](root)):
            if index in chosen:
                yield Planted(index, where, serialised(root))
    elif kind in SLIPS:
        edits = list(SLIPS[kind](original))
        for index in sorted(sample(kind, len(edits), places, seed)):
            start, end, text = edits[index]
            yield Planted(index, None, original[:start] + text + original[end:])
    else:
        patches = list(VALUE_FAULTS[kind](root, weights))
        for index in sorted(sample(kind, len(patches), places, seed)):
            where, offset, content = patches[index]
            changed = weights[:offset] + content + weights[offset + len(content) :]
            yield Planted(index, where, original, changed)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--places", type=int, default=3)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--misses", type=Path)
    parser.add_argument("--seed", default="")
    parser.add_argument("--share", type=float, default=1.0, help="of the kinds, in each file")
    parser.add_argument("--two", type=int, default=0, help="pairs of faults in each file")
    options = parser.parse_args()
    kinds = options.kinds.split(",") if options.kinds else [*KINDS, *SLIPS, *VALUE_FAULTS]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    misses: list[dict[str, Any]] = []
    if options.two:
        print(two_faults(options.files, options.two, options.seed))
        return
    for model in options.files:
        chosen = random.Random(options.seed + model.name)
        of_file = [kind for kind in kinds if chosen.random() < options.share]
        measure_file(model, of_file, options.places, options.seed, counts, misses)
        print(model, file=sys.stderr)
    if options.misses:
        options.misses.write_text("".join(json.dumps(miss) + "\n" for miss in misses))
    show(counts)


def measure_file(
    model: Path,
    kinds: list[str],
    places: int,
    seed: str,
    counts: dict[str, Counter[str]],
    misses: list[dict[str, Any]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / model.name
        weights = model.with_suffix(".bin")
        content = weights.read_bytes() if weights.exists() else b""
        if weights.exists():
            shutil.copyfile(weights, path.with_suffix(".bin"))
        root = etree.parse(model).getroot()
        original = serialised(root)
        path.write_bytes(original)
        if graver(irshape.validate(path).diagnostics):
            print(f"{model} is not sound", file=sys.stderr)
            return
        for kind in kinds:
            for fault in planted(root, original, content, kind, places, seed + model.name):
                if fault.weights is not None:
                    path.with_suffix(".bin").write_bytes(fault.weights)
                    lines = element_lines(original, fault.where)
                elif kind in SLIPS:
                    lines = slip_lines(original, fault.text)
                else:
                    lines = expected_lines(original, fault.text, fault.where)
                answer = measure_one(path, original, fault.text, fault.where, lines)
                if fault.weights is not None:
                    path.with_suffix(".bin").write_bytes(content)
                for column in COLUMNS:
                    counts[kind][column] += int(answer.get(column, 0))
                columns = ("one", "at", "safe", "unsafe", "three")
                lost = [c for c in columns if not answer.get(c, fault.weights is not None)]
                if (not answer["silent"] and lost) or answer.get("worse"):
                    answer = {k: answer.get(k) for k in ("told", "did", "listed", "worse")}
                    place = {"file": str(model), "kind": kind, "place": fault.place}
                    misses.append(
                        {
                            **place,
                            "where": str(fault.where),
                            "lines": sorted(lines)[:5],
                            "lost": lost,
                            **answer,
                        }
                    )


def slip_lines(before: bytes, after: bytes) -> set[int]:
    """The line of the first byte that differs, and that of the element around it."""
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    line = before.count(b"\n", 0, start) + 1
    around = [row for row in Text(before).opened if row[0] <= line <= row[1]]
    if re.fullmatch(rb"<\w+>", before.split(b"\n")[line - 1].strip()):
        return {line, line + 1}  # what follows the tag that is missing
    return {line, around[-1][0], *(around[row][0] for row in (-2,) if around[-1][2] == "dim")}


def two_faults(models: list[Path], count: int, seed: str) -> str:
    """How often both of two faults in different layers of a file are told."""
    told = total = silent = 0
    for model in models:
        chosen = random.Random(f"{seed} {model.name}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / model.name
            if model.with_suffix(".bin").exists():
                shutil.copyfile(model.with_suffix(".bin"), path.with_suffix(".bin"))
            for _ in range(count):
                pair = _two(etree.parse(model).getroot(), chosen)
                if pair is None:
                    continue
                texts, places = pair
                alone = [_diagnostics(path, text) for text in texts[:2]]
                if not all(alone):
                    silent += 1
                    continue
                total += 1
                both = _diagnostics(path, texts[2])
                told += all(
                    any(_stands(each, one, where) for each in both)
                    for one, where in zip(alone, places, strict=True)
                )
        print(model, told, total, file=sys.stderr)
    share = 100 * told / max(1, total)
    return f"{told} of {total} pairs are both told ({share:.1f} %); {silent} hold a silent fault"


def _diagnostics(path: Path, text: bytes) -> list[Any]:
    path.write_bytes(text)
    return graver(irshape.validate(path).diagnostics)


def _stands(diagnostic: Any, alone: list[Any], where: Where) -> bool:
    """Whether a finding is at the layer of a fault, or where that is told when it is alone."""
    layer = diagnostic.layer
    if layer is not None and Where(tuple(layer["path"]), layer["id"]) == where:
        return True
    return any(
        (diagnostic.code, layer and layer["id"]) == (other.code, other.layer and other.layer["id"])
        for other in alone
    )


def _two(
    root: etree._Element, chosen: random.Random
) -> tuple[list[bytes], tuple[Where, Where]] | None:
    """A model with one fault, with another, and with both."""
    kinds = chosen.sample(list(KINDS), 2)
    counts = [sum(1 for _ in KINDS[kind](root)) for kind in kinds]
    if not all(counts):
        return None
    at = [chosen.randrange(count) for count in counts]
    texts: list[bytes] = []
    second = None
    for index, where in enumerate(KINDS[kinds[1]](root)):
        if index == at[1]:
            second, texts = where, [serialised(root)]
    for index, where in enumerate(KINDS[kinds[0]](root)):
        if index != at[0] or second is None or where == second:
            continue
        texts.insert(0, serialised(root))
        try:
            for inner, other in enumerate(KINDS[kinds[1]](root)):
                if inner == at[1] and other == second:
                    texts.append(serialised(root))
        except (KeyError, ValueError, IndexError, AttributeError, AssertionError):
            return None  # the second kind does not understand a file with the first
        if len(texts) == 3:
            return texts, (where, second)
        return None
    return None


def element_lines(data: bytes, where: Where | None) -> set[int]:
    """The lines of a Const, and of those that have the same bytes."""
    opened = Text(data).opened
    rows = [
        row
        for row in opened
        if where is not None and row[2] == "layer" and row[3].get("id") == where.id
    ]
    offsets = {
        row[3]["offset"]
        for row in opened
        if row[2] == "data" and row[3].get("offset") and any(a[0] <= row[0] <= a[1] for a in rows)
    }
    rows = [
        opened[row[4]] for row in opened if row[2] == "data" and row[3].get("offset") in offsets
    ]
    return {line for row in rows for line in range(row[0], row[1] + 1)}


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
        f"{100 * count[column] / seen:.1f}"
        if seen and not (name.replace(" ", "-") in LOST and column not in ("one", "at"))
        else "–"
        for column in ("one", "at", "safe", "unsafe", "three")
    ]
    cells = [name, str(count["places"]), str(count["silent"]), *shares, str(count["worse"])]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
