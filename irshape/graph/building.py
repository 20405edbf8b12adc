"""Adds layers to a graph. irshape checks and infers each layer when it is added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sys import intern
from typing import Any

from ..element_types import ElementType
from ..formats.builder import written
from ..model.graph import Layer
from ..model.ports import names_in
from ..ops import registry
from ..ops.declaration import Operation
from ..ops.infrastructure import Const
from ..ops.kinds import ShapeText, TypeName
from ..shapes import ShapeLike
from ..spelling import suggestion
from .constants import array_bytes, as_array, fitting_type, kind_of
from .control_flow import built
from .errors import GraphError, calling_line, checked_name, is_plain_text
from .indexing import indexed
from .inferring import Inferring, operation_of
from .nodes import GraphLayer, Input, Output
from .port_maps import captured, new_ports
from .types import element_type_of, shape_of


class Building(Inferring):
    """The methods of `Graph` that add layers."""

    # building

    def add(
        self,
        type: str,
        *inputs: Any,
        opset: str | int | None = None,
        name: str | None = None,
        **attributes: Any,
    ) -> Any:
        """Adds a layer. Returns its output, or a tuple if the layer has several outputs or none.

        type: the type of the operation, such as `ReduceMean`.
        inputs: outputs of this graph, layers with one output, or arrays, numbers and strings.
        Arrays, numbers and strings become constants of the element type that the input takes.
        opset: the opset of the operation, such as 13 or `opset13`; by default the newest version
        that fits.
        attributes: the values, by the Python names that `irshape ops TYPE` prints.
        Raises `GraphError` for anything that the operation does not allow.
        """
        outputs = self.add_layer(type, *inputs, opset=opset, name=name, **attributes)._outputs
        return outputs[0] if len(outputs) == 1 else outputs

    def add_layer(
        self,
        type: str,
        *inputs: Any,
        opset: str | int | None = None,
        name: str | None = None,
        **attributes: Any,
    ) -> GraphLayer:
        """Adds a layer as `add` does, but returns the layer."""
        refused: GraphError | None = None
        operations = _versions(type, opset)
        if operations[0].bodies:
            layer = built(self, operations[0], inputs, name, attributes)
            layer._path, layer._line = calling_line(2)
            return layer
        for operation in operations:
            try:
                with self.changes:
                    items = items_of(operation, attributes) if attributes else defaults(operation)
                    return self._add(operation, items, inputs, name)
            except GraphError as error:
                refused = refused or error
        assert refused is not None
        for each in inputs:
            if isinstance(each, str) and (each in self.content.by_tensor or self.named(each)):
                refused.add_note(
                    f"'{each}' is a text, not a tensor; graph.tensor('{each}') returns the tensor"
                )
        raise refused

    def _add(
        self,
        operation: type[Operation],
        items: tuple[str, ...],
        inputs: tuple[Any, ...],
        name: str | None,
    ) -> GraphLayer:
        kind = operation.type_name()
        raw = Layer("", "", kind, intern(operation.version_name()), -1, self._path)
        raw.items = items
        layer = GraphLayer(self, raw, operation_of(operation, items, kind))
        sources = self._sources(operation, inputs)
        layer._inputs = tuple([Input(layer, at, source) for at, source in enumerate(sources)])
        tensors = self._inferred(layer)
        raw.id = self._new_id()
        raw.name = self._new_name(f"{kind}_{raw.id}") if name is None else self._free(name)
        if kind == "Result":
            tensors = ()
        raw.inputs = new_ports(0, len(sources))
        raw.outputs = new_ports(len(sources), len(tensors))
        layer._outputs = tuple([Output(layer, at, tensor) for at, tensor in enumerate(tensors)])
        layer._path, layer._line = calling_line(3)
        self._attach(layer)
        return layer

    def parameter(self, element_type: Any, shape: ShapeLike, *, name: str | None = None) -> Output:
        """Adds an input to the graph.

        element_type: for example `f32`, `float32`, `np.float32`, an `np.dtype` or an `ov.Type`.
        shape: None, "?" and -1 stand for dynamic dimensions.
        name: the name of the layer and of its tensor.
        Raises `GraphError`.
        """
        with self.changes:
            output = self.add_layer(
                "Parameter",
                element_type=element_type,
                shape=shape_of(shape),
                name=name,
            ).outputs[0]
            if name is not None:
                self._name_tensor(output, (name,))
        return output

    def constant(
        self,
        value: Any,
        element_type: Any = None,
        *,
        name: str | None = None,
    ) -> Output:
        """Adds a constant. Returns its output. The value is an array, numbers, or strings.

        element_type: by default the type of the array; f32 for Python floats, i64 for integers.
        Raises `GraphError` for a value that does not fit its element type.
        """
        kind = None if element_type is None else element_type_of(element_type)
        array, kind = as_array(value, kind)
        data = array_bytes(array, kind)
        with self.changes:
            return self._stored(kind, array.shape, (data,), len(data), name)

    def _stored(
        self,
        kind: ElementType,
        sizes: tuple[int, ...],
        parts: Iterable[bytes],
        size: int,
        name: str | None = None,
    ) -> Output:
        """Adds a constant of `size` bytes from the iterator `parts`. Returns its output."""
        self.changes.keep(self.bytes, "mark")
        place = ("offset", str(self.bytes.add_parts(parts, size)), "size", str(size))
        items = ("element_type", kind.name, "shape", ", ".join(map(str, sizes)), *place)
        return self._add(Const, items, (), name)._outputs[0]

    def result(self, output: Output | GraphLayer, name: str | None = None) -> GraphLayer:
        """Adds an output to the graph. Returns its Result.

        name: the name of the Result, and a further name of the tensor. If the tensor has other
        Results, the IR stores this tensor name only at the new Result.
        """
        source = self._output(output)
        with self.changes:
            first = not source._results
            # for an input, OpenVINO's compiled models keep only the names of the Result
            shared = source._names if source.layer.raw.is_parameter else ()
            taken = name is None or checked_name(name) in self.content.by_name
            result = self.add_layer("Result", source, name=None if taken else name)
            if name is not None and name not in source._names:
                self._name_tensor(source, (*source._names, name))
                if shared or not first:
                    self._give_output_names(result, (name, *shared))
            return result

    def rename_output(self, result: GraphLayer, names: str | Iterable[str]) -> None:
        """Renames an output of the graph; see `GraphLayer.output_names`. Raises `GraphError`."""
        if not result.raw.is_result:
            raise GraphError(f"{result.label} is not a Result")
        wanted = (names,) if isinstance(names, str) else tuple(names)
        source = result._inputs[0]._source
        with self.changes:
            lost = {*names_in(result.raw.output_names)} - self.claimed_names(source, result)
            kept = [name for name in source._names if name not in lost or name in wanted]
            self._name_tensor(source, (*kept, *wanted))
            self._give_output_names(result, wanted)

    def _name_tensor(self, output: Output, names: Iterable[str]) -> None:
        """Sets the names of a tensor. Raises `GraphError` if another tensor has one of them."""
        wanted = tuple(dict.fromkeys((names,) if isinstance(names, str) else names))
        for name in wanted:
            if name in output._names:
                continue
            holder = self.content.by_tensor.get(checked_name(name), output)
            if holder is not output:
                raise GraphError(f"{holder.layer.label} already has a tensor '{name}'")
        self._give_names(output, wanted)
        for end in output._users:
            own = names_in(end.layer.raw.output_names)
            if not set(own) <= set(wanted):
                self._give_output_names(end.layer, [name for name in own if name in wanted])

    def _output(self, given: Output | GraphLayer) -> Output:
        """Returns an output, or the only output of a layer, as an output of this graph.

        In a body, the value may come from a graph around the body: the layer that contains the body
        then gets a further input. Raises `GraphError`, `TypeError`.
        """
        if type(given) is Output and given.layer in self.content.layers:
            return given
        output = given.output if isinstance(given, GraphLayer) else given
        if isinstance(output, Output) and output.layer.graph is not self:
            around = self.owner
            while around is not None:
                if around.graph is output.layer.graph and output.layer in around.graph:
                    return captured(self, output)
                around = around.graph.owner
        return super()._output(output)

    def _sources(self, operation: type[Operation], inputs: tuple[Any, ...]) -> list[Output]:
        """Returns the outputs to which the inputs of a new layer are connected. Arrays and numbers
        become constants."""
        given = list(inputs)
        while given and given[-1] is None:
            given.pop()
        known = [
            self._output(each) if isinstance(each, (Output, GraphLayer)) else None for each in given
        ]
        for at, value in enumerate(given) if None in known else ():
            if known[at] is not None:
                continue
            operand = operation.operand_at(at)
            if value is None:
                name = operand.name if operand is not None else str(at)
                kind = operation.type_name()
                raise GraphError(f"{kind}: `{name}` is missing, but later inputs are given")
            element_type = None
            if operand is not None:
                peers = [
                    source.element_type
                    for other, source in zip(operation.operands, known, strict=False)
                    if source is not None
                    and (operand.like in (other.name, other.like) or other.like == operand.name)
                    and (operand.like is not None or other.like is not None)
                ]
                # a float is no integer, even if it is whole: OpenVINO would divide integers
                whole = not peers or (not peers[0].is_real and kind_of(value) in "fV")
                element_type = fitting_type(value, operand.allowed) if whole else peers[0]
            # OpenVINO's fusions expect a list of axes, as its converters write them
            one_axis = type(value) is int and operand is not None and operand.name == "axes"
            known[at] = self.as_output([value] if one_axis else value, element_type)
        return [source for source in known if source is not None]

    def as_output(self, value: Any, element_type: ElementType | None = None) -> Output:
        """Returns a value as an output of this graph.

        An array or number becomes a constant of the given element type. A list that contains
        outputs becomes one tensor of rank 1, for example a shape.
        """
        if isinstance(value, (Output, GraphLayer)):
            return self._output(value)
        if isinstance(value, (list, tuple)) and any(
            isinstance(each, (Output, GraphLayer)) for each in value
        ):
            return self._joined(list(value), element_type)
        return self.constant(value, element_type)

    def part_of(self, output: Output, index: Any) -> Output:
        """Implements `Output.__getitem__`."""
        with self.changes:
            return indexed(output, index)

    def _joined(self, values: list[Any], element_type: ElementType | None) -> Output:
        """Returns a tensor of rank 1 whose elements are the given scalars."""
        outputs = [
            self._output(each) if isinstance(each, (Output, GraphLayer)) else None
            for each in values
        ]
        known = next(output for output in outputs if output is not None)
        kind = element_type or known.element_type
        parts = [
            self.constant([value], kind) if output is None else self._element(output, kind)
            for value, output in zip(values, outputs, strict=True)
        ]
        return self.add_layer("Concat", *parts, axis=0).output

    def _element(self, output: Output, kind: ElementType) -> Output:
        """Reshapes a scalar to a tensor of rank 1 with one element."""
        if output.element_type is not kind:
            output = self.add("Convert", output, destination_type=kind)
        if output.shape.rank != 1:
            output = self.add("Reshape", output, [1], special_zero=False)
        return output


def _versions(type: str, opset: str | int | None) -> Sequence[type[Operation]]:
    """Returns an operation's versions in the order in which `add` tries them. Raises
    `GraphError`."""
    known = registry.versions(type)
    if opset is not None or not known:
        operation = version_of(type, 1 if opset is None else opset)
        if operation.opaque:
            raise _known_by_name(type, "the types and shapes of its outputs")
        return [operation]
    return known[::-1]


def version_of(type: str, opset: str | int) -> type[Operation]:
    """Returns the operation of this type in an opset, such as 13 or `opset13`. Raises
    `GraphError`."""
    try:
        return registry.find(type, f"opset{opset}" if isinstance(opset, int) else opset)
    except registry.UnknownOperation as unknown:
        close = f"; did you mean {unknown.close}?" if unknown.close else ""
        raise GraphError(f"{unknown}{close}") from None


def _known_by_name(type: str, unknown: str) -> GraphError:
    return GraphError(
        f"{type} is known only by name; {unknown} are unknown",
        help="declare it by a class: irshape.register(MyOperation), or --plugin FILE.py",
    )


def unknown_attribute(operation: type[Operation], name: str) -> GraphError:
    kind, version = operation.type_name(), operation.version_name()
    if operation.opaque:
        return _known_by_name(kind, "its attributes")
    known = list(operation.attributes)
    close = suggestion(name, known) or (f" (it has {', '.join(known)})" if known else "")
    return GraphError(f"{kind} of {version} has no attribute '{name}'{close}")


def defaults(operation: type[Operation]) -> tuple[str, ...]:
    """Returns the defaults of an operation's attributes as texts. Keeps them for later calls."""
    known = _DEFAULTS.get(operation)
    if known is None:
        known = _DEFAULTS[operation] = items_of(operation, {})
    return known


