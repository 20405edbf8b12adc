"""Reads, infers, fixes and runs mutated IRs within limits of memory and time.

Ends with a traceback at the first exception that is not one of irshape's own.

python tests/hostile/fuzz.py EXAMPLES [SEED]     draws anew with a SEED, else the same as ever
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]
os.environ["IRSHAPE_DEBUG"] = "1"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

from child import limited  # noqa: E402
from hypothesis import HealthCheck, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from mutations import DOCUMENTS, EXAMPLES, SMALL, Mutation, mutated, mutations  # noqa: E402

import irshape  # noqa: E402
from irshape.diagnostics.report import diagnostic  # noqa: E402

MEGABYTES = 3000
SECONDS = 20
"""The longest that one file may take."""
SEEDS = SMALL | DOCUMENTS | EXAMPLES
CHOICE = [
    *SMALL,
    *DOCUMENTS,
    *SMALL,
    *(name for name, (text, _) in EXAMPLES.items() if len(text) < 45_000),
]
"""The small ones more often: a large one takes as long as fifty of them."""


def check(name: str, changes: list[Mutation], folder: Path) -> None:
    data, weights = SEEDS[name]
    for mutation in changes:
        data = mutated(data, mutation)
    path = folder / "m.xml"
    path.write_bytes(data)
    path.with_suffix(".bin").write_bytes(weights)
    signal.alarm(SECONDS)
    try:
        report = irshape.validate(path)
        assert report.to_dict() == irshape.validate(path).to_dict()
        fixes = irshape.fix(path)
        assert fixes.data == data or fixes.edits
        if fixes.edits:
            path.write_bytes(fixes.data)
            assert not irshape.fix(path).edits, "a second fix finds something left"
        try:
            model = irshape.load(path)
        except irshape.LoadError:
            return
        assert all(diagnostic(finding, model.source).line > 0 for finding in model.findings)
        irshape.infer(model).to_dict()
        if name in SMALL:
            run(model)
    finally:
        signal.alarm(0)


def run(model: irshape.Model) -> None:
    from irshape.execution.inputs import random_inputs
    from irshape.execution.session import ExecutionError, Session

    try:
        inputs = random_inputs(model)
    except ValueError:
        return  # nothing that fits can be drawn, which is said in these words
    with suppress(ExecutionError):
        Session(model, max_memory=100 << 20, max_iterations=1000).run(inputs)


def late(*_: object) -> None:
    raise TimeoutError(f"a file takes longer than {SECONDS} s")


def main(examples: int, number: int | None = None) -> None:
    limited(MEGABYTES, 4 * 60 * 60)
    signal.signal(signal.SIGALRM, late)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)

        @settings(
            max_examples=examples,
            derandomize=number is None,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.sampled_from(CHOICE), mutations)
        def test(name: str, changes: list[Mutation]) -> None:
            check(name, changes, folder)

        (test if number is None else seed(number)(test))()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
