"""Makes pages of HTML: the head of a page, escaped text, and the Markdown of the rules."""

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
    """Returns a page in one file that makes no request.

    Its Content-Security-Policy permits only this style and these scripts, and only the sources in
    `allowed`. It is also well-formed XML if the body and the scripts are.
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
    """Returns foreign text, escaped for content or for an attribute's value in double quotes."""
    return (
        plain(content)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def message(content: str) -> str:
    """Returns a message or help as HTML, with text in backticks as code."""
    pieces = content.split("`")
    if len(pieces) % 2 == 0:
        return text(content)
    return "".join(
        f"<code>{text(piece)}</code>" if index % 2 else text(piece)
        for index, piece in enumerate(pieces)
    )


def prose(markdown: str) -> str:
    """Returns Markdown as HTML: paragraphs, lists and fenced code, and inside them code, bold and
    emphasis.

    Everything else is shown unchanged.
    """
    parts = []
    for index, part in enumerate(re.split(r"^```.*$\n?", markdown, flags=re.MULTILINE)):
        if index % 2:
            parts.append(f"<pre>{chr(10).join(map(text, part.rstrip().split(chr(10))))}</pre>")
        else:
            parts += [
                _block(block) for block in re.split(r"\n\s*\n", part.strip()) if block.strip()
            ]
    return "".join(parts)


def _block(block: str) -> str:
    if heading := re.match(r"#+ +(.*)\Z", block):
        return f"<h4>{_inline(heading[1])}</h4>"
    if re.match(r"[-*] ", block):
        items = re.split(r"^[-*] ", block, flags=re.MULTILINE)[1:]
        return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"
    return f"<p>{_inline(block)}</p>"


def _inline(content: str) -> str:
    pieces = re.split(r"`([^`]+)`", " ".join(content.split()))
    return "".join(
        f"<code>{text(piece)}</code>" if index % 2 else _emphasised(text(piece))
        for index, piece in enumerate(pieces)
    )


def _emphasised(escaped: str) -> str:
    bold = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escaped)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", bold)
