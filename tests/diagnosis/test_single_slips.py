"""One slip is one finding at what is wrong, and its cure gives the original back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape
from irshape.diagnostics.report import Diagnostic

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def copied(folder: Path, model: str) -> Path:
    for suffix in (".xml", ".bin"):
        shutil.copyfile(EXAMPLES / f"{model}{suffix}", folder / f"{model}{suffix}")
    return folder / f"{model}.xml"


def graver(path: Path) -> list[Diagnostic]:
    return [each for each in irshape.validate(path).diagnostics if each.severity != "info"]


Change = Callable[[str], str]


def put(old: str, new: str) -> Change:
    """The first match of a pattern is replaced."""
    return lambda text: re.sub(old, new, text, count=1, flags=re.DOTALL)


def between(text: str, name: str) -> str:
    """The element of a layer."""
    match = re.search(rf'[ \t]*<layer id="\d+" name="{name}".*?</layer>\n', text, re.DOTALL)
    assert match is not None
    return match[0]


def swapped(one: str, other: str) -> Change:
    """The first match of two patterns change places; each has one group."""

    def change(text: str) -> str:
        first, second = re.search(one, text), re.search(other, text)
        assert first is not None
        assert second is not None
        (a, b), (c, d) = first.span(1), second.span(1)
        return text[:a] + second[1] + text[b:c] + first[1] + text[d:]

    return change


def renamed(pattern: str, meant: dict[str, str]) -> Change:
    """The second group of all matches of a pattern, where it has another text in `meant`."""
    return lambda text: re.sub(
        pattern, lambda match: f'{match[1]}"{meant.get(match[2], match[2])}"', text
    )


def offsets(text: str) -> list[int]:
    """Where constants begin, in the order of the file."""
    return [int(number) for number in re.findall(r' offset="(\d+)"', text)]


def moved_offsets(text: str, by: dict[int, int]) -> str:
    """The text with other offsets for some constants, counted from 0."""
    index = iter(range(len(text)))
    return re.sub(
        r' offset="(\d+)"',
        lambda match: f' offset="{int(match[1]) + by.get(next(index), 0)}"',
        text,
    )


def plain(text: str) -> str:
    """A text without white space between elements and before the end of a tag."""
    return re.sub(r"\s*/>", "/>", re.sub(r">\s+<", "><", text))


class Slip(NamedTuple):
    change: Change
    code: str
    says: str
    model: str = "int8"
    restored: bool = True


SLIPS = {
    "a layer twice": Slip(
        lambda text: text.replace(between(text, "conv2"), between(text, "conv2") * 2),
        code="IR101",
        says="is already used by",
    ),
    "a copy under another id": Slip(
        lambda text: text.replace(
            between(text, "conv2"),
            between(text, "conv2")
            + re.sub(r'id="\d+"', 'id="777"', between(text, "conv2"), count=1),
        ),
        code="IR113",
        says="the layer is a copy of",
    ),
    "the ids of two layers": Slip(
        swapped(r'<layer id="(\d+)" name="Constant_55"', r'<layer id="(\d+)" name="Add_56"'),
        code="IR110",
        says="have each other's ids",
    ),
    "the ids of two layers in all edges": Slip(
        renamed(r'((?:from|to)-layer=)"(\d+)"', {"25": "34", "34": "25"}),
        code="IR113",
        says="by each other's ids",
    ),
    "the ids of two layers where edges come from": Slip(
        renamed(r'(from-layer=)"(\d+)"', {"25": "34", "34": "25"}),
        code="IR110",
        says="",
    ),
    "an edge between layers that are gone": Slip(
        put(
            "(?=\t</edges>)",
            '\t\t<edge from-layer="900" from-port="1" to-layer="901" to-port="0" />\n',
        ),
        code="IR110",
        says="comes from layer 900",
    ),
    "an edge to a layer that is gone": Slip(
        put(
            "(?=\t</edges>)",
            '\t\t<edge from-layer="24" from-port="2" to-layer="901" to-port="0" />\n',
        ),
        code="IR110",
        says="leads to layer 901",
    ),
    "an edge from a layer that is gone": Slip(
        put(
            "(?=\t</edges>)",
            '\t\t<edge from-layer="900" from-port="1" to-layer="24" to-port="0" />\n',
        ),
        code="IR112",
        says="input port 0",
    ),
    "all edges into a layer": Slip(
        renamed(r'(to-layer=)"(\d+)"', {"24": "35"}),
        code="IR113",
        says="2 edges lead to Convolution 'conv3' (id 35), which other edges feed",
    ),
    "the types of two layers": Slip(
        swapped(r'name="Reshape_23" type="(\w+)"', r'name="conv3/bias" type="(\w+)"'),
        code="IR609",
        says="have each other's types",
    ),
    "an edge turned round": Slip(
        put(
            r'from-layer="23" from-port="2" to-layer="24" to-port="1"',
            'from-layer="24" from-port="1" to-layer="23" to-port="2"',
        ),
        code="IR110",
        says="",
    ),
    "a name of an edge": Slip(
        put('to-layer="24" to-port', 'to-layer="24" to-prot'), code="IR111", says="has no `to-port`"
    ),
    "a type that fits nothing": Slip(
        put('name="Reshape_23" type="Reshape"', 'name="Reshape_23" type="Transpose"'),
        code="IR609",
        says="are those of Reshape",
    ),
    "pads": Slip(
        put(r'(name="conv2".*?pads_begin=)"1,\s*1"', r'\1"2, 1"'),
        code="IR305",
        says='pads_begin="1, 1" does',
    ),
    "an end tag": Slip(
        put(r"</output>\s*</layer>", "</layer>"), code="IR001", says="<output> is not closed"
    ),
    "lines in a comment": Slip(
        put(r"\n([ \t]*<input>\s*<port[^\n]*\n[^\n]*)\n", r"\n<!--\1-->\n"),
        code="IR001",
        says="a <input> stands in a comment",
    ),
    "lines in a comment that has lines of its own": Slip(
        put(r"\n([ \t]*<input>\s*<port[^\n]*\n[^\n]*)\n", r"\n  <!--\n\1\n  -->\n"),
        code="IR001",
        says="a <input> stands in a comment",
    ),
    "a mark of the end of a file": Slip(
        lambda text: text + "\x1a", code="IR001", says="stands behind the document"
    ),
    "a start tag": Slip(
        put(r"\n[ \t]*<input>\n", r"\n"), code="IR001", says="<input> is missing before <port>"
    ),
    "a quote": Slip(
        put('name="conv2"', 'name="conv2'), code="IR001", says="a value in <layer> lacks a quote"
    ),
    "a slash": Slip(put(r'(<edge [^>]*") ?/>', r"\1>"), code="IR001", says="<edge> is not closed"),
    "quotes of a word processor": Slip(
        put('name="conv2"', "name=\u201cconv2\u201d"), code="IR001", says="typographic quotes"
    ),
    "a bare ampersand": Slip(
        put('name="conv2"', 'name="conv & 2"'),
        code="IR001",
        says="a bare &",
        restored=False,  # it becomes &amp;
    ),
    "a comment": Slip(put("<edges>", "<!-- <edges>"), code="IR001", says="a comment is not closed"),
    "the end of <edges>": Slip(put("</edges>", ""), code="IR001", says="<edges> is not closed"),
    "attributes in a second <data>": Slip(
        put(r'(<data element_type="u8" shape="[^"]*") ', r"\1 />\n<data "),
        code="IR006",
        says="stand in two elements",
    ),
    "dimensions in an element more": Slip(
        put(r'(<port id="2" precision="FP32">)(.*?)(</port>)', r"\1<shape>\2</shape>\3"),
        code="IR006",
        says="<shape> has no meaning here",
    ),
    "every <dim> of a layer by a longer name": Slip(
        lambda text: text.replace(
            between(text, "conv2"), between(text, "conv2").replace("dim>", "dimension>")
        ),
        code="IR006",
        says="<dimension> is no element of an IR",
    ),
    "the numbers of an edge as a spreadsheet writes them": Slip(
        lambda text: text.replace(
            '<edge from-layer="34" from-port="5" to-layer="35" to-port="1" />',
            '<edge from-layer="34.0" from-port="5.0" to-layer="35.0" to-port="1.0" />',
        ),
        code="IR111",
        says="which is not a whole number",
    ),
    "the ids of some layers in a row": Slip(
        lambda text: re.sub(
            r'(?<=<layer id=")(35|36|37|38)(?=")', lambda match: str(int(match[1]) - 1), text
        ),
        code="IR101",
        says="4 layers do not have the ids that edges name",
    ),
    "an id in some edges from a layer": Slip(
        lambda text: re.sub(r'from-layer="39"', 'from-layer="900"', text),
        code="IR110",
        says="comes from layer 900",
    ),
    "layers and their edges once more": Slip(
        lambda text: re.sub(
            r'(?:[ \t]*<edge [^>]*to-layer="3[45]"[^>]*>\n)+|'
            r'[ \t]*<layer id="34".*?(?=[ \t]*<layer id="36")',
            r"\g<0>\g<0>",
            text,
            flags=re.DOTALL,
        ),
        code="IR101",
        says="2 layers and ",
    ),
    "an input of a Const": Slip(
        put(
            r'(type="Const"[^>]*>\s*<data[^>]*>)(\s*<output>)',
            r'\1<input><port id="0" precision="FP32"/></input>\2',
        ),
        code="IR113",
        says="no edge leads to input port 0",
    ),
    "both ends of an edge": Slip(
        put(
            'from-layer="37" from-port="2" to-layer="38"',
            'from-layer="38" from-port="2" to-layer="39"',
        ),
        code="IR110",
        says="it stands in the place of one that is missing",
    ),
    "an attribute of all layers of a type": Slip(
        lambda text: text.replace('<data destination_type="f32" />', "<data />"),
        code="IR303",
        says="is missing; OpenVINO silently uses 'dynamic'; likewise in 3 other layers",
    ),
    "a bias squeezed with its edge": Slip(
        lambda text: re.sub(
            r'(<layer id="25".*?)shape="1, 16, 1, 1"(.*?)<dim>1</dim>(.*?)<dim>1</dim>'
            r'\s*<dim>1</dim>(.*?<layer id="26".*?<port id="1" precision="FP32">\s*)'
            r"<dim>1</dim>(.*?)<dim>1</dim>\s*<dim>1</dim>",
            r'\1shape="16"\2\3\4\5',
            text,
            count=1,
            flags=re.DOTALL,
        ),
        code="IR508",
        says='shape="16" of Const and its port contradict what',
    ),
    "a size of an input of the model with its edge": Slip(
        lambda text: re.sub(
            r'(<layer id="0".*?shape="[?\d,]*,)(\d+)(".*?)<dim>\2</dim>(\s*</port>.*?'
            r'<layer id="3".*?)<dim>\2</dim>(\s*</port>)',
            r"\g<1>64\3<dim>64</dim>\4<dim>64</dim>\5",
            text,
            count=1,
            flags=re.DOTALL,
        ),
        code="IR305",
        says="of Parameter and its port contradict what",
    ),
    "an input and its edge": Slip(
        lambda text: re.sub(
            r'\s*<edge [^>]*to-layer="24" to-port="1"[^>]*>|'
            r'(?<=</port>)\s*<port id="1" precision="FP32">\s*<dim>16</dim>\s*'
            r"<dim>1</dim>\s*<dim>1</dim>\s*<dim>3</dim>.*?</port>",
            "",
            text,
            flags=re.DOTALL,
        ),
        code="IR402",
        says="takes 2 inputs",
    ),
    "an entry of a port map": Slip(
        put(r'\s*<output external_port_id="-1" internal_layer_id="24"[^>]*>', ""),
        code="IR408",
        says="execution_condition",
        model="control_flow",
    ),
    "the source of all edges of a layer": Slip(
        lambda text: text.replace('from-layer="15" from-port="2"', 'from-layer="16" from-port="2"'),
        code="IR110",
        says="which does not exist",
        model="compressed",
    ),
    "the source of an edge, which leaves a layer unused": Slip(
        put('from-layer="81"( from-port="0" to-layer="84")', r'from-layer="82"\1'),
        code="IR127",
        says="feeds others too, while Const",
        model="ir_v10",
    ),
    "an input and its port": Slip(
        put(r'(name="axis" type="Parameter".*?shape=")1(".*?<dim>)1(</dim>)', r"\g<1>2\g<2>2\g<3>"),
        code="IR205",
        says='2 layers declare [1] for what shape="2" of Parameter',
        model="reductions",
        restored=False,  # the shape of an input is its author's choice
    ),
    "a size replaced in one layer": Slip(
        lambda text: text.replace(
            between(text, "conv2"), between(text, "conv2").replace(">14<", ">15<")
        ),
        code="IR205",
        says="input port 0 declares [?,16,15,15]",
    ),
    "inputs numbered from one on": Slip(
        lambda text: text.replace(
            between(text, "conv2"),
            re.sub(
                r'port id="([01])"',
                lambda port: f'port id="{int(port[1]) + 1}"',
                between(text, "conv2"),
            ),
        ),
        code="IR110",
        says="the edges number them from 0 on",
    ),
    "outputs numbered from zero on": Slip(
        put(r'(name="conv2".*?<output>\s*<port id=)"2"', r'\1"0"'),
        code="IR110",
        says="the output ports are numbered from 0 on",
    ),
    "edges numbered from one on": Slip(
        lambda text: re.sub(
            r'to-layer="24" to-port="([01])"',
            lambda edge: f'to-layer="24" to-port="{int(edge[1]) + 1}"',
            text,
        ),
        code="IR110",
        says="number its input ports from 1 on",
    ),
    "an attribute of <data> in <layer>": Slip(
        put(r'(name="conv2"[^>]*)(>\s*<data) (strides="1, 1") ', r"\1 \3\2 "),
        code="IR303",
        says="strides",
    ),
    "an input among the outputs": Slip(
        put(r'(name="conv2".*?)(\s*<port id="1".*?</port>)(\s*</input>\s*<output>)', r"\1\3\2"),
        code="IR116",
        says="an edge leads to it",
    ),
    "the data of a Const": Slip(
        put(r'(name="Constant_25"[^>]*>)\s*<data [^>]*>', r"\1"),
        code="IR303",
        says="",
    ),
    "the data of another Const": Slip(
        put(
            r'(name="Constant_25"[^>]*>\s*)<data [^>]*>',
            r'\1<data element_type="i64" shape="2" offset="36" size="16"/>',
        ),
        code="IR507",
        says="element_type",
    ),
    "a blank between attributes": Slip(
        put('" name="conv2"', '"name="conv2"'), code="IR001", says="no blank stands between"
    ),
    "characters as in a URL": Slip(
        put('<layer id="35" name', "<layer%20id=%2235%22 name"), code="IR001", says="as in a URL"
    ),
    "lines as in a mail": Slip(
        lambda text: re.sub(
            r'([^\n]*name="conv2")([^\n]*)',
            lambda line: f"{line[1]}=\n{line[2]}".replace('="', '=3D"'),
            text,
            count=1,
        ),
        code="IR001",
        says="as in a mail",
    ),
    "a line quoted as in a table": Slip(
        lambda text: re.sub(
            '([^\n]*name="conv2"[^\n]*)',
            lambda line: '"' + line[1].replace('"', '""') + '"',
            text,
            count=1,
        ),
        code="IR001",
        says="quoted as in a table",
    ),
    "the colours of a terminal": Slip(
        put('name="conv2"', 'name="\x1b[01;31m\x1b[Kconv\x1b[m\x1b[K2"'),
        code="IR001",
        says="colours",
    ),
    "the markup of a page": Slip(
        put('id="35" name', '<span class="hl">id</span>="35" name'), code="IR001", says="markup"
    ),
    "a line of a log inside a tag": Slip(
        put('id="35" name', 'id="35" na[ INFO ] Read model took 12 ms\nme'),
        code="IR001",
        says="a line of a log",
    ),
    "a comment inside a tag": Slip(
        put('id="35" name', 'id="35" <!-- was 34 --> name'), code="IR001", says="inside a tag"
    ),
    "the end of the text in UTF-16": Slip(
        lambda text: text[:-200] + "".join(letter + "\0" for letter in text[-200:]),
        code="IR001",
        says="is UTF-16",
    ),
    "no blanks between attributes": Slip(
        put(r'(<layer id="35") (name="[^"]*") (type="[^"]*") ', r"\1\2\3"),
        code="IR001",
        says="no blank stands between",
    ),
    "an attribute as an element": Slip(
        put(
            r'(<layer id="35" name="[^"]*" type="[^"]*") version="([^"]*)">',
            r"\1><version>\2</version>",
        ),
        code="IR006",
        says="<version> stands for an attribute",
    ),
    "a prefix of an element": Slip(
        put(r'(name="conv2".*?)<data ([^>]*)>', r"\1<ir:data \2>"),
        code="IR006",
        says="<ir:data> is no element",
    ),
    "lines in a CDATA section": Slip(
        put(r'(name="conv2".*?)(<input>.*?</input>)', r"\1<![CDATA[\2]]>"),
        code="IR016",
        says="in a CDATA section",
    ),
    "lines across elements in a CDATA section": Slip(
        put(r'(name="conv2".*?)(</port>\s*</input>)', r"\1<![CDATA[\2]]>"),
        code="IR001",
        says="in a CDATA section",
    ),
    "an element as an instruction": Slip(
        put(r'(name="conv2".*?)<data ([^>]*?)\s*/>', r"\1<?data \2?>"),
        code="IR303",
        says="written as an instruction",
    ),
    "the end of the layers two layers early": Slip(
        lambda text: re.sub(
            r"((?:\s*<layer (?:(?!<layer ).)*</layer>){2})(\s*</layers>)",
            r"\2\1",
            text,
            flags=re.DOTALL,
        ),
        code="IR006",
        says="</layers> stands before a <layer>",
    ),
    "the end of the net before its edges": Slip(
        lambda text: text.replace("</net>\n", "").replace("</layers>", "</layers></net>"),
        code="IR001",
        says="</net> stands before parts of the net",
    ),
    "end tags exchanged": Slip(
        put(r'(name="conv2".*?)</dim>(\s*)</port>', r"\1</port>\2</dim>"),
        code="IR001",
        says="stand in each other's place",
    ),
    "a piece of the text twice": Slip(
        lambda text: text[:5000] + text[4900:], code="IR001", says="stands there twice"
    ),
    "bytes lost from one tag to another": Slip(
        put(r'</output>\s*</layer>\s*<layer id="35" name', "</ou\0\0\0 name"),
        code="IR001",
        says="a part of a line is lost",
    ),
    "an edge of which little is left": Slip(
        put(r'<edge from-layer="34"[^>]*>', '<edge from-layer="34" />'),
        code="IR111",
        says="the edge has no `from-port`, `to-layer` and `to-port`",
    ),
    "a conflict with blanks before its marks": Slip(
        put(
            r'([^\n]*<layer id=")35("[^\n]*\n)',
            r"\t<<<<<<< a\n\g<1>35\2\t=======\n\g<1>36\2\t>>>>>>> b\n",
        ),
        code="IR001",
        says="a merge conflict",
    ),
    **{
        f"a conflict without its mark {gone}": Slip(
            put(
                r'([^\n]*<layer id=")35("[^\n]*\n)',
                "".join(
                    text
                    for text in (
                        "<<<<<<< a\n",
                        r"\g<1>35\2",
                        "=======\n",
                        r"\g<1>36\2",
                        ">>>>>>> b\n",
                    )
                    if text[0] != gone
                ),
            ),
            code="IR001",
            says="half a merge conflict",
        )
        for gone in "<=>"
    },
    "lines pasted inside another": Slip(
        put(
            r'(([^\n]*<port id="0" precision="FP32">\n[^\n]*<dim>1</dim>\n).*?<layer id="35" na)',
            r"\1\2",
        ),
        code="IR001",
        says="stands there once too often",
    ),
    "a selection dragged to another place": Slip(
        swapped(r'(<layer id="19" name=")', r'(Add_19" type="Add" v)'),
        code="IR001",
        says="stands before what it follows",
        model="encoder",
    ),
    "the end tags of an element and of those around it lost": Slip(
        put(r'(name="conv2".*?)\s*</port>\s*</output>\s*</layer>', r"\1"),
        code="IR001",
        says="are lost",
    ),
    "a line twice": Slip(
        put(r'(name="conv2".*?)(<output>\s*)', r"\1\2\2"), code="IR001", says="is there twice"
    ),
    "lines exchanged": Slip(
        put(r'(name="conv2".*?\n)([^\n]*</port>\n)([^\n]*</input>\n)', r"\1\3\2"),
        code="IR001",
        says="stand in each other's place",
    ),
    "lines of two elements exchanged": Slip(
        put(r"([^\n]*<layer [^\n]*>\n)([^\n]*<data [^\n]*/>\n)", r"\2\1"),
        code="IR006",
        says="stand in each other's place",
    ),
    "lines of two ports exchanged": Slip(
        put(r'(name="conv2".*?\n)([^\n]*</port>\n)([^\n]*<port [^\n]*>\n)', r"\1\3\2"),
        code="IR003",
        says="stand in each other's place",
    ),
    "an edge from a layer of the same form": Slip(
        put('from-layer="27" from-port="1"', 'from-layer="24" from-port="2"'),
        code="IR115",
        says="stands among those from",
    ),
    "an edge with another name": Slip(
        put('<edge from-layer="24"', '<ede from-layer="24"'), code="IR009", says="<ede>"
    ),
    "a separator in an offset": Slip(
        put(r'offset="(\d)(\d{3})"', r'offset="\1,\2"'), code="IR304", says="offset"
    ),
    "the start tag of a port": Slip(
        put(r'(name="conv2".*?</port>)\s*<port id="1" [^>]*>', r"\1"),
        code="IR001",
        says="<port> is missing",
    ),
    "a control character": Slip(
        put('name="conv2"', 'name="con\0v2"'), code="IR001", says="control character 0x00"
    ),
    "a mark of a merge": Slip(
        put("<edges>\n", "<edges>\n<<<<<<< HEAD\n"), code="IR001", says="a mark of a merge"
    ),
    "two values of a Const": Slip(
        put(r'(name="Constant_25".*?)offset="552" size="64"', r'\1offset="64" size="552"'),
        code="IR503",
        says="have each other's value",
    ),
    "two values of a layer": Slip(
        put(
            r'(name="conv2".*?)dilations="1, 1" auto_pad="explicit"',
            r'\1dilations="explicit" auto_pad="1, 1"',
        ),
        code="IR304",
        says="dilations",
    ),
    "the outputs of another layer": Slip(
        put(
            r'(name="Constant_25".*?)<port id="0" precision="FP32">.*?</port>',
            r'\1<port id="2" precision="FP16"><dim>7</dim></port>',
        ),
        code="IR110",
        says="",
    ),
    "the variable of a ReadValue": Slip(
        put(r'(type="ReadValue"[^>]*>\s*<data[^>]*variable_id=")[^"]*"', r'\1stat"'),
        code="IR120",
        says="the variable 'stat' has a ReadValue",
        model="decoder",
    ),
    "the variable of an Assign": Slip(
        put(r'(type="Assign"[^>]*>\s*<data[^>]*variable_id=")[^"]*"', r'\1stat"'),
        code="IR120",
        says="no ReadValue reads the variable 'stat'",
        model="decoder",
    ),
    "the type of a ReadValue": Slip(
        put('type="ReadValue"', 'type="ReadVlaue"'),
        code="IR602",
        says="ReadVlaue",
        model="decoder",
    ),
    "an older version": Slip(
        put(r'(name="embeddings" type="Gather" version=)"opset8"', r'\1"opset1"'),
        code="IR609",
        says="the attributes are those of Gather of",
        model="compressed",
        restored=False,  # opset7 has the attribute, too
    ),
    "a boolean whose default fits no port": Slip(
        put('special_zero="true"', 'special_zero="ture"'), code="IR304", says='special_zero="ture"'
    ),
    "the shape of a Const, beside size and port": Slip(
        put('shape="16, 1, 3, 3"', 'shape="16, 1, 3, 4"'),
        code="IR503",
        says="shape says [16,1,3,4], but its size of 144 bytes and its port say [16,1,3,3]",
    ),
    "an id that is taken": Slip(
        put('<layer id="35"', '<layer id="34"'), code="IR101", says="already used by"
    ),
    "the edge into an optional input": Slip(
        put(r'\s*<edge [^>]*to-layer="168" to-port="3"\s*/>', ""),
        code="IR113",
        says="no edge leads to input port 3",
        model="decoder",
        restored=False,  # two other layers produce such a mask
    ),
    "inputs 0 and 1": Slip(
        swapped(r'to-layer="35" to-port="(0)"', r'to-layer="35" to-port="(1)"'),
        code="IR127",
        says="inputs 0 and 1 are exchanged",
    ),
    "the shape of an input, but not its port": Slip(
        put(r'(type="Parameter"[^>]*>\s*<data shape=")[^"]*', r"\g<1>?,3,28,30"),
        code="IR305",
        says='shape="?,3,28,30" does not fit',
    ),
    "the axis of a port map": Slip(
        put(r'<output axis="0"', r'<output axis="2"'),
        code="IR408",
        says='axis="2", which does not fit the ports of the layer; axis="0" does',
        model="recurrent",
    ),
    "a Result of another type": Slip(
        put('name="logits" type="Result"', 'name="logits" type="ReLU"'),
        code="IR116",
        says="the layer has no output port",
    ),
    "an element type in capitals": Slip(
        put('element_type="i8" shape="16, 1, 3, 3"', 'element_type="I8" shape="16, 1, 3, 3"'),
        code="IR304",
        says='element_type="I8"',
    ),
    "an output among the inputs": Slip(
        put(
            r'(name="conv1" .*?)</input>\s*<output>(.*?)</output>',
            r"\1\2</input><output></output>",
        ),
        code="IR113",
        says="no edge leads to input port 2",
    ),
    "the last of several outputs": Slip(
        put(r'(name="head8/split" .*)<port id="5".*?</port>(.*?name="head16/split")', r"\1\2"),
        code="IR110",
        says="the layer has no output port 5, which an edge names",
        model="detector",
    ),
    "an edge past a layer": Slip(
        put('from-layer="75" from-port="1"', 'from-layer="74" from-port="2"'),
        code="IR115",
        says="leaves SoftMax 'block1/attention/softmax' (id 75) out",
        model="encoder",
    ),
    "two attributes of a constant": Slip(
        put('(shape="16, 1, 3, 3") offset="8" size="144"', r"\1"),
        code="IR303",
        says="",
    ),
    "an attribute cut off": Slip(
        put(r'transpose_b="true"', r'tr="true"'), code="IR301", says="lacks transpose_b"
    ),
    "an offset in the constant before": Slip(
        lambda text: moved_offsets(text, {17: 2}),
        code="IR508",
        says="then no byte of the .bin is over or taken twice",
    ),
    "the offsets of all constants from one on": Slip(
        lambda text: moved_offsets(text, dict.fromkeys(range(17, 99), 4)),
        code="IR508",
        says="offsets are 4 bytes too large",
    ),
    "the offsets of two constants": Slip(
        lambda text: swapped(
            rf'offset="({offsets(text)[7]})" size="(?:\d+)"',
            rf'offset="({offsets(text)[10]})" size',
        )(text),
        code="IR508",
        says="behind the constants before them they lie at",
    ),
    "inputs called outputs": Slip(
        put(r'(name="conv2" .*?)<input>(.*?)</input>', r"\1<output>\2</output>"),
        code="IR006",
        says="the <input> of the layer is called <output>",
    ),
    "outputs called inputs": Slip(
        put(r'(name="conv2" .*?)<output>(.*?)</output>', r"\1<input>\2</input>"),
        code="IR006",
        says="the <output> of the layer is called <input>",
    ),
    "the only output called an input": Slip(
        put(r'(name="Constant_22" .*?)<output>(.*?)</output>', r"\1<input>\2</input>"),
        code="IR113",
        says="<input> holds the output ports that edges name",
    ),
    "the layers of an edge": Slip(
        put(
            'from-layer="35" from-port="2" to-layer="37"',
            'from-layer="37" from-port="2" to-layer="35"',
        ),
        code="IR112",
        says="",
    ),
    "a type in lower case": Slip(
        put('type="MatMul"', 'type="matmul"'), code="IR602", says="the type is written MatMul"
    ),
    "no precision at an input": Slip(
        put(r'(name="conv2" .*?<port id="1") precision="FP32"', r"\1"),
        code="IR117",
        says="input port 1 has no precision, unlike others of this file",
    ),
    "a blank that is none": Slip(
        put("<dim>16</dim>", "<dim>\u00a016</dim>"), code="IR104", says=r"dimension '\xa016'"
    ),
    "a list without commas": Slip(
        put(r'strides="2, 2"', r'strides="2  2"'), code="IR304", says="is not a list"
    ),
    "the version of the file": Slip(
        put('(<net .*?version=)"11"', r'\1"9"'), code="IR601", says="was never released"
    ),
    "no version of the file": Slip(
        put('(<net .*?) version="11"', r"\1"), code="IR601", says="<net> has no version"
    ),
    "a purpose": Slip(
        put("execution_condition", "execution-condition"),
        code="IR408",
        says='the port map says purpose="execution-condition"',
        model="control_flow",
    ),
    "an entry of a port map twice": Slip(
        put(r"(<port_map>\s*)(<input external_port_id=[^<>]*/>)", r"\1\2\2"),
        code="IR408",
        says="the port map has this entry twice",
        model="control_flow",
    ),
    "the name of a body": Slip(
        lambda text: text.replace("<then_body>", "<Then_body>").replace(
            "</then_body>", "</Then_body>"
        ),
        code="IR006",
        says="<Then_body> is no element of an IR",
        model="control_flow",
    ),
    "a ReadValue of another variable": Slip(
        put(r'(cache\.key/read".*?variable_id="block1/attention/cache\.)key', r"\1value"),
        code="IR120",
        says="'block1/attention/cache.key' lacks one",
        model="decoder",
    ),
    "an Assign of another variable": Slip(
        put(
            r'(block1/attention/cache\.key/assign".*?variable_id="block1/attention/cache\.)key',
            r"\1value",
        ),
        code="IR120",
        says="'block1/attention/cache.key' lacks one",
        model="decoder",
    ),
}


@pytest.mark.parametrize("name", SLIPS)
def test_slip(name: str, tmp_path: Path) -> None:
    slip = SLIPS[name]
    path = copied(tmp_path, slip.model)
    text = path.read_text()
    changed = slip.change(text)
    assert changed != text
    path.write_text(changed)
    (finding,) = graver(path)
    assert (finding.code, slip.says in finding.message) == (slip.code, True), finding.message
    if slip.restored:
        assert plain(irshape.fix(path, unsafe=True).text) == plain(text)


class Unreadable(NamedTuple):
    """A slip for which a file cannot be read, and one of another kind."""

    text: Change
    other: str


UNREADABLE = {
    "an attribute twice": Unreadable(put(' version="opset1"', ' version="opset1"' * 2), "pads"),
    "a quote": Unreadable(put('version="opset1">', 'version=opset1">'), "a type in lower case"),
    "an end tag": Unreadable(put(r"</port>\s*</output>", "</output>"), "a list without commas"),
    "the version": Unreadable(put('(<net .*?version=)"11"', r'\1"9"'), "no precision at an input"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_hides_nothing(name: str, tmp_path: Path) -> None:
    row = UNREADABLE[name]
    path = copied(tmp_path, "int8")
    text = path.read_text()
    alone = []
    for change in (row.text, SLIPS[row.other].change):
        path.write_text(change(text))
        (finding,) = graver(path)
        alone.append((finding.code, finding.message.partition(":")[0]))
    path.write_text(row.text(SLIPS[row.other].change(text)))
    both = [(each.code, each.message.partition(":")[0]) for each in graver(path)]
    assert both == alone


VALUES = {
    "the order of a Transpose": ("encoder", "Transpose", 1),
    "the axes of a ReduceMean": ("classifier", "ReduceMean", 1),
}


@pytest.mark.parametrize("name", VALUES)
def test_value_in_the_weights(name: str, tmp_path: Path) -> None:
    """A value that no port agrees with is told at its Const, with the value that fits."""
    model, kind, _ = VALUES[name]
    path = copied(tmp_path, model)
    read = irshape.load(path)
    layer = next(layer for layer in read.net.layers if layer.type == kind)
    edge = next(e for e in read.net.edges if e.to_layer == layer.id and e.to_port == "1")
    const = read.net.by_id[edge.from_layer]
    start, size = (int(const.attributes[key]) for key in ("offset", "size"))
    content = bytearray(path.with_suffix(".bin").read_bytes())
    values = content[start : start + size]
    content[start : start + size] = values[8:16] + values[:8] + values[16:]
    path.with_suffix(".bin").write_bytes(content)
    told = graver(path)
    if kind == "Transpose":
        (finding,) = told
        assert "does not fit the ports of" in finding.message
        assert finding.code == "IR508"
        assert not finding.fixes
        assert irshape.fix(path, unsafe=True).data == path.read_bytes()  # the ports are right
    else:
        assert not told  # the same axes in another order


def test_causes_that_are_not_selected(tmp_path: Path) -> None:
    """Where the rule of a cause is not selected, what follows from it is reported instead."""
    path = copied(tmp_path, "int8")
    path.write_text(SLIPS["pads"].change(path.read_text()))
    (finding,) = graver(path)
    assert (finding.code, [each["code"] for each in finding.related]) == ("IR305", ["IR201"])
    settings = path.with_name("irshape.toml")
    settings.write_text('ignore = ["IR305"]')
    report = irshape.validate(path, config=settings)
    assert [each.code for each in report.diagnostics if each.severity == "error"] == ["IR201"]
