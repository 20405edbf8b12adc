"""Causes in the layer that feeds another: an attribute and the port agree, but all it feeds asks
for something else."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.graph import Finding, Layer
from ...model.ports import Port
from ...ops import registry
from ...ops.kinds import ShapeText, TypeName
from ...rule_ids import CONTRADICTED_ATTRIBUTE
from ...rules.links import alike
from ...shapes import PartialShape
from ..candidate import Candidate
from ..trials.scene import Scene
from .ports import declared_as_fed, shown
from .writing import with_attribute


def producer_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An attribute of the layer before and its port say the same, and all it feeds another."""
    layer = scene.layers[position]
    if finding.layer is not layer:
        return
    for port, source in zip(layer.inputs, scene.sources[position], strict=False):
        if source is None or port.dims is None or finding.port not in (None, ("input", port.id)):
            continue
        at, index = source
        producer, output = scene.layers[at], scene.layers[at].outputs[index]
        fed = [scene.layers[to].inputs[i] for out, to, i in scene.consumers[at] if out == index]
        if producer.is_constant or producer.is_parameter:
            continue  # the causes of these are looked for where they are
        if alike(port, output) or not all(alike(port, other) for other in fed):
            continue
        texts = _as_asked(producer, output, port)
        if not texts:
            continue
        names = " and ".join(f'{name}="{text}"' for name, text in texts.items())
        attributes = [
            edit
            for name, text in texts.items()
            for edit in with_attribute(scene.source, producer.data_offset, name, text)
        ]
        yield Candidate(
            (*attributes, *declared_as_fed(scene, output, port)),
            f"{names}, and output port {output.id} declares {shown(port)}",
            f"{producer.label} gives {shown(output)}, as an attribute and its port say, but "
            f"{'each of the inputs' if len(fed) > 1 else 'the input'} that it feeds declares "
            f"{shown(port)}",
            scene.source.attribute(producer.data_offset, next(iter(texts))),
            producer,
            (at, *dict.fromkeys(to for _, to, _ in scene.consumers[at])),
            cost=1.2,
            rule=CONTRADICTED_ATTRIBUTE,
        )


def _as_asked(producer: Layer, output: Port, port: Port) -> dict[str, str]:
    """The attributes with which a layer may give what an input declares: those that name the type
    or the shape of its output."""
    declaration = registry.declaration_of(producer)
    given, asked = output.element_type, port.element_type
    texts: dict[str, str] = {}
    for name, written in zip(producer.items[::2], producer.items[1::2], strict=True):
        attribute = declaration.attributes.get(name) if declaration is not None else None
        if attribute is None:
            continue
        if isinstance(attribute.kind, TypeName) and given is not asked and asked is not None:
            if given is not None and written.strip().lower() == str(given):
                texts[name] = str(asked)
        elif isinstance(attribute.kind, ShapeText) and output.dims != port.dims:
            texts[name] = str(PartialShape(port.dims or ()))[1:-1]
    return texts
