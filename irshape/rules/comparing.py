"""IR711 to IR713: differences that cross-checks and comparisons report as findings."""

from __future__ import annotations

from ..rule_ids import NOT_COMPARED, SHAPE_DIFFERENCE, VALUE_DIFFERENCE
from .base import Rule


class ValueDifference(Rule):
    """A layer computes other values than it is compared with.

    ## What it does
    In the reports of `irshape crosscheck` and `irshape compare`, reports each output that differs
    by more than the tolerance although its layer received the other side's own inputs, and each
    output of the model that differs. `irshape validate` never reports it.

    ## Why it matters
    The model does not compute the same on the device, or the two models are not the same.

    ## What OpenVINO does
    Has no such comparison.

    ## Example
    ```sh
    irshape crosscheck model.xml --format sarif -o crosscheck.sarif
    ```

    ## How to fix it
    `irshape crosscheck --save DIR` keeps the layer as a model of its own, with its inputs and
    outputs; `irshape compare` names the constants and attributes that are not the same.
    """

    id = VALUE_DIFFERENCE


class ShapeDifference(Rule):
    """The runtime has another element type or shape for an output than irshape infers.

    ## What it does
    In the reports of `irshape crosscheck`, reports each output whose type or shape, as the runtime
    infers it, contradicts irshape's.

    ## Why it matters
    One of the two is wrong about the operation.

    ## What OpenVINO does
    Has no such comparison.

    ## Example
    ```sh
    irshape crosscheck model.xml --format github
    ```

    ## How to fix it
    Please report it with the layer: the two are meant to agree.
    """

    id = SHAPE_DIFFERENCE


class NotCompared(Rule):
    """A model, or a part of it, could not be compared.

    ## What it does
    In the reports of `irshape crosscheck`, says why some of the comparison is missing: the runtime
    rejects the model, crashes or cannot run it, or irshape cannot evaluate one of its layers.

    ## Why it matters
    What was not compared may differ.

    ## What OpenVINO does
    Has no such comparison.

    ## Example
    ```sh
    irshape crosscheck model.xml --device GPU --format junit
    ```

    ## How to fix it
    The message says what stopped the comparison. `irshape validate` finds most of what a runtime
    rejects, with its place.
    """

    id = NOT_COMPARED
