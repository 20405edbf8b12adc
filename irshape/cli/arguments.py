"""Reads command lines: options with several values, sections of the help, and shapes of inputs."""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .common import Decorator, pairs

if TYPE_CHECKING:
    from ..model.graph import Model
    from ..releases import Release

T = TypeVar("T")


class Option(click.Option):
    """An option that belongs to a section of the help."""

    def __init__(self, *names: Any, section: str = "", **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.section = section


class Whole(click.IntRange):
    """An integer written in digits. Refuses other notations of Python, such as `1_000`."""

    name = "integer"

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and not re.fullmatch("-?[0-9]+", value):
            self.fail(f"'{value}' is not a whole number in digits, such as 12", param, ctx)
        return int(super().convert(value, param, ctx))


class Real(click.FloatRange):
    """A finite number in decimal notation."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number) or not re.fullmatch("[-+.0-9eE]+", str(value)):
            self.fail(f"'{value}' is not a finite number, such as 0.5 or 1e-3", param, ctx)
        return number


class Command(click.Command):
    """A command with options that take several values: `--from a b` means `--from a --from b`.

    After the last model, each word is a value of the repeatable option before it. A word NAME=VALUE
    that is not the name of a file is a value of such an option even before a model. An option whose
    metavar is `[NAME]...` may have no value on the command line: its value is then empty.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(self._spread(args)))

    def _spread(self, args: Sequence[str]) -> Iterator[str]:
        """Yields the arguments, with an option before each of its values: `--from a --from b`."""
        options = {
            name: each
            for each in self.params
            if isinstance(each, click.Option)
            for name in each.opts
        }
        arguments = [each.nargs for each in self.params if isinstance(each, click.Argument)]
        awaited = len(args) if -1 in arguments else sum(arguments)
        words = deque(args)
        taking: click.Option | None = None
        while words:
            word = words.popleft()
            if word == "--":
                yield word
                yield from words
                return
            elif word.startswith("-") and word != "-":
                name, equals, _ = word.partition("=")
                taking = options.get(name)
                yield word
                if taking is None or taking.is_flag:
                    taking = None
                    continue
                if not equals:
                    alone = not words or words[0].partition("=")[0] in options
                    if alone and taking.metavar == "[NAME]...":
                        yield ""
                    elif alone and words:
                        raise click.BadOptionUsage(name, f"Option '{name}' requires a value.")
                    elif words:
                        yield words.popleft()
                taking = taking if taking.multiple else None
            elif taking is not None and (awaited <= 0 or _is_value_of(taking, word)):
                yield from (taking.opts[0], word)
            else:
                awaited -= 1
                yield word

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the help on the options by section. Options without a section come last."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            row = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if row is not None:
                rows.setdefault(getattr(each, "section", ""), []).append(row)
        rest = rows.pop("", [])
        for section, written in rows.items():
            with formatter.section(section):
                formatter.write_dl(written)
        with formatter.section("Other options" if rows else "Options"):
            formatter.write_dl(rest)


def _is_value_of(option: click.Option, word: str) -> bool:
    return "=" in (option.metavar or "") and "=" in word and not os.path.exists(word)


value_option = click.option(
    "--value",
    "values",
    multiple=True,
    metavar="INPUT=VALUE",
    help="The value of a single layer's input (port id, position or name), such as axes=[0,2].",
)
assume_option = click.option(
    "--assume",
    multiple=True,
    metavar="CONDITION",
    help="A condition on named dimensions: 'seq % 8 == 0', 'past >= 1'.",
)


def parsed(parse: Callable[[Any], T]) -> Callable[[click.Context, click.Parameter, Any], T | None]:
    """Returns a callback that parses the value of an option. A `ValueError` ends the command."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> T | None:
        if value is None:
            return None
        try:
            return parse(value)
        except ValueError as problem:
            raise click.BadParameter(str(problem)) from None

    return callback


def extension_option(
    help: str = "A custom operation, besides those of the configuration: irshape uses the "
    "declared ports of its layers.",
    **attributes: Any,
) -> Decorator:
    """Returns the option `--extension`. attributes: further arguments of `click.option`."""
    return click.option(
        "--extension",
        "extensions",
        multiple=True,
        metavar="TYPE[@VERSION]",
        help=help,
        **attributes,
    )


def words(values: Iterable[str]) -> list[str]:
    """Returns the words in the values of an option, split at spaces and commas."""
    return [part for value in values for part in re.split(r"[\s,]+", value) if part]


def _release(text: str) -> Release:
    from ..releases import parse_release

    return parse_release(text)


def _devices(names: Sequence[str]) -> tuple[str, ...]:
    from ..settings.configuration import device_names

    return device_names(words(names))


target_option = click.option(
    "--target",
    metavar="RELEASE",
    callback=parsed(_release),
    help="Report what this OpenVINO release, such as 2023.3, cannot read.",
)
device_option = click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="DEVICE",
    callback=parsed(_devices),
    help="Report what this device cannot compile: cpu, gpu or npu.",
)


def shape_option(
    help: str = "The shape of an input, by tensor name, layer name, position or id (id:3), such as "
    "x=[1,3,?,?]. Leave out NAME= if the model has only one input.",
) -> Decorator:
    """Returns the option `--shape`. `given_shapes` parses its values."""
    return click.option(
        "-s", "--shape", "shapes", multiple=True, metavar="[NAME=]SHAPE...", help=help
    )


def given_shapes(model: Model, shapes: Sequence[str], *, symbols: bool = False) -> dict[str, str]:
    """Parses the values of `--shape`, and returns the shape of each named input.

    symbols: whether a shape may name dimensions, e.g. `[batch,3]`. Raises `UsageError`.
    """
    from ..model.names import inputs_of
    from ..shapes import PartialShape

    inputs = inputs_of(model)
    if shapes and not inputs.names:
        raise click.UsageError("--shape: the model has no inputs")
    given = pairs(shapes, "--shape", inputs.__contains__, inputs.names)
    for name, shape in given.items() if not symbols else ():
        try:
            PartialShape.parse(shape)
        except ValueError as problem:
            hint = "; only `explain` and `infer --symbols` take names" * _names_sizes(shape)
            raise click.UsageError(f"--shape {name}={shape}: {problem}{hint}") from None
    return given


def _names_sizes(shape: str) -> bool:
    from ..inference.symbolic import parse_named_shape

    try:
        return any(parse_named_shape(shape)[1])
    except ValueError:
        return False
