"""The element types of OpenVINO: one object for each, compared by identity."""

from __future__ import annotations

from typing import ClassVar, Final


class ElementType:
    """An element type of OpenVINO, with its name (`f32`), its width in bits and its kind of number.

    There is one object for each type (`ElementType.of("f32")`), so types are compared by identity.
    """

    __slots__ = ("bits", "dtype", "kind", "name", "precision", "signed")
    _by_name: ClassVar[dict[str, ElementType]] = {}
    _by_precision: ClassVar[dict[str, ElementType]] = {}

    def __init__(
        self, name: str, precision: str, bits: int, kind: str, signed: bool, dtype: str
    ) -> None:
        self.name = name
        self.precision = precision
        self.bits = bits
        self.kind = kind
        self.signed = signed
        self.dtype = dtype  # the name of the type in NumPy or ml_dtypes; empty if neither has one

    @staticmethod
    def of(name: str) -> ElementType:
        """Returns the type with a name such as `f32`, `i64` or `boolean`, in upper or lower case.

        Raises `ValueError` for an unknown name.
        """
        element_type = ElementType._by_name.get(name) or ElementType._by_name.get(str(name).lower())
        if element_type is None:
            raise ValueError(f"unknown element type '{name}'; expected a name such as f32 or i64")
        return element_type

    @staticmethod
    def names() -> tuple[str, ...]:
        """Returns the names of all element types."""
        return tuple(dict.fromkeys(each.name for each in ElementType._by_name.values()))

    @staticmethod
    def of_precision(text: str) -> ElementType | None:
        """Returns the type for the `precision` of a port: `FP32` or `f32`, for example. Returns
        None for an unknown precision."""
        return ElementType._by_precision.get(text)

    @property
    def is_dynamic(self) -> bool:
        """Whether this is the `dynamic` type: the element type is not known."""
        return self.kind == "dynamic"

    @property
    def is_integer(self) -> bool:
        """Whether the type is an integer type, including `u1` but not `boolean`."""
        return self.kind == "integer"

    @property
    def is_real(self) -> bool:
        """Whether the type is a floating-point type."""
        return self.kind == "real"

    @property
    def is_packed(self) -> bool:
        """Whether elements are narrower than a byte, so that several share bytes in a .bin."""
        return 0 < self.bits < 8

    def byte_size(self, elements: int) -> int:
        """Returns the number of bytes that a number of elements takes in a .bin.

        OpenVINO packs u3 and u6 into groups of three bytes.
        """
        if self.bits in (3, 6):
            per_group = 24 // self.bits
            return -(-elements // per_group) * 3
        return (elements * self.bits + 7) // 8

    @property
    def limits(self) -> tuple[int, int]:
        """Returns the smallest and largest value of an integer type; 0 and 1 for `boolean`."""
        if self.kind == "boolean":
            return 0, 1
        if self.signed:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        return (ElementType.of, (self.name,))


def _element_types() -> None:
    rows: list[tuple[str, str, int, str, bool, str]] = [
        ("f64", "FP64", 64, "real", True, "float64"),
        ("f32", "FP32", 32, "real", True, "float32"),
        ("f16", "FP16", 16, "real", True, "float16"),
        ("bf16", "BF16", 16, "real", True, "bfloat16"),
        ("f8e4m3", "F8E4M3", 8, "real", True, "float8_e4m3fn"),
        ("f8e5m2", "F8E5M2", 8, "real", True, "float8_e5m2"),
        ("f8e8m0", "F8E8M0", 8, "real", False, "float8_e8m0fnu"),
        ("f4e2m1", "F4E2M1", 4, "real", True, "float4_e2m1fn"),
        ("nf4", "NF4", 4, "real", True, ""),
        ("i64", "I64", 64, "integer", True, "int64"),
        ("i32", "I32", 32, "integer", True, "int32"),
        ("i16", "I16", 16, "integer", True, "int16"),
        ("i8", "I8", 8, "integer", True, "int8"),
        ("i4", "I4", 4, "integer", True, "int4"),
        ("u64", "U64", 64, "integer", False, "uint64"),
        ("u32", "U32", 32, "integer", False, "uint32"),
        ("u16", "U16", 16, "integer", False, "uint16"),
        ("u8", "U8", 8, "integer", False, "uint8"),
        ("u6", "U6", 6, "integer", False, ""),
        ("u4", "U4", 4, "integer", False, "uint4"),
        ("u3", "U3", 3, "integer", False, ""),
        ("u2", "U2", 2, "integer", False, "uint2"),
        ("u1", "BIN", 1, "integer", False, ""),
        ("boolean", "BOOL", 8, "boolean", False, "bool"),
        ("string", "STRING", 0, "string", False, "object"),
        ("dynamic", "UNSPECIFIED", 0, "dynamic", False, ""),
    ]
    for row in rows:
        element_type = ElementType(*row)
        ElementType._by_name[element_type.name] = element_type
        ElementType._by_precision[element_type.name] = element_type
        ElementType._by_precision[element_type.precision] = element_type
    ElementType._by_name["undefined"] = ElementType._by_precision["undefined"] = (
        ElementType._by_name["dynamic"]
    )
    ElementType._by_precision["U1"] = ElementType._by_name["u1"]


_element_types()
DYNAMIC_TYPE: Final = ElementType.of("dynamic")


def types(*names: str) -> frozenset[ElementType]:
    """Returns a set of element types. A text may contain several names: `"f32 f16"`."""
    return frozenset(ElementType.of(name) for name in (" ".join(names)).split())


BOOLEAN_TYPE: Final = types("boolean")
REAL: Final = types("f64 f32 f16 bf16 f8e4m3 f8e5m2 f8e8m0 f4e2m1 nf4")
INTEGER: Final = types("i64 i32 i16 i8 i4 u64 u32 u16 u8 u6 u4 u3 u2 u1")
NUMERIC: Final = REAL | INTEGER
NUMERIC_OR_BOOLEAN: Final = NUMERIC | BOOLEAN_TYPE
ANY: Final = NUMERIC_OR_BOOLEAN | types("string")
