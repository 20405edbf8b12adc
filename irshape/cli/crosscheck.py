"""`irshape crosscheck`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..spelling import counted
from .arguments import Command
from .common import keep_apart, load_or_exit, weights_option
from .comparing import answer_options, cell, error_table, in_words, place, row, write_answer
from .pages import view_option, write_result
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
    from ..comparison.result import Comparison, Row


@click.command("crosscheck", cls=Command)
@click.argument("model", metavar="MODEL")
@click.option("--device", default="CPU", show_default=True, help="The device, by OpenVINO's name.")
@click.option(
    "--hint",
    type=click.Choice(["f32", "f16", "bf16"]),
    help="The precision to request from the device, with its tolerance. [default: f32]",
)
@click.option(
    "--layers",
    type=click.Choice(["all", "outputs"]),
    default="all",
    show_default=True,
    help="outputs: compare only the model's outputs first, and all layers if an output differs.",
)
@input_options
@click.option(
    "--save",
    metavar="DIR",
    help="Save the blamed layer in this folder: an IR, and its inputs and outputs as .npy files.",
)
@click.option(
    "--record",
    metavar="FILE",
    help="Write everything that the device answers to this file, for `--replay`.",
)
@click.option(
    "--replay",
    metavar="FILE",
    help="Take the inputs and the device's answers from a recording; OpenVINO is not needed.",
)
@click.option(
    "--extension-library",
    "extension_libraries",
    multiple=True,
    metavar="FILE",
    help="A library with operations that OpenVINO does not have itself. [default: the one of "
    "an installed openvino_tokenizers, if the model needs it]",
)
@answer_options
@click.option(
    "-v", "--verbose", is_flag=True, help="List every output, not only those that differ."
)
@view_option("Also write an HTML page that shows the errors on the layers (see `irshape view`).")
@memory_option
@weights_option
@force_option
def command(
    model: str,
    inputs: tuple[str, ...],
    seed: int,
    shapes: tuple[str, ...],
    worst: int | None,
    forms: tuple[Form, ...],
    output_file: str | None,
    verbose: bool,
    view: str | None,
    weights: str,
    force: bool,
    **options: Any,
) -> None:
    """Compare types, shapes and values of every layer with OpenVINO's.

    irshape computes each layer from the device's own values of its inputs: if the output still
    differs, the layer is to blame. A difference that comes only from the inputs of a layer counts
    only if it reaches an output of the model.

    An ONNX model is compared with onnxruntime (with --device reference, with onnx's reference
    evaluator), a oneDNN graph with the oneDNN library. The runtime runs in a separate process: if
    it crashes, the report says so. irshape[openvino] or irshape[onnx] installs the runtime.

    --record keeps the device's values in a file. --replay reads the values from this file instead
    of running the device, so that any machine can repeat the cross-check.

    Exit status: 0; 1 if something differs or cannot be compared; 2 if a path cannot be opened or
    the runtime is not installed.
    """
    from ..comparison.crosschecking import crosscheck
    from ..execution.session import ExecutionError

    replay, max_memory = options["replay"], options["max_memory"]
    if replay is not None and (inputs or shapes or options["record"] is not None):
        raise click.UsageError(
            "--replay takes the inputs of the recording; leave out --input, --shape and --record"
        )
    for library in options["extension_libraries"]:
        os.stat(library)  # the device would say something else of one that is not there
    chosen = destinations(forms, output_file, statistics=False)
    paths = (*(form.path for form in chosen), view, options["record"])
    keep_apart([model], *paths, weights=weights)
    loaded = load_or_exit(model, weights)
    sound_or_exit(loaded, force)
    try:
        fed = None if replay else gathered(loaded, inputs, True, seed, shapes, max_memory)
        with ticking(loaded) as ticker:
            comparison = crosscheck(loaded, fed, progress=ticker, phase=ticker.phase, **options)
    except (ExecutionError, ValueError) as problem:
        click.echo(f"{loaded.path}: {problem}", err=True)
        raise click.exceptions.Exit(1) from None
    except RuntimeError as problem:
        raise click.UsageError(str(problem)) from None
    from ..checking.differences import crosscheck_report

    if view is not None:
        from ..view.overlays import crosscheck_overlays

        write_result(view, comparison.model, crosscheck_overlays, comparison.to_dict())
    write_answer(
        comparison,
        lambda: _text(comparison, verbose, worst),
        lambda: crosscheck_report(comparison),
        chosen,
    )


def _text(comparison: Comparison, verbose: bool, worst: int | None) -> list[str]:
    rows = comparison.rows
    shapes = f"{comparison.count('equal', values=False)} equal"
    tighter = comparison.count("tighter", values=False)
    shapes += f", {tighter} more precise than the runtime's" if tighter else ""
    wrong = comparison.count("differs", values=False)
    shapes += f", {wrong} different" if wrong else ""
    compared = [output for output in rows if output.value_verdict != "not compared"]
    close = any(output.state == "equal" and output.errors.max_abs for output in rows)
    values = f"{comparison.count('equal')} equal{' within the tolerance' if close else ''}"
    words = {
        "explained": "explained",
        "merged": "merged by the device",
        "inherited": "with inherited differences",
        "differs": "different",
    }
    states = [output.state for output in compared]
    values += "".join(
        f", {states.count(state)} {text}" for state, text in words.items() if state in states
    )
    hint = f" at {comparison.hint}" if comparison.hint else ""
    lines = [
        f"{comparison.model.path} on {comparison.device}{hint} "
        f"({comparison.device_name.strip()}), {comparison.runtime}"
    ]
    lines += [
        f"  types and shapes: {counted(len(rows), 'output')}, {shapes}",
        f"  values:           {counted(len(compared), 'output')}, {values}",
    ]
    lines += _outputs(comparison, verbose)
    lines += [f"  {note}" for note in comparison.notes] + [
        f"  {problem}" for problem in comparison.problems
    ]
    departs = any(output.differs or output.own_verdict == "differs" for output in rows)
    lines += _worst(comparison.worst((5 if departs or verbose else 0) if worst is None else worst))
    lines += _blame(comparison)
    if comparison.saved is not None:
        lines.append(
            f"  saved: {comparison.saved}, which `irshape crosscheck` runs with the same inputs"
        )
    return lines


def _outputs(comparison: Comparison, verbose: bool) -> list[str]:
    """Returns a line for each explained difference; with `verbose`, also for each output."""
    lines = []
    if verbose:
        for output in comparison.rows:
            error = f", largest error {output.error:.3g}" if output.error is not None else ""
            explanation = output.explanation
            kind = "" if explanation is None else f" ({explanation.kind})"
            state = in_words(output.state, output.errors)
            lines.append(
                f"  {state}{kind}: {place(output.layer, output.port)}: {output.inferred}{error}"
            )
    for each in comparison.explanations:
        first, more = each.rows[0], len(each.rows) - 1
        others = f" and {more} more" if more else ""
        lines.append(f"  {first.state}: {place(first.layer, first.port)}{others}: {each.text}")
    return lines


def _worst(shown: list[Row]) -> list[str]:
    """Returns the table of the largest errors."""
    if not shown:
        return []
    several = f"  the {len(shown)} largest errors, relative to the tolerance:"
    rows = [row(output.errors, output.state, cell(output.layer, output.port)) for output in shown]
    head = several if len(shown) > 1 else "  the largest error:"
    return [head, *error_table(rows, 4)]


def _blame(comparison: Comparison) -> list[str]:
    first = comparison.first
    if first is None:
        inherited = [
            output
            for output in comparison.rows
            if output.inherited and output.own_verdict == "equal"
        ]
        if not inherited:
            return []
        return [
            "  no single layer causes the difference: small errors and explained differences "
            f"add up, first at {place(inherited[0].layer, inherited[0].port)}"
        ]
    if first.own_verdict == "differs":
        lines = [
            "  the first layer that differs by itself, given the device's own inputs: "
            f"{place(first.layer, first.port)}"
        ]
    elif first.inherited:
        lines = [
            "  no layer differs by itself, but accumulated errors exceed the tolerance "
            f"of an output: {place(first.layer, first.port)}"
        ]
    else:
        lines = [f"  the first output that differs: {place(first.layer, first.port)}"]
    if first.shape_verdict == "differs":
        lines.append(f"    irshape infers {first.inferred}, {comparison.runtime} {first.runtime}")
    if "differs" in (first.value_verdict, first.own_verdict):
        if first.error is not None and first.allowed is not None:
            lines.append(f"    error {first.error:.6g}; the tolerance allows {first.allowed:.6g}")
        if first.own_errors is not None and first.own_errors.max_abs is not None:
            lines.append(
                f"    from the device's inputs: largest error {first.own_errors.max_abs:.6g}"
                + (f" at {list(first.own_errors.place)}" if first.own_errors.place else "")
            )
        lines += [
            f"    {reason}" for reason in dict.fromkeys((first.reason, first.own_reason)) if reason
        ]
        lines += [f"    {what}: {output}" for what, output in first.ranges.items()]
    return lines + _inside(comparison)


def _inside(comparison: Comparison) -> list[str]:
    inside = comparison.inside
    if inside is None:
        return []
    blamed = inside.blamed
    if blamed is None:
        runs = f"the {inside.looked_at} runs" if inside.looked_at > 1 else "the run"
        return [
            f"    every layer of its <{inside.tag}> agrees in {runs} that irshape "
            "compared: the device differs in how it runs the body (slices, back edges, conditions)"
        ]
    error = (blamed.own_errors or blamed.errors).max_abs
    lines = [
        f"  inside, in run {inside.iteration + 1} of the <{inside.tag}> of {place(inside.layer)}: "
        f"{place(blamed.layer, blamed.port)}"
        + (f", from the device's inputs: largest error {error:.6g}" if error is not None else "")
    ]
    if inside.comparison.saved is not None:
        lines.append(f"    saved: {inside.comparison.saved}")
    return lines + _inside(inside.comparison)
