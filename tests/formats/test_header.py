"""OpenVINO looks for the version of `<net>` in the first 512 bytes of a file only."""

from __future__ import annotations

from pathlib import Path

from differential.oracle import Oracle
from ir import Net

import irshape


def test_a_version_around_byte_512(oracle: Oracle, tmp_path: Path) -> None:
    """Where the version begins from byte 495 to 520, an error is told as OpenVINO refuses it."""
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("2,3")], outputs=["FP32:2,3"]))
    text = net.text()
    start = text.index(' version="11"')
    answers = []
    for at in range(495, 521):
        path = tmp_path / "m.xml"
        path.write_text(text[:start] + " " * (at - start) + text[start:])
        codes = [
            each.code for each in irshape.validate(path).diagnostics if each.severity == "error"
        ]
        answers.append((at, bool(codes), oracle.ask_file(path).status == "refused"))
        assert set(codes) <= {"IR601"}
    assert [told for _, told, _ in answers] == [refused for *_, refused in answers], answers
    assert {told for _, told, _ in answers} == {True, False}
