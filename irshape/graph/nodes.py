"""The parts of a graph: layers, their inputs and outputs, and the connections between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from ..element_types import ElementType
from ..model.graph import Layer
from ..model.names import port_name
from ..model.ports import names_in
from ..model.rt_info import parse
from ..model.source import passage_bytes
from ..model.weights import Constant
from ..ops.declaration import Operation
from ..ops.lazy import Array
from ..ops.tensors import Tensor
from ..shapes import PartialShape
from .changes import Ordered
from .errors import ArgumentError, GraphError, Place


class _Part:
    """A part of a graph. It refuses `copy` and `pickle`, which would copy the whole graph."""

    __slots__ = ()

    def __reduce__(self) -> str:
        raise ArgumentError(f"{self!r} is a part of a graph; copy or pickle the graph")


def _operator(type: str, *, reflected: bool = False, of_boolean: str = "") -> Callable[..., Output]:
    """Returns the method for a Python operator, such as `+`. The method adds a layer to the
    innermost graph of its operands. reflected: whether `self` is the second input. of_boolean: the
    type of the layer if `self` is boolean; by default `type`."""

    def operate(self: Output, *other: Any) -> Output:
        inputs = (*other, self) if reflected else (self, *other)
        logical = of_boolean and self.element_type.name == "boolean"
        layer: GraphLayer = innermost(inputs).add_layer(of_boolean if logical else type, *inputs)
        return layer.output

    return operate


class Output(_Part):
    """An output of a layer: a tensor with its consumers, element type and shape."""

    __slots__ = ("_names", "_users", "index", "layer", "loaded", "loaded_names", "tensor")

    def __init__(self, layer: GraphLayer, index: int, tensor: Tensor) -> None:
        self.layer = layer
        self.index = index
        """The position of this output among the outputs of its layer."""
        self.tensor = tensor
        """The inferred element type and shape, and the value if a shape depends on it."""
        self.loaded: Tensor | None = None
        """The tensor that irshape inferred when it loaded this output; None for an added output."""
        self._names: tuple[str, ...] = ()
        self.loaded_names: tuple[str, ...] | None = None
        """The names of the tensor in the IR from which it was loaded."""
        self._users = Ordered()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tensor."""
        return self._names

    @names.setter
    def names(self, names: str | Iterable[str]) -> None:
        self.layer.graph.rename_tensor(self, names)

    @property
    def element_type(self) -> ElementType:
        """The element type that irshape infers."""
        return self.tensor.element_type

    @property
    def shape(self) -> PartialShape:
        """The shape that irshape infers."""
        return self.tensor.shape

    @property
    def value(self) -> Array | None:
        """The array of a Const; None for outputs of other layers, and if weights are missing."""
        return self.layer.value

    @property
    def users(self) -> tuple[Input, ...]:
        """The inputs that this output feeds, in the order in which they were connected."""
        return tuple(self._users)

    @property
    def _results(self) -> list[GraphLayer]:
        """The Results that this output feeds."""
        return [user.layer for user in self._users if user.layer.raw.is_result]

    def replace_uses(self, new: Output, inputs: Iterable[Input] | None = None) -> None:
        """Connects `new` to every input that this output feeds, or only to the given `inputs`.

        The inputs of the layer of `new` stay connected: a layer can be inserted after this output.
        Raises `GraphError` if the graph refuses the change, and for an input that this output does
        not feed.
        """
        ends = self.users if inputs is None else tuple(inputs)
        for end in ends:
            if end.source is not self:
                raise GraphError(f"{self!r} does not feed {end!r}")
        self.layer.graph.replace_uses(self, new, ends)

    def insert_after(self, type: str, *inputs: Any, **attributes: Any) -> Output:
        """Inserts a layer after this output. This output then feeds the layer, and the layer feeds
        the former consumers of this output.

        inputs, attributes: further inputs, and the attributes, as for `Graph.add`. Raises
        `GraphError`.
        """
        graph, users = self.layer.graph, self.users
        with graph.changes:
            new: Output = graph.add_layer(type, self, *inputs, **attributes).output
            graph.replace_uses(self, new, users)
        return new

    # arithmetic as in NumPy; comparisons are operations (`op.less(x, y)`), and == is identity

    __array_ufunc__ = None  # so that an array on the left leaves an operator to the output
    __iter__ = None  # otherwise Python would index it without end

    __add__ = _operator("Add")
    __radd__ = _operator("Add", reflected=True)
    __sub__ = _operator("Subtract")
    __rsub__ = _operator("Subtract", reflected=True)
    __mul__ = _operator("Multiply")
    __rmul__ = _operator("Multiply", reflected=True)
    __truediv__ = _operator("Divide")
    __rtruediv__ = _operator("Divide", reflected=True)
    __mod__ = _operator("FloorMod")
    __rmod__ = _operator("FloorMod", reflected=True)
    __pow__ = _operator("Power")
    __rpow__ = _operator("Power", reflected=True)
    __matmul__ = _operator("MatMul")
    __rmatmul__ = _operator("MatMul", reflected=True)
    __neg__ = _operator("Negative")
    __abs__ = _operator("Abs")

    __and__ = _operator("BitwiseAnd", of_boolean="LogicalAnd")
    __or__ = _operator("BitwiseOr", of_boolean="LogicalOr")
    __xor__ = _operator("BitwiseXor", of_boolean="LogicalXor")
    __invert__ = _operator("BitwiseNot", of_boolean="LogicalNot")

    def __getitem__(self, index: Any) -> Output:
        """Returns a part of the tensor, as NumPy's basic indexing does; a list selects several
        elements.

        Raises `GraphError`, and `TypeError` for an invalid index.
        """
        part: Output = self.layer.graph.part_of(self, index)
        return part

    def __bool__(self) -> bool:
        raise ArgumentError(
            "an output of a graph has no truth value; use op.if_ to build an If, `is not None` "
            "to test for a missing output"
        )

    @property
    def name(self) -> str:
        """A name by which `Graph.tensor` finds the tensor, unless several layers or tensors have
        this name."""
        return self._names[0] if self._names else port_name(self.layer.raw, self.index)

    def __str__(self) -> str:
        return f"{self.name}: {self.tensor.element_type}{self.shape}"

    def __repr__(self) -> str:
        return f"<output {self.index} of {self.layer.label}: {described(self)}>"


