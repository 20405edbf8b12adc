"""Which findings are reported: selectors, ignores by file, comments, the baseline, limits.

The command line and Python give the same.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import calling
import pytest
from calling import reported
from ir import Net

import irshape

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
call = partial(calling.call, "validate")


def codes(*arguments: str) -> list[str]:
    """The codes that are reported, in order."""
    return [found["code"] for found in reported(*arguments)]


def faulty() -> Net:
    """IR301 (unknown attribute), IR201 (declared shape), IR701 if asked (a NaN in the weights)."""
    net = Net()
    x = net.parameter("2,3")
    relu = net.layer("ReLU", [x], 'colour="red"', outputs=["FP32:2,4"])
    total = net.layer("Add", [relu, net.constant([float("nan")] * 3, "f32")], outputs=["FP32:2,3"])
    net.layers[int(total)] = net.layers[int(total)].replace(
        "precision=", 'names="total" precision='
    )
    net.result(total, "out")
    return net


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return faulty().save(tmp_path).relative_to(tmp_path)


def test_what_is_reported_by_default(model: Path) -> None:
    assert sorted(codes(str(model))) == ["IR201", "IR301"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--select IR301", "IR301"),
        ("--select IR3", "IR301"),
        ("--select IR2,IR3", "IR201 IR301"),
        ("--select IR2 --select IR3", "IR201 IR301"),
        ("--select unknown-attribute", "IR301"),
        ("--select IR4", ""),
        ("--select ALL", "IR201 IR301 IR701"),
        ("--select IR7", "IR701"),
        ("--extend-select IR701", "IR201 IR301 IR701"),
        ("--extend-select nan-weights", "IR201 IR301 IR701"),
        ("--ignore IR301", "IR201"),
        ("--ignore IR3", "IR201"),
        ("--ignore ALL", ""),
        ("--ignore output-shape-mismatch", "IR301"),
        ("--select ALL --ignore IR7", "IR201 IR301"),
        ("--select IR301 --ignore IR3", "IR301"),  # the more exact one decides
        ("--select IR3 --ignore IR301", ""),
        ("--select IR301 --ignore IR301", ""),
        ("--ignore IR2 --extend-select IR201", "IR201 IR301"),
        ("--per-file-ignores m.xml:IR301", "IR201"),
        ("--per-file-ignores *.xml:IR2,IR3", ""),
        ("--per-file-ignores other.xml:IR301", "IR201 IR301"),
        ("--per-file-ignores ./m.xml:unknown-attribute", "IR201"),
        ("--per-file-ignores **/m.xml:IR2", "IR301"),
    ],
)
def test_selectors(model: Path, options: str, expected: str) -> None:
    ignored = ("IR702", "IR703", "IR704", "IR125")
    seen = codes(*options.split(), str(model))
    assert sorted(code for code in seen if code not in ignored) == expected.split()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--select IR999", "there is no rule 'IR999'"),
        ("--select ir301", "did you mean 'IR301'?"),
        ("--ignore unknown-atribute", "did you mean 'unknown-attribute'?"),
        ("--per-file-ignores m.xml", "PATTERN:CODES"),
        ("--per-file-ignores m.xml:IR998", "there is no rule 'IR998'"),
        ("--fail-level never", "'never' is not one of"),
        ("--max-errors 0", "0 is not in the range"),
        ("--shard 3/2", "--shard takes I/N"),
        ("--update-baseline", "needs --baseline"),
        ("--baseline b.json --update-baseline --max-errors 1", "--max-errors leaves some out"),
        ("--baseline none.json", "there is no baseline 'none.json'"),
        ("--target latest", "'latest' is not"),
        ("--isolated --config x.toml", "--isolated and --config"),
        ("--extension ReLU", "'ReLU' is an operation"),
        ("--extension ReLU@opset3", "is a built-in operation"),
    ],
)
def test_usage_is_exit_status_2(model: Path, options: str, words: str) -> None:
    status, output, error = call(*options.split(), str(model))
    assert (status, output, words in " ".join(error.split())) == (2, "", True), error


@pytest.mark.parametrize(
    ("level", "ignored", "status"),
    [("error", "IR4", 1), ("warning", "IR2", 1), ("error", "IR2", 0), ("info", "IR2,IR3", 0)],
)
def test_fail_level(model: Path, level: str, ignored: str, status: int) -> None:
    assert call("--fail-level", level, "--ignore", ignored, str(model))[0] == status


def test_what_cannot_be_read_is_reported_whatever_is_selected(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net")
    assert codes("--select", "IR301", str(path)) == ["IR001"]
    assert codes("--ignore", "IR001", str(path)) == []


# Comments


def commented(net: Net, folder: Path, *places: tuple[str, str]) -> Path:
    """Saves a net with comments, each before a text of the file (`</layer>`: the ReLU's end)."""
    path = net.save(folder)
    text = path.read_text()
    for before, comment in places:
        at = text.index('<data colour="red"/>') if before == "in" else text.index(before)
        text = text[:at] + f"<!-- {comment} -->" + text[at:]
    path.write_text(text)
    return path


# comments between `|`, each in the ReLU or before a text of the file, and the codes
@pytest.mark.parametrize(
    ("comments", "expected"),
    [
        ("irshape: disable=IR301", "IR201"),
        ("irshape: disable=IR3", "IR201"),
        ("irshape: disable=unknown-attribute, IR201", ""),
        ("irshape:disable=IR301,IR201: the converter of 2020 wrote it", ""),
        ("irshape: disable=ALL", ""),
        ("irshape: disable=IR301\n     : over two lines", "IR201"),
        ("<net: irshape: disable=IR301", "IR201"),
        ("<net: irshape: disable=IR301,IR201", ""),
        ("<edges: irshape: disable-file=IR301", "IR201"),
        ("irshape: disable-file=IR301", "IR201"),
        ("irshape: disable=IR404", "IR013 IR201 IR301"),
        ("irshape: disable=IR301,IR404", "IR013 IR201"),
        # nobody asks IR701, so nobody knows whether it is of use
        ("irshape: disable=IR701", "IR201 IR301"),
        ('<data shape="2,3": irshape: disable=IR301', "IR013 IR201 IR301"),  # another layer
        ("irshape: disable=IR777", "IR014 IR201 IR301"),
        ("irshape: disable", "IR014 IR201 IR301"),
        ("irshape: disable=IR301 because", "IR014 IR201 IR301"),
        ("irshape: enable=IR301", "IR014 IR201 IR301"),
        ("<edges: irshape: disable=IR301", "IR015 IR201 IR301"),
        ("<layers: irshape: disable=IR301", "IR015 IR201 IR301"),
        ("as irshape: disable=IR301 says", "IR201 IR301"),
        ("<net: irshape: disable=IR013 | irshape: disable=IR404", "IR013 IR201 IR301"),
    ],
)
def test_comments(tmp_path: Path, comments: str, expected: str) -> None:
    places = [re.fullmatch(r"(?s)(?:(<.*?): )?(.*)", each) for each in comments.split(" | ")]
    path = commented(faulty(), tmp_path, *((each[1] or "in", each[2]) for each in places if each))
    found = sorted(codes(str(path)))
    if " | " in comments:  # a comment about comments is not looked at twice
        assert {*expected.split()} - {"IR013"} <= {*found}
    else:
        assert found == expected.split()
    assert sorted(found.code for found in irshape.validate(path).diagnostics) == found
    assert sorted(codes("--ignore-comments", str(path))) == ["IR201", "IR301"]


def test_a_comment_in_a_layer_holds_for_its_bodies(tmp_path: Path) -> None:
    text = (EXAMPLES / "control_flow.xml").read_text()
    at = text.index("<then_body")
    inner = text.index('type="', text.index("<layer", at))
    broken = text[:inner] + 'colour="red" ' + text[inner:]
    path = tmp_path / "m.xml"
    path.write_text(broken)
    path.with_suffix(".bin").write_bytes((EXAMPLES / "control_flow.bin").read_bytes())
    assert codes("--select", "IR105", str(path)) == ["IR105"]
    outer = broken.index(">", broken.rindex("<layer", 0, broken.index("<then_body"))) + 1
    path.write_text(broken[:outer] + "<!-- irshape: disable=IR105 -->" + broken[outer:])
    assert codes("--select", "IR105,IR013", str(path)) == []


def test_a_comment_is_placed(tmp_path: Path) -> None:
    path = commented(faulty(), tmp_path, ("in", "irshape: disable=IR404"))
    (found,) = [found for found in irshape.validate(path).diagnostics if found.code == "IR013"]
    line = path.read_text().splitlines()[found.line - 1]
    assert line[found.column - 1 :].startswith("<!-- irshape: disable=IR404 -->")


def test_hostile_comments_cost_no_more_than_the_file(tmp_path: Path) -> None:
    """Thousands of comments, in one layer and in many: unknown codes, runs of blanks, no end."""
    net = Net()
    x = net.parameter("2,3", name="x")
    for _ in range(600):
        x = net.layer("ReLU", [x], 'colour="red"', outputs=["FP32:2,3"])
        known = "<!-- irshape: disable=IR301,IR4 -->" * 20
        unknown = f"<!--irshape: disable={'x-' * 50}{len(net.layers)}-->"
        net.layers[-1] = net.layers[-1].replace("<data", f"{known}{unknown}<data")
    endless = f"<!-- irshape:{' ' * 200_000}x! --><!-- irshape: disable=IR3{',IR3' * 50_000} -->"
    net.layers[1] = net.layers[1].replace("<data", f"{endless}<data")
    path = net.save(tmp_path)
    found = [one.code for one in irshape.validate(path).diagnostics]
    assert "IR301" not in found
    assert found.count("IR014") == 601
    assert found.count("IR013") == 600 * 20


# The baseline


def test_a_baseline_holds_back_what_is_known(model: Path, tmp_path: Path) -> None:
    status, output, error = call(str(model), "--baseline", "b.json", "--update-baseline")
    assert (status, "2 findings in the baseline" in error, "no errors" in output) == (0, True, True)
    known = [
        {"code": "IR201", "layer": "1", "port": "output:1"},
        {"code": "IR301", "layer": "1", "severity": "warning"},
    ]
    written = json.loads((tmp_path / "b.json").read_text())
    assert written == {"version": 1, "files": {"m.xml": known}}
    status, _, error = call(str(model), "--baseline", "b.json")
    assert (status, "hides 2 findings" in error) == (0, True)
    configuration = irshape.Configuration(baseline="b.json")
    assert irshape.validate(model, config=configuration).diagnostics == []


def test_a_baseline_survives_other_lines_and_sees_what_is_new(model: Path) -> None:
    call(str(model), "--baseline", "b.json", "--update-baseline")
    text = model.read_text()
    model.write_text(
        "<?xml version='1.0'?>\n\n\n" + text.partition("?>")[2].replace("<layers>", "\n\n<layers>")
    )
    assert codes(str(model), "--baseline", "b.json") == []
    model.write_text(text.replace('colour="red"', 'colour="red" taste="sweet"'))
    # one such finding is known, two are not
    assert codes(str(model), "--baseline", "b.json") == ["IR301"]
    model.write_text(text.replace('colour="red"', ""))
    status, _, error = call(str(model), "--baseline", "b.json")
    assert (status, "no longer occur: 1" in error) == (0, True)


@pytest.mark.parametrize(
    ("severity", "held"),
    [('"severity": "info", ', 0), ('"severity": "warning", ', 1), ("", 1)],
    ids=["an info", "a warning", "none, as irshape 0.1.0 wrote it"],
)
def test_an_entry_of_a_baseline_covers_findings_of_at_most_its_severity(
    severity: str, held: int, model: Path, tmp_path: Path
) -> None:
    entry = f'{{{severity}"code": "IR301", "layer": "1"}}'
    (tmp_path / "b.json").write_text(f'{{"version": 1, "files": {{"m.xml": [{entry}]}}}}')
    assert ("IR301" in codes(str(model), "--baseline", "b.json")) == (not held)


def test_a_baseline_does_not_hide_a_graver_finding(tmp_path: Path) -> None:
    config = tmp_path / "irshape.toml"
    config.write_text('baseline = "b.json"\n[policy]\nmax-tensor = "100MB"\n')
    found = []
    for shape, update in (("?,100", ["--update-baseline"]), ("1,100000000", [])):
        net = Net()
        net.result(net.parameter(shape))
        found.append(call(str(net.save(tmp_path)), "--config", str(config), *update)[0])
    assert found == [0, 1]


def test_updating_a_baseline_keeps_the_files_that_were_not_checked(
    model: Path, tmp_path: Path
) -> None:
    other = faulty().save(tmp_path, "other")
    gone = faulty().save(tmp_path, "gone")
    call(str(tmp_path), "--baseline", "b.json", "--update-baseline")
    gone.unlink()
    other.write_text(other.read_text().replace('colour="red"', ""))
    call(str(other), "--baseline", "b.json", "--update-baseline")
    files = json.loads((tmp_path / "b.json").read_text())["files"]
    assert {name: [row["code"] for row in rows] for name, rows in files.items()} == {
        "m.xml": ["IR201", "IR301"],
        "other.xml": ["IR201"],
    }


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "files": {}}',
        '{"version": 1, "files": []}',
        '{"version": 1, "files": {"m.xml": [{}]}}',
        "\0",
    ],
)
def test_a_baseline_that_is_none(model: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "b.json").write_text(content)
    status, output, error = call(str(model), "--baseline", "b.json")
    assert (status, output, "b.json" in error) == (2, "", True)


