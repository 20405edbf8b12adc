"""Draws the README's picture: `irshape validate` on a model that OpenVINO reads without complaint.

usage: python docs/pictures/make.py [--check]

The commands really run, and the picture shows what they print. Needs openvino. With `--check`
nothing is written; the exit status is 1 where the picture is not what the commands print today.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PICTURE = HERE / "validate.svg"
MODEL = ROOT / "examples" / "classifier.xml"

READ = "import openvino; openvino.Core().read_model('model.xml')"
COMMANDS = [["python", "-c", READ], ["irshape", "validate", "model.xml"]]


class Fault(NamedTuple):
    layer: str
    right: str
    """The correct text in the layer. Its first occurrence is replaced by `wrong`."""
    wrong: str


FAULTS = [
    Fault("block2/conv1", '<port id="2" precision="FP32">', '<port id="2" precision="FP16">'),
    Fault(
        "block3/depthwise",
        "<dim>8</dim>\n\t\t\t\t</port>\n\t\t\t</output>",
        "<dim>4</dim>\n\t\t\t\t</port>\n\t\t\t</output>",
    ),
    Fault("global_pool", "keep_dims", "keepdims"),
]

COLUMNS = 104
SIZE = 14.0
"""Pixels of the font."""
ADVANCE, LEADING, MARGIN, BAR = SIZE * 0.6, SIZE * 1.4, 20.0, 34.0
BACKGROUND, FOREGROUND, FAINT, PROMPT = "#161b22", "#e6edf3", "#8b949e", "#7ee787"
COLOURS = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"


class Style(NamedTuple):
    colour: str = FOREGROUND
    bold: bool = False


class Run(NamedTuple):
    """Characters with one style, beginning at a column of a line."""

    column: int
    text: str
    style: Style


def broken_model(folder: Path) -> None:
    """Writes the example with its faults as model.xml and model.bin."""
    text = MODEL.read_text(encoding="utf-8")
    for fault in FAULTS:
        layer = text.index(f'name="{fault.layer}"')
        start = text.index(fault.right, layer)
        text = text[:start] + fault.wrong + text[start + len(fault.right) :]
    (folder / "model.xml").write_text(text, encoding="utf-8", newline="\n")
    shutil.copy(MODEL.with_suffix(".bin"), folder / "model.bin")


def printed(command: list[str], folder: Path) -> str:
    """Returns what a command prints on a terminal of `COLUMNS` columns."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "FORCE_COLOR": "1",
        "COLUMNS": str(COLUMNS),
    }
    for name in ("NO_COLOR", "GITHUB_ACTIONS"):
        environment.pop(name, None)
    program = {"python": [sys.executable], "irshape": [sys.executable, "-m", "irshape"]}
    done = subprocess.run(
        [*program[command[0]], *command[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    expected = 1 if command[0] == "irshape" else 0
    if done.returncode != expected or done.stderr:
        raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def terminal() -> list[list[Run]]:
    """Returns the lines on the screen after all commands."""
    lines: list[list[Run]] = []
    with tempfile.TemporaryDirectory() as folder:
        broken_model(Path(folder))
        for command in COMMANDS:
            words = " ".join(f'"{word}"' if " " in word else word for word in command)
            lines.append([Run(0, "$", Style(PROMPT, bold=True)), Run(2, words, Style())])
            lines += screen(printed(command, Path(folder)))
    return lines


def screen(text: str) -> list[list[Run]]:
    """Returns coloured text as a terminal shows it: wrapped at `COLUMNS`, with styles."""
    lines = []
    style = Style()
    for line in text.splitlines():
        runs: list[Run] = []
        column = 0
        for escaped, character in re.findall(r"\x1b\[([\d;]*)m|([^\x1b])", line):
            if not character:
                style = styled(style, escaped)
                continue
            if column == COLUMNS:
                lines.append(runs)
                runs, column = [], 0
            if runs and runs[-1].style == style:
                runs[-1] = runs[-1]._replace(text=runs[-1].text + character)
            else:
                runs.append(Run(column, character, style))
            column += 1
        lines.append(runs)
    return lines


def styled(style: Style, codes: str) -> Style:
    for code in [int(code or 0) for code in codes.split(";")]:
        if code == 0:
            style = Style()
        elif code == 1:
            style = style._replace(bold=True)
        elif code == 2:
            style = style._replace(colour=FAINT)
        else:
            style = style._replace(colour=COLOURS[code])
    return style


def drawn(lines: list[list[Run]]) -> str:
    """Returns the screen as an SVG. Positions and widths are fixed, so any monospaced font fits."""
    width = 2 * MARGIN + COLUMNS * ADVANCE
    height = BAR + len(lines) * LEADING + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" role="img" aria-labelledby="title">',
        (
            '<title id="title">irshape validate on a model that OpenVINO reads without '
            "complaint</title>"
        ),
        f'<rect width="{width:g}" height="{height:g}" rx="10" fill="{BACKGROUND}"/>',
        *(
            f'<circle cx="{MARGIN + 6 + 20 * place:g}" cy="18" r="6" fill="{colour}"/>'
            for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        f'<g font-family="{FONTS}" font-size="{SIZE:g}" style="white-space:pre">',
    ]
    for row, runs in enumerate(lines):
        y = BAR + (row + 1) * LEADING
        for run in runs:
            text = run.text.strip()
            if not text:
                continue
            x = MARGIN + (run.column + run.text.index(text)) * ADVANCE
            weight = ' font-weight="bold"' if run.style.bold else ""
            parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" textLength="{len(text) * ADVANCE:.1f}"'
                f' lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
                f' fill="{run.style.colour}"{weight}>{escape(text)}</text>'
            )
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main(arguments: list[str]) -> int:
    picture = drawn(terminal())
    if arguments == ["--check"]:
        current = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture
        if not current:
            print(
                f"{PICTURE.relative_to(ROOT)} is out of date: python docs/pictures/make.py",
                file=sys.stderr,
            )
        return 0 if current else 1
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    PICTURE.write_text(picture, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