_DEFAULTS: dict[type[Operation], tuple[str, ...]] = {}


def items_of(operation: type[Operation], attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns attributes as texts for `<data>`: name, value, next name … in the operation's order.

    Raises `GraphError` for an unknown or missing attribute, and for an unwritable value.
    """
    kind, names = operation.type_name(), operation.signature.python_names
    named: dict[str, Any] = {}
    for name, value in attributes.items():
        if name in names:
            named[names[name]] = value
        elif value is not None:
            raise unknown_attribute(operation, name)
    items: list[str] = []
    for name, declared in operation.attributes.items():
        value = named.get(name)
        if value is None:
            if declared.refused_when_absent and name not in named:
                raise GraphError(
                    f"{kind}: the attribute `{name}` is missing",
                    help=f"give {name}=…: {declared.kind.describe()}",
                )
            if declared.default is None or name in named:
                continue
            value = declared.default
        try:
            if isinstance(declared.kind, TypeName):
                value = element_type_of(value)
            elif isinstance(declared.kind, ShapeText):
                value = shape_of(value)
            text = written(declared, value)
            if not is_plain_text(text):
                raise ValueError(text)
            items += (declared.name, text)
        except (TypeError, ValueError, AttributeError):  # a GraphError too
            raise GraphError(
                f"{kind}: the attribute `{name}` cannot be {value!r}",
                help=f"it takes {declared.kind.describe()}",
            ) from None
    return tuple(items)
