"""`irshape fix`: what was changed comes back byte for byte, and nothing else moves."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ir import Net

import irshape
from irshape.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.xml"))


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.stem)
def test_healthy(model: Path) -> None:
    fixes = irshape.fix(model)
    assert (fixes.edits, fixes.fixed, fixes.diff()) == ([], [], "")
    assert fixes.data == model.read_bytes()


@pytest.mark.parametrize(("seed", "share"), [(0, 0.3), (1, 0.6), (5, 0.95)])
@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.stem)
def test_wrong_dimensions_everywhere(model: Path, seed: int, share: float, tmp_path: Path) -> None:
    original = model.read_bytes()
    chance = random.Random(seed)

    def wrong(size: re.Match[bytes]) -> bytes:
        return size[0] if chance.random() > share else b"<dim>%d</dim>" % (int(size[1]) + 1)

    broken = tmp_path / model.name
    broken.write_bytes(re.sub(rb"<dim>(\d+)</dim>", wrong, original))
    shutil.copy(model.with_suffix(".bin"), tmp_path)
    assert irshape.fix(broken).data == original


def test_a_stale_model(tmp_path: Path) -> None:
    """A long chain's input changed and no port after it did: one call of `fix` updates all."""
    net = Net()
    last = net.parameter("2,3")
    for _ in range(150):
        last = net.layer("ReLU", [last], outputs=["FP32:2,3"])
    net.result(last)
    path = net.save(tmp_path)
    right = path.read_text()
    ports = right.replace(
        '<port id="0"/>', '<port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>'
    )
    # the input itself says 7 twice
    stale = ports.replace('shape="2,3"', 'shape="7,3"').replace("<dim>2</dim>", "<dim>5</dim>")
    path.write_text(stale.replace("<dim>5</dim>", "<dim>7</dim>", 1))
    fixes = irshape.fix(path)
    assert fixes.text == ports.replace('shape="2,3"', 'shape="7,3"').replace(
        "<dim>2</dim>", "<dim>7</dim>"
    )
    assert {found.severity for found in fixes.remaining} <= {"info"}
    assert {found.code for found in fixes.fixed} == {"IR201", "IR205"}


