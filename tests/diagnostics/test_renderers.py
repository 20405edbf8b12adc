"""Every format over the one set of findings: snapshots, schemas or readers, hostile text.

`UPDATE_SNAPSHOTS=1 python -m pytest tests/diagnostics` writes the snapshots anew; look at the
difference before committing it.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import jsonschema
import pytest
from junitparser import JUnitXml

import irshape
from diagnostics.findings import CLASSIFIER, HOSTILE, fixed_page, fixed_report, hostile_report
from irshape.diagnostics.renderers import FOR_MACHINES, Options, common, formats, render
from irshape.diagnostics.report import Diagnostic, FileReport, Report
from irshape.model.source import Source

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "schemas"
ENDINGS = {
    "markdown": "md",
    "text": "txt",
    "concise": "concise.txt",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "junit": "junit.xml",
}


@pytest.fixture(autouse=True)
def _fixed_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "rule_page", fixed_page)


def schema(name: str) -> dict[str, object]:
    read = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    assert isinstance(read, dict)
    return read


# Snapshots

STYLE_OR_SCRIPT = re.compile(
    r"(?<=<style>).+?(?=</style>)|(?<=<script>).+?(?=</script>)", re.DOTALL
)
"""What a page copies from its own files."""


@pytest.mark.parametrize(
    ("form", "options"),
    [*((form, Options()) for form in formats()), ("text", Options(colour=True, infos=False))],
    ids=str,
)
def test_snapshot(form: str, options: Options) -> None:
    path = (
        HERE
        / "snapshots"
        / f"report{'.colour' if options.colour else ''}.{ENDINGS.get(form, form)}"
    )
    written = render(fixed_report(), form, options).replace(irshape.__version__, "VERSION")
    written = STYLE_OR_SCRIPT.sub("…", written)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(written, encoding="utf-8")
    assert path.exists(), (
        f"no snapshot of {form}: UPDATE_SNAPSHOTS=1 python -m pytest tests/diagnostics"
    )
    assert written == path.read_text(encoding="utf-8")


LINE_FORMATS = ("concise", "github", "jsonl")
"""The formats that write a line for each finding, and nothing else."""


@pytest.mark.parametrize("form", formats())
def test_a_report_is_written_the_same_every_time_and_an_empty_one_too(form: str) -> None:
    assert render(fixed_report(), form) == render(fixed_report(), form)
    nothing = render(Report([FileReport("clean.xml", 3, [])]), form)
    if form in LINE_FORMATS:
        assert nothing == ""
    else:
        assert nothing.endswith("\n"), "LINE_FORMATS lists the formats that have a line a finding"
    assert isinstance(render(Report([]), form), str)


def test_a_name_that_is_no_format_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        render(fixed_report(), "nothing")


# Schemas and readers


@pytest.mark.parametrize("report", [fixed_report, hostile_report])
@pytest.mark.parametrize(
    ("form", "name"), [("json", "report"), ("gitlab", "gitlab"), ("sarif", "sarif")]
)
def test_json_formats_fit_their_schemas(report: type[Report], form: str, name: str) -> None:
    jsonschema.validate(json.loads(render(report(), form)), schema(name))


@pytest.mark.parametrize("report", [fixed_report, hostile_report])
def test_each_line_fits_its_schema(report: type[Report]) -> None:
    lines = render(report(), "jsonl").split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(report().diagnostics)
    for line in lines:
        jsonschema.validate(json.loads(line), schema("finding"))


@pytest.mark.skipif(
    "SARIF_SCHEMA" not in os.environ,
    reason="SARIF_SCHEMA names no copy of OASIS' sarif-schema-2.1.0.json",
)
@pytest.mark.parametrize("report", [fixed_report, hostile_report])
def test_sarif_fits_the_schema_of_the_standard(report: type[Report]) -> None:
    official = json.loads(Path(os.environ["SARIF_SCHEMA"]).read_text())
    jsonschema.Draft4Validator(official).validate(json.loads(render(report(), "sarif")))


def test_json_has_every_field_of_the_contract() -> None:
    report = json.loads(render(fixed_report(), "json"))
    assert list(report) == ["version", "files", "summary"]
    assert report["summary"] == {"files": 4, "errors": 4, "warnings": 3, "infos": 1}
    assert [list(file) for file in report["files"]] == [["path", "layers", "diagnostics"]] * 4
    fields = [
        "code",
        "rule",
        "severity",
        "message",
        "line",
        "column",
        "layer",
        "port",
        "expected",
        "actual",
        "help",
    ]
    found = [one for file in report["files"] for one in file["diagnostics"]]
    assert [list(one) for one in found] == [fields] * 8
    assert found[5]["layer"] == {
        "id": "1",
        "name": "平方 square",
        "type": "Multiply",
        "opset": "opset1",
        "path": ["5", "then_body"],
    }
    assert found[5]["port"] == {"direction": "output", "id": "2"}


def test_sarif_rules_and_fingerprints() -> None:
    run = json.loads(render(fixed_report(), "sarif"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["IR001", "IR104", "IR201", "IR202", "IR301", "IR504"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert not any("helpUri" in rule for rule in rules)
    marks = [result["partialFingerprints"]["ruleAndLayer/v1"] for result in run["results"]]
    assert len(set(marks)) == len(marks)
    assert run["results"][6]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "models/br%C3%B6ken%20%3Cb%3E%7C%60%26.xml",
        "uriBaseId": "%SRCROOT%",
    }


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_fingerprints_stay_when_lines_move(form: str) -> None:
    def marks(report: Report) -> list[str]:
        read = json.loads(render(report, form))
        return (
            [row["fingerprint"] for row in read]
            if form == "gitlab"
            else [row["partialFingerprints"] for row in read["runs"][0]["results"]]
        )

    report = fixed_report()
    moved = [
        file._replace(
            diagnostics=[
                found._replace(line=found.line + 7, message=found.message + "!")
                for found in file.diagnostics
            ]
        )
        for file in report.files
    ]
    assert marks(report) == marks(Report(moved))


def test_a_file_given_twice_has_fingerprints_of_its_own() -> None:
    marks = [
        row["fingerprint"] for row in json.loads(render(Report(fixed_report().files * 2), "gitlab"))
    ]
    assert len(set(marks)) == len(marks) == 16


@pytest.mark.parametrize(("level", "failures"), [("error", 4), ("warning", 7), ("info", 8)])
def test_junit_is_read_by_a_reader(tmp_path: Path, level: str, failures: int) -> None:
    path = tmp_path / "report.xml"
    path.write_text(render(fixed_report(), "junit", Options(fail_level=level)), encoding="utf-8")  # type: ignore[arg-type]
    known = {
        "testsuites": {"name", "tests", "failures", "errors", "time"},
        "testsuite": {"name", "file", "tests", "failures", "errors", "skipped", "time"},
        "testcase": {"classname", "name", "time"},
        "failure": {"message", "type"},
        "system-out": set(),
    }
    for element in ElementTree.parse(path).iter():
        assert set(element.attrib) == known[element.tag]
    suites = list(JUnitXml.fromfile(str(path)))
    assert [suite.name for suite in suites] == [file.path for file in fixed_report().files]
    assert [suite.tests for suite in suites] == [6, 1, 1, 1]
    assert sum(suite.failures for suite in suites) == failures
    assert sum(not case.is_passed for suite in suites for case in suite) == failures
    for suite in suites:
        names = [(case.classname, case.name) for case in suite]
        assert len(set(names)) == len(names)


def test_annotations_undo_to_what_was_found() -> None:
    def undone(text: str) -> str:
        for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            text = text.replace(code, char)
        return text

    report = fixed_report()
    lines = render(report, "github").splitlines()
    assert len(lines) == 8
    for line, (file, found) in zip(
        lines, [(one, found) for one in report.files for found in one.diagnostics], strict=True
    ):
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert match is not None
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        assert undone(properties["file"]) == file.path
        assert (properties["line"], properties["col"]) == (str(found.line), str(found.column))
        assert (
            undone(match[3]).splitlines()[0]
            == f"{file.path}:{found.line}:{found.column}: {found.code} {found.message}"
        )


def test_infos_are_left_out_where_asked() -> None:
    for form in ("text", "concise", "github"):
        assert "IR504" in render(fixed_report(), form)
        assert "IR504" not in render(fixed_report(), form, Options(infos=False))
    assert "1 info (shown with --verbose)" in render(fixed_report(), "text", Options(infos=False))


class Fixable(NamedTuple):
    safe: int
    unsafe: int
    without: int
    last: str


FIXABLE = {
    "none": Fixable(0, 0, 40, "1 file, 1 layer: 40 errors"),
    "safe": Fixable(
        1, 0, 2, "`irshape fix --in-place` can fix 1 finding (shown with --show-fixes)"
    ),
    "unsafe": Fixable(
        0,
        2,
        0,
        "`irshape fix --in-place --unsafe-fixes` can fix 2 findings (shown with --show-fixes)",
    ),
    "both": Fixable(
        3,
        1,
        0,
        "`irshape fix --in-place` can fix 3 findings, --unsafe-fixes 1 more "
        "(shown with --show-fixes)",
    ),
}


@pytest.mark.parametrize("name", FIXABLE)
def test_the_last_line_says_what_fix_does(name: str) -> None:
    case = FIXABLE[name]
    plain = Diagnostic("IR201", "output-shape-mismatch", "error", "declared [2]", 1, 1)
    edit = {"line": 1, "column": 1, "end_line": 1, "end_column": 1, "text": "1"}
    safe, unsafe = (
        plain._replace(fixes=({"change": "a change", "safe": sure, "edits": [edit]},))
        for sure in (True, False)
    )
    found = [safe] * case.safe + [unsafe] * case.unsafe + [plain] * case.without
    text = render(Report([FileReport("a.xml", 1, found)]), "text")
    assert text.splitlines()[-1] == case.last


def test_paths_are_written_from_the_root_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = Diagnostic("IR101", "duplicate-id", "error", "twice", 1, 1)
    paths = [str(tmp_path / "a b.xml"), "./c.xml", "../out.xml", "/elsewhere/d.xml", "<stdin>"]
    report = Report([FileReport(path, 1, [one]) for path in paths])
    options = Options(root=str(tmp_path))
    assert [row["location"]["path"] for row in json.loads(render(report, "gitlab", options))] == [
        "a b.xml",
        "c.xml",
        "../out.xml",
        "/elsewhere/d.xml",
        "<stdin>",
    ]
    uris = [
        row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for row in json.loads(render(report, "sarif", options))["runs"][0]["results"]
    ]
    assert uris == ["a%20b.xml", "c.xml", "../out.xml", "file:///elsewhere/d.xml", "%3Cstdin%3E"]


# Size


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from irshape.diagnostics.renderers import as_html, as_markdown, as_sarif

    monkeypatch.setattr(as_sarif, "MAX_RESULTS", 5)
    monkeypatch.setattr(as_html, "MAX_FINDINGS", 5)
    run = json.loads(render(fixed_report(), "sarif"))["runs"][0]
    assert [result["level"] for result in run["results"]] == [
        "warning",
        "error",
        "error",
        "error",
        "error",
    ]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith(
        "3 least severe findings"
    )
    assert "3 least severe findings" in render(fixed_report(), "html")
    short = as_markdown.render(fixed_report(), Options(), 900)
    assert len(short.encode()) < 1000
    assert re.search(r"\n\d more findings .*\n\Z", short)


# The page


class Outline(HTMLParser):
    """What a lenient reader of HTML makes of a page: its tags, and whether they close in order."""

    VOID = ("meta", "input")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert tag in self.VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("report", [fixed_report, hostile_report])
def test_the_page_is_well_formed_and_fetches_nothing(report: type[Report]) -> None:
    page = render(report(), "html")
    tree = ElementTree.fromstring(page)
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert [tag for tag, _ in outline.tags] == [
        element.tag.rpartition("}")[2] for element in tree.iter()
    ]
    tags = {tag for tag, _ in outline.tags}
    assert tags.isdisjoint({"img", "iframe", "link", "object", "embed", "base"})
    assert sum(tag == "script" for tag, _ in outline.tags) == 1
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in outline.tags:
        assert not any(name.startswith("on") or name == "src" for name in attributes)
        link = attributes.get("href")
        assert link is None or (link.startswith("#") and link[1:] in ids)
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)
    assert script is not None
    assert f"sha256-{base64.b64encode(sha256(script[1].encode()).digest()).decode()}" in page
    assert page.count('class="finding') == len(report().diagnostics)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on this machine")
@pytest.mark.parametrize("report", [fixed_report, hostile_report])
def test_a_browser_reads_the_page_as_it_is_meant(tmp_path: Path, report: type[Report]) -> None:
    """The script runs under the page's own policy; the browser builds the tree that was written."""
    written = render(report(), "html")
    (tmp_path / "page.html").write_text(written, encoding="utf-8")
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync"
    )
    command = [
        "chromium",
        *options.split(),
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        (tmp_path / "page.html").as_uri(),
    ]
    seen = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=600, check=True
    ).stdout
    assert '<label class="search">' in seen  # shown by the script
    assert '<label class="search" hidden="">' in written
    assert len(re.findall(r"<[a-z]", re.sub(r"(?s)<script>.*</script>", "", seen))) == len(
        re.findall(r"<[a-z]", re.sub(r"(?s)<script>.*</script>", "", written))
    )


