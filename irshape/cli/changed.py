"""Finds the models that have changed since a commit, for `irshape validate --since`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

import click


def changed_since(commit: str, files: Sequence[str]) -> list[str]:
    """Returns the files that are new or have changed since a commit. A .bin counts for its .xml.

    A .bin counts also if it is gone. In a repository without commits, all files are new since HEAD.
    Raises `UsageError` if git does not know the commit.
    """
    if commit.startswith("-"):
        raise click.UsageError(f"--since takes a commit or a branch, got '{commit}'")
    top = _git("rev-parse", "--show-toplevel").strip()
    unborn = commit == "HEAD" and not _git("rev-list", "--max-count=1", "--all")
    compare = ["ls-files"] if unborn else ["diff", "--name-only", "--no-ext-diff", commit]
    differing = _git("-C", top, *compare, "-z", "--")
    new = _git("-C", top, "ls-files", "--others", "--exclude-standard", "-z")
    changed = {
        os.path.realpath(os.path.join(top, name))
        for name in (*differing.split("\0"), *new.split("\0"))
        if name
    }
    return [
        file
        for file in files
        if not {
            os.path.realpath(path) for path in (file, f"{os.path.splitext(file)[0]}.bin")
        }.isdisjoint(changed)
    ]


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
