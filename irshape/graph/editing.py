"""Changes connections, attributes, names and shapes, and removes layers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from fnmatch import fnmatchcase
from typing import Any

from ..model.ports import names_in
from ..model.weights import Constant
from ..shapes import Dimension, PartialShape, ShapeLike
from ..spelling import counted
from .building import Building, items_of, unknown_attribute
from .errors import ArgumentError, GraphError, checked_name
from .nodes import GraphLayer, Input, Output, by_rank
from .types import shape_of

Dim = int | str | Dimension

Selection = str | Collection[str] | Callable[[GraphLayer], bool]
"""Selects layers by glob patterns of their names or types, or by a function that returns a bool."""

_AT_ONCE = 1 << 24
"""The number of bytes of a constant that are hashed at a time."""
NEVER_EQUAL = ("parameter", "result", "readvalue", "assign", "randomuniform", "multinomial")
"""The types of layers that are never folded, and never merged with an equal layer."""


def require_mapping(given: object, wanted: str) -> None:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"expected {wanted}, got {type(given).__name__}")


class Editing(Building):
    """The methods of `Graph` that change layers and the connections between them. Every method
    applies its changes completely, or raises an error and changes nothing."""

    # connections

    def connect(self, input: Input, source: Output | GraphLayer) -> None:
        """Connects an input of a layer to another output. Raises `GraphError`."""
        source = self._output(source)
        self._own(input.layer)
        with self.changes:
            self._connect([input], source)

    def _connect(self, inputs: Iterable[Input], source: Output) -> None:
        """Connects inputs to another output, and infers the layers of the inputs again."""
        changes = self.changes
        affected: list[GraphLayer] = []
        for end in inputs:
            old, layer = end._source, end.layer
            if old is source:
                continue
            self._rank_before(source.layer, layer)
            changes.drop(old._users, end)
            changes.set(end, "_source", source)
            changes.put(source._users, end, changes.number())
            if self.states:
                changes.at_end = self._check_variables
            if layer.raw.output_names:
                own = self._leave_names(old, layer, moved=True)
                self._give_names(source, (*source._names, *own))
                self._give_output_names(layer, own)
            by_value = layer.valued or layer.operation.signature.valued
            if by_value or source.tensor != old.tensor:
                affected.append(layer)
        if affected or self.owner is not None:
            self._settle(affected)

    def replace_uses(
        self,
        old: Output,
        new: Output | GraphLayer,
        inputs: Iterable[Input] | None = None,
    ) -> None:
        """Connects the inputs that `old` feeds to `new`; see `Output.replace_uses`."""
        old, new = self._output(old), self._output(new)
        given = old.users if inputs is None else inputs
        replaced = [end for end in given if end.source is old and end.layer is not new.layer]
        unnamed = [each.layer for each in replaced if each.layer.raw.is_result]
        unnamed = [result for result in unnamed if not result.raw.output_names]
        with self.changes:
            self._connect(replaced, new)
            if unnamed and not old._results and not old.layer.raw.is_parameter:
                self._move_names(old, new, unnamed)  # an output of the graph keeps its name

    def _move_names(self, old: Output, new: Output, results: Iterable[GraphLayer] = ()) -> None:
        """Moves the names of one tensor to another tensor.

        results: the Results that move to the new tensor, too. In the IR, they store the names
        instead of the new tensor if that tensor is an input of the graph or has other Results.
        """
        names = [name for name in old._names if name not in new._names]
        others = new.layer.raw.is_parameter or any(each not in results for each in new._results)
        if others and names:
            for result in results:
                self._give_output_names(result, names)
        self._give_names(old, ())
        self._give_names(new, (*names, *new._names))

    def _take_over(self, old: Output, new: Output) -> None:
        """Connects `new` to all inputs that `old` feeds, and moves the names of `old` to `new`."""
        self._connect(old.users, new)
        self._move_names(old, new)

    def _own(self, layer: GraphLayer) -> None:
        if layer not in self.content.layers:
            raise GraphError(f"{layer.label} is not in this graph")

    # attributes and names

    def set_attributes(self, layer: GraphLayer, attributes: Mapping[str, Any]) -> None:
        """Implements `GraphLayer.set`."""
        self._own(layer)
        if layer.raw.is_constant:
            raise GraphError(
                f"{self.where(layer)}: the attributes of a constant follow from its value",
                help="add another constant, and replace the uses of this one",
            )
        if layer.raw.is_parameter and self.owner is not None:
            raise GraphError(
                f"{self.where(layer)} gets its type and shape from the tensor that feeds it",
                help="change this tensor",
            )
        operation = type(layer.operation)
        names = operation.signature.python_names
        if unknown := [name for name in attributes if name not in names]:
            raise unknown_attribute(operation, unknown[0])
        raw = copy(layer.raw)
        written = raw.attributes
        current = {
            name: getattr(layer.operation, name)
            for name, declared in operation.attributes.items()
            if declared.name in written
        }
        given = {names[name]: value for name, value in attributes.items()}
        items = items_of(operation, {**current, **given})
        wanted = {operation.attributes[name].name for name in given}
        changed = {
            name: text for name, text in zip(items[::2], items[1::2], strict=True) if name in wanted
        }
        gone = wanted - changed.keys()
        raw.attributes = {n: text for n, text in written.items() if n not in gone} | changed
        with self.changes:
            self._redeclare(layer, raw, self._declaration(raw, self.where(layer)))
            if operation.keeps_state:
                self.changes.at_end = self._check_variables
            self._settle([layer])

    def rename_layer(self, layer: GraphLayer, name: str) -> None:
        """Renames a layer. Raises `GraphError` for a name that another layer has."""
        self._own(layer)
        if name == layer.name:
            return
        with self.changes:
            self._give_name(layer, self._free(name))
            self._stale()

    def rename_tensor(self, output: Output, names: str | Iterable[str]) -> None:
        """Renames a tensor. Raises `GraphError` for a name that another tensor has."""
        output = self._output(output)
        with self.changes:
            self._name_tensor(output, names)

    def rename(self, names: Mapping[str, str]) -> None:
        """Renames tensors and layers, all at once, so that two names can be swapped.

        names: a dictionary from old names to new ones. If a tensor and a layer have the same old
        name, both are renamed.
        Raises `KeyError`, and `GraphError` for a name that is taken.
        """
        require_mapping(names, "a dictionary from old to new names, as in {'a': 'b'}")
        tensors: dict[Output, list[str]] = {}
        layers: dict[GraphLayer, str] = {}
        for old, new in names.items():
            checked_name(new)
            output = self.content.by_tensor.get(old)
            if output is None and old not in self.content.by_name:
                self.tensor(old)  # raises, and suggests a name that is close
            if output is not None:
                tensors[output] = [names.get(name, name) for name in output.names]
            layers.update(dict.fromkeys(self.named(old), new))
        own = {
            end.layer: [names.get(name, name) for name in names_in(end.layer.raw.output_names)]
            for output in tensors
            for end in output._users
            if end.layer.raw.output_names
        }
        with self.changes:
            for output in tensors:
                self._give_names(output, ())
            for output, wanted in tensors.items():
                self._name_tensor(output, wanted)
            for result, wanted in own.items():
                self._give_output_names(result, wanted)
            free = {layer.name for layer in layers}
            for name in layers.values():
                if name not in free:
                    self._free(name)
            for layer, name in layers.items():
                self._give_name(layer, name)
            self._stale()

    # removing

    def remove(self, layer: GraphLayer, bypass: int | None = None) -> None:
        """Implements `GraphLayer.remove`."""
        self._own(layer)
        with self.changes:
            if bypass is not None:
                if not 0 <= bypass < len(layer._inputs) or len(layer._outputs) != 1:
                    raise GraphError(
                        f"{self.where(layer)} has {counted(len(layer._inputs), 'input')} "
                        f"and {counted(len(layer._outputs), 'output')}: input {bypass} cannot "
                        "replace its output"
                    )
                self.replace_uses(layer.output, layer._inputs[bypass].source)
            if users := layer.users:
                raise GraphError(
                    f"{self.where(layer)} cannot be removed: {users[0].label} uses its output",
                    help="give `bypass=`, or connect its consumers to another output",
                    argument="bypass",
                )
            self._detach(layer)
            if self.owner is not None:
                self._settle(())

    def _remove_all(self, layers: Iterable[GraphLayer]) -> None:
        """Removes the given layers. No other layer may use their outputs."""
        for layer in sorted(layers, key=by_rank, reverse=True):
            self._detach(layer)

    def _remove_unneeded(self, layers: Iterable[GraphLayer], *, parameters: bool = False) -> int:
        """Removes those of the given layers that no layer uses, except Results and Assigns. Returns
        the number of removed layers. parameters: whether Parameters may be removed."""
        count = 0
        for layer in sorted(layers, key=by_rank, reverse=True):  # users before their producers
            if layer.is_taken or layer.raw.is_sink or layer not in self.content.layers:
                continue
            if parameters or not layer.raw.is_parameter:
                self._detach(layer)
                count += 1
        return count

    def clean(self, *, duplicates: bool = True) -> int:
        """Removes layers on which no Result or Assign depends, and duplicates of layers, also in
        bodies. Parameters stay.

        duplicates: whether to remove layers with the same operation and inputs as another layer.
        Returns the number of removed layers.
        """
        with self.changes:
            count = self._remove_unneeded(self.content.layers) + self._remove_unread()
            if duplicates:
                count += self._merge_duplicates()
            for layer in self.layers:
                for body in layer.bodies.values():
                    count += body.clean(duplicates=duplicates)
            if count:
                self._settle(())
        return count

    def _remove_unread(self) -> int:
        """Removes the Assigns of variables that no layer reads any longer, and layers that only
        such Assigns need. Returns the number of removed layers."""
        count = 0
        while assigns := self._unread():
            for assign in assigns:
                home = assign.graph
                before = home._reachable([assign])
                home._remove_all([assign])
                count += 1 + home._remove_unneeded(before)
        return count

    def _merge_duplicates(self) -> int:
        first: dict[tuple[object, ...], GraphLayer] = {}
        removed = 0
        for layer in self.sorted():
            if layer.raw.folded_type in NEVER_EQUAL or layer.bodies:
                continue
            kept = first.setdefault(self._content(layer), layer)
            if kept is layer:
                continue
            for old, new in zip(layer._outputs, kept._outputs, strict=True):
                self._take_over(old, new)
            self._detach(layer)
            removed += 1
        return removed

    def _content(self, layer: GraphLayer) -> tuple[object, ...]:
        """Returns a key, equal for equal layers: the operation, attributes, inputs and constant."""
        raw = layer.raw
        key: tuple[object, ...] = (
            raw.folded_type,
            raw.version,
            len(raw.outputs),
            layer.rt_info_text,
            *((end.source.layer.id, end.source.index) for end in layer._inputs),
        )
        if not raw.is_constant:
            return (*key, raw.items)
        constant = Constant.of(raw.items, self.store.weights)
        if not self.bytes.holds(constant.offset, constant.size):
            return (*key, raw.items)
        from hashlib import blake2b

        digest, end = blake2b(), constant.offset + constant.size
        for start in range(constant.offset, end, _AT_ONCE):
            part = min(_AT_ONCE, end - start)
            digest.update(self.bytes.view(start, part))
            self.bytes.release(start)
        return (*key, constant.element_type.name, constant.shape, digest.digest())

    # inputs and outputs of the graph

    def reshape(self, shapes: Mapping[Any, ShapeLike]) -> None:
        """Changes the shapes of inputs, given as outputs, or by tensor name, layer name or id.

        Raises `KeyError`, and `GraphError` if a layer does not accept the new shapes.
        """
        require_mapping(shapes, "a dictionary from names to shapes, as in {'x': '[1,3]'}")
        given: dict[GraphLayer, ShapeLike] = {}
        for name, shape in shapes.items():
            layer = self._input(name).layer
            if layer in given:
                raise GraphError(f"the input '{name}' is given twice, under two names")
            given[layer] = shape
        with self.batch():
            for layer, shape in given.items():
                layer.set(shape=shape_of(shape))

    def pin(self, *, batch: Dim | None = None, seq: Dim | None = None) -> None:
        """Sets the batch size and the sequence length of all inputs: `pin(batch=1, seq="1..64")`.

        batch: axis 0 of every input of rank 1 or more.
        seq: axis 1 of each input whose axis 1 is dynamic.
        Raises `GraphError` if a layer does not accept the new shapes.
        """
        shapes: dict[Output, ShapeLike] = {}
        for output in self.inputs:
            dims = list(output.shape.dims or ())
            if seq is not None and len(dims) > 1 and not dims[1].is_static:
                dims[1] = Dimension.of(seq)
            if batch is not None and dims:
                dims[0] = Dimension.of(batch)
            if dims and tuple(dims) != output.shape.dims:
                shapes[output] = PartialShape(tuple(dims))
        self.reshape(shapes)

    def _input(self, name: str | Output | GraphLayer) -> Output:
        """Returns the input that `name` stands for. Raises `KeyError`, `GraphError`."""
        output = self.tensor(name)
        if not output.layer.raw.is_parameter:
            raise GraphError(f"{output.layer.label} is not an input of the graph")
        return output

    def bind(self, name: str | Output, value: Any) -> Output:
        """Replaces an input of the graph by a constant with the tensor names of the input.

        In a body, every iteration uses the constant, and the unused Parameter stays.
        Raises `GraphError` for a value that does not fit the element type and shape of the input,
        and for a Parameter that a back edge feeds.
        """
        old = self._input(name)
        layer = old.layer
        with self.changes, self.batch():
            kind = None if old.element_type.is_dynamic else old.element_type
            new = self.constant(value, kind)
            if not old.shape.compatible(new.shape):
                raise GraphError(
                    f"{self.where(layer)} has shape {old.shape}, but the value has {new.shape}"
                )
            if any(edge.to_layer == layer.id for edge in self.back_edges):
                raise GraphError(
                    f"{self.where(layer)} cannot be bound: each iteration gets its value from the "
                    "previous iteration (a back edge)"
                )
            if self.owner is None:
                self._substitute(old, new)
            else:
                self._take_over(old, new)
            self._settle(())
        return new

    def _substitute(self, old: Output, new: Output) -> None:
        """Connects the consumers of a layer's only output to a new output, moves the tensor names
        to the new output, and removes the layer."""
        name = old.layer.name
        self._take_over(old, new)
        self._detach(old.layer)
        self._give_name(new.layer, name)

    def cut(self, name: str | Output) -> Output:
        """Makes a tensor an input of the graph, and removes layers and inputs that only it needed.

        Returns the output of the new Parameter, which has the names of the tensor. Raises
        `GraphError` in a body.
        """
        old = self.tensor(name)
        if old.layer.raw.is_parameter:
            return old
        asked = name if isinstance(name, str) else (old.names or (old.layer.name,))[0]
        if self.owner is not None:
            raise GraphError(f"{self.where(old.layer)} is in a body; only the net can be cut")
        with self.changes:
            before = self._reachable([old.layer])
            new = self._replace_by_parameter(old, asked)
            self._remove_unneeded(before, parameters=True)
            self._remove_unread()
            if asked not in self.content.by_name:
                self._give_name(new.layer, asked)
        return new

    def _replace_by_parameter(self, old: Output, asked: str) -> Output:
        new = self.parameter(old.element_type, old.shape)
        self._take_over(old, new)
        if not new.names:
            self._name_tensor(
                new, (asked,) if asked and asked not in self.content.by_tensor else ()
            )
        return new

    def add_output(self, name: str | Output, as_name: str | None = None) -> GraphLayer:
        """Makes a tensor an output of the graph if it is not one already. as_name: a further name
        for the output."""
        output = self.tensor(name)
        with self.changes:
            for result in output._results:
                if as_name is not None:
                    names = (*result.output_names, as_name)
                    self._name_tensor(output, (*output.names, as_name))
                    if result.raw.output_names:
                        self._give_output_names(result, names)
                return result
            if as_name is None and not output.names and isinstance(name, str):
                as_name = name if name not in self.content.by_tensor else None
            return self.result(output, as_name)

    def drop_output(self, name: str | Output) -> None:
        """Removes an output of the graph by its name, or all outputs of a tensor. Also removes
        layers that only these outputs needed.

        Parameters stay. Raises `KeyError`, and `GraphError` for a tensor that is not an output.
        """
        results = self.results_of(name)
        with self.changes:
            before = self._reachable(results)
            self._remove_all(results)
            self._remove_unneeded(before)
            self._remove_unread()
            if self.owner is not None:
                self._settle(())

    def matching(self, selection: Selection) -> list[GraphLayer]:
        """Returns the layers whose name or type matches any of the glob patterns, or for which a
        function returns True. As in OpenVINO, upper and lower case in types are the same."""
        if callable(selection):
            return [layer for layer in self.layers if selection(layer)]
        patterns = [selection] if isinstance(selection, str) else list(selection)
        return [
            layer
            for layer in self.layers
            if any(
                fnmatchcase(layer.name, each) or fnmatchcase(layer.type.lower(), each.lower())
                for each in patterns
            )
        ]
