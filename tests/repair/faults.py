"""Single faults of the kinds that people make, in a table: what is found, where, what fix does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import irshape

from .networks import (
    Change,
    attribute,
    edge,
    image_network,
    layer,
    of_text,
    replaced,
    text_network,
    value,
)


class Fault(NamedTuple):
    """A fault planted in a network, and what irshape makes of it."""

    network: Callable[[], irshape.Graph]
    change: Change
    code: str
    """Of the one error or warning that stands at the top of the report."""
    at: str
    """The name of the layer where it stands; empty for the file as such."""
    safe: bool = False
    """Whether a safe fix gives the original back."""
    unsafe: bool = True
    """Whether `--unsafe-fixes` does."""


IMAGE, TEXT = image_network, text_network

FAULTS: dict[str, Fault] = {
    # Attributes that OpenVINO reads
    "strides": Fault(IMAGE, attribute("conv", "strides", "2, 2"), "IR201", "conv"),
    "one stride": Fault(IMAGE, attribute("conv", "strides", "1, 2"), "IR201", "conv"),
    "padding": Fault(IMAGE, attribute("conv", "pads_begin", "0, 0"), "IR201", "conv"),
    "dilations": Fault(IMAGE, attribute("conv", "dilations", "2, 2"), "IR201", "conv"),
    "kernel": Fault(IMAGE, attribute("pool", "kernel", "3, 3"), "IR201", "pool"),
    "auto_pad": Fault(IMAGE, attribute("conv", "auto_pad", "valid"), "IR201", "conv"),
    "keep_dims": Fault(IMAGE, attribute("mean", "keep_dims", "true"), "IR201", "mean"),
    "keep_dims of a sum": Fault(TEXT, attribute("summed", "keep_dims", "false"), "IR201", "summed"),
    "transpose_b": Fault(IMAGE, attribute("scores", "transpose_b", "false"), "IR406", "scores"),
    "axis of Concat": Fault(TEXT, attribute("joined", "axis", "1"), "IR201", "joined"),
    "axis out of range": Fault(IMAGE, attribute("softmax", "axis", "5"), "IR401", "softmax"),
    "splits": Fault(TEXT, attribute("halves", "num_splits", "4"), "IR201", "halves"),
    "hidden_size": Fault(TEXT, attribute("cell", "hidden_size", "15"), "IR304", "cell"),
    "axis of TopK": Fault(TEXT, attribute("best", "axis", "0"), "IR201", "best"),
    "batch": Fault(IMAGE, attribute("image", "shape", "4,3,16,16"), "IR201", "image"),
    "channels": Fault(IMAGE, attribute("image", "shape", "1,4,16,16"), "IR201", "image"),
    "type of an input": Fault(IMAGE, attribute("image", "element_type", "f16"), "IR202", "image"),
    "type of indices": Fault(TEXT, attribute("ids", "element_type", "i32"), "IR202", "ids"),
    # Values of attributes
    "a word": Fault(IMAGE, attribute("mean", "keep_dims", "maybe"), "IR304", "mean"),
    "a misspelt word": Fault(
        IMAGE, attribute("conv", "auto_pad", "explcit"), "IR304", "conv", True
    ),
    "a number": Fault(IMAGE, attribute("softmax", "axis", "one"), "IR304", "softmax"),
    "a list of another length": Fault(IMAGE, attribute("conv", "strides", "1"), "IR401", "conv"),
    "an element type": Fault(
        IMAGE, attribute("image", "element_type", "fp32"), "IR304", "image", True
    ),
    "a name of an attribute": Fault(IMAGE, layer("mean", "keep_dims", "keepdims"), "IR302", "mean"),
    "an attribute that is needed": Fault(
        IMAGE, layer("conv", "dilations", "dilatoins"), "IR302", "conv"
    ),
    "an attribute that is gone": Fault(TEXT, layer("joined", ' axis="2"', ""), "IR303", "joined"),
    "an unknown attribute": Fault(
        IMAGE, layer("mean", "keep_dims", 'colour="red" keep_dims'), "IR301", "mean", True
    ),
    # Types and versions
    "a type": Fault(IMAGE, layer("relu", "ReLU", "Relu6"), "IR602", "relu"),
    "a misspelt type": Fault(
        IMAGE, layer("softmax", "SoftMax", "SoftMxa"), "IR602", "softmax", True
    ),
    "a version": Fault(IMAGE, layer("conv", "opset1", "opset99"), "IR603", "conv", False, False),
    "a misspelt version": Fault(
        IMAGE, layer("conv", "opset1", "opste1"), "IR604", "conv", False, False
    ),
    "a version that is too old": Fault(TEXT, layer("best", "opset11", "opset0"), "IR603", "best"),
    "another type of layer": Fault(
        IMAGE, layer("mean", "ReduceMean", "ReduceLogicalAnd"), "IR403", "mean", False, False
    ),
    # Ports
    "a size of an output": Fault(
        IMAGE,
        layer(
            "mean",
            "<dim>4</dim>\n\t\t\t\t</port>\n\t\t\t</output>",
            "<dim>7</dim>\n\t\t\t\t</port>\n\t\t\t</output>",
        ),
        "IR201",
        "mean",
        True,
    ),
    "a precision of an output": Fault(
        IMAGE,
        layer("shifted", '"2" precision="FP32"', '"2" precision="FP16"'),
        "IR202",
        "shifted",
        True,
    ),
    "a size of an input": Fault(
        IMAGE, layer("pool", "<dim>16</dim>", "<dim>17</dim>"), "IR205", "pool", True
    ),
    "a precision of an input": Fault(
        IMAGE,
        layer("relu", 'id="0" precision="FP32"', 'id="0" precision="I32"'),
        "IR206",
        "relu",
        True,
    ),
    "a precision that is none": Fault(
        IMAGE,
        layer("shifted", '"2" precision="FP32"', '"2" precision="FP3"'),
        "IR118",
        "shifted",
        True,
    ),
    "a size that is no number": Fault(
        IMAGE, layer("conv", "<dim>16</dim>", "<dim>x</dim>"), "IR104", "conv", True
    ),
    "a size below -1": Fault(
        IMAGE, layer("conv", "<dim>16</dim>", "<dim>-5</dim>"), "IR104", "conv", True
    ),
    # Edges and ids
    "an edge from elsewhere": Fault(
        TEXT, edge("flat", 0, 'from-layer="12"', 'from-layer="10"'), "IR205", "flat"
    ),
    "an edge that is gone": Fault(IMAGE, edge("relu", 0), "IR113", "relu"),
    "an edge from no layer": Fault(
        IMAGE, edge("relu", 0, 'from-layer="4"', 'from-layer="44"'), "IR110", "relu"
    ),
    "an edge from no port": Fault(
        IMAGE, edge("relu", 0, 'from-port="2"', 'from-port="7"'), "IR110", "shifted", True
    ),
    "an edge to no port": Fault(
        IMAGE, edge("relu", 0, 'to-port="0"', 'to-port="3"'), "IR110", "relu", True
    ),
    "an edge twice": Fault(
        IMAGE,
        of_text(
            lambda text: text.replace(
                '\t\t<edge from-layer="4"',
                '\t\t<edge from-layer="4" from-port="2" to-layer="5" to-port="0" />\n'
                '\t\t<edge from-layer="4"',
                1,
            )
        ),
        "IR112",
        "relu",
        True,
    ),
    "a cycle": Fault(
        IMAGE,
        edge("shifted", 0, 'from-layer="2" from-port="2"', 'from-layer="5" from-port="1"'),
        "IR114",
        "shifted",
        True,
    ),
    "an id twice": Fault(IMAGE, replaced('<layer id="5"', '<layer id="4"'), "IR101", "relu"),
    # Constants
    # Values in the .bin, which is never edited: a cause says what would fit
    "an axis": Fault(IMAGE, value("axes", 1, 1), "IR201", "mean"),
    "an axis out of range": Fault(IMAGE, value("axes", 1, 9), "IR405", "mean"),
    "a shape to reshape to": Fault(TEXT, value("heads_shape", 3, 5), "IR201", "heads"),
    "an order": Fault(TEXT, value("order", 1, 1), "IR405", "turned"),
    "k": Fault(TEXT, value("k", 0, 4), "IR201", "best"),
    # Places of constants
    "a size of a constant": Fault(IMAGE, attribute("dense", "size", "76"), "IR503", "dense"),
    "an offset beyond the file": Fault(
        IMAGE, attribute("dense", "offset", "99999"), "IR502", "dense", False, False
    ),
    "a shape of a constant": Fault(IMAGE, attribute("dense", "shape", "5, 3"), "IR503", "dense"),
    "a type of a constant": Fault(
        IMAGE, attribute("dense", "element_type", "f16"), "IR507", "dense"
    ),
    # The text
    "a tag that is not closed": Fault(IMAGE, replaced("</output>", "", 1), "IR001", "", True),
    "a quote that is gone": Fault(
        IMAGE, replaced('keep_dims="false"', 'keep_dims="false'), "IR001", "", False, False
    ),
}
