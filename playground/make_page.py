"""Builds the playground: a static page that runs irshape in the browser.

usage: python playground/make_page.py FOLDER [--pyodide FOLDER] [--wheels FOLDER]

Writes the page to FOLDER, which any web server can serve. Downloads Pyodide (the npm package
`pyodide`), and the ONNX reader (the wheels `onnx` and `protobuf` from PyPI), in the versions below.
--pyodide and --wheels name folders with the unpacked package and the wheels, to use them instead.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]

from playground import SHIM  # noqa: E402

PYODIDE = "314.0.7"
ONNX = "1.23.2"
PROTOBUF = "7.36.2"
WHEELS = "pyemscripten_2026_0_wasm32"
"""The platform of this version of Pyodide, as in the names of wheels."""
PARTS = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)
ONNX_PARTS = re.compile(
    r"onnx/(onnx_ml_pb2\.py|onnx_cpp2py_export\.abi3\.so|defs/__init__\.py)"
    r"|google/(protobuf/.*\.py|_upb/.*\.py)|.*/(LICENSE|NOTICE)"
)
ONNX_PACKAGE = """\
from . import defs, onnx_cpp2py_export
from .onnx_ml_pb2 import *
"""
"""`onnx/__init__.py` for the page: only messages and schemas, since the rest needs NumPy."""
PAGE = ("app.mjs", "engine.mjs", "worker.mjs", "style.css")
EXAMPLES = (
    "keep_dims_forgotten.xml",
    "axis_out_of_range.xml",
    "duplicate_axes.xml",
    "keep_dims_misspelt.xml",
    "axes_missing.xml",
)
"""The files in examples/layers/wrong that the page offers as examples."""
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {scripts}; worker-src 'self' blob:; "
    "style-src 'self' {styles}; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def archive(path: Path) -> None:
    """Writes a zip file with the package irshape and the module playground.py."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted((ROOT / "irshape").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".pyi":
                _add(out, file, file.relative_to(ROOT).as_posix())
        _add(out, HERE / "playground.py", "playground.py")


def onnx_archive(path: Path, wheels: Path) -> None:
    """Writes a zip file with the ONNX reader, from the wheels `onnx` and `protobuf` in a folder."""
    with zipfile.ZipFile(path, "w") as out:
        _write(out, "onnx/__init__.py", ONNX_PACKAGE.encode())
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as packed:
                for name in sorted(packed.namelist()):
                    if ONNX_PARTS.fullmatch(name):
                        _write(out, name, packed.read(name))


def _write(out: zipfile.ZipFile, name: str, data: bytes) -> None:
    out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def _add(out: zipfile.ZipFile, file: Path, name: str) -> None:
    """Adds a file with a fixed date: the same sources give the same archive."""
    _write(out, name, file.read_bytes())


def policy() -> str:
    """Returns the Content-Security-Policy. A frame with the page of `irshape view` inherits it, so
    it contains the hashes of the scripts and the style of that page."""
    from irshape.view.page import page
    from irshape.view.showing import Subject

    text = page({"models": [Subject(str(ROOT / "examples" / "reductions.xml")).document]}, "")
    directives = dict(
        directive.strip().split(" ", 1)
        for directive in re.search(r'Security-Policy" content="([^"]*)"', text)[1].split(";")  # type: ignore[index]
    )
    shim = base64.b64encode(sha256(SHIM.encode()).digest()).decode()
    scripts = f"{directives['script-src']} 'sha256-{shim}'"
    return POLICY.format(scripts=scripts, styles=directives["style-src"])


def index() -> str:
    folder = ROOT / "examples" / "layers" / "wrong"
    examples = {
        name.removesuffix(".xml").replace("_", " "): (folder / name).read_text(encoding="utf-8")
        for name in EXAMPLES
        if (folder / name).exists()
    }
    values = {"policy": policy(), "examples": json.dumps(examples).replace("<", "\\u003c")}
    text = (HERE / "index.html").read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], text)


def fetch(folder: Path) -> Path:
    """Downloads Pyodide from the npm registry. Returns the folder of the unpacked package."""
    subprocess.run(["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], cwd=folder, check=True)
    subprocess.run(["tar", "-xzf", f"pyodide-{PYODIDE}.tgz"], cwd=folder, check=True)
    return folder / "package"


def fetch_wheels(folder: Path) -> Path:
    """Downloads the wheels `onnx` and `protobuf` from PyPI. Returns their folder."""
    wheels = folder / "wheels"
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(wheels)]
    options += ["--python-version", "3.14", "--platform", WHEELS, "--platform", "any"]
    options += ["--implementation", "cp", "--abi", "abi3", "--abi", "none"]
    names = [f"onnx=={ONNX}", f"protobuf=={PROTOBUF}"]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, *names], check=True)
    return wheels


def build(folder: Path, pyodide: Path, wheels: Path) -> None:
    """Writes the page. pyodide: the folder of the unpacked npm package."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for name in PAGE:
        shutil.copyfile(HERE / name, folder / name)
    (folder / "index.html").write_text(index(), encoding="utf-8", newline="\n")
    archive(folder / "irshape.zip")
    onnx_archive(folder / "onnx.zip", wheels)
    for name in PARTS:
        shutil.copyfile(pyodide / name, folder / "pyodide" / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pyodide", type=Path, metavar="FOLDER")
    parser.add_argument("--wheels", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        pyodide = arguments.pyodide or fetch(Path(scratch))
        build(arguments.folder, pyodide, arguments.wheels or fetch_wheels(Path(scratch)))


if __name__ == "__main__":
    main()
