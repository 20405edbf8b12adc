"""IR3xx: attributes of layers, compared with those that the operations have."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.graph import Finding
from ..rule_ids import MISSPELT_ATTRIBUTE
from .base import Rule
from .context import Context


class UnknownAttribute(Rule):
    """The operation does not have this attribute.

    ## What it does
    Reports an attribute in `<data>` that no version of the specification gives this operation, and
    that no writer of OpenVINO is known to emit.

    ## Why it matters
    The attribute has no effect: OpenVINO computes the layer without it.

    ## What OpenVINO does
    Ignores it silently.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="true" colour="blue"/>…
    </layer>
    ```

    ## How to fix it
    Remove the attribute, or correct its name: see `irshape ops ReduceMean`.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>…</layer>
    ```
    """

    suspects = ("names",)


class MisspeltAttribute(Rule):
    """The name of an attribute looks like a misspelling.

    ## What it does
    Reports an attribute in `<data>` whose name is close to the name of an attribute of the
    operation.

    ## Why it matters
    The intended attribute takes its default.

    ## What OpenVINO does
    Silently ignores it and computes with the default, or refuses a layer that needs the attribute.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dim="true"/>…</layer>
    ```

    ## How to fix it
    Correct the name of the attribute.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>…</layer>
    ```
    """

    doubt = "values"
    suspects = ("names",)


class MissingAttribute(Rule):
    """A required attribute is missing.

    ## What it does
    Reports a layer without an attribute that the specification requires.

    ## Why it matters
    What the layer computes depends on the attribute.

    ## What OpenVINO does
    Rejects some of these layers, silently uses a default for others, and crashes on a few.

    ## Example
    ```xml
    <layer id="2" name="lrn" type="LRN" version="opset1">
        <data alpha="0.1" beta="0.75" bias="1"/>…
    </layer>
    ```

    ## How to fix it
    Add the attribute with the intended value.

    ## Use instead
    ```xml
    <layer id="2" name="lrn" type="LRN" version="opset1">
        <data alpha="0.1" beta="0.75" bias="1" size="5"/>…
    </layer>
    ```
    """

    doubt = "values"
    suspects = ("attributes",)

    @classmethod
    def reported(cls, context: Context) -> Iterator[Finding]:
        misspelt = {
            (finding.layer, finding.expected)
            for finding in context.reported.get(MISSPELT_ATTRIBUTE, ())
        }
        for finding in super().reported(context):
            if (finding.layer, finding.fault.at) not in misspelt:
                yield finding


class AttributeValue(Rule):
    """The value of an attribute is malformed or out of range.

    ## What it does
    Reports a value that is not of the attribute's kind (a number, a list, one of several words), or
    that the specification does not allow.

    ## Why it matters
    The layer does not compute what the file seems to say.

    ## What OpenVINO does
    Rejects some of these values without naming the layer ("banana" is not a member of enum
    ov::op::PadType). Silently accepts others: `keep_dims="maybe"` is read as the default, and a
    number beyond the range of a float as infinity.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="maybe"/>…</layer>
    ```

    ## How to fix it
    Write one of the allowed values, which the message lists.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>…</layer>
    ```
    """

    doubt = "values"
    suspects = ("attributes",)
