"""Causes in the Parameters of a net: a size that nothing else in the file asks for."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.graph import Finding
from ...model.ids import is_number
from ...rule_ids import CONTRADICTED_ATTRIBUTE
from ...shapes import PartialShape
from ..candidate import Candidate, Change
from ..trials.scene import Scene
from .writing import with_attribute

MAX_NARROWED = 4
"""How many Parameters are looked at whose shape fixes what their ports leave open."""


def parameter_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A Parameter fixes a size that its port leaves open, and a layer behind it refuses that size.

    By itself that is its author's choice.
    """
    if scene.body.path or not finding.rule.code.startswith(("IR20", "IR4")):
        return
    for at in scene.narrowed[:MAX_NARROWED]:
        layer = scene.layers[at]
        if finding.layer is layer:
            continue  # its port contradicts it
        (port,) = layer.outputs
        written = layer.attribute("shape") or ""
        open_ = "-1" if "-1" in written else "?"
        parts = zip(port.dims or (), written.split(","), strict=False)
        text = ",".join(
            part.replace(part.strip(), open_) if size < 0 and is_number(part.strip()) else part
            for size, part in parts
        )
        yield Candidate(
            with_attribute(scene.source, layer.data_offset, "shape", text),
            f'shape="{text}"',
            f'shape="{written}", but the port declares {PartialShape(port.dims or ())}; '
            f"{scene.layers[position].label} does not take what that is",
            scene.source.attribute(layer.data_offset, "shape"),
            layer,
            tuple(range(len(scene.layers))),  # all sizes may follow from those of an input
            cost=-0.1,
            rule=CONTRADICTED_ATTRIBUTE,
            becomes=Change("data", "shape", text),
        )
