"""`irshape reduce`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..spelling import counted
from .arguments import Command, Real, Whole
from .common import echo, load_or_exit, overwrite_option, refuse_overwriting, weights_option
from .progress import Line

if TYPE_CHECKING:
    from ..model.graph import Model
    from ..reduction.command import CommandTest, Outcome
    from ..reduction.search import Progress


@click.command("reduce", cls=Command)
@click.argument("model", metavar="MODEL")
@click.argument("words", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The .xml to write. [default: MODEL.reduced.xml in the current folder]",
)
@click.option(
    "--status",
    type=Whole(),
    metavar="N",
    help="The exit status that counts as the failure; -N for signal N. "
    "[default: the exit status on MODEL]",
)
@click.option(
    "--contains",
    multiple=True,
    metavar="REGEX",
    help="A pattern that the output of the command must also contain. May be repeated.",
)
@click.option(
    "--timeout",
    type=Real(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop the command after this time. If it takes longer on MODEL, that is the failure. "
    "[default: ten times as long as it takes on MODEL, at least 60 s]",
)
@click.option(
    "-j",
    "--jobs",
    type=Whole(min=1),
    metavar="N",
    default=1,
    show_default=True,
    help="How many models to try at once; the result does not depend on it.",
)
@click.option(
    "--max-tries", type=Whole(min=1), metavar="N", help="Stop after this number of tries."
)
@click.option(
    "--max-time",
    type=Real(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop after this time.",
)
@weights_option
@overwrite_option
def command(
    model: str,
    words: tuple[str, ...],
    output: str | None,
    status: int | None,
    contains: tuple[str, ...],
    timeout: float | None,
    jobs: int,
    max_tries: int | None,
    max_time: float | None,
    weights: str,
    overwrite: bool,
) -> None:
    """Find the smallest model for which a command still fails.

    irshape runs the command again and again, on ever smaller models. {} in the command stands for
    the path of the model; without {}, the path comes last. irshape keeps a model if the command
    ends with the same exit status, or by the same signal, as on MODEL. With --contains, the output
    of the command must also match a pattern: this excludes models that fail for another reason.

    \b
    Examples:
      irshape reduce model.xml -- irshape crosscheck
      irshape reduce model.xml --contains SoftMax -- python compile.py {} GPU
      irshape reduce model.xml -- sh -c '! benchmark_app -m {} | grep -q NaN'

    irshape removes layers, replaces the model by a body, and shrinks constants and shapes. It
    writes a sound model with its .bin; if MODEL breaks rules, the result breaks no other rules. It
    writes the model whenever it finds a smaller one, so that the result also exists after Ctrl-C.

    Exit status: 0; 1 if MODEL cannot be read, or the command does not fail on it; 2 if a path
    or the command cannot be used; 130 after Ctrl-C.
    """
    from ..reduction.command import CommandTest
    from ..reduction.reducer import reduce

    target = _target(model, output)
    refuse_overwriting(model, str(target), weights, overwrite)
    patterns = [_pattern(text) for text in contains]
    loaded = load_or_exit(model, weights)
    test = CommandTest(words, name=Path(model).stem, timeout=timeout)
    outcome = _outcome(test, model)
    wanted = outcome.status if status is None else status
    test.expect(wanted, patterns)
    _require_failure(test, outcome, status, contains)
    if timeout is None:
        test.timeout = max(60.0, 10 * outcome.seconds)
    report = _Reporter(target)
    try:
        reduction = reduce(
            loaded, test, jobs=jobs, max_tries=max_tries, max_time=max_time, progress=report
        )
    except ValueError as problem:
        click.echo(f"irshape: {problem}", err=True)
        raise click.exceptions.Exit(1) from None
    except KeyboardInterrupt:
        report.line.clear()
        if report.best is not None:
            echo(_summary(loaded, report.best, target))
        raise
    finally:
        test.close()
        report.line.clear()
    echo(_summary(loaded, reduction.model, target))
    tries = "1 try" if reduction.tries == 1 else f"{reduction.tries:,} tries"
    stopped = f", stopped by --max-{reduction.stopped}" if reduction.stopped else ""
    click.echo(f"irshape: {tries}, {reduction.seconds:.0f} s{stopped}", err=True)


def _target(model: str, output: str | None) -> Path:
    if output is None:
        return Path(f"{Path(model).stem}.reduced.xml")
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise click.UsageError(f"'{output}': no such folder")
    return Path(output)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as problem:
        raise click.UsageError(f"--contains '{text}': {problem}") from None


def _outcome(test: CommandTest, model: str) -> Outcome:
    """Runs the command on the original model, and returns how the command ended."""
    try:
        return test.on_file(model)
    except OSError as problem:
        raise click.UsageError(
            f"the command '{test.command[0]}' cannot be run: {problem.strerror}"
        ) from None


def _require_failure(
    test: CommandTest, outcome: Outcome, status: int | None, contains: tuple[str, ...]
) -> None:
    """Exits with status 1 if the command does not fail on the original model as requested."""
    if status is None and outcome.status == 0 and not contains:
        reason = "the command succeeds on the model, so there is nothing to reduce"
    elif test.is_expected(outcome):
        return
    elif status is not None and outcome.status != status:
        reason = f"on the model, the command ends with {outcome.ending}, not {status}"
    else:
        reason = "on the model, the output of the command does not match --contains"
    click.echo(f"irshape: {reason}", err=True)
    if outcome.last_line:
        click.echo(f"irshape: the last line of its output: {outcome.last_line}", err=True)
    raise click.exceptions.Exit(1)


class _Reporter:
    """Saves every smaller model, and shows the progress on a terminal."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self.best: Model | None = None
        self.line = Line()

    def __call__(self, progress: Progress) -> None:
        from ..reduction.candidates import save

        save(progress.model, self._target)
        self.best = progress.model
        self.line.write(f"{counted(progress.layers, 'layer')} left, try {progress.tries:,}")


def _summary(original: Model, best: Model, target: Path) -> str:
    """Describes the remaining model in one line."""
    from ..reduction.edits import computing

    before, after = len(computing(original.walk())), computing(best.walk())
    types = ", ".join(dict.fromkeys(layer.type for layer in after or best.layers))
    return f"{target}: {counted(len(after), 'layer')} of {before:,} ({types})"
