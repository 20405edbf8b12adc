"""Parses expressions and conditions with symbols, such as `past + seq` and `seq % 8 == 0`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, Final

from .expressions import Expression, TooLarge
from .facts import Facts

_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Expression]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_RELATIONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.GtE: ">=",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.Lt: "<",
}
MAX_LENGTH: Final = 1000
_PYTHON_NUMBER: Final = re.compile(r"\b(?:[0-9]+[_a-zA-Z.]|True\b|False\b)")
"""A number in another notation that Python reads: `1_000`, `0x10`, `1e3`."""


def parse_expression(text: str, facts: Facts) -> Expression:
    """Returns the expression that a text in Python's notation describes. Raises `ValueError`."""
    return _expression(_tree(text), text, facts)


def parse_condition(text: str, facts: Facts) -> tuple[Expression, str, Expression, int | None]:
    """Parses a comparison. Returns its left side, `==`, `>=` or `<=`, its right side, and None. For
    `a % n == 0`, returns `a`, `==`, 0 and `n`. Raises `ValueError`."""
    tree = _tree(text)
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
        raise ValueError(f"'{text}' is not a condition such as 'seq % 8 == 0' or 'past >= 1'")
    relation = _RELATIONS.get(type(tree.ops[0]))
    if relation is None:
        raise ValueError(f"'{text}': a condition compares by ==, >=, <=, > or <")
    left, right = tree.left, tree.comparators[0]
    first, second = _expression(left, text, facts), _expression(right, text, facts)
    if relation == "==" and second == 0 and isinstance(left, ast.BinOp):
        number = _expression(left.right, text, facts).constant or 0
        if isinstance(left.op, ast.Mod) and number > 0:
            return _expression(left.left, text, facts), "==", second, int(number)
    if relation == ">":
        return first, ">=", second + 1, None
    if relation == "<":
        return first + 1, "<=", second, None
    return first, relation, second, None


def _tree(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ValueError(f"an expression has at most {MAX_LENGTH} characters, not {len(text)}")
    if _PYTHON_NUMBER.search(text):
        raise ValueError(f"'{text}': numbers are written in digits, such as 12")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"'{text}' is not an expression such as 'past + seq'") from None


def _expression(node: ast.expr, text: str, facts: Facts) -> Expression:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return facts.number(node.value)
    if isinstance(node, ast.Name):
        return facts.symbol(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_expression(node.operand, text, facts)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _expression(node.left, text, facts), _expression(node.right, text, facts)
        try:
            return _OPERATORS[type(node.op)](left, right)
        except ZeroDivisionError:
            raise ValueError(f"'{text}' divides by 0") from None
        except TooLarge:
            raise ValueError(f"'{text}' is too large") from None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("min", "max")
        and node.args
        and not node.keywords
    ):
        arguments = tuple(_expression(part, text, facts) for part in node.args)
        return facts.extreme(node.func.id, arguments)
    raise ValueError(f"'{text}' may contain only names of sizes, integers, + - * // %, min and max")
