"""Opens model files: recognizes the format by content, and finds the .bin beside the .xml."""

from __future__ import annotations

import errno
import os
import sys
from typing import BinaryIO, Literal

from ..model.graph import Model
from ..model.source import Source
from ..rule_ids import SIZE_LIMIT
from ..urls import is_url, with_suffix, without_credentials
from . import ir
from .inputs import InputFormat, WeightsPath, unreadable

_XML = (b"<", b"\xef\xbb\xbf<")
"""The usual first bytes of an IR. No file in another format begins with them."""

MAX_XML_BYTES = 1 << 30
_PEEK = 1 << 16

WeightsChoice = str | os.PathLike[str] | Literal["beside", "none"]
"""Where the .bin of a model is: a path, `beside` the .xml, or `none` to read no .bin."""


Opened = tuple[Source, WeightsPath]
"""The bytes of a model file, and the path of its .bin."""


def weights_path(model: str, weights: WeightsChoice = "beside") -> WeightsPath:
    """Returns the path of a model's .bin: the given path, or `beside` the .xml.

    Returns None for `none`, and for `beside` if the model comes from standard input.
    """
    if weights == "none":
        return None
    if weights != "beside":
        return weights
    return None if model in ("-", "<stdin>", "") else with_suffix(model, ".bin")


def open_model(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Opened:
    """Reads the bytes of a model, but does not parse them: `read_source(*opened)` does.

    path: a path, a URL (read with fsspec), or `-` for standard input.
    Raises `OSError` if the model, or the given .bin, cannot be opened, and `NotReadable` if the
    file contains no model.
    """
    name = path_of(path)
    if not isinstance(weights, (str, os.PathLike)):
        raise TypeError(f"weights must be a path, 'beside' or 'none', got {type(weights).__name__}")
    if weights not in ("beside", "none") and not (is_url(weights) or os.path.isfile(weights)):
        raise _cannot_open(os.fspath(weights))
    return open_source(name), weights_path(name, weights)


def path_of(path: str | os.PathLike[str]) -> str:
    """Returns the path of a model as text. Raises `TypeError` if it is not a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"expected the path of a model, got {type(path).__name__}")
    return os.fspath(path)


def load(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Model:
    """Reads an IR, a file of single layers, an ONNX model or a oneDNN graph; `-` is standard input.

    weights: the .bin; `beside` looks for it beside the .xml, `none` reads the model without one.
    Raises as `open_model` does.
    """
    return read_source(*open_model(path, weights))


def read_bytes(shown: str, data: bytes, weights: bytes | str | os.PathLike[str] | None) -> Model:
    """Reads a model from bytes in memory. weights: the content of its .bin, or its path.

    Raises `NotReadable`.
    """
    from ..model.weights import Weights

    if not isinstance(weights, bytes):
        return read_source(source_of(shown, data), weights)
    model = read_source(source_of(shown, data), None)
    model.weights = Weights(None, weights, "ready" if weights else "empty")
    return model


def read_source(source: Source, weights: WeightsPath) -> Model:
    """Parses an opened file. Raises `NotReadable`.

    weights: the path of the .bin of an IR. The other formats do not use it.
    """
    return format_of(source.data).read(source, weights)


def format_of(data: bytes) -> InputFormat:
    """Returns the format of a file, by its bytes."""
    if data.startswith(_XML):
        return ir.INPUT
    return next(candidate for candidate in formats() if candidate.recognises(data))


def formats() -> tuple[InputFormat, ...]:
    """Returns the input formats in the order in which they are tried. The IR comes last, and
    accepts every file."""
    from . import onednn, onnx

    return onednn.INPUT, onnx.INPUT, ir.INPUT


def _cannot_open(name: str) -> OSError:
    """Returns the error for a path that cannot be opened because it is no regular file."""
    if not os.path.exists(name):
        return OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if os.path.isdir(name):
        if not os.access(name, os.R_OK):
            return OSError(errno.EACCES, os.strerror(errno.EACCES), name)
        return OSError(errno.EISDIR, f"is a folder, not a file{_hint(name)}", name)
    return OSError(errno.EINVAL, "not a regular file", name)


def _hint(folder: str) -> str:
    """Returns a hint that names a model in a folder or its subfolders. Names the largest model:
    in an exported pipeline, the network is larger than the tokenizers."""
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
    """Reads a file, but at most one byte more than `MAX_XML_BYTES`.

    expected: the probable size of the file. `file.read(MAX_XML_BYTES)` would allocate 1 GiB.
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
    """Reads the bytes of a file, or of standard input. Raises `OSError`, and `NotReadable` for a
    file that is too large or contains no model."""
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
    """Returns the bytes of a model as a decoded `Source`. Raises `NotReadable`.

    shown: the name of the model in messages.
    """
    if len(data) > MAX_XML_BYTES:
        raise unreadable(
            Source(shown, data[:_PEEK]),
            SIZE_LIMIT,
            f"the file is larger than {MAX_XML_BYTES} bytes, the limit for an .xml",
            expected=f"at most {MAX_XML_BYTES} bytes",
            actual="more",
            help="check what the file is; an .xml contains no constants, they belong in the .bin",
        )
    opens_text = format_of(data).opens_text
    return Source(shown, data) if opens_text is None else opens_text(shown, data)