TEXT = """<?xml version="1.0"{encoding}?>
<net name="m" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="2,3" element_type="f32"/>
      <output>
        <port id="0" precision="FP32" names="x">
          <dim>2</dim>
          <dim>3</dim>
        </port>
      </output>
    </layer>
    <layer id="1" name="café" type="ReLU" version="opset1">
      <input>
        <port id="0" precision="FP32">
          <dim>2</dim>
          <dim>3</dim>
        </port>
      </input>
      <output>
        <port id="1" precision="FP32" names="y">
          <dim>2</dim> <!-- two -->
          <dim>3</dim>
        </port>
      </output>
    </layer>
    <layer id="2" name="result" type="Result" version="opset1">
      <input>
        <port id="0" precision="FP32">
          <dim>2</dim>
          <dim>3</dim>
        </port>
      </input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
  </edges>
</net>
"""
TWO, THREE = " <!-- two -->", "\n          <dim>3</dim>"
PORT = '<port id="1" precision="FP32" names="y">'
# what is right, what is wrong, and what `fix` makes of it unless it is what was right
SPOILT = {
    "dimension": (f"<dim>2</dim>{TWO}", f"<dim> 4 </dim>{TWO}", f"<dim> 2 </dim>{TWO}"),
    "missing precision": (PORT, '<port id="1" names="y">', None),
    "missing precision, other quotes": (
        *(PORT, "<port id='1' names='y'>", "<port id='1' precision='FP32' names='y'>"),
    ),
    "unknown precision": ('<port id="1" precision="FP32"', '<port id="1" precision="float"', None),
    "misspelt precision": ('<port id="1" precision="FP32"', '<port id="1" precison="FP32"', None),
    "misspelt names": ('precision="FP32" names="y"', 'precision="FP32" name="y"', None),
    "misspelt version": ('type="ReLU" version=', 'type="ReLU" versoin=', None),
    "id of a layer": ('<layer id="1"', '<layer id="001"', None),
    "id of a port": ('<port id="1"', '<port id="+1"', None),
    "end of an edge": ('from-layer="1"', 'from-layer="01"', None),
    "both ends": ('<layer id="1" name="café"', '<layer id="+01" name="café"', None),
    "no dimensions": (
        f"{PORT}\n          <dim>2</dim>{TWO}{THREE}\n        </port>",
        f"{PORT[:-1]}/>",
        None,
    ),
    "a dimension too few": (f"{TWO}{THREE}", TWO, None),
    "a dimension too many": (f"{TWO}{THREE}", f"{TWO}{THREE}\n          <dim>1</dim>", None),
    "a malformed dimension": (f"<dim>2</dim>{TWO}", f"<dim/>{TWO}", None),
}
ENCODINGS = {"utf-8": "utf-8", "latin-1": "iso-8859-1", "utf-16": "utf-16", "utf-8-sig": "utf-8"}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("codec", ENCODINGS)
@pytest.mark.parametrize("name", SPOILT)
def test_bytes_elsewhere_stay(name: str, codec: str, end: str, tmp_path: Path) -> None:
    right, wrong, expected = SPOILT[name]
    base = TEXT.format(encoding=f' encoding="{ENCODINGS[codec]}"')
    if name == "no dimensions":
        base = base.replace(" <!-- two -->", "")
        right = right.replace(" <!-- two -->", "")
    if name == "a dimension too few":
        base = base.replace(" <!-- two -->", "")
        behind = '\n        </port>\n      </output>\n    </layer>\n    <layer id="2"'
        right, wrong = f"<dim>2</dim>{THREE}{behind}", f"<dim>2</dim>{behind}"
    assert base.count(right) == 1
    path = tmp_path / "m.xml"
    broken = base.replace(right, wrong).replace("\n", end).encode(codec)
    path.write_bytes(broken)
    # the names of tensors are part of the model, so that one is corrected only on request
    fixes = irshape.fix(path, unsafe=name == "misspelt names")
    wanted = (base.replace(right, expected) if expected else base).replace("\n", end).encode(codec)
    assert fixes.data == wanted, fixes.diff()
    assert fixes.fixed
    assert not [found for found in fixes.remaining if found.severity != "info"]
    assert path.read_bytes() == broken
    changed = broken
    for start, stop, text in reversed(fixes.edits):
        changed = changed[:start] + text + changed[stop:]
    assert changed == wanted
    again = tmp_path / "again.xml"
    again.write_bytes(fixes.data)
    assert irshape.fix(again).edits == []


def spoilt(folder: Path, *names: str) -> Path:
    path = folder / "m.xml"
    text = TEXT.format(encoding="")
    for name in names:
        text = text.replace(*SPOILT[name][:2])
    path.write_text(text)
    return path


def test_several_at_once(tmp_path: Path) -> None:
    """One fix uncovers the next: an id, then a name, then a port."""
    names = ("id of a layer", "misspelt version", "misspelt precision", "a malformed dimension")
    fixes = irshape.fix(spoilt(tmp_path, *names))
    assert fixes.text == TEXT.format(encoding="")
    codes = {found.code for found in fixes.fixed}
    assert codes == {"IR102", "IR103", "IR104", "IR105", "IR106", "IR117"}


LIKELY = {
    "two layers of one id": ('<layer id="1"', '<layer id="0"'),
    "no producer": ('from-layer="1"', 'from-layer="7"'),
    "an unknown operation": ('type="ReLU"', 'type="ReLUUU"'),
    "an id that is taken": ('<layer id="1"', '<layer id="02"'),
}


