"""Lists the conditions of an operation.

An operation declares some conditions: axes that several operands share. This module reads the
others from the code of the operation: each `require(…)`, `Violation(…)` and shared condition that
`infer` or `check` can reach.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from .. import wording
from ..faults import RULES
from ..rule_ids import INPUT_SHAPES, OPERATION_CONSTRAINT, RuleId
from . import conditions, operands
from .declaration import Operation

GAP = "…"
"""Replaces the values of a layer in a message."""


class Constraint(NamedTuple):
    """The message for a condition that does not hold, and its rule."""

    message: str
    rule: str


def constraints(cls: type[Operation]) -> tuple[Constraint, ...]:
    """Returns the constraints of an operation: declared ones first, then those stated by its code.

    Constraints on a single input or attribute are not included: its declaration states them.
    """
    constraints = dict.fromkeys(_shared_axes(cls))
    seen: set[FunctionType] = set()
    for name in ("infer", "check"):
        method = inspect.getattr_static(cls, name)
        if isinstance(method, FunctionType):
            _follow(method, cls, constraints, seen)
    return tuple(constraints)


def _shared_axes(cls: type[Operation]) -> Iterator[Constraint]:
    named: dict[str, list[str]] = {}
    for declared in cls.operands:
        for axis in declared.axes or ():
            if isinstance(axis, str) and axis != "?":
                named.setdefault(axis, []).append(f"`{declared.name}`")
    for axis, names in named.items():
        *others, last = dict.fromkeys(names)
        if others or len(names) > 1:
            listed = f"{', '.join(others)} and {last}" if others else f"the axes of {last}"
            yield Constraint(f"`{axis}` must be equal in {listed}", INPUT_SHAPES.name)


def _follow(
    function: FunctionType,
    cls: type[Operation],
    constraints: dict[Constraint, None],
    seen: set[FunctionType],
) -> None:
    """Adds the constraints of a function to `constraints`, and the constraints of functions that it
    calls in `ops` or in the module of a custom operation."""
    if function in seen or not function.__module__.startswith((__package__ or "", cls.__module__)):
        return
    seen.add(function)
    for call in _calls(function):
        if isinstance(call.func, ast.Name):
            if call.func.id in ("require", "Violation", "fault"):
                refused = _refused(call, function)
                if refused is not None:
                    constraints.setdefault(refused)
                continue
            target = function.__globals__.get(call.func.id)
        elif isinstance(call.func, ast.Attribute):
            target = _method(call.func, function, cls)
        else:
            continue
        if not isinstance(target, FunctionType):
            continue
        if target.__module__ == conditions.__name__:
            required = _shared(call, function, target)
            if required is not None:
                constraints.setdefault(required)
        elif target.__module__ != operands.__name__:
            _follow(target, cls, constraints, seen)


@cache
def _calls(function: FunctionType) -> tuple[ast.Call, ...]:
    """Returns the calls in a function, with texts in place of the variables that hold them."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except OSError:  # a custom operation without a file
        return ()
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Assign)]
    texts: dict[str, ast.expr] = {}
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Call):
            node.args = [_known(each, texts) for each in node.args]
            for given in node.keywords:
                given.value = _known(given.value, texts)
        elif isinstance(node.value, ast.Constant | ast.JoinedStr):
            texts |= {each.id: node.value for each in node.targets if isinstance(each, ast.Name)}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return tuple(sorted(calls, key=lambda node: (node.lineno, node.col_offset)))


def _known(node: ast.expr, texts: dict[str, ast.expr]) -> ast.expr:
    return texts.get(node.id, node) if isinstance(node, ast.Name) else node


def _method(called: ast.Attribute, function: FunctionType, cls: type[Operation]) -> Any:
    """Returns the function that `self.name(…)` or `super().name(…)` calls."""
    if isinstance(called.value, ast.Name) and called.value.id in ("self", "cls"):
        target = inspect.getattr_static(cls, called.attr, None)
        return getattr(target, "__func__", target)
    if (
        isinstance(called.value, ast.Call)
        and isinstance(called.value.func, ast.Name)
        and called.value.func.id == "super"
    ):
        owners = [owner for owner in cls.__mro__ if vars(owner).get(function.__name__) is function]
        after = cls.__mro__[cls.__mro__.index(owners[0]) + 1 :] if owners else ()
        return next(
            (vars(owner)[called.attr] for owner in after if called.attr in vars(owner)), None
        )
    return None


def _refused(call: ast.Call, function: FunctionType) -> Constraint | None:
    """Returns the constraint that a `require`, `Violation` or `fault` states."""
    assert isinstance(call.func, ast.Name)
    after = call.func.id == "require"
    if len(call.args) > after:
        message, rule = _text(call.args[after]), OPERATION_CONSTRAINT
    else:
        facts = {each.arg: _literal(each.value) for each in call.keywords if each.arg}
        relation = facts.get("relation", GAP)
        if relation not in RULES:
            return None
        message, rule = _worded(relation, facts), RULES[relation]
    return Constraint(message, _rule(call, function, rule)) if _says_what(message) else None


def _says_what(message: str) -> bool:
    """Returns whether a message with gaps still names an operand, an attribute or another noun."""
    return not set(re.findall("[a-z]+", message)) <= _GLUE


_GLUE = {"is", "are", "has", "have", "expected", "or", "more", "value", "for", "to"}


def _worded(relation: str, facts: dict[str, str]) -> str:
    """Returns the sentence of a relation, with gaps for the values of a layer."""
    at, expected = facts.get("at", GAP), facts.get("expected", GAP)
    axis = int(facts["axis"]) if relation == "equal" and facts.get("axis", "").isdigit() else None
    return wording.sentence(relation, at, axis, expected, GAP, facts.get("of", ""))


def _shared(call: ast.Call, function: FunctionType, condition: FunctionType) -> Constraint | None:
    """Returns the constraint that a call of a shared condition requires."""
    relation = conditions.RELATIONS.get(condition.__name__)
    if relation is None:
        return None
    parameters = inspect.signature(condition).parameters
    facts = {name: each.default for name, each in parameters.items() if name in ("at", "of")}
    facts = {name: default for name, default in facts.items() if isinstance(default, str)}
    for name, value in zip(parameters, call.args, strict=False):
        facts[name] = _literal(value)
    facts |= {each.arg: _literal(each.value) for each in call.keywords if each.arg}
    if relation == "at least":
        facts["expected"] = f"{facts.get('least', GAP)} or more"
    message = _worded(relation, facts)
    if not _says_what(message):
        return None
    return Constraint(message, _rule(call, function, RULES[relation]))


def _literal(node: ast.expr) -> str:
    """Returns a number or text as written in the code, with gaps for computed parts."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, str):
        return str(node.value)
    return _text(node)


def _text(node: ast.expr) -> str:
    """Returns a message with gaps for computed parts. Adjacent gaps become one."""
    return re.sub(f"{GAP}+", GAP, "".join(_parts(node)))


def _parts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from _parts(part)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    else:
        yield GAP


def _rule(call: ast.Call, function: FunctionType, otherwise: RuleId = OPERATION_CONSTRAINT) -> str:
    for given in call.keywords:
        if given.arg == "rule" and isinstance(given.value, ast.Name):
            rule = function.__globals__.get(given.value.id)
            if isinstance(rule, RuleId):
                return rule.name
    return otherwise.name
