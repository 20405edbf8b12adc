"""What the playground's worker asks of irshape. Runs in Pyodide, with Python alone.

Every answer is bytes of JSON; `validate` answers with the report exactly as `irshape validate
--format json` prints it.
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
"""Runs first in the frame with the graph, whose document has no address that could change."""
DOWNLOADS = 30_000_000
"""Largest file, in bytes, whose diff the page shows and whose corrected text it saves."""


def put(name: str, data: Any, first: bool) -> None:
    """Writes a file; the first of several empties the folder."""
    if first:
        os.chdir("/")  # a folder that is worked in cannot be removed
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        os.chdir(FOLDER)
    with open(os.path.basename(name) or "model.xml", "wb") as file:
        file.write(data.to_py() if hasattr(data, "to_py") else data)


def validate(name: str, weights: str) -> bytes:
    """The report on a file, as the command prints it."""
    return _told(render(irshape.validate(name, weights=weights), "json"))


def fix(name: str, unsafe: bool) -> bytes:
    """The corrections: a diff, the findings that they remove, and the corrected file in Base64."""
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
    """Every output port as `irshape infer --format json` has it."""
    model = irshape.load(name, weights=_beside(name))
    return _told(json.dumps(irshape.infer(model).to_dict()))


def view(name: str) -> bytes:
    """The page that `irshape view` writes."""
    from irshape.view.page import page
    from irshape.view.showing import Subject

    text = page({"models": [Subject(name, _beside(name)).document]}, name)
    return _told(text.replace("<head>", f"<head><script>{SHIM}</script>", 1))


def listing(name: str) -> bytes:
    """The lines to which findings refer; for a binary file, those of its listing."""
    source = irshape.load(name, weights=_beside(name)).source
    return _told(json.dumps({"lines": source.data.decode(source.encoding, "replace").split("\n")}))


def called(function: str, *arguments: Any) -> bytes:
    """Calls one of the functions above; what goes wrong is `{"error": …}`."""
    try:
        answer: bytes = globals()[function](*arguments)
    except ModuleNotFoundError as error:
        return _error(f"this needs the Python package {error.name}, which is not in this page")
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
