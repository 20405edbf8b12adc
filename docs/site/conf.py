"""Configures Sphinx, which builds the site from the sources that `pages.py` writes."""

from __future__ import annotations

import re
from typing import Any

import irshape
from irshape import __version__

project = "irshape"
author = "The irshape authors"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
smartquotes = False  # values of attributes are quoted as they are written
html_theme = "furo"
html_title = f"irshape {__version__}"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_static_path: list[str] = []
html_extra_path = ["moved"]
exclude_patterns = ["moved"]

myst_heading_anchors = 6
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
# docs of one command begin at another level; excerpts of XML and JSON are not whole documents

INTERNAL = (
    "BodyResult",
    "Constraint",
    "Explainer",
    "Explanation",
    "Expressions",
    "NamedSize",
    "NamedSizes",
    "Reusable",
    "Means",
    "Measured",
    "Overview",
    "Remark",
    "TensorType",
    "Source",
    "Trace",
    "Verdict",
)
"""Classes without a page that attributes or methods of public classes return."""

nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(collections\.abc|typing|np|numpy|os|concurrent|types|enum)\..*"),
    (
        "py:.*",
        r"(Callable|Collection|Iterable|Iterator|Mapping|Sequence|Executor|Any|Literal|Self)",
    ),
    ("py:.*", r"(irshape\.)?[a-z_]+\..*|_.*|[A-Z]"),  # what is internal; type variables
]
nitpick_ignore_regex += [("py:class", name) for name in INTERNAL]
default_role = "py:obj"

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": "Exception,tuple,object,int,str"}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True


def as_restructured_text(
    app: Any, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Converts a docstring from Markdown (backticks, indented code) to reStructuredText."""
    text = "\n".join(lines)
    text = re.sub(r"``?`?(\w+)\n(.*?)\n```", _fenced, text, flags=re.DOTALL)
    text = re.sub(r"(?<=[^:\n\s])\n\n(?=    \S)", "\n\n::\n\n", text)
    if what in ("function", "method"):
        # a line for each argument: `name: what it is`
        text = re.sub(r"\n(?=\*{0,2}[a-z_]+: \S)", "\n\n", text)
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", _code, text).replace("*", r"\*")
    if text.startswith("Alias for field number"):
        text = ""
    lines[:] = text.split("\n")


def _code(match: re.Match[str]) -> str:
    """Converts text in backticks to code, or to a link if it is a public name of irshape."""
    return match[0] if match[1] in irshape.__all__ else f"`{match[0]}`"


def _fenced(match: re.Match[str]) -> str:
    body = "\n".join("    " + line for line in match[2].split("\n"))
    return f".. code-block:: {match[1]}\n\n{body}\n"


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", as_restructured_text)
