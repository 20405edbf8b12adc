"""IR711 to IR713: differences that cross-checks and comparisons report as findings."""

from __future__ import annotations

from .base import Rule


class ValueDifference(Rule):
    """A layer or a model computes other values than its counterpart in a comparison.

    ## What it does
    In the reports of `irshape crosscheck` and `irshape compare`, reports each output of a layer
    that differs by more than the tolerance, although the inputs of the layer are equal on both
    sides. Also reports each output of the model that differs. `irshape validate` runs no models.

    ## Why it matters
    The device computes the model differently, or the two models are not equivalent.

    ## What OpenVINO does
    Does not compare values.

    ## Example
    ```sh
    irshape crosscheck model.xml --format sarif -o crosscheck.sarif
    ```

    ## How to fix it
    `irshape crosscheck --save DIR` saves the layer as a separate model, with its inputs and
    outputs. `irshape compare` names the constants and attributes that differ.
    """


class ShapeDifference(Rule):
    """OpenVINO and irshape infer different element types or shapes for an output.

    ## What it does
    In the reports of `irshape crosscheck`, reports each output for which the runtime (OpenVINO on a
    device) and irshape infer contradictory element types or shapes.

    ## Why it matters
    Either OpenVINO or irshape infers the operation wrongly.

    ## What OpenVINO does
    Does not compare its shapes with those of another program.

    ## Example
    ```sh
    irshape crosscheck model.xml --format github
    ```

    ## How to fix it
    Please report the finding together with the layer: irshape should infer what OpenVINO infers.
    """


class NotCompared(Rule):
    """A model, or a part of it, could not be compared.

    ## What it does
    In the reports of `irshape crosscheck`, reports why a part of the comparison is missing:
    OpenVINO rejects the model, crashes or cannot run it, or irshape cannot evaluate a layer.

    ## Why it matters
    Values in the parts that were not compared may differ.

    ## What OpenVINO does
    Does not compare values.

    ## Example
    ```sh
    irshape crosscheck model.xml --device GPU --format junit
    ```

    ## How to fix it
    The message says what stopped the comparison. `irshape validate` finds most faults that make a
    runtime reject a model, and names their places.
    """
