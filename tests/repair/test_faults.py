"""Each fault is found at its place, once, and fix gives back what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest
from differential.oracle import Oracle

import irshape

from .faults import FAULTS
from .judging import findings
from .networks import image_network, text_network, written


@pytest.mark.parametrize("network", [image_network, text_network])
def test_the_networks_are_sound(network: object, tmp_path: Path) -> None:
    text, weights = written(network)  # type: ignore[arg-type]
    path = saved(tmp_path, text, weights)
    assert irshape.validate(path).diagnostics == []
    assert irshape.fix(path).edits == []


def saved(folder: Path, text: str, weights: bytes) -> Path:
    path = folder / "m.xml"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(weights)
    return path


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault(name: str, oracle: Oracle, tmp_path: Path) -> None:
    fault = FAULTS[name]
    original, weights = written(fault.network)
    text, weights = fault.change(original, weights)
    path = saved(tmp_path, text, weights)
    report = irshape.validate(path)
    (file,) = report.to_dict()["files"]
    top = [each for each in file["diagnostics"] if each["severity"] != "info"]
    at = [(each["code"], (each["layer"] or {"name": ""})["name"]) for each in top]
    assert at == [(fault.code, fault.at)], [each["message"] for each in top]

    serialised = oracle.serialised(path)
    safe, unsafe = irshape.fix(path), irshape.fix(path, unsafe=True)
    if serialised:
        path.write_bytes(safe.data)
        assert oracle.serialised(path) == serialised
    if text == original:  # what is wrong lies in the .bin
        assert any("fix" not in cause for cause in top[0]["causes"])
    else:
        back = [fixes.text.split() == original.split() for fixes in (safe, unsafe)]
        assert back == fault.given_back, unsafe.diff()
    for each in findings(report):  # what is safe can be explained
        for fix in each.get("fixes", ()):
            assert fix["applicability"] in ("safe", "unsafe")
            assert fix["safe"] == (fix["applicability"] == "safe")
            assert fix["reason"]


def test_most_faults_are_given_back() -> None:
    back = [fault.given_back[1] for fault in FAULTS.values()]
    assert sum(back) >= 0.85 * len(back)
