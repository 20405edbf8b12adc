"""The class `Graph`: a model that programs can change and that never contains errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from ..garbage_collection import collection_paused
from ..model.graph import Model
from . import (
    copying,
    folding,
    inlining,
    patterns,
    precision,
    processing,
    rewriting,
    surgery,
    variables,
    weightless,
    writing,
)
from .balancing import balanced_cuts
from .editing import Editing
from .errors import ArgumentError, GraphError
from .nodes import GraphLayer, Output
from .op import Operations
from .structure import Fill

if TYPE_CHECKING:
    from ..formats.loading import WeightsChoice


class Graph(Editing):
    """A model without errors that programs can change.

    irshape checks every change as `irshape validate` checks a file. A change is applied completely,
    or raises `GraphError` and leaves the graph as it was. The element type and shape of every
    output are always current. Iterating over `layers` is safe while the graph changes.

    model: a loaded model, which stays unchanged. Without one, the graph is empty. Raises
    `LoadError` with the diagnostics if the model has errors.
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        name: str | None = None,
        owner: GraphLayer | None = None,
        tag: str = "",
        fill: Fill | None = None,
    ) -> None:
        if not (model is None or isinstance(model, Model)):
            raise ArgumentError(
                f"expected a Model, got {type(model).__name__}: Graph.load(path) reads a file, "
                "graph.copy() copies a graph"
            )
        given = "" if model is None else model.name
        super().__init__(given if name is None else name, owner=owner, tag=tag, fill=fill)
        if model is not None:
            from .checked import checked
            from .opening import opened

            with collection_paused():
                opened(self, model, checked(model))

    @property
    def op(self) -> Operations:
        """The operations as functions that add layers to this graph: `graph.op.constant(1.0)`.

        The functions of `irshape.op` add layers to the graph of their inputs instead.
        """
        return Operations(self)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | IO[bytes] | IO[str],
        *,
        weights: WeightsChoice | bytes | IO[bytes] = "beside",
    ) -> Graph:
        """Reads a model as a graph: an IR, an ONNX model or a oneDNN graph.

        path, weights: as for `irshape.load`. Open files are also possible.
        Raises `OSError`, and `LoadError` with the diagnostics if the file contains no model or its
        model has errors.
        """
        from ..diagnostics.report import load

        with collection_paused():
            return cls(load(path, weights))

    @classmethod
    def from_openvino(cls, model: Any) -> Graph:
        """Returns a graph of an `openvino.Model`. OpenVINO writes it as an IR, which irshape reads.

        Raises `LoadError` as `load` does.
        """
        from ..comparison.runtime import openvino_api

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "model.xml")
            openvino_api().serialize(model, path)
            return cls.load(path)

    def to_openvino(self) -> Any:
        """Returns the graph as an `openvino.Model`. Raises `GraphError`, and `ImportError` if
        OpenVINO is not installed."""
        from ..comparison.runtime import openvino_api

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "model.xml")
            self.save(path)
            return openvino_api().Core().read_model(path)

    # taking apart and putting together

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        # by default, copy and pickle would recurse from layer to layer, and exhaust the stack
        memo[id(self)] = twin = self.copy()
        return twin

    def __reduce__(self) -> tuple[type[Graph], tuple[Model]]:
        return Graph, (self.model(),)

    def extract(
        self,
        inputs: str | Output | Iterable[str | Output] | None = None,
        outputs: str | Output | Iterable[str | Output] | None = None,
    ) -> Graph:
        """Returns a new graph with the layers between `inputs` and `outputs`.

        inputs: one or several tensors, or their names as for `tensor`. A tensor inside the graph
        becomes the output of a new Parameter with the given name. By default, the new graph has all
        inputs that its outputs need.
        outputs: tensors or names; by default all outputs of the graph. The new graph has its inputs
        and outputs in the given order. It keeps the variables that its layers read, and their
        Assigns.
        Raises `KeyError`, and `GraphError` if an output depends on an input that is not in
        `inputs`.
        """
        starts = [inputs] if isinstance(inputs, (str, Output)) else inputs
        ends = [outputs] if isinstance(outputs, (str, Output)) else outputs
        return surgery.extracted(self, starts, ends)

    def split(
        self, *cuts: str | Output | Sequence[str | Output], parts: int | None = None
    ) -> list[Graph]:
        """Cuts this graph into parts, and returns them as graphs. Run one after another, the parts
        compute the outputs of this graph.

        cuts: for each part except the last, its output tensors: a tensor, a name, or a list of
        these. The inputs of a part are tensors of earlier parts and inputs of this graph; they keep
        their names. A constant is in every part that uses it.
        parts: the number of parts, instead of cuts. All parts get about the same bytes of weights,
        and the cuts prefer places with few tensors.
        Raises `KeyError`, `ValueError` for cuts and parts together, and `GraphError` if a variable
        is read in one part and assigned in another, or if the graph has too few layers.
        """
        if cuts and parts is not None:
            raise GraphError("give either cuts or the number of parts, not both")
        return surgery.parts_of(self, cuts if parts is None else balanced_cuts(self, parts))

    def match(self, pattern: patterns.Wanted) -> list[patterns.Match]:
        """Returns the matches of a pattern in the graph and its bodies; see `Pattern`."""
        if not isinstance(pattern, patterns.Wanted):
            raise ArgumentError(
                f"expected a pattern, such as Pattern().add('ReLU'), got {type(pattern).__name__}"
            )
        return list(patterns.matches(self, pattern))

    # the methods that other modules define

    model = writing.model_of
    save = writing.save
    to_bytes = writing.to_bytes
    copy = copying.duplicate
    around = surgery.around
    inline = inlining.inline
    outline = inlining.outline
    why_not = patterns.why_not
    rewrite = rewriting.rewritten
    fold = folding.fold
    to_f16 = precision.to_f16
    compress_to_f16 = precision.compress_to_f16
    drop_fake_quantize = precision.drop_fake_quantize
    strip_weights = weightless.strip_weights
    restore_weights = weightless.restore_weights
    make_stateful = variables.make_stateful
    make_stateless = variables.make_stateless
    preprocess = processing.preprocess
    postprocess = processing.postprocess


def merge(
    first: Graph,
    second: Graph,
    connections: Mapping[str, str],
    *,
    prefix: str = "",
    name: str | None = None,
) -> Graph:
    """Returns a graph that runs the first graph, then the second. Both given graphs stay unchanged.

    connections: a dictionary from tensors of the first graph to the inputs of the second that they
    feed, as in `{"out": "in"}`. A connected tensor is no longer an output.
    prefix: text to put before the names of the layers and tensors of the second graph.
    name: the name of the new graph.
    Raises `KeyError`, and `GraphError` if an input does not accept a tensor, or if names clash.
    """
    for each in (first, second):
        if not isinstance(each, Graph):
            raise ArgumentError(
                f"expected a Graph, got {type(each).__name__}: Graph.load(path) reads a file"
            )
    return surgery.merged(first, second, connections, prefix, name)


ModelLike = str | os.PathLike[str] | Model | Graph
"""An argument that stands for a model: a path, a URL, or a model or graph in memory."""
