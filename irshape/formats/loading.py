"""Opens model files. It recognises the format by content, and finds the .bin beside the .xml."""

from __future__ import annotations

import errno
import os
import sys
from typing import BinaryIO, Literal, NamedTuple

from ..model.graph import Model
from ..model.source import Source
from ..rule_ids import SIZE_LIMIT
from ..urls import is_url, with_suffix, without_credentials
from . import ir
from .inputs import InputFormat, unreadable

_XML = (b"<", b"\xef\xbb\xbf<")
"""The usual beginnings of an IR. No file of another format begins so."""

MAX_XML_BYTES = 1 << 30
_PEEK = 1 << 16

WeightsChoice = str | os.PathLike[str] | Literal["beside", "none"]
"""The .bin of a model: a path, the one `beside` the .xml, or `none`."""


class Opened(NamedTuple):
    """The bytes of a model, and the path of its .bin, or None to read the model without a .bin."""

    source: Source
    weights: str | os.PathLike[str] | None


def weights_path(model: str, weights: WeightsChoice = "beside") -> str | os.PathLike[str] | None:
    """Returns the .bin of a model: the given file, or the one beside the .xml.

    Returns None for `none`, and for a model from standard input unless a file is given.
    """
    if weights == "none":
        return None
    if weights != "beside":
        return weights
    return None if model in ("-", "<stdin>", "") else with_suffix(model, ".bin")


def open_model(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Opened:
    """Opens a model. A URL is read with fsspec; `-` is standard input.

    `read_source(*opened)` reads it.
    Raises `OSError` if the model, or a .bin given by name, cannot be opened, and `NotReadable` if
    the file cannot contain a model.
    """
    name = path_of(path)
    if not isinstance(weights, (str, os.PathLike)):
        raise TypeError(f"weights is a path, 'beside' or 'none', got {type(weights).__name__}")
    if weights not in ("beside", "none") and not (is_url(weights) or os.path.isfile(weights)):
        raise _cannot_open(os.fspath(weights))
    return Opened(open_source(name), weights_path(name, weights))


def path_of(path: str | os.PathLike[str]) -> str:
    """Returns the path of a model as text. Raises `TypeError` if it is not a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"expected the path of a model, got {type(path).__name__}")
    return os.fspath(path)


def load(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Model:
    """Reads an IR, single layers, an ONNX model or a oneDNN graph; `-` is standard input.

    weights: the .bin; `beside` looks for it beside the .xml, `none` reads the model without one.
    Raises as `open_model` does.
    """
    return read_source(*open_model(path, weights))


def read_bytes(shown: str, data: bytes, weights: bytes | str | os.PathLike[str] | None) -> Model:
    """Reads a model that is in memory. weights: the content of its .bin, or its path.

    Raises `NotReadable`.
    """
    from ..model.weights import Weights

    if not isinstance(weights, bytes):
        return read_source(source_of(shown, data), weights)
    model = read_source(source_of(shown, data), None)
    model.weights = Weights(None, weights, "ready" if weights else "empty")
    return model


def read_source(source: Source, weights: str | os.PathLike[str] | None) -> Model:
    """Reads an open file. weights: the path of the .bin. An ONNX model names its own data files.

    Raises `NotReadable`.
    """
    return format_of(source.data).read(source, weights)


def format_of(data: bytes) -> InputFormat:
    """Recognises the format of a file by its bytes."""
    if data.startswith(_XML):
        return ir.INPUT
    return next(candidate for candidate in formats() if candidate.recognises(data))


def formats() -> tuple[InputFormat, ...]:
    """Returns the input formats. The first one that recognises a file reads it.

    The IR is last, and accepts every file.
    """
    from . import onednn, onnx

    return onednn.INPUT, onnx.INPUT, ir.INPUT


def _cannot_open(name: str) -> OSError:
    """Returns the error for a path that is not a regular file."""
    if not os.path.exists(name):
        return OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if os.path.isdir(name):
        if not os.access(name, os.R_OK):
            return OSError(errno.EACCES, os.strerror(errno.EACCES), name)
        return OSError(errno.EISDIR, f"is a folder, not a file{_hint(name)}", name)
    return OSError(errno.EINVAL, "not a regular file", name)


def _hint(folder: str) -> str:
    """Suggests a model inside a folder or its subfolders.

    It is the largest one: in an exported pipeline, the network is larger than its tokenizers.
    """
    import glob

    for pattern in ("*.xml", os.path.join("*", "*.xml")):
        models = glob.glob(os.path.join(glob.escape(folder), pattern))
        if models:
            return f"; name a model in it, such as {max(models, key=_size)}"
    return ""


def _size(path: str) -> tuple[int, str]:
    try:
        return os.path.getsize(path), path
    except OSError:
        return 0, path


def _read(file: BinaryIO, expected: int) -> bytes:
    """Reads all bytes of a file, at most one more than the limit.

    expected: how many there should be. Reading up to the limit at once would first allocate as
    much.
    """
    data = file.read(min(expected, MAX_XML_BYTES) + 1)
    if len(data) <= expected:
        return data
    chunks = [data]
    left = MAX_XML_BYTES + 1 - len(data)
    while left > 0 and (chunk := file.read(min(left, 1 << 24))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def open_source(name: str) -> Source:
    """Reads the bytes of a file, or of standard input.

    Raises `OSError`, and `NotReadable` for a file beyond the limit or one that is not XML.
    """
    if name == "-":
        data = _read(sys.stdin.buffer, 1 << 20)
        shown = "<stdin>"
    elif is_url(name):
        from .remote import read_remote

        data = read_remote(name, MAX_XML_BYTES)
        shown = without_credentials(name)
    else:
        if os.path.exists(name) and not os.path.isfile(name):
            raise _cannot_open(name)
        if name.lstrip().startswith("<") and not os.path.exists(name):
            start = " ".join(name[:40].split())
            raise OSError(errno.ENOENT, "is the text of a model; give the path of a file", start)
        with open(name, "rb") as file:
            data = _read(file, os.fstat(file.fileno()).st_size)
        shown = name
    return source_of(shown, data)


def source_of(shown: str, data: bytes) -> Source:
    """Decodes the bytes of a model to text. Raises `NotReadable`.

    shown: the name of the model in messages.
    """
    if len(data) > MAX_XML_BYTES:
        raise unreadable(
            Source(shown, data[:_PEEK]),
            SIZE_LIMIT,
            f"the file is larger than {MAX_XML_BYTES} bytes, the limit for an .xml",
            expected=f"at most {MAX_XML_BYTES} bytes",
            actual="more",
            help="check what the file is; constants belong in the .bin",
        )
    opens_text = format_of(data).opens_text
    return Source(shown, data) if opens_text is None else opens_text(shown, data)
