"""The cases of a session's tables, asked of OpenVINO a part of a table at a time.

`check` takes the answer to its case from here. The first case of a part asks for those behind it in
the same table as well, in one question: OpenVINO then compiles one model and not forty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby

import pytest

from .cases import Case, build, feeds
from .oracle import Answer, Oracle, Question

PART = 40
"""How many cases are asked together."""

_following: dict[Case, Sequence[Case]] = {}
_answers: dict[Case, Answer] = {}


def collect(items: Iterable[pytest.Item]) -> None:
    """Takes in the tables of the tests that are to be run: the cases of one test, in their order.

    A case of which it is known that OpenVINO does something of its own is asked alone.
    """
    rows = [
        (item.nodeid.partition("[")[0], case)
        for item in items
        if isinstance(item, pytest.Function)
        and "oracle" in item.fixturenames
        and hasattr(item, "callspec")
        and isinstance(case := item.callspec.params.get("case"), Case)
        and not case.known
        and case.run != "alone"
    ]
    for _, table in groupby(rows, key=lambda row: row[0]):
        join([case for _, case in table])


def join(cases: Sequence[Case]) -> None:
    """Lets each of the cases be asked together with those behind it."""
    for place, case in enumerate(cases):
        _following[case] = cases[place : place + PART]


def question(case: Case) -> Question:
    """What is asked of OpenVINO about a case."""
    fed = feeds(case) if case.run else None
    inputs = None if fed is None else {name: tensor for name, (tensor, _) in fed.items()}
    return *build(case), inputs


def answer(case: Case, oracle: Oracle) -> Answer | None:
    """What OpenVINO makes of a case beside others; None for a case that is asked alone."""
    if case not in _following:
        return None
    if case not in _answers:
        questions = {case: question(case)}
        for other in _following[case][1:]:
            if other not in _answers:
                with suppress(Exception):  # a row that is wrong in itself fails by its own name
                    questions[other] = question(other)
        answers = oracle.ask_together(list(questions.values()))
        _answers.update(zip(questions, answers, strict=True))
    return _answers[case]
