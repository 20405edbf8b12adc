"""Finds the models that have changed since a commit, for `irshape validate --since`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence

import click

from ..checking.exports import configurations_of
from ..formats.onnx.recognition import external_files


def changed_since(
    commit: str, files: Sequence[str], rules: Iterable[str] = ()
) -> tuple[list[str], list[str]]:
    """Returns the models that are new or changed since a commit, and the data that git lacks.

    A model also counts as changed if its .bin, its external data or a configuration file of its
    exported folder (e.g. `config.json`) was changed, deleted or renamed. The data that git lacks
    are new files, neither added nor ignored, that a model in git needs.
    rules: the configuration and plugin files. If one of them has changed, all models count as
    changed. In a repository without commits, all files are new since HEAD. Raises `UsageError` if
    git does not know the commit.
    """
    if commit.startswith("-"):
        raise click.UsageError(f"--since takes a commit or a branch, got '{commit}'")
    unborn = commit == "HEAD" and not _git("rev-list", "--max-count=1", "--all")
    new = _files("ls-files", "--others", "--exclude-standard")
    # a rename is a deletion, too: the model needs the file under its old name
    diff = ("diff", "--name-only", "--no-ext-diff", "--no-renames", commit)
    changed = new | (set() if unborn else _files(*diff))
    if unborn or not changed.isdisjoint(map(os.path.realpath, rules)):
        changed |= _files("ls-files")
    data = {file: _data(file) for file in files}
    lacking = {
        path
        for file, paths in data.items()
        if os.path.realpath(file) not in new
        for path in paths & new
    }
    parts = {
        file: {os.path.realpath(file), *paths, *configurations_of(file)}
        for file, paths in data.items()
    }
    return [file for file in files if not changed.isdisjoint(parts[file])], sorted(
        map(os.path.relpath, lacking)
    )


def in_git(files: Sequence[str]) -> list[str]:
    """Returns the files that git knows or does not ignore."""
    known = _files("ls-files") | _files("ls-files", "--others", "--exclude-standard")
    return [file for file in files if os.path.realpath(file) in known]


def _data(file: str) -> frozenset[str]:
    """Returns the real paths of the files that hold a model's weights."""
    if file.endswith(".onnx"):
        return external_files(file)
    return frozenset({os.path.realpath(f"{os.path.splitext(file)[0]}.bin")})


def _files(*command: str) -> set[str]:
    """Returns the real paths of the files of the repository that a git command lists."""
    top = _git("rev-parse", "--show-toplevel").strip()
    names = _git("-C", top, *command, "-z", "--").split("\0")
    return {os.path.realpath(os.path.join(top, name)) for name in names if name}


def _git(*arguments: str) -> str:
    """Returns the output of a git command. Raises `UsageError`."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False)
    except OSError as problem:
        raise click.UsageError(f"--since needs git: {problem.strerror}") from None
    if done.returncode:
        lines = os.fsdecode(done.stderr).strip().splitlines() or ["git failed"]
        raise click.UsageError(f"--since: {lines[0]}")
    return os.fsdecode(done.stdout)
