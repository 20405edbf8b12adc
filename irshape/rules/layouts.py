"""IR21x: how tensors lie in memory, where a file says so."""

from __future__ import annotations

from ..rule_ids import STRIDE_MISMATCH
from .base import Rule


class StrideMismatch(Rule):
    """The strides of a tensor do not fit its shape.

    ## What it does
    Holds the strides of every logical tensor of a oneDNN graph against its shape: one for each axis, none negative, and no two elements in one place. An axis of stride 0
    repeats what lies there and is allowed.

    ## Why it matters
    The elements would be read from, or written to, other places than was meant.

    ## What OpenVINO does
    An IR has no strides. The oneDNN library takes them as they are and computes with what lies there.

    ## Example
    ```json
    {"id": 0, "dtype": "f32", "shape": [2, 3], "stride": [2, 1], "layout_type": "strided"}
    ```

    ## How to fix it
    Write the strides of the layout that is meant; where the tensor is dense, those that the finding names.
    """

    id = STRIDE_MISMATCH
