"""Reads an ONNX model: nodes become layers of OpenVINO, initializers constants.

What the model declares of its values becomes the declared ports. A node has no line in the file;
its place is its line in a listing of the model, one node a line, which is shown instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...faults import Fault, Violation
from ...model.graph import PORT_MAPS, BackEdge, Body, Finding, Layer, Model, NotReadable, PortMap
from ...model.source import Source
from ...ops.tensors import UNKNOWN, Tensor
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CUSTOM_OPERATION,
    DANGLING_EDGE,
    INPUT_COUNT,
    INPUT_ELEMENT_TYPE,
    INPUT_RANK,
    INTERNAL_ERROR,
    IR_VERSION,
    MISSING_ATTRIBUTE,
    MISSPELT_ATTRIBUTE,
    NESTING_LIMIT,
    NOT_AN_IR,
    SIZE_LIMIT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_PRECISION,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
    UNREADABLE_FILE,
)
from ...types import DYNAMIC_SHAPE, DYNAMIC_TYPE, SCALAR, ElementType, PartialShape
from ..builder import Builder, NodeOutput, declare
from . import FORMAT
from .declaration import Node, declarations
from .messages import (
    function_body,
    kind_in_words,
    listed,
    names,
    python_value,
    with_attributes,
    with_defaults,
    without_inputs,
)
from .package import NAMES, TYPES, onnx, schema
from .tensors import Tensors, declared, dimension_names

_MAIN = ("", "ai.onnx")
_MAX_NESTING = 16
_MAX_WRITTEN_OUT = 200_000
"""Nodes of functions in the place of those that call them."""
_REPORT = (
    "a bug in irshape: please report it with this node; IRSHAPE_DEBUG=1 shows where it happens"
)


def read(source: Source) -> Model:
    """Reads the bytes of `source`, and replaces them by the listing of the nodes.

    Raises `NotReadable`.
    """
    try:
        package = onnx()
    except ImportError as problem:
        raise NotReadable(
            Finding(Fault(UNREADABLE_FILE, str(problem), help="pip install 'irshape[onnx]'"), 0),
            Source(source.path, b""),
        ) from None
    proto = package.ModelProto()
    try:
        proto.ParseFromString(source.data)
    except Exception as problem:
        message = f"the file looks like an ONNX model and cannot be parsed: {problem}"
        raise NotReadable(
            Finding(
                Fault(NOT_AN_IR, message, help="it may be truncated; nothing of it was read"), 0
            ),
            Source(source.path, b""),
        ) from None
    if any(isinstance(text, bytes) for text in names(proto)):
        raise NotReadable(
            Finding(
                Fault(
                    NOT_AN_IR, "the file looks like an ONNX model, and a name in it is not UTF-8"
                ),
                0,
            ),
            Source(source.path, b""),
        )
    folder = None if source.path == "<stdin>" else Path(source.path).parent
    listing, offsets = listed(proto.graph.node)
    source.data, source.encoding = listing, "utf-8"
    return _Reader(proto, Builder(source, proto.graph.name, FORMAT), folder, offsets).read()


class _Scope:
    """Where names mean values: the graph itself, or one call of a function."""

    def __init__(
        self,
        opsets: Mapping[str, int],
        attributes: Mapping[str, Any],
        prefix: str = "",
        depth: int = 0,
    ) -> None:
        self.opsets = opsets
        self.attributes = attributes
        """Those that the call gives to the function, by name."""
        self.prefix = prefix
        self.depth = depth
        self.values: dict[str, NodeOutput] = {}
        self.initializers: Mapping[str, Any] = {}
        self.outer: tuple[_Scope, Builder] | None = None
        """For a branch or a loop: the enclosing scope, whose names are visible, and its builder."""
        self.captured: list[tuple[NodeOutput, Layer]] = []
        """The values from around it that it uses, each with the Parameter that stands for it."""


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
        self.written_out = 0
        self.declared: dict[str, Tensor] = {}
        """What `value_info` and the outputs declare, by name."""

    def read(self) -> Model:
        graph, builder, proto = self.proto.graph, self.builder, self.proto
        opsets = {_domain(entry.domain): entry.version for entry in proto.opset_import}
        if "" not in opsets and proto.ir_version < 3:
            opsets[""] = 1
        newest = onnx().defs.onnx_opset_version()
        if opsets.get("", 1) > newest:
            builder.report(
                IR_VERSION,
                f"the model is of opset {opsets['']}; the onnx package that is installed "
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
        for info in graph.input:
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
        scope.initializers = {tensor.name: tensor for tensor in graph.initializer}
        self.run(graph.node, scope)
        for name in [info.name for info in graph.output]:
            builder.name, builder.offset = name, 0
            output = self.value(name, scope)
            if output is None:
                builder.report(
                    DANGLING_EDGE,
                    f"the output '{name}' of the graph is not produced by any node",
                    expected="the name of a value",
                    actual=name,
                )
                continue
            builder.result(name, self.named(output, name))
        builder.finish()
        return builder.model

    def named(self, value: NodeOutput, name: str) -> NodeOutput:
        """The value with that as its first tensor name: as it is, or passed on under it."""
        first = (value.layer.outputs[value.port].tensor_names or [""])[0]
        if first == name:
            return value
        passed_on = self.builder.add("Identity", value, name=name)
        passed_on.layer.outputs[0].names = _escaped(name)
        return passed_on

    def value(self, name: str, scope: _Scope) -> NodeOutput | None:
        """The value that a name refers to.

        An initializer becomes a constant at its first use. A value from around a branch or a loop
        becomes a constant again, or a Parameter.
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
        """A value from around a branch or a loop, inside it."""
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
        """While it lasts, layers are added there."""
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
            first = len(builder.body.layers)
            outputs = (
                self.opaque(proto, inputs, _Undefined(lacking[0]))
                if lacking
                else self.node(proto, inputs, scope)
            )
            for index, name in enumerate(proto.output):
                output = outputs[index] if index < len(outputs) else None
                if name and output is not None:
                    scope.values[name] = self.bound(output, name, first, scope, proto, index)

    def bound(
        self, value: NodeOutput, name: str, first: int, scope: _Scope, proto: Any, index: int
    ) -> NodeOutput:
        """The output of a node under its name, with what the model declares of it in its port.

        first: the layers from this position on belong to the node.
        """
        layer = value.layer
        if scope.depth:
            return value
        port = layer.outputs[value.port]
        own = (int(layer.id) >= first and not port.names and layer.type != "Const") or (
            layer.type == "Const" and proto.op_type == "Constant" and not port.names
        )
        if not own:
            value = self.builder.add("Identity", value)
            layer, port = value.layer, value.layer.outputs[0]
        port.names = _escaped(name)
        if index == 0:
            layer.name = self.builder.name
        said = self.declared.get(name)
        if said is not None:
            shape = said.shape if said.shape.dims is not None else value.shape
            kind = (
                said.element_type if said.element_type is not DYNAMIC_TYPE else value.element_type
            )
            declare(port, Tensor(kind, shape))
            if (
                value.element_type.is_dynamic or value.shape.dims is None
            ):  # then what is declared is all there is to go on
                value.tensor = Tensor(kind, shape) if value.tensor == UNKNOWN else value.tensor
        return value

    def node(
        self, proto: Any, inputs: list[NodeOutput | None], scope: _Scope
    ) -> tuple[NodeOutput | None, ...]:
        """The outputs of one node."""
        domain = _domain(proto.domain)
        try:
            function = self.functions.get((domain, proto.op_type))
            if function is not None:
                return self.call(function, proto, inputs, self.attributes(proto, scope), scope)
            opset = scope.opsets.get(domain)
            if opset is None:
                raise Violation(
                    f"the model imports no opset of '{domain or 'ai.onnx'}', of which "
                    f"{proto.op_type} is",
                    rule=UNKNOWN_VERSION,
                    actual=domain or "ai.onnx",
                )
            operator = schema(proto.op_type, opset, domain)
            if operator is None:
                raise _Unknown(proto.op_type, domain, opset)
            attributes = with_defaults(operator, self.attributes(proto, scope))
            self.check(operator, attributes, inputs, proto)
            held = (
                {"If": self.conditional, "Loop": self.loop, "Scan": self.scan}.get(proto.op_type)
                if domain == ""
                else None
            )
            if held is not None:
                return held(inputs, attributes, scope)
            implementation = declarations().get((domain, proto.op_type, operator.since_version))
            if implementation is not None and not operator.deprecated:
                plain = {name: python_value(attribute) for name, attribute in attributes.items()}
                node = Node(
                    self.builder, proto.op_type, operator.since_version, inputs, plain, proto.output
                )
                outputs = implementation(node)
                return outputs if isinstance(outputs, tuple) else (outputs,)
            body = function_body(operator, with_attributes(proto, attributes), inputs)
            if body is None:
                raise _Undeclared(proto.op_type, domain, operator.since_version)
            return self.call(body, proto, inputs, attributes, scope)
        except Violation as refusal:
            return self.opaque(proto, inputs, refusal)
        except NotReadable:
            raise
        except (
            Exception
        ) as error:  # a node that its schema allows and its function did not reckon with
            if os.environ.get("IRSHAPE_DEBUG"):
                raise
            return self.opaque(
                proto,
                inputs,
                Violation(
                    f"irshape failed on this node ({type(error).__name__}: {error})",
                    rule=INTERNAL_ERROR,
                    help=_REPORT,
                ),
            )

    def opaque(
        self, proto: Any, inputs: list[NodeOutput | None], refusal: Violation
    ) -> tuple[NodeOutput, ...]:
        """Reports a node that could not be read; its outputs are as the model declares them."""
        outputs = [self.declared.get(name, UNKNOWN) for name in proto.output]
        given = [value for value in inputs if value is not None]
        layer, values = self.builder.opaque(
            proto.op_type,
            _domain(proto.domain) or "ai.onnx",
            given,
            outputs,
            name=self.builder.name,
        )
        self.builder.place(refusal.fault, layer)
        return values

    def attributes(self, proto: Any, scope: _Scope) -> dict[str, Any]:
        """The attributes of a node by name, as protos, with those of the function resolved."""
        named = {}
        for attribute in proto.attribute:
            if attribute.ref_attr_name:
                if attribute.ref_attr_name in scope.attributes:
                    named[attribute.name] = scope.attributes[attribute.ref_attr_name]
            else:
                named[attribute.name] = attribute
        return named

    def check(
        self, operator: Any, attributes: dict[str, Any], inputs: list[NodeOutput | None], proto: Any
    ) -> None:
        """Checks a node against the schema of its operator. Raises `Violation`.

        An attribute without meaning is only noted.
        """
        _check_attributes(
            self.builder,
            operator,
            attributes,
            {attribute.name for attribute in proto.attribute},
            proto.op_type,
        )
        _check_count(operator, inputs, proto)
        kinds: dict[str, tuple[str, str]] = {}
        for index, value in enumerate(inputs):
            if value is None or value.element_type is DYNAMIC_TYPE:
                continue
            formal = operator.inputs[min(index, len(operator.inputs) - 1)]
            allowed = {
                NAMES.get(name[len("tensor(") : -1])
                for name in formal.types
                if name.startswith("tensor(")
            }
            kind = value.element_type.name
            if allowed and kind not in allowed and formal.types:
                words = ", ".join(sorted(name for name in allowed if name))
                raise Violation(
                    f"`{formal.name}` (input {index}) has element type {kind}; "
                    f"{proto.op_type} of version {operator.since_version} takes {words}",
                    rule=INPUT_ELEMENT_TYPE,
                    expected=words,
                    actual=kind,
                )
            if "(" in formal.type_str or not formal.is_homogeneous:
                continue
            other = kinds.setdefault(formal.type_str, (kind, formal.name))
            if other[0] != kind:
                raise Violation(
                    f"`{formal.name}` (input {index}) has element type {kind}, but "
                    f"`{other[1]}` has {other[0]}; they must be the same",
                    rule=INPUT_ELEMENT_TYPE,
                    expected=other[0],
                    actual=kind,
                    help="insert a Cast",
                )

    def call(
        self,
        function: Any,
        proto: Any,
        inputs: list[NodeOutput | None],
        attributes: dict[str, Any],
        scope: _Scope,
    ) -> tuple[NodeOutput | None, ...]:
        """The outputs of a function: its nodes take the place of the one that calls it."""
        if scope.depth >= _MAX_NESTING:
            raise Violation(
                f"functions call each other more than {_MAX_NESTING} deep",
                rule=NESTING_LIMIT,
                expected=f"at most {_MAX_NESTING}",
            )
        opsets = {
            _domain(entry.domain): entry.version for entry in function.opset_import
        } or scope.opsets
        self.written_out += len(function.node)
        if self.written_out > _MAX_WRITTEN_OUT:
            message = (
                f"the functions of the model, written out, are more than {_MAX_WRITTEN_OUT} nodes"
            )
            raise NotReadable(
                Finding(
                    Fault(SIZE_LIMIT, message, expected=f"at most {_MAX_WRITTEN_OUT} nodes"),
                    self.builder.offset,
                ),
                self.builder.model.source,
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
        graph: Any,
        scope: _Scope,
        given: list[tuple[str, Tensor]],
        *,
        sliced: Mapping[str, int] | None = None,
        stacked: Mapping[int, int] | None = None,
    ) -> _Graph:
        """Reads a graph inside a node as a body. given: its inputs.

        sliced: inputs that come in slices, whose axis of size 1 is removed. stacked: the outputs
        that get such an axis.
        """
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
                    raise _Undefined(info.name)
                if stacked is not None and index in stacked:
                    value = child.add("Unsqueeze", value, child.numbers([stacked[index]]))
                results.append(child.result(info.name, value))
                values.append(value)
        return _Graph(child.body, parameters, results, inner.captured)

    def conditional(
        self, inputs: list[NodeOutput | None], attributes: dict[str, Any], scope: _Scope
    ) -> tuple[NodeOutput, ...]:
        """If: two bodies, and what they use from around them as inputs."""
        assert inputs[0] is not None
        fed = [inputs[0]]
        places: dict[tuple[int, int], int] = {}
        bodies, maps = {}, {}
        graphs = {
            tag: self.subgraph(attributes[name].g, scope, [])
            for tag, name in (("then_body", "then_branch"), ("else_body", "else_branch"))
        }
        for tag, graph in graphs.items():
            entries = []
            for value, layer in graph.captured:
                key = id(value.layer), value.port
                if key not in places:
                    places[key] = len(fed)
                    fed.append(value)
                entries.append(self.port_map("input", places[key], layer))
            bodies[tag], maps[PORT_MAPS[tag]] = graph.body, entries
        for tag, graph in graphs.items():
            maps[PORT_MAPS[tag]] += [
                self.port_map("output", len(fed) + index, layer)
                for index, layer in enumerate(graph.results)
            ]
        return self.builder.with_bodies("If", fed, bodies, maps, len(graphs["then_body"].results))

    def loop(
        self, inputs: list[NodeOutput | None], attributes: dict[str, Any], scope: _Scope
    ) -> tuple[NodeOutput, ...]:
        """Reads a Loop.

        States go along back edges; outputs of the iterations are joined along a new axis in front.
        """
        graph, builder = attributes["body"].g, self.builder
        padded = [*inputs, *[None] * (2 - len(inputs))]
        states = [value for value in padded[2:] if value is not None]
        if (
            len(graph.input) != 2 + len(states)
            or len(graph.output) < 1 + len(states)
            or len(padded) != 2 + len(states)
        ):
            message = (
                f"the body takes {len(graph.input)} inputs and gives {len(graph.output)} "
                f"outputs; the Loop has {len(padded) - 2} states"
            )
            raise Violation(
                message, rule=INPUT_COUNT, expected=2 + len(states), actual=len(graph.input)
            )
        trips, condition = (
            padded[0] or builder.numbers(-1),
            padded[1] or builder.numbers(True, "boolean"),
        )
        said = [declared(info.type) for info in graph.input[2:]]
        given = [
            (graph.input[0].name, Tensor(ElementType.of("i64"), SCALAR)),
            (graph.input[1].name, Tensor(ElementType.of("boolean"), SCALAR)),
        ]
        for info, tensor, state in zip(graph.input[2:], said, states, strict=True):
            given.append(
                (
                    info.name,
                    tensor
                    if tensor is not None and tensor.element_type is state.element_type
                    else Tensor(state.element_type, DYNAMIC_SHAPE),
                )
            )
        inner = self.subgraph(
            graph, scope, given, stacked=dict.fromkeys(range(1 + len(states), len(graph.output)), 0)
        )
        fed = [trips, condition, *states, *(value for value, _ in inner.captured)]
        entries = [
            self.port_map("input", -1, inner.parameters[0], purpose="current_iteration"),
            self.port_map("input", 1, inner.parameters[1]),
        ]
        inside = [*inner.parameters[2:], *(layer for _, layer in inner.captured)]
        entries += [self.port_map("input", 2 + index, layer) for index, layer in enumerate(inside)]
        entries.append(self.port_map("output", -1, inner.results[0], purpose="execution_condition"))
        for index, layer in enumerate(inner.results[1:]):
            joined = _along(0) if index >= len(states) else {}
            entries.append(self.port_map("output", len(fed) + index, layer, **joined))
        ends = zip(inner.results, inner.parameters[1:], strict=False)
        inner.body.back_edges = [
            BackEdge(result.id, parameter.id, builder.offset) for result, parameter in ends
        ]
        return builder.with_bodies(
            "Loop", fed, {"body": inner.body}, {"port_map": entries}, len(inner.results) - 1
        )

    def scan(
        self, inputs: list[NodeOutput | None], attributes: dict[str, Any], scope: _Scope
    ) -> tuple[NodeOutput, ...]:
        """Scan: states along back edges, inputs in slices, outputs joined."""
        graph, builder = attributes["body"].g, self.builder
        count = attributes["num_scan_inputs"].i
        values = [value for value in inputs if value is not None]
        number = len(values) - count
        outputs = len(graph.output) - number
        if "directions" in attributes or len(values) != len(inputs):
            raise Violation(
                "Scan of version 8 goes over a batch; OpenVINO has no such layer",
                rule=UNKNOWN_VERSION,
                expected="opset 9 or later",
            )
        if count < 1 or number < 0 or len(graph.input) != len(values) or outputs < 0:
            message = (
                f"the body takes {len(graph.input)} inputs and gives {len(graph.output)} "
                f"outputs; the Scan has {number} states and {count} inputs to slice"
            )
            raise Violation(
                message, rule=INPUT_COUNT, expected=len(values), actual=len(graph.input)
            )

        axes = _scan_axes(values[number:], _listed(attributes, "scan_input_axes", count))
        given = _scan_inputs(graph, values, axes)
        joins = _listed(attributes, "scan_output_axes", outputs)
        inner = self.subgraph(
            graph,
            scope,
            given,
            sliced={info.name: axis for info, axis in zip(graph.input[number:], axes, strict=True)},
            stacked={number + index: axis for index, axis in enumerate(joins)},
        )
        fed = [*values, *(value for value, _ in inner.captured)]
        slices = zip(axes, _listed(attributes, "scan_input_directions", count), strict=True)
        joined = zip(joins, _listed(attributes, "scan_output_directions", outputs), strict=True)
        entries = self.scan_port_map(inner, number, list(slices), list(joined))
        ends = zip(inner.results[:number], inner.parameters[:number], strict=True)
        inner.body.back_edges = [
            BackEdge(result.id, parameter.id, builder.offset) for result, parameter in ends
        ]
        return builder.with_bodies(
            "TensorIterator", fed, {"body": inner.body}, {"port_map": entries}, len(inner.results)
        )

    def scan_port_map(
        self,
        inner: _Graph,
        states: int,
        slices: list[tuple[int, int]],
        joins: list[tuple[int, int]],
    ) -> list[PortMap]:
        """The port map of a Scan. slices, joins: the axis of each, and whether backwards."""
        parameters, results = inner.parameters, inner.results
        entries = [
            self.port_map("input", index, layer) for index, layer in enumerate(parameters[:states])
        ]
        for index, (axis, backwards) in enumerate(slices, states):
            along = _along(axis, backwards)
            entries.append(self.port_map("input", index, parameters[index], **along))
        outer = states + len(slices)
        entries += [
            self.port_map("input", outer + index, layer)
            for index, (_, layer) in enumerate(inner.captured)
        ]
        fed = outer + len(inner.captured)
        entries += [
            self.port_map("output", fed + index, layer)
            for index, layer in enumerate(results[:states])
        ]
        for index, (axis, backwards) in enumerate(joins, states):
            along = _along(axis, backwards)
            entries.append(self.port_map("output", fed + index, results[index], **along))
        return entries

    def port_map(
        self, direction: Literal["input", "output"], external: int, layer: Layer, **more: str
    ) -> PortMap:
        return PortMap(
            direction,
            {"external_port_id": str(external), "internal_layer_id": layer.id, **more},
            self.builder.offset,
        )


