"""IR605: what the target release does not read yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..faults import Fault
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
    With `--target 2023.3` (or `target` in the configuration), reports each layer whose opset or element type that release does not read, and an IR version that it does not read. Without
    a target it says nothing. `irshape requires MODEL` tells the oldest release that reads a model.

    ## Why it matters
    A model that was converted with a newer OpenVINO than the one it is deployed on does not load there.

    ## What OpenVINO does
    The older release refuses the model: "Cannot create Interpolate layer … id:7 from unsupported opset: opset11".

    ## Example
    ```xml
    <!-- irshape validate --target 2022.1 -->
    <layer id="7" name="resize" type="Interpolate" version="opset11">…</layer>
    ```

    ## How to fix it
    Convert the model with the release that it is meant for, or raise the target. Where the target has the same operation under an earlier opset, write that one.
    """

    id = NEWER_THAN_TARGET

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        target = context.settings.target
        if target is None or not context.model.format.layers_as_written:
            return
        from ..ops.requirements import requirements
        from ..releases import FIRST, newest_opset, written

        place = context.model.source.attribute
        for found in requirements(context.model):
            if found.release <= target:
                continue
            layer = found.layer
            if layer is None:
                offset = max(context.model.source.data.find(b"<net"), 0)
                message = f"IR version {found.name} needs OpenVINO {written(found.release)} or newer; the target is {written(target)}"
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected=f"readable by {written(target)}",
                        actual=written(found.release),
                        help=_advice(found.release),
                    ),
                    place(offset, "version"),
                )
            elif found.kind == "opset":
                same, nearest = _nearest(layer, target)
                known = (
                    f"reads up to opset{newest_opset(target)}"
                    if target >= FIRST
                    else "reads no IR of version 10 or later"
                )
                message = f"{layer.type} of {layer.version} needs OpenVINO {written(found.release)} or newer; the target {written(target)} {known}"
                if nearest and not same:
                    message += f" (nearest: {layer.type} of {nearest})"
                hint = (
                    f'write version="{nearest}": it is the same operation'
                    if same
                    else _advice(found.release)
                )
                yield Finding(
                    Fault(
                        cls.id,
                        message,
                        expected=f"readable by {written(target)}",
                        actual=written(found.release),
                        help=hint,
                    ),
                    place(layer.offset, "version"),
                    layer,
                )
            else:
                yield cls._of_type(found, layer, target)

    @classmethod
    def _of_type(cls, found: Requirement, layer: Layer, target: Release) -> Finding:
        from ..releases import written

        message = f"element type {found.name} needs OpenVINO {written(found.release)} or newer; the target is {written(target)}"
        return Finding(
            Fault(
                cls.id,
                message,
                expected=f"readable by {written(target)}",
                actual=written(found.release),
                help=_advice(found.release),
            ),
            layer.offset,
            layer,
        )


def _nearest(layer: Layer, target: Release) -> tuple[bool, str | None]:
    """The newest version of an operation that the target reads, and whether it is the same as the layer's."""
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


def _advice(release: Release) -> str:
    from ..releases import written

    return f"raise the target to {written(release)}, or convert the model for the target"
