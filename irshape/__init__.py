"""irshape reads, checks, evaluates and cross-checks OpenVINO IR files in pure Python.

    model = irshape.load("model.xml")
    report = irshape.validate("model.xml")
    inference = irshape.infer(model, shapes={"x": "[1,3,?,?]"})
    outputs = irshape.run(model, {"x": array})
    comparison = irshape.crosscheck(model, {"x": array})
    inspection = irshape.inspect(model)
    difference = irshape.diff("before.xml", "after.xml")

    graph = irshape.Graph.load("model.xml")

The functions take a path, a loaded `Model` or a `Graph`; `load` and `fix` take a path. Importing
irshape is fast: it does not import NumPy, and each function imports the modules that it uses.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeVar

from .version import __version__ as __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from concurrent.futures import Executor
    from typing import IO, Literal, TypeGuard

    from .checking.sessions import Session as Session
    from .comparison.model_pairs import ModelComparison as ModelComparison, Pair as Pair
    from .comparison.models import Runtime as Runtime
    from .comparison.result import Comparison as Comparison, Inside as Inside, Row as Row
    from .diagnostics.report import (
        Diagnostic as Diagnostic,
        FileReport as FileReport,
        LoadError as LoadError,
        Report as Report,
    )
    from .differences.result import (
        Change as Change,
        LayerDiff as LayerDiff,
        ModelDiff as ModelDiff,
        Unmatched as Unmatched,
    )
    from .element_types import ElementType as ElementType
    from .execution.interpreter import Observer as Observer
    from .execution.session import ExecutionError as ExecutionError
    from .formats.ir.edits import Edit as Edit
    from .formats.loading import WeightsChoice as WeightsChoice
    from .graph.errors import GraphError as GraphError
    from .graph.graph import Graph as Graph, ModelLike as ModelLike, merge as merge
    from .graph.nodes import GraphLayer as GraphLayer, Input as Input, Output as Output
    from .graph.op import op as op
    from .graph.patterns import Match as Match, Pattern as Pattern, Wanted as Wanted
    from .graph.rewriting import Replacement as Replacement, Rewrite as Rewrite, rewrite as rewrite
    from .inference.result import Inference as Inference, Refusal as Refusal
    from .inspection.inspection import Inspection as Inspection
    from .inspection.requirements import Requirements as Requirements
    from .model.graph import Body as Body, Edge as Edge, Layer as Layer, Model as Model
    from .model.ports import Port as Port
    from .model.weights import Constant as Constant, Weights as Weights
    from .numbers.statistics import Errors as Errors
    from .numbers.tolerance import Hint as Hint
    from .numpy_types import Array as Array
    from .ops.tensors import Tensor as Tensor
    from .reduction.reducer import Reduction as Reduction
    from .reduction.search import Progress as Progress
    from .repair.fixing import Fixes as Fixes
    from .rule_ids import Severity as Severity
    from .settings.configuration import Configuration as Configuration
    from .settings.errors import ConfigurationError as ConfigurationError
    from .shapes import Dimension as Dimension, PartialShape as PartialShape, ShapeLike as ShapeLike

_MODULES = {
    name: module
    for module, names in {
        "checking.sessions": "Session",
        "comparison.model_pairs": "ModelComparison Pair",
        "comparison.models": "Runtime",
        "comparison.result": "Comparison Inside Row",
        "diagnostics.report": "Diagnostic FileReport LoadError Report",
        "differences.result": "Change LayerDiff ModelDiff Unmatched",
        "element_types": "ElementType",
        "execution.interpreter": "Observer",
        "execution.session": "ExecutionError",
        "formats.ir.edits": "Edit",
        "formats.loading": "WeightsChoice",
        "graph.errors": "GraphError",
        "graph.graph": "Graph ModelLike merge",
        "graph.nodes": "GraphLayer Input Output",
        "graph.op": "op",
        "graph.patterns": "Match Pattern Wanted",
        "graph.rewriting": "Replacement Rewrite rewrite",
        "inference.result": "Inference Refusal",
        "inspection.inspection": "Inspection",
        "inspection.requirements": "Requirements",
        "model.graph": "Body Edge Layer Model",
        "model.ports": "Port",
        "model.weights": "Constant Weights",
        "numbers.statistics": "Errors",
        "numbers.tolerance": "Hint",
        "numpy_types": "Array",
        "ops.tensors": "Tensor",
        "reduction.reducer": "Reduction",
        "reduction.search": "Progress",
        "repair.fixing": "Fixes",
        "rule_ids": "Severity",
        "settings.configuration": "Configuration",
        "settings.errors": "ConfigurationError",
        "shapes": "Dimension PartialShape ShapeLike",
    }.items()
    for name in names.split()
}
"""The module that defines each public name. A name is imported when it is first used."""

_Declared = TypeVar("_Declared", bound=type | str)


def load(
    path: str | os.PathLike[str] | IO[bytes] | IO[str],
    *,
    weights: WeightsChoice | bytes | IO[bytes] = "beside",
    values: Mapping[str, object] | None = None,
) -> Model:
    """Reads an IR, a file of single layers, an ONNX model or a oneDNN graph. Returns the model.

    path: the model file, `-` for standard input, or an open file of text or bytes.
    weights: the .bin; `"beside"` looks for it beside the .xml, `"none"` reads the model without
    one. irshape maps the .bin, and reads its bytes only when it needs them. For an open file,
    `weights` can also be the content of the .bin, or an open file, and `"beside"` means no .bin.
    values: in a file of single layers, the values of inputs, by operand name, position or port id.

    Raises `OSError` if a file cannot be opened, `LoadError` with the diagnostics if the file
    contains no model, and `ValueError` for a value that fits no input.
    """
    from .diagnostics.report import load as load_model

    return _with_values(load_model(path, weights), values)


def loads(
    text: str | bytes,
    *,
    weights: WeightsChoice | bytes | IO[bytes] = "none",
    values: Mapping[str, object] | None = None,
) -> Model:
    """Reads a model from memory. Returns the model.

    text: the content of an .xml with a `<net>` or single layers, of an ONNX model (as bytes), or of
    a oneDNN graph. weights: the content of the .bin, or its path. values: as for `load`.
    Raises `LoadError` and `ValueError` as `load` does.
    """
    from .diagnostics.report import load_content

    return _with_values(load_content(text, "<text>", weights), values)


def _with_values(model: Model, values: Mapping[str, object] | None) -> Model:
    """Sets the values of inputs in a model of single layers. Returns the model. Raises
    `ValueError`."""
    if values:
        from .formats.ir.fragments import give_values, value_texts

        give_values(model, value_texts(values))
    return model


def register(declared: _Declared) -> _Declared:
    """Declares your own operation or rule for this process. It is also a class decorator.

    declared: a subclass of `irshape.ops.Operation` or of `irshape.rules.Rule`, or the name of an
    operation, `"TYPE"` or `"TYPE@VERSION"`. For a name, irshape takes the types and shapes from the
    ports of the operation's layers. A class that is registered again, for example in a notebook,
    replaces its predecessor. Packages use entry points; the command line has `--plugin FILE.py`.

    Raises `ValueError` if the operation, or the code or name of the rule, exists already.
    """
    from .ops import registry
    from .ops.declaration import Operation
    from .rules import Rule
    from .rules.plugins import register as register_rule

    if isinstance(declared, str):
        from .settings.configuration import extensions

        registry.register_extensions(extensions([declared]))
    elif isinstance(declared, type) and issubclass(declared, Rule):
        register_rule(declared)
    elif isinstance(declared, type) and issubclass(declared, Operation):
        registry.register(declared)
    else:
        raise TypeError(f"register takes an Operation, a Rule or a name, not {declared!r}")
    return declared


def validate(
    target: ModelLike | Iterable[ModelLike],
    *,
    weights: WeightsChoice = "beside",
    values: Mapping[str, object] | None = None,
    also: Collection[str] = (),
    config: Configuration | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
) -> Report:
    """Checks one model or several. Returns a report on all faults.

    target: a path, a `Model`, an open file, or an iterable of them.
    weights, values: as for `load`. A `Model` keeps the `values` after the call.
    also: rules to run that are off by default, by code or name: for example the rules that read the
    whole .bin.
    config: a `Configuration`, or the path of a configuration file. Without it, no configuration
    file is read.
    executor: an executor of `concurrent.futures` that runs the checks of several files. It does not
    change the report.

    The contents of a file never raise an exception. Raises `OSError` if a single path cannot be
    opened (with several paths this is a finding), and `ConfigurationError` if the configuration
    cannot be used.
    """
    from .checking.validation import validate as validate_targets
    from .diagnostics.report import LoadError, Report
    from .formats.ir.fragments import value_texts

    try:
        targets = _targets(target, weights, values)
    except LoadError as unreadable:  # an open file, whose content must not raise
        return Report([unreadable.file])
    return validate_targets(
        targets,
        weights,
        values=value_texts(values or {}),
        also=_several(also),
        config=config,
        executor=executor,
    )


def fix(
    path: str | os.PathLike[str],
    *,
    weights: WeightsChoice = "beside",
    unsafe: bool = False,
    config: Configuration | str | os.PathLike[str] | None = None,
) -> Fixes:
    """Fixes an IR, by default without changing the model that OpenVINO reads. It corrects ports and
    misspelt words. Returns the fixes.

    path: the file. It stays unchanged.
    weights: the .bin, as for `load`.
    unsafe: also make likely corrections that change the model that OpenVINO reads.
    config: the configuration, which selects the findings to fix, as for `validate`.

    The result has the `edits` by byte offset, the fixed `data` and `text`, a `diff()`, the
    findings `fixed` and `remaining`, and `candidates`: for each finding whose cause is known, the
    possible corrections, most likely first.

    Raises `OSError` if a file cannot be opened, `ValueError` for an ONNX model or a oneDNN graph,
    and `ConfigurationError` if the configuration cannot be used. The contents of an IR never raise
    an exception.
    """
    from .checking.fixing_many import fixes_of
    from .settings.configuration import configuration_of

    return fixes_of(path, configuration_of(config), weights=weights, unsafe=unsafe)


def infer(
    model: ModelLike,
    *,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, object] | None = None,
    symbols: bool = False,
    assume: Iterable[str] = (),
) -> Inference:
    """Infers the element type and shape of every output port. Returns the inference.

    model: a path or a `Model`.
    shapes: replaces the shapes of inputs, by their names as for `run`: `{"x": "[1,3,?,?]"}`.
    values: the values of inputs of single layers, as for `load`. A `Model` keeps them afterwards.
    symbols: also express dynamic dimensions by dimensions of the inputs, e.g. `past + seq`.
    `shapes` may then name dimensions, as in `{"input_ids": "[batch,seq]"}`.
    assume: conditions on these names, for example `"seq % 8 == 0"`.

    Raises `ValueError` for a name that no input has, and for a condition that is malformed or
    cannot hold. For a path, also raises the errors of `load`.
    """
    from .inference.engine import infer as infer_model

    return infer_model(
        _with_values(_model(model), values),
        shapes,
        symbols=symbols or bool(assume),
        assume=_several(assume),
    )


def run(
    model: ModelLike,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    outputs: Literal["results", "all"] = "results",
    max_memory: int | None = None,
    force: bool = False,
) -> dict[str, Array]:
    """Executes a model in NumPy. Returns the outputs by name, in the order of its Results.

    model: a path or a `Model`.
    inputs: arrays in the order of the Parameters, or by tensor name, layer name, position, or id in
    the form `"id:3"`.
    outputs: `"all"` returns the outputs of every layer, named `name` or `name:port`.
    max_memory: the maximum number of bytes of all tensors that exist at the same time; by default
    three quarters of the machine's memory.
    force: run a model although `validate` reports errors that affect types, shapes or bytes.

    irshape keeps the plan of the first run of a `Model` for later runs, until the model changes. A
    `Session` also keeps the variables of a stateful model between runs.

    Raises `ExecutionError` for a model that `validate` rejects (its `diagnostics` say why), for
    inputs that do not fit and for layers that cannot be evaluated. For a path, also raises the
    errors of `load`.
    """
    from .checking.sessions import run as run_model

    return run_model(_model(model), inputs, outputs=outputs, max_memory=max_memory, force=force)


def crosscheck(
    model: ModelLike,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    device: str = "CPU",
    hint: Hint | None = None,
    layers: Literal["all", "outputs"] = "all",
    config: Mapping[str, str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    save: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    replay: str | os.PathLike[str] | None = None,
    max_memory: int | None = None,
    extension_libraries: Sequence[str | os.PathLike[str]] = (),
    progress: Observer | None = None,
    phase: Callable[[str, int], None] | None = None,
    force: bool = False,
) -> Comparison:
    """Compares the element types, shapes and values of every layer's outputs with OpenVINO's.
    Returns the comparison.

    An ONNX model is compared with onnxruntime, a oneDNN graph with the oneDNN library.

    model: a path or a `Model`.
    inputs: as for `run`. Without inputs, random ones are drawn from `seed`.
    device: OpenVINO's name of the device; for an ONNX model `"onnxruntime"` or `"reference"`.
    hint: the precision that irshape requests from the device; f32 by default. The tolerance depends
    on the precision in which the device really computes.
    layers: `"outputs"` compares only the outputs of the model, so the layer at fault is not found.
    config: further properties of OpenVINO for compiling the model.
    rtol, atol: replace the tolerances; `atol` is then absolute.
    save: a folder in which to save the layer at fault as a separate IR, with its inputs and
    outputs.
    record: a file in which to record all answers of the device.
    replay: a recorded file, whose answers are used instead of the device's. OpenVINO is not needed.
    Inputs, device, hint and configuration come from the recording.
    max_memory: as for `run`.
    extension_libraries: library files with custom operations of the model (`Core.add_extension`).
    irshape finds the library of an installed openvino_tokenizers itself.
    progress: a function that is called with each layer that irshape computes, its inputs and its
    outputs.
    phase: a function that is called at the beginning of each phase, with its description (for
    example `"comparing layers"`) and the number of layers for which `progress` will be called; 0
    while the device computes.
    force: as for `run`.

    Raises `RuntimeError` if the runtime is not installed (`pip install 'irshape[openvino]'`),
    `ExecutionError` for a model that `validate` rejects and for inputs that do not fit, and
    `ValueError` for options that do not fit the format of the model and for a file that is not a
    recording. For a path, also raises the errors of `load`.
    """
    from .comparison.crosschecking import crosscheck as crosscheck_model

    return crosscheck_model(
        _sound(model, force),
        inputs,
        device=device,
        hint=hint,
        layers=layers,
        config=config,
        rtol=rtol,
        atol=atol,
        seed=seed,
        save=save if save is None else os.fspath(save),
        record=record if record is None else os.fspath(record),
        replay=replay if replay is None else os.fspath(replay),
        max_memory=max_memory,
        extension_libraries=[os.fspath(library) for library in extension_libraries],
        progress=progress,
        phase=phase,
    )


def compare(
    first: ModelLike,
    second: ModelLike,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
    max_memory: int | None = None,
    runtime: Runtime | None = None,
    progress: Observer | None = None,
    force: bool = False,
) -> ModelComparison:
    """Runs two models with the same inputs, and compares their tensors by name. Returns the
    comparison.

    `.blamed` is the first output of the second model that differs even if its layer gets the same
    inputs as the matching layer of the first model.

    first, second: paths or models.
    inputs: the inputs of the first model, as for `run`. Without inputs, random ones are drawn from
    `seed`.
    rtol, atol: replace the tolerances; `atol` is then absolute.
    max_memory: as for `run`.
    runtime: the runtime for an ONNX model; by default onnxruntime if it is installed, else irshape.
    progress: a function that is called with each layer, its inputs and its outputs.
    force: as for `run`.

    Raises `ExecutionError` for a model that `validate` rejects or that cannot be run, `ValueError`
    if the inputs of the models do not match, and `RuntimeError` if the requested runtime is not
    installed. For a path, also raises the errors of `load`.
    """
    from .comparison.models import compare as compare_models

    return compare_models(
        _sound(first, force),
        _sound(second, force),
        inputs,
        rtol=rtol,
        atol=atol,
        seed=seed,
        max_memory=max_memory,
        runtime=runtime,
        progress=progress,
    )


def reduce(
    model: ModelLike,
    predicate: Callable[[Model], bool],
    *,
    jobs: int = 1,
    max_tries: int | None = None,
    max_time: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reduction:
    """Returns a small model that still has a property: for example, that it makes a program fail.

    It removes layers by delta debugging: their outputs become inputs or constants of the model.
    Then it inlines bodies, and makes constants, shapes and attributes smaller. The result breaks no
    rule that the model does not break, so a sound model gives a sound result.

    model: a path or a `Model`.
    predicate: a function that returns whether a model has the property. It must always give the
    same answer for a model.
    jobs: the number of models to try at once, each in a thread. It does not change the result.
    max_tries, max_time: limits after which the search stops, even if a smaller model may exist; the
    time is in seconds.
    progress: a function that is called with each smaller model.

    Raises `ValueError` for a file of single layers, and for a model that loses the property when
    irshape only rewrites it. Also raises `ValueError` if every model found breaks rules that the
    original does not break. For a path, also raises the errors of `load`.
    """
    from .reduction.reducer import reduce as reduce_model

    return reduce_model(
        _model(model),
        predicate,
        jobs=jobs,
        max_tries=max_tries,
        max_time=max_time,
        progress=progress,
    )


def requires(model: ModelLike) -> Requirements:
    """Returns the oldest OpenVINO release that reads a model, and the parts of the model that
    require it.

    model: a path or a `Model`.

    The result has the `release`, `reads("2024.1")`, and `to_dict()`. The answer follows from the
    version of the IR, the operations with their opsets, the element types, and the inferred shapes,
    some of which older releases refuse. Constants in the .bin determine some shapes, so without the
    .bin fewer shapes are known.

    Raises `ValueError` for a model of another format than the IR. For a path, also raises the
    errors of `load`.
    """
    from .inspection.requirements import Requirements

    return Requirements(infer(model))


def diff(
    first: ModelLike,
    second: ModelLike,
    *,
    also: Collection[str] = (),
    ignore: Collection[str] = (),
) -> ModelDiff:
    """Returns the structural difference of two models: layers that were added, removed and changed.

    Layers are matched by their operations and connections, not by their ids and names.

    first, second: paths or models.
    also: further properties to compare: `"names"`, `"rt-info"`, `"version"`.
    ignore: properties not to compare: `"type"`, `"attributes"`, `"element-types"`, `"shapes"`,
    `"constants"`, `"edges"`, `"tensor-names"` and `"order"` of inputs and outputs.

    Raises `ValueError` for any other name. For a path, also raises the errors of `load`.
    """
    from .differences.comparing import diff as diff_models
    from .differences.result import chosen_aspects

    aspects = chosen_aspects(_several(also), _several(ignore))
    return diff_models(_model(first), _model(second), aspects)


def inspect(model: ModelLike, *, shapes: Mapping[str, ShapeLike] | None = None) -> Inspection:
    """Returns a description of the parts of a model and their costs, without executing it.

    model: a path or a `Model`.
    shapes: replaces the shapes of inputs, as for `infer`. If shapes are dynamic, the numbers of the
    result are intervals.

    Raises the errors of `infer`. For a path, also raises the errors of `load`.
    """
    from .inspection.inspection import Inspection

    return Inspection(infer(model, shapes=shapes))


def save(
    model: ModelLike, path: str | os.PathLike[str], *, inference: Inference | None = None
) -> None:
    """Writes a model as an IR: the .xml, and the .bin beside it.

    model: a path or a `Model`.
    path: the .xml to write.
    inference: a result of `infer` for this model. The ports then declare the inferred types and
    shapes, and the Parameters declare the shapes that `infer` was given.

    Both files appear completely or not at all. Raises `OSError`, and `ValueError` for single
    layers, for a path that does not end in .xml and for constants whose bytes are missing. For a
    path as `model`, also raises the errors of `load`.
    """
    from .formats.ir.writer import write

    write(_model(model), path, inference)


def _targets(
    target: ModelLike | Iterable[ModelLike],
    weights: WeightsChoice,
    values: Mapping[str, object] | None,
) -> str | os.PathLike[str] | Model | Iterable[str | os.PathLike[str] | Model]:
    """Returns the targets of `validate`: paths unchanged, and everything else as models."""
    from .model.graph import Model

    def plain(each: ModelLike) -> str | os.PathLike[str] | Model:
        if isinstance(each, (str, os.PathLike)):
            return each
        return _with_values(_model(each, weights), values)

    single = isinstance(target, (str, bytes, os.PathLike, Model)) or hasattr(target, "read")
    if single or not hasattr(target, "__iter__") or _is_graph(target):
        return plain(target)  # type: ignore[arg-type]
    return [plain(each) for each in target]  # type: ignore[arg-type]


def _model(model: ModelLike, weights: WeightsChoice = "beside") -> Model:
    """Returns the model: as given, read from a path or an open file, or converted from a graph."""
    from .model.graph import Model

    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)) or hasattr(model, "read"):
        return load(model, weights=weights)  # type: ignore[arg-type]
    if _is_graph(model):
        return model.model()
    raise TypeError(f"expected a path, a Model or a Graph, got {type(model).__name__}")


def _is_graph(value: object) -> TypeGuard[Graph]:
    graphs = sys.modules.get("irshape.graph.graph")
    return graphs is not None and isinstance(value, graphs.Graph)


def _several(texts: Iterable[str]) -> list[str]:
    """Returns the texts as a list. A single string becomes a list with this string."""
    return [texts] if isinstance(texts, str) else list(texts)


def _sound(model: ModelLike, force: bool) -> Model:
    """Returns the model. Raises `ExecutionError` if `validate` finds errors that affect its
    values."""
    from .checking.soundness import require_sound

    loaded = _model(model)
    if not force:
        require_sound(loaded)
    return loaded


if not TYPE_CHECKING:
    _functions = [
        name
        for name, value in globals().items()
        if getattr(value, "__module__", "") == __name__ and not name.startswith("_")
    ]
    __all__ = sorted(["__version__", *_functions, *_MODULES])  # noqa: PLE0605

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in ("ops", "rules"):  # `irshape.ops.Operation` needs no import of its own
            return import_module(f"irshape.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'irshape' has no attribute '{name}'")
        value = getattr(import_module(f"irshape.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
