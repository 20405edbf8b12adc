"""IR605 to IR608: layers that the target release refuses, ignores in part or infers differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ..model.graph import Finding, Layer
from .base import Rule
from .context import Context

if TYPE_CHECKING:
    from ..inference.requirements import Requirement
    from ..ops.differences import Kind
    from ..releases import Release


class NewerThanTarget(Rule):
    """The model needs a newer OpenVINO than the target.

    ## What it does
    With `--target 2023.3` (or `target` in the configuration), reports every layer that this release
    does not read because of its operation, its opset, an element type, an attribute or a shape.
    Also reports an IR version that this release does not read. Without a target, the rule reports
    nothing. `irshape requires MODEL` prints the oldest release that reads a model.

    For releases from 2023.0 on, the rule relies on measurements; for older releases, on their
    opsets, element types and IR versions.

    ## Why it matters
    A model does not load if the OpenVINO on which it is deployed is too old for it.

    ## What OpenVINO does
    The older release rejects the model: "Cannot create Interpolate layer … id:7 from unsupported
    opset: opset11".

    ## Example
    ```xml
    <!-- irshape validate --target 2022.1 -->
    <layer id="7" name="resize" type="Interpolate" version="opset11">…</layer>
    ```

    ## How to fix it
    Convert the model with the target release, or raise the target. If the target reads the same
    operation in an earlier opset, write that opset.
    """

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        target = context.settings.target
        if target is None or not context.model.format.is_ir:
            return
        from ..inference.requirements import requirements

        for requirement in requirements(context.inference):
            if requirement.refuses(target):
                yield cls._unmet(context, requirement, target)

    @classmethod
    def _unmet(cls, context: Context, requirement: Requirement, target: Release) -> Finding:
        from ..releases import written

        place = context.model.source.attribute
        layer, needed = requirement.layer, written(requirement.release)
        hint = f"raise the target to {needed}, or convert the model for the target"
        offset = context.start if layer is None else layer.offset
        message = (
            f"{requirement.what} needs OpenVINO {needed} or newer; the target is {written(target)}"
        )
        if requirement.kind == "IR version":
            offset = place(context.start, "version")
        elif requirement.kind == "opset" and layer is not None:
            offset = place(layer.offset, "version")
            message = (
                f"{layer.type} of {layer.version} needs OpenVINO {needed} or newer; the target "
                f"{written(target)} "
            )
            if requirement.opset <= target:
                message += f"reads {requirement.name}, but without this operation"
            else:
                message += _reads(target)
                same, nearest = _nearest(layer, target)
                if same:
                    hint = f'write version="{nearest}": it is the same operation'
                elif nearest:
                    message += (
                        f" (the newest version that the target reads is {layer.type} of {nearest})"
                    )
        return cls.finding(
            message,
            offset,
            layer,
            expected=f"readable by {written(target)}",
            actual=needed,
            help=hint,
        )


class _DetailRule(Rule):
    """A rule about layers that the target release cannot run, infers differently, or reads
    without some attributes."""

    kind: ClassVar[Kind]
    says: ClassVar[str]
    advice: ClassVar[str]
    """`says` is the template of the message, `advice` the template of the help. `check` fills in
    releases and fields of a `Detail`."""

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        target = context.settings.target
        if target is None or not context.model.format.is_ir:
            return
        from ..inference.sites import details, sites
        from ..releases import shows, written

        for site in sites(context.inference):
            also = () if site.operation is None else site.operation.differs
            for detail in details(site, cls.kind):
                if not shows(detail, target):
                    continue
                complete = [each.detail.right for each in also if each.detail.what == detail.what]
                words = {
                    "target": written(target),
                    "right": written(detail.right),
                    "complete": written(max(complete)),
                    "what": detail.what,
                    "consequence": detail.consequence or "does not run it on the CPU",
                }
                yield cls.finding(
                    cls.says.format(**words),
                    site.layer.offset,
                    site.layer,
                    expected=f"OpenVINO {words['right']} or newer",
                    actual=words["target"],
                    help=cls.advice.format(**words),
                )


class IgnoredByTarget(_DetailRule):
    """The target release reads the layer, but ignores a part of it.

    ## What it does
    With `--target 2024.1`, reports layers that this release reads without an error, but of which it
    ignores a part. Examples are the input `sink` of ScaledDotProductAttention before 2025.4,
    `alignment="pytorch"` of RandomUniform before 2024.3, and the order of the packed elements of an
    i4 or u4 constant before 2023.2.

    ## Why it matters
    The model runs, but its results are wrong.

    ## What OpenVINO does
    The older release computes other values, without a message.

    ## Example
    ```xml
    <!-- irshape validate --target 2024.1 -->
    <layer id="3" name="noise" type="RandomUniform" version="opset8">
        <data output_type="f32" global_seed="1" op_seed="2" alignment="pytorch"/>…
    </layer>
    ```

    ## How to fix it
    Raise the target, or convert the model so that it does not need this part.
    """

    kind = "ignored"
    says = "for {what}, OpenVINO {target} {consequence}"
    advice = "raise the target to {complete}, or convert the model for the target"


class NotRunByTarget(_DetailRule):
    """The target release reads the layer, but cannot run it.

    ## What it does
    With `--target 2024.1`, reports layers that this release reads and infers, but that its CPU
    plugin does not compile or run, or at which it crashes. Examples are AvgPool of opset14 in
    2024.1, Identity before 2025.4, Einsum with `...` before 2025.1, and inputs of i4 and u4 before
    2024.2.
    `tests/measured/releases.md` has the list. The list leaves out failures that depend on the CPU:
    on a CPU with AVX-512, 2023.0 runs no 8-bit convolution (`could not create a primitive`). With
    `ONEDNN_MAX_CPU_ISA=AVX2`, 2023.0 runs it.

    ## Why it matters
    A check that only reads the model passes, but the model fails where it is deployed.

    ## What OpenVINO does
    Reads the model. It then refuses to compile it, fails at run time, or crashes.

    ## Example
    ```xml
    <!-- irshape validate --target 2024.1 -->
    <layer id="3" name="pool" type="AvgPool" version="opset14">…</layer>
    ```

    ## How to fix it
    Raise the target, or write an earlier version of the operation.
    """

    kind = "not run"
    says = "OpenVINO {target} reads {what} and {consequence}"
    advice = "raise the target to {right}, or convert the model for the target"


class OtherShapeInTarget(_DetailRule):
    """The target release infers another shape or element type than the newest release.

    ## What it does
    With `--target 2023.1`, reports layers for whose outputs this release infers another shape or
    element type, mostly a shape with fewer bounds. irshape infers the shapes that the newest
    release infers. `tests/measured/releases.md` has the list.

    ## Why it matters
    A program that asks OpenVINO for the shape of an output before it runs the model gets another
    shape than irshape reports.

    ## What OpenVINO does
    Reads and runs the model. Before 2024.1, a reduction over axes that are known only at run time
    has a dynamic rank. Before 2024.5, Tile, Broadcast and Reshape infer no lower bounds.

    ## Example
    ```xml
    <!-- irshape validate --target 2023.1; the axes are an input of the model -->
    <layer id="2" name="sum" type="ReduceSum" version="opset1">…</layer>
    ```

    ## How to fix it
    Do nothing if no program relies on the shape. Otherwise raise the target, or make the shape
    static.
    """

    trifling = True
    kind = "inferred"
    says = "OpenVINO {target} {consequence} for {what}; {right} and newer infer what irshape infers"
    advice = "raise the target to {right}, or make the shape static"


def _reads(target: Release) -> str:
    from ..releases import FIRST, newest_opset

    if target < FIRST:
        return "reads no IR of version 10 or later"
    return f"reads up to opset{newest_opset(target)}"


def _nearest(layer: Layer, target: Release) -> tuple[bool, str | None]:
    """Returns a pair: whether an older opset that the target reads has the same operation, and the
    newest opset in which the target has an operation of this type (None if there is none)."""
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
