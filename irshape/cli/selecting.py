"""Defines the options that select rules and files. They override or extend the configuration."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..byte_sizes import parse_size
from ..rules.settings import Devices
from .arguments import Whole, device_option, extension_option, parsed, target_option, words
from .common import options, usage_errors

if TYPE_CHECKING:
    from ..settings.configuration import Configuration


class Chosen(NamedTuple):
    """The configuration with the options applied."""

    configuration: Configuration
    update_baseline: bool
    shard: tuple[int, int] | None
    only_ir: bool

    def part(self, files: list[str]) -> list[str]:
        """Returns the files of the shard that --shard names; all files without --shard."""
        if self.shard is None:
            return files
        from ..checking.many import shard

        return shard(files, *self.shard)


def _ignored(text: str) -> tuple[str, tuple[str, ...]]:
    pattern, colon, codes = text.rpartition(":")
    if not colon or not pattern or not codes:
        raise click.UsageError(f"--per-file-ignores takes PATTERN:CODES, got '{text}'")
    selectors = tuple(words([codes]))
    return (
        os.path.join(os.getcwd(), pattern.removeprefix("./")) if "/" in pattern else pattern
    ), selectors


def _shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise click.UsageError(f"--shard takes I/N with I from 1 to N, such as 1/4, got '{text}'")
    return int(match[1]), int(match[2])


fixing_options = options(
    click.option(
        "--select",
        multiple=True,
        metavar="CODES",
        help="Report only these rules: codes, prefixes of codes, names, or ALL.",
    ),
    click.option(
        "--extend-select",
        multiple=True,
        metavar="CODES",
        help="Report these rules as well, such as opt-in rules.",
    ),
    click.option("--ignore", multiple=True, metavar="CODES", help="Do not report these rules."),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="PATTERN:CODES",
        callback=parsed(lambda texts: tuple(map(_ignored, texts))),
        help="Do not report these rules in the files that match.",
    ),
    click.option(
        "--ignore-comments",
        is_flag=True,
        help="Ignore the comments <!-- irshape: disable=… --> in files.",
    ),
    click.option(
        "--fail-level",
        type=click.Choice(["error", "warning", "info"]),
        help="Exit 1 if there are findings of at least this severity. [default: error]",
    ),
    click.option(
        "--baseline", metavar="FILE", help="Do not report the findings that this file lists."
    ),
    target_option,
    device_option,
    click.option(
        "--max-alloc",
        metavar="SIZE",
        callback=parsed(parse_size),
        help="With --device: the largest buffer that the device accepts, such as 4GiB.",
    ),
    extension_option(),
    click.option(
        "--config",
        metavar="FILE",
        help="The configuration file. "
        "[default: the nearest irshape.toml or pyproject.toml, from this folder upwards]",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration."),
    click.option(
        "--jobs",
        "-j",
        type=Whole(1),
        metavar="N",
        help="The number of processes for several files. [default: one per core]",
    ),
    click.option(
        "--shard",
        metavar="I/N",
        callback=parsed(_shard),
        help="Divide the files into N parts, and take only part I.",
    ),
    click.option(
        "--only-ir",
        is_flag=True,
        help="Skip files that are not models, even if named. For a data file, `validate` checks "
        "its model; for the configuration or a plugin, it checks all models in git.",
    ),
)
"""The options of a command that fixes the selected findings."""

selection_options = options(
    fixing_options,
    click.option(
        "--max-errors",
        type=Whole(1),
        metavar="N",
        help="Stop after this number of errors.",
    ),
    click.option(
        "--update-baseline", is_flag=True, help="Write all current findings to the baseline."
    ),
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of findings."),
    click.option(
        "--cache-dir",
        metavar="DIR",
        help="The folder of the cache. "
        "[default: IRSHAPE_CACHE_DIR, or the cache folder of the user]",
    ),
)
"""`fixing_options`, and further options of a command that reports all findings."""


def chosen(given: dict[str, Any]) -> Chosen:
    """Returns the configuration with the options applied. Raises `UsageError` for invalid options.

    given: the values of the options that the command has, by parameter name.
    """
    from ..settings.configuration import Configuration, extensions

    if given["isolated"] and given["config"]:
        raise click.UsageError("--isolated and --config exclude each other")
    with usage_errors():
        configuration = (
            Configuration()
            if given["isolated"]
            else Configuration.read(given["config"])
            if given["config"]
            else Configuration.find()
        )
        changes: dict[str, Any] = {
            key: given[key]
            for key in ("fail_level", "max_errors", "baseline", "jobs", "cache_dir")
            if given.get(key) is not None
        }
        if given["per_file_ignores"]:
            changes["per_file_ignores"] = (
                *configuration.per_file_ignores,
                *given["per_file_ignores"],
            )
        if given["ignore_comments"]:
            changes["comments"] = False
        if given["target"]:
            changes["target"] = given["target"]
        names, limit = configuration.devices
        changes["devices"] = Devices(given["devices"] or names, given["max_alloc"] or limit)
        if given["max_alloc"] and not changes["devices"].names:
            raise click.UsageError(
                "--max-alloc needs a --device, or `devices` in the configuration"
            )
        if given["extensions"]:
            changes["extensions"] = (*configuration.extensions, *extensions(given["extensions"]))
        if given.get("no_cache"):
            changes |= {"cache": False, "cache_dir": None}
        configuration = _selected(configuration._replace(**changes), given)
    if not configuration.cache:
        configuration = configuration._replace(cache_dir=None)
    update = bool(given.get("update_baseline"))
    if update and not configuration.baseline:
        raise click.UsageError(
            "--update-baseline needs --baseline FILE, or `baseline` in the configuration"
        )
    if update and configuration.max_errors is not None:
        raise click.UsageError(
            "--update-baseline needs all findings, but --max-errors leaves some out"
        )
    return Chosen(configuration, update, given["shard"], given["only_ir"])


def _selected(configuration: Configuration, given: dict[str, Any]) -> Configuration:
    """Returns the configuration with --select, --extend-select and --ignore applied.

    Raises `ValueError` for selectors and plugins that cannot be used, before a file is read.
    """
    from ..rules.plugins import check_plugins
    from ..settings.configuration import Configuration
    from ..settings.selection import overridden
    from ..settings.selectors import check_selectors

    check_plugins()
    for pattern, selectors in configuration.per_file_ignores:
        check_selectors(selectors, f"per-file-ignores {pattern}", configuration.custom)
    select, extend, ignore = (
        tuple(words(given[name])) for name in ("select", "extend_select", "ignore")
    )
    if given["select"] and not select:
        raise ValueError("--select names no rule; nothing would be checked")
    over = Configuration(select or None, extend, ignore)
    return configuration if over == Configuration() else overridden(configuration, over)
