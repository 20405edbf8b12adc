"""irshape: reads, checks, evaluates and cross-checks OpenVINO IR files in pure Python.

model = irshape.load("model.xml")
report = irshape.validate("model.xml")
inference = irshape.infer(model, shapes={"x": "[1,3,?,?]"})
outputs = irshape.run(model, {"x": array})
comparison = irshape.crosscheck(model, {"x": array})
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .checking.fixing import Fixes
    from .comparison.models import ModelComparison
    from .comparison.result import Comparison
    from .diagnostics.report import Report
    from .execution.session import Array
    from .inference.result import Inference
    from .model.graph import Model
    from .settings.configuration import Configuration
    from .types import ShapeLike

_PUBLIC = {
    "LoadError": "irshape.diagnostics.report",
    "Diagnostic": "irshape.diagnostics.report",
    "Report": "irshape.diagnostics.report",
    "Inference": "irshape.inference.result",
    "Comparison": "irshape.comparison.crosschecking",
    "ModelComparison": "irshape.comparison.models",
    "Configuration": "irshape.settings.configuration",
    "Fixes": "irshape.fixing",
    "Session": "irshape.execution.session",
    "Model": "irshape.model",
    "Layer": "irshape.model",
    "Port": "irshape.model",
    "ElementType": "irshape.types",
    "Dimension": "irshape.types",
    "PartialShape": "irshape.types",
}

__all__ = [  # noqa: PLE0604
    "__version__",
    "compare",
    "crosscheck",
    "fix",
    "infer",
    "load",
    "run",
    "save",
    "validate",
    *sorted(_PUBLIC),
]


def load(path: str | os.PathLike[str], *, weights: str | os.PathLike[str] = "beside") -> Model:
    """Reads an IR, or layers on their own; `-` is standard input.

    weights: a .bin, `"beside"` (the .xml) or `"none"`. It is mapped, and read only when asked for.
    Raises `OSError` where the file cannot be opened, `LoadError` with the diagnostics where there is no model to return.
    """
    from .diagnostics.report import load as load_model

    return load_model(path, weights)


def validate(
    target: str | os.PathLike[str] | Model | Iterable[str | os.PathLike[str] | Model],
    *,
    weights: str | os.PathLike[str] = "beside",
    also: Collection[str] = (),
    config: Configuration | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
) -> Report:
    """Checks a file, a model, or several; everything that is wrong is in the report.

    also: selectors of rules to ask that are not asked by default (those that read all of the .bin). config: a `Configuration`, or the file of one; none is looked for.
    executor: any of `concurrent.futures`, which then checks the files of a list; the report is the same.
    Raises `OSError` for a single path that cannot be opened (of several it is a finding), `ValueError` for a configuration that cannot be used; never for what a file holds.
    """
    from .checking.many import validate as validate_all

    return validate_all(target, weights, also=also, config=config, executor=executor)


def fix(path: str | os.PathLike[str], *, weights: str | os.PathLike[str] = "beside") -> Fixes:
    """What puts right whatever has one right answer in an IR: ports, misspelt attributes, loosely written ids. Nothing is written.

    The result has the `edits` by byte offset, the fixed `data` and `text`, a `diff()`, and the findings `fixed` and `remaining`.
    Raises `OSError` where the file cannot be opened, `ValueError` for an ONNX model or a oneDNN graph; never for what an IR holds.
    """
    from .checking.fixing import fix as fix_file

    return fix_file(path, weights)


def infer(model: Model, *, shapes: Mapping[str, ShapeLike] | None = None) -> Inference:
    """The element type and shape of every output port. `shapes` replaces those of inputs, by tensor name, layer name or id. Raises `ValueError` for an unknown name."""
    from .inference.engine import infer as infer_model

    return infer_model(model, shapes)


def run(
    model: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    outputs: str = "results",
) -> dict[str, Array]:
    """Executes a model in NumPy; the outputs by name, in the order of its Results.

    inputs: arrays by tensor name, layer name or id, or in order. outputs: `"results"`, or `"all"` for every layer's, by `name` or `name:port`.
    Raises `ExecutionError` for inputs that do not fit and for layers that cannot be evaluated.
    """
    from .execution.session import Session

    return Session(model).run(inputs, outputs=outputs)


def crosscheck(
    model: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    *,
    device: str = "CPU",
    **options: Any,
) -> Comparison:
    """Compares types, shapes and values of every layer with OpenVINO's. Needs the extra `[openvino]`; raises `RuntimeError` without it."""
    from .comparison.crosschecking import crosscheck as compare

    return compare(model, inputs, device=device, **options)


def compare(
    first: Model,
    second: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None = None,
    **options: Any,
) -> ModelComparison:
    """Runs two models with the same inputs; tensors are matched by name, `.blamed` is the first layer of the second that departs given the first's inputs."""
    from .comparison.models import compare as compare_models

    return compare_models(first, second, inputs, **options)


def save(model: Model, path: str | os.PathLike[str], *, inference: Inference | None = None) -> None:
    """Writes a model as an IR, .xml and .bin; with `inference`, its ports declare what was inferred. Both files appear whole or not at all."""
    from .formats.ir.writer import write

    write(model, path, inference)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'irshape' has no attribute '{name}'")
