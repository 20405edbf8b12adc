"""Asks OpenVINO about mutated IRs: what it refuses, `validate` reports as an error.

python tests/hostile/differential_fuzz.py EXAMPLES [SEED]     exits with 1 and prints what fails
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]
os.environ["IRSHAPE_DEBUG"] = "1"

from differential.oracle import Oracle  # noqa: E402
from mutations import EXAMPLES, KINDS, SMALL, Mutation, mutated  # noqa: E402

import irshape  # noqa: E402

SEEDS = SMALL | {name: both for name, both in EXAMPLES.items() if len(both[0]) < 45_000}

KNOWN: dict[str, str] = {}
"""OpenVINO's refusals of files that irshape accepts on purpose: a regular expression, and why."""


def drawn(generator: random.Random) -> tuple[str, bytes, bytes]:
    name = generator.choice([*SMALL, *SMALL, *SEEDS])
    data, weights = SEEDS[name]
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        data = mutated(
            data,
            Mutation(
                generator.choice(KINDS),
                generator.random(),
                generator.random(),
                generator.randrange(256),
            ),
        )
    return name, data, weights


def missed(oracle: Oracle, path: Path, data: bytes, weights: bytes) -> str | None:
    """What OpenVINO objects to in a file that irshape accepts; None where the two agree."""
    path.write_bytes(data)
    path.with_suffix(".bin").write_bytes(weights)
    if not irshape.validate(path).ok:
        return None
    answer = oracle.ask_file(path)
    if answer.status != "refused" or any(re.search(pattern, answer.message) for pattern in KNOWN):
        return None
    return answer.message


def main(examples: int, seed: int = 0) -> int:
    generator = random.Random(seed)
    count = 0
    with Oracle() as oracle, tempfile.TemporaryDirectory() as folder:
        for number in range(examples):
            name, data, weights = drawn(generator)
            said = missed(oracle, Path(folder) / "m.xml", data, weights)
            if said is not None:
                count += 1
                print(f"{name}, the {number}th of seed {seed}: {' '.join(said.split())[-300:]}")
                original = SEEDS[name][0].decode(errors="replace").splitlines()
                print(
                    "\n".join(
                        f"    {line.strip()[:300]}"
                        for line in data.decode(errors="replace").splitlines()
                        if line not in original
                    )
                )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
