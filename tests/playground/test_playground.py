"""The playground: the reports of the command line, in a page that makes no request."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

ROOT = Path(__file__).resolve().parents[2]
for folder in ("playground", "tests/hostile"):
    sys.path.insert(0, str(ROOT / folder))

import compare  # noqa: E402
import make_page  # noqa: E402
from attacks import ATTACKS  # noqa: E402
from view.browser import MISSING, Browser  # noqa: E402

EXAMPLES = ROOT / "examples"
PYODIDE = os.environ.get("IRSHAPE_PYODIDE")
"""The npm package `pyodide`, unpacked; without it, npm is asked."""
WHEELS = os.environ.get("IRSHAPE_WHEELS")
"""The wheels that read ONNX in the page; without it, PyPI is asked."""
needs_node = pytest.mark.skipif(
    compare.NODE is None or not (PYODIDE or shutil.which("npm")), reason="Node is not installed"
)
needs_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING or "a browser is there")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    pyodide = Path(PYODIDE) if PYODIDE else make_page.fetch(folder)
    wheels = Path(WHEELS) if WHEELS else make_page.fetch_wheels(folder)
    make_page.build(folder / "page", pyodide, wheels)
    return folder / "page"


def test_the_archive_is_the_package(tmp_path: Path) -> None:
    make_page.archive(tmp_path / "a.zip")
    make_page.archive(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = set(archive.namelist())
    assert {"playground.py", "irshape/__init__.py", "irshape/view/assets/main.js"} <= names
    assert not [name for name in names if "__pycache__" in name]


# The reports


class Sample(NamedTuple):
    """A file by its path in examples/, or an attack by its name."""

    path: str = ""
    attack: str = ""


SAMPLES = [
    Sample("recurrent.xml"),
    Sample("layers/wrong/keep_dims_forgotten.xml"),
    Sample("layers/wrong/end_tag_missing.xml"),
    Sample("../tests/formats/onnx/networks/resnet50.onnx"),
    Sample(attack="markup in a name"),
    Sample(attack="UTF-16"),
    Sample(attack="bodies in bodies"),
    Sample(attack="bodies in bodies, far too deep"),
    Sample(attack="a cycle of three thousand"),
    Sample(attack="JSON that nests"),
    Sample(attack="ONNX cut short"),
]
"""A few of those that `compare.py` compares."""


@needs_node
def test_reports_are_those_of_the_command_line(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IRSHAPE_DEBUG")
    with compare.Playground(page) as playground:
        for number, sample in enumerate(SAMPLES):
            (tmp_path / str(number)).mkdir()
            path = EXAMPLES / sample.path
            if sample.attack:
                path = ATTACKS[sample.attack].make(tmp_path / str(number))
            given = compare.Given(path.name, path)
            assert playground.validate(given).text == compare.printed(given).text, sample


# The page


class Served(NamedTuple):
    address: str
    requests: list[str]


@pytest.fixture(scope="module")
def served(page: Path) -> Iterator[Served]:
    requests: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            requests.append(str(arguments[0]))

    handler = functools.partial(Handler, directory=str(page))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Served(f"http://127.0.0.1:{server.server_port}/", requests)
        server.shutdown()


STATE = """return [document.getElementById('status').dataset.state,
document.getElementById('summary').textContent]"""


def wait(browser: Browser, about: str = "") -> None:
    """Waits until the page has done what it was asked.

    about: how what it shows begins then. A file is read before the page is busy.
    """
    ends = time.monotonic() + 600
    while time.monotonic() < ends:
        state, summary = browser.js(STATE)
        if state == "ready" and summary.strip().startswith(about):
            return
        time.sleep(0.05)
    raise AssertionError(browser.one("#stage").text)


def shown(browser: Browser, tab: str) -> str:
    browser.tab(tab)
    wait(browser)
    return browser.one("[role=tabpanel]:not([hidden])").text


DROP = """
const lists = [...arguments], later = (time) => new Promise(done => setTimeout(done, time));
async function dropped() {
  while (!document.ondrop) await later(20);  // the script of the page has not run yet
  for (const files of lists) {
    const data = new DataTransfer();
    for (const [name, text] of files) {
      data.items.add(new File([Uint8Array.from(atob(text), each => each.charCodeAt(0))], name));
    }
    document.getElementById("drop").dispatchEvent(
      new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
  }
  await later(0);
}
return dropped();
"""


def drop(browser: Browser, *drops: list[Path]) -> None:
    """Drops files on the page, each list at once after the one before it."""
    read = [
        [(path.name, base64.b64encode(path.read_bytes()).decode()) for path in paths]
        for paths in drops
    ]
    browser.js(DROP, *read)


@needs_node
@needs_browser
def test_what_a_person_does(browser: Browser, served: Served, tmp_path: Path) -> None:
    hostile = ATTACKS["markup in a name"].make(tmp_path)
    browser.driver.get(served.address)
    wait(browser)
    loaded = len(served.requests)

    text = (EXAMPLES / "layers" / "wrong" / "keep_dims_forgotten.xml").read_text()
    browser.js("document.getElementById('text').value = arguments[0]", text)
    browser.one("#check").click()
    wait(browser)
    assert "1 error" in browser.one("#summary").text
    assert "inferred [8,16,1,1]" in shown(browser, "findings")
    assert "15 |" in shown(browser, "findings")
    assert "+            <dim>1</dim>" in shown(browser, "fix")
    assert "ReduceMean" in shown(browser, "ports")
    shown(browser, "graph")
    browser.driver.switch_to.frame(browser.one("iframe"))
    assert browser.js("return document.documentElement.dataset.ready") == "yes"
    browser.driver.switch_to.default_content()

    files = [EXAMPLES / "recurrent.xml", EXAMPLES / "recurrent.bin"]
    browser.one("#files").send_keys("\n".join(map(str, files)))
    wait(browser, "recurrent.xml: ")
    assert browser.one("#summary").text.startswith("recurrent.xml: 0 errors")
    assert json.loads(shown(browser, "json"))["files"][0]["path"] == "recurrent.xml"

    drop(browser, [ROOT / "tests/formats/onnx/networks/resnet50.onnx"])
    wait(browser, "resnet50.onnx: ")
    assert browser.one("#summary").text.startswith("resnet50.onnx: 0 errors")
    assert "27 | <Reshape" in shown(browser, "findings")
    assert "Convolution" in shown(browser, "ports")

    browser.one("#files").send_keys(str(hostile))
    wait(browser, "m.xml, ")
    assert browser.one("#summary").text.startswith("m.xml, without a .bin: 0 errors")
    assert "<" in shown(browser, "ports")
    assert browser.all("#ports img, #ports script, #findings img, #findings script") == []

    for width in (375, 1280, 2560):
        browser.resize(width)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            assert browser.js("return document.documentElement.scrollWidth") <= width
    assert served.requests[loaded:] == []


WRONG = EXAMPLES / "layers" / "wrong"


def written(folder: Path, encoding: str) -> Path:
    """A layer whose ports are behind its keep_dims, in this encoding."""
    text = (WRONG / "keep_dims_forgotten.xml").read_text(encoding="utf-8")
    body = text[text.index("<layer") :]
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    path = folder / "layer.xml"
    path.write_bytes((declaration + body).encode(encoding))
    return path


@needs_node
@needs_browser
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_saved_file_is_the_corrected_model(
    browser: Browser, served: Served, tmp_path: Path, encoding: str
) -> None:
    path = written(tmp_path, encoding)
    saved = tmp_path / "saved" / path.name
    behaviour = {"behavior": "allow", "downloadPath": str(saved.parent)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    browser.driver.get(served.address)
    wait(browser)
    drop(browser, [path])
    wait(browser, path.name)
    assert "1 error" in browser.one("#summary").text
    shown(browser, "fix")
    browser.all("#fix a[download]")[0].click()
    ends = time.monotonic() + 60
    expected = irshape.fix(path).data
    # the browser makes an empty file first
    while not (saved.exists() and saved.stat().st_size >= len(expected)):
        assert time.monotonic() < ends
        time.sleep(0.05)
    assert saved.read_bytes() == expected
    assert irshape.validate(saved).ok
    drop(browser, [saved])
    wait(browser, f"{path.name}, without a .bin: 0 errors")


@needs_node
@needs_browser
def test_a_verdict_goes_with_its_model(browser: Browser, served: Served) -> None:
    wrong = [WRONG / "keep_dims_forgotten.xml"]
    right = [EXAMPLES / "recurrent.xml", EXAMPLES / "recurrent.bin"]
    browser.driver.get(served.address)
    # before Python has started, and one after the other
    drop(browser, wrong, right)
    wait(browser, "recurrent.xml: 0 errors")
    assert browser.texts(".finding.error") == []

    drop(browser, right, wrong)
    wait(browser, "keep_dims_forgotten.xml, ")
    assert len(browser.texts(".finding.error")) == 1
    assert json.loads(shown(browser, "json"))["files"][0]["path"] == wrong[0].name

    for spoil in ("two models", "no model", "other text"):
        drop(browser, wrong)
        wait(browser, "keep_dims_forgotten.xml, ")
        if spoil == "two models":
            drop(browser, [*wrong, right[0]])
        elif spoil == "no model":
            drop(browser, right[1:])
        else:
            browser.one("#text").send_keys("<layer/>")
        wait(browser)
        assert browser.texts("[role=tabpanel]:not([hidden])") == [], spoil
        assert "error" not in browser.one("#summary").text, spoil


@needs_node
@needs_browser
def test_requests_elsewhere_are_forbidden(browser: Browser, served: Served) -> None:
    """Neither the page nor its worker can send anything to another server."""
    browser.driver.get(served.address)
    ask = "const done = arguments[1]; fetch(arguments[0]).then(() => done('sent'), String)"
    answer = browser.driver.execute_async_script(
        ask.replace("String)", "(error) => done(String(error)))"), "https://example.org/"
    )
    assert "TypeError" in answer
    assert any("Content Security Policy" in text for text in browser.console())


@needs_node
def test_the_scripts_are_sound(page: Path) -> None:
    for script in ("app.mjs", "engine.mjs", "worker.mjs"):
        assert compare.NODE is not None
        subprocess.run([compare.NODE, "--check", page / script], check=True)
