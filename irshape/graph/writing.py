"""Writes a graph as an IR: the .xml and the .bin.

The original .bin is copied in parts, and new constants are appended. If the graph no longer needs a
large part of the .bin, the new .bin contains only the needed constants.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..formats.atomic import Content, Hole, Piece, write_pieces, write_together
from ..formats.ir.edits import with_edits
from ..formats.ir.reader import read
from ..formats.ir.writer import Layout, document
from ..garbage_collection import collection_paused
from ..inference.result import Inference
from ..model.graph import Model
from ..model.source import Source
from ..model.weights import Constant
from .checked import refuse_colliding_names, refuse_contrary_sizes
from .errors import ArgumentError, GraphError
from .exporting import exported
from .splicing import NotSpliceable, Splicer
from .structure import Structure

_PART = 1 << 20
"""The number of bytes of constants that are in memory at a time."""


def text_of(graph: Structure, inference: Inference | None = None) -> bytes:
    """Returns the text of the .xml for a graph. Unchanged parts have the text of the file from
    which the graph was loaded."""
    inference = inference or exported(graph, None)
    model, origin = inference.model, graph.source
    if origin is not None and origin.format.is_ir:
        try:
            return _spliced(graph, origin, inference)
        except NotSpliceable:
            pass
    return ("\n".join(document(model, None, inference)) + "\n").encode()


_UTF8 = ("utf-8", "utf8", "utf-8-sig")


def _spliced(graph: Structure, origin: Model, inference: Inference) -> bytes:
    source = origin.source
    if source.raw is not None or source.encoding.lower() not in _UTF8:
        raise NotSpliceable
    if origin.version == 10:
        refuse_colliding_names(inference)
    splicer = Splicer(source, inference.model)
    splicer.body(origin.net, graph.layers, inference.result, 1)
    splicer.net_info(origin.rt_info_span, graph.rt_info_span)
    if graph.name != origin.name:
        splicer.attribute(source.data.index(b"<net"), "name", graph.name)
    return with_edits(source.data, splicer.edits)  # none inside a part that is rewritten


def model_of(graph: Structure) -> Model:
    """Returns the graph as a `Model`, as if it had been saved and loaded. The model uses the
    constants of the graph without a copy."""
    model = read(Source(f"<graph {graph.name}>", text_of(graph)))
    model.weights = graph.store.weights
    return model


def save(
    graph: Structure, path: str | os.PathLike[str] | IO[bytes], weights: IO[bytes] | None = None
) -> None:
    """Writes the graph as an IR: the .xml, and the .bin beside it. Unchanged parts keep their text:
    names, ids, order, comments. At a path, both files appear completely or not at all.

    path: the path of the .xml, or an open binary file.
    weights: if `path` is an open file, the open file for the .bin.
    Raises `OSError`, and `GraphError`, e.g. for constants whose bytes are missing.
    """
    with collection_paused():
        if isinstance(path, (str, os.PathLike)):
            if weights is not None:
                raise ArgumentError("`weights` is only for open files: a path determines the .bin")
            write_together(files_of(graph, path))
            return
        if not hasattr(path, "write"):
            raise ArgumentError(f"expected a path or a binary file, got {type(path).__name__}")
        text, pieces = parts_of_file(graph)
        write_pieces(path, text)
        if weights is not None:
            write_pieces(weights, pieces)
        elif any(layer.raw.is_constant for layer in graph.walk()):
            raise GraphError("the graph has constants; give a second file for the .bin")


def to_bytes(graph: Structure) -> tuple[bytes, bytes]:
    """Returns the contents of the .xml and the .bin that `save` writes."""
    text, weights = io.BytesIO(), io.BytesIO()
    save(graph, text, weights)
    return text.getvalue(), weights.getvalue()


def files_of(graph: Structure, path: str | os.PathLike[str]) -> dict[Path, Content]:
    """Returns the contents of the .bin and of the .xml that `Graph.save` writes, by their paths.

    Raises as `Graph.save` does.
    """
    target = Path(path)
    if target.suffix != ".xml":
        raise GraphError(f"'{target}': the name of an IR ends in .xml")
    text, pieces = parts_of_file(graph)
    return {target.with_suffix(".bin"): pieces, target: text}


def parts_of_file(graph: Structure) -> tuple[bytes, Iterator[Piece]]:
    """Returns the contents of the .xml and of the .bin. Raises `GraphError` if bytes are
    missing."""
    weights = graph.store.weights
    assert weights is not None
    needed = {
        (constant.offset, constant.size)
        for layer in graph.walk()
        if layer.raw.is_constant and (constant := Constant.of(layer.raw.items, weights)).size
    }
    for offset, size in needed:
        if not weights.holds(offset, size):
            raise GraphError(
                f"bytes {offset} to {offset + size} of a constant are missing",
                help="the .bin is missing or too short",
            )
    used, there = sum(size for _, size in needed), len(graph.bytes)
    spare = there - used
    compact = spare > (0 if graph.compact else max(there // 10, 1 << 12))
    layout = Layout(needed) if compact else None
    inference = exported(graph, layout)
    refuse_contrary_sizes(inference)
    graph._check_variables()
    return text_of(graph, inference), _pieces(graph, layout)


def _pieces(graph: Structure, layout: Layout | None) -> Iterator[Piece]:
    """Yields the bytes of the .bin, one piece at a time."""
    chunks = (
        [(start, start, size) for start, size in graph.bytes.spans()]
        if layout is None
        else [(start, offset, size) for (offset, size), start in layout.chunks.items()]
    )
    if not chunks:
        yield b"\0"  # OpenVINO needs a .bin if there are constants, even if all are empty
    end = 0
    for start, offset, size in chunks:
        yield bytes(start - end)
        for at in range(offset, offset + size, _PART):
            part = graph.bytes[at : min(at + _PART, offset + size)]
            graph.bytes.release(at)
            yield Hole(len(part)) if not any(part[:64]) and part.count(0) == len(part) else part
        end = start + size