# The limit of errors


def test_max_errors(tmp_path: Path) -> None:
    for name in "abcd":
        faulty().save(tmp_path, name)
    status, output, error = call("--format", "json", "--max-errors", "2", str(tmp_path))
    report = json.loads(output)
    assert (status, report["summary"]["errors"], len(report["files"])) == (1, 2, 2)
    assert "stopped after 2 errors" in error
    assert "2 files not checked" in error
    again = call("--format", "json", "--max-errors", "2", "--jobs", "3", str(tmp_path))
    assert again[1:] == (output, error)
    assert call("--max-errors", "5", str(tmp_path))[2] == ""


def test_max_errors_within_a_file(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("2,3")
    for _ in range(3):
        net.result(net.layer("ReLU", [x], outputs=["FP32:2,4"]))
    path = str(net.save(tmp_path))
    assert [codes(path, "--max-errors", most).count("IR201") for most in "129"] == [1, 2, 3]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_only_ir_passes_over_other_xml(tmp_path: Path, jobs: str) -> None:
    other = tmp_path / "pom.xml"
    other.write_text("<project/>")
    model = faulty().save(tmp_path)
    assert sorted(codes("--only-ir", "--jobs", jobs, str(other), str(model))) == ["IR201", "IR301"]
    assert "IR003" in codes(str(other), str(model))
    assert call("--only-ir", str(other))[0] == 0


GRAPHS = Path(__file__).resolve().parents[1] / "formats" / "onednn" / "graphs"


def test_a_folder_is_searched_for_onednn_graphs_among_its_json(tmp_path: Path) -> None:
    faulty().save(tmp_path, "ir")
    others = {"config": '{"graph": {}}', "list": "[1]", "empty": "", "nested": '{"graph": [[1]]}'}
    for name, text in others.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "graph.json").write_bytes((GRAPHS / "clamp.json").read_bytes())

    def read(*paths: str) -> list[str]:
        output = call("--format", "json", *paths)[1]
        return sorted(Path(file["path"]).name for file in json.loads(output)["files"])

    everything = [str(path) for path in sorted(tmp_path.iterdir())]
    assert read(str(tmp_path)) == read("--only-ir", *everything) == ["graph.json", "ir.xml"]
    assert {f"{name}.json" for name in others} < set(read(*everything))
