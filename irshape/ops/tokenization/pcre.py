"""Regular expressions of PCRE2, as openvino_tokenizers compiles them (UTF and UCP), in Python.

A pattern is translated where Python means the same by it. `\\s`, `\\d` and `\\w` become the Unicode
properties that PCRE2 takes for them; patterns with properties need the package `regex`. What
Unicode has assigned since the version of PCRE2 is unassigned to them. For anything else that the
two read differently, `NotImplementedError` is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from .unassigned import unassigned

_SPACE = r"\t-\r \x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CLASSES = {
    "s": _SPACE,
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{N}\p{Mn}\p{Pc}",
    "h": r"\t \xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
}
_PLAIN = set("tnrfaebB0123456789")
_TOKEN = re.compile(
    r"""\\(?:x\{(?P<point>[0-9A-Fa-f]+)\}|x(?P<hex>[0-9A-Fa-f]{2})
      |(?P<property>[pP](?:\{\^?[A-Za-z_]+\}|[A-Z]))|(?P<letter>.))
    |(?P<open>\[\^?)|(?P<group>\((?:\?(?:<[A-Za-z_]|<?[=!]|>|\||[-a-zA-Z]*[:)]|.)|\*)?)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_GROUPS = {"(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?s:", "(?m:"}

_REWRITTEN = {
    r" ([\\.\\?\\!,])| ('[ms])| (') | ('[rv]e)| (n't)": (
        r"(?| ([\\.\\?\\!,])| ('[ms])| (') | ('[rv]e)| (n't))"
    ),
    "(^)(.)": r"(^)([\s\S])",
    "(^)(.+)": r"(^)([\s\S])",
}
"""Patterns of old tokenizers that the library replaces."""


def _refuse(what: str) -> NotImplementedError:
    return NotImplementedError(f"{what} is not evaluated: PCRE2 and Python may read it differently")


def _escaped(point: int) -> str:
    if point > 0x10FFFF:
        raise _refuse(f"the code point {point:X}")
    return f"\\U{point:08x}"


ASSIGNED_IN_17 = "\U000323b0"
"""A letter that Unicode has had since 17.0."""

MAX_VARIANTS = 64
"""How many compiled forms a pattern keeps, for texts with other unassigned characters."""


class _Member(NamedTuple):
    """A part of a class. of_unassigned: for a property, whether unassigned characters have it."""

    text: str
    of_unassigned: bool | None = None


class _Translation:
    """A pattern on its way to Python.

    unassigned: characters that have no property, whatever Python knows of them.
    """

    def __init__(self, pattern: str, unassigned: str = "") -> None:
        self.pattern = pattern
        self.parts: list[str] = []
        self.needs_properties = False
        self.unassigned = "".join(_escaped(ord(char)) for char in unassigned)

    def translate(self) -> str:
        position = 0
        while position < len(self.pattern):
            token = _TOKEN.match(self.pattern, position)
            if token is None:
                raise _refuse(f"the pattern {self.pattern!r}")
            position = token.end()
            if token["open"]:
                position = self._class(token["open"], position)
            elif token["group"]:
                if token["group"] not in _GROUPS:
                    raise _refuse(f"'{token['group']}' in a pattern")
                self.parts.append(token["group"])
            elif token["other"]:
                self.parts.append(token["other"])
            else:
                self.parts.append(self._alone(self._escape(token)))
        return "".join(self.parts)

    def _alone(self, member: _Member) -> str:
        """A member of no class."""
        if not self.unassigned or member.of_unassigned is None:
            return member.text
        if member.of_unassigned:
            return f"(?:[{self.unassigned}]|{member.text})"
        return f"(?:(?![{self.unassigned}]){member.text})"

    def _escape(self, token: re.Match[str], *, within: bool = False) -> _Member:
        if token["point"] or token["hex"]:
            return _Member(_escaped(int(token["point"] or token["hex"], 16)))
        if token["property"]:
            return self._property(token["property"])
        letter = token["letter"]
        if letter.lower() in _CLASSES:
            return self._shorthand(letter, within)
        if not letter.isalnum():
            return _Member(re.escape(letter))
        if letter not in _PLAIN or (within and letter not in "tnrfa0"):
            raise _refuse(f"'\\{letter}' in a pattern")
        if letter in "bB":
            self.needs_properties = True
            word = self._alone(_Member(f"[{_CLASSES['w']}]", of_unassigned=False))
            edge = f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
            return _Member(edge if letter == "b" else f"(?!{edge})")
        return _Member("\\x1b" if letter == "e" else "\\x00" if letter == "0" else "\\" + letter)

    def _shorthand(self, letter: str, within: bool) -> _Member:
        """`\\s`, `\\d`, `\\w`, `\\h` and their complements."""
        members = _CLASSES[letter.lower()]
        has_properties = "p{" in members
        self.needs_properties |= has_properties
        holds = letter.isupper() if has_properties else None
        if letter.islower():
            return _Member(members if within else f"[{members}]", holds)
        if within:
            return _Member(self._complement(letter))
        return _Member(f"[^{members}]", holds)

    def _complement(self, letter: str) -> str:
        """A negated class within a class: only space has a complement of few ranges."""
        if letter != "S":
            raise _refuse(f"'\\{letter}' within a class")
        return (
            r"\x00-\x08\x0e-\x1f!-\x84\x86-\x9f\xa1-\u167f\u1681-\u180d\u180f-\u1fff"
            r"\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\U0010ffff"
        )

    def _property(self, text: str) -> _Member:
        self.needs_properties = True
        name = text[1:].strip("{}")
        negated = (text[0] == "P") != name.startswith("^")
        name = name.removeprefix("^")
        if name == "L&":
            raise _refuse(f"'\\{text}' in a pattern")
        holds = (name.lower() in ("c", "cn", "unknown", "zzzz")) != negated
        if len(name) > 2:
            name = f"scx={name}"  # a script, with its extensions
        return _Member(f"\\{'P' if negated else 'p'}{{{name}}}", holds)

    def _class(self, opening: str, position: int) -> int:
        """Translates a class up to its bracket, and returns where it ends."""
        members: list[_Member] = []
        first = True
        while True:
            token = _TOKEN.match(self.pattern, position)
            if token is None:
                raise _refuse("a class without an end")
            position = token.end()
            if token["open"] or token["group"]:
                # a bracket or parenthesis is itself here
                if self.pattern.startswith("[:", token.start()):
                    raise _refuse("a POSIX class")
                members.append(_Member("\\" + self.pattern[token.start()]))
                position = token.start() + 1
            elif token["other"] == "]" and not first:
                self.parts.append(self._of_members(opening, members))
                return position
            elif token["other"]:
                character = token["other"]
                members.append(_Member(character if character == "-" else re.escape(character)))
            else:
                members.append(self._escape(token, within=True))
            first = False

    def _of_members(self, opening: str, members: list[_Member]) -> str:
        """A class of some members, of which unassigned characters meet others."""
        whole = f"{opening}{''.join(member.text for member in members)}]"
        if not self.unassigned or all(member.of_unassigned is None for member in members):
            return whole
        rest = []
        for place, member in enumerate(members):
            beside = members[max(place - 1, 0) : place + 2]
            if member.of_unassigned:
                rest.append(r"\x00-\U0010ffff")
            elif member.of_unassigned is None:
                hyphen = member.text == "-" and any(
                    each.of_unassigned is not None for each in beside
                )
                rest.append(r"\-" if hyphen else member.text)
        other = f"{opening}{''.join(rest)}]" if rest else "(?!)" if opening == "[" else "(?s:.)"
        return f"(?:(?![{self.unassigned}]){whole}|(?=[{self.unassigned}]){other})"


class Expression:
    """A compiled pattern.

    `branch_reset`: the groups of its alternatives share one number, 1.
    """

    def __init__(self, pattern: str) -> None:
        self.branch_reset = pattern.startswith("(?|") and pattern.endswith(")")
        self._pattern = f"(?:{pattern[3:]}" if self.branch_reset else pattern
        translation = _Translation(self._pattern)
        self._engine: Any = re
        text = translation.translate()
        self._has_properties = translation.needs_properties
        if self._has_properties:
            self._engine = _engine_with_properties()
        self._compiled = self._compile(text)
        self._compiled_for: dict[str, Any] = {}

    def _compile(self, text: str) -> Any:
        try:
            return self._engine.compile(text)
        except Exception:
            raise _refuse(f"the pattern {self._pattern!r}") from None

    def compiled(self, text: str) -> Any:
        """The expression in Python for a text, with regard to what is unassigned in that."""
        characters = unassigned(text) if self._has_properties else ""
        if not characters:
            return self._compiled
        if characters not in self._compiled_for:
            if len(self._compiled_for) >= MAX_VARIANTS:
                self._compiled_for.clear()
            translation = _Translation(self._pattern, characters)
            self._compiled_for[characters] = self._compile(translation.translate())
        return self._compiled_for[characters]

    def group(self, match: Any, number: int) -> str | None:
        """A group of a match; None if it took no part. Raises `IndexError` for one that is not
        there.
        """
        if self.branch_reset and number == 1:
            return next((text for text in match.groups() if text is not None), None)
        text: str | None = match.group(number)
        return text

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The matches one after the other, up to the first that is empty."""
        start = 0
        compiled = self.compiled(text)
        while (match := compiled.search(text, start)) and match.end() > match.start():
            yield match.span()
            start = match.end()

    def replaced(self, text: str, replacement: str, *, everywhere: bool) -> str:
        """What `pcre2_substitute` gives, or the text itself where the library gives up on it: an
        unset group, or a result longer than the memory that it sets aside.
        """
        compiled = self.compiled(text)
        first = compiled.search(text)
        if first is None:
            return text
        groups = max((i for i, each in enumerate(first.groups(), 1) if each is not None), default=0)
        groups = min(groups, 1) if self.branch_reset else groups
        room = 4 * (len(text.encode()) + (groups + 1) * len(replacement.encode()))
        try:
            pieces = _replacement(replacement)
            result = compiled.sub(
                lambda match: self._filled(match, pieces), text, 0 if everywhere else 1
            )
        except (IndexError, ValueError):
            return text
        return result if len(result.encode()) < room else text

    def _filled(self, match: Any, pieces: list[str | int]) -> str:
        filled = []
        for piece in pieces:
            value = piece if isinstance(piece, str) else self.group(match, piece)
            if value is None:
                raise IndexError(piece)
            filled.append(value)
        return "".join(filled)


_REPLACEMENT = re.compile(r"\$(?:(\$)|([0-9]+)|\{([0-9]+)\}|(.?))|([^$]+)", re.DOTALL)


@lru_cache(maxsize=64)
def _replacement(text: str) -> list[str | int]:
    """The pieces of a replacement: texts, and numbers of groups. Raises `ValueError`."""
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
    """A replacement as the library passes it on: `\\1` to `\\9` are `$1` to `$9`."""
    return re.sub(r"\\([1-9])", r"$\1", text)


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Expression | None:
    """A pattern of PCRE2; None for one that PCRE2 refuses, which then matches nothing.

    Raises `NotImplementedError` for one that is not evaluated.
    """
    return Expression(_REWRITTEN.get(pattern, pattern))


def _engine_with_properties() -> Any:
    """The package regex. Raises `NotImplementedError` where it is not installed, or too old."""
    from importlib import import_module

    try:
        engine = import_module("regex")
    except ImportError:
        raise NotImplementedError(
            "a pattern with Unicode properties is evaluated by the package regex: "
            "pip install 'irshape[tokenizers]'"
        ) from None
    if not engine.match(r"\p{Lo}", ASSIGNED_IN_17):
        raise NotImplementedError(
            "a pattern with Unicode properties needs the package regex with Unicode 17.0: "
            "pip install --upgrade 'irshape[tokenizers]'"
        )
    return engine
