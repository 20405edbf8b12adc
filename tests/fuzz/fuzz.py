"""Tries mutants on every command, within limits of time and memory, and keeps what fails.

python tests/fuzz/fuzz.py --mutants 2000 [--seed 7]      so many, the same ones for a seed
python tests/fuzz/fuzz.py --seconds 3600 --keep FOLDER   drawn anew, by several workers
python tests/fuzz/fuzz.py --try CASE…                    every form of every command on some

`FOLDER/failed` has the inputs that failed, by what went wrong; `FOLDER/stats-*.json` the counts.
Ends with 1 if an input failed.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import hashlib
import io
import json
import mmap
import os
import pkgutil
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT)]
os.environ["IRSHAPE_DEBUG"] = "1"
os.environ.pop("GITHUB_ACTIONS", None)
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

SECONDS = 20
"""Of processor time that one command may take on a mutant."""
MEGABYTES = 1024
"""Of address space that a worker may take beside what it has once everything is imported."""
BLOCKED = 300
"""Seconds after which a worker is ended that does not even reach a Python instruction."""
ROUND = 150_000
"""Mutants after which a worker is replaced by a new one."""
FOREVER = 1e9

SHARES = {
    "ir": 67,
    "onnx": 9,
    "onednn": 8,
    "configuration": 4,
    "baseline": 2,
    "recording": 3,
    "result": 2,
    "array": 1,
    "export": 1,
    "argument": 3,
}
"""Of a hundred mutants, how many are of which kind."""


class Late(BaseException):
    """A command takes too long. It is no `Exception`, so that nothing takes it for one."""


def _late(*_: object) -> None:
    raise Late(f"more than {SECONDS} s of processor time")


def load_everything() -> None:
    """Imports all of irshape."""
    import onnx  # noqa: F401

    import irshape

    with contextlib.redirect_stderr(io.StringIO()):
        for module in pkgutil.walk_packages(irshape.__path__, "irshape."):
            if "__main__" in module.name or "worker" in module.name:
                continue
            try:
                __import__(module.name)
            except ImportError as missing:  # of an extra that is not installed
                if (missing.name or "irshape").partition(".")[0] == "irshape":
                    raise


def limited() -> None:
    """Sets the limits of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _late)


