"""Files made to harm: each writes itself into a folder and says what has to be found."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ir import Net


class Attack(NamedTuple):
    """A file made to do harm.

    `make` writes the files and returns the path to pass on. `expected` is the code that `validate`
    reports, "" for a file that it accepts without an error, None for exit status 2.
    """

    make: Callable[[Path], Path]
    expected: str | None


ATTACKS: dict[str, Attack] = {}


def attack(
    name: str, expected: str | None
) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    def add(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
        ATTACKS[name] = Attack(make, expected)
        return make

    return add


def raw(
    name: str, data: bytes | str, expected: str | None, *, weights: bytes | None = None
) -> None:
    """An attack that is a text."""

    def make(folder: Path) -> Path:
        path = folder / "m.xml"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        if weights is not None:
            path.with_suffix(".bin").write_bytes(weights)
        return path

    ATTACKS[name] = Attack(make, expected)


def simple(shape: str = "2,3") -> Net:
    net = Net()
    dims = ",".join(size if size.isdigit() else "-1" for size in shape.split(","))
    net.result(net.layer("ReLU", [net.parameter(shape)], outputs=[f"FP32:{dims}"]))
    return net


RIGHT = simple().text()


def changed(name: str, old: str, new: str, expected: str | None) -> None:
    """An attack that is a right file with one text in the place of another."""
    assert old in RIGHT, old
    raw(name, RIGHT.replace(old, new, 1), expected)


# XML

LAUGHS = (
    '<!DOCTYPE net [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    + "]>"
)
raw("billion laughs", LAUGHS + '<net name="&a11;" version="11"/>', "IR002")
FILE = '[<!ENTITY x SYSTEM "file:///etc/passwd">]'
ENTITY = RIGHT.replace("<net ", f"<!DOCTYPE net {FILE}>\n<net ").replace("p0", "&x;", 1)
raw("an entity that names a file", ENTITY, "IR002")
raw("external entity in a layer", f'<!DOCTYPE layer {FILE}><layer type="ReLU">&x;</layer>', "IR002")
DTD = '<?xml version="1.0"?><!DOCTYPE net SYSTEM "http://127.0.0.1:9/x.dtd">'
raw("external DTD", f'{DTD}<net name="m" version="11"/>', "IR002")
ZEROS = '[<!ENTITY % x SYSTEM "file:///dev/zero"> %x;]'
raw("parameter entity", f'<!DOCTYPE net {ZEROS}><net version="11"/>', "IR002")
raw("undefined entity", '<net name="&nothing;" version="11"/>', "IR001")
raw(
    "XInclude",
    (
        '<net version="11" xmlns:xi="http://www.w3.org/2001/XInclude"><layers>'
        '<xi:include href="/etc/passwd" parse="text"/></layers></net>'
    ),
    "IR006",
)
raw("deep elements", '<net version="11">' + "<a>" * 200_000 + "</a>" * 200_000 + "</net>", "IR006")
raw("deep elements in a layer", '<layer type="ReLU">' + "<a>" * 100_000, "IR001")
raw("deep elements never closed", "<net version='11'>" + "<layers>" * 100_000, "IR001")
raw("long attribute", f'<net name="{"x" * 8_000_000}" version="11"><layers/></net>', "")
raw(
    "many attributes",
    '<net version="11" ' + " ".join(f'a{i}="1"' for i in range(50_000)) + "><layers/></net>",
    "",
)
raw(
    "many unknown elements",
    '<net version="11"><layers>' + "<x/>" * 20_000 + "</layers></net>",
    "IR006",
)
raw("long comment", '<net version="11"><!--' + "- " * 2_000_000 + "--><layers/></net>", "")
raw(
    "many processing instructions",
    '<?xml version="1.0"?>' + "<?a b?>" * 100_000 + '<net version="11"><layers/></net>',
    "",
)
raw("many comments before the root", "<!-- -->" * 50_000 + '<net version="11"><layers/></net>', "")
raw("open comment", "<!--" + "<!--" * 100_000, "IR001")
raw("open tag", "<net " + "a" * 1_000_000, "IR001")
raw("open quotes", '<layer type="' + "'\"" * 200_000, "IR001")
raw("only brackets", "<" * 500_000, "IR001")
raw("duplicated attribute", RIGHT.replace('id="0"', 'id="0" id="1"', 1), "IR001")
raw("namespaces", RIGHT.replace("<net", '<net xmlns="urn:x"'), "")
raw("prefixed elements", '<a:net xmlns:a="urn:x" version="11"/>', "IR003")
raw("nothing", b"", "IR003")
raw("blanks", b" \n" * 1000, "IR003")
raw("a BOM alone", b"\xef\xbb\xbf", "IR003")
raw("a BOM", b"\xef\xbb\xbf" + RIGHT.encode(), "")
raw("two BOMs", b"\xef\xbb\xbf\xef\xbb\xbf" + RIGHT.encode(), "IR001")
raw("NUL bytes", b"\0" * 4096, "IR003")
raw("a NUL inside", RIGHT.encode().replace(b"ReLU", b"Re\0U"), "IR001")
raw("a late NUL", RIGHT.encode().replace(b"</net>", b" " * 70_000 + b"\0</net>"), "IR001")
raw("UTF-16", RIGHT.encode("utf-16"), "")
raw("UTF-16, the other way", b"\xfe\xff" + RIGHT.encode("utf-16-be"), "")
raw("UTF-16 without a BOM", RIGHT.encode("utf-16-le"), "IR003")
raw("odd UTF-16", RIGHT.encode("utf-16") + b"\0", "IR001")
raw("half a surrogate", b"\xff\xfe" + b"\x00\xd8" * 100, "IR001")
raw("UTF-32", RIGHT.encode("utf-32"), None)
raw(
    "latin-1",
    RIGHT.replace("?>", ' encoding="iso-8859-1"?>')
    .replace('name="p0"', 'name="café"')
    .encode("latin-1"),
    "",
)
raw("latin-1 undeclared", RIGHT.replace('name="p0"', 'name="café"').encode("latin-1"), "IR001")
raw("an encoding that is none", RIGHT.replace("?>", ' encoding="no-such"?>'), "IR001")
raw("an encoding of several bytes", RIGHT.replace("?>", ' encoding="gb18030"?>'), "IR001")
raw("an encoding that computes", RIGHT.replace("?>", ' encoding="zlib"?>'), "IR001")
raw("an encoding of another alphabet", RIGHT.replace("?>", ' encoding="cp037"?>'), "IR001")
raw("UTF-7", RIGHT.replace("?>", ' encoding="utf-7"?>'), "IR001")
raw("overlong UTF-8", RIGHT.encode().replace(b"ReLU", b"Re\xc0\xafLU"), "IR001")
raw("binary", bytes(range(256)) * 100, "IR003")
raw(
    "an LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "IR003"
)
raw("JSON that nests", '{"graph":' + "[" * 200_000, None)
raw("a number that is long", '{"version": ' + "9" * 100_000 + "}", None)
raw("ONNX cut short", b"\x08\x08\x3a\xff\xff\xff\xff\x0f\x0a", None)
NESTED = "<a>" * 200_000 + "</a>" * 200_000
raw("deep rt_info", RIGHT.replace("</net>", f"<rt_info>{NESTED}</rt_info></net>"), "")
raw("ports in ports", RIGHT.replace("<input>", "<input>" + '<port id="0">' * 5_000, 1), "IR003")

# names

MARKUP = "&lt;script>alert(1)&lt;/script>&amp;&quot;&#9;&#10;&#133;&#x202e;&#x1b5;"
changed("markup in a name", 'name="p0"', f'name="{MARKUP}"', "")
changed("a control character in a name", 'name="p0"', 'name="&#155;31m&#127;"', "")
changed("a control character that XML forbids", 'name="p0"', 'name="&#27;[31m"', "IR001")
changed("a workflow command in a name", 'name="p0"', 'name="&#10;::error::x ##[error]"', "")
changed("a long name", 'name="p0"', f'name="{"x" * 1_000_000}"', "")
changed("markup in a type", 'type="ReLU"', f'type="{MARKUP}"', "IR602")
changed("a long type", 'type="ReLU"', f'type="{"R" * 1_000_000}"', "IR602")
changed("a type that is Python", 'type="ReLU"', 'type="__init__"', "IR602")
changed("a type of the house", 'type="ReLU"', 'type="Operation"', "IR602")
changed(
    "a version that is a path", 'version="opset1"><input', 'version="../../opset1"><input', "IR604"
)
changed("a format in a name", 'name="p0"', 'name="{0.__class__} %s %n"', "")
changed(
    "paths as attributes",
    'version="11"',
    'version="11" weights="/etc/passwd" bin="../../x.bin"',
    "",
)

# numbers

HUGE = str(2**63)
for what, number in {
    "2^63": HUGE,
    "a hundred digits": "9" * 100,
    "ten thousand digits": "9" * 10_000,
    "negative": "-5",
    "real": "1e9",
    "fullwidth": "１２",
}.items():
    changed(f"a dimension: {what}", "<dim>2</dim>", f"<dim>{number}</dim>", "IR104")
    changed(f"a shape: {what}", 'shape="2,3"', f'shape="{number},3"', "IR304")
    changed(f"an id: {what}", '<layer id="1"', f'<layer id="{number}"', "IR103")
    changed(f"an end of an edge: {what}", 'from-layer="0"', f'from-layer="{number}"', "IR11")
changed("a version of many digits", 'version="11"', f'version="{"9" * 10_000}"', "IR601")
raw("huge dimensions", simple("9223372036854775806,9223372036854775806").text(), "")
raw("a product past 2^63", simple("4294967296,4294967296,4294967296").text(), "")
raw("many dimensions", simple(",".join(["2"] * 3000)).text(), "")
changed("an interval", 'shape="2,3"', 'shape="0..9223372036854775807,3"', "")


def small(name: str, made: Net | str, expected: str | None) -> None:
    """An attack that is a net, or one layer as a text of `ir`."""
    net = made if isinstance(made, Net) else Net()
    if isinstance(made, str):
        net.result(net.add(made))

    def make(folder: Path) -> Path:
        return net.save(folder)

    ATTACKS[name] = Attack(make, expected)


BIG, MOST = 2**40, 2**62
POOL = "pads_begin=0,0 pads_end=0,0 rounding_type=floor f32[1,1,8,8]"
small(
    "a broadcast to a huge shape", f"Broadcast-3(mode=numpy f32[1] i64{{[{BIG}, {BIG}]}})", "IR210"
)
small(
    "a tensor that exhausts the memory",
    f"Broadcast-3(mode=numpy f32{{[1.0]}} i64{{[{10**6}, {10**6}]}})",
    "",
)
small("a tile without end", f"Tile-1(f32[2,3] i64{{[{BIG}, {BIG}]}})", "IR210")
small(
    "a pad without end",
    f"Pad-1(pad_mode=constant f32[2,3] i64{{[{MOST}, {MOST}]}} i64{{[{MOST}, {MOST}]}})",
    "IR210",
)
small("an operation without inputs", "Broadcast-1(mode=numpy)", "IR402")
small(
    "a negative pad",
    f"Pad-12(pad_mode=constant f32[2,3] i64{{[-{MOST}, 0]}} i64{{[-{MOST}, 0]}})",
    "IR40",
)
small(
    "a range without end", f"Range-4(output_type=i64 i64{{[0]}} i64{{[{MOST}]}} i64{{[1]}})", None
)
small(
    "one-hot without end", f"OneHot-1(axis=-1 f32[2,3] i64{{[{MOST}]}} i64{{[1]}} i64{{[0]}})", None
)
small(
    "a reshape past 2^63", f"Reshape-1(special_zero=false f32[2,3] i64{{[{MOST}, {MOST}]}})", "IR40"
)
small("a split into many", "Split-1(num_splits=1000000000000 f32[8] i64{[0]})", "IR40")
small("a window past all bounds", f"MaxPool-1(strides=1,1 kernel={MOST},1 {POOL})", None)
small("strides of zero", f"MaxPool-1(strides=0,0 kernel=1,1 {POOL})", None)
small("a list without end", f"MaxPool-1(strides={'1,' * 100_000}1 kernel=1,1 {POOL})", None)
small("an Einsum of many", f"Einsum-7(equation={'a' * 50_000}-> f32[2,2])", "IR40")
blocks = f"SpaceToDepth-1(mode=blocks_first block_size={MOST} f32[1,4,8,8])"
small("an upsampling without end", blocks, None)


def _many(count: int) -> Net:
    net = Net()
    last = net.parameter("1")
    for _ in range(count):
        last = net.layer("Concat", [last, last], 'axis="0"', outputs=["FP32:-1"])
    net.result(last)
    return net


small("doubled a hundred times", _many(100), "IR210")

# constants and the .bin


def constant(
    name: str,
    data: tuple[str, object, int, int],
    weights: bytes,
    expected: str | None,
    dims: str = "2",
    precision: str = "FP32",
) -> None:
    """data: element type, shape, offset and size; dims: those of its port."""
    element_type, shape, offset, size = data
    sizes = "".join(f"<dim>{each}</dim>" for each in dims.split(",") if each)
    net = Net()
    net.layers.append(
        f'<layer id="0" name="c" type="Const" version="opset1"><data element_type="{element_type}" '
        f'shape="{shape}" offset="{offset}" size="{size}"/><output>'
        f'<port id="0" precision="{precision}">{sizes}</port></output></layer>'
    )
    net.result("0")
    net.weights = weights
    small(name, net, expected)


NOTHING = b"\0" * 8
PLACES = {"2^63": 2**63, "2^64": 2**64, "negative": -8, "a hundred digits": 10**100}
for what, offset in PLACES.items():
    constant(f"a constant at {what}", ("f32", "2", offset, 8), NOTHING, "IR")
    constant(f"a constant of size {what}", ("f32", "2", 0, offset), NOTHING, "IR")
huge, bin_of_64 = f"{2**32},{2**32}", bytes(64)
constant("a size that overflows", ("f32", huge, 0, 64), bin_of_64, "IR503", huge)
constant("a size that is too small", ("f32", "1000", 0, 64), bin_of_64, "IR503", "1000")
constant("an offset past the end", ("f32", "2", 1 << 40, 8), bin_of_64, "IR502")
constant("an offset whose end overflows", ("f32", "4", (1 << 64) - 8, 16), bin_of_64, "IR502", "4")
constant("a constant whose size overflows", ("f32", MOST, 0, 0), NOTHING, "IR503", str(MOST))
constant("a scalar of no bytes", ("f32", "", 0, 0), NOTHING, "IR503", "")
for packed in ("u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1"):
    precision = {"u1": "BIN"}.get(packed, packed.upper())
    code = "" if packed == "u1" else "IR503"
    constant(f"{packed} of odd size", (packed, "7", 0, 1), b"\xff", code, "7", precision)


def strings(name: str, payload: bytes, shape: str = "2") -> None:
    data = ("string", shape, 0, len(payload))
    constant(f"strings: {name}", data, payload, "IR503", shape, "STRING")


strings("a count of 2^31", struct.pack("<iii", 2**31 - 1, 0, 1) + b"ab")
strings("a negative count", struct.pack("<iiii", -2, 0, 1, 2) + b"ab")
strings("offsets past the end", struct.pack("<iiii", 2, 0, 1, 2**31 - 1) + b"ab")
strings("an end before its beginning", struct.pack("<iiii", 2, 0, 4, 2) + b"abcd")
strings("more strings than there are", struct.pack("<iii", 3, 0, 2) + b"abcd", "3")
strings("negative offsets", struct.pack("<iiii", 2, -5, 1, 2) + b"ab")
strings("cut short", b"\2\0\0")


def beside(name: str, expected: str, make: Callable[[Path], object]) -> None:
    """Something odd where the .bin should be."""

    def both(folder: Path) -> Path:
        net = Net()
        net.result(net.add("Reshape-1(special_zero=false f32[2,3] i64{[3, 2]})"))
        path = net.save(folder)
        path.with_suffix(".bin").unlink()
        make(path.with_suffix(".bin"))
        return path

    ATTACKS[f"the .bin: {name}"] = Attack(both, expected)


def larger_than_the_memory(path: Path) -> None:
    """The child process may not map it."""
    with path.open("wb") as file:
        file.write(struct.pack("<qq", 3, 2))
        file.truncate(1 << 33)


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 16\n"
beside("a pipe", "IR501", os.mkfifo)
beside("a folder", "IR501", Path.mkdir)
beside("a device", "IR501", lambda path: path.symlink_to("/dev/zero"))
beside("a link to itself", "IR501", lambda path: path.symlink_to(path))
beside("a link to nowhere", "IR501", lambda path: path.symlink_to("/no/such/file"))
beside("a process file", "IR50", lambda path: path.symlink_to("/proc/self/environ"))
beside("an LFS pointer", "IR501", lambda path: path.write_text(LFS))
beside("empty", "IR50", lambda path: path.write_bytes(b""))
beside("larger than the memory", "IR501", larger_than_the_memory)


# the .xml itself


@attack("the .xml: a pipe", None)
def _(folder: Path) -> Path:
    os.mkfifo(folder / "m.xml")
    return folder / "m.xml"


@attack("the .xml: a device", None)
def _(folder: Path) -> Path:
    (folder / "m.xml").symlink_to("/dev/zero")
    return folder / "m.xml"


@attack("the .xml: a link to itself", None)
def _(folder: Path) -> Path:
    (folder / "m.xml").symlink_to(folder / "m.xml")
    return folder / "m.xml"


@attack("the .xml: a name with a line break", "")
def _(folder: Path) -> Path:
    path = folder / "a\n::error::b\x1b[31m.xml"
    path.write_text(RIGHT)
    return path


@attack("the .xml: a link", "")
def _(folder: Path) -> Path:
    (folder / "real.xml").write_text(RIGHT)
    (folder / "m.xml").symlink_to(folder / "real.xml")
    return folder / "m.xml"


# structure

changed(
    "an edge to itself",
    'from-layer="0" from-port="0" to-layer="1"',
    'from-layer="1" from-port="1" to-layer="1"',
    "IR114",
)
raw("two layers with one id", RIGHT.replace('<layer id="1"', '<layer id="0"', 1), "IR101")
raw(
    "a thousand layers of one id",
    RIGHT.replace(
        "</layers>", '<layer id="0" name="x" type="ReLU" version="opset1"/>' * 1000 + "</layers>"
    ),
    "IR101",
)
raw(
    "ten thousand edges to nowhere",
    RIGHT.replace(
        "</edges>",
        '<edge from-layer="9" from-port="9" to-layer="9" to-port="9"/>' * 10_000 + "</edges>",
    ),
    "IR110",
)
raw(
    "ten thousand ports",
    RIGHT.replace("<input>", "<input>" + '<port id="7"/>' * 10_000, 1),
    "IR107",
)
raw("ten thousand dimensions", RIGHT.replace("<dim>3</dim>", "<dim>3</dim>" * 10_000, 1), "IR201")


def chain(count: int) -> str:
    """A long cycle, its edges in the worst order."""
    layers = "".join(
        (
            f'<layer id="{i}" name="a" type="ReLU" version="opset1"><input><port id="0"/></input>'
            '<output><port id="1" precision="FP32"/></output></layer>'
        )
        for i in range(count)
    )
    edges = "".join(
        f'<edge from-layer="{(i + 1) % count}" from-port="1" to-layer="{i}" to-port="0"/>'
        for i in reversed(range(count))
    )
    return f'<net name="m" version="11"><layers>{layers}</layers><edges>{edges}</edges></net>'


raw("a cycle of three thousand", chain(3000), "IR114")
raw(
    "a chain to a cycle",
    chain(2000).replace(
        '<edge from-layer="1" from-port="1" to-layer="0" to-port="0"/>',
        '<edge from-layer="0" from-port="1" to-layer="0" to-port="0"/>',
    ),
    "IR114",
)

# bodies


def loop(inside: str, attributes: str = "", trips: int | None = None, ties: str = "") -> str:
    """A TensorIterator or Loop around some layers."""
    return (
        '<layer id="1" name="loop" type="TensorIterator" version="opset1"><input>'
        '<port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input>'
        '<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>'
        f"<port_map>{ties}</port_map><body><layers>{inside}</layers><edges>"
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></body></layer>'
    )


INSIDE = (
    '<layer id="0" name="i" type="Parameter" version="opset1">'
    '<data shape="{shape}" element_type="f32"/><output><port id="0" precision="FP32">'
    "{dims}</port></output></layer>"
    '<layer id="1" name="r" type="ReLU" version="opset1"><input><port id="0"/></input><output>'
    '<port id="1" precision="FP32">{dims}</port></output></layer>'
    '<layer id="2" name="o" type="Result" version="opset1"><input><port id="0"/></input></layer>'
)


def iterated(ties: str, shape: str = "2,3") -> str:
    dims = "".join(f"<dim>{size}</dim>" for size in shape.split(","))
    body = loop(INSIDE.format(shape=shape, dims=dims), ties=ties)
    middle = RIGHT[RIGHT.index('<layer id="1"') : RIGHT.index('<layer id="2"')]
    return RIGHT.replace(middle, body + "\n")


PLAIN_OUT = '<output external_port_id="1" internal_layer_id="2"/>'
raw(
    "a body that is right",
    iterated('<input external_port_id="0" internal_layer_id="0"/>' + PLAIN_OUT),
    "",
)
for what, tie in {
    "a stride of zero": 'axis="0" stride="0" start="0" end="-1" part_size="1"',
    "a huge stride": f'axis="0" stride="{2**62}" start="0" end="-1" part_size="1"',
    "a huge part": f'axis="0" stride="1" start="0" end="-1" part_size="{2**62}"',
    "a negative part": 'axis="0" stride="1" start="0" end="-1" part_size="-1"',
    "an end past all": f'axis="0" stride="1" start="0" end="{2**62}" part_size="1"',
    "a start past all": f'axis="0" stride="1" start="{2**62}" end="-1" part_size="1"',
    "an axis past all": f'axis="{2**62}" stride="1" start="0" end="-1" part_size="1"',
    "a stride past 2^63": f'axis="0" stride="{2**70}" start="0" end="-1" part_size="1"',
    "no numbers": 'axis="x" stride="y" start="z" end="" part_size="1.5"',
}.items():
    raw(
        f"a port map: {what}",
        iterated(f'<input external_port_id="0" internal_layer_id="0" {tie}/>' + PLAIN_OUT, "1,3"),
        "IR",
    )
raw(
    "a port map: an output of huge parts",
    iterated(
        '<input external_port_id="0" internal_layer_id="0"/>'
        f'<output external_port_id="1" internal_layer_id="2" axis="0" stride="{2**62}" '
        f'start="0" end="{2**62}" part_size="{2**62}"/>'
    ),
    "IR",
)
raw(
    "a port map: ten thousand lines",
    iterated('<input external_port_id="0" internal_layer_id="0"/>' * 10_000 + PLAIN_OUT),
    "IR408",
)
raw(
    "a port map: nowhere",
    iterated(
        '<input external_port_id="99" internal_layer_id="99"/>'
        '<output external_port_id="99" internal_layer_id="99"/>'
    ),
    "IR",
)
raw(
    "a body without anything",
    iterated("").replace(
        loop(INSIDE.format(shape="2,3", dims="<dim>2</dim><dim>3</dim>")), loop("")
    ),
    "IR",
)


def nested(depth: int) -> str:
    """Bodies inside one another."""
    opening = '<layer id="0" name="l" type="TensorIterator" version="opset1"><body><layers>'
    return (
        '<net name="m" version="11"><layers>'
        f"{opening * depth}{'</layers></body></layer>' * depth}</layers></net>"
    )


raw("bodies in bodies", nested(50), "IR")
raw("bodies in bodies, too deep", nested(100), "IR005")
raw("bodies in bodies, far too deep", nested(20_000), "IR005")


def wide(depth: int) -> str:
    """Ifs inside both branches of Ifs: 2^depth of them, as many as stand in the file."""
    if not depth:
        return (
            '<layer id="0" name="p" type="Parameter" version="opset1">'
            '<data shape="2" element_type="f32"/><output>'
            '<port id="0" precision="FP32"><dim>2</dim></port></output></layer>'
        )
    inner = wide(depth - 1)
    return (
        '<layer id="0" name="i" type="If" version="opset8"><then_body><layers>'
        f"{inner}</layers></then_body><else_body><layers>{inner}</layers></else_body></layer>"
    )


raw("branches in branches", f'<net name="m" version="11"><layers>{wide(9)}</layers></net>', "IR")


# Inputs that once raised an exception


def surplus_output() -> str:
    """A Result with two output ports, of which the second feeds a layer."""
    ports = '<output><port id="1" precision="FP32"/><port id="2" precision="FP32"/></output>'
    net = simple()
    net.layers[-1] = net.layers[-1].replace("</input>", f"</input>{ports}")
    net.layer("ReLU", ["2:1"])
    return net.text()


def unused_body() -> str:
    """A Result that holds a body, which nothing infers, with constants in it."""
    inner = Net()
    for text in (
        "Add-1(f32[2,3] i64{[1, 3]})",
        "Reshape-1(special_zero=false f32[?,3] i64{[1, 3]})",
    ):
        inner.result(inner.add(text))
    body = inner.text()
    body = body[body.index("<layers>") : body.index("</net>")]
    net = simple("?,3")
    net.layers[-1] = net.layers[-1].replace("</layer>", f"<body>{body}</body></layer>")
    return net.text()


def huge_constant(folder: Path) -> Path:
    """A constant whose size is no number of C, at a place in the .bin that is not aligned."""
    net = Net()
    net.weights = b"\0"
    net.result(net.layer("ReLU", [net.constant([1.0, 2.0], "f32")], outputs=["FP32:2"]))
    net.layers[0] = net.layers[0].replace('size="8"', f'size="{2**70}"')
    return net.save(folder)


raw("a second output of a Result", surplus_output(), "IR116")
raw("a body of a Result", unused_body(), "", weights=bytes(32))
ATTACKS["a constant of 2^70 bytes"] = Attack(huge_constant, "IR503")
