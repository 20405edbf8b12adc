"""Shared parts of the commands: paths, colours, and options with the same meaning everywhere."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..spelling import counted
from ..urls import is_url, without_credentials

if TYPE_CHECKING:
    from ..model.graph import Model

Decorator = Callable[[Any], Any]

FOREIGN = {".json": "oneDNN graph", ".onnx": "ONNX model"}
"""The formats other than IR, by the suffix of their files."""


def expand(
    paths: Iterable[str], *, only_ir: bool = False, foreign: bool = False, empty: bool = False
) -> list[str]:
    """Returns the files that paths name. Searches folders for IRs, resolves globs, and keeps `-`.

    Replaces a .bin, even a deleted one, by the .xml beside it. Raises `UsageError` for a path that
    matches no file.
    only_ir: skip files that are not models, even if `paths` names them. With `foreign`, replace
    an external data file by the ONNX models that refer to it, from its folder or those above.
    foreign: also search folders for oneDNN graphs and, with the onnx package, ONNX models.
    empty: accept folders without models.
    """
    files: list[str] = []
    for path in map(_described_by, paths):
        if path == "-":
            files.append(path)
        elif is_url(path):
            files += _behind(path)
        elif os.path.isdir(path):
            inside = _inside(path, (".xml", *FOREIGN) if foreign else (".xml",))
            inside = _without_onnx(inside, path)
            files += inside
            if not inside and not empty:
                others = f", {' or '.join(FOREIGN.values())}" if foreign else ""
                raise click.UsageError(f"no IR{others} in the folder '{path}'")
        elif os.path.exists(path):
            files.append(path)
        else:
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise click.UsageError(f"'{path}': no such file or folder")
            folders = any(os.path.isdir(match) for match in matches)
            files += expand(matches, foreign=foreign) if folders else matches
    files = list(dict.fromkeys(files))
    if not only_ir:
        return files
    whole = {
        path
        for path in files
        if path == "-" or is_url(path) or os.path.isdir(path) or _may_hold_model(Path(path))
    }
    named = _named_data(set(files) - whole) if foreign else {}
    models = [[path] if path in whole else named.get(os.path.realpath(path), []) for path in files]
    return list(dict.fromkeys(chain.from_iterable(models)))


def unjudged(files: int) -> str:
    """Returns a note that --target and --device have no effect on files that are not IRs."""
    return (
        f"the target and the devices apply only to IRs, not to {counted(files, 'file')} of other "
        "formats; `irshape convert` converts them to IRs"
    )


def _described_by(path: str) -> str:
    """Returns the .xml beside a .bin, even if the .bin was deleted; any other path unchanged."""
    stem, extension = os.path.splitext(path)
    return f"{stem}.xml" if extension == ".bin" and os.path.isfile(f"{stem}.xml") else path


def _named_data(paths: Iterable[str]) -> dict[str, list[str]]:
    """Maps the real path of each external data file to the ONNX models that refer to it. Reads the
    ONNX models in the folders of `paths` and in the folders above these."""
    from ..formats.onnx.recognition import external_files

    folders = {folder for path in paths for folder in Path(path).parents}
    named: dict[str, list[str]] = {}
    for model in sorted(str(each) for folder in folders for each in folder.glob("*.onnx")):
        for data in external_files(model):
            named.setdefault(data, []).append(model)
    return named


def _without_onnx(files: list[str], folder: str) -> list[str]:
    """Returns the files. If the onnx package is missing, leaves out the ONNX models, and says on
    stderr how many."""
    from importlib.util import find_spec

    onnx = [path for path in files if path.endswith(".onnx")]
    if not onnx or find_spec("onnx") is not None:
        return files
    count = counted(len(onnx), "ONNX model")
    click.echo(f"irshape: {count} in '{folder}' skipped; irshape[onnx] reads ONNX", err=True)
    return [path for path in files if path not in onnx]


def _inside(folder: str, suffixes: tuple[str, ...]) -> list[str]:
    """Returns the models in a folder, and entries that cannot be examined.

    These entries are broken links, pipes and unreadable folders. irshape reports an error when it
    checks such an entry, so that no model is skipped silently.
    """
    closed: list[OSError] = []
    candidates = [
        Path(place, name)
        for place, _, names in os.walk(folder, onerror=closed.append)
        for name in names
        if name.endswith(suffixes)
    ]
    candidates = [each for each in candidates if _may_hold_model(each)]
    return list(map(str, sorted(candidates + [Path(problem.filename) for problem in closed])))


def _behind(url: str) -> list[str]:
    """Returns a URL if it names one file; for a folder or pattern, the URLs of the IRs in it."""
    if "*" not in url and os.path.splitext(without_credentials(url))[1]:
        return [url]
    from ..formats.remote import list_remote

    try:
        files = list_remote(url)
    except OSError as problem:
        raise click.UsageError(f"'{without_credentials(url)}': {problem.strerror}") from None
    if not files:
        raise click.UsageError(f"no IR at '{without_credentials(url)}'")
    return files


def _may_hold_model(path: Path) -> bool:
    """Returns whether a file may be a model, as far as its first bytes show.

    Any .onnx may be a model, an .xml if it may be an IR or cannot be read, and a .json if it begins
    as a oneDNN graph.
    """
    if path.suffix not in (".xml", ".json"):
        return path.suffix == ".onnx"
    graph = path.suffix == ".json"
    if not path.is_file():
        return not graph  # a pipe would be waited for
    from ..formats.ir.recognition import PEEK, may_be_ir
    from ..formats.onednn import begins_as_graph

    try:
        with path.open("rb") as file:
            return (begins_as_graph if graph else may_be_ir)(file.read(PEEK))
    except OSError:
        return not graph


def echo(text: str | bytes, *, newline: bool = True, colour: bool | None = None) -> None:
    """Writes to stdout. If no program reads stdout any more, drops this and all further output.

    Thus `irshape validate … | head` still ends with the exit status for its findings.
    """
    try:
        click.echo(text, nl=newline, color=colour)
    except BrokenPipeError:
        drop_stdout()


def deliver(content: str | bytes, output: str | None, *, colour: bool | None = None) -> None:
    """Writes to stdout if the path is None or `-`, else to a file, completely or not at all."""
    if output is None or output == "-":
        echo(content, newline=False, colour=colour)
        return
    from ..formats.atomic import write_atomically

    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    write_atomically(Path(output), data)


def echo_json(document: object) -> None:
    """Writes a document to stdout as indented JSON."""
    from ..diagnostics.renderers.common import json_text

    echo(json_text(document, 1))


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turns a `ValueError` into a `UsageError`, which ends the command with status 2."""
    try:
        yield
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def drop_stdout() -> None:
    """Discards everything that is still written to stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refuse_overwriting(source: str, output: str, weights: str, overwrite: bool) -> None:
    """Raises `UsageError` if the name of `output` does not end in .xml.

    Without `overwrite`, also raises `UsageError` if the model `output` or its .bin would replace
    the source model or the .bin of the source model.
    """
    if not output.endswith(".xml"):
        raise click.UsageError(
            f"'{output}': irshape writes only IRs, whose names end in .xml: "
            f"-o {os.path.splitext(output)[0]}.xml"
        )
    if not overwrite:
        its_bin = f"{os.path.splitext(output)[0]}.bin"
        hint = "--overwrite allows replacing it"
        keep_apart([source], output, its_bin, weights=weights, hint=hint)


def keep_apart(
    sources: Iterable[str],
    *outputs: str | None,
    weights: str = "beside",
    hint: str = "name another file",
) -> None:
    """Raises `UsageError` if an output file is a source model, or the .bin of a source model.

    None and `-` in `outputs` are ignored.
    """
    there = [output for output in outputs if output is not None and os.path.exists(output)]
    read = _identities(sources, weights) if there else set()
    for output in there:
        if _identity(output) in read:
            raise click.UsageError(f"'{output}' belongs to the model that irshape reads; {hint}")


def _identities(sources: Iterable[str], weights: str) -> set[tuple[int, int]]:
    """Returns the device and inode of each model and .bin, which identify a file under any name."""
    from ..formats.loading import weights_path

    read = [path for source in sources for path in (source, weights_path(source, weights)) if path]
    return {_identity(path) for path in read if os.path.exists(path)}


def _identity(path: str | os.PathLike[str]) -> tuple[int, int]:
    state = os.stat(path)
    return state.st_dev, state.st_ino


def wants_colour(choice: str) -> bool:
    """Returns whether to colour the output: `always`, `never`, or `auto`.

    `auto` checks NO_COLOR first, then FORCE_COLOR, then whether stdout is a terminal.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def options(*several: Decorator) -> Decorator:
    """Returns a decorator that adds several options, in their order."""

    def add(function: Any) -> Any:
        for option in reversed(several):
            function = option(function)
        return function

    return add


