"""A model that programs can change and that is always sound."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from ..collection import collection_paused
from ..model.graph import Model
from .balancing import balanced_cuts
from .copying import duplicate
from .editing import Editing
from .errors import ArgumentError, GraphError
from .folding import MAX_BYTES, folded
from .inlining import MAX_ITERATIONS, inlined, outlined
from .nodes import GraphLayer, Output
from .op import Operations
from .patterns import Match, Wanted, matches, why_not
from .precision import Selection, compressed, to_f16, without_fake_quantize
from .processing import postprocessed, preprocessed
from .rewriting import Rewrite, rewritten
from .structure import Fill
from .surgery import extracted, merged, neighbourhood, parts_of
from .variables import made_stateful, made_stateless
from .weightless import restored, stripped
from .writing import graph_bytes, model_of, save_graph

if TYPE_CHECKING:
    from ..formats.loading import WeightsChoice


class Graph(Editing):
    """A sound model that programs can change.

    Every change is checked as a file is, with the declarations of the operations. A change is
    applied completely, or raises `GraphError` and leaves the graph as it was. The element type and
    shape of every output are always current. Iterating over `layers` is safe while the graph
    changes.

    model: a loaded model, which stays unchanged. Without one, the graph is empty. Raises
    `LoadError` with the diagnostics of a model that is not sound.
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
                f"a Graph is made of a Model, got {type(model).__name__}: Graph.load(path) reads "
                "a file, graph.copy() makes a second one"
            )
        given = "" if model is None else model.name
        super().__init__(given if name is None else name, owner=owner, tag=tag, fill=fill)
        if model is not None:
            from .checked import checked
            from .opening import opened

            with collection_paused():
                engine, inference = checked(model)
                opened(self, model, inference.result, engine)

    @property
    def op(self) -> Operations:
        """The operations as functions that add layers to this graph: `graph.op.constant(1.0)`.

        `irshape.op` has the same functions, but they add layers to the graph of their inputs.
        """
        return Operations(self)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | IO[bytes] | IO[str],
        *,
        weights: WeightsChoice | bytes = "beside",
    ) -> Graph:
        """Reads a model as a graph: an IR, an ONNX model or a oneDNN graph.

        path, weights: as for `irshape.load`; open files too.
        Raises `OSError`, and `LoadError` with the diagnostics of a file that contains no sound
        model.
        """
        from ..diagnostics.report import load

        with collection_paused():
            return cls(load(path, weights))

    def model(self) -> Model:
        """Returns the graph as a `Model`, as if it had been saved and loaded. It shares the
        constants."""
        return model_of(self)

    @classmethod
    def from_openvino(cls, model: Any) -> Graph:
        """Returns a graph of an `openvino.Model`, read from the IR that OpenVINO writes.

        Raises `LoadError` as `load` does.
        """
        from ..comparison.runtime import openvino_api

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "model.xml")
            openvino_api().serialize(model, path)
            return cls.load(path)

    def to_openvino(self) -> Any:
        """Returns the graph as an `openvino.Model`.

        Raises `ImportError` without OpenVINO, `GraphError`.
        """
        from ..comparison.runtime import openvino_api

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "model.xml")
            self.save(path)
            return openvino_api().Core().read_model(path)

    def save(
        self, path: str | os.PathLike[str] | IO[bytes], weights: IO[bytes] | None = None
    ) -> None:
        """Writes the graph as an IR: the .xml, and the .bin beside it.

        path: the path of the .xml, or a binary file; then weights is the file for the .bin.
        Unchanged parts keep their text: names, ids, order, comments. Both files appear completely
        or not at all.
        Raises `GraphError` for constants whose bytes are missing, and `OSError`.
        """
        save_graph(self, path, weights)

    def to_bytes(self) -> tuple[bytes, bytes]:
        """Returns the contents of the .xml and the .bin that `save` writes."""
        return graph_bytes(self)

    # taking apart and putting together

    def copy(self) -> Graph:
        """Returns an independent graph with the same layers."""
        return duplicate(self)

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
        """Returns a graph of the layers between tensors. This graph is not changed.

        inputs: one or several tensors, or their names as for `tensor`. A tensor that is not the
        output of a Parameter becomes one, with the given name. The default is all inputs that the
        outputs need.
        outputs: tensors or names; by default all outputs of the graph. The new graph has the inputs
        and outputs in the given order, and the variables that are read, with their Assigns.
        Raises `KeyError`, and `GraphError` if an output depends on an input that is not in
        `inputs`.
        """
        starts = [inputs] if isinstance(inputs, (str, Output)) else inputs
        ends = [outputs] if isinstance(outputs, (str, Output)) else outputs
        return extracted(self, starts, ends)

    def split(
        self, *cuts: str | Output | Sequence[str | Output], parts: int | None = None
    ) -> list[Graph]:
        """Returns graphs that together compute the same as this graph, if they run one after
        another.

        cuts: for each end of a part, one or several tensors, or their names. The inputs of each
        part are the inputs of the graph and the tensors of earlier parts that it needs, under
        their names. A constant is in every part that needs it.
        parts: instead of cuts, the number of parts. The parts have about equal weights, and the
        cuts go through as few tensors as possible.
        Raises `KeyError`, `ValueError` for cuts and parts together, and `GraphError` if a variable
        is read in one part and assigned in another, or the graph has too few layers.
        """
        if cuts and parts is not None:
            raise GraphError("give either cuts or the number of parts, not both")
        return parts_of(self, cuts if parts is None else balanced_cuts(self, parts))

    def around(self, layer: str | GraphLayer, distance: int = 2) -> Graph:
        """Returns a graph of a layer and all layers within a distance of it, counted in edges."""
        return neighbourhood(self, layer, distance)

    def inline(self, layer: str | GraphLayer, *, max_iterations: int = MAX_ITERATIONS) -> None:
        """Replaces an If, Loop or TensorIterator by the layers of its bodies.

        The condition of an If, and the number of iterations of a Loop or TensorIterator, must be
        known. The copies of the iterations follow each other.
        max_iterations: the limit for the number of iterations.
        Raises `KeyError`, `GraphError`.
        """
        inlined(self, self[layer] if isinstance(layer, str) else layer, max_iterations)

    def outline(self, layers: Iterable[str | GraphLayer], *, name: str | None = None) -> GraphLayer:
        """Moves layers into the body of a new Loop that runs once. Returns the Loop.

        Change its `trip_count` to run the layers more often. Constants that feed them move along.
        Raises `KeyError`, and `GraphError` if a path leaves the layers and comes back.
        """
        return outlined(self, layers, name)

    def match(self, pattern: Wanted) -> list[Match]:
        """Returns all places where a pattern matches, in bodies too; see `Pattern`."""
        if not isinstance(pattern, Wanted):
            raise ArgumentError(
                f"a pattern is built by a Pattern, as in Pattern().add('ReLU'), got "
                f"{type(pattern).__name__}"
            )
        return list(matches(self, pattern))

    def why_not(self, pattern: Wanted) -> str:
        """Returns why a pattern does not match. The text describes the first misfit at the place
        where most of the pattern matches."""
        return why_not(self, pattern)

    def rewrite(
        self, rule: Rewrite, *, check: bool = False, seed: int = 0, rtol: float = 1e-4
    ) -> int:
        """Replaces matches of a rewrite's pattern until there are no more; see `rewrite`.

        check: at every place in the net, run both sides on random inputs, and raise `GraphError` if
        they differ by more than rtol.
        Returns the number of replaced matches.
        """
        return rewritten(self, rule, check, seed, rtol)

    # values and precisions

    def fold(self, *, max_bytes: int = MAX_BYTES, decompress: bool = False) -> int:
        """Replaces layers whose outputs depend only on constants or static shapes by constants.
        Returns the number of replaced layers.

        max_bytes: layers with larger outputs stay.
        decompress: also replace the layers that decompress weights, for example from i8 to f32.
        This makes the .bin larger. A device may decompress weights more exactly than the
        intermediate types suggest.
        """
        return folded(self, max_bytes, decompress=decompress)

    def to_f16(self, *, keep: Selection = ()) -> int:
        """Lets f32 layers compute in f16. Returns the number of changed layers.

        Inputs and outputs of the graph stay f32. So do layers that accept only f32, layers with
        bodies, and layers with an input of dynamic element type.
        keep: layers that stay f32, by glob patterns of names or types or by a function.
        """
        return to_f16(self, keep)

    def compress_to_f16(self, *, keep: Selection = ()) -> int:
        """Stores f32 and f64 weights in f16, as OpenVINO's `save_model` does. Returns the number of
        changed constants.

        A Convert restores the type of each constant. Constants on which a shape depends stay, and
        so do constants with three quarters of their elements outside the range of f16.
        keep: as for `to_f16`.
        """
        return compressed(self, keep)

    def drop_fake_quantize(self, selection: Selection = "*") -> int:
        """Removes FakeQuantize layers, and layers that only fed them. Returns the number of removed
        FakeQuantize layers."""
        return without_fake_quantize(self, selection)

    def strip_weights(self, *, keep_bytes: int = 1024) -> int:
        """Replaces the values of constants by zeros. The constants share the bytes of these zeros.

        The saved .bin is as long as the largest of these constants. On file systems with sparse
        files, the zeros take no space.
        keep_bytes: constants up to this size keep their values. Returns the number of replaced
        bytes.
        """
        return stripped(self, keep_bytes)

    def restore_weights(self, other: Graph) -> int:
        """Replaces the values of constants by the values of the constants with the same names in
        another graph. Returns the number of changed constants."""
        return restored(self, other)

    # states, preprocessing and postprocessing

    def make_stateful(
        self,
        pairs: Mapping[str, str],
        *,
        beam_idx: str | None = None,
        batch_from: str | None = None,
    ) -> None:
        """Turns pairs of an input and an output into variables. The output is the next value of the
        input.

        pairs: the output by the input, as in `{"past.0.key": "present.0.key"}`. Each variable gets
        the name of its input, and its initial value is zeros. If axis 0 of the variable is dynamic,
        its initial size is the size of axis 0 of `batch_from` (by default the first other input
        whose axis 0 is dynamic). Other dynamic dimensions begin with size 0.
        beam_idx: the name of an input to add. A Gather after each ReadValue selects along axis 0 by
        this input.
        """
        made_stateful(self, pairs, beam_idx, batch_from)

    def make_stateless(self) -> dict[str, str]:
        """Turns variables into inputs and outputs. Returns the names of the outputs by the names of
        the inputs.

        The initial values of the variables are removed, so the caller has to pass them to the
        inputs.
        """
        return made_stateless(self)

    def preprocess(
        self,
        name: str | Output,
        *,
        element_type: Any = None,
        layout: tuple[str, str] | None = None,
        mean: float | Sequence[float] | None = None,
        scale: float | Sequence[float] | None = None,
    ) -> Output:
        """Lets an input take the data of a program unchanged: the graph converts, transposes and
        normalizes it.

        element_type: the type of the new input.
        layout: the layouts of the new input and of the old one, as in `("NHWC", "NCHW")`.
        mean, scale: the graph subtracts mean, then divides by scale. Each is a number, or a list
        with a number for each channel (axis C of the layout, else of the model's layout, else axis
        1).
        Returns the new input.
        """
        return preprocessed(self, name, element_type, layout, mean, scale)

    def postprocess(
        self,
        name: str | Output,
        *,
        element_type: Any = None,
        layout: tuple[str, str] | None = None,
    ) -> Output:
        """Transposes an output of the graph from one layout to another, and converts its element
        type."""
        return postprocessed(self, name, element_type, layout)


def merge(
    first: Graph,
    second: Graph,
    connections: Mapping[str, str],
    *,
    prefix: str = "",
    name: str | None = None,
) -> Graph:
    """Returns a graph that runs one graph after another. Both stay unchanged.

    connections: the inputs of the second graph by the tensors of the first that feed them, as in
    `{"out": "in"}`. A connected tensor is no longer an output.
    prefix: text to put before the names of the layers and tensors of the second graph.
    name: the name of the result.
    Raises `KeyError`, and `GraphError` if an input does not accept a tensor, or if names clash.
    """
    for each in (first, second):
        if not isinstance(each, Graph):
            raise ArgumentError(
                f"two Graphs are merged, got {type(each).__name__}: Graph.load(path) reads one"
            )
    return merged(first, second, connections, prefix, name)