def feeding(layers: Iterable[GraphLayer], inside: Container[GraphLayer]) -> list[Output]:
    """Returns the outputs that feed `layers` from layers outside `inside`, without duplicates."""
    ends = (end for layer in layers for end in layer._inputs)
    return list(dict.fromkeys(end.source for end in ends if end.source.layer not in inside))


def described(output: Output) -> str:
    """Returns the element type and shape of an output as text."""
    return f"{output.tensor.element_type} {output.tensor.shape}"


def innermost(values: Iterable[Any], home: Any = None) -> Any:
    """Returns the innermost graph that contains one of the given outputs or layers, also inside
    lists and markers. Returns None if no output or layer is given."""
    for each in values:
        if isinstance(each, Output):
            graph = each.layer.graph
        elif isinstance(each, (list, tuple)):
            graph = innermost(each)
        elif isinstance(each, GraphLayer):
            graph = each.graph
        else:
            graph = innermost((each.value,)) if isinstance(each, Marker) else None
        if graph is not home and graph is not None and (home is None or graph.depth > home.depth):
            home = graph
    return home


class Marker:
    """An input for a layer with bodies, marked with its use in the body, such as `Sliced`."""

    value: Any


class Input(_Part):
    """An input of a layer, fed by an output."""

    __slots__ = ("_source", "index", "layer", "loaded")

    def __init__(self, layer: GraphLayer, index: int, source: Output) -> None:
        self.layer = layer
        self.index = index
        """The position of this input among the inputs of its layer."""
        self._source = source
        self.loaded: Output | None = None
        """The output that fed this input in the IR from which it was loaded."""

    @property
    def source(self) -> Output:
        """The output that feeds this input. Assign another output to reconnect the input. The
        assignment raises `GraphError` if the layer refuses the output."""
        return self._source

    @source.setter
    def source(self, output: Output) -> None:
        self.layer.graph.connect(self, output)

    def insert_before(self, type: str, *inputs: Any, **attributes: Any) -> Output:
        """Inserts a layer before this input. The source of this input then feeds the layer, and the
        layer feeds this input.

        inputs, attributes: further inputs, and the attributes, as for `Graph.add`. Raises
        `GraphError`.
        """
        graph = self.layer.graph
        with graph.changes:
            new: Output = graph.add_layer(type, self.source, *inputs, **attributes).output
            graph.connect(self, new)
        return new

    @property
    def name(self) -> str:
        """The name of the input in the specification of the operation."""
        operand = self.layer.operation.operand_at(self.index)
        return str(self.index) if operand is None else operand.name

    def __repr__(self) -> str:
        return f"<input {self.index} of {self.layer.label}, fed by {self._source!r}>"


POSITION = 1 << 40
"""The distance between the ranks (see `GraphLayer.rank`) of neighbouring layers of a file. A layer
that is inserted between two layers gets a rank in between."""

_NO_BODIES: Mapping[str, Any] = MappingProxyType({})


