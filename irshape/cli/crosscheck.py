"""`irshape crosscheck`."""

from __future__ import annotations

import json

import click

from .common import load_or_exit, weights_option


@click.command("crosscheck", short_help="Compare types, shapes and values with OpenVINO's.")
@click.argument("model", metavar="MODEL")
@click.option("--device", default="CPU", show_default=True, help="OpenVINO's name of the device.")
@click.option("-i", "--input", "inputs", multiple=True, metavar="[NAME=]FILE.npy", help="An input; those not given are drawn at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random inputs.")
@click.option("-s", "--shape", "shapes", multiple=True, metavar="NAME=SHAPE", help="Shape of a random input.")
@click.option("--rtol", type=float, help="Relative tolerance, instead of that of the element type.")
@click.option("--atol", type=float, help="Absolute tolerance, instead of that of the element type.")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of the answer.")
@click.option("-v", "--verbose", is_flag=True, help="List every output, not only those that differ.")
@weights_option
def command(
    model: str,
    device: str,
    inputs: tuple[str, ...],
    seed: int,
    shapes: tuple[str, ...],
    rtol: float | None,
    atol: float | None,
    form: str,
    verbose: bool,
    weights: str,
) -> None:
    """Compares the element types, shapes and values of every layer with OpenVINO's; exit status 1 where they differ.

    An ONNX model is compared with onnxruntime (--device reference: with onnx's own), a oneDNN graph with the oneDNN library.
    Needs the extra irshape[openvino] or irshape[onnx]. The runtime works in a process of its own: its crash is a result.
    """
    from ..comparison import crosscheck
    from ..execution import ExecutionError
    from .run import gathered

    loaded = load_or_exit(model, weights)
    try:
        comparison = crosscheck(loaded, gathered(loaded, inputs, True, seed, shapes), device=device, rtol=rtol, atol=atol)
    except (ExecutionError, ValueError) as problem:
        click.echo(f"{loaded.path}: {problem}", err=True)
        raise click.exceptions.Exit(1) from None
    except RuntimeError as problem:
        raise click.UsageError(str(problem)) from None
    if form == "json":
        click.echo(json.dumps(comparison.to_dict(), indent=1, ensure_ascii=False))
    else:
        _print(comparison, verbose)
    if not comparison.ok:
        raise click.exceptions.Exit(1)


def _print(comparison: object, verbose: bool) -> None:
    from ..comparison import Comparison

    assert isinstance(comparison, Comparison)
    rows = comparison.rows
    shapes = f"{comparison.count('equal', values=False)} equal"
    tighter = comparison.count("tighter", values=False)
    shapes += f", {tighter} tighter than the runtime's" if tighter else ""
    wrong = comparison.count("differs", values=False)
    shapes += f", {wrong} different" if wrong else ""
    compared = [row for row in rows if row.value_verdict != "not compared"]
    values = f"{comparison.count('equal')} equal"
    for verdict, words in (("explained", "explained"), ("differs", "different")):
        count = comparison.count(verdict)  # type: ignore[arg-type]
        values += f", {count} {words}" if count else ""
    click.echo(f"{comparison.model.path} on {comparison.device} ({comparison.device_name.strip()}), {comparison.runtime}")
    click.echo(f"  types and shapes: {len(rows)} outputs, {shapes}")
    click.echo(f"  values:           {len(compared)} outputs, {values}")
    for row in rows:
        if verbose or row.value_verdict == "explained":
            error = f", largest error {row.error:.3g}" if row.error is not None else ""
            click.echo(
                f"  {row.value_verdict}: {row.layer.type} '{row.layer.name}' (id {row.layer.id}) output {row.port}: {row.inferred}{error}"
                + (f" ({row.reason})" if row.reason else "")
            )
    for problem in comparison.problems:
        click.echo(f"  {problem}")
    first = comparison.first
    if first is None:
        return
    click.echo(f"  the first output that departs: {first.layer.type} '{first.layer.name}' (id {first.layer.id}) output {first.port}")
    if first.shape_verdict == "differs":
        click.echo(f"    irshape infers {first.inferred}, {comparison.runtime} {first.runtime}")
    if first.value_verdict == "differs":
        click.echo(f"    {first.reason}" if first.reason else f"    largest error {first.error:.6g}, allowed there {first.allowed:.6g}")
        for what, found in first.ranges.items():
            click.echo(f"    {what}: {found}")
