"""Writes the schemas of the IR for editors, made from the declarations in irshape/ops.

ir.xsd is the skeleton; in ir.rng (RELAX NG) every operation has its own attributes.

python schemas/make_schemas.py            writes both
python schemas/make_schemas.py --check    exit status 1 where one is not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from irshape.element_types import ElementType  # noqa: E402
from irshape.model.graph import PORT_MAPS  # noqa: E402
from irshape.ops import kinds, registry  # noqa: E402
from irshape.ops.declaration import Attribute, Operation  # noqa: E402
from irshape.releases import IR_VERSIONS  # noqa: E402

BOOLEAN = "[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"
PURPOSES = ("current_iteration", "execution_condition", "")
NUMBER = (
    r"\s*[\-+]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][\-+]?[0-9]+)?"
    r"|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])\s*"
)
WHOLE, NATURAL, POSITIVE = r"\s*[\-+]?[0-9]+\s*", r"\s*\+?[0-9]+\s*", r"\s*\+?0*[1-9][0-9]*\s*"
SHAPE = r"[\s\[\]0-9?.,\-]*"
MAP_ATTRIBUTES = (
    "external_port_id",
    "internal_layer_id",
    "purpose",
    "axis",
    "start",
    "end",
    "stride",
    "part_size",
)
MOST = 10
"""How many optional attributes of an operation have a pattern each.

libxml2 tries every subset of them. With more (DetectionOutput), the rest may be anything."""
ASIDE = (
    "rt_info",
    "meta_data",
    "cli_parameters",
    "quantization_parameters",
    "statistics",
    "pre-process",
)
"""What older writers put beside the layers; nothing is said about what it holds."""


def precisions() -> list[str]:
    """The names that a port's precision may have."""
    return sorted(ElementType._by_precision, key=lambda name: (not name.isupper(), name))


# RELAX NG


def text(pattern: str) -> str:
    return f'<data type="string"><param name="pattern">{escape(pattern)}</param></data>'


def choice(patterns: Sequence[str]) -> str:
    return patterns[0] if len(patterns) == 1 else "<choice>" + "".join(patterns) + "</choice>"


def words(names: Iterable[str]) -> list[str]:
    return [f'<value type="string">{escape(name)}</value>' for name in names]


def in_any_case(names: Iterable[str]) -> str:
    """A regular expression for some words in any case."""
    return "|".join(
        "".join(
            f"[{letter.upper()}{letter.lower()}]"
            if letter.isalpha()
            else f"[{letter}]"
            if letter in "._"
            else letter
            for letter in name
        )
        for name in names
    )


def whole(kind: kinds.Integer) -> str:
    return (
        POSITIVE if kind.low == 1 else NATURAL if kind.low is not None and kind.low >= 0 else WHOLE
    )


def content(kind: kinds.Kind) -> str:
    """The pattern for the texts of a kind of attribute, or anything where the kind says no more.

    Lists are checked for their characters alone: they can be long, and libxml2's regular
    expressions backtrack.
    """
    match kind:
        case kinds.Boolean():
            return choice([*words(("true", "false", "1", "0")), text(BOOLEAN)])
        case kinds.Integer(low=None):
            return text(WHOLE)
        case kinds.Integer():
            return f'<data type="integer"><param name="minInclusive">{kind.low}</param></data>'
        case kinds.Real():
            return text(NUMBER)
        case kinds.Choice():
            patterns = words(dict.fromkeys(kind.words))
            return choice(
                patterns
                if kind.case_sensitive
                else [
                    *patterns,
                    text(in_any_case(dict.fromkeys(name.lower() for name in kind.words if name))),
                ]
            )
        case kinds.ListOf(item=kinds.Integer() as item):
            return text(r"[\s0-9+,\-]*" if whole(item) == WHOLE else r"[\s0-9+,]*")
        case kinds.ListOf(item=kinds.Real()):
            return text(r"[\s0-9eE.+,\-nNaAiIfFtTyY]*")
        case kinds.TypeName():
            names = kind.allowed or tuple(sorted(ElementType._by_name))
            return choice([*words(names), text(in_any_case(names))])
        case kinds.ShapeText():
            return text(SHAPE)
    return "<text/>"


