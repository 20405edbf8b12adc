"""Runs the device again with fewer outputs, since the choice of outputs may change values.

A device merges neighbouring layers into one, except where it has to return the tensor between them.
Such a tensor can be wrong, although the device computes the model correctly when it returns only
the outputs of the model. If the device no longer returns a tensor, irshape computes its consumers
from irshape's own value, and compares the consumers instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..execution.feeds import by_id
from ..model.graph import Layer
from ..ops.registry import declaration_of
from .answers import Question, Unanswered
from .crosscheck_run import CrosscheckRun, device_name
from .result import Comparison, Row


def with_fewer_tensors(run: CrosscheckRun, suspects: Sequence[Layer]) -> Iterator[CrosscheckRun]:
    """Compares the model up to twice: without requesting the tensors of `suspects`, then also
    without those of replaceable neighbours. Always requests the outputs of the model."""
    outputs = {producer for producer, _ in run.comparison.outputs}
    beside = {each for layer in suspects for each in _neighbours(run, layer)}
    replaceable = {each for each in beside if _is_replaceable(run, each)}
    asked: list[set[Layer]] = [set()]
    for layers in (set(suspects) - outputs, (replaceable | set(suspects)) - outputs):
        if layers not in asked:
            asked.append(layers)
            again = _without(run, sorted(layers, key=run.positions.__getitem__))
            if again is None:
                return
            again.compare()
            yield again


def _neighbours(run: CrosscheckRun, layer: Layer) -> set[Layer]:
    """Returns the producers and the consumers of a layer."""
    position, wiring = run.positions[layer], run.wiring
    beside = {source[0] for source in wiring.sources[position] if source is not None}
    beside.update(user.position for user in wiring.users[position])
    return {run.layers[each] for each in beside}


def _is_replaceable(run: CrosscheckRun, layer: Layer) -> bool:
    """Whether irshape's value of a layer can be used in place of the device's: if the device merges
    the layer, or if both values agree and the layer cannot turn a small error into a whole step."""
    rows = [run.rows[number] for number in run.rows_of.get(layer, ())]
    declared = declaration_of(layer)
    steps = declared is None or declared.stepwise or layer.folded_type == "fakequantize"
    agree = bool(rows) and all(row.own_verdict == "equal" for row in rows)
    return any(row.merged for row in rows) or (agree and not steps)


def _without(run: CrosscheckRun, unasked: Sequence[Layer]) -> CrosscheckRun | None:
    """Requests all tensors from the device, except the outputs of some layers. Returns a run with
    the answer, in which nothing is compared yet; None if the device returns no values."""
    circumstances, session = run.circumstances, run.session
    plural = "s" * (len(unasked) > 1)
    ids = ", ".join(layer.id for layer in unasked)
    without = f"without the tensor{plural} of layer{plural} {ids}"
    device = circumstances.options["device"]
    circumstances.progress.begin(f"{run.where}running the model on {device} {without}")
    options = {**circumstances.options, "unasked": [device_name(layer) for layer in unasked]}
    label = f"{circumstances.label}the model {without}"
    try:
        question = Question(label, session.model, by_id(run.fed), options)
        answer = circumstances.device.ask(question)
    except (Unanswered, ValueError, OSError):
        return None
    if not answer.values:
        return None
    rows = [
        Row(row.layer, row.port, row.inferred, row.runtime, row.shape_verdict) for row in run.rows
    ]
    comparison = Comparison(session.model, run.comparison.device, answer, rows, [])
    given = {name for name, _ in answer.values}  # a recording may have more than was asked for
    absent = frozenset(layer for layer in unasked if device_name(layer) not in given)
    return CrosscheckRun(session.sibling(), answer, comparison, circumstances, run.fed, absent)
