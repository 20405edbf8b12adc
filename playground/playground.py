"""The functions of irshape that the playground calls. Runs in Pyodide, without NumPy.

All functions except `put` return bytes: `view` those of an HTML page, all others those of JSON, and
any function, if it fails, those of `{"error": …}`.
"""

from __future__ import annotations

import base64
import json
import json.scanner
import os
import shutil
from typing import Any

import irshape
from irshape.diagnostics.renderers import render

# JSON in C recurses on the stack of the browser, which ends the interpreter; in Python it raises
json.scanner.make_scanner = json.scanner.py_make_scanner  # type: ignore[attr-defined]
json._default_decoder = json.JSONDecoder()  # type: ignore[attr-defined]

FOLDER = "/models"
SHIM = "History.prototype.replaceState = function () {};"
"""The first script in the frame with the graph. The frame has no URL that the page could change."""
DOWNLOADS = 30_000_000
"""The largest size of a file, in bytes, for which `fix` returns a diff and the corrected file."""


def put(name: str, data: Any, first: bool) -> None:
    """Writes a file for the other functions. first: remove all earlier files."""
    if first:
        os.chdir("/")  # a folder that is worked in cannot be removed
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        os.chdir(FOLDER)
    with open(os.path.basename(name) or "model.xml", "wb") as file:
        file.write(data.to_py() if hasattr(data, "to_py") else data)


def validate(name: str, weights: str) -> bytes:
    """Returns what `irshape validate --format json` prints, byte for byte."""
    return _told(render(irshape.validate(name, weights=weights), "json"))


def fix(name: str, unsafe: bool) -> bytes:
    """Returns the diff, the corrected file in Base64, the fixed findings, and how many are left."""
    fixes = irshape.fix(name, weights=_beside(name), unsafe=unsafe)
    large = len(fixes.original) > DOWNLOADS
    answer = {
        "diff": "" if large else fixes.diff(),
        "file": "" if large else base64.b64encode(fixes.data).decode(),
        "fixed": [str(diagnostic) for diagnostic in fixes.fixed],
        "left": len(fixes.remaining),
    }
    return _told(json.dumps(answer))


def infer(name: str) -> bytes:
    """Returns the data that `irshape infer --format json` prints."""
    model = irshape.load(name, weights=_beside(name))
    return _told(json.dumps(irshape.infer(model).to_dict()))


def view(name: str) -> bytes:
    """Returns the page that `irshape view` writes, with `SHIM`."""
    from irshape.view.page import page
    from irshape.view.showing import Subject

    text = page({"models": [Subject(name, _beside(name)).document]}, name)
    return _told(text.replace("<head>", f"<head><script>{SHIM}</script>", 1))


def listing(name: str) -> bytes:
    """Returns the lines of the text to which findings of a binary file refer: its listing."""
    source = irshape.load(name, weights=_beside(name)).source
    return _told(json.dumps({"lines": source.data.decode(source.encoding, "replace").split("\n")}))


def called(function: str, *arguments: Any) -> bytes:
    """Calls a function of this module. Returns `{"error": …}` if the function fails."""
    try:
        answer: bytes = globals()[function](*arguments)
    except ModuleNotFoundError as error:
        return _error(f"this needs the Python package {error.name}, which this page lacks")
    except (irshape.LoadError, OSError, ValueError) as error:
        return _error(str(error))
    except Exception as error:  # the page goes on
        return _error(f"irshape failed: {type(error).__name__}: {error}")
    return answer


def _beside(name: str) -> Any:
    return "beside" if os.path.exists(os.path.splitext(name)[0] + ".bin") else "none"


def _error(text: str) -> bytes:
    return _told(json.dumps({"error": text}))


def _told(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
