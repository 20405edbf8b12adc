"""`irshape compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..spelling import counted, first_of
from .arguments import Command
from .common import keep_apart, load_or_exit
from .comparing import answer_options, cell, error_table, in_words, number, place, row, write_answer
from .pages import view_option, write_beside
from .reporting import Form, destinations
from .running import (
    force_option,
    gathered,
    input_options,
    memory_option,
    sound_or_exit,
    ticking,
)

if TYPE_CHECKING:
    from ..comparison.model_pairs import ModelComparison
    from ..model.graph import Model


@click.command("compare", cls=Command)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@input_options
@click.option(
    "--runtime",
    type=click.Choice(["onnxruntime", "irshape"]),
    help="What runs an ONNX model. [default: onnxruntime if it is installed]",
)
@answer_options
@view_option("Also write an HTML page that shows both models, with the differences marked.")
@memory_option
@force_option
def command(
    first: str,
    second: str,
    inputs: tuple[str, ...],
    seed: int,
    shapes: tuple[str, ...],
    worst: int | None,
    forms: tuple[Form, ...],
    output_file: str | None,
    view: str | None,
    force: bool,
    **options: Any,
) -> None:
    """Compare two models tensor by tensor; name the first that differs.

    The models can be two precisions of a network, the output of two versions of a converter, or an
    IR and the ONNX model that it was made from. irshape matches inputs and outputs by name, and
    those with different names by order. It matches inner tensors by tensor name, by neighbouring
    layers, or by layer name. A layer of B is to blame if its output differs even with A's inputs.

    Exit status: 0; 1 if an output differs, a layer is to blame, nothing could be compared or a
    model cannot be run; 2 if a path cannot be opened or the runtime is not installed.
    """
    from ..comparison.models import compare
    from ..comparison.pairing import common_shapes
    from ..execution.session import ExecutionError

    chosen = destinations(forms, output_file, statistics=False)
    keep_apart([first, second], *(form.path for form in chosen), view)
    models = (load_or_exit(first), load_or_exit(second))
    for model in models:
        sound_or_exit(model, force)
    try:
        shared = common_shapes(*models)
        fed = gathered(models[0], inputs, True, seed, shapes, options["max_memory"], shared)
        with ticking(models[0], 2) as progress:
            comparison = compare(*models, fed, progress=progress, **options)
    except (ExecutionError, ValueError) as problem:
        click.echo(f"{_refusing(problem, models)}: {problem}", err=True)
        if not inputs and not shapes:
            hint = "irshape: the inputs are random; choose others with --shape or --input"
            click.echo(hint, err=True)
        raise click.exceptions.Exit(1) from None
    except RuntimeError as problem:
        raise click.UsageError(str(problem)) from None
    from ..checking.differences import comparison_report

    if view is not None:
        write_beside(view, *models, compared=comparison.to_dict())
    write_answer(
        comparison,
        lambda: _text(comparison, worst),
        lambda: comparison_report(comparison),
        chosen,
    )


def _refusing(problem: Exception, models: Sequence[Model]) -> str:
    """Returns the path of the model that has the error's layer; both paths if none has it."""
    layer = getattr(problem, "layer", None)
    owners = [model for model in models if any(each is layer for each in model.walk())]
    return ", ".join(model.path for model in owners or models)


def _text(comparison: ModelComparison, worst: int | None) -> list[str]:
    ran = ["" if name == "irshape" else f", run by {name}" for name in comparison.runtimes]
    lines = [
        f"A {comparison.first.path}{ran[0]}",
        f"B {comparison.second.path}{ran[1]}"
        + (f"; one model computes in {comparison.precision}" if comparison.precision else ""),
    ]
    lines += [f"  {each}" for each in comparison.counts()]
    for name, unmatched in zip("AB", comparison.unmatched, strict=True):
        if unmatched:
            lines.append(
                f"  only in {name}: {counted(len(unmatched), 'layer')}: {first_of(unmatched, 5)}"
            )
    for names, other in zip(comparison.unpaired_outputs, "BA", strict=True):
        lines += [f"  output '{name}' corresponds to no output of {other}" for name in names]
    if comparison.altered:
        extents = {pair.second.name: pair.extent for pair in comparison.pairs}
        altered = [f"'{name}'{extents[name]}" for name in comparison.altered]
        lines.append(
            f"  {counted(len(altered), 'constant')} not the same in both: {first_of(altered, 5)}"
        )
    close = [pair.name for pair in comparison.pairs if pair.constant and pair.is_close]
    if close:
        lines.append(
            f"  {counted(len(close), 'constant')} equal only within the tolerance: "
            f"{first_of(close, 5)}"
        )
    lines += [f"  {note}" for note in comparison.notes]
    lines += _outputs(comparison)
    differs = any(pair.state != "equal" for pair in comparison.pairs if not pair.constant)
    shown = comparison.worst((5 if differs else 0) if worst is None else worst)
    if shown:
        rows = [row(pair.errors, pair.state, cell(pair.second, pair.second_port)) for pair in shown]
        lines += error_table(rows, 4)
    return lines + _verdict(comparison)


def _outputs(comparison: ModelComparison) -> list[str]:
    """Describes the five outputs with the largest errors, and counts the other outputs."""
    lines = []
    for pair in comparison.worst(len(comparison.pairs)):
        if pair.second in comparison.outputs:
            errors = pair.errors
            size = f"error up to {number(errors.max_abs)} of values up to {number(errors.scale)}"
            cosine = "" if errors.cosine is None else f", cosine {errors.cosine:.6f}"
            state = in_words(pair.state, errors)
            lines.append(f"  output '{pair.name}': {state}, {pair.reason or size + cosine}")
    return [*lines[:5], *([f"  and {len(lines) - 5} more outputs"] if len(lines) > 5 else [])]


def _verdict(comparison: ModelComparison) -> list[str]:
    """Returns lines that name the first tensor that differs, and the layer to blame."""
    lines: list[str] = []
    if not comparison.compared:
        paired = any(pair.second in comparison.outputs for pair in comparison.pairs)
        why = "has elements in this run" if paired else "of A corresponds to an output of B"
        lines.append(f"  nothing could be compared: no output {why}")
    blamed, diverging = comparison.blamed, comparison.diverging
    if diverging is not None:
        what = (
            f", largest error {diverging.errors.max_abs:.6g}"
            if diverging.errors.max_abs is not None
            else ""
        )
        lines.append(
            f"  the first tensor that diverges: '{diverging.name}' of "
            f"{place(diverging.second, diverging.second_port)}{what}"
        )
        if diverging is not blamed:
            lines += [f"    {cause}" for cause in diverging.causes]
    if blamed is not None:
        lines.append(
            "  the layer to blame, which differs although it gets A's inputs: "
            f"{place(blamed.second, blamed.second_port)}"
        )
        lines += [f"    {reason}" for reason in (blamed.reason, *blamed.causes) if reason]
        if comparison.outputs_agree:
            lines.append("    all outputs agree in this run; with other inputs, they may not")
    elif diverging is not None and not diverging.causes:
        lines.append("  no single layer causes the difference: small errors add up")
    return lines
