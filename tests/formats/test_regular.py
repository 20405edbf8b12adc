"""Layers and edges that are read without the XML parser are read as the parser reads them.

A file that declares another encoding than UTF-8 is left to the parser as a whole.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ir import Net

import irshape
from irshape.model.graph import Body
from irshape.model.ports import Port

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.xml"))
HEAD = '<?xml version="1.0"?>'
REGULAR = '<?xml version="1.0" encoding="UTF-8"   ?>'
PARSED = '<?xml version="1.0" encoding="US-ASCII"?>'


def net() -> Net:
    net = Net()
    data = net.parameter("?,3,4", name="data")
    mean = net.layer(
        "ReduceMean", [data, net.constant([1])], 'keep_dims="true"', outputs=["FP32:-1,1,4"]
    )
    net.result(mean, name="mean")
    return net


def described(folder: Path, text: str) -> Any:
    """Everything that the reader says of a file."""
    path = folder / "m.xml"
    path.write_text(text, encoding="utf-8")
    try:
        model = irshape.load(path)
    except irshape.LoadError as error:
        return error.diagnostics
    found = [(one.rule.code, one.message, one.offset, one.port) for one in model.findings]
    return described_body(model.net), found, model.rt_info_span


def described_body(body: Body) -> Any:
    return (
        body.path,
        body.offset,
        body.back_edges,
        [
            (edge.from_layer, edge.from_port, edge.to_layer, edge.to_port, edge.offset)
            for edge in body.edges
        ],
        [
            (
                *(layer.id, layer.name, layer.type, layer.version, layer.offset, layer.path),
                *(
                    layer.items,
                    layer.data_offset,
                    layer.rt_info_span,
                    layer.port_maps,
                    layer.output_names,
                ),
                [described_port(port) for port in layer.inputs],
                [described_port(port) for port in layer.outputs],
                {tag: described_body(inner) for tag, inner in (layer.bodies or {}).items()},
            )
            for layer in body.layers
        ],
    )


def described_port(port: Port) -> Any:
    return port.id, port.precision, port.names, port.offset, port.dims


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_read_as_the_parser_reads_them(example: Path, tmp_path: Path) -> None:
    text = example.read_text(encoding="utf-8").removeprefix(HEAD)
    assert described(tmp_path, REGULAR + text) == described(tmp_path, PARSED + text)


class Change(NamedTuple):
    """A change of one place of a file."""

    name: str
    old: str
    new: str


NAMED = 'precision="FP32" names="data"'
MEAN = '<layer id="2"'
CHANGES = [
    Change("nothing", "<layers>", "<layers>"),
    Change("white space", "<output>", "\r\n\t <output>\n"),
    Change("a comment before a layer", MEAN, f"<!-- a comment -->{MEAN}"),
    Change("two layers in a comment", MEAN, f'<!-- <layer id="7"></layer>{MEAN}></layer>-->{MEAN}'),
    Change("a comment that is never closed", MEAN, f"<!-- </layer>{MEAN}"),
    Change("a comment that begins as if closed", MEAN, f'<!--><layer id="7"></layer>-->{MEAN}'),
    Change("layers in CDATA", MEAN, f'<![CDATA[<layer id="7"></layer>{MEAN}></layer>]]>{MEAN}'),
    Change("an instruction", MEAN, f"<?x </layer>{MEAN}?>{MEAN}"),
    Change("a comment among edges", "<edges>", "<edges><!-- <edge/> -->"),
    Change("text among layers", MEAN, f"text{MEAN}"),
    Change("text among edges", "<edges>", "<edges>text"),
    Change("text inside a layer", "<output>", "text<output>"),
    Change("text inside a port", "<dim>3</dim>", "text<dim>3</dim>"),
    Change("an unknown element inside layers", MEAN, f"<odd><layers>{MEAN}/></layers></odd>{MEAN}"),
    Change("an unknown element among edges", "<edges>", "<edges><odd/>"),
    Change("a second <edges>", "</edges>", "</edges><edges></edges>"),
    Change("an empty <edges>", "<edges>", "<edges></edges><edges>"),
    Change("an edge without its end", "</edges>", '<edge from-layer="1"'),
    Change("an attribute of an edge twice", 'from-port="0"', 'from-port="0" from-port="0"'),
    Change("an edge from an id with a leading zero", 'from-layer="0"', 'from-layer="00"'),
    Change("an edge in another order", "<edge ", '<edge to-port="9" '),
    Change("an attribute twice", 'keep_dims="true"', 'keep_dims="true" keep_dims="true"'),
    Change("an attribute `names`", 'keep_dims="true"', 'keep_dims="true" names="true"'),
    Change("an attribute `offset`", 'keep_dims="true"', 'keep_dims="true" offset="3"'),
    Change("an attribute with a tab", 'keep_dims="true"', 'keep_dims="\ttrue"'),
    Change("an attribute with an entity", 'keep_dims="true"', 'keep_dims="&#116;rue"'),
    Change("an attribute with an ampersand", 'keep_dims="true"', 'keep_dims="a & b"'),
    Change("an attribute with <", 'keep_dims="true"', 'keep_dims="<"'),
    Change("an attribute with a quote", 'keep_dims="true"', "keep_dims='\"'"),
    Change("an attribute with ' names='", 'keep_dims="true"', "keep_dims=' names=\"x\"'"),
    Change("no space between attributes", 'element_type="i64" ', 'element_type="i64"'),
    Change("a name with an entity", NAMED, 'precision="FP32" names="a&lt;b"'),
    Change("a name with a control character", NAMED, 'precision="FP32" names="a\x01b"'),
    Change("a name with a line break", NAMED, 'precision="FP32" names="a\nb"'),
    Change("names before the precision", NAMED, 'names="data" precision="FP32"'),
    Change("names twice", NAMED, f'names="data" {NAMED}'),
    Change("no names", NAMED, 'precision="FP32" names=""'),
    Change("a name that is never closed", NAMED, 'precision="FP32" names="data'),
    Change("a name of <layer> with ' names='", 'name="data"', 'name=" names="'),
    Change("a port without a precision", NAMED, 'names="data"'),
    Change("an odd attribute of a port", NAMED, f'{NAMED} odd="1"'),
    Change("an odd port", '<port id="0"', '<port id="x"'),
    Change("a port with a leading zero", '<port id="0"', '<port id="00"'),
    Change("an odd dimension", "<dim>3</dim>", "<dim>x</dim>"),
    Change("a dimension with spaces", "<dim>3</dim>", "<dim> 3 </dim>"),
    Change("a negative dimension", "<dim>3</dim>", "<dim>-2</dim>"),
    Change("a dimension past int64", "<dim>3</dim>", "<dim>9223372036854775808</dim>"),
    Change("dimensions set apart", "<dim>3</dim>", "<dim>3</dim> <dim>4</dim>"),
    Change("an element among dimensions", "<dim>3</dim>", "<dim>3</dim><odd/><dim>4</dim>"),
    Change("a comment among dimensions", "<dim>3</dim>", "<dim>3</dim><!-- <dim> --><dim>4</dim>"),
    Change("text behind dimensions", "<dim>3</dim>", "<dim>3</dim><dim>4</dim>odd</dim>"),
    Change("a port in a port", "<dim>3</dim>", '<port id="9"/>'),
    Change("rt_info of a port", "<dim>3</dim>", '<rt_info><attribute name="a"/></rt_info>'),
    Change(
        "rt_info of a layer",
        "</output></layer>",
        '</output><rt_info><attribute name="a" version="0"/></rt_info> </layer>',
    ),
    Change(
        "rt_info before the ports",
        '<input><port id="0"',
        '<rt_info><attribute name="a" version="0" /></rt_info><input><port id="0"',
    ),
    Change("output names of a Result", 'type="Result"', 'type="Result" output_names="a,b"'),
    Change(
        "output names behind the version",
        'type="Result" version="opset1"',
        'type="Result" version="opset1" output_names="a,b"',
    ),
    Change(
        "output names of another layer",
        'type="ReduceMean" version="opset1"',
        'type="ReduceMean" version="opset1" output_names="a,b"',
    ),
    Change("empty rt_info of a layer", "</output></layer>", "</output><rt_info/></layer>"),
    Change(
        "rt_info with an attribute twice",
        '<input><port id="0"',
        '<rt_info><attribute name="a" name="a"/></rt_info><input><port id="0"',
    ),
    Change(
        "rt_info with names",
        '<input><port id="0"',
        '<rt_info><attribute names="a"/></rt_info><input><port id="0"',
    ),
    Change("a second <data>", "<output>", "<data/><output>"),
    Change("an output without ports", "<output>", "<output></output><output>"),
    Change("no offset in a constant", ' offset="0"', ""),
    Change("an odd offset in a constant", ' offset="0"', ' offset="x"'),
    Change("two offsets in a constant", ' offset="0"', ' offset="0" offset="8"'),
    Change("an id of <layer> that is no number", MEAN, '<layer id="two"'),
    Change("an odd attribute of <layer>", MEAN, '<layer odd="1" id="2"'),
    Change("an end tag too many", "</output></layer>", "</output></output></layer>"),
    Change("no end tag", "</output></layer>", "</layer>"),
    Change("no end", "</output></layer>", ""),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_irregular_text_is_left_to_the_parser(change: Change, tmp_path: Path) -> None:
    text = net().text().removeprefix(HEAD)
    assert change.old in text
    for count in (1, -1):  # at the first place, and everywhere
        changed = text.replace(change.old, change.new, count)
        assert described(tmp_path, REGULAR + changed) == described(tmp_path, PARSED + changed)


def with_copies(text: str) -> str:
    """The text of a file with layers put first that differ from its own in ids and digits."""
    start, end = text.index("<layers>") + len("<layers>"), text.index("</layers>")
    copies = []
    for copy in range(1, 5):

        def other(match: re.Match[str], copy: int = copy) -> str:
            return f"{match[1]}{int(match[2]) + 7 * copy**4}"

        numbers = r'(layer id="|<dim>|shape="|offset="|size="|value=")([0-9]+)'
        copies.append(re.sub(numbers, other, text[start:end]))
    return text[:start] + "".join(copies) + text[start:]


def test_a_text_that_ends_behind_a_tag_is_read_as_the_parser_reads_it(tmp_path: Path) -> None:
    text = net().text()
    ends = [match.end() for match in re.finditer("<[^>]*>", text)]
    assert len(ends) > 50
    for end in ends:
        cut = text[:end].removeprefix(HEAD)
        assert described(tmp_path, REGULAR + cut) == described(tmp_path, PARSED + cut), cut[-80:]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_layers_that_differ_in_digits_are_read_as_the_parser_reads_them(
    change: Change, tmp_path: Path
) -> None:
    text = with_copies(net().text().removeprefix(HEAD))
    for changed in (change.new.join(text.rsplit(change.old, 1)), text.replace(*change[1:])):
        assert described(tmp_path, REGULAR + changed) == described(tmp_path, PARSED + changed)


ENTRY = '<input external_port_id="2" internal_layer_id="1" />'
BACK_EDGE = '<edge from-layer="22" to-layer="1" />'
AROUND_BODIES = [
    Change(
        "an entry with an attribute twice", ENTRY, ENTRY.replace(" />", ' axis="0" axis="1" />')
    ),
    Change("an entry with an entity", ENTRY, ENTRY.replace('"2"', '"&#50;"')),
    Change("an entry with an equals sign", ENTRY, ENTRY.replace(" />", ' purpose="a=b" />')),
    Change("an entry with content", ENTRY, ENTRY.replace(" />", "></input>")),
    Change("another element among the entries", ENTRY, f"<odd/>{ENTRY}"),
    Change("a comment among the entries", ENTRY, f"<!-- <body> -->{ENTRY}"),
    Change("an empty port map", "<port_map>", "<port_map></port_map><odd>"),
    Change("a second port map", "<port_map>", "<port_map></port_map><port_map>"),
    Change("another port map", "<else_port_map>", "<port_map></port_map><else_port_map>"),
    Change("a port map that ends as another", "</else_port_map>", "</port_map>"),
    Change("no back edges", BACK_EDGE, ""),
    Change("a back edge in another order", BACK_EDGE, '<edge to-layer="1" from-layer="22" />'),
    Change("a back edge with more attributes", BACK_EDGE, BACK_EDGE.replace(" />", ' odd="1" />')),
    Change("back edges twice", "<back_edges>", "<back_edges></back_edges><back_edges>"),
    Change("an attribute", "<port_map>", '<data a="1" /><port_map>'),
    Change("an attribute behind the port map", "</port_map>", '</port_map><data a="1" />'),
    Change("an offset", "</back_edges>", '</back_edges><data offset="" />'),
    Change("a port with a leading zero", '<port id="2"', '<port id="02"'),
    Change("a name with <body>", 'names="means"', 'names="a <body> b"'),
    Change("a name with body>", 'names="means"', 'names="a body> b"'),
    Change("an odd attribute of the layer", 'name="nested"', 'name="nested" odd="1"'),
    Change("a body with an attribute", "<body>", '<body odd="1">'),
    Change("a body without layers", "<body>", "<body></body><odd>"),
    Change("text before a body", "<then_body>", "text<then_body>"),
    Change("an unknown element before a body", "<then_body>", "<odd/><then_body>"),
    Change("no end of a body", "</then_body>", ""),
]


@pytest.mark.parametrize("change", AROUND_BODIES, ids=lambda change: change.name)
def test_irregular_text_around_bodies_is_left_to_the_parser(change: Change, tmp_path: Path) -> None:
    example = EXAMPLES[0].with_name("control_flow.xml")
    text = example.read_text(encoding="utf-8").removeprefix(HEAD)
    assert change.old in text
    for count in (1, -1):  # at the first place, and everywhere
        changed = text.replace(change.old, change.new, count)
        assert described(tmp_path, REGULAR + changed) == described(tmp_path, PARSED + changed)


CONTENT = (
    '<data element_type="i64" a1="7" shape="1, 20" b2="" />'
    '<input><port id="0" precision="FP32"><dim>1</dim><dim>20</dim></port>'
    '<port id="1"/><port id="ID" precision="I64"><dim>-1</dim></port></input>'
    '<output><port id="2" precision="U8" names=""><dim>345</dim></port></output>'
)


DIGITS = [
    Change("nothing", "<input>", "<input>"),
    Change("an attribute", 'a1="7"', 'a1="9"'),
    Change("the name of an attribute", "a1=", "a2="),
    Change("a shape", "1, 20", "0, 99"),
    Change("a dimension", "<dim>345</dim>", "<dim>019</dim>"),
    Change("a negative dimension", "<dim>-1</dim>", "<dim>-3</dim>"),
    Change("an id", '<port id="1"', '<port id="3"'),
    Change("an id of two digits", '<port id="10"', '<port id="20"'),
    Change("an id with a leading zero", '<port id="10"', '<port id="01"'),
    Change("an attribute twice", "b2=", "a2="),
    Change("a precision", "I64", "I32"),
]


@pytest.mark.parametrize("case", DIGITS, ids=lambda case: case.name)
@pytest.mark.parametrize("id", ["4", "10"])
def test_a_layer_that_differs_in_digits_from_the_one_before_it_is_read_as_the_parser_reads_it(
    case: Change, id: str, tmp_path: Path
) -> None:
    content = CONTENT.replace("ID", id)
    layers = "".join(
        f'<layer id="{number}" name="x" type="Odd" version="opset1">{text}</layer>'
        for number, text in ((11, content), (12, content.replace(case.old, case.new)))
    )
    text = net().text().removeprefix(HEAD).replace("<layers>", f"<layers>{layers}")
    assert described(tmp_path, REGULAR + text) == described(tmp_path, PARSED + text)


def test_names_that_are_not_ascii(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    text = net().text().replace('"data"', '"größe"').replace('"mean"', '"平均"')
    path.write_text(text, encoding="utf-8")
    layers = irshape.load(path).layers
    assert [layers[0].name, layers[-1].name, layers[0].outputs[0].names] == [
        "größe",
        "平均",
        "größe",
    ]
    assert [layer.offset for layer in layers] == [
        at for at in range(len(text.encode())) if text.encode()[at:].startswith(b"<layer ")
    ]


def test_text_between_elements_is_found_where_the_parser_finds_it(tmp_path: Path) -> None:
    text = net().text().removeprefix(HEAD)
    for place in ("</layers>", "<edges>", "</net>"):
        text = text.replace(place, f"stray {place}")
    found = described(tmp_path, REGULAR + text)
    assert found == described(tmp_path, PARSED + text)
    places = [match.start() + len(REGULAR) for match in re.finditer("stray", text)]
    assert [(code, at) for code, _, at, _ in found[1]] == [("IR016", at) for at in places]
