"""Measures models behind servers: the tables in docs/remote.md.

    python tests/formats/measure_remote.py http MODEL.xml... [--size 4e9] [--delay 0.05]
    python tests/formats/measure_remote.py s3 MODEL.xml...    # needs moto[server] and s3fs
    python tests/formats/measure_remote.py hf MODEL.xml...    # needs huggingface_hub

`http`: the constants of each model are spread over a sparse .bin of `--size` bytes, in their order,
as if the weights between them were so much larger. A server of aiohttp in a process of its own
serves it, and counts what it sends; `--delay` is how long it waits before each answer, in seconds.
`irshape validate` reads it from there and from the disk, each in a process of its own.

`s3` and `hf` serve the models as they are: from moto's server of the S3 protocol, and from a server
that answers the requests of huggingface_hub as the hub does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

HERE = Path(__file__).resolve()


def spread(model: Path, folder: Path, size: int) -> Path:
    """The model with its constants moved apart in a sparse .bin of `size` bytes."""
    data = model.with_suffix(".bin").read_bytes()
    factor = max(size // (len(data) + 1), 1)
    with (folder / f"{model.stem}.bin").open("wb") as file:
        file.truncate(max(size, len(data)))

        def moved(match: re.Match[str]) -> str:
            offset, length = int(match[1]), int(match[2])
            file.seek(offset * factor)
            file.write(data[offset : offset + length])
            return f'offset="{offset * factor}" size="{length}"'

        text = re.sub(r'offset="(\d+)" size="(\d+)"', moved, model.read_text(encoding="utf-8"))
    path = folder / model.name
    path.write_text(text, encoding="utf-8")
    return path


# servers


def serve(folder: Path, delay: float, hub: bool) -> None:
    """Serves a folder, at a port that it prints first; `/sent` says what it has sent."""
    sent: dict[str, list[int]] = {}

    @web.middleware
    async def wait(request: web.Request, handler: Any) -> web.StreamResponse:
        await asyncio.sleep(delay)
        response: web.StreamResponse = await handler(request)
        return response

    async def count(request: web.Request, response: web.StreamResponse) -> None:
        if request.method == "GET" and isinstance(response, web.FileResponse):
            size = int(response.headers["Content-Length"])
            sent.setdefault(request.path.rpartition("/")[2], []).append(size)

    async def report(_: web.Request) -> web.Response:
        return web.json_response({name: [len(all), sum(all)] for name, all in sent.items()})

    app = web.Application(middlewares=[wait])
    app.on_response_prepare.append(count)
    app.router.add_get("/sent", report)
    if hub:
        _answer_as_the_hub(app, folder)
    else:
        app.router.add_static("/", folder)

    async def run() -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())


def _answer_as_the_hub(app: web.Application, folder: Path) -> None:
    """What huggingface_hub asks for one repository, `OpenVINO/models` at its `main`."""
    repository, commit = "OpenVINO/models", "0" * 40

    def entry(path: Path) -> dict[str, Any]:
        size = path.stat().st_size
        return {"type": "file", "path": path.name, "size": size, "oid": f"{size:040x}"}

    async def info(_: web.Request) -> web.Response:
        siblings = [{"rfilename": path.name} for path in sorted(folder.iterdir())]
        return web.json_response({"id": repository, "sha": commit, "siblings": siblings})

    async def tree(_: web.Request) -> web.Response:
        return web.json_response([entry(path) for path in sorted(folder.iterdir())])

    async def paths_info(request: web.Request) -> web.Response:
        asked = await request.post() if request.content_type != "application/json" else None
        names = asked.getall("paths") if asked is not None else (await request.json())["paths"]
        paths = [folder / str(name) for name in names]
        return web.json_response([entry(path) for path in paths if path.is_file()])

    async def resolve(request: web.Request) -> web.StreamResponse:
        path = folder / request.match_info["name"]
        if not path.is_file():
            return web.Response(status=404, headers={"X-Error-Code": "EntryNotFound"})
        headers = {"X-Repo-Commit": commit, "ETag": f'"{path.stat().st_size:040x}"'}
        return web.FileResponse(path, headers=headers)

    api = f"/api/models/{repository}"
    app.router.add_get(api, info)
    app.router.add_get(api + "/revision/{revision}", info)
    app.router.add_get(api + "/tree/{revision}", tree)
    app.router.add_get(api + "/tree/{revision}/{path:.*}", tree)
    app.router.add_post(api + "/paths-info/{revision}", paths_info)
    app.router.add_get("/" + repository + "/resolve/{revision}/{name}", resolve)


@contextmanager
def served(folder: Path, delay: float = 0.0, hub: bool = False) -> Iterator[str]:
    """The address of a server for a folder, in a process of its own."""
    command = [sys.executable, str(HERE), "serve", str(folder), "--delay", str(delay)]
    with subprocess.Popen(
        [*command, *(["--hub"] if hub else [])], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


# measuring


def validated(path: str, environment: Mapping[str, str] = {}) -> tuple[float, Any]:
    """`irshape validate PATH` as a process: its seconds, and what it reports."""
    command = [sys.executable, "-m", "irshape", "validate", "--no-cache", "-f", "json", path]
    begin = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    seconds = time.perf_counter() - begin
    if not done.stdout:
        raise SystemExit(done.stderr)
    files = json.loads(done.stdout)["files"]
    return seconds, sorted(
        ((file["path"].rpartition("/")[2], file["layers"], file["diagnostics"]) for file in files),
        key=lambda row: row[0],
    )


def measure_http(models: list[Path], size: int, delay: float) -> bool:
    """Prints a row for each model; whether all reports are the same as those of the disk."""
    import urllib.request

    same = True
    print(
        "| model | layers | .bin | read of .xml | read of .bin | requests | there | here | same |"
    )
    print("|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as name, served(Path(name), delay) as address:
        for model in models:
            path = spread(model, Path(name), size)
            here, local = validated(str(path))
            there, remote = validated(f"{address}/{path.name}")
            with urllib.request.urlopen(f"{address}/sent") as answer:
                sent = json.load(answer)
            xml, binary = (sent.get(path.with_suffix(s).name, [0, 0]) for s in (".xml", ".bin"))
            cells = (
                path.stem,
                f"{local[0][1]:,}",
                f"{path.with_suffix('.bin').stat().st_size:,}",
                f"{xml[1]:,}",
                f"{binary[1]:,}",
                xml[0] + binary[0],
                f"{there:.2f} s",
                f"{here:.2f} s",
                "yes" if remote == local else "no",
            )
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
            same = same and remote == local
    return same


def measure_s3(models: list[Path]) -> bool:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(port=0)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    environment = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    os.environ.update(environment)
    client = boto3.client("s3")
    client.create_bucket(Bucket="models")
    for model in models:
        for path in (model, model.with_suffix(".bin")):
            client.upload_file(str(path), "models", f"here/{path.name}")
    same = _compare(models, "s3://models/here/", environment)
    server.stop()
    return same


def measure_hf(models: list[Path]) -> bool:
    with tempfile.TemporaryDirectory() as name:
        for model in models:
            for path in (model, model.with_suffix(".bin")):
                shutil.copy(path, name)
        with served(Path(name), hub=True) as address:
            environment = {"HF_ENDPOINT": address, "HF_HUB_DISABLE_XET": "1"}
            return _compare(models, "hf://OpenVINO/models/", environment)


def _compare(models: list[Path], place: str, environment: Mapping[str, str]) -> bool:
    """Each model, and all of them as a folder, beside what the disk says."""
    with tempfile.TemporaryDirectory() as name:
        for model in models:
            for path in (model, model.with_suffix(".bin")):
                shutil.copy(path, name)
        pairs = [(str(model), f"{place}{model.name}") for model in models]
        all_same = True
        print("| path | there | here | same |\n|---|---|---|---|")
        for path, url in [*pairs, (name, place)]:
            here, local = validated(path)
            there, remote = validated(url, environment)
            same = "yes" if remote == local else "no"
            all_same = all_same and remote == local
            print(f"| {url} | {there:.2f} s | {here:.2f} s | {same} |", flush=True)
    return all_same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("do", choices=("http", "s3", "hf", "serve"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--size", type=float, default=4 << 30)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--hub", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.do == "serve":
        serve(given.paths[0], given.delay, given.hub)
        return
    if given.do == "http":
        same = measure_http(given.paths, int(given.size), given.delay)
    else:
        same = (measure_s3 if given.do == "s3" else measure_hf)(given.paths)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
