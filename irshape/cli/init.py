"""`irshape init`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from .arguments import Command, extension_option
from .common import echo, usage_errors

CONFIGURATION = """\
# What `irshape validate` checks in this repository. `irshape rule` lists the rules.

fail-level = "error"  # or "warning"
{target}
{extensions}# select = ["ALL"]    # the default is every rule that is not opt-in
# extend-select = ["IR701"]  # NaN in the weights, a warning: also set fail-level = "warning"
# ignore = ["IR125"]

# [per-file-ignores]
# "legacy/**" = ["IR2"]

# [policy]
# forbidden-operations = ["NonMaxSuppression"]
# max-weights = "500MB"
# max-tensor = "1GiB"

# [[contract]]
# files = ["*.xml"]
# require = ["nothing is dynamic"]
"""

HOOK = """\
repos:
  - repo: local
    hooks:
      - id: irshape
        name: irshape
        entry: irshape validate --only-ir
{arguments}        language: system
        require_serial: true
      - id: irshape-deleted  # git names no deleted data to the hook above
        name: irshape (deleted files)
        entry: irshape validate . --only-ir --since HEAD --select IR501 --ignore IR0
{arguments}        language: system
        pass_filenames: false
        always_run: true
"""


@click.command("init", cls=Command)
@click.argument("folder", metavar="[DIR]", default=".")
@click.option(
    "--target",
    metavar="RELEASE",
    help="The oldest release that must read the models, such as 2024.6.",
)
@click.option(
    "--plugin",
    multiple=True,
    metavar="FILE.py",
    type=click.Path(exists=True),
    help="A Python file with operations and rules of your own, which the hooks then load.",
)
@extension_option("A custom operation of the models, to list in the configuration.")
def command(
    folder: str, target: str | None, plugin: tuple[str, ...], extensions: tuple[str, ...]
) -> None:
    """Write a configuration and pre-commit hooks.

    irshape.toml contains the configuration, with the most used keys as comments.
    .pre-commit-config.yaml contains two hooks, which run the installed irshape. If this file
    exists, irshape prints the hooks instead, to be added by hand.

    Exit status: 0; 2 if the folder has a configuration already, or a file cannot be written.
    """
    from ..formats.atomic import write_together
    from ..releases import parse_release
    from ..settings import configuration

    with usage_errors():
        configuration.extensions(extensions)
        if target is not None:
            parse_release(target)
        known = configuration.Configuration.find(folder).path
    if known is not None and os.path.samefile(os.path.dirname(known) or ".", folder):
        raise click.UsageError(f"'{known}' has a configuration already")
    line = f'target = "{target}"' if target else '# target = "2024.6"   # the OpenVINO in use'
    declared = f"extensions = {json.dumps(extensions)}\n" if extensions else ""
    arguments = [word for path in plugin for word in ("--plugin", path)]
    # a list as JSON writes it is one in TOML and in YAML
    hook = HOOK.format(arguments=f"        args: {json.dumps(arguments)}\n" if plugin else "")
    text = CONFIGURATION.format(target=line, extensions=declared)
    files = {Path(folder, "irshape.toml"): text.encode()}
    hooks = Path(folder, ".pre-commit-config.yaml")
    if not hooks.exists():
        files[hooks] = hook.encode()
    write_together(files)
    for path in files:
        click.echo(f"irshape: wrote '{path}'", err=True)
    if hooks not in files:
        click.echo(f"irshape: '{hooks}' exists; add these hooks to its repos:", err=True)
        echo(hook, newline=False)
    here = Path(folder).resolve()
    top = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
    if top != here:
        click.echo(
            f"irshape: pre-commit and irshape run in '{top}', where they do not find these files: "
            "run `irshape init` there",
            err=True,
        )
    click.echo(
        "irshape: git runs the hooks after `pip install pre-commit` and `pre-commit install`",
        err=True,
    )
