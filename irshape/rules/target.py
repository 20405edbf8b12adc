"""IR605: what the target release does not read yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..model.graph import Finding, Layer
from ..rule_ids import NEWER_THAN_TARGET
from .base import Rule
from .context import Context

if TYPE_CHECKING:
    from ..ops.requirements import Requirement
    from ..releases import Release


class NewerThanTarget(Rule):
    """The model needs a newer OpenVINO than the target.

    ## What it does
    With `--target 2023.3` (or `target` in the configuration), reports every layer whose opset or
    element type that release does not read, and an IR version that it does not read. Without a
    target, nothing is reported. `irshape requires MODEL` prints the oldest release that reads a
    model.

    ## Why it matters
    A model that was converted with a newer OpenVINO than the one it is deployed on does not load
    there.

    ## What OpenVINO does
    The older release rejects the model: "Cannot create Interpolate layer … id:7 from unsupported
    opset: opset11".

    ## Example
    ```xml
    <!-- irshape validate --target 2022.1 -->
    <layer id="7" name="resize" type="Interpolate" version="opset11">…</layer>
    ```

    ## How to fix it
    Convert the model with the target release, or raise the target. If the target has the same
    operation in an earlier opset, write that opset.
    """

    id = NEWER_THAN_TARGET
    doubt = "nothing"

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        target = context.settings.target
        if target is None or not context.model.format.layers_as_written:
            return
        from ..ops.requirements import requirements

        for requirement in requirements(context.model):
            if requirement.release > target:
                yield cls._unmet(context, requirement, target)

    @classmethod
    def _unmet(cls, context: Context, requirement: Requirement, target: Release) -> Finding:
        from ..releases import written

        place = context.model.source.attribute
        layer, needed = requirement.layer, written(requirement.release)
        hint = f"raise the target to {needed}, or convert the model for the target"
        if layer is None:
            offset = place(max(context.model.source.data.find(b"<net"), 0), "version")
            message = (
                f"IR version {requirement.name} needs OpenVINO {needed} or newer; the target is "
                f"{written(target)}"
            )
        elif requirement.kind == "opset":
            offset = place(layer.offset, "version")
            same, nearest = _nearest(layer, target)
            message = (
                f"{layer.type} of {layer.version} needs OpenVINO {needed} or newer; the target "
                f"{written(target)} {_reads(target)}"
            )
            if same:
                hint = f'write version="{nearest}": it is the same operation'
            elif nearest:
                message += f" (nearest: {layer.type} of {nearest})"
        else:
            offset = layer.offset
            message = (
                f"element type {requirement.name} needs OpenVINO {needed} or newer; the target is "
                f"{written(target)}"
            )
        return cls.finding(
            message,
            offset,
            layer,
            expected=f"readable by {written(target)}",
            actual=needed,
            help=hint,
        )


def _reads(target: Release) -> str:
    from ..releases import FIRST, newest_opset

    if target < FIRST:
        return "reads no IR of version 10 or later"
    return f"reads up to opset{newest_opset(target)}"


def _nearest(layer: Layer, target: Release) -> tuple[bool, str | None]:
    """Whether the target reads the operation of a layer, and the newest opset it reads for it."""
    from ..ops.registry import UnknownOperation, find, opsets, versions
    from ..releases import newest_opset

    newest = newest_opset(target)
    older = [cls for cls in versions(layer.type) if cls.since <= newest]
    if not older:
        return False, None
    opset = f"opset{min(opsets(older[-1])[-1], newest)}"
    try:
        return find(layer.type, opset) is find(layer.type, layer.version), opset
    except UnknownOperation:
        return False, None
