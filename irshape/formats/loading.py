"""Opens a file by what it holds, and its .bin beside it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Literal

from ..model import Model, Problem, Source
from .ir_reader import MAX_XML_BYTES, NotReadable, read
from .weights import Weights

_ROOT = re.compile(rb"\A(?:\xef\xbb\xbf)?(?>\s+|<\?.*?\?>|<!--.*?-->)*+<(!?[A-Za-z_.\xe2][\w.\-\x80-\xff]*)", re.DOTALL)
_PEEK = 1 << 16

WeightsChoice = str | os.PathLike[str] | Literal["beside", "none"]


def load(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Model:
    """Reads an IR or layers on their own; `-` is standard input.

    weights: the .bin; `beside` looks for it beside the .xml, `none` does without. Raises `OSError` where the file cannot be opened, `NotReadable` where it holds no model.
    """
    name = os.fspath(path)
    source = open_source(name)
    root = root_element(source.data)
    if root == "layer":
        from .layers import read_layers

        model = read_layers(source)
        model.weights = Weights.open(None)
        return model
    model = read(source)
    if weights == "beside":
        model.weights = Weights.open(None if name == "-" else Path(name).with_suffix(".bin"))
    else:
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
            Problem(
                "size-limit",
                f"the file is larger than {MAX_XML_BYTES} bytes, the limit for an .xml",
                0,
                expected=f"at most {MAX_XML_BYTES} bytes",
                actual="more",
            ),
            source,
        )
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            source = Source(shown, data.decode("utf-16").encode(), "utf-8-sig")
        except UnicodeDecodeError as error:
            raise NotReadable(Problem("malformed-xml", f"the file begins as UTF-16 and is not: {error.reason}", 0), source) from None
    elif not data.strip():
        raise NotReadable(Problem("not-an-ir", "the file is empty", 0, expected="<net> or <layer>", actual="nothing"), source)
    elif b"\0" in data[:_PEEK] or not data[:_PEEK].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise NotReadable(
            Problem("not-an-ir", _not_xml(data), 0, expected="<net> or <layer>", help="give the .xml of the model; its .bin is found beside it"), source
        )
    return source


def _not_xml(data: bytes) -> str:
    if data.startswith(b"version https://git-lfs"):
        return "the file is a Git-LFS pointer, not the .xml itself; run `git lfs pull`"
    return "the file is not XML; it looks like binary data" if b"\0" in data[:_PEEK] else "the file is not XML"


def root_element(data: bytes) -> str | None:
    """The name of the root element, as far as a glance tells; `layer` where `...` stands in its place."""
    match = _ROOT.match(data[:_PEEK])
    if match is None:
        return None
    return match[1].decode("utf-8", "replace") if match[1].strip(b".\xe2\x80\xa6") else "layer"
