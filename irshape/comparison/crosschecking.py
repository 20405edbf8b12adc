"""Cross-checks the element type, shape and value of every layer with OpenVINO.

A model in another format is compared with the runtime of that format, see `foreign`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from ..execution.feeds import Fed, Given, by_id
from ..execution.inputs import random_inputs
from ..execution.session import ExecutionError, Observer, Session
from ..inference.engine import infer
from ..inference.result import BodyResult
from ..model.graph import Model
from ..numbers.tolerance import Hint, checked, doubtful
from ..shapes import PartialShape
from . import foreign
from .answers import Answer, Device, Question, Unanswered
from .crosscheck_run import Circumstances, CrosscheckRun, device_name
from .devices import OpenVinoDevice
from .judging import Judge
from .parts import is_custom, runnable_part
from .progress import Progress
from .recording import Recorder, Recording
from .result import Comparison, Row, TensorType, Verdict


def crosscheck(
    model: Model,
    inputs: Given = None,
    *,
    device: str = "CPU",
    hint: Hint | None = None,
    layers: Literal["all", "outputs"] = "all",
    config: Mapping[str, str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    save: str | Path | None = None,
    record: str | Path | None = None,
    replay: str | Path | None = None,
    max_memory: int | None = None,
    extension_libraries: Sequence[str | Path] = (),
    progress: Observer | None = None,
    phase: Callable[[str, int], None] | None = None,
) -> Comparison:
    """Implements `irshape.crosscheck`, which describes the parameters and the errors."""
    checked(rtol=rtol, atol=atol)
    told = Progress(progress, phase)
    if model.format.runtimes:
        openvino_only = hint or save or config or record or replay or extension_libraries
        if openvino_only or layers != "all":
            raise ValueError(
                "--hint, --layers, --save, --record, --replay and --extension-library are for "
                "OpenVINO's devices: `irshape convert` the model, and cross-check the IR"
            )
        return foreign.crosscheck(
            model, inputs, device=device, rtol=rtol, atol=atol, seed=seed, progress=told
        )
    folder = None if save is None else Path(save)
    options: dict[str, Any] = {
        "device": device,
        "config": dict(config or {}),
        "layers": layers,
        "hint": hint,
    }
    if extension_libraries:
        options["libraries"] = [str(Path(library).resolve()) for library in extension_libraries]
    if replay is not None:
        if inputs is not None or record is not None:
            raise ValueError("--replay uses the recorded inputs: give neither inputs nor --record")
        recording = Recording(replay, max_memory)
        circumstances = Circumstances(recording, options, told, rtol, atol, folder, max_memory)
        return _replayed(model, recording, circumstances)
    session = Session(model, max_memory=max_memory)
    if inputs is None:
        inputs = random_inputs(model, seed, max_memory=max_memory)
    fed = session.bind(inputs)
    with ExitStack() as stack:
        live: Device = stack.enter_context(OpenVinoDevice())
        recorder = None if record is None else stack.enter_context(Recorder(live))
        asked = recorder or live
        circumstances = Circumstances(asked, options, told, rtol, atol, folder, max_memory)
        comparison = compared(session, fed, circumstances)
        if recorder is not None and record is not None:
            recorder.save(record)
    return comparison


def _replayed(model: Model, recording: Recording, circumstances: Circumstances) -> Comparison:
    path, options = recording.path, circumstances.options
    with recording:
        for name, default in (("device", "CPU"), ("hint", None), ("layers", "all"), ("config", {})):
            if options[name] not in (default, recording.options[name]):
                raise ValueError(
                    f"'{path}' was recorded with {name} {recording.options[name]!r}, "
                    f"not {options[name]!r}"
                )
        session = Session(model, max_memory=circumstances.max_memory)
        known = recording.inputs
        fed = session.bind({each: known[each.id] for each in model.parameters if each.id in known})
        comparison = compared(session, fed, circumstances._replace(options=recording.options))
        if not recording.is_of(model):
            comparison.notes.append(
                f"'{path}' was recorded from another model: its layers or constants differ"
            )
        comparison.notes += [
            f"'{path}' contains no answer of the device for {label}"
            for label in dict.fromkeys(recording.unanswered)
        ]
    return comparison


def compared(session: Session, fed: Fed, circumstances: Circumstances) -> Comparison:
    """Compares a model with a device's answer.

    Raises `ExecutionError` for inputs that do not fit, `Unanswered` if a recording has no answer.
    """
    device, options, told, label = *circumstances[:3], circumstances.label
    model, asked_of = session.model, options["device"]
    session.check_fit(fed)
    told.begin(f"running {label.rstrip('/') or 'the model'} on {asked_of}")
    answer = device.ask(Question(label, model, by_id(fed), options))
    problems: list[str] = []
    if answer.refused:
        problems.append(f"OpenVINO {answer.version} refuses the model: {answer.refused}")
    if answer.crashed:
        problems.append(f"OpenVINO {answer.version} crashed: {answer.crashed}")
    if answer.problem:
        problems.append(
            f"OpenVINO {answer.version} cannot run the model on {asked_of}: {answer.problem}"
        )
    runs, notes = 0, list[str]()
    if problems and not answer.values:
        try:
            part = runnable_part(session, fed, circumstances, answer)
        except ExecutionError as problem:
            part = None
            problems.insert(0, f"irshape cannot run the model: {problem}")
        if part is not None:
            answer, runs, notes = part
    if answer.refused and not options.get("libraries") and any(map(is_custom, model.walk())):
        problems.append(
            "--extension-library FILE loads the library of a custom operation"
            + ("" if answer.values else "; `irshape extract --to` saves the layers before it")
        )
    comparison = Comparison(model, asked_of, answer, _shape_rows(model, answer), problems)
    comparison.notes += notes
    hint: Hint | None = options["hint"]
    comparison.hint = hint
    precision = _precision(answer.precision, hint)
    if precision != (hint or "f32"):
        comparison.notes.append(
            f"the device computes in {precision}, but {hint or 'f32'} was requested"
        )
    if answer.values:
        known = circumstances._replace(precision=precision)
        run = CrosscheckRun(session, answer, comparison, known, fed)
        try:
            run.compare()
            Judge(run, compared, probes=runs).judge().explain_precision()
        except MemoryError:  # beside what layers need, which refuse by themselves
            problems.append("there is not enough memory to compare all tensors of the device")
        comparison.notes += doubtful(comparison.equal, circumstances.atol)
    if options["layers"] == "outputs" and not label and not comparison.values_agree:
        return _by_layers(comparison, session, fed, circumstances)
    return comparison


def _by_layers(
    outputs: Comparison, session: Session, fed: Fed, circumstances: Circumstances
) -> Comparison:
    """Compares all layers to find out why an output of the model differs."""
    try:
        options = {**circumstances.options, "layers": "all"}
        whole = compared(session, fed, circumstances._replace(options=options))
    except Unanswered:
        outputs.notes.append(
            "the cause of the difference is not known: the recording contains only the outputs"
        )
        return outputs
    whole.notes.append("an output differs, so all layers were compared")
    return whole


def _precision(said: str | None, hint: Hint | None) -> Hint:
    """Returns the precision that the device reports or, if it reports none, the requested one."""
    return next((known for known in ("f32", "f16", "bf16") if known == said), hint or "f32")


def _shape_rows(model: Model, answer: Answer) -> list[Row]:
    """Returns a row for each output, with the types and shapes of irshape and of OpenVINO."""
    rows: list[Row] = []

    def visit(result: BodyResult) -> None:
        for position in result.wiring.order:
            layer = result.body.layers[position]
            for inner in result.inner.get(position, {}).values():
                visit(inner)
            theirs = answer.shapes.get(device_name(layer), ())
            for port, (tensor, (element_type, shape)) in enumerate(
                zip(result.outputs[position], theirs, strict=False)
            ):
                ours = TensorType(tensor.element_type.name, tensor.shape)
                known = TensorType(element_type, PartialShape.parse(shape))
                rows.append(Row(layer, port, ours, known, _shape_verdict(ours, known)))

    visit(infer(model).result)
    return rows


def _shape_verdict(inferred: TensorType, known: TensorType) -> Verdict:
    if known.element_type not in (inferred.element_type, "dynamic"):
        return "differs"
    if known.shape == inferred.shape:
        return "equal"
    return "tighter" if known.shape.encloses(inferred.shape) else "differs"