@pytest.mark.parametrize("name", LIKELY)
def test_the_likeliest_change_on_request(name: str, tmp_path: Path) -> None:
    right, wrong = LIKELY[name]
    path = tmp_path / "m.xml"
    path.write_text(TEXT.format(encoding="").replace(right, wrong))
    assert right not in irshape.fix(path).text
    fixes = irshape.fix(path, unsafe=True)
    assert fixes.text == TEXT.format(encoding="")
    assert [found for found in fixes.remaining if found.severity != "info"] == []


def test_what_has_no_one_answer_stays(tmp_path: Path) -> None:
    """Two inputs of one shape: nothing says which of them was added to the first."""
    net = Net()
    one, two = net.parameter("2,3"), net.parameter("2,3")
    net.result(net.layer("Add", [one, two], outputs=["FP32:2,3"]))
    net.result(net.layer("ReLU", [one], outputs=["FP32:2,3"]))
    net.result(net.layer("Abs", [two], outputs=["FP32:2,3"], version="opset1"))
    path = net.save(tmp_path)
    right = path.read_text()
    edge = re.search(r'\s*<edge from-layer="0" [^>]*to-layer="2"[^>]*/>', right)
    assert edge is not None
    path.write_text(right.replace(edge[0], ""))
    fixes = irshape.fix(path)
    assert fixes.edits == []
    assert [found.code for found in fixes.remaining if found.severity != "info"] == ["IR113"]
    (found,) = (each for each in irshape.validate(path).diagnostics if each.severity == "error")
    assert found.causes
    assert not any("fix" in each for each in found.causes)
    assert irshape.fix(path, unsafe=True).edits == fixes.candidates == []


@pytest.mark.parametrize(
    ("declared", "meant"), [("2,1,4", "true"), ("2,4", "false"), ("2,7", None)]
)
def test_a_doubtful_attribute(declared: str, meant: str | None, tmp_path: Path) -> None:
    """`keep_dims="maybe"`, which OpenVINO reads as the default: the ports say what may be meant."""
    net = Net()
    data, axes = net.parameter("2,3,4"), net.constant([1])
    output = f"FP32:{declared}"
    mean = net.layer("ReduceMean", [data, axes], 'keep_dims="maybe"', outputs=[output])
    net.result(net.layer("ReLU", [mean], outputs=[output]))
    path = net.save(tmp_path)
    fixes = irshape.fix(path)
    assert fixes.edits == []
    assert "IR304" in [found.code for found in fixes.remaining]
    likeliest = irshape.fix(path, unsafe=True)
    assert likeliest.text == path.read_text().replace("maybe", meant or "maybe")


def test_two_misspellings_of_one_name(tmp_path: Path) -> None:
    net = Net()
    data, axes = net.parameter("2,3,4"), net.constant([1])
    text = "ReduceMean-1(keep_dim=true keepdims=false @ @)"
    net.result(net.add(text, data, axes, outputs=["FP32:2,4"]))
    assert irshape.fix(net.save(tmp_path)).edits == []


def test_a_port_that_leaves_open_what_is_certain_stays(tmp_path: Path) -> None:
    net = Net()
    free = net.layer("ReLU", [net.parameter("2,3")], outputs=["FP32:-1,3"])
    net.result(net.layer("Abs", [free], outputs=["FP32:2,3"]))
    path = net.save(tmp_path)
    assert irshape.fix(path).edits == []
    assert "IR204" in [each.code for each in irshape.validate(path).diagnostics]


def test_all_ports_follow_an_edited_input(tmp_path: Path) -> None:
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("2,3")], outputs=["FP32:2,3"]))
    path = net.save(tmp_path)
    right = path.read_text()
    path.write_text(right.replace("<dim>2</dim>", "<dim>-1</dim>"))
    fixes = irshape.fix(path)
    (found,) = (each for each in irshape.validate(path).diagnostics if each.code == "IR204")
    assert [each["safe"] for each in found.fixes] == [True]
    assert fixes.text == right
    assert [each.code for each in fixes.fixed] == ["IR204"]
    assert irshape.fix(path, config=irshape.Configuration(ignore=["IR204"])).edits == []


