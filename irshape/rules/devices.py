"""IR801 to IR803: layers and inputs that a device refuses, or may refuse, to compile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ..model.graph import Finding
from .base import Rule
from .context import Context

if TYPE_CHECKING:
    from ..devices.facts import Verdict
    from ..devices.verdicts import DeviceVerdict


def _verdicts(context: Context) -> list[DeviceVerdict]:
    from ..devices.verdicts import judge

    devices = context.settings.devices
    return list(judge(context.inference, devices.names, devices.max_alloc).values())


class _DeviceRule(Rule):
    verdict: ClassVar[Verdict]
    """The verdict that the rule reports."""
    says: ClassVar[str]

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        if not context.settings.devices.names or not context.model.format.is_ir:
            return
        for judged in context.shared(_verdicts):
            for each in judged.obstacles:
                if each.verdict == cls.verdict:
                    cure = each.cure
                    yield cls.finding(
                        f"{judged.device} {cls.says}: {each.reason}",
                        each.layer.offset,
                        each.layer,
                        expected=f"compiles on {judged.device}",
                        actual=cls.verdict,
                        help=f"{cure.text}: {cure.command}" if cure.command else cure.text,
                    )


class FailsOnDevice(_DeviceRule):
    """The device does not compile the model.

    ## What it does
    With `--device gpu` (or `[devices]` in the configuration), reports the layers and inputs that
    the OpenVINO plugin of this device refused in measurements with OpenVINO 2026.4.1. Without a
    device, the rule reports nothing. `irshape requires MODEL` prints a verdict for every device.

    ## Why it matters
    A device can refuse a model although OpenVINO reads the model and infers its shapes.

    ## What OpenVINO does
    Refuses the model in `compile_model`, often without naming the layer. `query_model` needs the
    device, and reports models as supported that `compile_model` then refuses.

    ## Example
    ```xml
    <!-- irshape validate --device cpu: an input of dynamic rank -->
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="..." element_type="f32"/>…
    </layer>
    ```

    ## How to fix it
    The message says which change would help. `docs/devices.md` explains what was measured.
    """

    verdict = "fails"
    says = "does not compile the model"


class LikelyFailsOnDevice(_DeviceRule):
    """The device is likely to refuse the model.

    ## What it does
    With `--device`, reports layers and inputs that the device is likely to refuse. Either the
    device refused them in a measurement, but perhaps for another reason, or only source code or
    documentation says that it does not support them. No NPU was measured, so every refusal by an
    NPU is only likely.

    ## Why it matters
    The model may fail where it is deployed. Try it on this device, or change it first.

    ## What OpenVINO does
    Most likely refuses it in `compile_model`.

    ## Example
    ```xml
    <!-- irshape validate --device npu: an input without an upper bound -->
    <layer id="0" name="x" type="Parameter" version="opset1">
        <data shape="?,3" element_type="f32"/>…
    </layer>
    ```

    ## How to fix it
    The message says which change would help.
    """

    verdict = "likely"
    says = "is likely to refuse the model"


class NotJudgedForDevice(_DeviceRule):
    """irshape does not know whether the device accepts this layer.

    ## What it does
    With `--device`, reports layers whose operation was not measured on the device: custom
    operations, and operations of newer opsets. The verdict on the model is `unknown` if no other
    layer has the verdict `fails` or `likely`.

    ## Why it matters
    The device may refuse these layers even if it accepts the rest of the model.

    ## What OpenVINO does
    Compiles the model, or refuses it.

    ## Example
    ```xml
    <layer id="3" name="own" type="MyOperation" version="extension">…</layer>
    ```

    ## How to fix it
    Try the model on the device.
    """

    verdict = "unknown"
    says = "may refuse the model"
