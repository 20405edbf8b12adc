"""A model that can be changed and that is always sound."""

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
    """A sound model that can be changed.

    The declarations that check files check every change. A change is applied completely, or raises
    `GraphError` and leaves the graph as it was. The element type and shape of every output are
    always current. Iterating over `layers` is safe while the graph changes.

    model: a loaded model, which is not changed; without one the graph is empty.
    Raises `LoadError` with the diagnostics of a model that is not sound.
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
        """The operations as functions that add to this graph: `graph.op.constant(1.0)`.

        `irshape.op` has the same functions; they add to the graph of their inputs.
        """
        return Operations(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, weights: WeightsChoice = "beside") -> Graph:
        """Reads a model as a graph: an IR, an ONNX model or a oneDNN graph.

        path, weights: as for `irshape.load`.
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
        """Returns a graph of the same layers, which can be changed on its own."""
        return duplicate(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        # layer by layer, as copy and pickle go by themselves, the stack would not be deep enough
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

        inputs: one or several tensors, or their names as for `tensor`. A tensor that is not a
        Parameter becomes one, with the given name. By default all inputs that the outputs need.
        outputs: by default all of the graph. The new graph has the inputs and outputs in the given
        order, and the variables that are read, with their Assigns.
        Raises `KeyError`, and `GraphError` if an output depends on an input that is not given.
        """
        starts = [inputs] if isinstance(inputs, (str, Output)) else inputs
        ends = [outputs] if isinstance(outputs, (str, Output)) else outputs
        return extracted(self, starts, ends)

    def split(self, *cuts: str | Sequence[str], parts: int | None = None) -> list[Graph]:
        """Returns graphs that, run one after the other, do what this one does.

        cuts: where one part ends and the next begins: one or several tensors, by name. Each part
        takes the inputs of the graph and the tensors of earlier parts that it needs, under their
        names. A constant is in every part that needs it.
        parts: instead of cuts, the number of parts; they have about equal weights, and the cuts go
        through as few tensors as possible.
        Raises `KeyError`, `ValueError` for cuts and parts together, and `GraphError` if a variable
        is read in one part and assigned in another, or the graph has too few layers.
        """
        if cuts and parts is not None:
            raise GraphError("give either cuts or the number of parts, not both")
        return parts_of(self, cuts if parts is None else balanced_cuts(self, parts))

    def around(self, layer: str | GraphLayer, distance: int = 2) -> Graph:
        """Returns a graph of a layer and all layers within a distance, counted in edges."""
        return neighbourhood(self, layer, distance)

    def inline(self, layer: str | GraphLayer, *, max_iterations: int = MAX_ITERATIONS) -> None:
        """Replaces an If, Loop or TensorIterator by the layers of its bodies.

        The condition of an If, and the number of iterations of a Loop or TensorIterator, must be
        known. Iterations are written one after another.
        max_iterations: the limit for their number.
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
        """Says why a pattern does not match: at the place where most of it fits, what does not."""
        return why_not(self, pattern)

    def rewrite(
        self, rule: Rewrite, *, check: bool = False, seed: int = 0, rtol: float = 1e-4
    ) -> int:
        """Replaces what the pattern of a rewrite matches until nothing matches; see `rewrite`.

        check: at every place in the net, run both sides on random inputs, and raise `GraphError` if
        they differ by more than rtol.
        Returns how many matches were replaced.
        """
        return rewritten(self, rule, check, seed, rtol)

    # values and precisions

    def fold(self, *, max_bytes: int = MAX_BYTES, decompress: bool = False) -> int:
        """Replaces layers whose outputs depend only on constants or static shapes by constants.
        Returns how many.

        max_bytes: larger outputs stay computed.
        decompress: also compute the layers that decompress weights, as from i8 to f32; the .bin
        grows by that. A device may decompress more exactly than the types in between suggest.
        """
        return folded(self, max_bytes, decompress=decompress)

    def to_f16(self, *, keep: Selection = ()) -> int:
        """Lets f32 layers compute in f16. Returns how many.

        Inputs and outputs of the graph stay f32, and so do layers that take only f32, layers with
        bodies, and layers with an input of dynamic element type.
        keep: layers that stay f32, by glob patterns of names or types or by a function.
        """
        return to_f16(self, keep)

    def compress_to_f16(self, *, keep: Selection = ()) -> int:
        """Stores f32 and f64 weights in f16, as OpenVINO's `save_model` does. Returns how many.

        A Convert restores the type of each. Constants on which a shape depends stay, and constants
        with three quarters of their elements outside the range of f16.
        keep: as for `to_f16`.
        """
        return compressed(self, keep)

    def drop_fake_quantize(self, selection: Selection = "*") -> int:
        """Removes FakeQuantize layers, and layers that only fed them. Returns how many."""
        return without_fake_quantize(self, selection)

    def strip_weights(self, *, keep_bytes: int = 1024) -> int:
        """Replaces constants by zeros that share bytes.

        The saved .bin is as long as the largest of them; on file systems with sparse files, these
        zeros take no space.
        keep_bytes: constants up to this size stay.
        Returns the number of bytes that were replaced.
        """
        return stripped(self, keep_bytes)

    def restore_weights(self, other: Graph) -> int:
        """Replaces the values of constants by the constants of the same name in another graph.
        Returns how many."""
        return restored(self, other)

    # states, and what programs do around a model

    def make_stateful(
        self,
        pairs: Mapping[str, str],
        *,
        beam_idx: str | None = None,
        batch_from: str | None = None,
    ) -> None:
        """Turns pairs of an input and an output with its next value into variables.

        pairs: the output by the input, as in `{"past.0.key": "present.0.key"}`. A variable is named
        after its input, and begins as zeros. Of its dynamic dimensions, axis 0 is as large as axis
        0 of `batch_from` (by default the first other input whose axis 0 is dynamic), and the others
        are 0.
        beam_idx: the name of an input to add; a Gather by it along axis 0 follows each ReadValue.
        """
        made_stateful(self, pairs, beam_idx, batch_from)

    def make_stateless(self) -> dict[str, str]:
        """Turns variables into inputs and outputs. Returns their names, outputs by inputs.

        The variables' initial values are removed: the caller gives them.
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
        """Lets an input take data as a program has it: the graph converts, transposes and
        normalizes it.

        element_type: the type of the new input.
        layout: the layouts of the new input and of the old one, as in `("NHWC", "NCHW")`.
        mean, scale: subtract mean, then divide by scale; numbers, or one for each channel (axis C
        of the layout, else of the model's layout, else axis 1).
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
        """Transposes an output of the graph from one layout to another, and converts it."""
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

    connections: the inputs of the second by the tensors of the first that feed them, as in
    `{"out": "in"}`. A connected tensor is no longer an output.
    prefix: put before the names of layers and tensors of the second.
    name: the name of the result.
    Raises `KeyError`, and `GraphError` if a tensor does not fit an input, or names clash.
    """
    for each in (first, second):
        if not isinstance(each, Graph):
            raise ArgumentError(
                f"two Graphs are merged, got {type(each).__name__}: Graph.load(path) reads one"
            )
    return merged(first, second, connections, prefix, name)
