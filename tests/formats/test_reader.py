"""The reader: exact places, files that end too early, and what stands in place of a .bin."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from differential.oracle import Oracle
from ir import mean_net

import irshape
from irshape.cli import cli
from irshape.diagnostics.report import FileReport
from irshape.formats.ir.writer import write
from irshape.model.source import Source

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 4\n"


def validated(folder: Path, text: str | bytes) -> FileReport:
    path = folder / "m.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.with_suffix(".bin").write_bytes(mean_net().weights)
    return irshape.validate(path).files[0]


def found(report: FileReport) -> list[tuple[str, int, int]]:
    serious = [one for one in report.diagnostics if one.severity != "info"]
    return [(one.code, one.line, one.column) for one in serious]


# places

FAULTS = {
    "an attribute of <data>": ('keep_dims="true"', 'keep_dims="true" banana="1"', "banana"),
    "an attribute of <layer>": ('type="ReduceMean"', 'type="ReduceMeen"', 'type="ReduceMeen"'),
    "a port": ('"2" precision="FP32">', '"2" precision="I32">', 'precision="I32"'),
    "a dimension": ("<dim>1</dim><dim>4</dim>", "<dim>1</dim><dim>4x</dim>", "<dim>4x"),
    "an edge": ('<edge from-layer="0"', '<edge from-layer="77"', 'from-layer="77"'),
    "an element": ("</layers>", "<odd/></layers>", "<odd/>"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n" * 70_000,
        "<!-- größer 日本語 𝒳 -->" * 3,
        "\r\n" * 70_000 + "<!--" + "ü" * 100_000 + "-->",
    ],
    ids=["none", "lines", "signs", "both"],
)
def test_places_are_exact(fault: str, before: str, tmp_path: Path) -> None:
    """Past line 65,535 too, where libxml2 stops counting; columns count characters."""
    old, new, marked = FAULTS[fault]
    text = mean_net().text()
    assert old in text
    text = text.replace("<layers>\n", "<layers>" + before).replace(old, new, 1)
    at = text.index(marked)
    start = text.rfind("\n", 0, at) + 1
    assert (text.count("\n", 0, at) + 1, at - start + 1) in [
        (line, column) for _, line, column in found(validated(tmp_path, text))
    ]


def test_places_in_any_order() -> None:
    lines = ["", "äöü <a>", "x" * 50 + "é<b/><c/>", "<d>"]
    source = Source("made", "\n".join(lines).encode())
    places = {name: source.data.index(f"<{name}".encode()) for name in "abcd"}
    expected = {"a": (2, 5), "b": (3, 52), "c": (3, 56), "d": (4, 1)}
    for order in ("abcd", "dcba", "bdac", "ccbb"):
        for name in order:
            assert source.place(places[name]) == expected[name]
            assert source.line(expected[name][0]) == lines[expected[name][0] - 1]


# files that end too early


def test_a_file_that_ends_at_any_byte(tmp_path: Path) -> None:
    whole = mean_net().text().rstrip().encode()
    path = tmp_path / "m.xml"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        report = irshape.validate(path, weights="none").files[0]
        assert any(one.severity == "error" for one in report.diagnostics), size
        with pytest.raises(irshape.LoadError):
            irshape.load(path)


def test_a_layer_on_its_own_that_ends_at_any_byte(tmp_path: Path) -> None:
    """Missing end tags are repaired, so that part of it may load; nothing is raised."""
    whole = (
        b'<layer ... type="ReduceMean"><data keep_dims="true"/><input>'
        b'<port id="0"><dim>4</dim></port>'
        b'<port id="1"><dim>1</dim> <!-- [0] --></port></input></layer>'
    )
    path = tmp_path / "layer.xml"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert irshape.validate(path).count("error"), size


# the .bin, and files in the wrong place


def messages(report: irshape.Report) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in report.diagnostics if one.severity == "error"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(LFS, "Git-LFS pointer"), (b"", "is empty"), (None, "there is no m.bin"), (b"\0\0\0\0", "")],
    ids=["lfs", "empty", "missing", "too short"],
)
def test_the_check_goes_on_without_weights(
    content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = mean_net().save(tmp_path)
    path.write_text(
        path.read_text()
        .replace("<dim>-1</dim><dim>1</dim><dim>4</dim>", "<dim>-1</dim><dim>1</dim>")
        .replace("keep_dims", "keep_dim")
    )
    path.with_suffix(".bin").unlink()
    if content is not None:
        path.with_suffix(".bin").write_bytes(content)
    report = irshape.validate(path)
    codes = [one.code for one in report.diagnostics]
    assert codes.count("IR501" if said else "IR502") == 1
    assert any(said in message for _, message in messages(report))
    assert any(
        one.rule in ("unknown-attribute", "misspelt-attribute") for one in report.diagnostics
    )
    report = irshape.validate(path, weights="none")
    assert not [one for one in report.diagnostics if one.code.startswith("IR5")]


def test_weights_given_by_name(tmp_path: Path) -> None:
    path = mean_net().save(tmp_path)
    elsewhere = tmp_path / "elsewhere.bin"
    path.with_suffix(".bin").rename(elsewhere)
    assert [code for code, _ in messages(irshape.validate(path))] == ["IR501"]
    assert found(irshape.validate(path, weights=elsewhere).files[0]) == []
    call = CliRunner().invoke
    assert call(cli, ["validate", str(path), "--weights", str(elsewhere)]).exit_code == 0
    assert call(cli, ["validate", str(path), "--weights", "none"]).exit_code == 0
    with pytest.raises(FileNotFoundError):
        irshape.load(path, weights=tmp_path / "absent.bin")


@pytest.mark.parametrize("version", [*range(2, 10), 12, 100])
def test_versions_are_refused_by_name(version: int, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(
        f'<?xml version="1.0"?>\n<net name="m" version="{version}" batch="1">\n'
        "<layers/><edges/></net>"
    )
    with pytest.raises(irshape.LoadError) as refused:
        irshape.load(path)
    (one,) = refused.value.diagnostics
    assert (one.code, one.line, one.column) == ("IR601", 2, 15)
    assert f"IR version {version}" in one.message
    assert ("dates from before 2020" in one.message) == (version <= 7)


@pytest.mark.parametrize("written", ['version="11"', "version='11' x='1'", 'version = "10"'])
@pytest.mark.parametrize("end", [*range(508, 524)])
def test_a_version_across_byte_512(written: str, end: int, oracle: Oracle, tmp_path: Path) -> None:
    """OpenVINO looks for the version in the first 512 bytes; `end` is where its value ends."""
    _, behind = mean_net().text().split(' version="11"')
    value_end = written.index("1") + 2
    before = '<?xml version="1.0"?>\n<net name="'
    name = "m" * (end - value_end - len(before) - len('" '))
    report = validated(tmp_path, f'{before}{name}" {written}{behind}')
    errors = [one for one in report.diagnostics if one.severity == "error"]
    refused = oracle.ask_file(tmp_path / "m.xml").status == "refused"
    expected = [("IR601", 2, end - value_end - 21)] if refused else []
    assert [(one.code, one.line, one.column) for one in errors] == expected
    assert refused == (end > 512 >= end - value_end + len("version"))


@pytest.mark.parametrize("length", [10, 255, 256, 470, 480, 490])
def test_a_long_name_hides_no_version(length: int, oracle: Oracle, tmp_path: Path) -> None:
    """The version that is written is found, whatever the length of the model's name."""
    model = mean_net().load(tmp_path)
    model.name = "m" * length
    write(model, tmp_path / "m.xml")
    assert oracle.ask_file(tmp_path / "m.xml").status == "accepted"
    assert irshape.validate(tmp_path / "m.xml").ok


