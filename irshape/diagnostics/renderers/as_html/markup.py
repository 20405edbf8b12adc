"""Text as markup: what is escaped, and the little Markdown that rules are documented in."""

from __future__ import annotations

import re

from ..common import plain


def text(content: str) -> str:
    """Foreign text as content or as an attribute's value in double quotes."""
    return (
        plain(content)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def message(content: str) -> str:
    """A message or help, with what it quotes in backticks as code."""
    pieces = content.split("`")
    if len(pieces) % 2 == 0:
        return text(content)
    return "".join(
        f"<code>{text(piece)}</code>" if index % 2 else text(piece)
        for index, piece in enumerate(pieces)
    )


def prose(markdown: str) -> str:
    """Paragraphs, lists, fenced code, and in them code, bold and emphasis.

    Everything else is shown as it is."""
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