# Hostile text


@pytest.mark.parametrize("form", formats())
def test_no_control_reaches_the_reader(form: str) -> None:
    for line in render(hostile_report(), form).split("\n"):
        assert all(char.isprintable() for char in line), form
        assert "##[" not in line or form in ("json", "jsonl", "gitlab", "sarif")
        assert not line.startswith("::error::")


def test_lines_of_a_log_stay_lines() -> None:
    report = hostile_report()
    assert len(render(report, "concise").splitlines()) == 3
    assert len(render(report, "github").splitlines()) == 3
    assert [line.partition(" ")[0] for line in render(report, "github").splitlines()] == [
        "::error",
        "::warning",
        "::notice",
    ]
    named = Report([FileReport("::error::x.xml", 1, report.files[0].diagnostics)])
    assert not any(
        line.startswith("::")
        for form in ("text", "concise")
        for line in render(named, form).splitlines()
    )


def test_markdown_names_and_links_nobody() -> None:
    written = render(hostile_report(), "markdown")
    rows = [line for line in written.splitlines() if line.startswith("|")]
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 4, row
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\`", "", written))
    assert "@all" not in outside
    assert "](" not in outside
    assert "://" not in outside
    assert not re.search(r"<(?!br>|!-- -->)", outside)


def test_json_holds_the_text_itself() -> None:
    found = json.loads(render(hostile_report(), "json"))["files"][0]
    assert (
        found["path"]
        == found["diagnostics"][0]["message"]
        == found["diagnostics"][0]["layer"]["name"]
        == HOSTILE
    )


def test_a_path_that_is_no_text_is_written() -> None:
    path = os.fsdecode(b"m\xff.xml")
    report = Report(
        [FileReport(path, 1, [Diagnostic("IR101", "duplicate-id", "error", path, 1, 1)])]
    )
    for form in formats():
        render(report, form).encode("utf-8", "backslashreplace")
    assert "m%FF.xml" in render(report, "sarif")


# The line of XML


@pytest.mark.parametrize(
    ("line", "at", "text", "caret"),
    [
        ('  <port id="2">', "<", '<port id="2">', 0),
        ('\t<layer name="中文" id="2">', "id", '<layer name="中文" id="2">', 19),
        ('<layer name="\x1b" id="2">', "id", '<layer name="\\x1b" id="2">', 19),
        ("<a>" + "x" * 300 + '<b c="1"/>', "<b", "…" + "x" * 150 + '<b c="1"/>', 151),
        ("<a " + "x" * 300, "<", "<a " + "x" * 157 + "…", 0),
    ],
)
def test_the_caret_stands_below_its_place(line: str, at: str, text: str, caret: int) -> None:
    source = Source("m.xml", f"<net>\n{line}\n".encode())
    found = Diagnostic("IR101", "duplicate-id", "error", "", 2, line.index(at) + 1)
    seen = common.excerpt(FileReport("m.xml", 1, [found], source), found)
    assert seen is not None
    assert (seen.text, seen.caret) == (text, caret)


@pytest.mark.parametrize("data", [b"", b"  \n", b"\x08\x07\0onnx"])
def test_what_is_no_line_of_text_is_not_shown(data: bytes) -> None:
    found = Diagnostic("IR101", "duplicate-id", "error", "", 1, 1)
    assert common.excerpt(FileReport("m.xml", 1, [found], Source("m.xml", data)), found) is None
    assert common.excerpt(FileReport("m.xml", 1, [found]), found) is None


def test_the_fixed_set_is_an_ir_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "classifier.xml"
    path.write_text(CLASSIFIER, encoding="utf-8")
    (tmp_path / "classifier.bin").write_bytes(bytes(432))
    codes = {found.code for found in irshape.validate(path).diagnostics}
    assert {"IR201", "IR202"} <= codes


@pytest.mark.parametrize("form", FOR_MACHINES)
def test_infos_after_which_nothing_need_be_done(form: str, tmp_path: Path) -> None:
    """Where every finding asks for attention, they are told only where infos are asked for."""
    path = tmp_path / "classifier.xml"
    path.write_text(CLASSIFIER, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(bytes(440))  # 8 bytes more than the constants have
    report = irshape.validate(path)
    assert "IR504" in {each.code for each in report.diagnostics}
    assert "IR504" not in render(report, form, Options(infos=False))
    assert "IR504" in render(report, form, Options(infos=True))
