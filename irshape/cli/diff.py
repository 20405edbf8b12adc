"""`irshape diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from ..diagnostics.renderers.common import json_text, plain
from ..spelling import counted, first_of
from .arguments import Command, Whole
from .common import (
    colour_option,
    deliver,
    form_option,
    keep_apart,
    load_or_exit,
    second_weights_option,
    silent_option,
    usage_errors,
    wants_colour,
    weights_option,
)
from .comparing import output_file_option, place
from .pages import view_option, write_beside
from .tables import fitted

if TYPE_CHECKING:
    from ..differences.result import LayerDiff, ModelDiff, Unmatched

T = TypeVar("T")
FEW = 3
"""If more than this number of constants changed their element type, `diff` only counts them."""
TONES = {"-": "red", "+": "green", "~": "yellow"}


@click.command("diff", cls=Command)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@form_option("text", "json")
@output_file_option
@click.option(
    "--ignore",
    multiple=True,
    metavar="ASPECT...",
    help="Do not compare: type, attributes, element-types, shapes, constants, edges, tensor-names "
    "(of inputs and outputs), order (of inputs and outputs).",
)
@click.option(
    "--also",
    multiple=True,
    metavar="ASPECT...",
    help="Compare as well: names (of layers and of all tensors), rt-info, version (of the IR).",
)
@click.option(
    "--limit",
    type=Whole(0),
    default=100,
    show_default=True,
    metavar="N",
    help="How many layers to list for each kind of change; 0 lists all, and all changed constants.",
)
@view_option("Also write an HTML page that shows both models, with the changes marked.")
@silent_option
@weights_option
@second_weights_option
@colour_option
def command(
    first: str,
    second: str,
    form: str,
    output_file: str | None,
    ignore: tuple[str, ...],
    also: tuple[str, ...],
    limit: int,
    view: str | None,
    quiet: bool,
    weights: str,
    second_weights: str,
    color: str,
) -> None:
    """Show which layers were added, removed and changed from A to B.

    Layers are matched by their content and connections, whatever their ids, names and order in the
    file. irshape compares the operations with their attributes, inferred types and shapes, the
    bytes of constants, and what feeds each input. A and B are IRs, ONNX models or oneDNN graphs;
    one of them can be - for standard input.

    \b
    Examples:
      irshape diff before.xml after.xml
      irshape diff float.xml int8.xml --view int8.html
      irshape diff a.xml b.xml --ignore constants --also names rt-info

    Exit status, as that of diff: 0 if the models are equal, 1 if they differ, 2 if one of them
    cannot be read.
    """
    from ..differences.comparing import diff
    from ..differences.result import chosen_aspects

    if first == "-" and second == "-":
        raise click.UsageError("only one of the models can be standard input")
    with usage_errors():
        aspects = chosen_aspects(also, ignore)
    keep_apart([first], output_file, view, weights=weights)
    keep_apart([second], output_file, view, weights=second_weights)
    before = load_or_exit(first, weights, status=2)
    difference = diff(before, load_or_exit(second, second_weights, status=2), aspects)
    if view is not None:
        write_beside(view, difference.first, difference.second)
    if not quiet:
        _write(difference, form, output_file, limit, color)
    if not difference.equal:
        raise click.exceptions.Exit(1)


def _write(
    difference: ModelDiff, form: str, output_file: str | None, limit: int, color: str
) -> None:
    """Prints the difference, or writes it to a file, which appears complete or not at all."""
    to_file = output_file not in (None, "-")
    if form == "json":
        output = json_text(difference.to_dict(), 1) + "\n"
    else:
        lines = list(_text(difference, limit))
        if not to_file:
            tones = [TONES.get(line[:1]) if wants_colour(color) else None for line in lines]
            lines = [
                part if tone is None else click.style(part, fg=tone)
                for line, tone in zip(lines, tones, strict=True)
                for part in fitted([line])
            ]
        output = "".join(f"{line}\n" for line in lines)
    deliver(output, output_file, colour=True)


def _text(difference: ModelDiff, limit: int) -> Iterator[str]:
    """Yields the difference as lines, which begin with ~ (changed), - (removed) or + (added)."""
    yield f"A {plain(difference.first.path)}"
    yield f"B {plain(difference.second.path)}"
    yield difference.in_brief
    grouped: set[int] = set()
    for (old, new), weights in difference.retyped.items():
        yield f"~ {counted(len(weights), 'constant')} {plain(old)} → {plain(new)}"
        grouped.update(map(id, weights) if limit and len(weights) > FEW else ())
    for note in difference.notes:
        yield f"note: {plain(note)}"
    for change in difference.changes:
        yield f"~ {plain(str(change))}"
    changed = [
        pair for pair in difference.changed if not pair.inherited and id(pair) not in grouped
    ]
    for pair in _first(changed, limit):
        yield f"~ {_pair(pair)}"
        for change in pair.changes:
            yield f"    {plain(str(change))}"
    yield from _rest(len(changed), limit, "changed")
    for sign, word, how, layers in (
        ("-", "removed", "merged into", difference.removed),
        ("+", "added", "equal to", difference.added),
    ):
        shown = [each for each in layers if not each.constant and each.same_as is None]
        for alone in _first(shown, limit):
            yield f"{sign} {_alone(alone)}"
        yield from _rest(len(shown), limit, word)
        constants = Counter(each.layer.type for each in layers if each.constant)
        if constants:
            kinds = ", ".join(f"{count:,} {plain(kind)}" for kind, count in constants.items())
            yield f"{sign} {kinds} with constant outputs"
        equal: dict[str, list[str]] = {}
        for each in layers:
            if each.same_as is not None and not each.constant:
                equal.setdefault(place(each.same_as), []).append(place(each.layer))
        for same, names in _first([*equal.items()], limit):
            yield f"{sign} {first_of(names, 3)}, {how} {same}"
        yield from _rest(len(equal), limit, word)


def _first(layers: Sequence[T], limit: int) -> Sequence[T]:
    return layers[:limit] if limit else layers


def _rest(count: int, limit: int, word: str) -> Iterator[str]:
    if limit and count > limit:
        yield f"  … and {count - limit:,} more {word}; --limit 0 lists all"


def _pair(each: LayerDiff) -> str:
    if each.first.label == each.second.label and each.first.path == each.second.path:
        return place(each.first)
    return f"{place(each.first)} → {place(each.second)}"


def _alone(each: Unmatched) -> str:
    ends = [
        f", {word} {', '.join(map(place, layers[:4]))}{', …' if len(layers) > 4 else ''}"
        for word, layers in (
            ("takes", [layer for layer in each.inputs if not layer.is_constant]),
            ("feeds", each.users),
        )
        if layers
    ]
    return place(each.layer) + "".join(ends)
