"""Declares operations: a class for each version, with attributes, inputs, `infer` and `evaluate`.

    class ReduceMean(Operation):
        \"\"\"Arithmetic mean of `data` over `axes`.\"\"\"

        since = 1
        data = operand(NUMERIC)
        axes = operand(INTEGER, value=True)
        keep_dims: bool = attribute(BOOLEAN, default=False)

        def infer(self, data, axes): ...     # abstract tensors in and out; raises Violation
        def evaluate(self, data, axes): ...  # arrays in and out

A class is named after the type in the IR. Where there are several versions, `_N` follows:
`Interpolate_11`, as in the documentation's Interpolate-11. The result of `infer` depends only on
the attributes and the abstract inputs, so irshape keeps and reuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from sys import maxsize
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from ..element_types import (
    ANY,
    BOOLEAN_TYPE,
    DYNAMIC_TYPE,
    INTEGER,
    NUMERIC,
    NUMERIC_OR_BOOLEAN,
    REAL,
    ElementType,
    types,
)
from ..faults import Between, Fault
from ..rule_ids import ATTRIBUTE_VALUE
from ..shapes import Dimension
from ..wording import describe_types
from . import conditions
from .attributes import REQUIRED, Attribute, AttributeFault, attribute, malformed, missing, unknown
from .kinds import THE_DEFAULT, Malformed
from .operands import (
    I32_I64,
    Operand,
    at_least,
    between,
    check_count,
    check_operand,
    check_shapes,
    named_dimensions,
    operand,
)
from .signature import Signature
from .tensors import Tensor, Value

if TYPE_CHECKING:
    from .bodies import BodyView
    from .differences import Difference

__all__ = [
    "ANY",
    "BOOLEAN_TYPE",
    "I32_I64",
    "INTEGER",
    "NUMERIC",
    "NUMERIC_OR_BOOLEAN",
    "REAL",
    "Attribute",
    "AttributeFault",
    "Between",
    "LibraryOperation",
    "Operand",
    "Operation",
    "at_least",
    "attribute",
    "between",
    "check_inputs",
    "describe_types",
    "like",
    "operand",
    "types",
]

NOTHING: Final = Dimension(0)
"""No multiply-adds."""


def like(operand: str) -> str:
    """Declares that the result has the type and the shape of an input: `result = like("data")`."""
    return operand


class Operation:
    """A version of an operation.

    A subclass declares one version of an operation. An instance holds the attributes of one layer.
    """

    since: ClassVar[int] = 1
    """The first opset that contains this version."""
    until: ClassVar[int | None] = None
    """The last opset that contains this version. By default, this is the opset before the next
    version, or the newest opset.

    A subclass does not inherit the value.
    """
    written: ClassVar[int | None] = None
    """The opset that OpenVINO's writer names in layers of this version; None if it is `since`."""
    released: ClassVar[tuple[tuple[int, str], ...]] = ()
    """Pairs of an opset and the first release that reads this operation in that opset, if OpenVINO
    added the operation later than the opset (`releases.OPSETS`). Measured with OpenVINO."""
    released_types: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Pairs of an element type and the first release that accepts this type in an attribute, if
    only later releases accept the type in ports. Measured with OpenVINO."""
    differs: ClassVar[tuple[Difference, ...]] = ()
    """How older releases treat the operation differently; see the module `differences`."""
    also_read: ClassVar[tuple[str, ...]] = ()
    """Other type names under which OpenVINO's reader accepts the operation."""
    custom_version: ClassVar[str | None] = None
    """The `version` of the layers of an operation that belongs to no opset."""
    also_under: ClassVar[tuple[str, ...]] = ()
    """Other `version`s under which OpenVINO's reader accepts the operation. Not inherited."""
    tolerated: ClassVar[tuple[str, ...]] = ()
    """Attributes without effect that an OpenVINO writer is known to write."""
    bodies: ClassVar[tuple[str, ...]] = ()
    """The XML elements that contain the bodies of its layers, e.g. `then_body`.

    `infer` and `evaluate` receive the bodies as `bodies=`.
    """
    moves: ClassVar[tuple[str, ...]] = ()
    """Operands whose elements the result contains unchanged, but at other positions. irshape infers
    bounds of the result by two calls of `evaluate`: with lower and with upper bounds."""
    opaque: ClassVar[bool] = False
    """Whether irshape knows only the name of the operation. Its outputs then have the types and
    shapes that the layer's ports declare."""
    keeps_state: ClassVar[bool] = False
    """Whether `evaluate` reads or writes the model's variables, which it gets as `state=`."""

    leaves_nan_open: ClassVar[bool] = False
    """Whether the specification leaves the result undefined for inputs with NaN."""
    sums_up: ClassVar[Literal["sum", "mean"] | None] = None
    """"sum" or "mean" if the operation computes the sum or mean of `data` over `axes`, else None. A
    device may sum in the element type of `data`, where the sum can wrap around."""
    decompresses: ClassVar[Literal["exactly", "rounding"] | None] = None
    """How the operation can take part in decompressing weights: "exactly" or with "rounding"."""

    stepwise: ClassVar[bool] = False
    """Whether the operation maps reals to whole numbers. Near a step, a tiny error of the input
    then changes the result by a whole number."""

    value_of_shape: ClassVar[bool] = False
    """Whether the result depends only on the shape of the input, as in ShapeOf."""
    reads_weights: ClassVar[bool] = False
    """Whether the result is stored in the .bin, as in Const."""
    constant_operands: ClassVar[tuple[str, ...]] = ()
    """The operands that must come directly from a Const."""
    of_plugin: ClassVar[bool] = False
    """Whether another package declares the operation. irshape sets this; classes do not."""

    _type_name: ClassVar[str] = "Operation"
    attributes: ClassVar[dict[str, Attribute]] = {}
    operands: ClassVar[tuple[Operand, ...]] = ()
    result: ClassVar[str | None] = None
    """The operand whose element type and shape the result has. A class with `result` has no
    `infer`."""
    signature: ClassVar[Signature] = Signature.of({}, ())
    """What irshape computes once from the attributes and operands, e.g. the number of inputs."""
    questioned: ClassVar[bool] = False
    """Whether layers of the operation need checks other than `infer`. irshape sets this."""

    @classmethod
    def operand_at(cls, index: int) -> Operand | None:
        """Returns the operand that declares the input at `index`: the last operand also declares
        all inputs after it. Returns None if the operation has no operands."""
        return cls.operands[min(index, len(cls.operands) - 1)] if cls.operands else None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name, _, version = cls.__name__.rpartition("_")
        cls._type_name = name if version.isdigit() and name else cls.__name__
        attributes = dict(cls.attributes)
        operands = {declared.name: declared for declared in cls.operands}
        for name, declared in list(vars(cls).items()):
            if isinstance(declared, Attribute):
                declared.name = declared.name or name
                attributes.pop(name, None)
                attributes[name] = declared
            elif isinstance(declared, Operand):
                declared.name = name
                operands[name] = declared
            elif declared is None and name in operands and name not in Operation.__dict__:
                del operands[name]
            elif declared is None and name in attributes:
                del attributes[name]
            elif isinstance(declared, FunctionType) and (name in operands or name in attributes):
                raise TypeError(f"{cls.__name__}: `{name}` is both a method and a declaration")
        if cls.result is not None and cls.result not in operands:
            raise TypeError(f"{cls.__name__}: `result` is `{cls.result}`, which is no operand")
        if {"result", "infer"} <= vars(cls).keys():
            raise TypeError(f"{cls.__name__} has both `result` and `infer`; remove one")
        cls.of_plugin = not cls.__module__.startswith("irshape.")
        cls.attributes = attributes
        cls.operands = tuple(operands.values())
        cls.signature = Signature.of(attributes, cls.operands)
        checked = cls.check is not Operation.check
        narrowed = any(declared.specified is not None for declared in cls.operands)
        cls.questioned = narrowed or checked or cls.of_plugin

    def __init__(self, **values: Any) -> None:
        """Sets attributes by their Python names. Attributes that are not given get their defaults.

        Raises `TypeError` for an unknown or missing attribute.
        """
        for name, declared in self.attributes.items():
            if name in values:
                setattr(self, name, values.pop(name))
            elif declared.refused_when_absent:
                raise TypeError(f"{type(self).__name__} needs {name}")
            else:
                setattr(self, name, declared.default)
        if values:
            raise TypeError(f"{type(self).__name__} has no attribute {', '.join(values)}")

    @classmethod
    def type_name(cls) -> str:
        """Returns the `type` of the operation's layers: the class name without its version."""
        return cls._type_name

    @classmethod
    def documentation(cls) -> str:
        """Returns the docstring, with the name of the version in OpenVINO's documentation."""
        from inspect import cleandoc

        text = cleandoc(cls.__doc__ or "")
        if cls.custom_version is not None or "Specification:" in text:
            return text
        return f"{text}\nSpecification: {cls.type_name()}-{cls.since}.".lstrip()

    @classmethod
    def version_name(cls) -> str:
        """Returns the `version` that OpenVINO's writer gives to the operation's layers."""
        return cls.custom_version or f"opset{cls.written or cls.since}"

    @classmethod
    def read(cls, items: tuple[str, ...]) -> tuple[Operation, tuple[AttributeFault, ...]]:
        """Returns an instance with attributes from `<data>`, and the faults of these attributes.

        items: name, value, name, value … in file order. A malformed value is a fault, not an
            exception.
        """
        result = cls.__new__(cls)
        if items[::2] == cls.signature.written:  # as writers write it
            try:
                for (python, known), written in zip(
                    cls.attributes.items(), items[1::2], strict=True
                ):
                    setattr(result, python, known.read(written))
            except Malformed:
                pass
            else:
                return result, ()
        given = dict(zip(items[::2], items[1::2], strict=True))
        faults: list[AttributeFault] = []
        for name, declared in cls.attributes.items():
            text = given.pop(declared.name, None)
            value = None if declared.default is REQUIRED else declared.default
            if text is not None:
                try:
                    value = declared.read(text)
                except Malformed as problem:
                    if problem.value is THE_DEFAULT:
                        problem.value = not declared.refused_when_absent and declared.default
                    faults.append(malformed(declared, text, problem))
                    if problem.silent:
                        value = problem.value
            elif declared.required or declared.refused_when_absent:
                faults.append(missing(declared))
            setattr(result, name, value)
        if given:
            names, of = cls.signature.written, f"{cls.type_name()} of {cls.version_name()}"
            absent = tuple([each for each in names if each not in items[::2]])
            others = (name for name in given if name not in cls.tolerated)
            faults += [
                unknown(of, name, names, absent, cls.attributes, cls.of_plugin) for name in others
            ]
        return result, tuple(faults)

    def dimensions(self, *inputs: Tensor | None) -> dict[str, Dimension]:
        """Returns the sizes of the axes that operands name, e.g. `channels`, where ranks are known.

        inputs: the tensors in the order of the arguments of `infer`.
        """
        return named_dimensions(self.operands, inputs)

    @classmethod
    def is_inferred(cls) -> bool:
        """Returns whether the class has an `infer`, or a declared result that replaces it."""
        return cls.result is not None or cls.infer is not Operation.infer

    def infer(self, *inputs: Any, **context: Any) -> Tensor | tuple[Tensor, ...]:
        """Returns the element types and shapes of the outputs, given the tensors of the inputs.

        An absent optional input is None. Raises `Violation` for inputs that do not fit. A class
        with a declared `result` does not need `infer`.
        """
        if self.result is None:
            raise NotImplementedError
        for declared, tensor in zip(self.operands, inputs, strict=False):
            if declared.name == self.result:
                return Tensor(tensor.element_type, tensor.shape)
        raise NotImplementedError  # pragma: no cover: `__init_subclass__` has looked

    def check(self, *inputs: Any, **context: Any) -> Iterator[Fault]:
        """Yields violations of the specification that OpenVINO does not check.

        Types and shapes are inferred even if `check` yields faults. Control-flow operations get
        their bodies as `bodies=`.
        """
        return iter(())

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """Returns the number of multiply-adds (`a * b + c`) of one evaluation.

        Elementwise operations have 0. For dynamic shapes, the result is an interval. Bodies are not
        counted; see `repetitions`.
        """
        return NOTHING

    def repetitions(
        self, inputs: Sequence[Tensor], bodies: Mapping[str, BodyView[Tensor]]
    ) -> dict[str, Dimension]:
        """Returns how many times one evaluation runs each body, by tag, e.g. `then_body`."""
        return {}

    def runs_surely(self, view: BodyView[Tensor], inputs: Sequence[Tensor]) -> bool:
        """Returns whether every evaluation runs this body. Does not call `view.run`."""
        return False

    infer_value: Callable[..., Value | tuple[Value | None, ...] | None] | None = None
    """`infer_value(*inputs, outputs=…)` returns bounds of the outputs' elements from bounds of the
    inputs' elements. Without `infer_value`, irshape computes known values with `evaluate`."""

    evaluate: Callable[..., Any] | None = None
    """`evaluate(*arrays)` returns the outputs as NumPy arrays, in the declared element types.

    It need not repeat the checks of `infer`, which callers run first with the values.
    """

    def source_of_nan(self, *arrays: Any) -> str | None:
        """Returns why `evaluate` computes NaN from inputs without NaN, or None if the cause is not
        in the operation.

        The text continues a sentence that begins with the name of the layer: "it divides 0 by 0".
        """
        return None

    arranged: Callable[..., Any] | None = None
    """`arranged(index, array)` returns the constant of an input, laid out in memory so that
    `evaluate` is fastest. It returns the array itself if its layout is already right."""

    spares_outputs: ClassVar[bool] = False
    """Whether `evaluate` has a parameter `wanted=` with a flag for each output. `evaluate` may
    return any value for an output whose flag is false."""

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.attributes)
        return f"{type(self).__name__}({values})"


