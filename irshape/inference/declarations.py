"""Looks up what a layer is: the declaration of its operation, with the layer's attributes read."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Union

from ..faults import Violation
from ..model.graph import Layer, Model
from ..model.ports import Port
from ..ops import registry
from ..ops.declaration import AttributeFault, Operand, Operation, check_inputs
from ..rule_ids import INPUT_COUNT
from ..shapes import PartialShape
from .ports import input_tensors

Declaration = tuple[Operation, tuple[AttributeFault, ...]] | registry.UnknownOperation
"""An operation with its attributes, and what is wrong with those; or why there is none."""


_WRITTEN = ("element_type", "shape", "offset", "size")
"""The attributes of a constant as writers have them."""
_SHORT = 1024
"""Longer attributes are not remembered, which bounds the memory that this takes."""


@lru_cache(maxsize=4096)
def _remembered(operation: type[Operation], items: tuple[str, ...]) -> Declaration:
    """`operation.read`, remembered from one model to the next."""
    return operation.read(items)


class AlikeConstants(NamedTuple):
    """Const layers that differ in nothing but where their bytes lie."""

    declaration: Declaration
    items: tuple[str, ...]
    """The attributes of the first."""
    offsets: list[str]
    """Where the bytes of each begin, in digits."""
    positions: list[int]
    """Those of the layers in their body."""


class BodyDeclarations(NamedTuple):
    """The declarations of the layers of a body, and what shows when all of them are looked up."""

    each: list[Declaration]
    valued: list[int]
    """The layers that need values of their inputs."""
    constants: list[AlikeConstants]
    """The layers of the type Const that have the attributes of a writer."""
    all_constants: bool
    """Whether these are all layers of that type."""
    kinds: dict[tuple[str, str], None]
    """The types of the layers with their versions."""


def declared_one_by_one(layers: list[Layer], each: list[Declaration]) -> BodyDeclarations:
    """What shows of layers of which each has been looked up."""
    valued = [
        position
        for position, declaration in enumerate(each)
        if declaration.__class__ is tuple and declaration[0].valued
    ]
    constants: list[AlikeConstants] = []
    regular = True
    for position, (layer, declaration) in enumerate(zip(layers, each, strict=True)):
        if layer.type == "Const":
            if layer.items[::2] == _WRITTEN and _lies_anywhere(layer.items):
                places = [layer.items[5]], [position]
                constants.append(AlikeConstants(declaration, layer.items, *places))
            else:
                regular = False
    kinds = dict.fromkeys([(layer.type, layer.version) for layer in layers])
    return BodyDeclarations(each, valued, constants, regular, kinds)


def _valued(declaration: Declaration) -> tuple[tuple[int, Operand], ...]:
    """The operands of a layer whose values inference needs."""
    return () if isinstance(declaration, registry.UnknownOperation) else declaration[0].valued


class Declarations:
    """The declarations of the layers of one model, read once for all layers that agree."""

    def __init__(self, model: Model) -> None:
        self._alone = model.kind == "layers"
        self._by_text: dict[tuple[str, str, tuple[str, ...], bool], Declaration] = {}
        self._by_layer: dict[Layer, Declaration] = {}
        self._unsorted: list[tuple[list[Layer], list[Declaration]]] = []
        """What is still to be put into `_by_layer`."""
        self._bodies: dict[tuple[str, ...], tuple[list[Layer], BodyDeclarations]] = {}
        """The bodies of which all layers have been looked up, by their paths."""

    def of_all(self, layers: list[Layer]) -> BodyDeclarations:
        """The same as `of` for each of the layers of a body."""
        path = layers[0].path if layers else ()
        known_body = self._bodies.get(path)
        if known_body is not None and known_body[0] == layers:
            return known_body[1]
        if known_body is not None or not self._by_layer.keys().isdisjoint(layers):
            by_layer = self._sorted()
            return declared_one_by_one(
                layers, [by_layer.get(layer) or self.of(layer) for layer in layers]
            )
        shared: dict[_Key, _Known] = {}
        constants: dict[_Key, AlikeConstants] = {}
        each: list[Declaration] = []
        valued: list[int] = []
        kinds: dict[tuple[str, str], None] = {}
        regular = True
        for layer in layers:
            items = layer.items
            if layer.type != "Const":  # the reader keeps equal attributes once
                key: _Key = (id(items), layer.type, layer.version)
                known = shared.get(key)
                if known is None:
                    known = self._once(layer, key, lasts=len(shared) < _FEW_KINDS)
                    kinds[layer.type, layer.version] = None
                    if layer.version:
                        shared[key] = known
                _, declaration, asks = known
                if asks:
                    valued.append(len(each))
            elif items[::2] == _WRITTEN and items[5].isdecimal() and layer.version:
                _, element_type, _, shape, _, offset, _, size = items
                key = layer.version, element_type, shape, size
                alike = constants.get(key)
                if alike is None:
                    kinds["Const", layer.version] = None
                    if not size.isdecimal():
                        declaration, regular = self._of(layer), False
                    elif len(constants) < _FEW_KINDS:
                        _, declaration, _ = self._once(layer, key, lasts=True)
                    else:
                        declaration = self._of(layer)
                    alike = AlikeConstants(declaration, items, [], [])
                    if size.isdecimal():
                        constants[key] = alike
                declaration, _, offsets, positions = alike
                offsets.append(offset)
                positions.append(len(each))
            else:
                kinds["Const", layer.version] = None
                declaration, regular = self._of(layer), False
            each.append(declaration)
        # those for whom no single layer is looked up do not pay for a place for each
        layers = list(layers)
        self._unsorted.append((layers, each))
        declared = BodyDeclarations(each, valued, list(constants.values()), regular, kinds)
        self._bodies[path] = layers, declared
        return declared

    def _once(self, layer: Layer, key: _Key, *, lasts: bool) -> _Known:
        """What `of_all` knows of layers alike. lasts: from one model to the next."""
        known = _LASTING.get(key) if lasts else None
        if known is not None and _is_current(layer, known[1]):
            return known
        declaration = self._of(layer)
        known = layer.items, declaration, bool(_valued(declaration))
        if lasts and layer.version and sum(map(len, layer.items)) < _SHORT:
            if len(_LASTING) >= _MOST:
                _LASTING.clear()
            _LASTING[key] = known
        return known

    def of(self, layer: Layer) -> Declaration:
        """The operation of a layer, with the attributes that the layer had when first asked."""
        by_layer = self._sorted()
        known = by_layer.get(layer)
        if known is None:
            known = by_layer[layer] = self._of(layer)
        return known

    def _sorted(self) -> dict[Layer, Declaration]:
        """The declarations of all layers that have been looked up."""
        if self._unsorted:
            for layers, declarations in self._unsorted:
                self._by_layer.update(zip(layers, declarations, strict=True))
            self._unsorted.clear()
        return self._by_layer

    def _of(self, layer: Layer) -> Declaration:
        items = layer.items
        # a layer without a version has one that also depends on its ports
        version = layer.version or str(layer.offset)
        anywhere = _lies_anywhere(items)
        key = (layer.type, version, items[:4] if anywhere else items, anywhere)
        declaration = self._by_text.get(key)
        if declaration is None:
            if anywhere:
                items = (*items[:4], "offset", "0", "size", "0")
            declaration = self._by_text[key] = self._read(layer, items)
        return declaration

    def _read(self, layer: Layer, items: tuple[str, ...]) -> Declaration:
        try:
            if self._alone and not layer.version:
                return newest_fitting(layer).read(items)
            operation = registry.find(layer.type, layer.version)
            if len(self._by_text) < _MOST and sum(map(len, items)) < _SHORT:
                return _remembered(operation, items)  # type: ignore[arg-type]  # a class is hashable
            return operation.read(items)
        except registry.UnknownOperation as unknown:
            return unknown.with_traceback(None)  # which holds frames, and with them the model


_Key = tuple[Union[str, int], ...]
"""What layers alike are known by: the `id` of their attributes, their type and version; for
constants all of their attributes but the place."""
_Known = tuple[tuple[str, ...], Declaration, bool]
"""The attributes that are part of a key, the declaration, and whether it needs values of inputs."""
_LASTING: dict[_Key, _Known] = {}
_MOST = 4096
_FEW_KINDS = 512
"""A model of more kinds of layers is hardly like another."""


def _is_current(layer: Layer, declaration: Declaration) -> bool:
    """Whether the registry still finds the operation of a declaration."""
    try:
        return declaration[0].__class__ is registry.find(layer.type, layer.version)  # type: ignore[index]
    except (registry.UnknownOperation, TypeError):
        return False


def _lies_anywhere(items: tuple[str, ...]) -> bool:
    """Whether these are the attributes of a constant as a writer has them: where its bytes lie
    takes no part in inference."""
    return (
        len(items) == 8
        and items[4] == "offset"
        and items[5].isdigit()
        and items[7].isdigit()
        and items[6] == "size"
    )


def newest_fitting(layer: Layer) -> type[Operation]:
    """The newest version of an operation that the attributes and ports of a layer fit.

    Where none fits, the newest of those that fit best. Raises `UnknownOperation`.
    """
    known = registry.versions(layer.type)
    if not known:
        registry.find(layer.type, "opset1")
        raise registry.UnknownOperation(f"no opset contains an operation named {layer.type}")
    if len(known) == 1:
        return known[0]
    return min(reversed(known), key=lambda operation: _misfits(operation, layer))


def _misfits(declared: type[Operation], layer: Layer) -> tuple[int, ...]:
    """How much of a layer contradicts a version, gravest first.

    Counted are faulty attributes, the number of inputs, the number of outputs, their shapes.
    """
    operation, faults = declared.read(layer.items)
    refused = any(not fault.silent for fault in faults)
    try:
        inputs = check_inputs(operation, input_tensors(layer, declared.operands))
        if declared.has_bodies or refused:
            return len(faults), 0, int(refused), 0
        outputs = operation.infer(*inputs)
    except Violation as violation:
        return len(faults), int(violation.fault.rule == INPUT_COUNT), 1, 1
    tensors = outputs if isinstance(outputs, tuple) else (outputs,)
    contradicted = sum(
        _contradicts(port, tensor.shape)
        for port, tensor in zip(layer.outputs, tensors, strict=False)
    )
    return len(faults), 0, int(len(tensors) != len(layer.outputs)), contradicted


def _contradicts(port: Port, shape: PartialShape) -> bool:
    """Whether an output port declares dimensions that the shape does not allow."""
    return bool(port.dims) and not PartialShape(port.dims or ()).compatible(shape)
