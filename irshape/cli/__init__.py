"""The command line: one module for each command, imported when the command is called."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from .. import __version__
from ..spelling import suggestion
from .arguments import extension_option
from .common import drop_stdout, usage_errors

COMMANDS = (
    "validate",
    "fix",
    "requires",
    "infer",
    "inspect",
    "diff",
    "view",
    "explain",
    "query",
    "run",
    "extract",
    "edit",
    "merge",
    "split",
    "convert",
    "crosscheck",
    "compare",
    "reduce",
    "ops",
    "rule",
    "init",
)
"""The commands, in the order of the help. The first sentence of a command's docstring describes
it."""

FILES = re.compile(r"PATH|MODEL|FILE|DIR|\.xml|^[AB]$")
"""Matches names of arguments and values in the help that stand for files, e.g. `MODEL`."""


def _load_plugins(_: click.Context, __: click.Parameter, paths: tuple[str, ...]) -> None:
    """Loads the files of --plugin. Raises `UsageError` for a file that cannot be used."""
    if not paths:
        return
    from ..settings.plugin_files import load

    with usage_errors():
        for path in paths:
            load(path)


def _know_extensions(context: click.Context, _: click.Parameter, names: tuple[str, ...]) -> None:
    """Registers the operations that --extension and the configuration name, for this command.

    Raises `UsageError` if the configuration or an operation's name is invalid.
    """
    from ..settings.configuration import Configuration, extensions

    with usage_errors():
        known = (*Configuration.find().extensions, *extensions(names))
    if known:
        from ..ops.registry import extensions_known

        context.with_resource(extensions_known(known))


_OF_EVERY_COMMAND = {
    "plugin": click.option(
        "--plugin",
        multiple=True,
        metavar="FILE.py",
        expose_value=False,
        is_eager=True,
        callback=_load_plugins,
        help="A Python file with operations and rules of your own.",
    ),
    "extensions": extension_option(expose_value=False, callback=_know_extensions),
}
"""The options about the user's own operations. Every command has them, except a command that
defines an option of the same name itself."""


class LazyGroup(click.Group):
    """A click group that imports the module of a command only when the command is looked up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"{__name__}.{cmd_name}").command
        assert isinstance(command, click.Command)
        for name, option in _OF_EVERY_COMMAND.items():
            if all(parameter.name != name for parameter in command.params):
                option(command)
        for parameter in command.params:
            if parameter.type is click.STRING and FILES.search(parameter.metavar or ""):
                parameter.type = click.Path(readable=False)  # shells complete it
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = suggestion(name.lower(), list(COMMANDS)) or "; `irshape --help` lists them"
        raise click.UsageError(f"there is no command '{name}'{close}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command, which ends silently if e.g. `head` stops reading its output."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click itself would exit 1
            drop_stdout()
            raise click.exceptions.Exit(0) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            commands = ((name, self.get_command(ctx, name)) for name in COMMANDS)
            formatter.write_dl([(n, each.get_short_help_str(80)) for n, each in commands if each])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=False,
)
@click.version_option(
    __version__, "-V", "--version", prog_name="irshape", message="%(prog)s %(version)s"
)
def cli() -> None:
    """Read, shape-check, evaluate and cross-check OpenVINO IR files.

    Exit status: 0; 1 if there are findings; 2 if the command line or the configuration cannot be
    used, or a path cannot be opened.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Runs a command, and turns every exception into a line on stderr and an exit status."""
    _open_closed_streams()
    try:
        status = cli.main(arguments, prog_name="irshape", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        status = done.exit_code
    except click.ClickException as problem:
        problem.show()
        status = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("irshape: interrupted", err=True)
        status = 130
    except OSError as problem:
        name = f"'{problem.filename}': " if problem.filename else ""
        click.echo(f"irshape: {name}{problem.strerror or problem}", err=True)
        status = 2
    except MemoryError:
        click.echo("irshape: there is not enough memory for this command", err=True)
        status = 2
    except Exception as problem:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        click.echo(f"irshape: internal error: {type(problem).__name__}: {problem}", err=True)
        from ..rules.plugins import entry_point_files

        blamed = "irshape or in one of its plugins" if entry_point_files() else "irshape"
        click.echo(f"This is a bug in {blamed}; IRSHAPE_DEBUG=1 shows the traceback.", err=True)
        status = 2
    if arguments is not None:
        sys.exit(status or 0)
    _leave(status or 0)


def _open_closed_streams() -> None:
    """Opens the null device for each standard stream that was closed when the process began.

    Begins with stdin: the system gives each opened file the lowest free file descriptor.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  it stays open


def _leave(status: int) -> NoReturn:
    """Ends the process without freeing the objects of the model one by one.

    For a large model, freeing them would take a tenth of the command's time.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads the rest
        pass
    os._exit(status)
