"""Compares what the playground reports with what the command line prints, byte by byte.

usage: python tests/playground/compare.py PAGE [FOLDER…]

PAGE is the folder that `playground/make_page.py` wrote. Compared are all examples, all attacks of
tests/hostile, and every .xml and .onnx below the FOLDERs, each with its .bin. Needs node.
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

from click.testing import CliRunner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "hostile")]

from irshape.cli import cli  # noqa: E402

NODE = shutil.which("node")
LARGEST = 1 << 30
"""Bytes of a .bin that the page takes, as app.mjs has it."""


class Given(NamedTuple):
    """A model as a browser is given it."""

    name: str
    path: Path
    weights: str = "beside"
    """`none` where the .bin is nothing that a browser can be given, or too large for it."""


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

    def validate(self, given: Given) -> Answer:
        weights = given.path.with_suffix(".bin")
        has_bin = given.weights == "beside" and weights.is_file()
        files = [given.path, *([weights] if has_bin else [])]
        return self.ask("validate", [given.path.name, given.weights], files)

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


def printed(given: Given) -> Answer:
    """What `irshape validate --format json` prints in the folder of a file."""
    command = ["validate", given.path.name, "--format", "json", "--isolated"]
    with inside(given.path.parent):
        done = CliRunner().invoke(cli, [*command, "--weights", given.weights])
    return Answer(done.stdout if done.exit_code < 2 or done.stdout.startswith("{") else "")


def attacks(folder: Path) -> Iterator[Given]:
    """All attacks but those whose model is no file: a pipe, a device, a link that leads nowhere."""
    from attacks import ATTACKS

    for number, (name, attack) in enumerate(ATTACKS.items()):
        place = folder / str(number)
        place.mkdir()
        path = attack.make(place)
        if path.is_file():
            weights = path.with_suffix(".bin")
            unfit = weights.is_symlink() or (
                weights.exists() and (not weights.is_file() or weights.stat().st_size > LARGEST)
            )
            yield Given(name, path, "none" if unfit else "beside")
        shutil.rmtree(place, ignore_errors=True)


def below(folder: Path) -> Iterator[Given]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".xml", ".onnx") and path.is_file():
            yield Given(str(path), path)


def compared(kind: str, listed: Iterable[Given], playground: Playground) -> int:
    """Prints what differs, and the counts. 1 if something does."""
    count, unequal, seconds = 0, 0, 0.0
    for given in listed:
        here, there = printed(given), playground.validate(given)
        count += 1
        seconds += there.seconds
        if here.text != there.text:
            unequal += 1
            print(f"{kind}: {given.name}: {there.text[:200]!r} is not {here.text[:200]!r}")
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
