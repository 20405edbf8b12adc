"""The command line: one module a command, imported when that command is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from .. import __version__

COMMANDS = {
    "validate": "Report everything that is wrong with IR files.",
    "fix": "Put right what has one right answer.",
    "requires": "Tell the oldest OpenVINO release that can read a model.",
    "infer": "Print the element type and shape of every output port.",
    "run": "Execute a model in NumPy.",
    "query": "List the layers of models that an XPath expression selects.",
    "convert": "Write an ONNX model or a oneDNN graph as an OpenVINO IR.",
    "crosscheck": "Compare types, shapes and values with OpenVINO's.",
    "compare": "Compare two models tensor by tensor.",
    "ops": "List the operations that irshape knows, or explain one.",
    "rule": "Explain a rule.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"{__name__}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=False,
)
@click.version_option(
    __version__, "-V", "--version", prog_name="irshape", message="%(prog)s %(version)s"
)
def cli() -> None:
    """Reads, shape-checks, evaluates and cross-checks OpenVINO IR files.

    Exit status: 0 nothing at or above the fail level, 1 findings, 2 usage or a path that cannot be opened.
    """


def main(arguments: list[str] | None = None) -> Any:
    """The entry point: runs a command, and turns whatever goes wrong into one line and an exit status."""
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
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except OSError as problem:
        name = f"'{problem.filename}': " if problem.filename else ""
        click.echo(f"irshape: {name}{problem.strerror or problem}", err=True)
        status = 2
    except Exception as problem:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        click.echo(f"irshape: internal error: {type(problem).__name__}: {problem}", err=True)
        click.echo("This is a bug in irshape; IRSHAPE_DEBUG=1 shows where.", err=True)
        status = 2
    if arguments is not None:
        sys.exit(status or 0)
    _leave(status or 0)


def _leave(status: int) -> NoReturn:
    """Ends the process without taking the model apart object by object, which takes a tenth of the time of a large one."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads any more
        os._exit(status or 1)
    os._exit(status)
