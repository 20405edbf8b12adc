"""The kinds of attributes, e.g. boolean: how OpenVINO reads texts, and the allowed values.

A kind converts a text to a Python value, or raises `Malformed`. If OpenVINO silently accepts a
malformed text, `Malformed.value` is the value that OpenVINO uses.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from math import inf, isnan
from typing import Any, Final, NamedTuple

from ..element_types import ElementType
from ..shapes import BLANKS, PartialShape

_NOTHING: Final = object()
THE_DEFAULT: Final = object()
"""The `Malformed.value` of texts for which OpenVINO uses the default of the attribute."""
_FLOAT_LIMIT: Final = 2.0**128 - 2.0**103
"""The smallest number that rounds to infinity in f32."""
_NO_LIMIT: Final = sys.float_info.max
_WHOLE = re.compile(r"-?[0-9]+")
_LONGEST = 64
"""The longest list of axes or sizes in practice. For longer lists, `domain` tries short ones."""
_MOST_ITEMS = 8
"""`domain` changes single items of a list: at most this many, from the front."""
_NATURALS = re.compile(r"[0-9]{1,18}+(?:, ?[0-9]{1,18}+)*+")
"""Matches a static shape as IR writers write it, e.g. `1,3,224,224`."""


def bounded(digits: str) -> int:
    """Returns a whole number from its digits.

    Python refuses to convert very long texts. A text of more than 1000 characters becomes ±10^30,
    which lies outside the limits of all attributes.
    """
    if len(digits) <= 1000:
        return int(digits)
    return -(10**30) if digits.lstrip().startswith("-") else 10**30


class Malformed(Exception):
    """The error for a text that is no value of the attribute's kind.

    silent: whether OpenVINO accepts the text and uses `value`.
    problem: what is wrong, if `expected` does not say it.
    """

    def __init__(self, expected: str, value: Any = _NOTHING, problem: str | None = None) -> None:
        super().__init__(expected)
        self.expected = expected
        self.problem = problem
        self.silent = value is not _NOTHING
        self.value = value


class Declared(NamedTuple):
    """The sizes, types and shapes that a layer's ports declare: likely values of its attributes."""

    sizes: tuple[int, ...] = ()
    element_types: tuple[ElementType, ...] = ()
    shapes: tuple[PartialShape, ...] = ()


class Kind:
    """A kind of attribute, e.g. boolean. `name` is its name in messages and `irshape ops`."""

    name: str = ""

    def read(self, text: str) -> Any:
        """Returns the Python value of a text, e.g. True for `"true"`, or raises `Malformed`."""
        raise NotImplementedError

    def fits_in_list(self, value: Any) -> bool:
        """Returns whether OpenVINO also reads this value in a list, where it refuses e.g. 1e39."""
        return True

    def describe(self) -> str:
        """Returns the allowed values in words, for messages and `irshape ops`."""
        return self.name

    def describe_several(self) -> str:
        """Returns the items of a list of this kind in words, e.g. "whole numbers"."""
        return f"items, each {self.describe()}"

    def write(self, value: Any) -> str:
        """Returns the text that OpenVINO's writer uses for a value."""
        return str(value)

    def domain(self, current: Any, declared: Declared) -> Iterator[Any]:
        """Yields values that can replace `current`; none for a kind that allows any text."""
        return iter(())


class Boolean(Kind):
    name = "boolean"

    def describe(self) -> str:
        return '"true" or "false"'

    def read(self, text: str) -> bool:
        folded = text.lower()
        if folded in ("true", "1"):
            return True
        if folded in ("false", "0"):
            return False
        raise Malformed('"true" or "false"', THE_DEFAULT)

    def write(self, value: Any) -> str:
        return "true" if value else "false"

    def domain(self, current: Any, declared: Declared) -> Iterator[bool]:
        yield from (True, False)