def _check_count(operator: Any, inputs: list[NodeOutput | None], proto: Any) -> None:
    """Raises `Violation` for a number of inputs that the operator does not take."""
    least, most = operator.min_input, operator.max_input
    if not least <= len(inputs) <= most or any(
        value is None and index < least for index, value in enumerate(inputs)
    ):
        wanted = f"{least} to {most}"
        if least == most:
            wanted = f"{least}"
        elif operator.is_infinite(most):
            wanted = f"{least} or more"
        seen = sum(value is not None for value in inputs)
        raise Violation(
            f"{proto.op_type} of version {operator.since_version} takes {wanted} inputs, "
            f"got {seen}",
            rule=INPUT_COUNT,
            expected=wanted,
            actual=seen,
        )


def _listed(attributes: dict[str, Any], name: str, length: int) -> list[int]:
    """A list of numbers, zeros by default. Raises `Violation` for another length."""
    numbers = list(attributes[name].ints) if name in attributes else [0] * length
    if len(numbers) != length:
        raise Violation(
            f"`{name}` contains {len(numbers)} numbers; expected {length}",
            rule=ATTRIBUTE_VALUE,
            at=name,
            expected=length,
            actual=len(numbers),
        )
    return numbers


def _scan_axes(inputs: list[NodeOutput], listed: list[int]) -> list[int]:
    """The axis along which each input of a Scan is sliced, from 0. Raises `Violation`."""
    axes = []
    for value, axis in zip(inputs, listed, strict=True):
        if axis < 0 and value.rank is None:
            raise Violation(
                "Scan along a negative axis cannot be read without the rank of its input",
                rule=INPUT_RANK,
                at="scan_input_axes",
            )
        axes.append(axis + (value.rank or 0) if axis < 0 else axis)
    return axes


