"""Edits of files that OpenVINO reads: a safe fix keeps their meaning, and ports follow it.

A share of the edits of the examples. `IR_NETWORKS=FOLDER` adds every .xml in a folder, with each
kind of edits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from differential.oracle import Oracle

from .edits import EVERY, edited
from .judging import judged

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.xml"))
NETWORKS = (
    sorted(Path(os.environ["IR_NETWORKS"]).glob("*.xml")) if "IR_NETWORKS" in os.environ else []
)


def drawn() -> Iterator[tuple[str, Path, int | None]]:
    """Each kind in two examples that have a layer for it: of one layer, and everywhere at once."""
    texts = {path: path.read_text(encoding="utf-8") for path in EXAMPLES}
    for kind in EVERY:
        number = crc32(kind.encode())
        order = sorted(texts, key=lambda path: crc32(f"{kind}{path.name}".encode()))
        fitting = [path for path in order if edited(kind, texts[path], weights(path), None)]
        assert fitting, f"no example has a layer for an edit of {kind}"
        for path, which in zip(fitting[:2] * 2, (number, None), strict=False):
            yield kind, path, which


def weights(path: Path) -> bytes:
    beside = path.with_suffix(".bin")
    return beside.read_bytes() if beside.exists() else b""


CASES = [
    *drawn(),
    *((kind, path, which) for path in NETWORKS for kind in EVERY for which in (7, None)),
]


@pytest.mark.parametrize(
    ("kind", "path", "which"),
    CASES,
    ids=[f"{kind}-{path.stem}-{'all' if which is None else 'one'}" for kind, path, which in CASES],
)
def test_a_safe_fix_keeps_what_openvino_reads(
    kind: str, path: Path, which: int | None, oracle: Oracle, tmp_path: Path
) -> None:
    made = edited(kind, path.read_text(encoding="utf-8"), weights(path), which)
    assert made is not None
    file = tmp_path / "m.xml"
    file.write_text(made.text, encoding="utf-8")
    file.with_suffix(".bin").write_bytes(made.weights)
    assert judged(file, oracle, made.names).wrong == {}


def test_most_edits_are_read(oracle: Oracle, tmp_path: Path) -> None:
    """Edits that OpenVINO refuses prove nothing."""
    accepted = 0
    for kind, path, which in list(drawn()):
        made = edited(kind, path.read_text(encoding="utf-8"), weights(path), which)
        assert made is not None
        (tmp_path / "m.xml").write_text(made.text, encoding="utf-8")
        (tmp_path / "m.bin").write_bytes(made.weights)
        accepted += bool(oracle.serialised(tmp_path / "m.xml"))
    assert accepted > len(EVERY)
