"""What a graph consists of, how its parts are found, and the steps of which all changes consist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..formats.ir import FORMAT
from ..inference.body_engine import BodyEngine
from ..model.graph import BackEdge, Layer, Model
from ..model.ids import is_number
from ..model.pieces import Pieces
from ..model.source import Passage, Source, passage_bytes
from ..model.weights import Constant, Weights
from ..ops.tensors import Tensor
from ..spelling import suggestion
from .changes import Changes
from .errors import GraphError
from .nodes import GraphLayer, Input, Output
from .order import Order

if TYPE_CHECKING:
    import numpy as np

    from ..ops.declaration import Operation


CONTENT = (
    "back_edges",
    "_layers",
    "_by_id",
    "_by_name",
    "_by_tensor",
    "_next_id",
    "_serial",
    "_order",
)
"""What a graph consists of; of one that was loaded, made when it is first needed."""


class Structure:
    """Layers, who feeds whom, and their names. Nothing here is checked by an operation."""

    def __init__(self, name: str = "", *, owner: GraphLayer | None = None, tag: str = "") -> None:
        self.name = name
        self.owner = owner
        """The layer whose body this graph is; None for the net."""
        self.tag = tag
        """The element of `owner` that holds this body: `body`, `then_body` or `else_body`."""
        self.source: Model | None = None
        """The model that it was loaded from."""
        self.rt_info_span: tuple[int, int] | None = None
        """Where the rt_info of the net stands; a `Passage` if not in the file of `source`."""
        self.compact = False
        """Whether a saved .bin must hold nothing but what is needed: weights were stripped."""
        self._empty()
        if owner is None:
            self.bytes = Pieces()
            """The bytes of constants: those of the file, then those that were added."""
            self.store = Model(Source("<graph>", b""), name, format=FORMAT)
            """A model without layers that has the weights, for inference."""
            self.store.weights = Weights(None, self.bytes, "ready")
            self.engine = BodyEngine(self.store)
            self.changes: Changes[Structure, GraphLayer] = Changes()
        else:
            outer = owner.graph
            self.bytes, self.store, self.engine = outer.bytes, outer.store, outer.engine
            self.changes = outer.changes

    def _empty(self) -> None:
        """Gives it what it consists of: no layers."""
        self.back_edges: tuple[BackEdge, ...] = ()
        """Of the body of a Loop or TensorIterator: from a Result to the Parameter of the next
        iteration, by id."""
        self._layers: dict[GraphLayer, None] = {}
        self._by_id: dict[str, GraphLayer] = {}
        self._by_name: dict[str, list[GraphLayer]] = {}
        self._by_tensor: dict[str, Output] = {}
        self._next_id = 0
        self._serial = 0
        self._order: Order[GraphLayer] = Order(attrgetter("producers"), attrgetter("users"))

    def _fill_later(self, fill: Callable[[Any], None]) -> None:
        """Lets the layers be made when something first asks for any of them.

        fill: is given the graph. It must not hold it: until the graph has layers it is in no
        cycle, and goes as soon as it is dropped.
        """
        for name in CONTENT:
            del self.__dict__[name]
        self.__dict__["_fill"] = fill

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            fill = self.__dict__.pop("_fill", None) if name in CONTENT else None
            if fill is None:
                raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'")
            self._empty()
            fill(self)
            return self.__dict__[name]

    # what is in it

    @property
    def layers(self) -> tuple[GraphLayer, ...]:
        """The layers, in the order of the file; added ones come last."""
        return tuple(self._layers)

    @property
    def parameters(self) -> tuple[GraphLayer, ...]:
        """The Parameters, whose outputs are the inputs of the graph."""
        return tuple(layer for layer in self._layers if layer.raw.is_parameter)

    @property
    def results(self) -> tuple[GraphLayer, ...]:
        """The Results, which take the outputs of the graph."""
        return tuple(layer for layer in self._layers if layer.raw.is_result)

    @property
    def inputs(self) -> tuple[Output, ...]:
        """The tensors that the graph takes: the outputs of its Parameters."""
        return tuple(layer.outputs[0] for layer in self.parameters)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The tensors that the graph gives: what feeds its Results."""
        return tuple(layer.inputs[0].source for layer in self.results)

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[GraphLayer]:
        return iter(self.layers)

    def __contains__(self, name: object) -> bool:
        if isinstance(name, GraphLayer):
            return name in self._layers
        return name in self._by_name or name in self._by_id

    def __getitem__(self, name: str) -> GraphLayer:
        """A layer by its name, or else its id. Raises `KeyError`, also for a name of several."""
        if not isinstance(name, str):
            raise TypeError(
                f"expected the name or the id of a layer as text, got {type(name).__name__}"
            )
        named = self._by_name.get(name)
        if named:
            if len(named) > 1:
                ids = ", ".join(f"'{layer.id}'" for layer in named[:8])
                more = ", …" if len(named) > 8 else ""
                raise KeyError(
                    f"{len(named)} layers are called '{name}'; use the id of one: {ids}{more}"
                )
            return named[0]
        if name in self._by_id:
            return self._by_id[name]
        raise KeyError(f"there is no layer '{name}'{suggestion(name, list(self._by_name))}")

    def tensor(self, name: str | Output | GraphLayer) -> Output:
        """An output by tensor name, by layer (its only output), or by `LAYER:INDEX`.

        Raises `KeyError`.
        """
        if not isinstance(name, str):
            return self._output(name)
        if name in self._by_tensor:
            return self._by_tensor[name]
        if name in self:
            layer = self[name]
            if layer.raw.is_result:
                return layer.inputs[0].source
            if len(layer.outputs) == 1:
                return layer.outputs[0]
            raise KeyError(f"'{name}' has {len(layer.outputs)} outputs; name one: '{name}:0'")
        layer_name, colon, index = name.rpartition(":")
        if colon and layer_name in self and is_number(index):
            outputs = self[layer_name].outputs
            if int(index) < len(outputs):
                return outputs[int(index)]
        known = [*self._by_tensor, *self._by_name]
        raise KeyError(f"there is no tensor '{name}'{suggestion(name, known)}")

    def walk(self) -> Iterator[GraphLayer]:
        """Every layer, those of bodies behind the layer that holds them."""
        for layer in self.layers:
            yield layer
            for body in layer.bodies.values():
                yield from body.walk()

    def sorted(self) -> list[GraphLayer]:
        """The layers, producers before their users."""
        return sorted(self._layers, key=self._order.rank)

    @property
    def root(self) -> Structure:
        """The net that this graph is part of."""
        graph: Structure = self
        while graph.owner is not None:
            graph = graph.owner.graph
        return graph

    @property
    def depth(self) -> int:
        """How many layers it is inside of: 0 for the net."""
        return 0 if self.owner is None else 1 + self.owner.graph.depth

    def where(self, layer: GraphLayer) -> str:
        """The words for a layer in messages; of one in a body, with the way there."""
        if layer not in self._layers:
            return layer.type
        place: list[str] = []
        graph: Structure = self
        while graph.owner is not None:
            place.append(f"`{graph.tag}` of {graph.owner.label}")
            graph = graph.owner.graph
        return " in ".join([layer.label, *place])

    def value_of(self, layer: GraphLayer) -> np.ndarray[Any, Any] | None:
        """See `GraphLayer.value`."""
        if not layer.raw.is_constant:
            return None
        try:
            return Constant.of(layer.raw.items, self.store.weights).array()
        except ValueError:
            return None

    def rt_info_of(self, layer: GraphLayer) -> dict[str, object]:
        """See `GraphLayer.rt_info`."""
        from ..model.rt_info import parse

        return parse(self._text_source, layer.raw.rt_info_span)

    def rt_info_text_of(self, layer: GraphLayer) -> str:
        """See `GraphLayer.rt_info_text`."""
        span = layer.raw.rt_info_span
        if span is None:
            return ""
        text = passage_bytes(self._text_source, span).decode("utf-8", "replace")
        return text[text.index(">") + 1 : max(text.rfind("</"), 0)].strip()

    @property
    def _text_source(self) -> Source:
        """The text that spans of layers refer to."""
        origin = self.root.source
        return self.store.source if origin is None else origin.source

    def __repr__(self) -> str:
        return f"<Graph '{self.name}' of {len(self._layers)} layers>"

    def _output(self, given: Output | GraphLayer) -> Output:
        """An output of this graph. Raises `GraphError`, and `TypeError` for what is none."""
        output = given.output if isinstance(given, GraphLayer) else given
        if not isinstance(output, Output):
            raise TypeError(f"expected an output of the graph, got {type(given).__name__}")
        if output.layer.graph is not self or output.layer not in self._layers:
            raise GraphError(
                f"{output!r} is not of this graph",
                help="extract what is needed, or merge the graphs",
            )
        return output

    @property
    def _path(self) -> tuple[str, ...]:
        if self.owner is None:
            return ()
        return (*self.owner.raw.path, self.owner.id, self.tag)

    def _new_id(self) -> str:
        while str(self._next_id) in self._by_id:
            self._next_id += 1
        self._next_id += 1
        return str(self._next_id - 1)

    def _new_name(self, name: str) -> str:
        candidate, count = name, 1
        while candidate in self._by_name:
            candidate, count = f"{name}_{count}", count + 1
        return candidate

    # the steps of changes: each can be undone

    def _attach(self, layer: GraphLayer) -> None:
        """Adds a layer whose inputs are connected."""
        next_id = self._next_id
        self._serial += 1
        layer.serial = self._serial
        self._put(layer)
        self._order.add(layer)

        def undo() -> None:
            self._drop(layer)
            self._next_id = next_id

        self.changes.note(undo)

    def _detach(self, layer: GraphLayer) -> None:
        """Removes a layer whose outputs nothing takes."""
        before = {end.source: dict(end.source._users) for end in layer._inputs}
        named = list(self._by_name[layer.name])
        rank = self._order.rank(layer)
        self._drop(layer)
        self._stale()

        def undo() -> None:
            self._put(layer)
            self._layers = dict.fromkeys(sorted(self._layers, key=lambda each: each.serial))
            self._by_name[layer.name] = named
            for source, users in before.items():
                source._users = users
            self._order.restore({layer: rank})

        self.changes.note(undo)

    def _put(self, layer: GraphLayer) -> None:
        self._layers[layer] = None
        self._by_id[layer.id] = layer
        self._by_name.setdefault(layer.name, []).append(layer)
        for end in layer._inputs:
            end.source._users[end] = None
        for output in layer._outputs:
            self._by_tensor.update(dict.fromkeys(output._names, output))

    def _drop(self, layer: GraphLayer) -> None:
        for end in layer._inputs:
            end.source._users.pop(end, None)
        for output in layer._outputs:
            self._forget_names(output)
        del self._layers[layer]
        del self._by_id[layer.id]
        self._unname(layer)
        self._order.remove(layer)

    def _forget_names(self, output: Output) -> None:
        for name in output._names:
            if self._by_tensor.get(name) is output:
                del self._by_tensor[name]

    def _unname(self, layer: GraphLayer) -> None:
        named = self._by_name[layer.name]
        named.remove(layer)
        if not named:
            del self._by_name[layer.name]

    def _feed(self, input: Input, source: Output) -> None:
        """Connects an input to another output."""
        old = input.source
        users, new_users = dict(old._users), dict(source._users)
        old._users.pop(input)
        input._source = source
        source._users[input] = None

        def undo() -> None:
            source._users = new_users
            input._source = old
            old._users = users

        self.changes.note(undo)

    def _know(self, output: Output, tensor: Tensor) -> None:
        """Notes what is inferred of an output."""
        old = output.tensor
        output.tensor = tensor
        self.changes.note(lambda: setattr(output, "tensor", old))

    def _mark_valued(self, layer: GraphLayer, valued: bool) -> None:
        if layer.valued is not valued:
            layer.valued = valued
            self.changes.note(lambda: setattr(layer, "valued", not valued))

    def _redeclare(self, layer: GraphLayer, raw: Layer, operation: Operation) -> None:
        """Replaces what a layer says; its id and name stay."""
        old = layer.raw, layer.operation
        layer.raw, layer.operation = raw, operation

        def undo() -> None:
            layer.raw, layer.operation = old

        self.changes.note(undo)

    def _give_name(self, layer: GraphLayer, name: str) -> None:
        old, named = layer.raw, list(self._by_name[layer.name])
        self._unname(layer)
        layer.raw = copy(layer.raw)
        layer.raw.name = name
        self._by_name.setdefault(name, []).append(layer)

        def undo() -> None:
            self._unname(layer)
            layer.raw = old
            self._by_name[old.name] = named

        self.changes.note(undo)

    def _give_names(self, output: Output, names: Sequence[str]) -> None:
        """Gives a tensor names that no other has."""
        old = output._names
        held = [name for name in old if self._by_tensor.get(name) is output]
        self._forget_names(output)
        output._names = tuple(names)
        self._by_tensor.update(dict.fromkeys(names, output))

        def undo() -> None:
            self._forget_names(output)
            output._names = old
            self._by_tensor.update(dict.fromkeys(held, output))

        self.changes.note(undo)

    def _set(self, item: Any, name: str, value: Any) -> None:
        """Sets an attribute of a part of the graph."""
        old = getattr(item, name)
        setattr(item, name, value)
        self.changes.note(lambda: setattr(item, name, old))

    def _give_info(self, layer: GraphLayer, text: str) -> None:
        """Gives a layer what stands inside its `<rt_info>`; nothing without a text."""
        raw = copy(layer.raw)
        raw.rt_info_span = Passage.text(f"<rt_info>{text}</rt_info>") if text else None
        self._redeclare(layer, raw, layer.operation)

    def _stale(self) -> None:
        """Notes that this body changed, so that the layers around it are written again."""
        owner = self.owner
        while owner is not None:
            raw = copy(owner.raw)
            raw.bodies = None
            self._redeclare(owner, raw, owner.operation)
            owner = owner.graph.owner

    def _reachable(self, start: Iterable[GraphLayer]) -> set[GraphLayer]:
        """Layers, and all that they depend on."""
        reached: set[GraphLayer] = set()
        waiting = list(start)
        while waiting:
            layer = waiting.pop()
            if layer not in reached:
                reached.add(layer)
                waiting += layer.producers
        return reached
