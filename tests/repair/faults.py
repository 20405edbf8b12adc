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
    swapped,
    text_network,
    value,
    without,
)


class Fault(NamedTuple):
    """A fault planted in a network, and what irshape makes of it.

    `IR201 image conv`: the code of the one error or warning at the top of the report, the network,
    and the layer where it stands, unless it is the file as such. `--unsafe-fixes` gives the
    original back; `(safe)`: so does a safe fix, `(left)`: neither does.
    """

    told: str
    change: Change

    @property
    def code(self) -> str:
        return self.told.partition(" ")[0]

    @property
    def network(self) -> Callable[[], irshape.Graph]:
        return image_network if self.told.split()[1] == "image" else text_network

    @property
    def at(self) -> str:
        return " ".join(word for word in self.told.split()[2:] if "(" not in word)

    @property
    def given_back(self) -> list[bool]:
        """By safe fixes alone, and by the others too."""
        return ["(safe)" in self.told, "(left)" not in self.told]


FAULTS: dict[str, Fault] = {
    # Attributes that OpenVINO reads
    "strides": Fault("IR201 image conv", attribute("conv", "strides", "2, 2")),
    "one stride": Fault("IR201 image conv", attribute("conv", "strides", "1, 2")),
    "padding": Fault("IR201 image conv", attribute("conv", "pads_begin", "0, 0")),
    "padding that is empty": Fault("IR201 image conv", attribute("conv", "pads_end", "")),
    "dilations": Fault("IR201 image conv", attribute("conv", "dilations", "2, 2")),
    "kernel": Fault("IR201 image pool", attribute("pool", "kernel", "3, 3")),
    "auto_pad": Fault("IR201 image conv", attribute("conv", "auto_pad", "valid")),
    "keep_dims": Fault("IR201 image mean", attribute("mean", "keep_dims", "true")),
    "keep_dims of a sum": Fault("IR201 text summed", attribute("summed", "keep_dims", "false")),
    "transpose_b": Fault("IR406 image scores", attribute("scores", "transpose_b", "false")),
    "axis of Concat": Fault("IR201 text joined", attribute("joined", "axis", "1")),
    "axis out of range": Fault("IR401 image softmax", attribute("softmax", "axis", "5")),
    "splits": Fault("IR201 text halves", attribute("halves", "num_splits", "4")),
    "hidden_size": Fault("IR304 text cell", attribute("cell", "hidden_size", "15")),
    "axis of TopK": Fault("IR201 text best", attribute("best", "axis", "0")),
    "batch": Fault("IR201 image image", attribute("image", "shape", "4,3,16,16")),
    "channels": Fault("IR201 image image", attribute("image", "shape", "1,4,16,16")),
    "type of an input": Fault("IR202 image image", attribute("image", "element_type", "f16")),
    "type of indices": Fault("IR202 text ids", attribute("ids", "element_type", "i32")),
    # Values of attributes
    "a word": Fault("IR304 image mean", attribute("mean", "keep_dims", "maybe")),
    "a misspelt word": Fault("IR304 image conv (safe)", attribute("conv", "auto_pad", "explcit")),
    "a number": Fault("IR304 image softmax", attribute("softmax", "axis", "one")),
    "a comma at the end": Fault("IR304 image conv (safe)", attribute("conv", "strides", "1, 1,")),
    "a list of another length": Fault("IR401 image conv", attribute("conv", "strides", "1")),
    "an element type": Fault(
        "IR304 image image (safe)", attribute("image", "element_type", "fp32")
    ),
    "a name of an attribute": Fault("IR302 image mean", layer("mean", "keep_dims", "keepdims")),
    "an attribute that is needed": Fault(
        "IR302 image conv", layer("conv", "dilations", "dilatoins")
    ),
    "an attribute that is gone": Fault("IR303 text joined", layer("joined", ' axis="2"', "")),
    "an unknown attribute": Fault(
        "IR301 image mean (safe)", layer("mean", "keep_dims", 'colour="red" keep_dims')
    ),
    # Types and versions
    "a type": Fault("IR602 image relu", layer("relu", "ReLU", "Relu6")),
    "a Result in small letters": Fault(
        "IR602 image probabilities", layer("probabilities", "Result", "result")
    ),
    "a type that is gone": Fault("IR102 image conv", layer("conv", ' type="Convolution"', "")),
    "a misspelt type": Fault("IR602 image softmax (safe)", layer("softmax", "SoftMax", "SoftMxa")),
    "a version": Fault("IR603 image conv (left)", layer("conv", "opset1", "opset99")),
    "a misspelt version": Fault("IR604 image conv (left)", layer("conv", "opset1", "opste1")),
    "a version that is too old": Fault("IR603 text best", layer("best", "opset11", "opset0")),
    "another type of layer": Fault(
        "IR403 image mean (left)", layer("mean", "ReduceMean", "ReduceLogicalAnd")
    ),
    # Ports
    "a size of an output": Fault(
        "IR201 image mean (safe)",
        layer(
            "mean",
            "<dim>4</dim>\n\t\t\t\t</port>\n\t\t\t</output>",
            "<dim>7</dim>\n\t\t\t\t</port>\n\t\t\t</output>",
        ),
    ),
    "a precision of an output": Fault(
        "IR202 image shifted (safe)",
        layer("shifted", '"2" precision="FP32"', '"2" precision="FP16"'),
    ),
    "a size of an input": Fault(
        "IR205 image pool (safe)", layer("pool", "<dim>16</dim>", "<dim>17</dim>")
    ),
    "a precision of an input": Fault(
        "IR206 image relu (safe)",
        layer("relu", 'id="0" precision="FP32"', 'id="0" precision="I32"'),
    ),
    "a precision that is none": Fault(
        "IR118 image shifted (safe)",
        layer("shifted", '"2" precision="FP32"', '"2" precision="FP3"'),
    ),
    "a size that is no number": Fault(
        "IR104 image conv (safe)", layer("conv", "<dim>16</dim>", "<dim>x</dim>")
    ),
    "a size below -1": Fault(
        "IR104 image conv (safe)", layer("conv", "<dim>16</dim>", "<dim>-5</dim>")
    ),
    # Edges and ids
    "an edge from elsewhere": Fault(
        "IR205 text flat", edge("flat", 0, 'from-layer="12"', 'from-layer="10"')
    ),
    "inputs swapped": Fault("IR205 image scores", swapped("scores")),
    "data and axes swapped": Fault("IR403 image mean", swapped("mean")),
    "an edge that is gone": Fault("IR113 image relu", edge("relu", 0)),
    "an edge from no layer": Fault(
        "IR110 image relu", edge("relu", 0, 'from-layer="4"', 'from-layer="44"')
    ),
    "an edge from no port": Fault(
        "IR110 image shifted (safe)", edge("relu", 0, 'from-port="2"', 'from-port="7"')
    ),
    "an edge to no port": Fault(
        "IR110 image relu (safe)", edge("relu", 0, 'to-port="0"', 'to-port="3"')
    ),
    "an edge twice": Fault(
        "IR112 image relu (safe)",
        of_text(
            lambda text: text.replace(
                '\t\t<edge from-layer="4"',
                '\t\t<edge from-layer="4" from-port="2" to-layer="5" to-port="0" />\n'
                '\t\t<edge from-layer="4"',
                1,
            )
        ),
    ),
    "a cycle": Fault(
        "IR114 image shifted (safe)",
        edge("shifted", 0, 'from-layer="2" from-port="2"', 'from-layer="5" from-port="1"'),
    ),
    "an edge from another layer": Fault(
        "IR110 image image", edge("relu", 0, 'from-layer="4"', 'from-layer="0"')
    ),
    "a constant that is gone": Fault(
        "IR113 image shifted (left)", of_text(lambda text: without(text, "shift"))
    ),
    "a layer that is gone, but not its edges": Fault(
        "IR110 image shifted (left)", of_text(lambda text: without(text, "relu", edges=False))
    ),
    "an id of a layer": Fault(
        "IR113 image relu (safe)", replaced('<layer id="5"', '<layer id="55"')
    ),
    "an id twice": Fault("IR101 image relu", replaced('<layer id="5"', '<layer id="4"')),
    # Constants
    # Values in the .bin, which is never edited: a cause says what would fit
    "an axis": Fault("IR201 image mean", value("axes", 1, 1)),
    "an axis out of range": Fault("IR405 image mean", value("axes", 1, 9)),
    "a shape to reshape to": Fault("IR201 text heads", value("heads_shape", 3, 5)),
    "an order": Fault("IR405 text turned", value("order", 1, 1)),
    "k": Fault("IR201 text best", value("k", 0, 4)),
    # Places of constants
    "a size of a constant": Fault("IR503 image dense", attribute("dense", "size", "76")),
    "an offset beyond the file": Fault("IR502 image dense", attribute("dense", "offset", "99999")),
    "an offset of a constant": Fault("IR506 image dense", attribute("dense", "offset", "520")),
    "a shape of a constant": Fault("IR503 image dense", attribute("dense", "shape", "5, 3")),
    "a type of a constant": Fault("IR507 image dense", attribute("dense", "element_type", "f16")),
    # The text
    "a line before the declaration": Fault("IR001 image (safe)", replaced("<?xml", "\n<?xml")),
    "an attribute twice": Fault(
        "IR001 image (safe)", replaced('name="conv"', 'name="conv" name="conv"')
    ),
    "a tag that is not closed": Fault("IR001 image (safe)", replaced("</output>", "", 1)),
    "a quote that is gone": Fault(
        "IR001 image (left)", replaced('keep_dims="false"', 'keep_dims="false')
    ),
}
