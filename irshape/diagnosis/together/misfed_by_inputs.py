"""What layers declare in place of what inputs of the model give them, told once.

The shape of an input is its author's choice: it may be wrong, or what follows it may be old.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model.graph import Finding, Layer
from ...rule_ids import INPUT_MISMATCH, LOOSER_DECLARATION, RuleId
from ..candidate import Diagnosis
from ..rule_groups import BETWEEN_PORTS
from ..telling import changed_sizes
from .told import Causes, joined


def of_inputs(causes: Causes, everything: Sequence[Finding]) -> None:
    """If one layer alone declares something else, it may itself be wrong, unless what it declares
    to give fits that.

    everything: all that is found, reported or not.
    """
    looser = {finding.layer for finding in everything if finding.rule == LOOSER_DECLARATION}
    fed = _misfed(causes)
    groups: dict[tuple[RuleId, frozenset[str]], list[Layer]] = {}
    for parameter, given in fed.items():
        if any(_is_decided(causes.of(each), parameter) for each in given):
            continue
        if len({each.actual for each in given}) > 1:
            continue
        several = len({each.layer for each in given}) > 1 or given[0].layer in looser
        if several or len(fed) > 1:
            groups.setdefault((given[0].rule, changed_sizes(given)), []).append(parameter)
    for (rule, sizes), parameters in groups.items():
        given = [each for parameter in parameters for each in fed[parameter]]
        several = len({each.layer for each in given}) > 1 or given[0].layer in looser
        # a type is no choice as a shape is: that of one input has a cause of its own
        is_choice = rule == INPUT_MISMATCH if len(parameters) == 1 else bool(sizes)
        if several and is_choice:
            _tell(causes, parameters, given)


def _misfed(causes: Causes) -> dict[Layer, list[Finding]]:
    """What is found at the inputs of layers that inputs of the model feed, by the latter."""
    result = causes.context.results[causes.context.model.net]
    layers = result.body.layers
    position = {layer: at for at, layer in enumerate(layers)}
    groups: dict[Layer, list[Finding]] = {}
    for finding in causes.findings:
        if finding.rule in BETWEEN_PORTS and finding.port and finding.layer in position:
            at, number = position[finding.layer], finding.port[1]
            for port, source in zip(finding.layer.inputs, result.wiring.sources[at], strict=True):
                if port.id == number and source and layers[source[0]].is_parameter:
                    groups.setdefault(layers[source[0]], []).append(finding)
    return groups


def _is_decided(cause: Diagnosis, parameter: Layer) -> bool:
    """Whether a cause is one of several findings and none in an input of the model, or certainly
    one in the input: what is behind it refuses that, so that its shape is no choice."""
    if cause.candidates and cause.candidates[0].layer is parameter:
        return cause.certain
    return len(cause.explained) > 1


def _tell(causes: Causes, parameters: Sequence[Layer], fed: Sequence[Finding]) -> None:
    """Layers follow inputs of the model, or these follow them."""
    layers = {each.layer for each in fed}
    of_layers = (f for f in causes.findings if f.layer in layers and f.rule.code.startswith("IR20"))
    also = (finding for each in fed for finding in causes.of(each).explained)
    explained = tuple(dict.fromkeys((*of_layers, *also)))
    count, first = len(layers), parameters[0]
    name = "shape" if fed[0].rule == INPUT_MISMATCH else "element_type"
    given = [f'{name}="{each.attribute(name)}" of {each.label}' for each in parameters]
    declared = dict.fromkeys(each.actual or "" for each in fed)
    fault = fed[0].fault._replace(
        message=f"{count} layer{'s declare' if count > 1 else ' declares'} "
        f"{' and '.join(declared)} for what {' and '.join(given)} "
        f"give{'s' if len(given) == 1 else ''} {'them' if count > 1 else 'it'}",
        help=f"change the {name} of the input, or what is declared behind it (irshape fix)",
    )
    offset = causes.source.attribute(first.data_offset, name)
    told = Finding(fault, offset, first, None, explained)
    candidates = [each for finding in fed for each in causes.of(finding).candidates]
    ways = (
        [
            next((c for c in candidates if (c.port, c.layer) == (f.port, f.layer)), None)
            for f in fed
        ],
        [next((c for c in candidates if c.layer is each), None) for each in parameters],
    )
    known = [[each for each in way if each is not None] for way in ways]
    cures = [joined(own) for way, own in zip(ways, known, strict=True) if len(own) == len(way)]
    causes.add(Diagnosis(told, explained, tuple(cures), False))
