"""The corpus can be built, and its harness tells a reader that is right from one that is not."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

EVERY = 499


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("corpus") / "corpus"
    module(Path(__file__).with_name("build.py")).build_corpus(folder, EVERY)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def test_its_content(corpus: Path) -> None:
    index = json.loads((corpus / "index.json").read_text())
    cases = index["cases"]
    assert {case["answer"] for case in cases} == {"read", "refused"}
    assert len({case["id"] for case in cases}) == len(cases) > 20
    ran = [case for case in cases if case["results"]]
    assert len(ran) > 5
    size = (corpus / "values").stat().st_size
    last = ran[-1]["results"][-1]
    assert last["offset"] + last["size"] == size
    for case in cases:
        assert (corpus / case["model"]).is_file()
        assert (case["requires"] is None) <= bool(case["answer"] != "read" or case["known"])


@pytest.mark.parametrize("reader", ["reader_irshape", "reader_openvino"])
def test_both_readers_agree(reader: str, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = module(corpus / "harness.py").main(reader, corpus)
    assert not counts["differs"], capsys.readouterr().out
    assert counts["agrees"] > 20


def wrong_shape(good: Any) -> Any:
    return {"shapes": lambda xml: {name: [("f32", "[...]")] for name in good.shapes(xml)}}


def wrong_values(good: Any) -> Any:
    return {
        "shapes": good.shapes,
        "values": lambda xml, inputs: [each + 1 for each in good.values(xml, inputs)],
    }


def refuses(good: Any) -> Any:
    def shapes(xml: str) -> Any:
        raise ValueError(xml)

    return {"shapes": shapes}


def takes_all(good: Any) -> Any:
    def shapes(xml: str) -> Any:
        try:
            return good.shapes(xml)
        except ValueError:
            return {}

    return {"shapes": shapes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (wrong_shape, "not [['"),
        (wrong_values, "…, not "),
        (refuses, "refuses: "),
        (takes_all, "reads what OpenVINO refuses"),
    ],
)
def test_a_wrong_reader_differs(
    change: Any,
    message: str,
    corpus: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = module(corpus / "reader_irshape.py")
    monkeypatch.setitem(sys.modules, "wrong", SimpleNamespace(**change(good)))  # type: ignore[arg-type]
    assert module(corpus / "harness.py").main("wrong", corpus)["differs"]
    assert message in capsys.readouterr().out
