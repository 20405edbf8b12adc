"""Expressions over named sizes: normal form, text, and what is proven of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from irshape.symbols.expressions import Expression
from irshape.symbols.facts import Facts
from irshape.symbols.parsing import parse_condition, parse_expression


def expression(text: str, **least: int) -> Expression:
    facts = Facts()
    for name in ("batch", "seq", "past", "n", "h", "w"):
        facts.symbol(name, least.get(name, 0))
    return parse_expression(text, facts)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("0", "0"),
        ("seq - seq", "0"),
        ("seq + past", "past+seq"),
        ("past + seq - past", "seq"),
        ("2 * (seq + 1) - seq", "seq+2"),
        ("seq * batch * 2", "2*batch*seq"),
        ("-seq + 5", "5-seq"),
        ("3 - seq * 2", "3-2*seq"),
        ("(batch + 1) * (batch - 1)", "batch*batch-1"),
        ("8 * seq // 8", "seq"),
        ("8 * seq // 4", "2*seq"),
        ("(8 * seq + 3) // 8", "seq"),
        ("(8 * seq + 11) // 8", "seq+1"),
        ("(4 * seq + 6) // 8", "(seq+1)//2"),
        ("(seq + 7) // 8 // 4", "(seq+7)//32"),
        ("(h // 2 + 1) // 2", "(h+2)//4"),
        ("2 * (h // 2)", "2*(h//2)"),
        ("h // 2 * 2 + h % 2", "h"),
        ("h % 2", "(h%2)"),
        ("h - 2 * (h // 2)", "(h%2)"),
        ("h % 1", "0"),
        ("batch * seq // seq", "batch"),
        ("batch * seq * 768 // (batch * seq)", "768"),
        ("(batch * seq + seq) // seq", "batch+1"),
        ("(batch * past + batch * seq) // (past + seq)", "batch"),
        ("min(seq, 1024)", "min(1024,seq)"),
        ("min(seq, seq + past)", "seq"),
        ("max(seq, seq + past)", "past+seq"),
        ("max(seq, 0)", "seq"),
        ("max(seq - 1, 0)", "seq-1"),
        ("max(past - 1, 0)", "max(0,past-1)"),
        ("min(min(seq, 4), min(past, 8))", "min(4,past,seq)"),
        ("max(past + seq, past + 2)", "max(2,seq)+past"),
        ("min(seq, 1024) - min(seq, 1024)", "0"),
        ("(n + 1) * (n // 2)", "n*(n//2)+n//2"),
    ],
)
def test_normal_form(written: str, normal: str) -> None:
    result = str(expression(written, h=1, seq=1, past=0, batch=1))
    assert result == normal
    assert str(expression(result, h=1, seq=1, batch=1)) == normal


OPERATIONS: list[Callable[[Expression, Expression], Expression]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a // (b.maximum(0) + 1),
    lambda a, b: a % (b.maximum(0) + 2),
    lambda a, b: a // 3,
    lambda a, b: a % 4,
    lambda a, b: a.minimum(b),
    lambda a, b: a.maximum(b),
]
MEANINGS: list[Callable[[int, int], int]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a // (max(b, 0) + 1),
    lambda a, b: a % (max(b, 0) + 2),
    lambda a, b: a // 3,
    lambda a, b: a % 4,
    min,
    max,
]


@pytest.mark.parametrize("seed", range(150))
def test_a_normal_form_has_the_value_of_what_it_was_made_of(seed: int) -> None:
    chance = random.Random(seed)
    facts = Facts()
    pool = [facts.symbol(name, chance.randint(0, 2)) for name in "abc"] + [facts.number(5)]
    sizes = [
        {name: facts.ranges[facts.symbols[name]][0] + chance.randint(0, 9) for name in "abc"}
        for _ in range(6)
    ]
    bindings = [{name: int(size) for name, size in row.items()} for row in sizes]
    values = [[part.evaluate(binding) for binding in bindings] for part in pool]
    for _ in range(8):
        operation = chance.randrange(len(OPERATIONS))
        one, other = chance.randrange(len(pool)), chance.randrange(len(pool))
        result = OPERATIONS[operation](pool[one], pool[other])
        expected = [
            MEANINGS[operation](a, b) for a, b in zip(values[one], values[other], strict=True)
        ]
        assert [result.evaluate(binding) for binding in bindings] == expected
        assert [eval(str(result), {}, dict(binding)) for binding in bindings] == expected
        low, high = facts.range(result)
        assert all(low <= value <= high for value in expected)
        if facts.is_nonnegative(result):
            assert min(expected) >= 0
        pool.append(result)
        values.append(expected)


@pytest.mark.parametrize(
    ("conditions", "written", "normal"),
    [
        (["seq == past"], "seq + past", "2*seq"),
        (["seq == 128"], "seq + past", "past+128"),
        (["n == past + seq"], "n - seq", "past"),
        (["2 * n == seq"], "seq // n", "2"),
        (["seq % 8 == 0"], "seq % 8", "0"),
        (["seq % 8 == 0"], "8 * (seq // 8)", "seq"),
        (["seq // 2 == past // 3"], "past // 3 - seq // 2", "0"),
        (["seq % 8 == 0"], "(seq + 8) % 4", "0"),
        (["past >= 1"], "max(past, 1)", "past"),
        (["past > 3"], "min(past, 4)", "4"),
        (["past + seq <= 1024"], "min(past + seq, 1024)", "past+seq"),
        (["min(1024, seq) >= seq"], "min(1024, seq)", "seq"),
        (["h // 16 >= 2"], "max(h, 32)", "h"),
        (["batch * seq >= 1"], "max(batch, 1)", "batch"),
    ],
)
def test_what_is_known_simplifies(conditions: list[str], written: str, normal: str) -> None:
    facts = Facts()
    for name in ("seq", "batch", "past", "n", "h"):
        facts.symbol(name)
    for condition in conditions:
        left, relation, right, number = parse_condition(condition, facts)
        if number is not None:
            facts.require_multiple(left, number)
        elif relation == "==":
            assert facts.equal(left, right)
        else:
            assert facts.assume_at_least(*((left, right) if relation == ">=" else (right, left)))
    assert str(facts.simplified(parse_expression(written, facts))) == normal


@pytest.mark.parametrize(
    "conditions", [["seq == 1", "seq == 2"], ["seq >= 4", "seq == 3"], ["n == seq + 1", "n == seq"]]
)
def test_a_contradiction_is_noticed(conditions: list[str]) -> None:
    facts = Facts()
    outcomes = []
    for condition in conditions:
        left, relation, right, _ = parse_condition(condition, facts)
        if relation == "==":
            outcomes.append(facts.equal(left, right))
        else:
            outcomes.append(facts.assume_at_least(left, right))
    assert outcomes == [True, False]


@pytest.mark.parametrize(
    "text",
    ["", "seq +", "seq / 2", "seq ** 2", "f(seq)", "seq.x", "1.5", "seq // 0", "'a'", "min()"],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    refusals = r"is not an expression|may contain only|divides by 0|in digits"
    with pytest.raises(ValueError, match=refusals):
        expression(text)