def test_ports_do_not_follow_what_the_layers_behind_refuse(tmp_path: Path) -> None:
    """Rather than the ports, all of which agree, something before them is wrong."""
    path = tmp_path / "classifier.xml"
    text = (ROOT / "examples/classifier.xml").read_text()
    layer = text.index('name="block2/conv1" ')
    text = text[:layer] + text[layer:].replace(
        'strides="2, 2" dilations="1, 1" pads_begin="1, 1" pads_end="1, 1"',
        'strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0"',
        1,
    )
    path.write_text(text)
    shutil.copy(ROOT / "examples/classifier.bin", tmp_path)
    fixes = irshape.fix(path)
    assert fixes.edits == []
    assert [each.code for each in fixes.remaining if each.severity != "info"] == ["IR201"]


def test_a_suppressed_finding_stays(tmp_path: Path) -> None:
    path = spoilt(tmp_path, "dimension")
    path.write_text(
        path.read_text().replace("<input>", "<!-- irshape: disable=IR201 --><input>", 1)
    )
    assert irshape.fix(path).edits == []


def test_layers_on_their_own(tmp_path: Path) -> None:
    names = "keep_dims_forgotten axis_not_reduced wrong_dimension output_of_another_type"
    for name in names.split():
        path = ROOT / "examples" / "layers" / "wrong" / f"{name}.xml"
        fixes = irshape.fix(path)
        copy = tmp_path / "copy.xml"
        copy.write_bytes(fixes.data)
        assert fixes.fixed
        assert irshape.validate(copy).ok, name
    for path in sorted((ROOT / "examples" / "layers" / "right").glob("*.xml")):
        assert irshape.fix(path).edits == [], path.name


WRONG_LAYERS = sorted((ROOT / "examples" / "layers" / "wrong").glob("*.xml"))


@pytest.mark.parametrize("path", WRONG_LAYERS, ids=lambda path: path.stem)
def test_what_validate_says_can_be_fixed(path: Path, tmp_path: Path) -> None:
    """A finding with a safe change is one that `fix` takes back, by that change."""
    fixes = irshape.fix(path)
    found = irshape.validate(path).diagnostics
    promised = [each for each in found if each.fixes and each.fixes[0]["safe"]]
    fixed = {(found.code, found.line, found.column) for found in fixes.fixed}
    assert {(each.code, each.line, each.column) for each in promised} <= fixed
    assert bool(promised) == bool(fixes.edits)
    lines = path.read_text().splitlines(keepends=True)
    for each in promised:
        change = each.fixes[0]
        for edit in reversed(change["edits"]):
            first, last = edit["line"] - 1, edit["end_line"] - 1
            tail = lines[last][edit["end_column"] - 1 :]
            lines[first] = lines[first][: edit["column"] - 1] + edit["text"] + tail
            lines[first + 1 : last + 1] = [""] * (last - first)
    if len(promised) == len(fixes.fixed):
        assert "".join(lines) == fixes.text


# the command


def test_exit_status_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spoilt(tmp_path, "dimension")
    before = path.read_bytes()
    wanted = irshape.fix(path).data
    assert call("fix", str(path)) == 1
    shown = capsys.readouterr()
    assert "+          <dim> 2 </dim> <!-- two -->\n" in shown.out
    assert "can be fixed [IR201]" in shown.err
    assert call("fix", "--diff", str(path)) == 1
    assert path.read_bytes() == before
    assert call("fix", str(path), "--output", str(tmp_path / "new.xml")) == 0
    assert path.read_bytes() == before
    assert (tmp_path / "new.xml").read_bytes() == wanted
    capsys.readouterr()
    assert call("fix", "-q", "--in-place", str(path)) == 0
    assert capsys.readouterr() == ("", "")
    assert path.read_bytes() == wanted
    assert call("fix", str(path)) == 0
    assert call("validate", str(path)) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.xml", "new.xml"]


