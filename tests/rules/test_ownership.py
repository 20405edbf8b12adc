"""Every finding of a code comes from the rule of that code, and each rule says what it suspects."""

from __future__ import annotations

from pathlib import Path

import pytest
from network import network
from test_faults import FAULTS

import irshape
from irshape.inference.engine import infer
from irshape.model.graph import Model
from irshape.repair.search import SUSPECTS
from irshape.rules import Context, Fault, Finding, Rule, RuleId, all_rules, findings

EVERYTHING = {rule.code for rule in all_rules()}


def read(text: str, folder: Path, weights: bytes = b"") -> Model:
    (folder / "m.xml").write_text(text)
    (folder / "m.bin").write_bytes(weights)
    return irshape.load(folder / "m.xml")


def context_of(model: Model) -> Context:
    return Context(model, infer(model, compare=True))


def key(finding: Finding) -> tuple[str, int, str]:
    return finding.rule.code, finding.offset, finding.message


@pytest.mark.parametrize("name", FAULTS)
def test_rules_report_under_their_own_code_only(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    context = context_of(read(fault.put(), tmp_path, fault.weights))
    by_rule = [finding for rule in all_rules() for finding in rule.findings(context)]
    for rule in all_rules():
        reported = {finding.rule for finding in rule.findings(context)}
        assert reported <= {rule.id}
    assert fault.code in {finding.rule.code for finding in by_rule}
    assert sorted(map(key, findings(context, EVERYTHING))) == sorted(map(key, by_rule))


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_passes_on_what_is_reported_under_its_id(rule: type[Rule], tmp_path: Path) -> None:
    model = read(network(), tmp_path, bytes(448))
    model.findings.append(Finding(Fault(rule.id, "reported"), 0))
    context = context_of(model)
    assert [each.message for each in rule.findings(context)].count("reported") == 1
    assert [each.message for each in findings(context)].count("reported") == 1


def test_what_is_reported_under_an_id_without_a_rule_is_not_lost(tmp_path: Path) -> None:
    model = read(network(), tmp_path, bytes(448))
    model.findings.append(Finding(Fault(RuleId("IR999", "of-a-plugin", "error"), "reported"), 0))
    assert [each.rule.code for each in findings(context_of(model))].count("IR999") == 1


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_what_a_rule_suspects_is_looked_for(rule: type[Rule]) -> None:
    assert set(rule.suspects) <= {"ports", *SUSPECTS}
