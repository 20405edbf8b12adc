"""Runs a part of a model on a device that cannot run all of it.

Layers that the device may not support are removed. irshape computes their outputs, and the device
gets them as inputs. An input without an element type in the IR gets the type of its array.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..execution.feeds import Fed, by_id
from ..execution.session import ExecutionError, Session
from ..inference.engine import infer
from ..model.graph import Body, Edge, Layer, Model
from ..model.ports import Port
from ..model.wiring import OutputRef, wire
from ..numpy_types import Array, element_type_of
from ..ops.registry import UnknownOperation, find
from .answers import Answer, Question, Unanswered
from .crosscheck_run import Circumstances
from .devices import written
from .reproducer import fresh_ids, of_body, parameter_in_place_of, with_result

_NAMED = re.compile(r"['\"]([\w/]+)['\"]|\bname:? +([\w/]+)|\b[Oo]peration:? +([\w/]+)")
"""Matches the name of a node in a plugin's message. Other numbers in it are line numbers of source
files."""


def runnable_part(
    session: Session, fed: Fed, circumstances: Circumstances, refused: Answer
) -> tuple[Answer, int, list[str]] | None:
    """Returns a device's answer for the part of a model that the device can run, the number of runs
    in irshape and on the device, and notes on how the part differs from the model.

    If OpenVINO refuses the model, leaves out the custom operations. Otherwise, tries the model with
    inputs of known types, then without the layers that the device's message names, then without
    layers with bodies, until the device returns values. Returns None if the device does not exist
    or runs none of these parts, if it infers no shapes, or if only outputs are compared.
    refused: the device's answer for the whole model.

    Raises `ExecutionError` if irshape cannot compute the layers that are left out.
    """
    device, options, told, label = *circumstances[:3], circumstances.label
    known = refused.refused or (refused.shapes and refused.facts.get("capabilities"))
    if not known or options["layers"] != "all":
        return None
    runs, failed = 0, None
    model = session.model
    open_inputs = [each for each in model.parameters if _is_open(each)]
    for without in _candidates(model, refused, bool(open_inputs)):
        wanted = (
            f"the model without {_layers(without)}" if without else "the model with typed inputs"
        )
        told.begin(f"running {wanted} on {options['device']}")
        runs += 1 + bool(without)
        try:
            outputs = values_of(session, fed, without) if without else {}
        except ExecutionError as problem:
            failed = problem
            continue
        try:
            part, inputs = _without(model, without, outputs, fed, as_inferred=bool(refused.refused))
            with tempfile.TemporaryDirectory(prefix="irshape-") as folder:
                arrays = {**by_id(fed), **inputs}
                model_file = written(part, Path(folder))
                answer = device.ask(Question(f"{label}{wanted}", model_file, arrays, options))
        except (Unanswered, ValueError, OSError):
            continue
        if answer.values:
            notes = [_typed_note(each, fed[each]) for each in open_inputs]
            if without:
                notes.append(left_out("the device", without))
            return (
                answer._replace(shapes=refused.shapes or answer.shapes, refused=refused.refused),
                runs,
                notes,
            )
    if failed is not None:
        raise failed
    return None


def is_custom(layer: Layer) -> bool:
    """Returns whether OpenVINO needs an extension library for the operation of a layer."""
    try:
        return find(layer.type, layer.version).custom_version is not None
    except UnknownOperation:
        return True


def left_out(runtime: str, layers: Iterable[Layer]) -> str:
    """Returns a note about layers that a runtime did not run."""
    return (
        f"{runtime} runs the model without {', '.join(layer.label for layer in layers)}; "
        "all other layers are compared, with irshape's values in place of missing values"
    )


def _is_open(parameter: Layer) -> bool:
    """Returns whether an input of the model has no definite element type in the IR."""
    return parameter.attribute("element_type") == "dynamic"


def _typed_note(parameter: Layer, array: Array) -> str:
    element_type = element_type_of(array).name
    return (
        f"the IR does not fix the element type of the input '{parameter.name}'; irshape compares "
        f"the model with {element_type}"
    )


def _layers(layers: list[Layer]) -> str:
    return f"layer{'s' * (len(layers) > 1)} {', '.join(layer.id for layer in layers)}"


def _candidates(model: Model, refused: Answer, has_open_inputs: bool) -> Iterator[list[Layer]]:
    """Yields groups of layers to leave out because the device may not support them. The first group
    is empty if inputs lack element types: if they get types, the whole model may run."""
    if refused.refused:
        yield from filter(None, [[layer for layer in model.net.layers if is_custom(layer)]])
        return
    if has_open_inputs:
        yield []
    names = {name for groups in _NAMED.findall(refused.problem or "") for name in groups}
    named = [layer for layer in model.net.layers if layer.id in names and layer.computes]
    with_bodies = [layer for layer in model.net.layers if layer.bodies]
    if named:
        yield named
    if with_bodies and with_bodies != named:
        yield with_bodies


def values_of(
    session: Session, fed: Fed, layers: Iterable[Layer]
) -> dict[Layer, tuple[Array, ...]]:
    """Returns irshape's values of the outputs of some layers. Raises `ExecutionError`."""
    outputs: dict[Layer, tuple[Array, ...]] = dict.fromkeys(layers, ())

    def observe(layer: Layer, _: tuple[Array, ...], computed: tuple[Array, ...]) -> None:
        if layer in outputs:
            outputs[layer] = computed

    session.sibling().run(fed, observe=observe)
    return outputs


