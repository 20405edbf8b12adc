"""Writes the page: one HTML file that makes no request.

What comes from a model is data in it, never markup: the script writes it as text, and the page's
Content-Security-Policy lets nothing run but that script.
"""

from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from ..version import __version__

SCRIPTS = (
    "texts.js",
    "values.js",
    "saving.js",
    "model.js",
    "layout.js",
    "canvas.js",
    "panel.js",
    "search.js",
    "overlays.js",
    "beside.js",
    "links.js",
    "main.js",
)
"""In the order in which they run."""


def page(document: dict[str, Any], title: str) -> str:
    """The page of a document."""
    style, layout = _asset("view.css"), _layout()
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    script = f'(function () {{\n"use strict";\n{parts}\n}})();'
    policy = (
        "default-src 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(layout)} {_hash(script)}; "
        "img-src blob:; base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "version": __version__,
        "title": escape(_safe(title)),
        "style": style,
        "layout": layout,
        "script": script,
        "document": _json({"version": 1, "irshape": __version__, **document}),
    }
    return re.sub(r"@(\w+)@", lambda match: values.get(match[1], match[0]), _asset("page.html"))


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _layout() -> str:
    """The layout library with its licence, which asks to be part of every copy."""
    return f"/* dagre\n{_asset('dagre.LICENSE.txt')}*/\n{_asset('dagre.min.js')}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(document: dict[str, Any]) -> str:
    """ASCII without `<`, so that no text in it can end the element that holds it."""
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _safe(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text)
