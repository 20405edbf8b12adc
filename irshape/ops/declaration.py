"""How an operation is declared: one class a version, holding its attributes, inputs, type and shape rule and NumPy evaluation.

    class ReduceMean(ArithmeticReduction):
        \"\"\"Arithmetic mean of `data` over `axes`. Specification: ReduceMean-1.\"\"\"

        since = 1
        data = operand(NUMERIC)
        axes = operand(INTEGER, value=True)
        keep_dims: bool = attribute(BOOLEAN, default=False)

        def infer(self, data, axes): ...            # abstract tensors in, abstract tensors out; raises Violation
        def evaluate(self, data, axes): ...         # arrays in, arrays out

A class is named after the type in the IR, with `_N` behind it where there are several versions (`Interpolate_11`, as in the documentation's Interpolate-11).
`infer` is a function of the attributes and the abstract inputs alone, so its results are kept and reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

from ..faults import Fault, Violation, fault
from ..rule_ids import (
    ATTRIBUTE_VALUE,
    INPUT_COUNT,
    INPUT_ELEMENT_TYPE,
    INPUT_RANK,
    MISSING_ATTRIBUTE,
    MISSPELT_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
)
from ..types import DYNAMIC_TYPE, ElementType
from .kinds import THE_DEFAULT, Kind, Malformed
from .tensors import Tensor, Value

_REQUIRED: Final = object()


def _types(*names: str) -> frozenset[ElementType]:
    return frozenset(ElementType.of(name) for name in (" ".join(names)).split())


BOOLEAN_TYPE: Final = _types("boolean")
REAL: Final = _types("f64 f32 f16 bf16 f8e4m3 f8e5m2 f8e8m0 f4e2m1 nf4")
INTEGER: Final = _types("i64 i32 i16 i8 i4 u64 u32 u16 u8 u6 u4 u3 u2 u1")
NUMERIC: Final = REAL | INTEGER
NUMERIC_OR_BOOLEAN: Final = NUMERIC | BOOLEAN_TYPE
I32_I64: Final = _types("i32 i64")
ANY: Final = NUMERIC_OR_BOOLEAN | _types("string")


def types(*names: str) -> frozenset[ElementType]:
    """A set of element types by name, for `operand`."""
    return _types(*names)


class Operand:
    """An input as declared: its name, the element types it takes, and what inference needs of it."""

    def __init__(
        self,
        allowed: frozenset[ElementType],
        *,
        specified: frozenset[ElementType] | None,
        rank: tuple[int, ...] | int | None,
        like: str | None,
        value: bool,
        optional: bool,
        variadic: bool,
    ) -> None:
        self.name = ""
        self.allowed = allowed
        self.specified = specified
        self.ranks = (rank,) if isinstance(rank, int) else rank
        self.like = like
        self.value = value
        self.optional = optional
        self.variadic = variadic


def operand(
    allowed: frozenset[ElementType] = ANY,
    *,
    specified: frozenset[ElementType] | None = None,
    rank: tuple[int, ...] | int | None = None,
    like: str | None = None,
    value: bool = False,
    optional: bool = False,
    variadic: bool = False,
) -> Any:
    """Declares the next input.

    allowed: the element types that OpenVINO reads. specified: those of the specification, where it allows fewer. rank: the rank or ranks it must have. like: the operand whose element type it shares (a variadic one may
    name itself). value: inference looks at
    its value, which the engine then provides where it can be known. optional: may be left out. variadic: takes all inputs from here on.
    """
    return Operand(
        allowed,
        specified=specified,
        rank=rank,
        like=like,
        value=value,
        optional=optional,
        variadic=variadic,
    )


class Attribute:
    """An attribute of `<data>` as declared."""

    def __init__(self, kind: Kind, *, default: Any, required: bool, name: str | None) -> None:
        self.kind = kind
        self.default = default
        self.required = required
        self.name = name or ""

    @property
    def refused_when_absent(self) -> bool:
        """Whether OpenVINO cannot do without it (as opposed to: the specification demands it, OpenVINO takes a default)."""
        return self.default is _REQUIRED


def attribute(
    kind: Kind, *, default: Any = _REQUIRED, required: bool = False, name: str | None = None
) -> Any:
    """Declares an attribute.

    default: its value when absent; without one OpenVINO refuses the layer. required: the specification demands it although OpenVINO goes
    on with the default. name: as written in the IR, where that is no Python name (`auto_broadcast.auto_broadcast_axis`).
    """
    return Attribute(kind, default=default, required=required, name=name)


class AttributeFault(NamedTuple):
    """A fault of an attribute. `silent`: OpenVINO goes on; otherwise it refuses the layer."""

    fault: Fault
    silent: bool


class Operation:
    """A version of an operation. Subclasses declare; an instance holds the attributes of one layer."""

    since: ClassVar[int] = 1
    """The first opset that holds this version."""
    until: ClassVar[int | None] = None
    """The last opset that holds it, if that is neither the one before the next version nor the newest. Not inherited."""
    written: ClassVar[int | None] = None
    """The opset under which OpenVINO's writer names it, where that is not `since`."""
    also_read: ClassVar[tuple[str, ...]] = ()
    """Other type names under which OpenVINO's reader takes it."""
    also_under: ClassVar[tuple[str, ...]] = ()
    """Versions that are no opset, under which OpenVINO's reader takes it. Not inherited."""
    tolerated: ClassVar[tuple[str, ...]] = ()
    """Attributes that some OpenVINO writer is known to have put there and that mean nothing."""
    has_bodies: ClassVar[bool] = False
    """Whether its layers hold bodies; `infer` and `evaluate` then take them as `bodies=`."""
    moves: ClassVar[tuple[str, ...]] = ()
    """Operands whose elements the result holds, only moved: bounds pass through `evaluate` unchanged, lower and upper by themselves."""
    keeps_state: ClassVar[bool] = False
    """Whether `evaluate` needs the session's variables, as `state=`."""

    value_of_shape: ClassVar[bool] = False
    """Whether the value of the result depends on the shape of the input alone (ShapeOf)."""
    reads_weights: ClassVar[bool] = False
    """Whether the value of the result stands in the .bin (Const)."""
    constant_operands: ClassVar[tuple[str, ...]] = ()
    """Inputs that a Const itself must feed."""
    valued: ClassVar[tuple[tuple[int, Operand], ...]] = ()
    """The operands whose value inference looks at, with their positions."""

    attributes: ClassVar[dict[str, Attribute]] = {}
    operands: ClassVar[tuple[Operand, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        attributes = dict(cls.attributes)
        operands = {found.name: found for found in cls.operands}
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
        cls.attributes = attributes
        cls.operands = tuple(operands.values())
        cls.valued = tuple(
            (i, declared) for i, declared in enumerate(cls.operands) if declared.value
        )

    def __init__(self, **values: Any) -> None:
        """Attributes by their Python names; the rest take their defaults. Raises `TypeError` for an unknown or missing one."""
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
        """The `type` of its layers: the class name without its version."""
        name, _, version = cls.__name__.rpartition("_")
        return name if version.isdigit() and name else cls.__name__

    @classmethod
    def version_name(cls) -> str:
        """The `version` that OpenVINO's writer gives its layers."""
        return f"opset{cls.written or cls.since}"

    @classmethod
    def read(cls, items: tuple[str, ...]) -> tuple[Operation, tuple[AttributeFault, ...]]:
        """An instance from `<data>` (name, value, name, value …) and what is wrong with its attributes. Never raises."""
        given = dict(zip(items[::2], items[1::2], strict=True))
        faults: list[AttributeFault] = []
        made = cls.__new__(cls)
        for name, declared in cls.attributes.items():
            text = given.pop(declared.name, None)
            value = None if declared.refused_when_absent else declared.default
            if text is None:
                if declared.required or declared.refused_when_absent:
                    faults.append(_missing(declared))
            else:
                try:
                    value = declared.kind.read(text)
                except Malformed as malformed:
                    if malformed.value is THE_DEFAULT:
                        malformed.value = not declared.refused_when_absent and declared.default
                    faults.append(_malformed(declared, text, malformed))
                    if malformed.silent:
                        value = malformed.value
            setattr(made, name, value)
        for name, text in given.items():
            if name not in cls.tolerated:
                faults.append(
                    _unknown(cls, name, text, set(zip(items[::2], items[1::2], strict=True)))
                )
        return made, tuple(faults)

    def infer(self, *inputs: Any, **context: Any) -> Tensor | tuple[Tensor, ...]:
        """Element types and shapes of the outputs from those of the inputs (an optional one that is absent is None). Raises `Violation`."""
        raise NotImplementedError

    def check(self, *inputs: Any, **context: Any) -> Iterator[Fault]:
        """Conditions that the specification states and OpenVINO passes over; inference goes on whatever comes of them. With bodies, it takes them as `bodies=`."""
        return iter(())

    infer_value: Callable[..., Value | tuple[Value | None, ...] | None] | None = None
    """`infer_value(*inputs, outputs=…)`: bounds of the outputs' values from those of the inputs; without it the engine folds with `evaluate`."""

    evaluate: Callable[..., Any] | None = None
    """`evaluate(*arrays)`: the outputs as NumPy arrays, computed in the declared element types."""

    never_larger: ClassVar[bool] = False
    """Whether no output has more elements than the inputs together, whatever the values that inference looks at."""

    overwrite: Callable[..., None] | None = None
    """`overwrite(out, *arrays)`: puts into one of the inputs, which has the shape of the result and is not needed any more, what `evaluate` would give; all are f32, or all f64."""

    spares_outputs: ClassVar[bool] = False
    """Whether `evaluate` takes `wanted=`, a flag for each output, and may give anything for one that nobody takes."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.attributes)})"


def _missing(declared: Attribute) -> AttributeFault:
    silent = not declared.refused_when_absent
    goes_on = (
        f"; OpenVINO goes on with {declared.kind.write(declared.default)!r} in silence"
        if silent and declared.default is not None
        else ""
    )
    message = f"the attribute `{declared.name}` is missing{goes_on}"
    wanted = declared.kind.describe()
    hint = f'add {declared.name}="…" to <data>: {wanted}'
    fault = Fault(MISSING_ATTRIBUTE, message, declared.name, expected=wanted, help=hint)
    return AttributeFault(fault, silent)


def _malformed(declared: Attribute, text: str, malformed: Malformed) -> AttributeFault:
    shown = text if len(text) <= 60 else text[:57] + "…"
    message = (
        f'`{declared.name}="{shown}"` is not {malformed.expected}'
        if not malformed.expected.startswith("'")
        else f"`{declared.name}`: {malformed.expected}"
    )
    if malformed.silent:
        message += "; OpenVINO goes on with " + _written(declared.kind, malformed.value)
    hint = f"give `{declared.name}` a value that is {declared.kind.describe()}"
    fault = Fault(ATTRIBUTE_VALUE, message, declared.name, malformed.expected, shown, hint)
    return AttributeFault(fault, malformed.silent)


def _written(kind: Kind, value: Any) -> str:
    try:
        return f'"{kind.write(value)}" in silence'
    except (TypeError, ValueError):
        return f"{value} in silence"


def _unknown(
    cls: type[Operation], name: str, text: str, given: set[tuple[str, str]]
) -> AttributeFault:
    from difflib import get_close_matches

    known = [declared.name for declared in cls.attributes.values()]
    absent = [candidate for candidate in known if candidate not in {found for found, _ in given}]
    close = get_close_matches(name, absent, 1, 0.75) or [
        candidate for candidate in absent if _fold(candidate) == _fold(name)
    ]
    if close:
        message = f"`{name}` looks like a misspelling of `{close[0]}`; OpenVINO ignores it and takes the default of `{close[0]}`"
        hint = f"rename it to `{close[0]}`"
        return AttributeFault(Fault(MISSPELT_ATTRIBUTE, message, name, close[0], name, hint), True)
    message = (
        f"{cls.type_name()} of {cls.version_name()} has no attribute `{name}`; OpenVINO ignores it"
    )
    wanted, hint = ", ".join(known) or "no attributes", "remove it, or correct its name"
    return AttributeFault(Fault(UNKNOWN_ATTRIBUTE, message, name, wanted, name, hint), True)


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def check_inputs(operation: Operation, inputs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
    """The inputs in the order of the operands, None for absent optional ones. Raises `Violation` for a wrong number, element type or rank."""
    operands = operation.operands
    least = sum(not declared.optional for declared in operands)
    variadic = bool(operands) and operands[-1].variadic
    if len(inputs) < least or (len(inputs) > len(operands) and not variadic):
        most = "" if not variadic else " or more"
        wanted = (
            f"{least}{most}"
            if least == len(operands) or variadic
            else f"{least} to {len(operands)}"
        )
        names = ", ".join(
            declared.name + ("…" if declared.variadic else "") for declared in operands
        )
        raise Violation(
            f"{operation.type_name()} takes {wanted} input{'' if wanted == '1' else 's'} ({names}), got {len(inputs)}",
            expected=wanted,
            actual=len(inputs),
            rule=INPUT_COUNT,
        )
    groups = {declared.like for declared in operands}
    shared: dict[str, ElementType] = {}
    for index, tensor in enumerate(inputs):
        declared = operands[index] if index < len(operands) else operands[-1]
        element_type = tensor.element_type
        if element_type is not DYNAMIC_TYPE and element_type not in declared.allowed:
            allowed = describe_types(declared.allowed)
            raise Violation(
                f"`{declared.name}` (input {index}) has element type {element_type}; expected {allowed}",
                at=declared.name,
                expected=allowed,
                actual=element_type,
                rule=INPUT_ELEMENT_TYPE,
            )
        if (
            declared.ranks is not None
            and tensor.rank is not None
            and tensor.rank not in declared.ranks
        ):
            wanted = " or ".join(map(str, declared.ranks))
            raise Violation(
                f"`{declared.name}` (input {index}) has shape {tensor.shape}, of rank {tensor.rank}; expected rank {wanted}",
                at=declared.name,
                expected=f"rank {wanted}",
                actual=f"rank {tensor.rank}",
                rule=INPUT_RANK,
            )
        group = declared.like or (declared.name if declared.name in groups else None)
        if group is None or element_type is DYNAMIC_TYPE:
            continue
        other = shared.setdefault(group, element_type)
        if other is not element_type:
            raise Violation(
                f"`{declared.name}` (input {index}) has element type {element_type}, but `{group}` has {other}; they must be the same",
                at=declared.name,
                expected=other,
                actual=element_type,
                rule=INPUT_ELEMENT_TYPE,
                help="insert a Convert",
            )
    return (
        inputs
        if len(inputs) >= len(operands)
        else inputs + (None,) * (len(operands) - len(inputs) - variadic)
    )


def check_specified(operation: Operation, inputs: tuple[Tensor | None, ...]) -> Iterator[Fault]:
    """Element types that OpenVINO reads in silence and the specification does not allow."""
    for index, tensor in enumerate(inputs):
        declared = (
            operation.operands[index] if index < len(operation.operands) else operation.operands[-1]
        )
        if (
            declared.specified is None
            or tensor is None
            or tensor.element_type is DYNAMIC_TYPE
            or tensor.element_type in declared.specified
        ):
            continue
        wanted = describe_types(declared.specified)
        yield fault(
            f"`{declared.name}` (input {index}) has element type {tensor.element_type}; the specification wants {wanted}, though OpenVINO reads on",
            at=declared.name,
            expected=wanted,
            actual=tensor.element_type,
            rule=INPUT_ELEMENT_TYPE,
        )


def describe_types(allowed: frozenset[ElementType]) -> str:
    """A set of element types in words."""
    for words, group in (
        ("any type", ANY),
        ("a number or boolean", NUMERIC_OR_BOOLEAN),
        ("a number", NUMERIC),
        ("an integer", INTEGER),
        ("a floating-point type", REAL),
    ):
        if allowed == group:
            return words
    but = "any type but " if len(allowed) > len(ANY) // 2 else ""
    names = sorted(
        (found.name for found in (ANY - allowed if but else allowed)),
        key=lambda name: (name[0], len(name), name),
    )
    return but + (names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1])
