"""Candidates of a reduction: models with edited bodies, written, read back and checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison.reproducer import fresh_ids, of_body, parameter, port_of, with_result
from ..element_types import ElementType
from ..examination import examine
from ..execution.errors import ExecutionError
from ..execution.inputs import random_inputs
from ..execution.session import Session
from ..formats.atomic import write_together
from ..formats.ir import FORMAT
from ..formats.ir.reader import read
from ..formats.ir.writer import document, write
from ..graph.constants import array_bytes
from ..inference.engine import infer
from ..model.graph import Body, Layer, Model, NotReadable
from ..model.joined_buffers import Pieces
from ..model.source import Source as Text
from ..model.weights import Constant, Weights
from ..model.wiring import OutputRef
from ..numpy_types import Array, dtype_of
from ..ops.tensors import UNKNOWN, Tensor
from ..shapes import PartialShape
from .edits import edited

MAX_VALUE_BYTES = 1 << 28
"""The largest size in bytes of a value that becomes a Constant, and the largest total size of
`Candidate.values`."""

_DRAWN = ("randomuniform", "multinomial", "readvalue")
"""Layers whose outputs do not follow from their inputs, such as RandomUniform."""

_Pin = tuple[str, str, str]


class Candidate:
    """A model that a reduction may try, as it would be saved."""

    def __init__(self, model: Model) -> None:
        examined = examine(model)
        self.model = model
        self.net = model.net
        self.errors = [finding for finding in examined.findings if finding.severity == "error"]
        self.inference = examined.context.inference
        self.wiring = self.inference.result.wiring
        self.digest = blake2b(model.source.data, digest_size=16).digest()
        self._folded: dict[OutputRef, Array | None] = {}

    @property
    def broken_rules(self) -> set[str]:
        """The codes of the rules that the errors of the candidate break."""
        return {finding.rule.name for finding in self.errors}

    @property
    def pinned(self) -> set[_Pin]:
        """The layers with errors. Their ports keep the declared types and shapes."""
        return {_pin(finding.layer) for finding in self.errors if finding.layer is not None}

    def tensor(self, source: OutputRef) -> Tensor:
        """Returns the inferred tensor of an output."""
        outputs = self.inference.result.outputs[source[0]]
        return outputs[source[1]] if source[1] < len(outputs) else UNKNOWN

    def constant_values(self, source: OutputRef) -> Array | None:
        """Returns the value of an output that depends only on constants; None for other outputs."""
        if source not in self._folded:
            self._folded[source] = self._fold(source)
        return self._folded[source]

    def any_values(self, source: OutputRef) -> Array | None:
        """Returns the value of an output for random inputs; None if the run did not compute it."""
        value = self.constant_values(source)
        return self.values.get(source) if value is None else value

    def _fold(self, source: OutputRef) -> Array | None:
        tensor = self.tensor(source)
        if (exact := _exact(tensor)) is not None:
            return exact
        behind = sorted({source[0], *self.wiring.upstream(source[0])})
        layers = [self.net.layers[position] for position in behind]
        if any(layer.is_parameter or layer.folded_type in _DRAWN for layer in layers):
            return None
        end = self.net.layers[source[0]]
        if source[1] >= len(end.outputs):
            return None
        part = of_body(self.model, "part", edited(self.net, layers))
        with_result(part.net, end, source[1], next(fresh_ids(part.net)))
        try:
            (array,) = Session(part).run({}).values()
        except (ExecutionError, ValueError):
            return None
        return array if array.nbytes <= MAX_VALUE_BYTES else None

    @cached_property
    def values(self) -> dict[OutputRef, Array]:
        """The values of outputs for random inputs; if the run fails, those computed before."""
        positions = {layer: position for position, layer in enumerate(self.net.layers)}
        values: dict[OutputRef, Array] = {}
        room = MAX_VALUE_BYTES

        def observe(layer: Layer, _: tuple[Array, ...], results: tuple[Array, ...]) -> None:
            nonlocal room
            for index, array in enumerate(results):
                if layer in positions and not layer.is_result and room >= array.nbytes:
                    room -= array.nbytes
                    values[positions[layer], index] = array

        with suppress(ExecutionError, ValueError):  # what was computed up to there is of use
            Session(self.model).run(random_inputs(self.model), observe=observe)
        return values


class Workshop:
    """Makes candidates. In all of them, the same bytes of constants have the same offset in the
    .bin.

    A candidate may break only rules that the original breaks. Exception: the .xml that irshape
    writes for a model with errors, e.g. a layer without a type, may break further rules. Candidates
    may break these rules until `accept` gets a candidate that breaks none of them.
    """

    def __init__(self, original: Model) -> None:
        self.bytes = Pieces()
        weights = original.weights
        self._without_bin = weights is None or weights.data is None
        self.bytes.extend(None if weights is None else weights.data)
        self._weights = weights if self._without_bin else Weights(None, self.bytes, "ready")
        self._path = original.path
        self._broken: set[str] = set()
        """The rules that the original breaks. For a model that is not an IR, the rules that it
        breaks when written as an IR."""
        self._allowed: set[str] | None = None
        self.done: set[bytes] = set()
        """The digests of models that were tried already, or that break a rule that is not
        allowed."""
        self.original = original

    def rewritten(self) -> list[Candidate]:
        """Returns the whole model, written in several ways: the declared types and shapes stay on
        the ports of layers with errors, on all ports, or on none. The candidates that break the
        fewest rules come first. Raises `ValueError` if the model cannot be written."""
        original = self.original
        findings = examine(original).findings if original.format == FORMAT else []
        errors = [each for each in findings if each.severity == "error"]
        doubtful = {_pin(finding.layer) for finding in errors if finding.layer is not None}
        written = [
            self._candidate(self._text(original, original.net, pinned))
            for pinned in (doubtful, {_pin(layer) for layer in original.walk()}, set[_Pin]())
        ]
        candidates = {each.digest: each for each in written if each is not None}.values()
        if not candidates:
            raise ValueError("the model cannot be written as an IR")
        self._broken = {finding.rule.name for finding in errors}
        if original.format != FORMAT:
            self._broken = next(iter(candidates)).broken_rules
        return sorted(candidates, key=lambda candidate: len(self.added_rules(candidate)))

    def added_rules(self, candidate: Candidate) -> list[str]:
        """Returns the rules that a candidate breaks and the original does not."""
        return sorted(candidate.broken_rules - self._broken)

    def accept(self, candidate: Candidate) -> bool:
        """Allows later candidates to break only rules that this candidate or the original breaks.
        Returns whether this candidate breaks only rules that the original breaks."""
        self._allowed = self._broken | candidate.broken_rules
        return self._allowed == self._broken

    def build(self, base: Candidate, net: Body, *, bare: bool = False) -> Candidate | None:
        """Returns a candidate made from `base` with an edited net; None if the candidate was tried
        already, cannot be written or read, or breaks a rule that is not allowed.

        bare: whether to omit the `rt_info` of the net.
        """
        try:
            text = self._text(base.model, net, base.pinned, bare)
        except ValueError:
            return None
        digest = blake2b(text, digest_size=16).digest()
        candidate = None if digest in self.done else self._candidate(text)
        if candidate is None:
            self.done.add(digest)
        return candidate

    def _text(self, base: Model, net: Body, pinned: set[_Pin], bare: bool = False) -> bytes:
        model = Model(base.source, base.name, max(base.version, 10), format=FORMAT)
        model.net, model.weights = net, self._weights
        model.rt_info_span = None if bare else base.rt_info_span
        inference = infer(model)
        for part in inference.result.walk() if pinned else ():
            for position, layer in enumerate(part.body.layers):
                if _pin(layer) in pinned:  # its ports keep what they declare
                    part.outputs[position] = ()
                    part.wiring.sources[position] = [None] * len(layer.inputs)
        return ("\n".join(document(model, None, inference)) + "\n").encode()

    def _candidate(self, text: bytes) -> Candidate | None:
        try:
            model = read(Text(self._path, text))
        except NotReadable:
            return None
        model.weights = self._weights
        candidate = Candidate(model)
        if self._allowed is not None and not candidate.broken_rules <= self._allowed:
            return None
        return candidate

    def layer(
        self, tensor: Tensor, value: Array | None, id: str, name: str, names: str | None
    ) -> Layer:
        """Returns the layer that replaces an output: a Parameter if `value` is None or the model
        has no .bin, otherwise a Constant."""
        kind = str(tensor.element_type)
        attributes = None if value is None else self.stored(value, kind)
        if value is None or attributes is None:
            return parameter(id, name, tensor, names)
        layer = Layer(id, name, "Const", "opset1", -1, ())
        layer.attributes = attributes
        layer.outputs = [port_of(Tensor(tensor.element_type, PartialShape(value.shape)), names)]
        return layer

    def array(self, layer: Layer) -> Array | None:
        """Returns the value of a Constant; None if its bytes are missing."""
        try:
            return Constant.of(layer.items, self._weights).array()
        except ValueError:
            return None

    def stored(self, array: Array, element_type: str) -> dict[str, str] | None:
        """Stores the bytes of a constant in the .bin. Returns the attributes of the constant; None
        if the model has no .bin."""
        if self._without_bin:
            return None
        data = array_bytes(array, ElementType.of(element_type))
        place = {"offset": str(self.bytes.add(data)), "size": str(len(data))}
        return {"element_type": element_type, "shape": ", ".join(map(str, array.shape)), **place}


def _exact(tensor: Tensor) -> Array | None:
    """Returns the value of a tensor if shape inference determines it; otherwise None."""
    known = None if tensor.value is None else tensor.value.exact
    shape = tensor.shape.static
    if known is None or shape is None:
        return None
    return np.array(known).astype(dtype_of(tensor.element_type)).reshape(shape)


def _pin(layer: Layer) -> _Pin:
    return layer.id, layer.name, layer.type


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes a candidate: the .xml, and the .bin if the bytes of constants are available.

    If the bytes of a constant are missing, for example because the .bin is too short, the .bin is
    copied unchanged. Raises `OSError`.
    """
    target = Path(path)
    try:
        write(model, target)
    except ValueError:
        weights = model.weights
        files: dict[Path, bytes | Iterator[bytes]] = {target: model.source.data}
        if weights is not None and weights.data is not None:
            files = {target.with_suffix(".bin"): _pieces(weights.data), **files}
        write_together(files)


def _pieces(data: Any) -> Iterator[bytes]:
    if not isinstance(data, Pieces):
        yield bytes(data)
        return
    end = 0
    for start, size in data.spans():
        yield bytes(start - end)
        yield data[start : start + size]
        end = start + size
