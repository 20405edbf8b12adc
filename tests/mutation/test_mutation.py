"""A fault put into a valid IR is always found at its layer; the untouched IR has no finding.

python tests/mutation/test_mutation.py [FILE…]     every fault at every place, beside OpenVINO
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from lxml import etree

HERE = Path(__file__).resolve().parent
if not __package__:
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from faults import FAULTS, Where  # noqa: E402

import irshape  # noqa: E402

EXAMPLES = sorted((HERE.parent.parent / "examples").glob("*.xml"))
PLACES = 2
"""How many places of a file a fault is put into, chosen at random but the same in every run."""
ONLY_WARNED = {"unknown-attribute"}
"""Faults that OpenVINO passes over and that change no result."""


def written(tree: etree._ElementTree, folder: Path, model: Path) -> Path:
    path = folder / model.name
    path.write_bytes(etree.tostring(tree, encoding="utf-8", xml_declaration=True))
    return path


def beside(folder: Path, model: Path) -> None:
    """The weights, where the changed file will look for them."""
    shutil.copyfile(model.with_suffix(".bin"), folder / f"{model.stem}.bin")


def missed(path: Path, expected: Where, name: str) -> str | None:
    """What is wrong with the answer to a file with a fault at a layer, or None."""
    wanted = ("error", "warning") if name in ONLY_WARNED else ("error",)
    found = [each for each in irshape.validate(path).diagnostics if each.severity in wanted]
    if not found:
        return "nothing is found"
    places = [Where(tuple(each.layer["path"]), each.layer["id"]) for each in found if each.layer]
    if expected not in places:
        return f"it is found at {places[:3] or 'no layer'}: {found[0].code} {found[0].message}"
    return None


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.stem)
def test_untouched(model: Path, tmp_path: Path) -> None:
    beside(tmp_path, model)
    report = irshape.validate(written(etree.parse(model), tmp_path, model))
    assert [found for found in report.diagnostics if found.severity != "info"] == []


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.stem)
def test_fault(model: Path, name: str, tmp_path: Path) -> None:
    beside(tmp_path, model)
    tree = etree.parse(model)
    places = sum(1 for _ in FAULTS[name](tree.getroot()))
    chosen = set(random.Random(f"{model.name} {name}").sample(range(places), min(places, PLACES)))
    wrong = []
    for at, expected in enumerate(FAULTS[name](tree.getroot())):
        if at in chosen and (answer := missed(written(tree, tmp_path, model), expected, name)):
            wrong.append(f"place {at}, layer {expected}: {answer}")
    assert wrong == []


def tried(model: Path) -> tuple[list[Counter[str]], list[str]]:
    """Tries every fault at every place of a model.

    Counts the faults, those that irshape finds and places and those that OpenVINO refuses; lists
    the ones that irshape misses.
    """
    from differential.oracle import Oracle

    total, ours, theirs = Counter[str](), Counter[str](), Counter[str]()
    lost = []
    with Oracle() as oracle, tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        beside(folder, model)
        tree = etree.parse(model)
        for name, fault in FAULTS.items():
            for at, expected in enumerate(fault(tree.getroot())):
                path = written(tree, folder, model)
                answer = missed(path, expected, name)
                total[name] += 1
                ours[name] += answer is None
                theirs[name] += oracle.ask_file(path).status != "accepted"
                if answer:
                    lost.append(
                        f"missed: {model.name} {name} place {at}, layer {expected}: {answer}"
                    )
    return [total, ours, theirs], lost


def main(models: list[Path]) -> None:
    counts = [Counter[str](), Counter[str](), Counter[str]()]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for found, lost in pool.map(tried, sorted(models, key=lambda model: -model.stat().st_size)):
            for sum_, one in zip(counts, found, strict=True):
                sum_.update(one)
            for line in lost:
                print(line, file=sys.stderr)
    print(
        "| fault | places | irshape finds it, at its layer | OpenVINO refuses the file |\n"
        "|---|---|---|---|"
    )
    for name in FAULTS:
        print(
            f"| {name.replace('-', ' ')} | {' | '.join(f'{count[name]:,}' for count in counts)} |"
        )
    print(f"| all | {' | '.join(f'{count.total():,}' for count in counts)} |")


if __name__ == "__main__":
    main([Path(given) for given in sys.argv[1:]] or EXAMPLES)
