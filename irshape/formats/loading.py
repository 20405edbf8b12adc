"""Opens a file by what it holds, and its .bin beside it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Literal

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


def load(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Model:
    """Reads an IR, layers on their own, an ONNX model or a oneDNN graph; `-` is standard input.

    weights: the .bin; `beside` looks for it beside the .xml, `none` does without. Raises `OSError` where the file, or a .bin given by name, cannot be opened,
    `NotReadable` where it holds no model.
    """
    name = os.fspath(path)
    if weights not in ("beside", "none") and not os.path.isfile(weights):
        raise (
            OSError(2, os.strerror(2), os.fspath(weights))
            if not os.path.exists(weights)
            else OSError(22, "not a regular file", os.fspath(weights))
        )
    return read_source(
        open_source(name),
        ("none" if name == "-" else Path(name).with_suffix(".bin"))
        if weights == "beside"
        else weights,
    )


def read_source(source: Source, weights: str | os.PathLike[str]) -> Model:
    """Reads what `open_source` has opened. weights: the .bin, or `none`; an ONNX model names its own. Raises `NotReadable`."""
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
    model.weights = Weights.open(None if weights == "none" else weights)
    return model


def open_source(name: str) -> Source:
    """The bytes of a file, or of standard input. Raises `OSError`, and `NotReadable` for a file past the limit, or one that holds something else than XML."""
    if name == "-":
        data = sys.stdin.buffer.read(MAX_XML_BYTES + 1)
        shown = "<stdin>"
    else:
        if os.path.exists(name) and not os.path.isfile(name):
            raise OSError(22, "not a regular file", name)
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
    """The name of the root element, as far as a glance tells; `layer` where `...` stands in its place."""
    match = _ROOT.match(data[:_PEEK])
    if match is None:
        return None
    return match[1].decode("utf-8", "replace") if match[1].strip(b".\xe2\x80\xa6") else "layer"
