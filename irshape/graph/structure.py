"""Stores the layers of a graph, finds layers and tensors, makes unchecked single changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cached_property
from typing import Any

from ..formats.ir import FORMAT
from ..inference.body_engine import BodyEngine
from ..model.graph import BackEdge, Layer, Model
from ..model.joined_buffers import Pieces
from ..model.names import layer_and_index
from ..model.ports import names_in
from ..model.source import Passage, Source
from ..model.weights import Weights
from ..ops.declaration import Operation
from ..spelling import known_ends, suggestion
from .changes import Changes, Ordered
from .errors import ArgumentError, GraphError, UnknownNameError, checked_name
from .nodes import POSITION, GraphLayer, Output, by_rank


class Content:
    """The layers of a graph, and the tables to look them up."""

    def __init__(self) -> None:
        self.layers: Ordered = Ordered()
        """The layers in the order of the file. Added layers come last."""
        self.by_id: dict[str, GraphLayer] = {}
        self.by_name: dict[str, tuple[GraphLayer, ...]] = {}
        """The layers with each name: usually one, but layers of a file may share a name."""
        self.by_tensor: dict[str, Output] = {}
        self.next_id = 0
        self.end = -POSITION
        """The highest `GraphLayer.rank`, rounded down to a multiple of `POSITION`."""
        self.back_edges: tuple[BackEdge, ...] = ()
        """The back edges of the body of a Loop or TensorIterator: from a Result to a Parameter
        of the next iteration, by id."""


Fill = Callable[[Any, Content], None]
"""A function that makes the layers of a loaded graph when they are first needed. It holds no
reference to the graph, so that Python frees an unused graph at once."""


class Structure:
    """Layers, their connections and their names. This class does not check operations."""

    def __init__(
        self,
        name: str = "",
        *,
        owner: GraphLayer | None = None,
        tag: str = "",
        fill: Fill | None = None,
    ) -> None:
        self._name = checked_name(name) if name else name
        self.owner = owner
        """The layer whose body this graph is; None for the net."""
        self.tag = tag
        """The element of `owner` that contains this body: `body`, `then_body` or `else_body`."""
        self.source: Model | None = None
        """The model from which the graph was loaded."""
        self.rt_info_span: tuple[int, int] | None = None
        """The start and end of the net's rt_info in `source`, or a `Passage` of another text."""
        self.compact = False
        """Whether weights were stripped, so that a saved .bin must contain only the constants that
        the graph needs."""
        self.fill = fill
        """Makes the layers when they are first needed."""
        if owner is None:
            self.bytes = Pieces()
            """The bytes of constants: the bytes of the file, then the added bytes."""
            self.store = Model(Source("<graph>", b""), name, format=FORMAT)
            """A model without layers, from whose weights shape inference reads constants."""
            self.store.weights = Weights(None, self.bytes, "ready")
            self.engine = BodyEngine(self.store)
            self.changes = Changes()
            self.states: dict[GraphLayer, None] = {}
            """The layers of the net and its bodies that read or assign a variable."""
        else:
            outer = owner.graph
            self.bytes, self.store, self.engine = outer.bytes, outer.store, outer.engine
            self.changes, self.states = outer.changes, outer.states

    @property
    def name(self) -> str:
        """The name of the net, which can be assigned."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self.changes.set(self, "_name", checked_name(name))

    @cached_property
    def content(self) -> Content:
        """The layers. The layers of a loaded graph are made when a program first needs them."""
        content = Content()
        fill, self.fill = self.fill, None
        if fill is not None:
            fill(self, content)
        return content

    # the contents of the graph

    @property
    def layers(self) -> tuple[GraphLayer, ...]:
        """The layers, in the order of the file. Added layers come last."""
        return tuple(self.content.layers)

    @property
    def back_edges(self) -> tuple[BackEdge, ...]:
        """The back edges of a body; see `Content.back_edges`."""
        return self.content.back_edges

    @back_edges.setter
    def back_edges(self, edges: tuple[BackEdge, ...]) -> None:
        self.changes.set(self.content, "back_edges", edges)

    @property
    def parameters(self) -> tuple[GraphLayer, ...]:
        """The Parameters, whose outputs are the inputs of the graph."""
        return tuple(layer for layer in self.content.layers if layer.raw.is_parameter)

    @property
    def results(self) -> tuple[GraphLayer, ...]:
        """The Results, which take the outputs of the graph."""
        return tuple(layer for layer in self.content.layers if layer.raw.is_result)

    @property
    def inputs(self) -> tuple[Output, ...]:
        """The input tensors of the graph: the outputs of its Parameters."""
        return tuple(layer.outputs[0] for layer in self.parameters)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The output tensors of the graph: the inputs of its Results."""
        return tuple(layer.inputs[0].source for layer in self.results)

    def __len__(self) -> int:
        return len(self.content.layers)

    def __iter__(self) -> Iterator[GraphLayer]:
        return iter(self.layers)

    def __contains__(self, name: object) -> bool:
        if isinstance(name, GraphLayer):
            return name in self.content.layers
        return name in self.content.by_name or str(name).removeprefix("id:") in self.content.by_id

    def __getitem__(self, name: str) -> GraphLayer:
        """Returns the layer with a name or, if no layer has it, with an id, given as `3` or `id:3`.

        Raises `KeyError` if there is no such layer, or if several layers have the name.
        """
        if not isinstance(name, str):
            raise ArgumentError(
                f"expected the name or the id of a layer as text, got {type(name).__name__}"
            )
        named = self.named(name)
        if named:
            if len(named) > 1:
                ids = ", ".join(f"'{layer.id}'" for layer in named[:8])
                more = ", …" if len(named) > 8 else ""
                raise UnknownNameError(
                    f"{len(named)} layers are called '{name}'; use the id of one: {ids}{more}"
                )
            return named[0]
        id = name.removeprefix("id:")
        if id in self.content.by_id:
            return self.content.by_id[id]
        raise UnknownNameError(
            f"there is no layer '{name}'{suggestion(name, list(self.content.by_name))}"
        )

    def named(self, name: str) -> tuple[GraphLayer, ...]:
        """Returns the layers with a name."""
        return self.content.by_name.get(name, ())

    def tensor(self, name: str | Output | GraphLayer) -> Output:
        """Returns the output that is given by a tensor name, by a layer with one output, or as
        `LAYER:INDEX`. Raises `KeyError`."""
        if not isinstance(name, str):
            return self._output(name)
        if name in self.content.by_tensor:
            return self.content.by_tensor[name]
        if name in self:
            layer = self[name]
            if layer.raw.is_result:
                return layer.inputs[0].source
            if len(layer.outputs) == 1:
                return layer.outputs[0]
            raise UnknownNameError(
                f"'{name}' has {len(layer.outputs)} outputs; name one: '{name}:0'"
            )
        parts = layer_and_index(name)
        if parts is not None and parts[0] in self:
            outputs = self[parts[0]].outputs
            if parts[1] < len(outputs):
                return outputs[parts[1]]
        known = [*self.content.by_tensor, *self.content.by_name]
        ends = ([each.name for each in given] for given in (self.inputs, self.outputs))
        hint = suggestion(name, known) or known_ends(*ends)
        raise UnknownNameError(f"there is no tensor '{name}'{hint}")

    def results_of(self, name: str | Output | GraphLayer) -> list[GraphLayer]:
        """Returns the Results that a name stands for: the Result with this name, or all Results of
        a tensor.

        Raises `KeyError`, and `GraphError` for a tensor that is not an output of the graph.
        """
        if isinstance(name, GraphLayer) and name.raw.is_result:
            return [name]
        content = self.content
        if isinstance(name, str) and name not in content.by_tensor and name in self:
            layer = self[name]
            if layer.raw.is_result:
                return [layer]
        output = self.tensor(name)
        results = output._results
        if not results:
            raise GraphError(f"{output!r} is not an output of the graph")
        return [each for each in results if name in each.output_names] or results

    def claimed_names(self, source: Output, but: GraphLayer | None = None) -> set[str]:
        """Returns the names that the Results of a tensor declare. Ignores the Result `but`."""
        return {
            name
            for end in source._users
            if end.layer.raw.output_names and end.layer is not but
            for name in names_in(end.layer.raw.output_names)
        }

    def port_names(self, output: Output) -> list[str]:
        """Returns the names of a tensor that its output port declares. Only Results declare its
        other names.

        Older releases of OpenVINO read no names from Results. The port therefore also declares the
        names of the first Result. Exception: the port of a Parameter does not.
        """
        claimed = self.claimed_names(output)
        if not claimed:
            return list(output._names)
        raw = output.layer.raw
        own = set(raw.outputs[output.index].tensor_names)
        if not raw.is_parameter:
            own.update(names_in(output._results[0].raw.output_names))
        return [name for name in output._names if name not in claimed or name in own]

    def walk(self) -> Iterator[GraphLayer]:
        """Yields every layer, also in bodies. The layers of a body follow the layer that contains
        it."""
        for layer in self.layers:
            yield layer
            for body in layer.bodies.values():
                yield from body.walk()

    def sorted(self) -> list[GraphLayer]:
        """Returns the layers, producers before their users."""
        return sorted(self.content.layers, key=by_rank)

    @property
    def root(self) -> Structure:
        """The net to which this graph belongs."""
        graph: Structure = self
        while graph.owner is not None:
            graph = graph.owner.graph
        return graph

    @property
    def depth(self) -> int:
        """How deeply this body is nested: 0 for the net, 1 for the body of one of its layers."""
        return 0 if self.owner is None else 1 + self.owner.graph.depth

    def where(self, layer: GraphLayer) -> str:
        """Returns the label of a layer for messages. For a layer in a body, it also names the
        layers that contain the body."""
        if layer not in self.content.layers:
            return layer.type
        place: list[str] = []
        graph: Structure = self
        while graph.owner is not None:
            place.append(f"`{graph.tag}` of {graph.owner.label}")
            graph = graph.owner.graph
        return " in ".join([layer.label, *place])

    @property
    def text_source(self) -> Source:
        """The text of the file from which the graph was loaded."""
        origin = self.root.source
        return self.store.source if origin is None else origin.source

    def __repr__(self) -> str:
        return f"<Graph '{self.name}' of {len(self.content.layers)} layers>"

    def _output(self, given: Output | GraphLayer) -> Output:
        """Returns `given` if it is an output of this graph. Raises `GraphError` if it belongs to
        another graph, and `TypeError` for anything but an output."""
        output = given.output if isinstance(given, GraphLayer) else given
        if not isinstance(output, Output):
            raise ArgumentError(f"expected an output of the graph, got {type(given).__name__}")
        if output.layer.graph is not self or output.layer not in self.content.layers:
            raise GraphError(
                f"{output!r} does not belong to this graph",
                help="merge the graphs, or use an output of this graph",
            )
        return output

    @property
    def _path(self) -> tuple[str, ...]:
        if self.owner is None:
            return ()
        return (*self.owner.raw.path, self.owner.id, self.tag)

    def _new_id(self) -> str:
        content = self.content
        number = content.next_id
        while (id := str(number)) in content.by_id:
            number += 1
        self.changes.set(content, "next_id", number + 1)
        return id

    def _new_name(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self.content.by_name:
            candidate, count = f"{name}_{count}", count + 1
        return candidate

    def _free(self, name: str) -> str:
        """Returns `name` if a new layer can have it. Raises `GraphError` if another layer has it,
        or an IR cannot contain it."""
        if checked_name(name) in self.content.by_name:
            raise GraphError(f"the graph already has a layer '{name}'")
        return name

    # the steps of changes: each can be undone

    def _attach(self, layer: GraphLayer) -> None:
        """Adds a layer whose inputs are already connected."""
        content, changes = self.content, self.changes
        put, number = changes.put, changes.number()
        put(content.layers, layer, number)
        put(content.by_id, layer.raw.id, layer)
        self._enter_name(layer)
        last = -1
        for end in layer._inputs:
            source = end._source
            put(source._users, end, changes.number())
            last = max(last, source.layer.rank)
        for output in layer._outputs:
            for name in output._names:
                put(content.by_tensor, name, output)
        if last >= content.end:
            content.end = last = content.end + POSITION
        layer.rank = last - last % POSITION + number
        if layer.operation.keeps_state:
            put(self.states, layer, None)
        if self.states and layer.raw.is_sink:
            changes.at_end = self._check_variables
        self._stale()

    def _detach(self, layer: GraphLayer) -> None:
        """Removes a layer whose outputs feed nothing."""
        content, changes = self.content, self.changes
        for end in layer._inputs:
            changes.drop(end._source._users, end)
            if layer.raw.output_names:
                self._leave_names(end._source, layer)
        for output in layer._outputs:
            self._forget_names(output)
        changes.drop(content.layers, layer)
        changes.drop(content.by_id, layer.id)
        self._unname(layer)
        if self.states:
            changes.drop(self.states, layer)
            changes.at_end = self._check_variables
        self._stale()

    def _rank_before(self, producer: GraphLayer, user: GraphLayer) -> None:
        """Ranks `user` and its consumers above `producer`. Raises `GraphError` for a cycle."""
        if producer.rank < user.rank:
            return
        position = producer.rank - producer.rank % POSITION
        moved, waiting = {user}, [user]
        while waiting:
            for node in waiting.pop().users:
                if node not in moved and node.rank < position + POSITION:
                    moved.add(node)
                    waiting.append(node)
        if producer in moved:
            raise GraphError(
                f"{self.where(user)}: an input from {producer.label} would close a cycle"
            )
        for node in sorted(moved, key=by_rank):
            self.changes.set(node, "rank", position + self.changes.number())

    def _check_variables(self) -> None:
        raise NotImplementedError

    def _leave_names(
        self, source: Output, result: GraphLayer, moved: bool = False
    ) -> tuple[str, ...]:
        """Removes the names of a Result from the tensor that no longer feeds the Result. Returns
        the removed names. moved: whether another tensor will feed the Result. The old tensor then
        also loses the names of the Result that its port declares."""
        own = names_in(result.raw.output_names)
        kept = set() if moved else {*source.layer.raw.outputs[source.index].tensor_names}
        if source.layer.raw.is_parameter:
            kept.add(source.layer.name)  # the Result shares the name of the input
        kept |= self.claimed_names(source, result)
        if any(name not in kept for name in own):
            left = [name for name in source._names if name in kept or name not in own]
            self._give_names(source, left)
        return tuple(name for name in own if name not in source._names)

    def _forget_names(self, output: Output) -> None:
        by_tensor = self.content.by_tensor
        for name in output._names:
            if by_tensor.get(name) is output:
                self.changes.drop(by_tensor, name)

    def _enter_name(self, layer: GraphLayer) -> None:
        name = layer.raw.name
        self.changes.put(self.content.by_name, name, (*self.named(name), layer))

    def _unname(self, layer: GraphLayer) -> None:
        by_name, name = self.content.by_name, layer.raw.name
        others = tuple(each for each in self.named(name) if each is not layer)
        if others:
            self.changes.put(by_name, name, others)
        else:
            self.changes.drop(by_name, name)

    def _redeclare(self, layer: GraphLayer, raw: Layer, operation: Operation) -> None:
        """Replaces the `raw` declaration of a layer, and its operation."""
        self.changes.set(layer, "raw", raw)
        self.changes.set(layer, "operation", operation)

    def _restate(self, layer: GraphLayer, **values: Any) -> None:
        """Changes fields of a layer that do not affect its operation, such as its name."""
        raw = copy(layer.raw)
        for name, value in values.items():
            setattr(raw, name, value)
        self.changes.set(layer, "raw", raw)

    def _give_name(self, layer: GraphLayer, name: str) -> None:
        self._unname(layer)
        self._restate(layer, name=name)
        self._enter_name(layer)

    def _give_names(self, output: Output, names: Iterable[str]) -> None:
        """Gives names to a tensor. No other tensor may have them."""
        self._forget_names(output)
        self.changes.set(output, "_names", tuple(names))
        for name in output._names:
            self.changes.put(self.content.by_tensor, name, output)

    def _give_output_names(self, result: GraphLayer, names: Iterable[str]) -> None:
        """Sets the names that a Result declares. By default, it has the names of its tensor."""
        text = written_names(names)
        if text != result.raw.output_names:
            self._restate(result, output_names=text)

    def _give_info(self, layer: GraphLayer, text: str) -> None:
        """Sets the text inside the `<rt_info>` of a layer. An empty text removes the element."""
        span = Passage.text(f"<rt_info>{text}</rt_info>") if text else None
        self._restate(layer, rt_info_span=span)

    def _stale(self) -> None:
        """Marks this body as changed, so that irshape builds anew the layers that contain it."""
        owner = self.owner
        while owner is not None:
            self._restate(owner, bodies=None)
            owner = owner.graph.owner

    def _reachable(self, start: Iterable[GraphLayer]) -> set[GraphLayer]:
        """Returns the given layers and all layers on which they depend."""
        reached: set[GraphLayer] = set()
        waiting = list(start)
        while waiting:
            layer = waiting.pop()
            if layer not in reached:
                reached.add(layer)
                waiting += [end._source.layer for end in layer._inputs]
        return reached


def written_names(names: Iterable[str]) -> str | None:
    """Returns tensor names as the value of an attribute in a file; None if there are no names."""
    return ",".join(name.replace(",", "\\,") for name in names) or None