colour_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="When to colour the output.",
)
overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    help="Allow the output to replace the model that irshape reads.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Do not describe the written model on standard error."
)
silent_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing; only set the exit status."
)
weights_option = click.option(
    "--weights",
    metavar="FILE|none",
    default="beside",
    help="The .bin, or none to read the model without one. [default: the one beside the .xml]",
)
second_weights_option = click.option(
    "--second-weights",
    metavar="FILE|none",
    default="beside",
    help="The .bin of B; --weights gives the .bin of A.",
)


def form_option(*forms: str, help: str = "Output format.") -> Decorator:
    """Returns the option `--format`, passed as `form`, with a command's own formats.

    The first one is the default.
    """
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help=help,
    )


def load_or_exit(path: str, weights: str = "beside", *, status: int = 1) -> Model:
    """Loads a model. If it cannot be read, prints its diagnostics on stderr and exits.

    The exit status is `status`, or 2 if the package that reads the format is missing.
    """
    from ..diagnostics.renderers.common import plain
    from ..diagnostics.report import LoadError, load

    try:
        return load(path, weights)
    except LoadError as problem:
        for diagnostic in problem.diagnostics:
            hint = f" ({diagnostic.help})" if diagnostic.help else ""
            click.echo(plain(f"{problem.path}:{diagnostic}{hint}"), err=True)
        unread = any(diagnostic.rule == "unreadable-file" for diagnostic in problem.diagnostics)
        raise click.exceptions.Exit(2 if unread else status) from None