def _scan_inputs(graph: Any, values: list[NodeOutput], axes: list[int]) -> list[tuple[str, Tensor]]:
    """What the inputs of the body of a Scan are: the states, and slices of the other values."""
    number = len(values) - len(axes)
    given = []
    for info, state in zip(graph.input, values[:number], strict=False):
        said = declared(info.type)
        given.append(
            (
                info.name,
                said
                if said is not None and said.element_type is state.element_type
                else Tensor(state.element_type, DYNAMIC_SHAPE),
            )
        )
    for info, value, axis in zip(graph.input[number:], values[number:], axes, strict=True):
        dims = value.shape.dims
        shape = (
            DYNAMIC_SHAPE
            if dims is None
            else PartialShape(1 if place == axis else dim for place, dim in enumerate(dims))
        )
        given.append((info.name, Tensor(value.element_type, shape)))
    return given


def _along(axis: int, backwards: int = 0) -> dict[str, str]:
    """What a line of a port map says of slices along an axis, one element each."""
    first, last, step = (-1, 0, -1) if backwards else (0, -1, 1)
    return {
        "axis": str(axis),
        "start": str(first),
        "end": str(last),
        "stride": str(step),
        "part_size": "1",
    }


class _Graph(NamedTuple):
    """A body that has been read."""

    body: Body
    parameters: list[Layer]
    results: list[Layer]
    captured: list[tuple[NodeOutput, Layer]]