class Integer(Kind):
    """A whole number of at least `low`.

    refused: whether OpenVINO refuses a smaller number. If not, OpenVINO silently accepts it.
    """

    name = "int"

    def __init__(self, low: int | None = None, *, refused: bool = False) -> None:
        self.low = low
        self.refused = refused
        self.any_natural = low is None or low <= 0

    def read(self, text: str) -> int:
        if text.isdigit() and text.isascii() and len(text) < 19:
            number = int(text)
            if self.any_natural:
                return number
        else:
            stripped = text.strip(BLANKS)
            if not _WHOLE.fullmatch(stripped):
                raise Malformed(self.describe())
            number = bounded(stripped)
        if (self.low is not None and number < self.low) or not -(2**63) <= number < 2**64:
            raise Malformed(self.describe()) if self.refused else Malformed(self.describe(), number)
        return number

    def fits_in_list(self, value: Any) -> bool:
        return -(2**63) <= value < 2**63

    def describe(self) -> str:
        return "a whole number" + ("" if self.low is None else f" of at least {self.low}")

    def describe_several(self) -> str:
        return self.describe().replace("a whole number", "whole numbers")

    def domain(self, current: Any, declared: Declared) -> Iterator[int]:
        near = (current,) if isinstance(current, int) else ()
        return self.numbers(near, declared)

    def numbers(self, near: tuple[int, ...], declared: Declared) -> Iterator[int]:
        """Yields numbers to try: small ones, sizes of ports, neighbours of `near`; nearest
        first."""
        worth_trying = {*range(-4, 9), *declared.sizes}
        worth_trying.update(number + step for number in near for step in (-2, -1, 1, 2))
        for number in sorted(
            worth_trying, key=lambda each: (min((abs(each - it) for it in near), default=0), each)
        ):
            if self.low is None or number >= self.low:
                yield number


_WORDS = ("inf", "-inf", "nan")
"""The words that OpenVINO reads as numbers, e.g. `inf`. Python's `float` accepts more words."""


class Real(Kind):
    """A number.

    OpenVINO converts the number to f32. Beyond the range of f32, the number becomes infinite. In a
    list, OpenVINO refuses such a number, except "inf" and the largest f64, which means "no limit".
    """

    name = "float"

    def read(self, text: str) -> float:
        bare = text.strip()
        try:
            number = float(text)
        except ValueError:
            raise Malformed(self.describe()) from None
        if "_" in text or not text.isascii() or (bare[-1].isalpha() and bare not in _WORDS):
            raise Malformed(self.describe())
        if abs(number) == inf and bare not in _WORDS:
            raise Malformed("a number within the range of f64, up to 1.7976931e308")
        return number

    def fits_in_list(self, number: float) -> bool:
        return abs(number) < _FLOAT_LIMIT or abs(number) in (inf, _NO_LIMIT) or isnan(number)

    def describe(self) -> str:
        return "a number"

    def describe_several(self) -> str:
        return "numbers"

    def write(self, value: Any) -> str:
        return f"{value:.17g}"


class Text(Kind):
    name = "string"

    def read(self, text: str) -> str:
        return text

    def describe(self) -> str:
        return "a string"

    def describe_several(self) -> str:
        return "strings"


class Choice(Kind):
    """One of a few words. For most attributes, OpenVINO ignores the case."""

    name = "enum"

    def __init__(self, *words: str, case_sensitive: bool = False) -> None:
        self.words = words
        self.case_sensitive = case_sensitive

    def read(self, text: str) -> str:
        folded = text if self.case_sensitive else text.lower()
        for word in self.words:
            if folded == (word if self.case_sensitive else word.lower()):
                return word
        raise Malformed(self.describe())

    def domain(self, current: Any, declared: Declared) -> Iterator[str]:
        yield from self.words

    def describe(self) -> str:
        return "one of " + ", ".join(f'"{word}"' for word in self.words)