class LibraryOperation(Operation):
    """An operation that an extension library adds to OpenVINO; it belongs to no opset."""

    custom_version = "extension"
    library: ClassVar[str] = ""
    """The name by which users know the library."""
    package: ClassVar[str] = ""
    """The package that contains the library."""
    introduced: ClassVar[str] = ""
    """The first release of the library that contains the operation."""


def check_inputs(operation: Operation, inputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
    """Returns the inputs in the order of the operands, with None for absent optional operands.

    Raises `Violation` for inputs or attributes that the declaration does not allow.
    """
    signature = operation.signature
    expected = signature.expected
    count, declared = len(inputs), len(expected)
    if count != declared:
        if not signature.fewest <= count <= signature.most:
            check_count(operation.type_name(), operation.operands, count)
        expected += expected[-1:] * (count - declared)
    shared: dict[str, ElementType] = {}
    for tensor, (unquestioned, usual_ranks, group) in zip(inputs, expected, strict=False):
        element_type = tensor.element_type
        if (
            element_type not in unquestioned
            or tensor.rank not in usual_ranks
            or (group is not None and shared.setdefault(group, element_type) is not element_type)
        ):
            _check_each(operation, inputs)
            break
    if signature.shaped:
        check_shapes(operation.operands, inputs)
    for name, limits in signature.limited.items():
        value = getattr(operation, name)
        if value is not None:
            at = operation.attributes[name].name
            conditions.between(value, *limits, at=at, rule=ATTRIBUTE_VALUE)
    if count < declared:
        return inputs + (None,) * (declared - count - (signature.most == maxsize))
    return inputs


def _check_each(operation: Operation, inputs: tuple[Tensor, ...]) -> None:
    """Raises `Violation` if an operand does not allow the element type or rank of its input."""
    operands = operation.operands
    shared: dict[str, ElementType] = {}
    for index, tensor in enumerate(inputs):
        place = min(index, len(operands) - 1)
        declared, element_type = operands[place], tensor.element_type
        check_operand(declared, index, tensor)
        group = operation.signature.expected[place][2]
        if group is None or element_type is DYNAMIC_TYPE:
            continue
        other = shared.setdefault(group, element_type)
        conditions.of_type(element_type, other, at=declared.name)
