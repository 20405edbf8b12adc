"""Two independent faults in one file: how often both are told."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from faults import Tree, Where
from judging import Judge, graver
from lxml import etree
from planting import KINDS, Original, serialised

import irshape


def two_faults(models: list[Path], count: int, seed: str) -> str:
    """How often both of two faults in different layers of a file are told."""
    told = total = silent = 0
    for model in models:
        chosen = random.Random(f"{seed} {model.name}")
        with Judge(Original(model)) as judge:
            for _ in range(count):
                pair = _two(etree.parse(model).getroot(), chosen)
                if pair is None:
                    continue
                kinds, texts, places = pair
                alone = [_diagnostics(judge.path, text) for text in texts[:2]]
                if not all(alone):
                    silent += 1
                    continue
                total += 1
                both = _diagnostics(judge.path, texts[2])
                if _both_told(both, alone, places):
                    told += 1
                    continue
                print(model, kinds, places, [str(each) for each in both[:4]], file=sys.stderr)
        print(model, told, total, file=sys.stderr)
    share = 100 * told / max(1, total)
    return f"{told} of {total} pairs are both told ({share:.1f} %); {silent} hold a silent fault"


def _diagnostics(path: Path, text: bytes) -> list[Any]:
    path.write_bytes(text)
    return graver(irshape.validate(path).diagnostics)


def _both_told(both: list[Any], alone: list[list[Any]], places: tuple[Where, Where]) -> bool:
    """Whether one finding stands for each fault, and another for the other."""
    here, there = (
        {index for index, each in enumerate(both) if _stands(each, one, where)}
        for one, where in zip(alone, places, strict=True)
    )
    return bool(here) and bool(there) and len(here | there) > 1


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
    root: Tree, chosen: random.Random
) -> tuple[tuple[str, str], list[bytes], tuple[Where, Where]] | None:
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
        return ((kinds[0], kinds[1]), texts, (where, second)) if len(texts) == 3 else None
    return None
