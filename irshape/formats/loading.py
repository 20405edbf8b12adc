"""Opens model files: the format is recognised by content, the .bin is found beside the .xml."""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import Literal, NamedTuple

from ..faults import Fault
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..model.weights import Weights
from ..rule_ids import MALFORMED_XML, NOT_AN_IR, SIZE_LIMIT
from .foreign import read_foreign, recognised
from .ir.reader import MAX_XML_BYTES, read

_ROOT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->)*+<(!?[A-Za-z_.\xe2][\w.\-\x80-\xff]*)",
    re.DOTALL,
)
_PEEK = 1 << 16
_LFS = b"version https://git-lfs"
_HELP = "give the .xml of the model; its .bin is found beside it"
_HELP_LFS = "run `git lfs pull` where the file came from"

WeightsChoice = str | os.PathLike[str] | Literal["beside", "none"]


class Opened(NamedTuple):
    """The bytes of a model and the path of its .bin, None if it is to be read without one."""

    source: Source
    weights: str | os.PathLike[str] | None


def weights_path(model: str, weights: WeightsChoice = "beside") -> str | os.PathLike[str] | None:
    """The .bin of a model: the file given, or the one beside the .xml.

    None for `none`, and for a model from standard input unless a file is given.
    """
    if weights == "none":
        return None
    if weights != "beside":
        return weights
    return None if model in ("-", "<stdin>", "") else os.path.splitext(model)[0] + ".bin"


def open_model(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Opened:
    """Opens a model; `-` is standard input. `read_source(*opened)` reads it.

    Raises `OSError` if the model, or a .bin given by name, cannot be opened, and `NotReadable` if
    the file cannot hold a model.
    """
    name = os.fspath(path)
    if weights not in ("beside", "none") and not os.path.isfile(weights):
        raise _cannot_open(os.fspath(weights))
    return Opened(open_source(name), weights_path(name, weights))


def load(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Model:
    """Reads an IR, layers on their own, an ONNX model or a oneDNN graph; `-` is standard input.

    weights: the .bin; `beside` looks for it beside the .xml, `none` reads the model without one.
    Raises as `open_model` does.
    """
    return read_source(*open_model(path, weights))


def read_source(source: Source, weights: str | os.PathLike[str] | None) -> Model:
    """Reads an open file. weights: the path of the .bin; an ONNX model names its own.

    Raises `NotReadable`.
    """
    foreign = recognised(source.data)
    if foreign is not None:
        return read_foreign(source, foreign)
    root = root_element(source.data)
    if root == "layer":
        from .ir.fragments import read_layers

        model = read_layers(source)
        model.weights = Weights.open(None)
        return model
    model = read(source)
    model.weights = Weights.open(weights)
    return model


def _cannot_open(name: str) -> OSError:
    """The error for a path that is no regular file."""
    if not os.path.exists(name):
        return OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if os.path.isdir(name):
        return OSError(errno.EISDIR, "is a folder, not a file", name)
    return OSError(errno.EINVAL, "not a regular file", name)


def open_source(name: str) -> Source:
    """The bytes of a file, or of standard input.

    Raises `OSError`, and `NotReadable` for a file beyond the limit or one that is not XML.
    """
    if name == "-":
        data = sys.stdin.buffer.read(MAX_XML_BYTES + 1)
        shown = "<stdin>"
    else:
        if os.path.exists(name) and not os.path.isfile(name):
            raise _cannot_open(name)
        with open(name, "rb") as file:
            data = file.read(MAX_XML_BYTES + 1)
        shown = name
    source = Source(shown, data)
    if len(data) > MAX_XML_BYTES:
        source.data = data[:_PEEK]
        raise NotReadable(
            Finding(
                Fault(
                    SIZE_LIMIT,
                    f"the file is larger than {MAX_XML_BYTES} bytes, the limit for an .xml",
                    expected=f"at most {MAX_XML_BYTES} bytes",
                    actual="more",
                    help="check what the file is; constants belong into the .bin",
                ),
                0,
            ),
            source,
        )
    if recognised(data) is not None:
        return source
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            source = Source(shown, data.decode("utf-16").encode(), "utf-8-sig", data)
        except UnicodeDecodeError as error:
            raise NotReadable(
                Finding(
                    Fault(
                        MALFORMED_XML,
                        f"the file begins as UTF-16 and is not: {error.reason}",
                        help="save it as UTF-8",
                    ),
                    0,
                ),
                source,
            ) from None
    elif not data.strip():
        raise NotReadable(
            Finding(
                Fault(
                    NOT_AN_IR,
                    "the file is empty",
                    expected="<net> or <layer>",
                    actual="nothing",
                    help="give the .xml of a model",
                ),
                0,
            ),
            source,
        )
    elif b"\0" in data[:_PEEK] or not data[:_PEEK].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise NotReadable(
            Finding(
                Fault(
                    NOT_AN_IR,
                    _not_xml(data),
                    expected="<net> or <layer>",
                    help=_HELP_LFS if data.startswith(_LFS) else _HELP,
                ),
                0,
            ),
            source,
        )
    return source


def _not_xml(data: bytes) -> str:
    if data.startswith(_LFS):
        return "the file is a Git-LFS pointer, not the .xml itself"
    return (
        "the file is not XML; it looks like binary data"
        if b"\0" in data[:_PEEK]
        else "the file is not XML"
    )


def root_element(data: bytes) -> str | None:
    """The name of the root element if the first bytes tell; `layer` if `...` stands in its place."""
    match = _ROOT.match(data[:_PEEK])
    if match is None:
        return None
    return match[1].decode("utf-8", "replace") if match[1].strip(b".\xe2\x80\xa6") else "layer"
