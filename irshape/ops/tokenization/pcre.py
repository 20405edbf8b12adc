"""Regular expressions of PCRE2, as openvino_tokenizers compiles them (UTF and UCP).

They are translated to the notation of the package `regex`, which evaluates them. A pattern that
PCRE2 and `regex` may interpret differently raises `NotImplementedError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_WORD = r"\p{L}\p{N}\p{Mn}\p{Pc}"
_WORD_EDGE = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_ESCAPES = {"w": f"[{_WORD}]", "W": f"[^{_WORD}]", "h": r"[\t\p{Zs}]", "e": r"\x1b",
            "b": _WORD_EDGE, "B": f"(?!{_WORD_EDGE})"}  # fmt: skip
_ESCAPES_IN_CLASS = {"w": _WORD, "h": r"\t\p{Zs}", "e": r"\x1b"}
_SAME_LETTERS = frozenset("tnrfasSdD0123456789")
"""Letters and digits that have the same meaning after a backslash in PCRE2 and in `regex`."""
_TOKEN = re.compile(
    r"""\\(?:x\{(?P<point>[0-9A-Fa-f]{1,6})\}|x(?P<hex>[0-9A-Fa-f]{2})
      |(?P<property>[pP](?:\{\^?[A-Za-z_]+\}|[A-Z]))|(?P<escaped>.))
    |(?P<class>\[\^?\]?)|(?P<group>\((?:\?(?:<[A-Za-z_]|<?[=!]|>|\||[-a-zA-Z]*[:)]|.)|\*)?)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_GROUPS = {"(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?|", "(?i:", "(?s:", "(?m:"}

_REWRITTEN = {
    r" ([\\.\\?\\!,])| ('[ms])| (') | ('[rv]e)| (n't)": (
        r"(?| ([\\.\\?\\!,])| ('[ms])| (') | ('[rv]e)| (n't))"
    ),
    "(^)(.)": r"(^)([\s\S])",
    "(^)(.+)": r"(^)([\s\S])",
}
"""Maps patterns of old tokenizers to the patterns that openvino_tokenizers uses instead."""


def _refuse(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"irshape does not evaluate {what}: PCRE2 and Python may read it differently"
    )


def _translated(pattern: str) -> str:
    """Returns a PCRE2 pattern in the notation of the package `regex`."""
    parts: list[str] = []
    in_class = False
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if token["escaped"]:
            parts.append(_escape(token["escaped"], in_class))
        elif token["point"] or token["hex"]:
            parts.append(f"\\U{int(token['point'] or token['hex'], 16):08x}")
        elif token["property"]:
            parts.append(_property(token["property"]))
        elif in_class:
            if pattern.startswith("[:", token.start()):
                raise _refuse("a POSIX class")
            in_class = not text.endswith("]")
            parts.append(text.replace("[", "\\["))
        elif token["class"]:
            in_class = True
            parts.append(text.replace("]", "\\]"))
        elif token["group"] and text not in _GROUPS:
            raise _refuse(f"'{text}' in a pattern")
        else:
            parts.append(text)
    return "".join(parts)


def _escape(letter: str, in_class: bool) -> str:
    """Returns the translation of a letter after a backslash."""
    known = (_ESCAPES_IN_CLASS if in_class else _ESCAPES).get(letter)
    if known is not None:
        return known
    if letter.isalnum() and (letter not in _SAME_LETTERS or (in_class and letter in "123456789")):
        raise _refuse(f"'\\{letter}' in a pattern")
    return "\\" + letter


def _property(text: str) -> str:
    """Returns the translation of a Unicode property. A script includes script extensions."""
    name = text[1:].strip("{}")
    negated = (text[0] == "P") != name.startswith("^")
    name = name.removeprefix("^")
    return f"\\{'P' if negated else 'p'}{{{f'scx={name}' if len(name) > 2 else name}}}"


def spans(pattern: Any, text: str) -> Iterator[tuple[int, int]]:
    """Yields the positions of matches, up to the first empty match."""
    start = 0
    while (match := pattern.search(text, start)) and match.end() > match.start():
        yield match.span()
        start = match.end()


def replaced(pattern: Any, text: str, replacement: str, *, everywhere: bool) -> str:
    """Returns the text with matches replaced, as by `pcre2_substitute`.

    As in openvino_tokenizers, the text stays unchanged if the replacement has a group that matched
    nothing, or if the result is longer than the reserved memory.
    """
    first = pattern.search(text)
    if first is None:
        return text
    groups = max((i for i, each in enumerate(first.groups(), 1) if each is not None), default=0)
    room = 4 * (len(text.encode()) + (groups + 1) * len(replacement.encode()))
    try:
        pieces = _replacement(replacement)
        result: str = pattern.sub(
            lambda match: "".join([p if isinstance(p, str) else match[p] for p in pieces]),
            text,
            0 if everywhere else 1,
        )
    except (IndexError, TypeError, ValueError):  # no such group, an unset group, no replacement
        return text
    return result if len(result.encode()) < room else text


_REPLACEMENT = re.compile(r"\$(?:(\$)|([0-9]+)|\{([0-9]+)\}|(.?))|([^$]+)", re.DOTALL)


@lru_cache(maxsize=64)
def _replacement(text: str) -> list[str | int]:
    """Returns a replacement as texts and group numbers. Raises `ValueError` if it is malformed."""
    pieces: list[str | int] = []
    for dollar, number, braced, other, plain in _REPLACEMENT.findall(text):
        if number or braced:
            pieces.append(int(number or braced))
        elif dollar or plain:
            pieces.append(dollar or plain)
        else:
            raise ValueError(other)
    return pieces


def replacement_of(text: str) -> str:
    """Returns a replacement in PCRE2's notation: `\\1` to `\\9` become `$1` to `$9`."""
    return re.sub(r"\\([1-9])", r"$\1", text)


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Any:
    """Returns the compiled form of a PCRE2 pattern.

    Raises `NotImplementedError` for a pattern that irshape cannot evaluate.
    """
    pattern, engine = _REWRITTEN.get(pattern, pattern), _engine()
    try:
        return engine.compile(_translated(pattern))
    except engine.error:
        raise _refuse(f"the pattern {pattern!r}") from None


def _engine() -> Any:
    """Returns the package `regex`. Raises `NotImplementedError` if it is not installed."""
    from importlib import import_module

    try:
        return import_module("regex")
    except ImportError:
        raise NotImplementedError(
            "the package regex, which evaluates patterns of tokenizers, is not installed: "
            "pip install 'irshape[tokenizers]'"
        ) from None