def attribute(declared: Attribute) -> str:
    pattern = f"<attribute name={quoteattr(declared.name)}>{content(declared.kind)}</attribute>"
    return (
        pattern
        if declared.required or declared.refused_when_absent
        else f"<optional>{pattern}</optional>"
    )


def data(cls: type[Operation]) -> str:
    """The <data> of an operation: optional where no attribute has to be there."""
    declared = list(cls.attributes.values())
    required = [each for each in declared if each.required or each.refused_when_absent]
    free = [each for each in declared if each not in required]
    attributes = "".join(map(attribute, required + free[:MOST]))
    tolerated = [name for name in cls.tolerated if name not in {each.name for each in declared}]
    if len(free) + len(tolerated) > MOST:
        taken = "".join(f"<name>{escape(each.name)}</name>" for each in required + free[:MOST])
        attributes += (
            "<zeroOrMore><attribute><anyName><except>"
            f"{taken}</except></anyName></attribute></zeroOrMore>"
        )
    else:
        attributes += "".join(
            f"<optional><attribute name={quoteattr(name)}/></optional>" for name in tolerated
        )
    element = f'<element name="data">{attributes or "<empty/>"}</element>'
    return (
        element
        if any(each.required or each.refused_when_absent for each in declared)
        else f"<optional>{element}</optional>"
    )


def opsets(cls: type[Operation]) -> list[str]:
    """The opsets under which a version is read."""
    return [f"opset{number}" for number in registry.opsets(cls)]


def operation(cls: type[Operation]) -> str:
    names = dict.fromkeys((cls.type_name(), *cls.also_read))
    kind = "bodies" if cls.bodies else "plain"
    output_names = (
        '<optional><attribute name="output_names"/></optional>'
        if cls.type_name() == "Result"
        else ""
    )
    return (
        f'<define name={quoteattr(f"{cls.type_name()}-{cls.since}")}><attribute name="type">\
{choice(words(names))}</attribute>'
        f'<attribute name="version">{choice(words(opsets(cls)))}</attribute>\
{output_names}<interleave>{data(cls)}<ref name="{kind}"/></interleave></define>'
    )


