"""Recognizes an IR, single layers and files of other kinds, mostly by their first bytes."""

from __future__ import annotations

import re

from ...model.source import Source
from ...rule_ids import MALFORMED_XML, NOT_AN_IR
from ..inputs import unreadable

PEEK = 1 << 16
"""The number of bytes that are examined."""

_ROOT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->)*+<(!?[A-Za-z_.\xe2][\w.\-\x80-\xff]*)",
    re.DOTALL,
)
_INNER = ("layers", "layer", "data", "input", "output", "port", "dim", "rt_info", "edges", "edge")
"""Elements that occur only inside other elements of an IR."""
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)*\s*<(?!\0)")
"""Matches the beginning of XML. The parser reports faults that come later."""
_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+)?html\b", re.IGNORECASE)
_LAYER = re.compile(rb"(?:<|&lt;)layer\b")
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")
_LFS = b"version https://git-lfs"
_ARCHIVES = {
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"PK\3\4": ("zip", "unzip"),
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ\0": ("xz", "unxz"),
    b"(\xb5/\xfd": ("zstd", "unzstd"),
    b"7z\xbc\xaf'\x1c": ("7-Zip", "7z x"),
}
"""The first bytes of compressed files, the names of their formats, and tools to unpack them."""
_HELP = "give the .xml of the model; its .bin is found beside it"
_HELP_LFS = "run `git lfs pull` in the repository that contains the file"


def holds_single_layers(data: bytes) -> bool:
    """Whether the root element of a file is `<layer>`, as in OpenVINO's operation specification."""
    return _root_element(data) == "layer"


def may_be_ir(data: bytes) -> bool:
    """Whether a file with this beginning may be an IR or contain single layers.

    Also returns True if the beginning lacks a root element: `validate` then reports what is wrong.
    """
    return _root_element(data) in (None, "net", "layer", "!DOCTYPE")


def _root_element(data: bytes) -> str | None:
    """Returns the name of the root element (`layer` if `...` replaces the name). Returns None if
    `data` ends before the name."""
    match = _ROOT.match(data[:PEEK])
    if match is None:
        return None
    return match[1].decode("utf-8", "replace") if match[1].strip(b".\xe2\x80\xa6") else "layer"


def opened_text(path: str, data: bytes) -> Source:
    """Returns the text of an IR; decodes UTF-16. Raises `NotReadable` for bytes that are not
    XML."""
    rule, actual = NOT_AN_IR, ""
    onnx = path.lower().endswith(".onnx")
    ending = ".onnx" if onnx else ".xml"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return Source(path, data.decode("utf-16").encode(), "utf-8-sig", data)
        except UnicodeDecodeError as error:
            rule = MALFORMED_XML
            message = f"the file begins like UTF-16, but it is not UTF-16: {error.reason}"
            hint = "save it as UTF-8"
    elif not data or data.isspace():
        message, actual = "the file is empty", "nothing"
        hint = f"give the {ending} of a model"
    elif _root_element(data) in _INNER and data[-PEEK:].rstrip().endswith(b"</net>"):
        rule = MALFORMED_XML
        message = (
            "the file is not well-formed XML: its beginning is missing, with the <net> that the "
            "</net> in its last line closes"
        )
        hint = "get the whole file again"
    elif _HTML.match(data) and not _LAYER.search(data):
        message = "the file is an HTML page, which a server probably sent in place of the file"
        hint, actual = f"download the {ending} itself", "<html>"
    elif not _BEGINS.match(data):
        message, hint = _not_onnx(data) if onnx else _not_xml(data)
    else:
        return Source(path, data)
    wanted = "an ONNX model" if onnx else "<net> or <layer>"
    expected = wanted if rule == NOT_AN_IR else None
    source = Source(path, data)
    raise unreadable(source, rule, message, expected=expected, actual=actual or None, help=hint)


_COMPILED = "a compiled model cannot be read back; give the .xml that it was compiled from"
_CONVERT = "convert it with OpenVINO (`ovc`, `openvino.convert_model`), and give the .xml"
_CONVERT_WHOLE = "convert the model that has these weights, and give the .xml"
_OTHER_MODELS = (
    (rb"RR_UPCVO|OVCPU_RR", "a model that OpenVINO compiled for the CPU (a blob)", _COMPILED),
    (rb"\x7fELF", "a compiled model (a blob, ELF)", _COMPILED),
    (rb"PK\x03\x04.{0,4096}data\.pkl", "a PyTorch model", _CONVERT),
    (rb"\x80[\x02-\x05]", "a Python pickle, such as a PyTorch model", _CONVERT),
    (rb".{4}TFL3", "a TensorFlow Lite model", _CONVERT),
    (rb"\x89HDF\r\n", "an HDF5 file, such as a Keras model", _CONVERT),
    (rb"GGUF", "a GGUF model", "give the .xml of the converted model"),
    (rb".{6}\0\0\{", "a safetensors file of weights", _CONVERT_WHOLE),
    (rb"\x93NUMPY", "an array of NumPy (.npy)", "give the .xml or .onnx of the model"),
)
"""Files of other kinds of models: their first bytes, their names, and what to give instead."""


def _not_xml(data: bytes) -> tuple[str, str]:
    """Returns a message, such as `the file is a GGUF model, not an IR`, and advice."""
    binary = "; it looks like binary data" * (b"\0" in data[:PEEK])
    return _another_kind(data, "an IR", ".xml") or (f"the file is not XML{binary}", _HELP)


def _not_onnx(data: bytes) -> tuple[str, str]:
    """Returns a message about a file named .onnx that is no ONNX model, and advice."""
    like = "binary data" if _CONTROL.search(data[:PEEK]) else "text"
    return _another_kind(data, "an ONNX model", ".onnx") or (
        f"the file is not an ONNX model; it looks like {like}",
        "get the whole file again, or export the model again",
    )


def _another_kind(data: bytes, kind: str, ending: str) -> tuple[str, str] | None:
    """Returns a message about a file of another known kind, and advice; None for other files."""
    if data.startswith(_LFS):
        return f"the file is a Git-LFS pointer, not the {ending} itself", _HELP_LFS
    for beginning, what, hint in _OTHER_MODELS:
        if re.match(beginning, data, re.DOTALL):
            return f"the file is {what}, not {kind}", hint
    for magic, (name, tool) in _ARCHIVES.items():
        if data.startswith(magic):
            return f"the file is compressed with {name}", f"unpack it first, with {tool}"
    return None