class GraphLayer(_Part):
    """A layer of a graph."""

    __slots__ = (
        "__weakref__",
        "_inputs",
        "_line",
        "_outputs",
        "_path",
        "bodies",
        "graph",
        "operation",
        "origin",
        "rank",
        "raw",
        "valued",
    )

    def __init__(self, graph: Any, raw: Layer, operation: Operation) -> None:
        self.graph = graph
        """The `Graph` that contains this layer: the net, or a body of another layer."""
        self.raw = raw
        """The layer as an IR declares it. Until the layer changes, this is the object of the loaded
        model."""
        self.origin: Layer | None = None
        """The layer of the file from which this layer was loaded."""
        self._path, self._line = "", 0
        self.rank = 0
        """A number that is higher than the ranks of all producers, so that ranks give a topological
        order. Inserting a layer between two layers of a file does not change their ranks."""
        self.operation = operation
        self.bodies: Mapping[str, Any] = _NO_BODIES
        """The graphs inside an If, Loop or TensorIterator, by tag: `body`, or `then_body` and
        `else_body`."""
        self.valued = False
        """Whether shape inference computes the values of the outputs, because a shape uses them."""
        self._inputs: tuple[Input, ...] = ()
        self._outputs: tuple[Output, ...] = ()

    @property
    def id(self) -> str:
        """The id of the layer, which is unique in its body."""
        return self.raw.id

    @property
    def type(self) -> str:
        """The type of the operation, such as `ReduceMean`."""
        return self.raw.type

    @property
    def version(self) -> str:
        """The opset, for example `opset1`."""
        return self.raw.version

    @property
    def name(self) -> str:
        """The name, which can be assigned. Raises `GraphError` if another layer has the new
        name."""
        return self.raw.name

    @name.setter
    def name(self, name: str) -> None:
        self.graph.rename_layer(self, name)

    @property
    def label(self) -> str:
        """The type, name and id of the layer, as messages print them."""
        return self.raw.label

    @property
    def place(self) -> Place | None:
        """The line of the program that added the layer; None for a layer of a file."""
        return Place(self._path, self._line) if self._path else None

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs, in the order in which the operation defines them."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs, in the order in which the operation defines them."""
        return self._outputs

    @property
    def output(self) -> Output:
        """The only output. Raises `ValueError` for a layer with no or several outputs."""
        if len(self._outputs) != 1:
            raise GraphError(
                f"{self.label} has {len(self._outputs)} outputs; choose one: .outputs[0]"
            )
        return self._outputs[0]

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes by their Python names, read-only; `set` changes them.

        For an operation that is known only by name, the attributes are texts as in the file.
        """
        if self.operation.opaque:
            return self.raw.attributes
        return MappingProxyType(
            {name: getattr(self.operation, name) for name in type(self.operation).attributes}
        )

    def set(self, **attributes: Any) -> None:
        """Changes attributes, by their Python names. Raises `GraphError`."""
        self.graph.set_attributes(self, attributes)

    @property
    def value(self) -> Array | None:
        """The array of a Const; None for other layers, and if weights are missing."""
        if not self.raw.is_constant:
            return None
        try:
            return Constant.of(self.raw.items, self.graph.store.weights).array()
        except ValueError:
            return None

    @property
    def rt_info(self) -> dict[str, object]:
        """The rt_info of the layer as nested dictionaries, whose innermost values are texts."""
        return parse(self.graph.text_source, self.raw.rt_info_span)

    @property
    def rt_info_text(self) -> str:
        """The text inside the `<rt_info>` element."""
        if self.raw.rt_info_span is None:
            return ""
        span = passage_bytes(self.graph.text_source, self.raw.rt_info_span)
        text = span.decode("utf-8", "replace")
        return text[text.index(">") + 1 : max(text.rfind("</"), 0)].strip()

    def remove(self, bypass: int | None = None) -> None:
        """Removes the layer from the graph. Raises `GraphError` if an output still feeds another
        layer.

        bypass: for a layer with one output, the index of an input. The source of this input then
        feeds the consumers of the output.
        """
        self.graph.remove(self, bypass)

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of this output of the graph; empty if the layer is no Result. Can be assigned.

        A Result that declares no names has the names of its tensor.
        """
        if not self.raw.is_result:
            return ()
        source = self._inputs[0]._source
        own = names_in(self.raw.output_names) or self.graph.port_names(source) or source._names
        return tuple(own)

    @output_names.setter
    def output_names(self, names: str | Iterable[str]) -> None:
        self.graph.rename_output(self, names)

    @property
    def producers(self) -> tuple[GraphLayer, ...]:
        """The layers that feed this layer, without duplicates."""
        return tuple(dict.fromkeys([each._source.layer for each in self._inputs]))

    @property
    def users(self) -> tuple[GraphLayer, ...]:
        """The layers that this layer feeds, without duplicates."""
        users = [user.layer for output in self._outputs for user in output._users]
        return tuple(dict.fromkeys(users))

    @property
    def is_taken(self) -> bool:
        """Whether any layer uses an output of this layer."""
        return any(output._users for output in self._outputs)

    @property
    def is_used(self) -> bool:
        """Whether OpenVINO reads the layer: whether a Result or an Assign depends on it. In a body,
        a Result or an Assign must also depend on the layer that contains the body."""
        waiting, seen = deque([self]), {self}
        while waiting:  # the nearest first: the Assign of a state is near its ReadValue
            layer = waiting.popleft()
            if layer.raw.is_sink:
                owner: GraphLayer | None = layer.graph.owner
                return owner is None or owner.is_used
            new = [user for user in layer.users if user not in seen]
            seen.update(new)
            waiting += new
        return False

    def __repr__(self) -> str:
        return f"<{self.label}>"


by_rank = attrgetter("rank")
"""The key that sorts layers: producers before their users."""
