"""Causes that a diagnosis finds: what contradicts the rest of the file, though it is well-formed.

Nothing checks for these by itself. A diagnosis reports them in place of the errors and warnings
that follow from them, which it lists as related.
"""

from __future__ import annotations

from ..rule_ids import (
    CONTRADICTED_ATTRIBUTE,
    CONTRADICTED_OPERATION,
    MISDIRECTED_EDGE,
)
from .base import Rule


class MisdirectedEdge(Rule):
    """An edge or an id connects layers that do not go together.

    ## What it does
    Reports an edge, or the id of a layer or port, that exists but leads to the wrong place: two
    edges are exchanged, an edge comes from another layer than the input declares, or two layers
    have each other's ids. It is reported in place of the mismatches that follow from it.

    ## Why it matters
    The layers compute with the wrong tensors.

    ## What OpenVINO does
    Connects what the edges say, and refuses the model only if the shapes or types do not fit.

    ## Example
    ```xml
    <edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="0" from-port="0" to-layer="2" to-port="1"/>
    ```

    ## How to fix it
    Connect the layers as their ports declare it. `irshape fix` does so where only one change fits.

    ## Use instead
    ```xml
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    ```
    """

    id = MISDIRECTED_EDGE
    stops_runs = True


class ContradictedAttribute(Rule):
    """The value of an attribute is allowed, but the ports of the layer contradict it.

    ## What it does
    Reports an attribute that has an allowed value with which the layer does not produce what its
    ports and the layers behind it declare, while with another value it does. It is reported in
    place of the mismatches that follow from it.

    ## Why it matters
    Either the attribute or all those declarations are wrong.

    ## What OpenVINO does
    Computes with the attribute, and refuses the model only if a layer behind it does not take the
    result.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">
        <data keep_dims="false"/>
        <input>
            <port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
            <port id="1" precision="I64"><dim>1</dim></port>
        </input>
        <output><port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port></output>
    </layer>
    ```

    ## How to fix it
    Write the value that fits, which the message names. If the attribute is right, correct the
    ports instead.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>…</layer>
    ```
    """

    id = CONTRADICTED_ATTRIBUTE
    stops_runs = True


class ContradictedOperation(Rule):
    """The type or version of a layer exists, but its attributes and ports are another one's.

    ## What it does
    Reports a layer whose attributes, inputs and outputs do not fit its type or version, while they
    fit another one. It is reported in place of the errors that follow from it.

    ## Why it matters
    The layer computes something else than its author meant.

    ## What OpenVINO does
    Takes the type that is written, ignores attributes that it does not have, and refuses the layer
    only if its inputs do not fit.

    ## Example
    ```xml
    <layer id="2" name="mean" type="SoftMax" version="opset1">
        <data keep_dims="true"/>…
    </layer>
    ```

    ## How to fix it
    Write the type and version that fit, which the message names.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>…</layer>
    ```
    """

    id = CONTRADICTED_OPERATION
    stops_runs = True
