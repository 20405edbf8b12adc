"""IR21x: the memory layout of tensors, if a file states it."""

from __future__ import annotations

from .base import Rule


class StrideMismatch(Rule):
    """The strides of a tensor do not fit its shape.

    ## What it does
    Compares the strides of every logical tensor of a oneDNN graph with its shape: there must be one
    stride for each axis, none negative, and no two elements may have one address. A stride of 0,
    which repeats elements along an axis, is allowed.

    ## Why it matters
    The elements would be read from, or written to, the wrong places.

    ## What OpenVINO does
    An IR has no strides. The oneDNN library uses strides without checking them, and computes with
    the values that it finds.

    ## Example
    ```json
    {"id": 0, "dtype": "f32", "shape": [2, 3], "stride": [2, 1], "layout_type": "strided"}
    ```

    ## How to fix it
    Write the strides of the intended layout. If the tensor is dense, use those that the finding
    names.
    """

    doubt = "values"