class _Undefined(Violation):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"the input '{name}' is not produced by an earlier node, an input or an initializer",
            rule=DANGLING_EDGE,
            expected="the name of a value",
            actual=name,
            help="the nodes of an ONNX model are listed in the order in which they run",
        )


class _Unknown(Violation):
    def __init__(self, name: str, domain: str, opset: int) -> None:
        every = [
            operator for operator in onnx().defs.get_all_schemas() if operator.domain == domain
        ]
        if any(operator.name == name for operator in every):
            since = min(
                operator.since_version
                for operator in onnx().defs.get_all_schemas_with_history()
                if operator.domain == domain and operator.name == name
            )
            super().__init__(
                f"opset {opset} does not contain {name}, which came with opset {since}",
                rule=UNKNOWN_VERSION,
                expected=f"opset {since} or later",
                actual=opset,
            )
            return
        close = get_close_matches(name, [operator.name for operator in every], 1, 0.7)
        super().__init__(
            f"no opset of {domain or 'ai.onnx'} contains an operator {name}",
            rule=UNKNOWN_TYPE if domain == "" else CUSTOM_OPERATION,
            expected=close[0] if close else None,
            actual=name,
            help=f"did you mean {close[0]}?"
            if close
            else "the declared types and shapes of its outputs are used",
        )