def test_a_body_whose_layer_lacks_an_input(tmp_path: Path) -> None:
    """The port map names an input that no edge feeds: the edge is reported, the bodies are not."""
    example = Path(__file__).resolve().parents[2] / "examples" / "control_flow.xml"
    text = example.read_text()
    model = irshape.load(example)
    for layer in [layer for layer in model.walk() if layer.bodies]:
        body = model.net if not layer.path else None
        for edge in body.edges if body else []:
            if edge.to_layer == layer.id:
                end = text.index("/>", edge.offset) + 2
                path = tmp_path / "m.xml"
                path.write_text(text[: edge.offset] + " " * (end - edge.offset) + text[end:])
                report = irshape.validate(path, weights=example.with_suffix(".bin"))
                errors = [one.code for one in report.diagnostics if one.severity == "error"]
                assert any(code.startswith("IR1") for code in errors)


# Other ways to write ports and edges: the text of a writer, and its replacement. The model is the
# same.
MANNERS: list[tuple[str, str, str]] = [
    ("single quotes", '<port id="1"', "<port id='1'"),
    ("another order", '<port id="0" precision="FP32"', '<port precision="FP32" id="0"'),
    ("blanks in tags", "</port>", "</port >"),
    ("blanks before attributes", "<port id=", "<port\n id="),
    ("blanks around =", "<port id=", "<port id ="),
    ("comments between ports", "<port ", "<!-- <port id='7'/> --><port "),
    ("comments in ports", "<dim>", "<!-- <dim>7</dim> --><dim>"),
    ("comments in edges", "<edge ", "<!-- <edge/> --><edge "),
    ("sections", "<dim>1</dim>", "<dim><![CDATA[1]]></dim>"),
    ("references in numbers", "<dim>1</dim>", "<dim>&#49;</dim>"),
    ("references in attributes", 'precision="FP32"', 'precision="&#70;P32"'),
    ("text between ports", "<port ", "text <port "),
    ("instructions", "<dim>", "<?x y?><dim>"),
    ("tags of a layer", "<input>", "<input >"),
    ("tags of edges", "<edges>", "<edges\t>"),
    ("an attribute of edges in another order", 'from-port="0" to-layer', "from-port='0' to-layer"),
    (
        "rt_info in ports",
        "</port>",
        '<rt_info><attribute name="layout" version="0" layout="[N]"/></rt_info></port>',
    ),
]


