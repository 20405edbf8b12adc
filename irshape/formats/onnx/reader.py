"""Reads an ONNX model: nodes become OpenVINO's layers, initializers become constants.

Ports declare the types and shapes that the model declares. Nodes have no lines in the file, so a
finding has the line of its node in a listing of the model, with one node on each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ...faults import Fault, Violation
from ...model.graph import Layer, Model, NotReadable
from ...model.source import Source
from ...ops import registry
from ...ops.kinds import STRING, STRINGS, Kind
from ...ops.tensors import UNKNOWN, Tensor
from ...rule_ids import (
    DANGLING_EDGE,
    INPUT_COUNT,
    IR_VERSION,
    NESTING_LIMIT,
    NOT_AN_IR,
    SIZE_LIMIT,
    UNKNOWN_PRECISION,
    UNKNOWN_VERSION,
    UNREADABLE_FILE,
)
from ..builder import Builder, NodeOutput
from ..inputs import unreadable
from ..nodes import failure
from . import FORMAT
from .checks import UndeclaredOperator, UndefinedInput, UnknownOperator, check_node
from .declaration import Node, function_of
from .messages import (
    function_body,
    kind_in_words,
    listed,
    names,
    python_value,
    shown,
    with_attributes,
    with_defaults,
    without_inputs,
)
from .package import TYPES, onnx, schema
from .subgraphs import HOLDING_BODIES, Subgraph
from .tensors import Tensors, declared, dimension_names

_MAIN = ("", "ai.onnx")
_MAX_NESTING = 16
MAX_WRITTEN_OUT = 200_000
"""The maximum number of nodes to which the function calls of a model may expand."""


def read(source: Source) -> Model:
    """Reads a model from `source`, and replaces its bytes by a listing of nodes and inputs.

    Raises `NotReadable`.
    """
    empty = Source(source.path, b"")
    try:
        package = onnx()
    except ImportError as problem:
        hint = "pip install 'irshape[onnx]'"
        raise unreadable(empty, UNREADABLE_FILE, str(problem), help=hint) from None
    proto = package.ModelProto()
    try:
        proto.ParseFromString(source.data)
    except Exception:  # what it says depends on how protobuf was built
        message = "the file looks like an ONNX model, but it cannot be parsed"
        hint = "the file may be truncated; irshape read nothing of it"
        raise unreadable(empty, NOT_AN_IR, message, help=hint) from None
    if any(isinstance(text, bytes) for text in names(proto)):
        message = "the file looks like an ONNX model, but a name in it is not UTF-8"
        raise unreadable(empty, NOT_AN_IR, message)
    folder = None if source.path == "<stdin>" else Path(source.path).parent
    listing, offsets = listed(proto.graph)
    source.data, source.encoding = listing, "utf-8"
    return _Reader(proto, Builder(source, proto.graph.name, FORMAT), folder, offsets).read()


@dataclass
class _Scope:
    """The values to which names refer: in the model's graph, in a body, or in a function call."""

    opsets: Mapping[str, int]
    attributes: Mapping[str, Any]
    """The attributes of the function call that is being converted, by name."""
    prefix: str = ""
    depth: int = 0
    values: dict[str, NodeOutput] = field(default_factory=dict)
    initializers: Mapping[str, Any] = field(default_factory=dict)
    outer: tuple[_Scope, Builder] | None = None
    """For a body: the scope around it, whose names the body can use, and that scope's builder."""
    captured: list[tuple[NodeOutput, Layer]] = field(default_factory=list)
    """For a body: each value that it uses from outside, with the Parameter that represents it."""


