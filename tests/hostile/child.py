"""Runs every command over files within limits of memory and time, and prints the outcomes as JSON.

python tests/hostile/child.py MEGABYTES SECONDS

Reads a JSON list a line, of a path and perhaps names of commands, and answers with a line: the
status of the process that ran the commands, the file with what it said, which the next answer
replaces, and what it wrote to standard error.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["IRSHAPE_DEBUG"] = "1"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

COMMANDS = {
    "validate": ("validate", "{path}", "--format", "json", "-v"),
    "infer": ("infer", "{path}", "--format", "json"),
    "run": ("run", "{path}", "--random", "--max-memory", "200MB", "--max-iterations", "1000"),
    "fix": ("fix", "{path}", "--diff"),
    "requires": ("requires", "{path}"),
    "inspect": ("inspect", "{path}"),
    "diff": ("diff", "{path}", "{path}"),
    "view": ("view", "{path}", "-o", "-"),
    "fix again": ("fix", "{path}", "--output", "{folder}/fixed.out"),
}


def limited(megabytes: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(*arguments: str) -> dict[str, object]:
    """Exit status, output, and the traceback where there was one."""
    from irshape.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    status, trace, began = 0, "", time.process_time()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(list(arguments))
            finally:
                out.flush()
                err.flush()
    except SystemExit as done:
        status = done.code if isinstance(done.code, int) else 0
    except BaseException:
        status, trace = -1, traceback.format_exc()
    texts = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return {
        "status": status,
        "out": texts[0][:30_000_000],
        "err": texts[1][:5_000],
        "trace": trace[-3000:],
        "seconds": time.process_time() - began,
    }


def peak() -> int:
    """The peak memory of this program in KB; `ru_maxrss` also counts its parent's at the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def answer(path: str, names: list[str]) -> str:
    """The outcome of commands over a file."""
    folder = os.path.dirname(path) or "."
    outcomes = {}
    for name in names or COMMANDS:
        words = [each.replace("{path}", path) for each in COMMANDS[name]]
        outcomes[name] = call(*(each.replace("{folder}", folder) for each in words))
    return json.dumps({"commands": outcomes, "peak": peak()})


def forked(request: list[str], outcome: Path, megabytes: int, seconds: int) -> tuple[int, str]:
    """Writes the outcome in a process of its own, which knows nothing of earlier files.

    Returns the status of that process and what it wrote to standard error.
    """
    with tempfile.TemporaryFile() as err:
        process = os.fork()
        if process == 0:
            os.dup2(err.fileno(), 2)
            limited(megabytes, seconds)
            status = 1
            try:
                outcome.write_text(answer(request[0], request[1:]), encoding="utf-8")
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        err.seek(0)
        return status, err.read().decode("utf-8", "replace")[-3000:]


def main(megabytes: str, seconds: str) -> None:
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:  # what they import is not imported for each file
        for part in (".xml", ".bin"):
            shutil.copy(ROOT / "examples" / f"reductions{part}", folder)
        answer(str(Path(folder, "reductions.xml")), list(COMMANDS))
        outcome = Path(folder, "outcome.json")
        for line in sys.stdin:
            status, err = forked(json.loads(line), outcome, int(megabytes), int(seconds))
            print(json.dumps([status, str(outcome), err]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
