"""Cross-checks a model in any format with the runtime for that format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ..execution.feeds import Given
from ..execution.session import Observer
from ..model.graph import Model
from ..numbers.tolerance import Hint
from .progress import Progress
from .result import Comparison


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
    """Implements `irshape.crosscheck`. Without inputs they are drawn at random from `seed`.

    rtol, atol: replace the tolerances of the precision; `atol` is then absolute.
    hint: the precision in which the device is to compute, f32 by default. The tolerance follows the
    precision in which the device says that it computes.
    layers: `outputs` compares only the outputs of the model, and blames no layer.
    save: a folder to which the blamed layer is written as an IR of its own, with its inputs and
    outputs.
    record: a file to which everything that the device answers is written.
    replay: such a file. It answers in the device's place, without OpenVINO. The inputs, device,
    hint and configuration are the recorded ones.
    extension_libraries: files from which OpenVINO is to add operations (`Core.add_extension`).
    progress: called with each layer that irshape computes.
    phase: called when a phase begins, with its description and the number of layers for `progress`.

    Raises `RuntimeError` if the runtime is not installed, `ExecutionError` for inputs that do not
    fit, `ValueError` for options that exclude each other and for a file that is no recording.
    """
    if model.format.runtimes:
        from .foreign import crosscheck as with_its_own_runtime

        openvino_only = hint or save or config or record or replay or extension_libraries
        if openvino_only or layers != "all":
            raise ValueError(
                "--hint, --layers, --save, --record, --replay and --extension-library are for "
                "OpenVINO's devices: "
                "`irshape convert` the model, and cross-check the IR"
            )
        told = Progress(progress, phase)
        return with_its_own_runtime(
            model, inputs, device=device, rtol=rtol, atol=atol, seed=seed, progress=told
        )
    from .crosschecking import crosscheck as with_openvino

    return with_openvino(
        model,
        inputs,
        device=device,
        hint=hint,
        layers=layers,
        config=config,
        rtol=rtol,
        atol=atol,
        seed=seed,
        save=save,
        record=record,
        replay=replay,
        max_memory=max_memory,
        extension_libraries=extension_libraries,
        progress=progress,
        phase=phase,
    )
