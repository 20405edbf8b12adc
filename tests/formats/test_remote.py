"""Models behind URLs: servers of HTTP that behave and that do not, and fsspec's own memory."""

from __future__ import annotations

import contextlib
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import numpy as np
import pytest
from ir import Net

import irshape
from irshape.cli import main
from irshape.diagnostics import renderers
from irshape.execution.inputs import random_inputs
from irshape.formats import remote

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = ("encoder", "control_flow", "int8", "decoder")


class Content(NamedTuple):
    """A file of the server: its size, and its bytes from one place to another."""

    size: int
    part: Callable[[int, int], bytes]


def content(data: bytes) -> Content:
    return Content(len(data), lambda start, stop: data[start:stop])


class Server(ThreadingHTTPServer):
    """Serves `files`, in the way that the first part of the path says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, Content] = {}
        self.sent: dict[str, int] = {}
        """How many bytes of each file were sent."""
        self.requests = 0

    def url(self, manner: str, name: str, user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.server_port}/{manner}/{name}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_HEAD(self) -> None:
        self.answer(head=True)

    def do_GET(self) -> None:
        self.answer(head=False)

    def answer(self, *, head: bool) -> None:
        self.server.requests += 1
        _, manner, name = self.path.split("?")[0].split("/", 2)
        file = self.server.files.get(name)
        if manner == "redirect":
            self.redirect(self.path.replace("/redirect/", "/ranges/"))
        elif manner == "circle":
            self.redirect(self.path)
        elif manner == "forbidden":
            self.send_error(403)
        elif file is None:
            self.send_error(404)
        else:
            self.send(manner, name, file, head)

    def redirect(self, to: str) -> None:
        self.send_response(302)
        self.send_header("Location", to)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, manner: str, name: str, file: Content, head: bool) -> None:
        start, stop, status = 0, file.size, 200
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked and manner != "whole":
            start, stop, status = int(asked[1]), min(int(asked[2]) + 1, file.size), 206
        length = stop - start
        if length <= 0:
            self.send_error(416)
            return
        if manner == "longer":  # than what is sent
            length += 1000
        if manner == "parts" and status == 206:  # as multipart/byteranges, with heads of their own
            stop, length = min(stop + 20, file.size), min(stop + 20, file.size) - start
        if head and manner == "grows":
            length += 1 << 20
        self.send_response(status)
        if manner == "elsewhere":
            start, stop = 0, length
        if status == 206 and manner != "parts":
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{file.size}")
        if manner != "whole":
            self.send_header("Accept-Ranges", "bytes")
        if manner == "changes":
            self.send_header("ETag", f'"{self.server.requests}"')
        if manner not in ("endless", "lengthless"):
            self.send_header("Content-Length", str(length))
        self.end_headers()
        if head:
            return
        if manner == "slow":
            time.sleep(20)
        at = start
        while at < stop or manner == "endless":
            piece = file.part(at, min(at + (1 << 16), stop)) or b" " * (1 << 16)
            self.wfile.write(piece)
            self.server.sent[name] = self.server.sent.get(name, 0) + len(piece)
            at += len(piece)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in FILES:
            for suffix in (".xml", ".bin"):
                server.files[name + suffix] = content((EXAMPLES / f"{name}{suffix}").read_bytes())
        yield server
        server.shutdown()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "SECONDS", 2.0)
    monkeypatch.setattr(remote, "SILENCE", 0.5)


def call(*arguments: str) -> tuple[int, str]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        pytest.raises(SystemExit) as done,
    ):
        main(list(arguments))
    out.flush()
    return int(done.value.code or 0), out.buffer.getvalue().decode()  # type: ignore[attr-defined]


def findings(report: irshape.Report) -> list[dict[str, Any]]:
    (file,) = report.to_dict()["files"]
    return file["diagnostics"]


@pytest.mark.parametrize("manner", ["ranges", "whole", "redirect", "lengthless"])
@pytest.mark.parametrize("name", FILES)
def test_a_model_is_the_same_from_a_server(name: str, manner: str, server: Server) -> None:
    url, path = server.url(manner, f"{name}.xml"), EXAMPLES / f"{name}.xml"
    assert findings(irshape.validate(url)) == findings(irshape.validate(path))
    model, local = irshape.load(url), irshape.load(path)
    assert irshape.infer(model).to_dict()["layers"] == irshape.infer(local).to_dict()["layers"]
    assert model.path == url


@pytest.mark.parametrize(
    "command", ["validate", "infer", "requires", "run --random --seed 1 -f json", "query //layer"]
)
def test_commands_take_urls(command: str, server: Server) -> None:
    name, *options = command.split()
    first = [options.pop(0)] if name == "query" else []
    url, path = server.url("ranges", "encoder.xml"), str(EXAMPLES / "encoder.xml")
    there, here = (call(name, *first, place, *options) for place in (url, path))
    assert there[0] == here[0] == 0, there[1]
    assert there[1].replace(url, path) == here[1]


def test_of_four_gigabytes_little_is_read(server: Server, tmp_path: Path) -> None:
    """Shape constants lie apart, each among a gigabyte of weights."""
    net = Net()
    data = net.parameter("2,3,4")
    patterns = {}
    for number in range(8):
        where = number * (1 << 29) + 4096
        values = np.array([2, 12] if number % 2 else [6, 4], np.int64)
        patterns[where] = values.tobytes()
        pattern = net.layer(
            "Const",
            [],
            f'element_type="i64" shape="2" offset="{where}" size="16"',
            outputs=["I64:2"],
        )
        shape = ",".join(map(str, values))
        data = net.layer(
            "Reshape", [data, pattern], 'special_zero="false"', outputs=[f"FP32:{shape}"]
        )
        net.layer(
            "Const",
            [],
            f'element_type="f32" shape="1000,1000" offset="{where + 64}" size="4000000"',
            outputs=["FP32:1000,1000"],
        )
    net.result(data)
    text = net.save(tmp_path).read_bytes()

    def part(start: int, stop: int) -> bytes:
        found = bytearray(stop - start)
        for where, values in patterns.items():
            for at, byte in enumerate(values, where):
                if start <= at < stop:
                    found[at - start] = byte
        return bytes(found)

    server.files["large.xml"] = content(text)
    server.files["large.bin"] = Content(4 << 30, part)
    report = irshape.validate(server.url("ranges", "large.xml"))
    assert [each for each in findings(report) if each["severity"] != "info"] == []
    model = irshape.load(server.url("ranges", "large.xml"))
    shapes = [layer["outputs"][0]["shape"] for layer in irshape.infer(model).to_dict()["layers"]]
    assert shapes[-1] == "[2,12]"
    assert server.sent["large.bin"] < 1000
    status, output = call("validate", server.url("whole", "large.xml"))
    assert status == 1
    assert "does not support range requests" in output
    assert server.sent["large.bin"] < 1 << 24


class Refusal(NamedTuple):
    manner: str
    says: str
    name: str = "encoder.xml"


REFUSALS = {
    "absent": Refusal(manner="ranges", name="nothing.xml", says="no such file"),
    "forbidden": Refusal(manner="forbidden", says="the server answered with HTTP status 403"),
    "redirects in a circle": Refusal(manner="circle", says="redirects more than 5 times"),
    "slow": Refusal(manner="slow", says="took too long"),
    "less than promised": Refusal(manner="longer", says="fewer bytes"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_a_server_does_wrong_is_said(
    name: str, server: Server, request: pytest.FixtureRequest
) -> None:
    case = REFUSALS[name]
    if case.manner == "slow":
        request.getfixturevalue("impatient")
    url = server.url(case.manner, case.name, "user:secret@") + "?signature=secret"
    status, output = call("validate", url)
    assert status == 2
    assert case.says in output
    assert server.url(case.manner, case.name) in output
    assert "secret" not in output
    assert "Traceback" not in output
    with pytest.raises(OSError, match=re.escape(case.says)) as refused:
        irshape.load(url)
    assert "secret" not in str(refused.value)
    # with others, it is one finding among theirs
    status, output = call("validate", url, str(EXAMPLES / "int8.xml"), "-f", "json")
    assert status == 2
    assert [
        [found["code"] for found in file["diagnostics"] if found["severity"] == "error"]
        for file in json.loads(output)["files"]
    ] == [["IR012"], []]
    assert "secret" not in output


def test_an_endless_file_ends(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irshape.formats.loading.MAX_XML_BYTES", 1 << 20)
    status, output = call("validate", server.url("endless", "encoder.xml"))
    assert status == 1
    assert "larger than 1048576 bytes" in output
    assert server.sent["encoder.xml"] < 1 << 24


def test_a_bin_that_is_smaller_than_said(server: Server) -> None:
    """The server says one size and has another."""
    server.files["shrunk.xml"] = server.files["encoder.xml"]
    whole = server.files["encoder.bin"]
    server.files["shrunk.bin"] = Content(
        whole.size, lambda start, stop: whole.part(start, stop - 1)
    )
    status, output = call("validate", server.url("grows", "shrunk.xml"))
    assert status in (1, 2)
    assert "Traceback" not in output
    assert "shorter than the server said" in output


@pytest.mark.parametrize(
    ("manner", "says"),
    [
        ("elsewhere", "does not send the bytes"),
        ("parts", "does not send the bytes"),
        ("changes", "the file changed while"),
    ],
)
def test_what_is_no_part_of_a_bin_is_not_taken_for_one(
    manner: str, says: str, server: Server
) -> None:
    server.files["same.xml"] = server.files["encoder.xml"]
    whole = server.files["encoder.bin"]
    server.files["same.bin"] = Content(
        whole.size + 100, lambda start, stop: whole.part(start, stop).ljust(stop - start)
    )
    status, output = call("validate", server.url(manner, "same.xml"))
    assert status in (1, 2)
    assert says in output
    assert "IR405" not in output


def test_credentials_reach_no_report(server: Server) -> None:
    url = server.url("ranges", "encoder.xml", "user:secret@") + "?signature=secret"
    for form in renderers.formats():
        status, output = call("validate", url, "-f", form, "-v")
        assert status == 0, output
        assert "secret" not in output, form
    assert "secret" not in json.dumps(irshape.validate([url, url]).to_dict())


def test_no_bin_beside_it(server: Server) -> None:
    server.files["alone.xml"] = server.files["encoder.xml"]
    (found, *_) = findings(irshape.validate(server.url("ranges", "alone.xml")))
    assert found["code"] == "IR501"
    assert "alone.bin" in found["message"]


@pytest.fixture
def memory() -> Iterator[str]:
    """A folder of fsspec's memory with two models and a file that is no model."""
    files = fsspec.filesystem("memory")
    for name in ("encoder.xml", "encoder.bin", "int8.xml", "int8.bin"):
        files.pipe(f"/models/{name}", (EXAMPLES / name).read_bytes())
    files.pipe("/models/notes.txt", b"none")
    yield "memory://models"
    files.rm("/models", recursive=True)


