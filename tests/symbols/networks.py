"""What is known of the dynamic dimensions of networks, and whether what to bound is right.

    python -m tests.symbols.networks MODEL.xml …

Prints a row of a table for each model. *By data*: dimensions that data decides. *Expressed*: how
many of the rest are expressed in symbols of the inputs. *Wrong*: expressions that are not what is
inferred for sizes drawn at random, of all that were held against it. *Bound*: how many inputs
`explain` says to bound. With their shapes what is counted under *unbounded then* stays unbounded,
by states or data; with any one of them left out more does, else it is listed as needless.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

import irshape
from irshape.faults import Fault
from irshape.inference.explaining import Place, Reasons
from irshape.shapes import UNBOUNDED

from .soundness import tally


class Coverage(NamedTuple):
    """The dynamic dimensions of a model, bodies included."""

    dynamic: int
    by_data: int
    lost: list[str]
    """Those that are not expressed although data does not decide them."""


class Proof(NamedTuple):
    """What inference says with the shapes that are to bound a model."""

    unbounded: int
    refusing: list[str]
    """Layers that do not take these shapes."""
    needless: list[str]
    """Inputs that need not be bounded."""


def coverage(inference: irshape.Inference) -> Coverage:
    reasons = Reasons(inference)
    verdicts: dict[str, list[str]] = {}
    for result in inference.result.walk():
        for position, tensors in enumerate(result.outputs):
            for port, tensor in enumerate(tensors):
                for axis, dim in enumerate(tensor.shape.dims or ()):
                    if dim.is_dynamic:
                        place = Place(result, position, port, "dimension", axis)
                        label = f"{reasons.label(place)}[{axis}]"
                        verdicts.setdefault(reasons.verdict(place), []).append(label)
    return Coverage(
        sum(map(len, verdicts.values())),
        len(verdicts.get("data-dependent", ())),
        verdicts.get("lost", []),
    )


def proven(model: irshape.Model, shapes: Mapping[str, str]) -> Proof:
    before = _refusing(irshape.infer(model))
    inference = irshape.infer(model, shapes=shapes)
    least = unbounded(inference)
    needless = [
        name
        for name in shapes
        if unbounded(irshape.infer(model, shapes={n: s for n, s in shapes.items() if n != name}))
        <= least
    ]
    return Proof(least, sorted(_refusing(inference) - before), needless)


def unbounded(inference: irshape.Inference) -> int:
    return sum(
        dim.high == UNBOUNDED
        for layer in inference.model.walk()
        for tensor in inference.outputs(layer)
        for dim in tensor.shape.dims or ()
    )


def _refusing(inference: irshape.Inference) -> set[str]:
    return {
        observation.layer.label
        for observation in inference.observations
        if isinstance(observation.subject, Fault)
    }


def row(path: str) -> str:
    model = irshape.load(path)
    inference = irshape.infer(model, symbols=True)
    known, overview = coverage(inference), inference.overview()
    sound = tally(model)
    proof = proven(model, overview.bind or {})
    static = proven(model, overview.fix or {})
    rest = known.dynamic - known.by_data
    share = 100 * (rest - len(known.lost)) / rest if rest else 100
    bound = str(len(overview.bind or ()))
    for what, names in (("needless", proof.needless), ("refused by", proof.refusing)):
        bound += f", {what} {', '.join(names)}" if names else ""
    refused = static.refusing
    name = os.path.splitext(os.path.basename(path))[0]
    cells = [
        name,
        f"{sum(1 for _ in model.walk()):,}",
        f"{known.dynamic:,}",
        f"{known.by_data:,}",
        f"{share:.0f} %" + (f", not {', '.join(known.lost[:3])}" if known.lost else ""),
        f"{len(sound.wrong)} of {sound.dimensions:,}",
        bound,
        f"{proof.unbounded:,}",
        "refused by " + ", ".join(refused) if refused else "yes",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print("| network | layers | dynamic | by data | expressed | wrong | bound | unbounded then "
          "| can be fixed |\n" + "|---" * 9 + "|")  # fmt: skip
    for network in sys.argv[1:]:
        print(row(network), flush=True)