class Trial:
    """Tries cases, and counts them."""

    def __init__(self, keep: Path) -> None:
        from fuzz.commands import Folder

        self.keep = keep
        self.counts: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.began = time.monotonic()
        self._tried: set[int] = set()
        shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.place = tempfile.mkdtemp(prefix="irshape-fuzz-", dir=shared)
        self.folder = Folder(Path(self.place))
        with (keep / f"current-{os.getpid()}").open("wb+") as file:
            file.truncate(1 << 18)
            self._current = mmap.mmap(file.fileno(), 0)
        os.chdir(self.place)

    def attempt(self, data: bytes, *, every: bool = False) -> list[str]:
        """What goes wrong with a case; a mutant that was tried before is passed over."""
        from fuzz.case import Case
        from fuzz.commands import calls

        try:
            case = Case.decoded(data)
        except ValueError:
            return []
        known = hash(data)
        if known in self._tried:
            return []
        self._tried.add(known)
        self.counts[case.kind] += 1
        if self.counts.total() % 200 == 0:
            gc.collect()
            self.write()
        self._current[: len(data) + 8] = len(data).to_bytes(8, "little") + data
        self.folder.write(case)
        wrong = []
        for call in calls(case, every=every):
            self.calls[call.name] += 1
            failure = self._failure(call)
            if failure is not None:
                wrong.append(f"{' '.join(call.arguments)}\n{failure}")
                self._keep(data, call.name, failure)
        return wrong

    def _failure(self, call: Any) -> str | None:
        """The traceback of a call that fails."""
        from fuzz.commands import perform

        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            perform(call)
            if "-o" in call.arguments or call.name == "graph":
                self.folder.check()
        except KeyboardInterrupt:
            raise
        except BaseException:
            signal.setitimer(signal.ITIMER_PROF, 0)
            return traceback.format_exc()
        return None

    def _keep(self, data: bytes, name: str, failure: str) -> None:
        """Writes a case that failed into a folder for what went wrong; of each kind the first 8."""
        frames = [line for line in failure.splitlines() if f"{os.sep}irshape{os.sep}" in line]
        what = failure.strip().splitlines()[-1].partition(":")[0]
        place = frames[-1].rpartition(f"irshape{os.sep}")[2] if frames else name
        signature = "".join(c if c.isalnum() else "_" for c in f"{what} {place}")[:150]
        self.failures[signature] += 1
        folder = self.keep / "failed" / signature
        folder.mkdir(parents=True, exist_ok=True)
        if len(list(folder.iterdir())) < 16:
            stem = hashlib.sha256(data).hexdigest()[:12]
            (folder / f"{stem}.case").write_bytes(data)
            (folder / f"{stem}.txt").write_text(f"{name}\n{failure}", errors="replace")

    def write(self) -> None:
        """Writes the counts."""
        stats = {
            "mutants": self.counts,
            "calls": self.calls,
            "failures": self.failures,
            "seconds": time.monotonic() - self.began,
            "processor seconds": time.process_time(),
        }
        (self.keep / f"stats-{os.getpid()}.json").write_text(json.dumps(stats))

    def close(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.write()
        os.chdir(ROOT)
        shutil.rmtree(self.place, ignore_errors=True)


def draw(keep: Path, mutants: int, seed: int, seconds: float = FOREVER) -> int:
    """Tries mutants of the seeds. Returns how many failed.

    Of two inputs the smaller one is taken: it has less that hides a fault, and takes less time.
    """
    from fuzz import mutators, seeds

    load_everything()
    pool = seeds.narrow() if seconds == FOREVER else seeds.wide()
    limited()
    trial = Trial(keep)
    gc.collect()
    gc.freeze()
    generator = Random(seed)
    kinds = {kind: [case for case in pool if case.kind == kind] for kind in SHARES}
    end = time.monotonic() + seconds
    watched_since = 0.0
    while trial.counts.total() < mutants and (now := time.monotonic()) < end:
        if now > watched_since + BLOCKED / 10:  # to set it takes as long as a few mutants
            faulthandler.dump_traceback_later(BLOCKED, exit=True)
            watched_since = now
        kind = generator.choices(list(SHARES), list(SHARES.values()))[0]
        drawn = min(generator.choices(kinds[kind], k=2), key=lambda case: sum(map(len, case.parts)))
        case = mutators.mutant(drawn, generator, kinds[kind])
        for wrong in trial.attempt(case.encoded()):
            print(f"seed {seed}, {case.kind}: {wrong}", file=sys.stderr)
    faulthandler.cancel_dump_traceback_later()
    trial.close()
    return trial.failures.total()


def watched(keep: Path, seconds: int, jobs: int) -> int:
    """Starts workers until the time is over. Returns how many kinds of failure there are."""
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(jobs) as threads:
        for job in [threads.submit(_watch, keep, end) for _ in range(jobs)]:
            job.result()
    print(summary(keep))
    return len(list((keep / "failed").glob("*")))


def _watch(keep: Path, end: float) -> None:
    """Starts one worker after another. One that dies leaves the case that it was at."""
    while (left := int(end - time.monotonic())) > 0:
        call = [sys.executable, __file__, "--worker", "--keep", str(keep), "--seconds", str(left)]
        with subprocess.Popen(call) as worker:
            status = worker.wait()
        current = keep / f"current-{worker.pid}"
        if not current.exists():
            raise RuntimeError(f"a worker could not begin: status {status}")
        if status:
            folder = keep / "failed" / f"died_{status}"
            folder.mkdir(parents=True, exist_ok=True)
            data = current.read_bytes()
            size = int.from_bytes(data[:8], "little")
            (folder / f"{worker.pid}.case").write_bytes(data[8 : 8 + size])
        current.unlink()


def summary(keep: Path) -> str:
    """The counts of all workers."""
    total: dict[str, Any] = {"seconds": 0.0, "processor seconds": 0.0}
    for path in keep.glob("stats-*.json"):
        for name, value in json.loads(path.read_text()).items():
            if isinstance(value, dict):
                total[name] = Counter(value) + total.get(name, Counter())
            else:
                total[name] += value
    total["all mutants"] = sum(total.get("mutants", {}).values())
    return json.dumps(total, indent=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--try", dest="cases", type=Path, nargs="*", help="cases to try")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        keep = (given.keep or Path(temporary)).resolve()
        keep.mkdir(parents=True, exist_ok=True)
        if given.cases:
            return tried(keep, given.cases)
        if not given.seconds:
            return 1 if draw(keep, given.mutants, given.seed) else 0
        if not given.worker:
            return 1 if watched(keep, given.seconds, given.jobs) else 0
        draw(keep, ROUND, Random().randrange(1 << 30), given.seconds)
    return 0


def tried(keep: Path, cases: list[Path]) -> int:
    """Tries every command on cases that are kept."""
    load_everything()
    limited()
    paths = [path.resolve() for path in cases]
    trial = Trial(keep)
    for path in paths:
        for wrong in trial.attempt(path.read_bytes(), every=True):
            print(f"{path}: {wrong}", file=sys.stderr)
    trial.close()
    return 1 if trial.failures else 0


if __name__ == "__main__":
    sys.exit(main())
