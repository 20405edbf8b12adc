"""Converts recurrent operators: RNN, GRU and LSTM."""

from __future__ import annotations

from typing import Any

from ...faults import Violation
from ...rule_ids import ATTRIBUTE_VALUE, MISSING_ATTRIBUTE
from ..nodes import refusal, unknown
from .declaration import Node, NodeOutput, Outputs, operator

ACTIVATIONS = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _parts(node: Node) -> tuple[list[NodeOutput], dict[str, Any], bool]:
    """Returns the inputs, with the batch as first axis; the attributes for OpenVINO's operation;
    and whether the batch is the first axis in the ONNX node too (`layout` 1)."""
    x, w, r = node.need(0), node.need(1), node.need(2)
    batch_first = bool(node["layout"])
    hidden, directions = node["hidden_size"], 2 if node["direction"] == "bidirectional" else 1
    sizes = w.shape.static
    if hidden is None and sizes is not None:
        hidden = sizes[1] // GATES[node.kind]
    if not hidden:
        raise unknown(node.kind, "its `hidden_size` is", MISSING_ATTRIBUTE)
    data = x if batch_first else node.transposed(x, [1, 0, 2])
    shape = node.shape_of(data)
    batch, length = node.gathered(shape, [0]), node.gathered(shape, [1])
    lengths = node.input(4)
    if lengths is None:
        lengths = node.convert(node.broadcast(length, batch), "i32")
    kind = x.element_type.name
    wanted = node.add("Concat", batch, node.numbers([directions, hidden]), axis=0)

    def state(index: int) -> NodeOutput:
        given = node.input(index)
        if given is None:
            return node.broadcast(node.numbers(0, kind), wanted)
        return given if batch_first else node.transposed(given, [1, 0, 2])

    states = [state(5), *([state(6)] if node.kind == "LSTM" else [])]
    attributes = _attributes(node, hidden, directions)
    bias = _bias(node, directions, hidden, kind)
    return (
        [data, *states, lengths, _ordered(node, w), _ordered(node, r), bias],
        attributes,
        batch_first,
    )


def _attributes(node: Node, hidden: int, directions: int) -> dict[str, Any]:
    """Returns the attributes for OpenVINO's operation. Raises `Violation` for values that OpenVINO
    does not support."""
    attributes: dict[str, Any] = {
        "hidden_size": hidden,
        "direction": node["direction"],
        "clip": node["clip"] or 0.0,
    }
    for name in ("activations", "activation_alpha", "activation_beta"):
        listed = node[name]
        if listed:
            own = list(listed[: len(listed) // directions])
            if own * directions != list(listed):
                raise Violation(
                    f"`{name}` differs between the directions; OpenVINO has one list for both",
                    rule=ATTRIBUTE_VALUE,
                    at=name,
                    actual=listed,
                )
            attributes[name.replace("activation_", "activations_")] = (
                [item.lower() for item in own] if name == "activations" else own
            )
    # OpenVINO's CPU plugin does not know the defaults
    attributes.setdefault("activations", ACTIVATIONS[node.kind])
    known = {"sigmoid", "tanh", "relu"}
    odd = [name for name in attributes.get("activations", []) if name not in known]
    if odd:
        raise refusal("activations", odd[0], "sigmoid, tanh or relu")
    return attributes


def _ordered(node: Node, value: NodeOutput) -> NodeOutput:
    """Reorders the gates of an LSTM to OpenVINO's order: forget, input, cell, output.

    ONNX has input, output, forget, cell.
    """
    if node.kind != "LSTM":
        return value
    axis = node.numbers(1)
    i, o, f, c = node.all("Split", value, axis, num_splits=4)
    return node.add("Concat", f, i, c, o, axis=1)


def _bias(node: Node, directions: int, hidden: int, kind: str) -> NodeOutput:
    """Returns the sum of both biases. For a GRU with `linear_before_reset`, the two biases of the
    last gate stay separate."""
    given, gates = node.input(3), GATES[node.kind]
    late = node.kind == "GRU" and bool(node["linear_before_reset"])
    if given is None:
        width = (gates + late) * hidden
        return node.broadcast(node.numbers(0, kind), node.numbers([directions, width]))
    of_x, of_h = node.all("Split", given, node.numbers(1), num_splits=2)
    if not late:
        return _ordered(node, node.add("Add", of_x, of_h))
    split = node.numbers([2 * hidden, hidden])
    both, last_x = node.all("VariadicSplit", of_x, node.numbers(1), split)
    both_h, last_h = node.all("VariadicSplit", of_h, node.numbers(1), split)
    return node.add("Concat", node.add("Add", both, both_h), last_x, last_h, axis=1)


@operator("RNN", "LSTM")
@operator("GRU", since=3)
def recurrent(node: Node) -> Outputs:
    """Converts RNN, LSTM or GRU, and transposes the outputs to ONNX's order of axes. ONNX's output
    Y has the axes sequence, direction, batch, hidden; with `layout` 1, the batch is first."""
    node.require("input_forget", 0)
    peepholes = node.input(7)
    if peepholes is not None and (
        peepholes.tensor.value is None
        or any(peepholes.tensor.value.lower)
        or any(peepholes.tensor.value.upper)
    ):
        raise Violation("LSTM with peepholes has no counterpart in OpenVINO")
    inputs, attributes, batch_first = _parts(node)
    if node.kind == "GRU":
        attributes["linear_before_reset"] = bool(node["linear_before_reset"])
    whole, *states = node.all(f"{node.kind}Sequence", *inputs, version="opset5", **attributes)
    order = [0, 2, 1, 3] if batch_first else [2, 1, 0, 3]
    if not batch_first:
        states = [node.transposed(state, [1, 0, 2]) for state in states]
    return (node.transposed(whole, order), *states)
