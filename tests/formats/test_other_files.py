"""Files that hold a model of another kind: what they are, and what to do."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import openvino as ov
import pytest

import irshape

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def compiled() -> bytes:
    model = ov.Core().read_model(EXAMPLES / "reductions.xml")
    blob = ov.Core().compile_model(model, "CPU").export_model()
    return blob if isinstance(blob, bytes) else blob.getvalue()


def archive(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr(name, b"content")
    return packed.getvalue()


OTHERS = {
    "compiled for the CPU": (compiled, "the CPU", "compiled from"),
    "PyTorch": (lambda: archive("archive/data.pkl"), "PyTorch", "convert"),
    "another zip": (lambda: archive("model.xml"), "zip", "unzip"),
    "a pickle": (lambda: pickle.dumps({"weights": [1.0]}), "pickle", "convert"),
    "TensorFlow Lite": (lambda: b"\x1c\0\0\0TFL3\x14\0 \0", "TensorFlow Lite", "convert"),
    "Keras": (lambda: b"\x89HDF\r\n\x1a\n\0\0\0", "HDF5", "convert"),
    "GGUF": (lambda: b"GGUF\x03\0\0\0", "GGUF", ".xml"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_another_kind_is_named(name: str, tmp_path: Path) -> None:
    content, what, hint = OTHERS[name]
    path = tmp_path / "model.xml"
    path.write_bytes(content())
    (finding,) = irshape.validate(path).diagnostics
    assert (finding.code, what in finding.message) == ("IR003", True)
    assert hint in (finding.help or "")