class ListOf(Kind):
    """Values of one kind, separated by commas. An empty text is an empty list."""

    def __init__(self, item: Kind) -> None:
        self.item = item
        self.name = f"{item.name}[]"
        self.any_naturals = isinstance(item, Integer) and item.any_natural

    def read(self, text: str) -> tuple[Any, ...]:
        if self.any_naturals and _NATURALS.fullmatch(text):
            return tuple(map(int, text.split(",")))
        if not text.strip(BLANKS):
            return ()
        values = []
        known: dict[str, Any] = {}  # a long list repeats its items
        broken: Malformed | None = None
        for part in text.split(","):
            if part not in known:
                try:
                    known[part] = self.item.read(part.strip(BLANKS))
                    if not self.item.fits_in_list(known[part]):
                        raise Malformed(self.item.describe())
                except Malformed as malformed:
                    broken = broken or malformed
                    known[part] = malformed.value
            values.append(known[part])
        if broken is not None:
            if all(value is not _NOTHING for value in values) and not isinstance(self.item, Real):
                raise Malformed(self.describe(), tuple(values))
            raise Malformed(self.describe())
        return tuple(values)

    def describe(self) -> str:
        return f"a list of {self.item.describe_several()}"

    def write(self, value: Any) -> str:
        return ", ".join(map(self.item.write, value))

    def domain(self, current: Any, declared: Declared) -> Iterator[tuple[int, ...]]:
        """Yields lists in which all items are the same number, then lists with one item changed.

        If the current list is empty, the lists have one to three items.
        """
        if not isinstance(self.item, Integer) or not isinstance(current, tuple):
            return
        if len(set(current)) == 1:
            yield from (current[:1] * count for count in (1, 2, 3))
        if len(current) > _LONGEST:
            return
        numbers = list(self.item.numbers(current, declared))
        counts = (len(current),) if current else (1, 2, 3)
        yield from ((number,) * count for count in counts for number in numbers)
        if len(current) > 1:
            for index in range(min(len(current), _MOST_ITEMS)):
                for number in numbers:
                    yield (*current[:index], number, *current[index + 1 :])


class TypeName(Kind):
    """The name of an element type, such as `f32`. OpenVINO ignores the case.

    refused: whether OpenVINO refuses a type that is not one of `allowed`.
    """

    name = "element type"

    def __init__(self, *allowed: str, refused: bool = False) -> None:
        self.allowed = allowed
        self.refused = refused

    def read(self, text: str) -> ElementType:
        try:
            element_type = ElementType.of(text)
        except ValueError:
            raise Malformed(self.describe()) from None
        if self.allowed and element_type.name not in self.allowed:
            raise (
                Malformed(self.describe())
                if self.refused
                else Malformed(self.describe(), element_type)
            )
        return element_type

    def describe(self) -> str:
        return (
            "one of " + ", ".join(self.allowed)
            if self.allowed
            else "the name of an element type, such as f32 or i64"
        )

    def domain(self, current: Any, declared: Declared) -> Iterator[ElementType]:
        yield from declared.element_types


class ShapeText(Kind):
    """A partial shape, e.g. `1..10,3,?`."""

    name = "shape"

    def read(self, text: str) -> PartialShape:
        try:
            return PartialShape.parse(text)
        except ValueError as problem:
            silent = _as_openvino_reads(text)
            value = _NOTHING if silent is None else silent
            raise Malformed(self.describe(), value, str(problem)) from None

    def describe(self) -> str:
        return "a shape, such as 1..10,3,?"

    def domain(self, current: Any, declared: Declared) -> Iterator[PartialShape]:
        yield from declared.shapes

    def write(self, value: Any) -> str:
        return str(value)[1:-1]


def _as_openvino_reads(text: str) -> PartialShape | None:
    """Returns the shape that OpenVINO 2026.4 reads from a malformed text, or None.

    It reads a size that overflows, or that is negative but not -1, as 0. It reads an empty interval
    and an interval up to -1, e.g. `1..-1`, as `?`.
    """
    dims: list[str] = []
    for each in text.strip(BLANKS).strip("[]").split(","):
        part = each.strip(BLANKS)
        low, dots, high = part.partition("..")
        if dots and high.strip() == "-1":
            dims.append("?")
        elif dots and low.isascii() and low.isdigit() and high.isascii() and high.isdigit():
            dims.append(part if bounded(low) <= bounded(high) <= 2**63 - 1 else "?")
        elif re.fullmatch(r"-?[0-9]+", part) and part != "-1":
            size = bounded(part)
            if size == 2**63 - 1:
                dims.append("?")
            else:
                dims.append(part if 0 <= size < 2**63 else "0")
        else:
            dims.append(part)
    try:
        return PartialShape.parse(",".join(dims))
    except ValueError:
        return None


BOOLEAN: Final = Boolean()
INT: Final = Integer()
NATURAL: Final = Integer(low=0)
POSITIVE: Final = Integer(low=1)
FLOAT: Final = Real()
STRING: Final = Text()
INTS: Final = ListOf(INT)
NATURALS: Final = ListOf(NATURAL)
POSITIVES: Final = ListOf(POSITIVE)
FLOATS: Final = ListOf(FLOAT)
STRINGS: Final = ListOf(STRING)
TYPE_NAME: Final = TypeName()
INDEX_TYPE: Final = TypeName("i32", "i64", refused=True)
SHAPE: Final = ShapeText()