def test_usage(tmp_path: Path) -> None:
    path = spoilt(tmp_path, "dimension")
    before = path.read_bytes()
    assert call("fix", str(path), "--diff", "--in-place") == 2
    assert call("fix", "-", "--in-place") == 2
    assert call("fix", str(tmp_path / "nowhere.xml")) == 2
    assert call("fix", str(path), "--output", str(tmp_path / "no" / "folder.xml")) == 2
    assert call("fix", str(path), "--output", str(tmp_path)) == 2
    assert path.read_bytes() == before


def test_unreadable_files_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.xml"
    lfs = b"version https://git-lfs.github.com/spec/v1\n"
    for text in (b"", b"<net", b"<!DOCTYPE net><net/>", b"\0\0", lfs, b'<net version="7"/>'):
        path.write_bytes(text)
        for option in ("--diff", "--in-place", f"--output={tmp_path / 'new.xml'}"):
            assert call("fix", str(path), option) == 1
            assert "left: error[IR" in capsys.readouterr().err
        assert path.read_bytes() == text
        assert [each.name for each in tmp_path.iterdir()] == ["m.xml"]


def test_in_place_keeps_a_link_and_the_mode(tmp_path: Path) -> None:
    path = spoilt(tmp_path, "dimension")
    path.chmod(0o640)
    link = tmp_path / "link.xml"
    link.symlink_to(path)
    assert call("fix", "-q", "--in-place", str(link)) == 0
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert "<dim> 2 </dim>" in path.read_text()


@pytest.mark.parametrize("model", EXAMPLES[:3], ids=lambda model: model.stem)
def test_the_diff_is_one(model: Path, tmp_path: Path) -> None:
    """`git apply` takes it, and makes the fixed text of it."""
    shutil.copyfile(model.with_suffix(".bin"), tmp_path / f"{model.stem}.bin")
    path = tmp_path / model.name
    text = model.read_text()
    chosen = random.Random(model.name)
    dims = [match.start() for match in re.finditer(r"<dim>\d", text)]
    for at in sorted(chosen.sample(dims, min(40, len(dims))), reverse=True):
        text = text[: at + 5] + "9" + text[at + 5 :]
    path.write_text(text)
    found = subprocess.run(
        [sys.executable, "-m", "irshape", "fix", "-q", model.name],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert found.returncode == 1
    subprocess.run(["git", "apply", "-p0"], cwd=tmp_path, input=found.stdout, check=True)
    assert path.read_bytes() == irshape.fix(path).data
    assert path.read_bytes() == model.read_bytes()


def test_a_loosely_written_id_hides_nothing(tmp_path: Path) -> None:
    """A layer behind an id with a sign or zeros is checked; a number used twice is an error."""
    text = TEXT.format(encoding="")
    path = tmp_path / "m.xml"
    for right, wrong in (
        ('<layer id="1"', '<layer id="01"'),
        ('<port id="1"', '<port id="+1"'),
        ('from-layer="1"', 'from-layer="01"'),
        ('to-port="0"', 'to-port="00"'),
    ):
        wrong_size = text.replace(f"<dim>2</dim>{TWO}", f"<dim>5</dim>{TWO}")
        path.write_text(wrong_size.replace(right, wrong, 1))
        report = irshape.validate(path)
        codes = {found.code for found in report.diagnostics if found.severity != "info"}
        assert codes in ({"IR103", "IR201"}, {"IR111", "IR201"}), (wrong, codes)
    path.write_text(text.replace('<layer id="2"', '<layer id="01"'))
    findings = irshape.validate(path).diagnostics
    assert "IR101" in {found.code for each in findings for found in each.whole}
    path.write_text(text.replace('to-port="0"', 'to-port=""'))
    errors = [each.code for each in irshape.validate(path).diagnostics if each.severity == "error"]
    assert errors == ["IR111", "IR111"]
