"""Measures what a device makes of models, and writes the table of facts that follow from it.

usage: device_facts.py --device GPU --measured FILE.tsv [-o FOLDER] MODELS...

MODELS are folders of IRs. FILE.tsv has a line for each: its path, and `ok`, `refused: REASON` or
`crash` (what `compile_model` of the installed OpenVINO made of it). Those without a line are asked
first, in a process that may crash, and added; so a new release is measured by one command with a
new FILE.tsv. GPU needs a device, or a library that stands for one in LD_LIBRARY_PATH.

device_rules.py learns the facts. device_variants.py writes more models to learn from, with other
types and shapes of the inputs. gpu-2026.4.1.tsv.xz and cpu-2026.4.1.tsv.xz have the answers behind
the tables of this release: `xz -dk` them, and only new models are asked.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from datetime import date
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryFile

from device_rules import MAX_ALLOC, Earlier, Model, learn, read, stated

from irshape.devices.facts import Facts, facts_of

ASK = """
import sys, signal, openvino as ov
core = ov.Core()
core.set_property({"CACHE_DIR": ""})
core.get_property(sys.argv[1], "FULL_DEVICE_NAME")  # no device, no measurement
for line in sys.stdin:
    path = line.rstrip("\\n")
    print(sys.argv[2], flush=True)
    signal.alarm(120)
    try:
        model = core.read_model(path)
    except Exception:
        print("unread", flush=True)
        continue
    try:
        core.compile_model(model, sys.argv[1])
        print("ok", flush=True)
    except Exception as refusal:
        lines = [each.strip() for each in str(refusal).splitlines() if each.strip()]
        print("refused: " + " | ".join(lines[-2:])[-300:].replace("\\t", " "), flush=True)
"""


AT_ONCE = 1000
"""How many models a worker is asked about at most: its memory grows with each."""

MARK = "--- the next model ---"
"""What the worker prints before it asks about a model: nothing that a plugin prints, too."""


def measure(device: str, paths: dict[str, str], into: Path) -> None:
    """Asks a device about models by path, and adds a line for each, by name, to a file."""
    waiting = list(paths)
    while waiting:
        # a file, not a pipe: what a crashed worker leaves running may hold a pipe open
        with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            subprocess.run(
                [sys.executable, "-c", ASK, device, MARK],
                input="\n".join(waiting[:AT_ONCE]) + "\n",
                stdout=said,
                text=True,
                env={**os.environ, "STUB_BUILD": "1"},
                check=False,
            )
            said.seek(0)
            text = said.read()
        answers = text.split(MARK)[1:]
        if not answers:
            sys.exit(f"{device} gives no answer")
        with into.open("a", encoding="utf-8") as file:
            for path, answer in zip(waiting, answers, strict=False):
                file.write(f"{paths[path]}\t{said_last(answer)}\n")
        waiting = waiting[len(answers) :]


def said_last(text: str) -> str:
    """The answer among what the worker and the plugin have printed; a crash without one."""
    answers = re.findall(r"^(?:ok|unread|refused: .*)$", text, re.MULTILINE)
    return answers[-1] if answers else "crash"


def measured(file: Path, folders: list[str], device: str) -> list[Model]:
    """The models with what the device made of them; those without an answer are asked."""
    paths = {
        os.path.relpath(path, folder): str(path)
        for folder in folders
        for path in sorted(Path(folder).rglob("*.xml"))
    }
    answers = dict(
        line.split("\t", 1)
        for line in (file.read_text("utf-8").splitlines() if file.exists() else ())
    )
    unasked = {path: name for name, path in paths.items() if name not in answers}
    if unasked:
        print(f"{len(paths)} models, asking about {len(unasked)}", file=sys.stderr)
        measure(device, unasked, file)
        return measured(file, folders, device)
    checks = {check for family, check, *_ in stated(device) if family == "*"}
    with Pool() as pool:
        rows = pool.map(read, paths.values(), 50)
    return [
        Model(name, answers[name], row[0], row[1] & checks)
        for name, row in zip(paths, rows, strict=True)
        if row is not None and answers.get(name, "unread") != "unread"
    ]


def written(device: str, models: list[Model]) -> str:
    """The table of a device."""
    import openvino

    release = openvino.__version__.partition("-")[0]
    before = facts_of(device)
    facts = learn(device, models, compiled(before) if before.release == release else None)
    lines = [
        f"# device: {device}",
        f"# release: {release}",
        f"# source: compile_model of OpenVINO {release} for {len(models):,} models, {date.today()}"
        + OVER.get(device, ""),
        *([f"# hardware: {instruction_sets()}"] if device == "CPU" else []),
    ]
    if device == "GPU":
        lines.append(f"# max-alloc: {MAX_ALLOC}")
    shown = Counter((each, model.compiles) for model in models for each in model.obstacles)
    for family, check, verdict, reason, source in stated(device):
        if family == "*":
            counts = str(shown[check, False]), str(shown[check, True])
            lines.append("\t".join(("*", check, verdict, *counts, reason, source)))
    for _, found in sorted(facts.items()):
        for fact in found:
            conditions = " ".join(map(str, fact.conditions))
            counts = str(fact.refused), str(fact.compiled)
            lines.append(
                "\t".join((fact.operation, conditions, fact.verdict, *counts, fact.reason))
            )
    return "\n".join(lines) + "\n"


def compiled(facts: Facts) -> Earlier:
    """What compiled when a table was measured, also of models that are gone by now."""
    return {
        (name, str(condition.key)): condition.values
        for found in facts.layers.values()
        for fact in found
        if fact.verdict == "clear"
        for name in fact.conditions[0].values
        for condition in fact.conditions[1:]
    }


OVER = {"GPU": ", over a library that stands for OpenCL and an integrated GPU"}


def instruction_sets() -> str:
    """Those of this machine that OpenVINO's CPU plugin asks for."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    known = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512_fp16": "AVX512-FP16", "amx_tile": "AMX"}
    found = flags[1].split() if flags else []
    return ", ".join(name for flag, name in known.items() if flag in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--device", required=True, choices=("CPU", "GPU"))
    parser.add_argument("--measured", type=Path, required=True)
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    models = measured(given.measured, given.models, given.device)
    if given.o is not None:
        text = written(given.device, models)
        release = text.splitlines()[1].removeprefix("# release: ")
        (given.o / f"{given.device.lower()}-{release}.tsv").write_text(text, "utf-8")


main()