def told(model: irshape.Model) -> list[object]:
    """What a model says of layers, ports and edges, without places."""
    return [
        [
            (
                layer.path,
                layer.id,
                layer.type,
                [
                    (port.id, port.precision, port.names, port.dims)
                    for port in (*layer.inputs, *layer.outputs)
                ],
            )
            for layer in model.walk()
        ],
        [
            [(edge.from_layer, edge.from_port, edge.to_layer, edge.to_port) for edge in body.edges]
            for body in model.net.all_bodies()
        ],
        sorted(rules_of(model) - {"stray-text"}),
    ]


def rules_of(model: irshape.Model) -> set[str]:
    return {finding.rule.name for finding in model.findings}


@pytest.mark.parametrize(
    ("usual", "instead"), [manner[1:] for manner in MANNERS], ids=[manner[0] for manner in MANNERS]
)
@pytest.mark.parametrize("example", ["encoder", "control_flow", "ir_v10"])
def test_ports_and_edges_in_any_manner(
    example: str, usual: str, instead: str, tmp_path: Path
) -> None:
    text = (EXAMPLES / f"{example}.xml").read_text()
    assert usual in text
    for count in (1, -1):
        (tmp_path / "m.xml").write_text(text.replace(usual, instead, count))
        model = irshape.load(tmp_path / "m.xml")
        assert told(model) == told(irshape.load(EXAMPLES / f"{example}.xml"))
        assert ("stray-text" in rules_of(model)) == instead.startswith("text")


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("", ""),
        ("a", "a"),
        ("a,b\\,c", "a,b\\,c"),
        ("a&amp;b", "a&b"),
        ("&lt;s&gt;&quot;", '<s>"'),
        ("&#65;", "A"),
        ("&#128;", "\x80"),
        ("ü 日本", "ü 日本"),
        ("a\nb", "a b"),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        'id="0" precision="FP32" names="{}"',
        'id="0" names="{}" precision="FP32"',
        'names="{}" id="0" precision="FP32"',
    ],
)
def test_names_of_a_port_in_any_manner(names: str, read: str, form: str, tmp_path: Path) -> None:
    text = mean_net().text()
    usual = '<port id="0" precision="FP32" names="data">'
    assert text.count(usual) == 1
    (tmp_path / "m.xml").write_bytes(text.replace(usual, f"<port {form.format(names)}>").encode())
    (port,) = irshape.load(tmp_path / "m.xml").parameters[0].outputs
    assert (port.id, port.precision, port.names, port.dims) == ("0", "FP32", read, (-1, 3, 4))


def test_the_same_fault_in_two_ports_is_told_twice(tmp_path: Path) -> None:
    text = (EXAMPLES / "control_flow.xml").read_text().replace("</port>", "<odd/></port>", 3)
    (tmp_path / "m.xml").write_text(text)
    assert [finding.rule.name for finding in irshape.load(tmp_path / "m.xml").findings] == [
        "unknown-element"
    ] * 3


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("<rt_info/>", {}),
        ("<rt_info />", {}),
        ("<rt_info></rt_info>", {}),
        ('<rt_info><by value="me"/></rt_info>', {"by": "me"}),
        ('<rt_info><by value="me"/></rt_info >', {"by": "me"}),
    ],
)
@pytest.mark.parametrize("behind", ["", "\n"])
def test_rt_info_ends_where_its_element_does(
    element: str, behind: str, expected: object, tmp_path: Path
) -> None:
    path = tmp_path / "m.xml"
    layers = '<layers><layer id="0" name="x" type="Parameter" version="opset1"/></layers><edges/>'
    path.write_text(f'<net name="m" version="11">{layers}{element}{behind}</net>')
    assert irshape.load(path).rt_info == expected