class _Undeclared(Violation):
    def __init__(self, name: str, domain: str, version: int) -> None:
        super().__init__(
            f"irshape has no declaration of {domain or 'ai.onnx'} {name}-{version}",
            rule=UNKNOWN_TYPE,
            actual=f"{name}-{version}",
            help="the declared types and shapes of its outputs are used; docs/onnx.md lists the "
            "operators that are read",
        )


def _domain(name: str) -> str:
    return "" if name in _MAIN else str(name)


def _escaped(name: str) -> str:
    return name.replace(",", "\\,")


def _check_attributes(
    builder: Builder, operator: Any, attributes: dict[str, Any], given: set[str], name: str
) -> None:
    """Drops meaningless attributes, and notes them.

    Raises `Violation` for an attribute that is missing or of the wrong type.
    """
    known = operator.attributes
    kinds = onnx().AttributeProto.AttributeType
    for key, attribute in list(attributes.items()):
        declared = known.get(key)
        if declared is None:
            close = get_close_matches(
                key, [other for other in known if other not in given], 1, 0.75
            )
            rule, hint = (
                (MISSPELT_ATTRIBUTE, f"rename it to `{close[0]}`")
                if close
                else (UNKNOWN_ATTRIBUTE, "remove it, or correct its name")
            )
            message = (
                f"`{key}` looks like a misspelling of `{close[0]}`"
                if close
                else f"{name} of version {operator.since_version} has no attribute `{key}`"
            )
            wanted = close[0] if close else ", ".join(sorted(known)) or "no attributes"
            builder.report(
                rule, message, at=key, expected=wanted, actual=key, help=hint, severity="error"
            )
            del attributes[key]
            continue
        wanted = declared.type.name
        seen = (
            kinds.Name(attribute.type) if attribute.type in kinds.values() else str(attribute.type)
        )
        if seen != wanted:
            raise Violation(
                f"`{key}` is of the type {seen}; {name} takes {wanted}",
                rule=ATTRIBUTE_VALUE,
                at=key,
                expected=wanted,
                actual=seen,
            )
    for key, declared in known.items():
        if declared.required and key not in attributes:
            raise Violation(
                f"the attribute `{key}` is missing",
                rule=MISSING_ATTRIBUTE,
                expected=declared.type.name,
                help=f"give {name} its `{key}`",
            )
