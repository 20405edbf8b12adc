"""Virtual environments with the OpenVINO of a release each.

    python tests/differential/environments.py FOLDER 2023.0 2026.0     # prints their interpreters
    OPENVINO_PYTHON=FOLDER/2023.0/bin/python python -m pytest tests/ops

They have what irshape needs as well, so that `irshape crosscheck` runs in them from a checkout.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"

NEWEST_PATCHES = {
    "2023.0": "2023.0.2",
    "2023.1": "2023.1.0",
    "2023.2": "2023.2.0",
    "2023.3": "2023.3.0",
    "2024.0": "2024.0.0",
    "2024.1": "2024.1.0",
    "2024.2": "2024.2.0",
    "2024.3": "2024.3.0",
    "2024.4": "2024.4.0",
    "2024.5": "2024.5.0",
    "2024.6": "2024.6.0",
    "2025.0": "2025.0.0",
    "2025.1": "2025.1.0",
    "2025.2": "2025.2.0",
    "2025.3": "2025.3.0",
    "2025.4": "2025.4.1",
    "2026.0": "2026.0.0",
    "2026.1": "2026.1.0",
    "2026.2": "2026.2.1",
    "2026.3": "2026.3.1",
    "2026.4": "2026.4.1",
}
"""The newest patch of every release from 2023.0 on, of which there are wheels for Python 3.11."""


def interpreter(release: str, folder: Path) -> Path:
    """The Python of the environment of a release, which is made at the first call.

    Raises `CalledProcessError` where it cannot be installed: 2023.0 to 2023.2 have no wheels for a
    Python after 3.11.
    """
    home = folder / release
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    complete = home / "complete"
    if not complete.exists():
        needs = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        openvino = f"openvino=={NEWEST_PATCHES[release]}"
        quiet = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*quiet, openvino, *needs], check=True, stdout=sys.stderr)
        complete.touch()
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("releases", nargs="+", choices=NEWEST_PATCHES, metavar="RELEASE")
    given = parser.parse_args()
    for release in given.releases:
        print(interpreter(release, given.folder.resolve()))


if __name__ == "__main__":
    main()
