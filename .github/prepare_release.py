"""Prepares a checkout for the release of a tag.

usage: python .github/prepare_release.py TAG REPOSITORY

Ends with status 1 unless the version, CHANGELOG.md and CITATION.cff all say what the tag says. Then
names REPOSITORY, a URL, in the metadata, and makes the README's links lead there, because the page
of a package index has no files beside it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def disagreements(tag: str) -> list[str]:
    """What does not belong to the release of this tag."""
    version = tag.removeprefix("v")
    expected = {
        "irshape/version.py": f'__version__ = "{version}"',
        "CITATION.cff": f"version: {version}",
        "CHANGELOG.md": rf"## [{version}] - ",
    }
    return [
        f"{name} has no line that begins with: {line}"
        for name, line in expected.items()
        if not any(other.startswith(line) for other in read(name).splitlines())
    ]


def with_urls(project: str, tag: str, repository: str) -> str:
    urls = {
        "Homepage": repository,
        "Documentation": f"{repository}/tree/{tag}/docs",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    return f"{project}\n[project.urls]\n{lines}"


def with_absolute_links(readme: str, tag: str, repository: str) -> str:
    def absolute(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}[{text}]({repository}/{kind}/{tag}/{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)", absolute, readme)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    tag, repository = arguments
    problems = disagreements(tag)
    if problems:
        print(f"the tag is {tag}, but", *problems, sep="\n", file=sys.stderr)
        return 1
    for name, text in (
        ("pyproject.toml", with_urls(read("pyproject.toml"), tag, repository)),
        ("README.md", with_absolute_links(read("README.md"), tag, repository)),
    ):
        (ROOT / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