def test_folders_and_patterns(memory: str) -> None:
    for place, names in (
        (f"{memory}/", ["encoder.xml", "int8.xml"]),
        (memory, ["encoder.xml", "int8.xml"]),
        (f"{memory}/int*.xml", ["int8.xml"]),
        (f"{memory}/int8.xml", ["int8.xml"]),
    ):
        status, output = call("validate", place, "-f", "json")
        assert status == 0, output
        paths = [file["path"] for file in json.loads(output)["files"]]
        assert [path.rpartition("/")[2] for path in paths] == names
        assert all(path.startswith("memory://") for path in paths)


TAKES_ONE_MODEL = (
    irshape.validate,
    irshape.load,
    irshape.infer,
    irshape.fix,
    irshape.requires,
    irshape.crosscheck,
    irshape.inspect,
    irshape.Graph.load,
    lambda path: irshape.diff(path, path),
    lambda path: irshape.compare(path, path),
    lambda path: irshape.reduce(path, lambda model: True),
)


@pytest.mark.parametrize("function", TAKES_ONE_MODEL)
def test_a_folder_in_python(memory: str, tmp_path: Path, function: Callable[[str], Any]) -> None:
    (tmp_path / "int8.xml").write_bytes((EXAMPLES / "int8.xml").read_bytes())
    largest = r"is a folder.* such as \S*"
    for folder, model in (
        (memory, "models/encoder.xml"),
        (f"{memory}/", "models/encoder.xml"),
        (tmp_path.as_uri(), "int8.xml"),
        (str(tmp_path), "int8.xml"),
    ):
        with pytest.raises(IsADirectoryError, match=largest + model):
            function(folder)