def relax_ng() -> str:
    declared = [
        cls
        for name in registry.type_names()
        if not registry.of_plugins(name)
        for cls in registry.versions(name)
    ]
    defines = [operation(cls) for cls in declared]
    references = "".join(
        f"<ref name={quoteattr(f'{cls.type_name()}-{cls.since}')}/>" for cls in declared
    )
    maps = "".join(
        (
            f'<optional><element name="{name}"><zeroOrMore>'
            '<ref name="mapping"/></zeroOrMore></element></optional>'
        )
        for name in PORT_MAPS.values()
    )
    bodies = "".join(
        f'<optional><element name="{name}"><ref name="graph"/></element></optional>'
        for name in PORT_MAPS
    )
    mapping = "".join(
        f'<optional><attribute name="{name}">'
        f"{choice(words(PURPOSES)) if name == 'purpose' else text(WHOLE)}</attribute></optional>"
        for name in MAP_ATTRIBUTES
    )
    aside = "".join(
        f'<zeroOrMore><element name="{name}"><ref name="anything"/></element></zeroOrMore>'
        for name in ASIDE
    )
    return f"""<?xml version="1.0" encoding="utf-8"?>
<!-- Written by make_schemas.py from the declarations of the operations; do not edit. -->
<grammar xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
<start><element name="net">
<optional><attribute name="name"/></optional>
<attribute name="version">{choice(words(map(str, IR_VERSIONS)))}</attribute>
<zeroOrMore><attribute><anyName><except><name>name</name>\
<name>version</name></except></anyName></attribute></zeroOrMore>
<ref name="graph"/>
</element></start>
<define name="graph"><interleave>
<element name="layers"><zeroOrMore><ref name="layer"/></zeroOrMore></element>
<optional><element name="edges"><zeroOrMore><ref name="edge"/></zeroOrMore></element></optional>
<optional><ref name="back_edges"/></optional>
{aside}
</interleave></define>
<define name="edge"><element name="edge">
<attribute name="from-layer"><ref name="id"/></attribute><attribute name="from-port">\
<ref name="id"/></attribute>
<attribute name="to-layer"><ref name="id"/></attribute><attribute name="to-port">\
<ref name="id"/></attribute>
</element></define>
<define name="back_edges"><element name="back_edges"><zeroOrMore><element name="edge">
<attribute name="from-layer"><ref name="id"/></attribute><attribute name="to-layer">\
<ref name="id"/></attribute>
<zeroOrMore><attribute><anyName><except><name>from-layer</name>\
<name>to-layer</name></except></anyName></attribute></zeroOrMore>
</element></zeroOrMore></element></define>
<define name="id"><data type="nonNegativeInteger"/></define>
<define name="mapping"><choice><element name="input"><ref name="tie"/></element>\
<element name="output"><ref name="tie"/></element></choice></define>
<define name="tie">{mapping}</define>
<define name="plain"><ref name="ports"/></define>
<define name="bodies"><interleave><ref name="ports"/>{bodies}{maps}<optional>\
<ref name="back_edges"/></optional></interleave></define>
<define name="ports"><interleave>
<optional><element name="input"><zeroOrMore><element name="port"><attribute name="id">\
<ref name="id"/></attribute>
<optional><attribute name="precision"><ref name="precision"/></attribute></optional><optional>\
<attribute name="names"/></optional><ref name="dims"/></element></zeroOrMore></element></optional>
<optional><element name="output"><zeroOrMore><element name="port"><attribute name="id">\
<ref name="id"/></attribute>
<attribute name="precision"><ref name="precision"/></attribute><optional>\
<attribute name="names"/></optional><ref name="dims"/></element></zeroOrMore></element></optional>
<optional><element name="rt_info"><ref name="anything"/></element></optional>
<zeroOrMore><choice><element name="blobs"><ref name="anything"/></element>\
<element name="weights"><ref name="anything"/></element><element name="biases">\
<ref name="anything"/></element></choice></zeroOrMore>
</interleave></define>
<define name="dims"><interleave>
<zeroOrMore><element name="dim"><data type="long">\
<param name="minInclusive">-1</param></data></element></zeroOrMore>
<optional><element name="rt_info"><ref name="anything"/></element></optional>
</interleave></define>
<define name="precision"><choice>{"".join(words(precisions()))}</choice></define>
<define name="anything"><zeroOrMore><choice><attribute><anyName/></attribute><text/><element>\
<anyName/><ref name="anything"/></element></choice></zeroOrMore></define>
<define name="layer"><element name="layer"><attribute name="id"><ref name="id"/></attribute>\
<attribute name="name"/><choice>
<ref name="custom"/>
{references}
</choice></element></define>
<define name="custom">
<attribute name="type"/><attribute name="version"><data type="string"><except>\
{text("[oO][pP][sS][eE][tT].*")}</except></data></attribute>
<interleave><optional><element name="data"><zeroOrMore><attribute>\
<anyName/></attribute></zeroOrMore></element></optional><ref name="bodies"/></interleave>
</define>
{chr(10).join(defines)}
</grammar>
"""


# XSD


def skeleton() -> str:
    """The elements and attributes that every IR has, whatever its operations."""
    aside = "".join(f'<xs:element name="{name}" type="anything"/>' for name in ASIDE)
    graph = (
        '<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="layers" type="layers"/>\
<xs:element name="edges" type="edges"/>'
        f'<xs:element name="back_edges" type="backEdges"/>{aside}</xs:choice>'
    )
    inside = "".join(
        f'<xs:element name="{name}" type="graph" minOccurs="0"/>' for name in PORT_MAPS
    )
    inside += "".join(
        f'<xs:element name="{name}" type="portMap" minOccurs="0"/>' for name in PORT_MAPS.values()
    )
    inside += "".join(
        f'<xs:element name="{name}" type="anything" minOccurs="0"/>'
        for name in ("rt_info", "blobs", "weights", "biases")
    )
    mapping = "".join(
        f'<xs:attribute name="{name}" type="{"xs:string" if name == "purpose" else "xs:long"}"/>'
        for name in MAP_ATTRIBUTES
    )
    names = "".join(f'<xs:enumeration value="{name}"/>' for name in precisions())
    versions = "".join(f'<xs:enumeration value="{version}"/>' for version in IR_VERSIONS)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<!-- Written by make_schemas.py; do not edit. What the attributes of <data> may be depends on the \
