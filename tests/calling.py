"""The command line as tests call it, and the findings of its reports."""

from __future__ import annotations

import json
import re
from typing import Any

from click.testing import CliRunner, Result

from irshape.cli import cli


def _done(arguments: tuple[object, ...], stdin: str | bytes | None, **environment: str) -> Result:
    done = CliRunner().invoke(cli, list(map(str, arguments)), input=stdin, env=environment)
    assert done.exception is None or isinstance(done.exception, SystemExit | OSError), (
        done.exception
    )
    return done


def call(
    *arguments: object, stdin: str | bytes | None = None, **environment: str
) -> tuple[int, str, str]:
    """Exit status, stdout, stderr; `main` makes exit status 2 of an `OSError`."""
    done = _done(arguments, stdin, **environment)
    if isinstance(done.exception, OSError):
        return 2, done.stdout, str(done.exception)
    return done.exit_code, done.stdout, done.stderr


def said(*arguments: object, stdin: str | bytes | None = None) -> tuple[int, str]:
    """Exit status, and what both streams say, as a terminal shows it."""
    done = _done(arguments, stdin)
    assert not isinstance(done.exception, OSError), done.exception
    return done.exit_code, done.output


def reported(*arguments: object, stdin: str | bytes | None = None) -> list[dict[str, Any]]:
    """The findings that `validate` reports, file by file."""
    _, output, error = call("validate", "-f", "json", *arguments, stdin=stdin)
    assert output, error
    return [found for file in json.loads(output)["files"] for found in file["diagnostics"]]


def table(text: str) -> dict[str, list[str]]:
    """Rows of cells between `|`, by the first; an indented line goes on with the row."""
    rows = (
        [cell.strip() for cell in row.split("|")] for row in re.split(r"\n(?=\S)", text.strip())
    )
    return {name: [" ".join(cell.split()) for cell in cells] for name, *cells in rows}


def findings(*arguments: str) -> list[tuple[str, str, str, str]]:
    """Code, severity, message and help."""
    return [
        (found["code"], found["severity"], found["message"], found["help"])
        for found in reported(*arguments)
    ]