def test_one_part_at_a_time(memory: str) -> None:
    model = irshape.load(f"{memory}/encoder.xml")
    outputs = irshape.run(model, random_inputs(model, seed=1))
    local = irshape.load(EXAMPLES / "encoder.xml")
    for name, array in irshape.run(local, random_inputs(local, seed=1)).items():
        np.testing.assert_array_equal(outputs[name], array)


class Mistake(NamedTuple):
    url: str
    says: str


MISTAKES = {
    "protocol": Mistake(url="gopher://host/model.xml", says="no such protocol"),
    "chained": Mistake(url="simplecache://m.xml::memory://m.xml", says="chained URLs"),
    "a folder of HTTP": Mistake(url="http://127.0.0.1:9/models/", says="does not list its files"),
    "nothing there": Mistake(url="memory://nowhere/", says="no IR at"),
    "no server": Mistake(url="http://127.0.0.1:9/m.xml", says="cannot be reached"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_url(name: str) -> None:
    case = MISTAKES[name]
    status, output = call("validate", case.url)
    assert (status, "Traceback" in output) == (2, False)
    assert case.says in output


def test_nothing_is_written_to_a_url(server: Server) -> None:
    url = server.url("ranges", "encoder.xml")
    assert call("fix", url)[0] == 0
    status, output = call("fix", url, "--in-place")
    assert status == 2
    assert "cannot be changed in place" in output