operation: ir.rng knows them. -->
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
<xs:element name="net"><xs:complexType>{graph}
<xs:attribute name="name"/>
<xs:attribute name="version" use="required"><xs:simpleType><xs:restriction base="xs:string">\
{versions}</xs:restriction></xs:simpleType></xs:attribute>
<xs:anyAttribute processContents="skip"/>
</xs:complexType></xs:element>
<xs:complexType name="graph">{graph}</xs:complexType>
<xs:complexType name="layers"><xs:sequence>\
<xs:element name="layer" type="layer" minOccurs="0" maxOccurs="unbounded"/>\
</xs:sequence></xs:complexType>
<xs:complexType name="layer"><xs:all>
<xs:element name="data" minOccurs="0"><xs:complexType>\
<xs:anyAttribute processContents="skip"/></xs:complexType></xs:element>
<xs:element name="input" minOccurs="0"><xs:complexType><xs:sequence>\
<xs:element name="port" type="inputPort" minOccurs="0" maxOccurs="unbounded"/>\
</xs:sequence></xs:complexType></xs:element>
<xs:element name="output" minOccurs="0"><xs:complexType><xs:sequence>\
<xs:element name="port" type="outputPort" minOccurs="0" maxOccurs="unbounded"/>\
</xs:sequence></xs:complexType></xs:element>
<xs:element name="back_edges" type="backEdges" minOccurs="0"/>
{inside}
</xs:all>
<xs:attribute name="id" type="xs:nonNegativeInteger" use="required"/>\
<xs:attribute name="name" use="required"/>
<xs:attribute name="type" use="required"/><xs:attribute name="version" use="required"/>\
<xs:attribute name="output_names"/>
</xs:complexType>
<xs:complexType name="inputPort"><xs:group ref="dims"/>
<xs:attribute name="id" type="xs:nonNegativeInteger" use="required"/>\
<xs:attribute name="precision" type="precision"/><xs:attribute name="names"/>
</xs:complexType>
<xs:complexType name="outputPort"><xs:group ref="dims"/>
<xs:attribute name="id" type="xs:nonNegativeInteger" use="required"/>\
<xs:attribute name="precision" type="precision" use="required"/><xs:attribute name="names"/>
</xs:complexType>
<xs:group name="dims"><xs:choice>
<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="dim"><xs:simpleType>\
<xs:restriction base="xs:long">\
<xs:minInclusive value="-1"/></xs:restriction></xs:simpleType></xs:element>
<xs:element name="rt_info" type="anything"/></xs:choice>
</xs:choice></xs:group>
<xs:simpleType name="precision"><xs:restriction base="xs:string">\
{names}</xs:restriction></xs:simpleType>
<xs:complexType name="edges"><xs:sequence>\
<xs:element name="edge" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
<xs:attribute name="from-layer" type="xs:nonNegativeInteger" use="required"/>\
<xs:attribute name="from-port" type="xs:nonNegativeInteger" use="required"/>
<xs:attribute name="to-layer" type="xs:nonNegativeInteger" use="required"/>\
<xs:attribute name="to-port" type="xs:nonNegativeInteger" use="required"/>
</xs:complexType></xs:element></xs:sequence></xs:complexType>
<xs:complexType name="backEdges"><xs:sequence>\
<xs:element name="edge" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
<xs:attribute name="from-layer" type="xs:nonNegativeInteger" use="required"/>\
<xs:attribute name="to-layer" type="xs:nonNegativeInteger" use="required"/>\
<xs:anyAttribute processContents="skip"/>
</xs:complexType></xs:element></xs:sequence></xs:complexType>
<xs:complexType name="portMap"><xs:choice minOccurs="0" maxOccurs="unbounded">\
<xs:element name="input" type="tie"/>\
<xs:element name="output" type="tie"/></xs:choice></xs:complexType>
<xs:complexType name="tie">{mapping}</xs:complexType>
<xs:complexType name="anything" mixed="true"><xs:sequence>\
<xs:any processContents="skip" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>\
<xs:anyAttribute processContents="skip"/></xs:complexType>
</xs:schema>
"""


SCHEMAS = {"ir.rng": relax_ng, "ir.xsd": skeleton}


def main() -> int:
    stale = [
        name
        for name, make in SCHEMAS.items()
        if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != make()
    ]
    if "--check" in sys.argv[1:]:
        print(
            "\n".join(
                f"{name} is not up to date: run python schemas/make_schemas.py" for name in stale
            ),
            end="\n" if stale else "",
        )
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(SCHEMAS[name](), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
