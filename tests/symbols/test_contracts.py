"""Contracts: what the dimensions of a model must be."""

from __future__ import annotations

from pathlib import Path

import pytest
from ir import Net

import irshape


def report(folder: Path, contract: str) -> list[tuple[str, str]]:
    net = Net()
    ids, past = net.parameter("?,?", name="ids"), net.parameter("?,?", name="past")
    joined = net.layer("Concat", [past, ids], 'axis="1"', outputs=["FP32"], name="all")
    found = net.layer(
        "NonZero", [joined], 'output_type="i64"', version="opset3", outputs=["I64"], name="found"
    )
    net.result(joined, name="out")
    net.result(found)
    path = net.save(folder)
    config = folder / "irshape.toml"
    config.write_text(f'[[contract]]\nshapes = {{ ids = "[batch,seq]" }}\n{contract}')
    diagnostics = irshape.validate(path, config=config).diagnostics
    return [
        (seen.layer["name"] if seen.layer else "", f"{seen.message}; {seen.help}")
        for seen in diagnostics
        if seen.code == "IR900"
    ]


@pytest.mark.parametrize(
    ("statement", "layers"),
    [
        ("all = [batch, past_1 + seq]", []),
        ("all = [batch, seq + past_1]", []),
        ("all = [?, ?]", []),
        ("ids = [batch, seq]", []),
        ("found = [2, ?]", []),
        ("all has no lost dimension", []),
        ("nothing is lost", []),
        ("all = [batch, seq]", ["all"]),
        ("all = [batch, ..128]", ["all"]),
        ("all = [batch]", ["all"]),
        ("all = [batch, n]", ["all"]),
        ("found = [2, seq]", ["found"]),
        ("found has no data-dependent dimension", ["found"]),
        ("* has no data-dependent dimension", ["found"]),
        ("past has no unbounded dimension", ["past"]),
        ("nothing is dynamic", ["ids", "past", "found"]),
        ("out = [batch, past_1 + seq]", []),
        ("out = [1, 1]", ["out"]),
        ("other = [1]", [""]),
    ],
)
def test_statements(statement: str, layers: list[str], tmp_path: Path) -> None:
    assert [layer for layer, _ in report(tmp_path, f'require = ["{statement}"]')] == layers


@pytest.mark.parametrize(("size", "said"), [("n", True), ("seq", False), ("past_1", False)])
def test_a_name_that_no_input_has_is_said(size: str, said: bool, tmp_path: Path) -> None:
    [(_, message)] = report(tmp_path, f'require = ["all = [batch, {size}]"]')
    assert ("a dimension 'n'" in message) == said


def test_a_message_says_what_is_there(tmp_path: Path) -> None:
    [(_, message)] = report(tmp_path, 'require = ["all = [batch, seq]"]')
    assert "'all = [batch, seq]'" in message
    assert "[batch, past_1+seq]" in message


def test_assumptions_hold(tmp_path: Path) -> None:
    contract = 'assume = ["seq <= 8", "past_1 <= 8"]\nrequire = ["all = [?, ..16]"]'
    assert not report(tmp_path, contract)


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        ("", "it has no require"),
        ('require = ["all"]', "is not a statement"),
        ('require = ["nothing is wrong"]', "expected one of"),
        ('require = ["all = [4..2]"]', "is not a dimension"),
        ('requires = ["all = [1]"]', "unknown key"),
    ],
)
def test_contracts_that_cannot_be_read(contract: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(irshape.ConfigurationError, match=message):
        report(tmp_path, contract)


def test_a_contract_that_does_not_fit_is_a_finding(tmp_path: Path) -> None:
    [(_, message)] = report(tmp_path, 'assume = ["n >= 1"]\nrequire = ["nothing is lost"]')
    assert "'n >= 1'" in message


def test_what_layers_require_of_each_other_is_reported(tmp_path: Path) -> None:
    """Each layer fits the dynamic shape that reaches it; no length fits both."""
    net = Net()
    data = net.parameter("?,3", name="x")
    for rows in (8, 4):
        side = net.parameter(f"{rows},3", name=f"side{rows}")
        joined = net.layer(
            "Concat", [data, side], 'axis="1"', outputs=[f"FP32:{rows},6"], name=f"rows{rows}"
        )
        net.result(joined)
    path = net.save(tmp_path)
    config = tmp_path / "irshape.toml"
    config.write_text('[[contract]]\nshapes = { x = "[n,3]" }\nrequire = ["x = [?, 3]"]')
    (seen,) = [
        each
        for each in irshape.validate(path, config=config).diagnostics
        if each.severity == "error"
    ]
    assert seen.code == "IR900"
    assert seen.layer is not None
    assert seen.layer["name"] == "rows4"
    assert "n == 4" in seen.message
    assert "'rows8'" in seen.message
    (seen,) = [each for each in irshape.validate(path).diagnostics if each.severity == "error"]
    assert seen.code == "IR406"