def _without(
    model: Model,
    layers: Iterable[Layer],
    outputs: Mapping[Layer, tuple[Array, ...]],
    fed: Fed,
    *,
    as_inferred: bool,
) -> tuple[Model, dict[str, Array]]:
    """Returns a copy of a model without some layers, and the arrays for its new Parameters by id.

    Parameters replace the outputs of the removed layers, and Results consume their inputs.
    as_inferred: whether the new Parameters have the inferred shapes, which may be dynamic, as in
    the whole model. Otherwise, the Parameters have the shapes of the arrays.
    """
    gone = set(layers)
    fresh = fresh_ids(model.net)
    inference = infer(model) if as_inferred else None
    all_layers = model.net.layers
    body = Body()
    body.layers = [
        _typed(layer, fed[layer]) if layer.is_parameter and _is_open(layer) else layer
        for layer in all_layers
        if layer not in gone
    ]
    arrays: dict[str, Array] = {}
    parameters: dict[OutputRef, Layer] = {}
    ended: set[OutputRef] = set()
    for consumer, port, source in _connections(model):
        producer, index = all_layers[source[0]], source[1]
        start, start_port = producer.id, producer.outputs[index].id
        if consumer in gone:
            if producer not in gone and producer.computes and source not in ended:
                ended.add(source)
                with_result(body, producer, index, next(fresh))
            continue
        if producer in gone:
            if source not in parameters:
                array = outputs[producer][index]
                shape = None if inference is None else inference.outputs(producer)[index].shape
                if shape is not None and shape.rank is None:
                    shape = None  # plugins refuse a dynamic rank
                parameter = parameter_in_place_of(producer, index, next(fresh), array, shape)
                parameters[source] = parameter
                arrays[parameter.id] = array
                body.layers.append(parameter)
            start, start_port = parameters[source].id, "0"
        body.edges.append(Edge(start, start_port, consumer.id, port.id, -1))
    return of_body(model, model.path, body), arrays


def _connections(model: Model) -> Iterator[tuple[Layer, Port, OutputRef]]:
    """Yields each layer of the net with each of its connected inputs."""
    for layer, sources in zip(model.net.layers, wire(model.net).sources, strict=True):
        for port, source in zip(layer.inputs, sources, strict=True):
            if source is not None:
                yield layer, port, source


def _typed(parameter: Layer, array: Array) -> Layer:
    """Returns a Parameter with the element type of an array and the shape that the IR declares."""
    typed = parameter_in_place_of(parameter, 0, parameter.id, array)
    typed.name = parameter.name
    element_type = element_type_of(array).name
    typed.items = tuple(element_type if text == "dynamic" else text for text in parameter.items)
    typed.outputs[0].id = parameter.outputs[0].id
    typed.outputs[0].dims = parameter.outputs[0].dims
    return typed
