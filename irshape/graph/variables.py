"""Turns pairs of inputs and outputs that hold a state into variables, and back."""

from __future__ import annotations

from collections.abc import Mapping

from .editing import Editing
from .errors import GraphError
from .inferring import by_variable
from .nodes import GraphLayer, Output, described


def make_stateful(
    graph: Editing,
    pairs: Mapping[str, str],
    *,
    beam_idx: str | None = None,
    batch_from: str | None = None,
) -> None:
    """Turns pairs of inputs and outputs into variables. An output is the next value of its input.

    pairs: a dictionary from inputs to outputs, as in `{"past.0.key": "present.0.key"}`. Each
    variable gets the name of its input. Its initial value is zeros; dynamic axes except axis 0
    begin with size 0.
    batch_from: the input whose axis 0 gives the initial size of a dynamic axis 0. By default, the
    first input that is not in `pairs` and has a dynamic axis 0.
    beam_idx: the name of an input to add for beam search. After each ReadValue, a Gather selects
    the entries of axis 0 by this input.
    """
    with graph.changes:
        ends = {graph._input(old): graph.tensor(new) for old, new in pairs.items()}
        if len(ends) < len(pairs):
            raise GraphError("two of the pairs name the same input")
        batch = _batch_of(graph, set(ends), batch_from)
        order: Output | None = None
        if beam_idx is not None:
            order = graph.parameter("i32", "[?]", name=beam_idx)
        results: list[GraphLayer] = []
        for name in pairs.values():  # the tensor may be another output too
            results += [each for each in graph.results_of(name) if each not in results][-1:]
        values: dict[Output, Output] = {}
        for (old, new), name in zip(ends.items(), pairs, strict=True):
            if new is old:
                raise GraphError(f"{new!r} is both the input and the output of the variable")
            if new.element_type is not old.element_type or not old.shape.compatible(new.shape):
                raise GraphError(
                    f"the variable '{name}' is {described(old)}, but its next value is {new!r}"
                )
            values[old] = _read(graph, name, old, order, batch)
        graph._remove_all([*(old.layer for old in ends), *results])
        for new, name in zip(ends.values(), pairs, strict=True):
            graph.add_layer("Assign", values.get(new, new), variable_id=name)


def _batch_of(graph: Editing, states: set[Output], named: str | None) -> Output | None:
    """Returns the input, other than the states, whose axis 0 is the batch; None if none is."""
    if named is not None:
        return graph._input(named)
    rest = [each for each in graph.inputs if each not in states and each.shape.rank]
    dynamic = [each for each in rest if not (each.shape.dims or ())[0].is_static]
    return next(iter(dynamic), None)


def _read(
    graph: Editing, name: str, old: Output, order: Output | None, batch: Output | None
) -> Output:
    """Replaces an input by a ReadValue. Returns the output that now feeds the input's consumers."""
    read: Output = graph.add(
        "ReadValue",
        _initial(graph, old, batch),
        variable_id=name,
        variable_type=str(old.element_type),
        variable_shape=old.shape,
    )
    value: Output = read if order is None else graph.add("Gather", read, order, 0, batch_dims=0)
    names = old.names
    graph._give_names(old, ())
    graph._take_over(old, value)
    graph._give_names(read, names)
    return value


def _initial(graph: Editing, state: Output, batch: Output | None) -> Output:
    """Returns the initial value of a variable: zeros. Dynamic axes except axis 0 have size 0."""
    dims = state.shape.dims
    if dims is None:
        raise GraphError(f"{state!r} is of dynamic rank", help="reshape it first")
    sizes = [dim.low if dim.is_static else 0 for dim in dims]
    zero = graph.constant(0, state.element_type)
    if not dims or dims[0].is_static:
        shape = graph.constant(sizes, "i64")
    else:
        if batch is None:
            raise GraphError(
                f"the initial size of axis 0 of {state!r} is not known",
                help="give `batch_from=`, an input with the same batch size",
                argument="batch_from",
            )
        whole = graph.add("ShapeOf", batch, output_type="i64")
        shape = graph.add("Gather", whole, [0], 0, batch_dims=0)
        if sizes[1:]:
            shape = graph.add("Concat", shape, graph.constant(sizes[1:], "i64"), axis=0)
    return graph.add_layer("Broadcast", zero, shape, mode="numpy").output


def make_stateless(graph: Editing) -> dict[str, str]:
    """Turns variables into inputs and outputs. Returns a dictionary from inputs to outputs, by
    name.

    The graph loses the initial values of the variables: the caller passes them as inputs.
    """
    reads, assigns = (by_variable(graph.layers, kind) for kind in ("readvalue", "assign"))
    for variable, layers in (*reads.items(), *assigns.items()):
        if len(layers) > 1:
            raise GraphError(f"the variable '{variable}' has two {layers[0].type} layers")
    names: dict[str, str] = {}
    with graph.changes:
        for variable, (read,) in reads.items():
            old = read.outputs[0]
            kept = old.names
            graph._give_names(old, ())
            free = variable not in graph.content.by_name
            parameter = graph.parameter(old.element_type, old.shape)
            if free:
                graph._give_name(parameter.layer, variable)
            name = kept[0] if kept else variable
            graph._name_tensor(parameter, kept or (variable,))
            graph._take_over(old, parameter)
            before = graph._reachable([read])
            graph._remove_all([read])
            for assign in assigns.get(variable, ()):
                new = assign.inputs[0].source
                graph._remove_all([assign])
                graph.result(new, None if new.names else f"{name}.next")
                names[name] = new.names[0]
            graph._remove_unneeded(before)
    return names