def load_for_shapes(path: str, weights: str) -> Model:
    """Loads a model as `load_or_exit` does. If its .bin is missing, says so on stderr.

    Without the .bin, shapes that depend on constants are less specific, or cannot be inferred.
    """
    model = load_or_exit(path, weights)
    state = "ready" if model.weights is None else model.weights.state
    needed = model.kind == "net" and any(layer.is_constant for layer in model.walk())
    if weights != "none" and state != "ready" and needed:
        said = {"absent": "not given", "lfs": "a Git LFS pointer"}.get(state, state)
        click.echo(
            f"irshape: the .bin is {said}, so shapes that depend on constants are not known; "
            "give the .bin with --weights FILE",
            err=True,
        )
    return model


def load_each(paths: Sequence[str], statuses: set[int]) -> Iterator[Model]:
    """Yields the models in several files. If a model cannot be read, says why on stderr, and adds
    the exit status to `statuses`. Raises `OSError` for a single file that cannot be opened.
    """
    for path in paths:
        try:
            model = load_or_exit(path)
        except click.exceptions.Exit as ended:
            statuses.add(ended.exit_code)
        except OSError as problem:
            if len(paths) < 2:
                raise
            click.echo(f"irshape: '{problem.filename or path}': {problem.strerror}", err=True)
            statuses.add(2)
        else:
            yield model


def pairs(
    values: Iterable[str],
    option: str,
    known: Callable[[str], bool] | None = None,
    ends: Sequence[str] = (),
) -> dict[str, str]:
    """Parses `NAME=VALUE` options into a dictionary.

    Raises `UsageError` for a name given twice and for a malformed value. known: whether a text is
    a name; this finds the right `=` if a name contains `=`. ends: the names of the model's inputs
    or outputs. If there is only one, `NAME=` may be omitted.
    """
    named: dict[str, str] = {}
    for value in values:
        words = value.split("=")
        splits = [
            (name, "=".join(words[at:]))
            for at in range(1, len(words))
            if (name := "=".join(words[:at]))
        ]
        if len(words) == 1 and len(ends) > 1:
            names = " or ".join(f"{name}=…" for name in ends)
            raise click.UsageError(f"{option} '{value}' names no input or output: write {names}")
        if len(words) == 1 and ends:
            splits = [(ends[0], value)]
        if not splits:
            raise click.UsageError(f"{option} takes {_metavar(option)}, got '{value}'")
        fitting = [split for split in splits if known is not None and known(split[0])]
        if len(fitting) > 1:
            ways = " or ".join(f"'{name}' and '{rest}'" for name, rest in fitting)
            raise click.UsageError(f"{option} '{value}' can be read as {ways}")
        if not fitting:  # a shape is the last word that begins with [
            fitting = [split for split in splits if split[1].startswith("[")][-1:] or splits[:1]
        name, rest = fitting[0]
        if name in named:
            numbers = all(re.fullmatch(r"-?[\d.]+", each) for each in values)
            hint = f"; write a list as '[{','.join(values)}]'" if numbers else ""
            raise click.UsageError(
                f"{option} gives '{name}' twice: '{named[name]}' and '{rest}'{hint}"
            )
        named[name] = rest
    return named


def _metavar(option: str) -> str:
    """Returns the metavar of an option of the current command."""
    context = click.get_current_context()
    (declared,) = (each for each in context.command.params if option in each.opts)
    return (declared.metavar or "").rstrip(".")
