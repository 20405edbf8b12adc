"""Makes HTML: the frame of a page, escaped text, and the descriptions of rules from Markdown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from ....version import __version__
from ..common import plain


def html_page(
    title: str, style: str, body: Iterable[str], scripts: Sequence[str] = (), allowed: str = ""
) -> str:
    """Returns an HTML page in one file that loads no other file.

    Its Content-Security-Policy permits only `style`, `scripts`, and the sources in `allowed`. The
    page is also well-formed XML if the body and the scripts are.
    """
    policy = f"default-src 'none'; style-src {_hash(style)}"
    if scripts:
        policy += f"; script-src {' '.join(map(_hash, scripts))}"
    policy += f"; {allowed}base-uri 'none'; form-action 'none'"
    parts = [
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head>\n',
        '<meta charset="utf-8"/>\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n',
        '<meta name="color-scheme" content="light dark"/>\n',
        f'<meta name="generator" content="irshape {__version__}"/>\n',
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        *body,
        *(f"<script>{script}</script>\n" for script in scripts),
        "</body>\n</html>\n",
    ]
    return "".join(parts)


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}'"


def text(content: str) -> str:
    """Returns text from a model, escaped for HTML content or for an attribute in double quotes."""
    return (
        plain(content)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def message(content: str) -> str:
    """Returns the message or help of a finding as HTML. Text in backticks becomes code."""
    pieces = content.split("`")
    if len(pieces) % 2 == 0:
        return text(content)
    return "".join(
        f"<code>{text(piece)}</code>" if index % 2 else text(piece)
        for index, piece in enumerate(pieces)
    )


def prose(markdown: str) -> str:
    """Converts Markdown to HTML, but only fenced code and text in backticks. Keeps all other text
    as it is, line by line."""
    parts = []
    for index, part in enumerate(re.split(r"^```.*$\n?", markdown, flags=re.MULTILINE)):
        render, tag = (text, "pre") if index % 2 else (message, "p")
        lines = part.strip().split("\n")
        parts.append(f"<{tag}>{chr(10).join(map(render, lines))}</{tag}>" if any(lines) else "")
    return "".join(parts)
