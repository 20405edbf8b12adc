"""The symbols of a model, the axes that they come from, and the layers' conditions on them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model.graph import Layer, Model
from ..shapes import UNBOUNDED, Dimension
from ..symbols.conditions import Conflict
from ..symbols.expressions import Expression, Symbol
from ..symbols.facts import Facts


class Origin(NamedTuple):
    """Where a symbol comes from: an axis of an input or of a variable."""

    tensor: str
    axis: int
    layer: Layer


class NamedSize(NamedTuple):
    """The tensor and axis whose size a symbol stands for, and the range of the size."""

    tensor: str
    axis: int
    range: Dimension


class NamedSizes:
    """The symbols of a model, with their origins and the known facts about them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.origins: dict[str, list[Origin]] = {}
        """For each symbol, the axes with this size, even if an expression replaces the symbol."""
        self._names: dict[tuple[str, Origin], str] = {}
        self._mentions: dict[str, Origin] = {}

    def name_of(self, wanted: str, origin: Origin) -> str:
        """Returns a name for the symbol of an axis: `wanted` as an identifier.

        If `wanted` only joins tensor and axis (`x_1`), and another axis has it, appends a number.
        """
        known = self._names.get((wanted, origin))
        if known is not None:
            return known
        made_up = wanted == f"{origin.tensor}_{origin.axis}"
        name = base = identifier(wanted)
        number = 2
        while made_up and name in self.origins:
            name = f"{base}_{number}"
            number += 1
        self._names[wanted, origin] = name
        self.origins.setdefault(name, []).append(origin)
        return name

    def mention(self, expression: Expression, origin: Origin) -> None:
        """Records where symbols come from: from the axis `origin`, whose size is `expression`."""
        for symbol in expression.symbols:
            self._mentions.setdefault(symbol.name, origin)

    def origin(self, name: str) -> Origin | None:
        """Returns the first origin of a symbol; None if it has no origin."""
        return self.origins[name][0] if name in self.origins else self._mentions.get(name)

    @property
    def symbols(self) -> Iterator[Symbol]:
        """The symbols that equal no expression of other symbols, in the order of the inputs."""
        for symbol in self.facts.symbols.values():
            if symbol not in self.facts.replaced:
                yield symbol

    def named(self) -> dict[str, NamedSize]:
        """Returns the symbols by name, with their origins and ranges."""
        result = {}
        for symbol in self.symbols:
            origin = self.origin(symbol.name)
            if origin is not None:
                low, high = self.facts.ranges[symbol]
                bounds = Dimension(int(low), UNBOUNDED if math.isinf(high) else int(high))
                result[symbol.name] = NamedSize(origin.tensor, origin.axis, bounds)
        return result

    def bound(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Returns sizes for all symbols. Raises `ValueError` for sizes that the model forbids.

        No size is needed for a symbol that equals an expression of other symbols.
        """
        known = {symbol.name: symbol for symbol in self.symbols}
        for name in sizes:
            if name not in self.facts.symbols:
                listed = ", ".join(known) or "none"
                raise ValueError(f"the model has no symbol '{name}' (its symbols: {listed})")
        missing = [name for name in known if name not in sizes]
        if missing:
            raise ValueError(f"no size is given for {', '.join(missing)}")
        result = {name: sizes[name] for name in known}
        for name, size in result.items():
            if not hasattr(size, "__index__"):
                raise TypeError(f"the size of {name} must be a whole number, got {size!r}")
        for name, symbol in known.items():
            low, high = self.facts.ranges[symbol]
            if not low <= result[name] <= high:
                allowed = written_range(low, high)
                raise ValueError(f"{name} is {result[name]}; it must lie in {allowed}")
        for symbol, expression in self.facts.replaced.items():
            size = expression.evaluate(result)
            if sizes.get(symbol.name, size) != size:
                raise ValueError(
                    f"{symbol.name} is {sizes[symbol.name]}; it must be {expression} = {size}"
                )
        condition = next(self.broken(result), None)
        if condition is not None:
            listed = ", ".join(f"{name}={size}" for name, size in result.items())
            raise ValueError(f"{listed}: {condition} does not hold")
        return result

    def empty(self, sizes: Mapping[str, int]) -> int:
        """Counts the symbols that equal an expression of other symbols and are 0 for `sizes`."""
        return sum(not value_of(size, sizes, 1) for size in self.facts.replaced.values())

    def broken(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Yields the conditions that these sizes break, as texts."""
        facts = self.facts
        replaced = {s.name: value_of(e, sizes) for s, e in facts.replaced.items()}
        sizes = {**replaced, **sizes}
        for expression in facts.nonnegative:
            if value_of(expression, sizes) < 0:
                yield f"{expression} >= 0"
        for expression, number in facts.multiples:
            if value_of(expression, sizes, 1) % number:
                yield f"{expression} % {number} == 0"
        for expression, number in facts.one_or:
            if value_of(expression, sizes, 1) not in (1, number):
                yield f"{expression} == 1 or {expression} == {number}"
        for call, expression in facts.rewritten.items():
            if value_of(Expression.of(call, facts) - expression, sizes, 1):
                yield f"{call} == {expression}"
        for symbol, expression in facts.replaced.items():
            low, high = facts.ranges[symbol]
            if not low <= value_of(expression, sizes) <= high:
                yield f"{symbol.name} in {written_range(low, high)}"


def located(model: Model, layer: Layer) -> str:
    """Returns the type, name and line of a layer, e.g. `Concat 'first' (line 7)`."""
    line = f" (line {model.source.line_number(layer.offset)})" if layer.offset >= 0 else ""
    return f"{layer.type} '{layer.name}'{line}"


def contradiction(model: Model, conflict: Conflict) -> str:
    """Returns a contradiction as text, e.g. `n == 4, but Concat 'first' (line 7) needs n == 8`."""
    demands = []
    for each in conflict.earlier:
        if isinstance(each.source, Layer):
            verb = "probably needs" if each.assumed else "needs"
            demands.append(f"{located(model, each.source)} {verb} {each}")
        else:
            demands.append(f"{each} is assumed")
    return f"{conflict.constraint}, but {' and '.join(demands)}"


def value_of(expression: Expression, sizes: Mapping[str, int], otherwise: int = -1) -> int:
    """Returns the value of an expression; `otherwise` if it divides by zero."""
    try:
        return expression.evaluate(sizes)
    except ZeroDivisionError:
        return otherwise


def written_range(low: float, high: float) -> str:
    """Returns bounds as text, with the lower bound always written: `0..`, `1..8`, `5`."""
    if low == high:
        return f"{int(low)}"
    return f"{int(low)}.." + ("" if high >= UNBOUNDED else f"{int(high)}")


_NO_WORD = re.compile(r"\W+")


def identifier(name: str) -> str:
    """Returns a name as a Python identifier: `input.1:0` becomes `input_1_0`."""
    word = _NO_WORD.sub("_", name).strip("_") or "size"
    if word[0].isdigit() or word in ("min", "max"):
        word = "_" + word
    return word


def tensor_name(layer: Layer) -> str:
    """Returns the name of an input for users: a tensor name, or else the name of its layer."""
    names = [name for port in layer.outputs for name in port.tensor_names]
    return next((name for name in names if not name.isdigit()), names[0] if names else layer.name)
