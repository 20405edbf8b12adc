"""Lines that were lost, that stand there twice, or that stand a few lines further on.

Of the texts that come of putting them back, that one is meant in which every line stands where
writers put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain, groupby

from ...formats.ir.edits import Edit
from ...spelling import counted
from .damaged_lines import Around, mended
from .excerpts import BEFORE, BEHIND, LONGEST, Excerpt, Rewriting, indent_of
from .format_tables import CHILDREN, KNOWN
from .line_grammar import Place, Tag, step, tag_of, walk
from .slip import Slip, cited
from .structure import Structure

MAX_BLOCK = 8
"""So many lines may stand there twice."""
MAX_MOVED = 6
"""So many lines may stand elsewhere."""
MAX_WAY = 14
"""So many lines further on they may stand."""
MAX_CARRIED = 12
"""So many lines may have been put into another layer."""
REACH = 160
"""So many lines behind the place where the order breaks, the next layer or edge begins."""
MAX_TAGS = 4
"""So many tags may be added."""
MAX_DAMAGED = 3
"""So many lines in a row may be no tags."""
_WITH_PREFIX = re.compile(rb"</?([A-Za-z_][\w.:-]*)")
NEAR = 3
"""So many lines before the place where the order breaks may be another."""
WIDTH = 40
"""So long is a line on the average."""
ALIKE = 0.6
"""How alike two names must be for one to be a misspelling of the other."""
MOST_NAMES = 40_000
"""In so many tags a name may be misspelt."""
CLOSED, REMOVED, REPLACED, OPENED, MOVED, SWAPPED = range(0, 600, 100)
"""What is likelier has the lower price: end tags are lost, lines stand there twice, …"""


def in_displaced_lines(structure: Structure, places: Sequence[int]) -> Iterator[Iterable[Slip]]:
    """What may be meant where the order of lines breaks, kind by kind, the least change first."""
    yield _in_names(structure, places)
    excerpt = Excerpt.around(structure, min(places), max(places))
    if excerpt.broken >= len(excerpt.lines) or any(len(line) > LONGEST for line in excerpt.lines):
        return
    if None in excerpt.tags[: excerpt.broken + BEFORE]:
        yield _mended(excerpt)
    else:
        added = _bridged(excerpt, 0, BEFORE), _bridged(excerpt, 1, NEAR)
        yield from _in_groups(excerpt, [*chain(_removed(excerpt), *added)])
        yield from _in_groups(excerpt, [*_moves(excerpt), *_swaps(excerpt)])
    both = Excerpt.around(structure, min(places), max(places), REACH).with_next()
    if both is not None:
        yield from _in_groups(both, list(_carried(both)))


def _in_groups(excerpt: Excerpt, ways: list[Rewriting]) -> Iterator[Iterable[Slip]]:
    """The slips that some rewritings take back, those together that are as likely."""
    ways.sort(key=lambda way: way.price)
    for _, group in groupby(ways, key=lambda way: way.price[0]):
        yield filter(None, map(excerpt.slip, group))


# lines that are no tags


def _mended(excerpt: Excerpt) -> Iterator[Slip]:
    """A line is a part of a tag: it is written whole, and what is lost behind it is added."""
    first = excerpt.tags.index(None)
    if first > excerpt.broken:
        return
    last = first + 1
    while last < len(excerpt.tags) and excerpt.tags[last] is None and last - first < MAX_DAMAGED:
        last += 1
    damaged = b"".join(excerpt.lines[first:last])
    following = next((tag for tag in excerpt.tags[last : last + 1] if tag is not None), None)
    before = excerpt.states[first]
    start = excerpt.starts[first]
    for pieces in mended(damaged, Around(before, following, excerpt.text, start)):
        lines = next(_in_between(excerpt, before, pieces, first), None)
        tags = [tag_of(line) for line in lines or ()]
        added = _fitted(excerpt, before, tags, last) if lines is not None else None
        if lines is None or added is None:
            continue
        indent = indent_of(excerpt.lines[first])
        whole = b"".join(indent + line + b"\n" for line in (*lines, *added))
        edit = Edit(start, excerpt.starts[last], whole)
        shown = (lines[0] if lines else b"").decode("utf-8", "replace")
        cause = f"a part of a line is lost, or something else stands there: {cited(damaged)}"
        change = f"it becomes {shown}" if lines else "it is removed"
        yield Slip((edit,), change, cause, start + len(indent_of(damaged)), doubtful=True)


def _in_between(
    excerpt: Excerpt, before: Place, pieces: Sequence[bytes], at: int
) -> Iterator[list[bytes]]:
    """Some tags, of which each may stand behind the one before, and others between two of them."""
    if not pieces:
        yield []
        return
    rest, line = pieces[1:], _with_id(pieces[0], before, excerpt, at)
    tag = tag_of(line)
    ways: list[list[bytes]] = [[]]
    if tag is not None and step(before, tag) is None:
        ways = list(_bridges(before, tag, excerpt, at)) if len(pieces) == 1 else []
    for texts in ways:
        count, place = walk(before, [tag_of(text) for text in texts])
        line = _with_id(pieces[0], place, excerpt, at)
        tag = tag_of(line)
        behind = step(place, tag) if tag is not None and count == len(texts) else None
        for others in _in_between(excerpt, behind, rest, at) if behind is not None else ():
            yield [*texts, line, *others]


def _with_id(line: bytes, before: Place, excerpt: Excerpt, at: int) -> bytes:
    """A layer or a port with the id that comes next, and a port with a precision, if it lost it."""
    for name, number in ((b"port", before.port), (b"layer", before.layer)):
        start = b"<" + name
        if line.startswith(start) and b' id="' not in line and number >= 0:
            line = start + b' id="%d"' % number + line[len(start) :]
    if line.startswith(b"<port ") and b' precision="' not in line:
        end = line.find(b'"', line.find(b' id="') + 5) + 1
        line = line[:end] + _precision(excerpt, at) + line[end:]
    return line


def _fitted(
    excerpt: Excerpt, before: Place, tags: Sequence[Tag | None], last: int
) -> list[bytes] | None:
    """The tags that are added behind some, so that the lines that follow may stand there."""
    count, behind = walk(before, tags)
    if count < len(tags):
        return None
    if excerpt.goes_on(behind, (), last):
        return []
    if last < len(excerpt.tags):
        for texts in _bridges(behind, excerpt.tags[last], excerpt, last):
            if excerpt.goes_on(behind, [tag_of(text) for text in texts], last):
                return texts
    return None


# lines that are lost


def _bridged(excerpt: Excerpt, gone: int, before: int) -> Iterator[Rewriting]:
    """Tags are added before a line, or in place of one, so that those behind may stand there."""
    for at in range(excerpt.broken, max(-1, excerpt.broken - before), -1):
        if at + gone >= len(excerpt.lines):
            continue
        indent = indent_of(excerpt.lines[at])
        line = excerpt.line(at)
        for texts in _bridges(excerpt.states[at], excerpt.tags[at + gone], excerpt, at):
            shown = b"".join(texts).decode(errors="replace")
            lines = tuple(indent + text + b"\n" for text in texts)
            if gone:
                cause = f"{cited(excerpt.lines[at])} stands in the place of something else"
                yield Rewriting(at, lines, at + 1, cause, f"it becomes {shown}", (REPLACED,))
            else:
                closes = all(text.startswith(b"</") for text in texts)
                cause = f"the lines before line {line} are lost"
                price = (CLOSED if closes else OPENED,)
                yield Rewriting(at, lines, at, cause, f"{shown} is added", price)


def _bridges(place: Place, tag: Tag | None, excerpt: Excerpt, at: int) -> Iterator[list[bytes]]:
    """Tags between a place and a line, which close what is open and open what is not."""
    if tag is None:
        return
    closers: list[bytes] = []
    opened = place.opened
    for _ in range(MAX_TAGS):
        chain = _chain(opened[-1] if opened else "", tag)
        if chain is not None and (closers or chain) and len(closers) + len(chain) <= MAX_TAGS:
            other = [_OTHER.get(name, name) for name in chain]
            for names in (chain, other) if other != chain else (chain,):
                texts = [*closers, *(_opening(name, place, closers, excerpt, at) for name in names)]
                if all(texts):
                    yield texts
        if not opened:
            return
        closers.append(f"</{opened[-1]}>".encode())
        opened = opened[:-1]


_OTHER = {"input": "output", "output": "input"}
_CHAINS: dict[tuple[str, str], list[str]] = {
    ("layer", "port"): ["input"],
    ("layer", "dim"): ["input", "port"],
    ("input", "dim"): ["port"],
    ("output", "dim"): ["port"],
    ("layers", "data"): ["layer"],
    ("layers", "input"): ["layer"],
    ("layers", "output"): ["layer"],
    ("net", "layer"): ["layers"],
    ("net", "edge"): ["edges"],
}


def _chain(parent: str, tag: Tag) -> list[str] | None:
    """What has to be opened in an element, so that a tag may stand there; None if nothing helps."""
    if not tag.closes:
        if tag.name in CHILDREN.get(parent, ()):
            return []
        return _CHAINS.get((parent, tag.name))
    if tag.name == parent:
        return []
    if tag.name in CHILDREN.get(parent, ()):
        return [tag.name]
    inner = _CHAINS.get((parent, tag.name))
    return None if inner is None else [*inner, tag.name]


def _opening(name: str, place: Place, closers: list[bytes], excerpt: Excerpt, at: int) -> bytes:
    """A start tag; a port or a layer has the id that comes next."""
    if name == "port":
        number = 0 if b"</layer>" in closers else place.port
        return b'<port id="%d"%s>' % (number, _precision(excerpt, at))
    if name == "layer":
        return b'<layer id="%d">' % place.layer if place.layer >= 0 else b""
    return f"<{name}>".encode()


def _precision(excerpt: Excerpt, at: int) -> bytes:
    """The precision of the nearest port, as an attribute."""
    before = range(at - 1, max(-1, at - BEFORE), -1)
    behind = range(at, min(at + BEFORE, len(excerpt.lines)))
    for near in (*before, *behind):
        tag, line = excerpt.tags[near], excerpt.lines[near]
        start = line.find(b' precision="') if tag is not None and tag.name == "port" else -1
        if start >= 0:
            attribute: bytes = line[start : line.find(b'"', start + 12) + 1]
            return attribute
    return b""


# names of elements


def _in_names(structure: Structure, places: Sequence[int]) -> Iterator[Slip]:
    """The name of an element is misspelt in several tags in the same way."""
    text = structure.text
    start = structure.before(min(places))[0]
    names: dict[bytes, int] = {}
    for match in _WITH_PREFIX.finditer(text, start, max(places) + BEHIND * WIDTH):
        names.setdefault(match[1], match.start())
    for name, first in names.items():
        wrong = name.decode("ascii", "replace")
        if wrong in KNOWN or (":" not in wrong and _is_once(text, name)):
            continue
        near = get_close_matches(wrong.lower().rpartition(":")[2], KNOWN, 1, ALIKE)
        near = near or [known for known in sorted(KNOWN) if wrong.lower().startswith(known)]
        if not near:
            continue
        pattern = re.compile(rb"(?<=<)(?P<close>/?)%s(?=[\s/>])" % re.escape(name))
        tags = list(pattern.finditer(text))
        if (1 if ":" in wrong else 2) <= len(tags) <= MOST_NAMES:
            edits = tuple(Edit(tag.end(1), tag.end(), near[0].encode()) for tag in tags)
            cause = f"<{wrong}> is no element of an IR; it stands in {counted(len(tags), 'tag')}"
            yield Slip(edits, f"<{wrong}> becomes <{near[0]}>", cause, first, doubtful=True)
            words = list(re.finditer(re.escape(name), text))
            if len(tags) < len(words) <= MOST_NAMES:
                edits = tuple(Edit(*word.span(), near[0].encode()) for word in words)
                cause += ", and as a part of other words"
                yield Slip(edits, f"{wrong} becomes {near[0]}", cause, first, doubtful=True)


def _is_once(text: bytes, name: bytes) -> bool:
    """Whether at most one tag begins with a name."""
    ends = b" ", b">"
    tags = sum(text.count(b"<" + name + end) + text.count(b"</" + name + end) for end in ends)
    return tags < 2


# lines that stand there twice, or elsewhere


def _removed(excerpt: Excerpt) -> Iterator[Rewriting]:
    """Some lines that are there elsewhere, too, are removed."""
    text, starts = excerpt.text, excerpt.starts
    most = min(excerpt.broken + 2, len(excerpt.lines), len(excerpt.states))
    for length in range(1, MAX_BLOCK + 1):
        for at in range(most - 1, max(0, excerpt.broken - length - 2) - 1, -1):
            end = at + length
            if (
                end >= len(excerpt.lines)
                or excerpt.behind(excerpt.states[at], end, end + 1) is None
            ):
                continue
            if _stands_elsewhere(text, text[starts[at] : starts[end]], starts[at]):
                stands = "stands" if length == 1 else "stand"
                cause = f"{excerpt.named(at, end)} {stands} there once too often"
                change = "they are removed" if length > 1 else "it is removed"
                yield Rewriting(at, (), end, cause, change, (REMOVED, length))


def _stands_elsewhere(text: bytes, block: bytes, start: int) -> bool:
    words = block.strip()
    return text.find(words) < start or text.find(words, start + len(block)) >= 0


def _moves(excerpt: Excerpt) -> Iterator[Rewriting]:
    """Some lines stand before or behind some others: that first of which fewest lines are moved,
    and by the shortest way."""
    broken, count, states = excerpt.broken, len(excerpt.tags), excerpt.states
    for first in range(max(0, broken - MAX_WAY), min(broken, count - 2) + 1):
        for middle in range(first + 1, min(first + MAX_WAY + MAX_MOVED, count)):
            if excerpt.behind(states[first], middle, middle + 1) is None:
                continue
            for end in range(max(middle, broken) + 1, min(middle + MAX_WAY, count) + 1):
                moved = min(middle - first, end - middle)
                exchanged = excerpt.behind(states[first], middle, end)
                exchanged = excerpt.behind(exchanged, first, middle)
                if moved <= MAX_MOVED and excerpt.behind(exchanged, end, count) is not None:
                    shown = f"{excerpt.named(first, middle)} and {excerpt.named(middle, end)}"
                    price = MOVED + moved, end - first, middle != broken, -first
                    yield Rewriting(
                        first,
                        (slice(middle, end), slice(first, middle)),
                        end,
                        f"{shown} stand in each other's place",
                        "they are exchanged",
                        price,
                    )


def _swaps(excerpt: Excerpt) -> Iterator[Rewriting]:
    """Two lines stand in each other's place, with others between them."""
    broken, tags = excerpt.broken, excerpt.tags
    for first in range(broken, max(-1, broken - NEAR), -1):
        for other in range(max(first + 2, broken), min(first + BEHIND, len(tags))):
            if excerpt.behind(excerpt.states[first], other, other + 1) is None:
                continue
            pieces = slice(other, other + 1), slice(first + 1, other), slice(first, first + 1)
            cause = (
                f"lines {excerpt.line(first)} and {excerpt.line(other)} stand in each other's place"
            )
            yield Rewriting(
                first, pieces, other + 1, cause, "they are exchanged", (SWAPPED, -first)
            )


def _carried(excerpt: Excerpt) -> Iterator[Rewriting]:
    """Lines near one break were cut out near another, in another layer."""
    broken, count, states = excerpt.broken, len(excerpt.tags), excerpt.states
    joint = excerpt.joint[0] if excerpt.joint is not None else count
    for first in range(broken, max(-1, broken - BEFORE), -1):
        for middle in range(first + 1, count):
            there = middle >= joint
            behind = excerpt.behind(states[first], middle, middle + 1 if there else joint)
            if behind is None or (not there and middle - first > MAX_CARRIED):
                continue
            most = min(middle + MAX_CARRIED, count - 1) if there else count - 1
            for end in range(max(joint, middle + 1), most + 1):
                exchanged = excerpt.behind(
                    excerpt.behind(states[first], middle, end), first, middle
                )
                if excerpt.behind(exchanged, end, count) is None:
                    continue
                start, stop, to = (middle, end, first) if there else (first, middle, end)
                cause = f"{excerpt.named(start, stop)} stood before line {excerpt.line(to)}"
                pieces = slice(middle, end), slice(first, middle)
                yield Rewriting(first, pieces, end, cause, "put back there", (0, stop - start))
