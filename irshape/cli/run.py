"""`irshape run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..spelling import counted
from .arguments import Command, Whole
from .common import echo, echo_json, form_option, keep_apart, load_or_exit, weights_option
from .comparing import cell, error_table, number, place, row
from .pages import view_option, write_result
from .running import (
    force_option,
    gathered,
    input_options,
    memory_option,
    sound_or_exit,
    ticking,
)
from .tables import fitted, text_table

if TYPE_CHECKING:
    from ..execution.ranges import Precision, Range, Simulation
    from ..model.graph import Model


@click.command("run", cls=Command)
@click.argument("model", metavar="MODEL")
@input_options
@click.option(
    "--random", "random", is_flag=True, help="Use random values for the inputs that are not given."
)
@click.option(
    "--outputs",
    type=click.Choice(["results", "all"]),
    default="results",
    show_default=True,
    help="Show the outputs of the model, or of all layers.",
)
@click.option(
    "-d", "--output-dir", metavar="DIR", help="Write each output into this folder as a .npy file."
)
@click.option(
    "--stats",
    is_flag=True,
    help="Show the range, mean, NaN, infinities, zeros and subnormals of every layer's outputs, "
    "and which outputs exceed the range of f16.",
)
@click.option(
    "--simulate",
    type=click.Choice(["f16", "bf16"]),
    help="Round after every layer, as a device of that precision does, and name the first layer "
    "that gives infinity or NaN.",
)
@view_option("With --stats: also write an HTML page that shows the ranges on the layers.")
@form_option("text", "json")
@memory_option
@click.option(
    "--max-iterations",
    type=Whole(min=1),
    metavar="N",
    help="Refuse loops with more iterations. [default: 1,000,000]",
)
@weights_option
@force_option
def command(
    model: str,
    inputs: tuple[str, ...],
    random: bool,
    seed: int,
    shapes: tuple[str, ...],
    outputs: str,
    output_dir: str | None,
    stats: bool,
    simulate: Precision | None,
    view: str | None,
    form: str,
    max_memory: int | None,
    max_iterations: int | None,
    weights: str,
    force: bool,
) -> None:
    """Execute a model in NumPy, and print the range of each output.

    Exit status: 0; 1 if `irshape validate` rejects the model, or the model cannot be run with these
    inputs; with --simulate, also 1 if a layer gives infinity or NaN only in the lower precision; 2
    if a path cannot be opened or an input is missing.
    """
    from ..execution import ranges
    from ..execution.session import MAX_ITERATIONS, ExecutionError, Session

    if stats and simulate:
        raise click.UsageError("--stats and --simulate cannot be combined: run them separately")
    if view is not None and not stats:
        raise click.UsageError("--view draws what --stats collects: add --stats")
    keep_apart([model], view, weights=weights)
    loaded = load_or_exit(model, weights)
    sound_or_exit(loaded, force)
    limits: Any = {"max_memory": max_memory, "max_iterations": max_iterations or MAX_ITERATIONS}
    rows: list[Range] = []
    simulation: Simulation | None = None
    try:
        fed = gathered(loaded, inputs, random, seed, shapes, max_memory)
        with ticking(loaded, 2 if simulate else 1) as progress:
            if simulate is not None:
                simulation = ranges.simulate(loaded, fed, simulate, progress=progress, **limits)
                arrays = simulation.outputs
            else:
                session = Session(loaded, **limits)
                if stats:
                    arrays, rows = ranges.ranges(session, fed, progress)
                else:
                    arrays = session.run(fed, outputs=outputs, observe=progress)
    except ExecutionError as problem:
        click.echo(f"{loaded.path}: {problem}", err=True)
        raise click.exceptions.Exit(1) from None
    if output_dir is not None:
        _write(arrays, output_dir)
    if view is not None:
        from ..view.overlays import stats_overlays

        write_result(view, loaded, stats_overlays, ranges.stats_dict(loaded, rows))
    if form == "json":
        echo_json(_json(loaded, arrays, rows, simulation, stats))
    elif simulation is not None or stats:
        lines = _stats(rows) if simulation is None else _simulation(simulation)
        echo("\n".join(fitted(lines)))
    else:
        _ranges(arrays)
    if simulation is not None and simulation.first is not None and simulation.first.breaks:
        raise click.exceptions.Exit(1)


def _write(arrays: dict[str, Any], output_dir: str) -> None:
    """Writes all files or none."""
    from ..execution.inputs import existing_folder, file_name, npy_bytes
    from ..formats.atomic import write_together

    folder = existing_folder(output_dir)
    taken: set[str] = set()
    write_together(
        {folder / file_name(name, taken): npy_bytes(array) for name, array in arrays.items()}
    )


def _ranges(arrays: dict[str, Any]) -> None:
    from ..numbers.statistics import range_of
    from ..numpy_types import element_type_of

    rows = [
        (name, f"{element_type_of(array)!s:<7}", range_of(array)) for name, array in arrays.items()
    ]
    shrinking = {"n": 24, "r": 24}
    for line in text_table(("n", "t", "r"), rows, shrinking=shrinking)[1:]:  # without a head
        echo(line)


def _json(
    model: Model,
    arrays: dict[str, Any],
    rows: list[Range],
    simulation: Simulation | None,
    stats: bool,
) -> dict[str, Any]:
    from ..execution.ranges import stats_dict
    from ..numbers.statistics import values
    from ..numpy_types import element_type_of

    if simulation is not None:
        return simulation.to_dict(model)
    if stats:
        return stats_dict(model, rows)
    outputs = []
    for name, array in arrays.items():
        statistics = values(array)
        outputs.append(
            {
                "name": name,
                "element_type": element_type_of(array).name,
                "shape": list(array.shape),
                **({} if statistics is None else statistics.to_dict()),
            }
        )
    return {"version": 1, "model": model.path, "outputs": outputs}


def _stats(rows: list[Range]) -> list[str]:
    head = ("min", "max", "mean", "NaN", "inf", "subnormal", "zero", "type", "shape", "output")
    lines = []
    for each in rows:
        statistics = each.values
        if statistics is None or each.layer.is_constant:
            continue
        mark = (f", {each.runs} runs" if each.runs > 1 else "") + (
            " beyond f16" if each.leaves_f16 else ""
        )
        share = f"{statistics.zeros / statistics.elements:.0%}" if statistics.elements else "-"
        values = map(number, (statistics.lowest, statistics.highest, statistics.mean))
        counts = (statistics.nan, statistics.inf, statistics.subnormals)
        tensor = (each.element_type, str(list(each.shape)), cell(each.layer, each.port) + mark)
        lines.append((*values, *(str(count or "-") for count in counts), share, *tensor))
    shown = text_table(
        head,
        lines,
        shrinking={"output": 24, "shape": 12},
        right=head[:-3],
        dropped=("subnormal", "zero", "mean"),
    )
    wide = [row for row in rows if row.leaves_f16]
    lost = [row for row in rows if row.values is not None and row.values.lost_in_f16]
    for name, outputs in (
        ("beyond the range of f16 (65504)", wide),
        ("with values that become 0 in f16", lost),
    ):
        if outputs:
            first = place(outputs[0].layer, outputs[0].port)
            shown.append(f"{counted(len(outputs), 'output')} {name}, first {first}")
    nan = next((row for row in rows if row.values is not None and row.values.nan), None)
    if nan is not None:
        shown.append(
            f"the first NaN comes from {place(nan.layer, nan.port)}"
            + (f": {nan.note}" if nan.note else "")
        )
    return shown


def _simulation(simulation: Simulation) -> list[str]:
    steps = sorted(
        simulation.steps,
        key=lambda step: (bool(step.breaks), step.departs, step.errors.max_abs or 0.0),
        reverse=True,
    )[:5]
    broken = [step for step in simulation.steps if step.breaks]
    departed = [step for step in simulation.steps if step.departs]
    lines = [
        f"rounded to {simulation.precision} after every layer: "
        f"{counted(len(simulation.steps), 'output')}; {len(broken)} become infinite or "
        f"NaN, {len(departed)} differ by more than {simulation.precision} explains"
    ]
    lines += error_table(
        [
            row(
                step.errors,
                "breaks" if step.breaks else "departs" if step.departs else "close",
                cell(step.layer, step.port),
            )
            for step in steps
        ]
    )
    first = simulation.first
    if first is None:
        lines.append("no layer becomes infinite or NaN")
    elif first.breaks:
        lines.append(
            f"the first layer that becomes infinite or NaN: {place(first.layer, first.port)}: "
            f"{first.breaks}"
        )
    else:
        lines.append(
            "no layer becomes infinite or NaN; the first that differs: "
            f"{place(first.layer, first.port)}"
        )
    return lines
