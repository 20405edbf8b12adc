"""Takes graphs apart and puts them together: extract, split, merge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ..model.ports import names_in
from ..model.rt_info import parse
from ..model.source import Passage
from .copying import duplicate, transplant
from .editing import Editing, require_mapping
from .errors import GraphError, checked_count, checked_name
from .inferring import by_variable
from .nodes import GraphLayer, Output, described, feeding

G = TypeVar("G", bound=Editing)


Names = Iterable["str | Output | tuple[str, Output]"]
"""Tensors: by their names, as outputs, or as pairs of a new name and an output."""

End = tuple["str | None", Output, "GraphLayer | None"]
"""An output of a part: the requested name, the tensor, and the Result that the name stands for."""


def extracted(graph: G, inputs: Names | None, outputs: Names | None, *, again: bool = False) -> G:
    """Implements `Graph.extract`. again: whether a tensor that is requested twice becomes two
    outputs."""
    part = duplicate(graph)

    def twin(given: str | Output | tuple[str, Output]) -> Output:
        output = given[1] if isinstance(given, tuple) else graph.tensor(given)
        return part.content.by_id[output.layer.id]._outputs[output.index]

    wanted: list[End] = (
        [(None, layer.inputs[0].source, layer) for layer in part.results]
        if outputs is None
        else [_end_of(each, twin(each)) for each in outputs]
    )
    asked = None if inputs is None else {twin(each): _name_of(each) for each in inputs}
    with part.changes:
        starts: dict[Output, Output] = {}
        for old, name in (asked or {}).items():
            fixed = old.layer.raw.is_parameter
            starts[old] = old if fixed else part._replace_by_parameter(old, name or old.name)
        ends = [(name, starts.get(output, output), result) for name, output, result in wanted]
        once = {(output, result): (name, output, result) for name, output, result in ends}
        names = {new: new.names for new in starts.values()}
        _keep_results(part, ends if again else list(once.values()))
        needed = part._reachable(part.results)
        needed |= _states_of(part, needed)
        if asked is not None:
            allowed = {output.layer for output in starts.values()}
            for layer in part.parameters:
                if layer in needed and layer not in allowed:
                    raise GraphError(
                        f"the outputs also depend on the input '{layer.name}'",
                        help="give this input, too, or a tensor that depends on this input",
                        argument="outputs" if outputs is None else None,
                    )
            needed |= allowed
        part._remove_all(layer for layer in part.layers if layer not in needed)
        for old, name in (asked or {}).items():
            new = starts[old]
            if new is old or not name:
                continue
            part._give_names(new, names[new])  # those of removed Results too
            if name not in part.content.by_name:
                part._give_name(new.layer, name)
            elif name not in part.content.by_tensor:
                part._give_names(new, (*new.names, name))
    return part


def _name_of(given: str | Output | tuple[str, Output]) -> str | None:
    if isinstance(given, tuple):
        return given[0]
    return given if isinstance(given, str) else None


def _end_of(given: str | Output | tuple[str, Output], output: Output) -> End:
    """Returns an output with its requested name and the Result of this name, if there is one."""
    if not isinstance(given, str) or not output.users:
        return _name_of(given), output, None
    results = [each for each in output.layer.users if each.raw.is_result]
    own = [each for each in results if each.raw.output_names and given in each.output_names]
    named = [each for each in results if each.name == given and given not in output.names]
    return given, output, next(iter([*own, *named]), None)


def _keep_results(graph: Editing, wanted: Sequence[End]) -> None:
    """Makes the wanted Results the only ones, in this order: adds missing Results, removes
    others."""
    place = graph.content.layers
    kept: list[GraphLayer] = []
    for name, output, asked in wanted:
        last = place[kept[-1]] if kept else -1
        own = [] if asked is None else names_in(asked.raw.output_names)
        result = next(
            (
                end.layer
                for end in output.users
                if end.layer.raw.is_result
                and asked in (None, end.layer)
                and end.layer not in kept
                and place[end.layer] > last
            ),
            None,
        )
        if result is None:
            free = name if name is not None and name not in graph.content.by_tensor else None
            result = graph.result(output, None if output.names else free)
            graph._give_output_names(result, own)
        kept.append(result)
    graph._remove_all(layer for layer in graph.results if layer not in kept)


def _states_of(graph: Editing, needed: set[GraphLayer]) -> set[GraphLayer]:
    """Returns the Assigns of the variables that these layers read, and all layers on which these
    Assigns depend."""
    states: set[GraphLayer] = set()
    while True:
        read = by_variable(needed | states, "readvalue")
        assigned = by_variable(graph.layers, "assign").items()
        reached = graph._reachable(
            each for variable, assigns in assigned if variable in read for each in assigns
        )
        if reached <= states:
            return states
        states |= reached


def merged(
    first: G, second: Editing, connections: Mapping[str, str], prefix: str, name: str | None
) -> G:
    """Implements `irshape.merge`."""
    require_mapping(connections, "a dictionary from tensors to inputs, as in {'out': 'in'}")
    whole = duplicate(first)
    if name is not None:
        whole.name = name
    if prefix:
        checked_name(prefix)
    fed = {}
    for source, end in connections.items():
        old, new = second._input(end), whole.tensor(source)
        if not old.shape.compatible(new.shape) or old.element_type is not new.element_type:
            raise GraphError(
                f"the tensor '{source}' is {described(new)}, but the input '{end}' takes "
                f"{described(old)}",
                help="reshape the input, or insert a Convert",
            )
        fed[old] = new
    inner = [each for each in second.sorted() if not (each.raw.is_parameter or each.raw.is_result)]
    every = (*second.parameters, *inner, *second.results)  # inputs and outputs keep their order
    layers = [layer for layer in every if fed.keys().isdisjoint(layer.outputs)]
    taken = [
        each
        for layer in layers
        for each in (layer.name, *(name for out in layer.outputs for name in out.names))
        if prefix + each in whole.content.by_name or prefix + each in whole.content.by_tensor
    ]
    clash = [each for each in taken if each in second.content.by_tensor]
    if clash:
        raise GraphError(
            f"both models have a tensor '{prefix}{clash[0]}'",
            help="give a prefix for the second model's names, as in prefix='second/'",
            argument="prefix",
        )
    ends = [source for source in connections if whole.tensor(source) in whole.outputs]
    connected = dict.fromkeys(result for source in ends for result in whole.results_of(source))
    transplant(layers, whole, fed, named=lambda old: prefix + old)
    if second.rt_info_span and not parse(first.text_source, first.rt_info_span):
        whole.rt_info_span = Passage.of(second.rt_info_span, second.text_source)
    with whole.changes:
        whole._remove_all(connected)
    return whole


def parts_of(graph: G, cuts: Sequence[Sequence[str | Output] | str | Output]) -> list[G]:
    """Implements `Graph.split`."""
    stages = [[cut] if isinstance(cut, (str, Output)) else cut for cut in cuts]
    bounds = [[graph.tensor(given) for given in stage] for stage in stages]
    groups = _groups(graph, bounds)
    fixed = fixed_layers(graph)
    parts = []
    for number in range(len(groups)):
        part = _part(graph, groups, number, fixed)
        if not part.results:
            raise GraphError(
                f"part {number + 1} would be empty: nothing is computed between its cuts",
                help="give the cuts in the order in which the graph computes them",
            )
        parts.append(part)
    return parts


def _groups(graph: Editing, bounds: Sequence[Sequence[Output]]) -> list[set[GraphLayer]]:
    """Returns the layers of each part. Each Assign is in the part that reads its variable."""
    variables = variables_of(graph)
    done: set[GraphLayer] = set()
    groups: list[set[GraphLayer]] = []
    for number, tensors in enumerate(bounds, 1):
        reached = done | graph._reachable(output.layer for output in tensors)
        waiting = variables
        while ready := [each for each in waiting if each.read in reached]:
            waiting = [each for each in waiting if each.read not in reached]
            for variable in ready:
                more = graph._reachable([variable.assign]) - reached - {variable.assign}
                if any(end.source in tensors for layer in more for end in layer.inputs):
                    raise GraphError(
                        f"the variable '{variable.name}' is read in part {number} and assigned "
                        "in a later one",
                        help="cut before the variable is read, or after it is assigned",
                    )
                reached |= {*more, variable.assign}
        groups.append(reached - done)
        done = reached
    groups.append({layer for layer in graph.layers if layer not in done})
    return groups


class Variable(NamedTuple):
    """A variable of a graph, with the layers that read and assign it."""

    name: str
    read: GraphLayer
    assign: GraphLayer


def variables_of(graph: Editing) -> list[Variable]:
    """Returns the variables that the net both reads and assigns."""
    reads, assigns = (by_variable(graph.layers, kind) for kind in ("readvalue", "assign"))
    return [Variable(name, reads[name][-1], assigns[name][-1]) for name in reads if name in assigns]


def _part(graph: G, groups: list[set[GraphLayer]], number: int, fixed: Collection[GraphLayer]) -> G:
    """Returns one part as a graph. It has tensors of earlier parts as inputs, and outputs for the
    later parts."""
    group = {layer for layer in groups[number] if not layer.raw.is_parameter and layer not in fixed}
    inside = [layer for layer in graph.layers if layer in group]
    crossing = feeding((each for each in inside if not each.raw.is_result), group.union(fixed))
    last = number == len(groups) - 1
    later = set().union(*groups[number + 1 :])
    own = {
        *group,
        *(each for each in graph.layers if last and (each.raw.is_parameter or each in fixed)),
    }
    given = [output for output in graph.outputs if output.layer in own]
    given += [
        output
        for layer in inside
        for output in layer.outputs
        if not output._results and any(user.layer in later for user in output.users)
    ]
    return extracted(
        graph,
        map(_named, (*crossing, *(each for each in given if each.layer.raw.is_parameter))),
        map(_named, given),
        again=True,
    )


def fixed_layers(graph: Editing) -> set[GraphLayer]:
    """Returns the layers that depend on no input and no variable. Every part has its own copies of
    them."""
    fixed: set[GraphLayer] = set()
    for layer in graph.sorted():
        free = layer.raw.folded_type in ("parameter", "readvalue")
        if not free and fixed.issuperset(layer.producers):
            fixed.add(layer)
    return fixed


def _named(output: Output) -> tuple[str, Output]:
    """Returns an output and a unique name for it, even if several layers have the same name."""
    name, graph = output.name, output.layer.graph
    taken = graph.content.by_tensor.get(name, output) is not output
    if output.names or not (taken or len(graph.named(output.layer.name)) > 1):
        return name, output
    name = f"{name}/{output.layer.id}"
    while name in graph.content.by_tensor or name in graph.content.by_name:
        name += "_"
    return name, output


def around(graph: G, layer: str | GraphLayer, distance: int = 2) -> G:
    """Returns a graph of a layer and all layers that are at most `distance` edges away from it.

    Raises `KeyError`, and `ArgumentError` for a distance that is not a whole number of 0 or more.
    """
    distance = checked_count(distance, "distance", 0)
    centre = graph[layer] if isinstance(layer, str) else layer
    graph._own(centre)
    near, border = {centre}, [centre]
    for _ in range(distance):
        border = [
            each
            for at in border
            for each in (*at.producers, *at.users)
            if each not in near and not each.raw.is_result
        ]
        near.update(border)
        if not border:
            break
    inside = [each for each in graph.layers if each in near and not each.raw.is_parameter]
    starts = [each for each in feeding(inside, near) if not each.layer.raw.is_constant]
    starts += [each.outputs[0] for each in near if each.raw.is_parameter]
    ends = [
        output
        for each in inside
        for output in each.outputs
        if not each.raw.is_constant
        and (
            not output.users
            or output._results
            or any(user.layer not in near for user in output.users)
        )
    ]
    return extracted(graph, map(_named, starts), map(_named, ends))
