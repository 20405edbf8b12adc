"""Writes the page: one HTML file that loads nothing.

All texts from a model are data in the page, never markup: the script inserts them as text.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ..diagnostics.renderers.as_html.markup import html_page
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
"""The scripts, in the order in which they run."""


def page(document: dict[str, Any], title: str) -> str:
    """Returns the HTML of the page for a document."""
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    whole = {"version": 1, "irshape": __version__, **document}
    # JSON in ASCII without `<`, so that no text in it can end the HTML element around it
    held = json.dumps(whole, separators=(",", ":")).replace("<", "\\u003c")
    body = [
        "<noscript><p>This page shows a model, and needs JavaScript to draw it. It makes no "
        "request.</p></noscript>\n",
        f'<script type="application/json" id="document">{held}</script>\n',
    ]
    # each copy of the layout library must include its licence
    layout = f"/* dagre\n{_asset('dagre.LICENSE.txt')}*/\n{_asset('dagre.min.js')}"
    scripts = [layout, f'(function () {{\n"use strict";\n{parts}\n}})();']
    return html_page(title, _asset("view.css"), body, scripts, allowed="img-src blob:; ")


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")
