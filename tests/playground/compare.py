"""Compares what the playground reports with what the command line prints, byte by byte.

usage: python tests/playground/compare.py PAGE [FOLDER…]

PAGE is the folder that `playground/build.py` wrote. Compared are all examples, all attacks of
tests/hostile, and every .xml below the FOLDERs, each with its .bin. Needs node.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from click.testing import CliRunner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "hostile")]

from irshape.cli import cli  # noqa: E402

NODE = shutil.which("node")


class Answer(NamedTuple):
    text: str
    """What was printed; empty if there is no report."""
    seconds: float = 0.0


class Playground:
    """The playground's Python in a process of Node."""

    def __init__(self, page: Path) -> None:
        assert NODE is not None
        command = [NODE, "--max-old-space-size=4096", str(HERE / "answers.mjs"), str(page)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def ask(self, name: str, values: list[Any], files: Iterable[Path]) -> Answer:
        listed = [{"name": path.name, "path": str(path)} for path in files]
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = json.dumps({"name": name, "values": values, "files": listed})
        print(request, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        while line and not line.startswith('{"'):  # what a dying interpreter prints
            line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"broken": "Node ended"}
        if "broken" in answer:
            return Answer(f"broken: {answer['broken']}")
        if answer["text"].startswith('{"error"'):
            return Answer("", answer["seconds"])
        return Answer(answer["text"], answer["seconds"])

    def validate(self, path: Path) -> Answer:
        weights = path.with_suffix(".bin")
        files = [path, *([weights] if weights.is_file() else [])]
        return self.ask("validate", [path.name, "beside"], files)

    def __enter__(self) -> Playground:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def printed(path: Path) -> Answer:
    """What `irshape validate --format json` prints in the folder of a file, without extras."""
    with inside(path.parent), patch.dict(sys.modules, {"onnx": None}):
        done = CliRunner().invoke(cli, ["validate", path.name, "--format", "json", "--isolated"])
    return Answer(done.stdout if done.exit_code < 2 or done.stdout.startswith("{") else "")


def ordinary(folder: Path) -> bool:
    """Whether a folder holds files alone: a browser is given no links, folders and pipes."""
    return all(path.is_file() and not path.is_symlink() for path in folder.iterdir())


def attacks(folder: Path) -> Iterator[tuple[str, Path]]:
    from attacks import ATTACKS

    for number, (name, attack) in enumerate(ATTACKS.items()):
        place = folder / str(number)
        place.mkdir()
        path = attack.make(place)
        if path.parent == place and path.is_file() and ordinary(place):
            size = sum(each.stat().st_size for each in place.iterdir())
            if size < 1 << 28:
                yield name, path
        shutil.rmtree(place, ignore_errors=True)


def below(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.xml")):
        if path.is_file():
            yield str(path), path


def compared(kind: str, listed: Iterable[tuple[str, Path]], playground: Playground) -> int:
    """Prints what differs, and the counts. 1 if something does."""
    count, unequal, seconds = 0, 0, 0.0
    for name, path in listed:
        here, there = printed(path), playground.validate(path)
        count += 1
        seconds += there.seconds
        if here.text != there.text:
            unequal += 1
            print(f"{kind}: {name}: {there.text[:200]!r} is not {here.text[:200]!r}")
    print(f"{kind}: {count} files, {unequal} unequal, {seconds:.1f} s in the playground")
    return int(unequal > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("folders", type=Path, nargs="*")
    arguments = parser.parse_args()
    os.environ.pop("IRSHAPE_DEBUG", None)
    status = 0
    with tempfile.TemporaryDirectory() as scratch, Playground(arguments.page) as playground:
        sources = {"examples": below(ROOT / "examples"), "attacks": attacks(Path(scratch))}
        sources |= {str(folder): below(folder) for folder in arguments.folders}
        for kind, listed in sources.items():
            status |= compared(kind, listed, playground)
    return status


if __name__ == "__main__":
    sys.exit(main())
