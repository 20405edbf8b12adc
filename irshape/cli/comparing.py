"""Shows the results of `crosscheck` and `compare` as text with a table, or in another format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from ..diagnostics.renderers.common import json_text, plain
from .arguments import Real, Whole
from .common import deliver, options
from .reporting import Form, forms_option, report_text
from .tables import fitted, text_table

if TYPE_CHECKING:
    from ..comparison.model_pairs import ModelComparison
    from ..comparison.result import Comparison
    from ..diagnostics.report import Report
    from ..model.graph import Layer
    from ..numbers.statistics import Errors

HEAD = (
    "max abs",
    "mean abs",
    "max rel",
    "mean rel",
    "ulp",
    "cosine",
    "NaN",
    "inf",
    "verdict",
    "output",
)


def place(layer: Layer, port: int | None = None) -> str:
    """Describes a layer and an output, e.g. `Add 'sum' (id 3/body/7) output 0` for a body layer."""
    return plain(
        f"{layer.type} '{layer.name}' (id {'/'.join([*layer.path, layer.id])})"
        + ("" if port is None else f" output {port}")
    )


def cell(layer: Layer, port: int) -> str:
    """Describes an output in a table: its layer, and its index if the layer has several."""
    index = f":{port}" if len(layer.outputs) > 1 else ""
    return plain(f"{'/'.join([*layer.path, layer.id])} {layer.type} '{layer.name}'{index}")


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def in_words(state: str, errors: Errors) -> str:
    """Returns a verdict as text. `equal` with an error above 0: `equal within the tolerance`."""
    return "equal within the tolerance" if state == "equal" and errors.max_abs else state


def row(errors: Errors, verdict: str, what: str) -> tuple[str, ...]:
    """Returns a row of the table of errors. Unequal counts of NaN or infinity appear as `3/4`."""
    counts = [
        f"{pair[0]}" if pair[0] == pair[1] else f"{pair[0]}/{pair[1]}"
        for pair in (errors.nan, errors.inf)
    ]
    cosine = "-" if errors.cosine is None else f"{errors.cosine:.6f}"
    ulp = (
        "-"
        if errors.ulp is None
        else str(errors.ulp)
        if errors.ulp < 1_000_000
        else f"{errors.ulp:.1e}"
    )
    sizes = (errors.max_abs, errors.mean_abs, errors.max_rel, errors.mean_rel)
    verdict = "close" if verdict == "equal" and errors.max_abs else verdict
    return (*map(number, sizes), ulp, cosine, *counts, verdict, what)


def error_table(rows: Iterable[Sequence[str]], indent: int = 0) -> list[str]:
    """Returns the lines of a table: `rows` under the column titles in `HEAD`."""
    return text_table(
        HEAD,
        rows,
        shrinking={"output": 24},
        right=HEAD[:-2],
        dropped=("ulp", "NaN", "inf", "mean rel", "mean abs", "cosine"),
        indent=indent,
    )


output_file_option = click.option(
    "-o", "--output-file", metavar="FILE", help="Write the output to a file instead of stdout."
)
answer_options = options(
    click.option("--rtol", type=Real(0), help="The relative tolerance. [default: by element type]"),
    click.option("--atol", type=Real(0), help="The absolute tolerance. [default: by element type]"),
    click.option(
        "--worst",
        type=Whole(0),
        metavar="N",
        help="Show the N errors that are largest relative to the tolerance. "
        "[default: 5 if something differs]",
    ),
    forms_option(stated="text", default=["text"]),
    output_file_option,
)
"""The options that both `crosscheck` and `compare` have."""


def write_answer(
    comparison: Comparison | ModelComparison,
    lines: Callable[[], list[str]],
    report: Callable[[], Report],
    forms: Iterable[Form],
) -> None:
    """Writes the result in each format. If something differs, exits with status 1.

    lines: the result as text. report: the result for the formats that show findings.
    """
    for form, path in forms:
        if form == "text":
            shown = map(plain, lines())
            text = "".join(f"{line}\n" for line in (fitted(shown) if path is None else shown))
        elif form == "json":
            text = json_text(comparison.to_dict(), 1) + "\n"
        else:
            text = report_text(report(), form)
        deliver(text, path)
    if not comparison.ok:
        raise click.exceptions.Exit(1)