class _Reader:
    def __init__(
        self, proto: Any, builder: Builder, folder: Path | None, offsets: list[int]
    ) -> None:
        self.proto = proto
        self.builder = builder
        self.tensors = Tensors(builder, folder)
        self.offsets = offsets
        self.functions = {
            (_domain(function.domain), function.name): function for function in proto.functions
        }
        self.outputs = {info.name for info in proto.graph.output}
        self.written_out = 0
        self.declared: dict[str, Tensor] = {}
        """The tensors that the model declares in `value_info` and for its outputs, by name."""

    def read(self) -> Model:
        graph, builder, proto = self.proto.graph, self.builder, self.proto
        opsets = {_domain(entry.domain): entry.version for entry in proto.opset_import}
        if "" not in opsets and proto.ir_version < 3:
            opsets[""] = 1
        newest = onnx().defs.onnx_opset_version()
        if opsets.get("", 1) > newest:
            builder.report(
                IR_VERSION,
                f"the model has opset {opsets['']}, but the installed onnx package "
                f"knows opsets up to {newest}",
                expected=f"at most {newest}",
                actual=str(opsets[""]),
                help="update the onnx package",
            )
        for info in [*graph.value_info, *graph.output]:
            declaration = declared(info.type)
            if declaration is not None:
                self.declared[info.name] = declaration
        scope = _Scope(opsets, {})
        held = {tensor.name for tensor in graph.initializer} | {
            tensor.values.name for tensor in graph.sparse_initializer
        }
        for offset, info in zip(self.offsets[len(graph.node) :], graph.input, strict=False):
            builder.offset = offset
            if info.name not in held:
                value = builder.parameter(info.name, declared(info.type) or UNKNOWN)
                value.layer.outputs[0].names = _escaped(info.name)
                scope.values[info.name] = value
                dimensions = dimension_names(info.type)
                if dimensions:
                    builder.model.dimension_names[value.layer] = dimensions
                if (
                    not info.type.HasField("tensor_type")
                    or info.type.tensor_type.elem_type not in TYPES
                ):
                    kind = kind_in_words(info.type)
                    builder.report(
                        UNKNOWN_PRECISION,
                        f"the input '{info.name}' is a {kind}, which OpenVINO does not have",
                        value.layer,
                        actual=kind,
                    )
        builder.offset = 0
        scope.initializers = {tensor.name: tensor for tensor in graph.initializer}
        self.run(graph.node, scope)
        for name in [info.name for info in graph.output]:
            builder.name, builder.offset = name, 0
            output = self.value(name, scope)
            if output is None:
                builder.report(
                    DANGLING_EDGE,
                    f"no node, input or initializer produces the output '{name}' of the graph",
                    expected="the name of a value",
                    actual=name,
                )
                continue
            builder.result(name, output)
        builder.finish()
        return builder.model

    def value(self, name: str, scope: _Scope) -> NodeOutput | None:
        """Returns the value to which a name refers.

        An initializer becomes a Const when it is first used. In a body, a value from outside
        becomes a Const or a Parameter of the body.
        """
        value = scope.values.get(name)
        if value is None and name in scope.initializers:
            value = scope.values[name] = self.constant(scope.initializers[name], name)
        if value is None and scope.outer is not None:
            outer, around = scope.outer
            with self.inside(around):
                given = self.value(name, outer)
            if given is not None:
                value = scope.values[name] = self.captured(given, name, scope)
        return value

    def captured(self, given: NodeOutput, name: str, scope: _Scope) -> NodeOutput:
        """Returns a layer in a body for a value from outside: a copy of a Const, or a Parameter."""
        if given.layer.type == "Const":
            constant = self.builder.model.constant(given.layer)
            return self.builder.constant_at(
                constant.element_type, constant.shape, constant.offset, constant.size, name=name
            )
        parameter = self.builder.parameter(name, given.tensor.with_value(None))
        scope.captured.append((given, parameter.layer))
        return parameter

    @contextmanager
    def inside(self, builder: Builder) -> Iterator[None]:
        """Makes the reader add layers to `builder` until the `with` block ends."""
        kept, self.builder = self.builder, builder
        self.tensors.builder = builder
        try:
            yield
        finally:
            self.builder = self.tensors.builder = kept

    def constant(self, tensor: Any, name: str) -> NodeOutput:
        builder = self.builder
        try:
            value = self.tensors.constant(tensor, name)
        except Violation as refusal:
            layer, values = builder.opaque("Initializer", "ai.onnx", (), (UNKNOWN,), name=name)
            builder.place(refusal.fault._replace(at="", help=None), layer)
            value = values[0]
        value.layer.outputs[0].names = _escaped(name)
        return value

    # nodes

    def run(self, nodes: Any, scope: _Scope) -> None:
        builder = self.builder
        for position, proto in enumerate(nodes):
            if not scope.depth:
                builder.offset = self.offsets[position]
            label = (
                proto.name
                or (proto.output[0] if proto.output else "")
                or f"{proto.op_type}_{position}"
            )
            builder.name = scope.prefix + label
            inputs: list[NodeOutput | None] = []
            lacking = []
            for name in proto.input:
                value = self.value(name, scope) if name else None
                if name and value is None:
                    lacking.append(name)
                inputs.append(value)
            while inputs and inputs[-1] is None:
                inputs.pop()
            outputs = (
                self.opaque(proto, inputs, scope, UndefinedInput(lacking[0]))
                if lacking
                else self.node(proto, inputs, scope)
            )
            for index, name in enumerate(proto.output):
                output = outputs[index] if index < len(outputs) else None
                if output is not None and name and not scope.depth:
                    said = self.declared.get(name, UNKNOWN)
                    output = builder.bound(
                        output, name, said, is_output=name in self.outputs, first=index == 0
                    )
                if name and output is not None:
                    scope.values[name] = output

    def node(
        self, proto: Any, inputs: list[NodeOutput | None], scope: _Scope
    ) -> tuple[NodeOutput | None, ...]:
        """Converts a node. Returns its outputs."""
        domain = _domain(proto.domain)
        try:
            function = self.functions.get((domain, proto.op_type))
            if function is not None:
                return self.call(function, inputs, self.attributes(proto, scope), scope)
            opset = scope.opsets.get(domain)
            if opset is None:
                raise Violation(
                    f"the model imports no opset of the domain '{domain or 'ai.onnx'}', to which "
                    f"{proto.op_type} belongs",
                    rule=UNKNOWN_VERSION,
                    actual=domain or "ai.onnx",
                )
            if domain and registry.declaration(proto.op_type, domain) is not None:
                if None in inputs:
                    raise Violation(
                        f"{proto.op_type} leaves out input {inputs.index(None)}, but has later "
                        "inputs; a layer of an IR cannot do this",
                        rule=INPUT_COUNT,
                        expected="no omitted input before a given one",
                        help="move the operand that is left out to the end of the inputs of "
                        f"{proto.op_type}",
                    )
                return self.custom(proto, inputs, scope)[1]
            operator = schema(proto.op_type, opset, domain)
            if operator is None:
                raise UnknownOperator(proto.op_type, domain, opset)
            attributes = with_defaults(operator, self.attributes(proto, scope))
            check_node(self.builder, operator, attributes, inputs, proto)
            held = HOLDING_BODIES.get(proto.op_type) if domain == "" else None
            if held is not None:
                return held(self.builder, partial(self.subgraph, scope), inputs, attributes)
            function = None if domain else function_of(proto.op_type, operator.since_version)
            if function is not None and not operator.deprecated:
                plain = {name: python_value(attribute) for name, attribute in attributes.items()}
                node = Node(
                    self.builder, proto.op_type, operator.since_version, inputs, plain, proto.output
                )
                outputs = function(node)
                return outputs if isinstance(outputs, tuple) else (outputs,)
            body = function_body(operator, with_attributes(proto, attributes), inputs)
            if body is None:
                raise UndeclaredOperator(proto.op_type, domain, operator.since_version)
            return self.call(body, inputs, attributes, scope)
        except Violation as refusal:
            return self.opaque(proto, inputs, scope, refusal)
        except NotReadable:
            raise
        except Exception as error:  # its schema allows the node, its function does not expect it
            return self.opaque(proto, inputs, scope, failure(error))

    def custom(
        self, proto: Any, inputs: list[NodeOutput | None], scope: _Scope
    ) -> tuple[Layer, tuple[NodeOutput, ...]]:
        """Adds a layer with the node's own type. Outputs that cannot be inferred get the types and
        shapes that the model declares."""
        domain, builder = _domain(proto.domain), self.builder
        operation = registry.declaration(proto.op_type, domain) if domain else None
        known = {} if operation is None else operation.attributes
        kinds = {declared.name: declared.kind for declared in known.values()}
        items: list[str] = []
        for name, attribute in self.attributes(proto, scope).items():
            items += (name, _text(attribute, kinds.get(name)))
        given = [value for value in inputs if value is not None]
        layer = builder.layer(proto.op_type, domain or "ai.onnx", given, items, name=builder.name)
        tensors: tuple[Tensor, ...] = ()
        if operation is not None:
            result = builder.engine.infer_layer(layer, tuple(value.tensor for value in given))
            tensors = () if isinstance(result.outputs, Fault) else result.outputs
        said = [self.declared.get(name, UNKNOWN) for name in proto.output[len(tensors) :]]
        return layer, tuple(builder.output(layer, tensor) for tensor in (*tensors, *said))

    def opaque(
        self, proto: Any, inputs: list[NodeOutput | None], scope: _Scope, refusal: Violation
    ) -> tuple[NodeOutput, ...]:
        """Reports a node that irshape cannot convert. Returns its outputs as declared."""
        layer, values = self.custom(proto, inputs, scope)
        self.builder.place(refusal.fault, layer)
        return values

    def attributes(self, proto: Any, scope: _Scope) -> dict[str, Any]:
        """Returns the attributes of a node by name, as protobuf messages. Replaces references to
        attributes of the function call by these attributes."""
        named = {}
        for attribute in proto.attribute:
            if attribute.ref_attr_name:
                if attribute.ref_attr_name in scope.attributes:
                    named[attribute.name] = scope.attributes[attribute.ref_attr_name]
            else:
                named[attribute.name] = attribute
        return named

    def call(
        self,
        function: Any,
        inputs: list[NodeOutput | None],
        attributes: dict[str, Any],
        scope: _Scope,
    ) -> tuple[NodeOutput | None, ...]:
        """Converts the call of a function by converting the function's nodes. Returns its
        outputs."""
        if scope.depth >= _MAX_NESTING:
            raise Violation(
                f"calls of functions are nested more than {_MAX_NESTING} deep",
                rule=NESTING_LIMIT,
                expected=f"at most {_MAX_NESTING}",
            )
        opsets = {
            _domain(entry.domain): entry.version for entry in function.opset_import
        } or scope.opsets
        self.written_out += len(function.node)
        if self.written_out > MAX_WRITTEN_OUT:
            message = f"the functions of the model expand to more than {MAX_WRITTEN_OUT} nodes"
            raise unreadable(
                self.builder.model.source,
                SIZE_LIMIT,
                message,
                self.builder.offset,
                expected=f"at most {MAX_WRITTEN_OUT} nodes",
            )
        given = {attribute.name: attribute for attribute in function.attribute_proto} | attributes
        outer = self.builder.name
        inner = _Scope(opsets, given, f"{outer}/", scope.depth + 1)
        for name, value in zip(function.input, inputs, strict=False):
            if value is not None:
                inner.values[name] = value
        missing = [name for name in function.input if name not in inner.values]
        self.run(
            [without_inputs(node, missing) for node in function.node] if missing else function.node,
            inner,
        )
        self.builder.name = outer
        return tuple(inner.values.get(name) for name in function.output)

    # branches and loops

    def subgraph(
        self,
        scope: _Scope,
        graph: Any,
        given: list[tuple[str, Tensor]],
        *,
        sliced: Mapping[str, int] | None = None,
        stacked: Mapping[int, int] | None = None,
    ) -> Subgraph:
        """Reads the graph in an attribute of a node as a body; see `BodyReader`."""
        if scope.depth >= _MAX_NESTING:
            raise Violation(
                f"graphs are nested more than {_MAX_NESTING} deep",
                rule=NESTING_LIMIT,
                expected=f"at most {_MAX_NESTING}",
            )
        child = self.builder.inner()
        inner = _Scope(scope.opsets, scope.attributes, f"{self.builder.name}/", scope.depth + 1)
        inner.initializers = {tensor.name: tensor for tensor in graph.initializer}
        inner.outer = scope, self.builder
        with self.inside(child):
            for name, tensor in given:
                inner.values[name] = child.parameter(name, tensor)
            parameters = [inner.values[name].layer for name, _ in given]
            for name, axis in (sliced or {}).items():
                inner.values[name] = child.add("Squeeze", inner.values[name], child.numbers([axis]))
            self.run(graph.node, inner)
            results, values = [], []
            for index, info in enumerate(graph.output):
                value = self.value(info.name, inner)
                if value is None:
                    raise UndefinedInput(info.name)
                if stacked is not None and index in stacked:
                    value = child.add("Unsqueeze", value, child.numbers([stacked[index]]))
                results.append(child.result(info.name, value))
                values.append(value)
        return Subgraph(child.body, parameters, results, inner.captured)


def _domain(name: str) -> str:
    return "" if name in _MAIN else str(name)


def _text(attribute: Any, kind: Kind | None) -> str:
    """Returns the value of an attribute as text in the format of `kind`. If this is not possible,
    returns what `shown` returns."""
    value = python_value(attribute)
    if isinstance(value, str):
        return value
    try:
        if isinstance(value, int | float | list):
            return (kind or (STRINGS if isinstance(value, list) else STRING)).write(value)
    except (TypeError, ValueError):
        pass
    return shown(attribute)


def _escaped(name: str) -> str:
    return name.replace(",", "\\,")
