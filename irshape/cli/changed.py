"""Finds the models that have changed since a commit, for `irshape validate --since`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ..checking.exports import configurations_of
from ..formats.onnx.recognition import external_files
from ..urls import is_url

_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"})


def changed_since(
    commit: str, files: Sequence[str], rules: Iterable[str] = ()
) -> tuple[list[str], list[str]]:
    """Returns a pair: the models that are new or changed since a commit, and files that git lacks.

    A model also counts as changed if its .bin, its external data or a configuration file of its
    exported folder (e.g. `config.json`) was changed, deleted or renamed. The files that git lacks
    are data of models in git; they were neither added nor ignored. Each file is compared in the
    repository that contains it.
    rules: the configuration and plugin files. If one of them has changed, all models count as
    changed. In a repository without commits, all files are new since HEAD. Raises `UsageError` for
    a commit that git does not know, or a file in no repository.
    """
    if commit.startswith("-"):
        raise click.UsageError(f"--since takes a commit or a branch, got '{commit}'")
    streams = {file for file in files if file == "-" or is_url(file)}  # always checked
    kept = [file for file in files if file not in streams]
    tops = {_top_above(file): file for file in kept or ["."]}
    if None in tops:
        raise click.UsageError(f"--since: '{tops[None]}' is in no git repository")
    changed, new, tracked = set[str](), set[str](), set[str]()
    for top in filter(None, tops):
        base = _commit_in(top, commit)
        own = _files(top, "ls-files")
        tracked |= own
        new |= _files(top, "ls-files", "--others", "--exclude-standard")
        # a rename is a deletion, too: the model needs the file under its old name
        diff = ("diff", "--name-only", "--no-ext-diff", "--no-renames")
        try:
            changed |= own if base is None else _files(top, *diff, base)
        except click.UsageError as problem:
            raise click.UsageError(
                f"{problem.message}: is '{commit}' in this clone? A shallow clone lacks branches "
                "and older commits: fetch them, in CI with fetch-depth: 0"
            ) from None
    changed |= new
    if not changed.isdisjoint(map(os.path.realpath, rules)):
        changed |= tracked
    data = {file: _data(file) for file in kept}
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
    chosen = [file for file in files if file in streams or not changed.isdisjoint(parts[file])]
    return chosen, sorted(map(os.path.relpath, lacking))


def in_git(files: Sequence[str]) -> list[str]:
    """Returns the files, without those that git ignores. Keeps files that are in no repository."""
    tops = {file: _top_above(file) for file in files}
    known = {
        each
        for top in filter(None, set(tops.values()))
        for others in ((), ("--others", "--exclude-standard"))
        for each in _files(top, "ls-files", *others)
    }
    return [file for file in files if tops[file] is None or os.path.realpath(file) in known]


def _top_above(file: str) -> str | None:
    """Returns the top folder of the repository that contains a file; None if there is none."""
    folder = Path(os.path.realpath(os.path.dirname(file) or "."))
    return next((str(each) for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def _commit_in(top: str, commit: str) -> str | None:
    """Returns the commit with which to compare a repository. This is `commit`, except in a
    submodule that does not contain the working directory: there, it is the submodule's commit that
    the superproject records. Returns None if the repository has no commits, or if the
    superproject did not have the submodule at `commit`.
    """
    outer = _git(top, "rev-parse", "--show-superproject-working-tree").strip()
    if outer and top != _top_above("."):
        outer = os.path.realpath(outer)
        base = _commit_in(outer, commit)
        name = os.path.relpath(top, outer).replace(os.sep, "/")
        entry = () if base is None else _git(outer, "ls-tree", base, "--", name).split()
        return entry[2] if entry else None
    unborn = commit == "HEAD" and not _git(top, "rev-list", "--max-count=1", "--all")
    return None if unborn else commit


def _data(file: str) -> frozenset[str]:
    """Returns the real paths of the files with a model's weights."""
    if file.endswith(".onnx"):
        return external_files(file)
    return frozenset({os.path.realpath(f"{os.path.splitext(file)[0]}.bin")})


def _files(top: str, *command: str) -> set[str]:
    """Returns the real paths of the files of a repository that a git command lists."""
    names = _git(top, *command, "-z", "--").split("\0")
    return {os.path.realpath(os.path.join(top, name)) for name in names if name}


def _git(top: str, *arguments: str) -> str:
    """Returns the output of a git command in a repository. Raises `UsageError`."""
    # a hook sets GIT_DIR and GIT_INDEX_FILE, which would lead to its own repository
    environment = {name: text for name, text in os.environ.items() if name not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", "-C", top, *arguments], capture_output=True, check=False, env=environment
        )
    except OSError as problem:
        raise click.UsageError(f"--since needs git: {problem.strerror}") from None
    if done.returncode:
        lines = os.fsdecode(done.stderr).strip().splitlines() or ["git failed"]
        raise click.UsageError(f"--since: {lines[0]}")
    return os.fsdecode(done.stdout)
