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
NETWORKS = Path(__file__).resolve().parent / "onnx" / "networks"


def compiled() -> bytes:
    model = ov.Core().read_model(EXAMPLES / "reductions.xml")
    blob = ov.Core().compile_model(model, "CPU").export_model()
    return blob if isinstance(blob, bytes) else blob.getvalue()


def archive(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr(name, b"content")
    return packed.getvalue()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
OTHERS = {
    "compiled for the CPU": (compiled, "the CPU", "compiled from"),
    "PyTorch": (lambda: archive("archive/data.pkl"), "PyTorch", "convert"),
    "another zip": (lambda: archive("model.xml"), "zip", "unzip"),
    "a pickle": (lambda: pickle.dumps({"weights": [1.0]}), "pickle", "convert"),
    "TensorFlow Lite": (lambda: b"\x1c\0\0\0TFL3\x14\0 \0", "TensorFlow Lite", "convert"),
    "Keras": (lambda: b"\x89HDF\r\n\x1a\n\0\0\0", "HDF5", "convert"),
    "HTML": (lambda: b"<!DOCTYPE html>\n<html><body>404</body></html>", "HTML", ""),
    "HTML without a doctype": (lambda: b"<html><body>Not found</body></html>", "HTML", ""),
    "JSON": (lambda: b'{"message": "Not Found"}', "", ""),
    "a Git-LFS pointer": (lambda: LFS, "Git-LFS", "git lfs pull"),
    "binary": (lambda: b"\x00\x01\x02blob" * 100, "", ""),
    "a line of text": (lambda: b"404: Not Found", "", ""),
    "empty": (lambda: b"", "empty", ""),
    "safetensors": (lambda: b'\x14\0\0\0\0\0\0\0{"a":{"dtype":"F32"}}', "safetensors", "convert"),
    "NumPy": (lambda: b"\x93NUMPY\1\0v\0{'descr'", "NumPy", ".xml"),
    "7-Zip": (lambda: b"7z\xbc\xaf'\x1c\0\4", "7-Zip", "7z x"),
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
    assert (finding.line, finding.column) == (1, 1)
    assert "\n" not in finding.message
    assert irshape.fix(path, unsafe=True).edits == []


@pytest.mark.parametrize("name", sorted(OTHERS.keys() - {"JSON"}))
def test_a_file_named_onnx_is_compared_with_onnx(name: str, tmp_path: Path) -> None:
    content, what, _ = OTHERS[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(content())
    (finding,) = irshape.validate(path).diagnostics
    said = f"{finding.message} {finding.help}"
    assert (finding.code, finding.expected) == ("IR003", "an ONNX model")
    assert what in said
    assert ("XML" in said, ".bin" in said) == (False, False)


@pytest.mark.parametrize(
    ("content", "like"),
    [
        ("Modèle".encode(), "text"),
        (b"40\x12\x0fConv_6\x1a", "binary"),
        (bytes(range(1, 256)), "binary"),
        ((NETWORKS / "vit.onnx").read_bytes()[100:], "binary"),
    ],
)
def test_what_looks_like_no_onnx_model(content: bytes, like: str, tmp_path: Path) -> None:
    path = tmp_path / "Model.ONNX"
    path.write_bytes(content)
    (finding,) = irshape.validate(path).diagnostics
    assert "ONNX model" in finding.message
    assert like in finding.message
