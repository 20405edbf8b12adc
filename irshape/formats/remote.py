"""Reads models from URLs: https, s3, hf and others that fsspec supports.

The .xml is read completely, the .bin in ranges if the server supports them. Small integer
constants, which may determine shapes, are fetched together. The content of a file never causes a
request to another address. HTTP redirects are limited, and messages show no credentials.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.ranges import Ranges
from ..model.weights import Constant, Weights, is_lfs_pointer
from ..spelling import counted
from ..urls import without_credentials

if TYPE_CHECKING:
    from ..model.graph import Model

SECONDS = 120.0
"""The maximum duration of a request, in seconds."""

SILENCE = 30.0
"""The maximum time, in seconds, during which a server may send nothing."""

REDIRECTS = 5
SMALL_CONSTANT = 1 << 13
"""Integer constants of at most this many bytes are fetched together: they may be shapes."""

WHOLE = 1 << 26
"""If a server does not support range requests, a .bin of at most this many bytes is read whole."""

_PIECE = 1 << 20


def read_remote(url: str, limit: int) -> bytes:
    """Reads a file, but at most one byte more than the limit. Raises `OSError`."""
    with _explained(url):
        filesystem, path = _filesystem(url)
        # a block size of 0 makes fsspec stream a file of HTTP instead of asking for its parts
        streamed = {"block_size": 0} if _is_http(url) else {}
        try:
            with filesystem.open(path, "rb", **streamed) as file:
                return _read(file, limit + 1)
        except (FileNotFoundError, IsADirectoryError):
            if streamed or not filesystem.isdir(path):
                raise
        raise _RefusedError(f"is a folder, not a file{_hint(filesystem, path)}", errno.EISDIR)


def _hint(filesystem: Any, folder: str) -> str:
    """Returns a hint that names the largest model in a folder."""
    files = filesystem.find(folder, maxdepth=2, detail=True)
    sizes = {name: file.get("size") or 0 for name, file in files.items() if name.endswith(".xml")}
    if not sizes:
        return ""
    largest = filesystem.unstrip_protocol(max(sizes, key=lambda name: (sizes[name], name)))
    return f"; name a model in it, such as {without_credentials(largest)}"


def _read(file: Any, limit: int) -> bytes:
    pieces: list[bytes] = []
    left = limit
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def open_remote_weights(url: str) -> Weights:
    """Opens the .bin at a URL. Does not raise for an error of the server: `Weights.state` says what
    is wrong."""
    shown = without_credentials(url)
    try:
        file = _File(url)
        if file.size is not None and file.size > SMALL_CONSTANT:
            with suppress(_WithoutPartsError):
                file.fetch(file.size - 1, 1)
                return Weights(shown, Ranges(file.size, file.fetch), "ready")
        data = _whole(url, file.size)
    except FileNotFoundError:
        return Weights(shown, None, "missing")
    except OSError as problem:
        return Weights(shown, None, "unreadable", problem.strerror or "")
    if is_lfs_pointer(data):
        return Weights(shown, None, "lfs")
    return Weights(shown, data, "ready" if data else "empty")


def _whole(url: str, size: int | None) -> bytes:
    """Reads a complete .bin. `size`: the size that the server states. Raises `OSError` if the file
    is too large."""
    if size is not None and size > WHOLE:
        raise _RefusedError(
            "the server does not support range requests, and the file "
            f"({size} bytes) is too large to read whole; download it"
        )
    data = read_remote(url, WHOLE)
    if size is None and len(data) > WHOLE:
        raise _RefusedError(
            f"the server does not state the size of the file, which exceeds {WHOLE} bytes"
        )
    if size not in (None, len(data)):
        raise _cut_off(size or 0, len(data))
    return data


def expect_small_constants(model: Model) -> None:
    """Lists the small integer constants of a remote .bin, which may determine shapes. The first
    read of one fetches all of them."""
    weights = model.weights
    if weights is None or not isinstance(weights.data, Ranges):
        return
    spans = []
    for layer in model.walk():
        if not layer.is_constant:
            continue
        try:
            constant = Constant.of(layer.items, weights)
        except ValueError:
            continue
        whole = constant.element_type.kind in ("integer", "boolean")
        if whole and 0 < constant.size <= SMALL_CONSTANT:
            spans.append((constant.offset, constant.size))
    weights.data.expect(spans)


def list_remote(url: str) -> list[str]:
    """Returns the URLs of the .xml files in a folder, or of those that match a pattern. Raises
    `OSError`."""
    with _explained(url):
        filesystem, path = _filesystem(url)
        if _is_http(url):
            raise _RefusedError("an HTTP server does not list its files; give the URL of a model")
        names = filesystem.glob(path) if "*" in path else filesystem.find(path)
        return [
            filesystem.unstrip_protocol(name) for name in sorted(names) if name.endswith(".xml")
        ]


class _RefusedError(OSError):
    """Raised if a file cannot be read. `reason` is a text of irshape, without credentials."""

    def __init__(self, reason: str, number: int = errno.EIO) -> None:
        super().__init__(number, reason)


class _WithoutPartsError(_RefusedError):
    """Raised if the server does not support range requests."""


class _File:
    """A file at a URL that is read in ranges."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._tag = ""
        """The ETag, which identifies a version of the file; empty if the server sends none."""
        with _explained(url):
            filesystem, path = _filesystem(url)
            size = filesystem.info(path).get("size")
        self.size = None if size is None else int(size)
        """The size in bytes; None if the server does not state it."""

    def fetch(self, offset: int, size: int) -> bytes:
        """Reads `size` bytes at `offset`. Raises `OSError`, even if only some bytes are missing."""
        with _explained(self.url):
            filesystem, path = _filesystem(self.url)
            if _is_http(self.url):
                from fsspec.asyn import sync

                data = sync(filesystem.loop, self._part, filesystem, path, offset, size)
            else:
                data = filesystem.cat_file(path, start=offset, end=offset + size)
            if len(data) != size:
                raise _cut_off(size, len(data))
            return bytes(data)

    async def _part(self, filesystem: Any, path: str, offset: int, size: int) -> bytes:
        """Reads `size` bytes at `offset` over HTTP, but not more, even if the server sends more."""
        session = await filesystem.set_session()
        settings = dict(filesystem.kwargs)
        settings["headers"] = dict(settings.get("headers") or {}) | {
            "Range": f"bytes={offset}-{offset + size - 1}",
            "Accept-Encoding": "identity",
        }
        async with session.get(filesystem.encode_url(path), **settings) as answer:
            if answer.status in (404, 410):
                raise FileNotFoundError
            answer.raise_for_status()
            if answer.status != 206:
                raise _WithoutPartsError("the server does not support range requests")
            self._require_part(answer.headers, offset, size)
            return await _read_at_most(answer.content, size)

    def _require_part(self, headers: Mapping[str, str], offset: int, size: int) -> None:
        """Raises `OSError` if the server sends another range than requested, or if the file has
        changed."""
        said = headers.get("Content-Range")
        part = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", said or "")
        if part is None:
            as_asked = said is None and headers.get("Content-Length") == str(size)
        else:
            as_asked = int(part[1]) == offset
        if not as_asked:
            raise _RefusedError("the server does not send the bytes that irshape requests")
        tag = headers.get("ETag", "")
        if tag.startswith("W/"):  # says nothing about bytes
            tag = ""
        self._tag = self._tag or tag
        if tag not in ("", self._tag) or (part and part[2] not in ("*", str(self.size))):
            raise _RefusedError("the file changed while irshape read it")


async def _read_at_most(content: Any, size: int) -> bytes:
    pieces: list[bytes] = []
    left = size
    while left > 0 and (piece := await content.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _cut_off(promised: int, sent: int) -> _RefusedError:
    return _RefusedError(f"the server promised {counted(promised, 'byte')}, but sent {sent}")


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Converts errors of fsspec and its backends to an `OSError` whose text has no credentials."""
    shown = without_credentials(url)
    try:
        yield
    except FileNotFoundError as problem:
        cause = problem.__cause__  # whatever goes wrong, fsspec's HTTP finds no file
        if isinstance(cause, Exception) and getattr(cause, "status", None) not in (404, 410):
            raise OSError(errno.EIO, _reason(cause), shown) from None
        raise FileNotFoundError(errno.ENOENT, "no such file", shown) from None
    except _WithoutPartsError:
        raise
    except Exception as problem:
        number = problem.errno if isinstance(problem, OSError) and problem.errno else errno.EIO
        raise OSError(number, _reason(problem), shown) from None


def _reason(problem: Exception) -> str:
    """Returns what went wrong, without texts of exceptions, which may contain credentials."""
    if isinstance(problem, _RefusedError):
        return problem.strerror or ""
    if isinstance(problem, ImportError):
        return str(problem)
    names = {
        "TooManyRedirects": f"the server redirects more than {REDIRECTS} times",
        "NonHttpUrlRedirectClientError": "the server redirects to another protocol",
        "InvalidUrlRedirectClientError": "the server redirects to something that is not a URL",
        "ServerDisconnectedError": "the server closed the connection",
        "ClientPayloadError": "the server sent fewer bytes than it promised",
    }
    kind = type(problem).__name__
    if kind == "ClientPayloadError" and "content-encoding" in str(problem):
        return "irshape cannot decompress what the server sent"
    causes = type(problem.__cause__).__mro__
    if kind == "ClientResponseError" and any(
        each.__name__ == "HttpProcessingError" for each in causes
    ):
        return "the server's answer is not HTTP"
    if kind in names:
        return names[kind]
    status = getattr(problem, "status", None)
    if status == 416:  # the range is not in the file
        return "the file on the server is shorter than the server said"
    if isinstance(status, int):
        return f"the server answered with HTTP status {status}"
    if isinstance(problem, TimeoutError) or "timeout" in type(problem).__name__.lower():
        return f"the server took too long (at most {SILENCE:.0f} s of silence, {SECONDS:.0f} s)"
    if "Connect" in kind:
        return "the server cannot be reached"
    if isinstance(problem, ValueError) and "Protocol not known" in str(problem):
        return "no such protocol"
    return f"the file cannot be read ({kind})"


@cache
def _http(seconds: float, silence: float) -> Any:
    """Returns fsspec's HTTP filesystem. seconds, silence: as `SECONDS` and `SILENCE`."""
    import aiohttp
    import fsspec

    timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=silence, sock_read=silence)
    return fsspec.filesystem(
        "https",
        client_kwargs={"timeout": timeout},
        max_redirects=REDIRECTS,
        skip_instance_cache=True,
    )


def _is_http(url: str) -> bool:
    return url.partition("://")[0].lower() in ("http", "https")


def _filesystem(url: str) -> tuple[Any, str]:
    """Returns the filesystem for a URL, and the path in it. Raises what fsspec raises."""
    try:
        import fsspec
    except ImportError:
        raise ImportError("URLs need fsspec: pip install 'irshape[remote]'") from None
    if "::" in url:
        raise _RefusedError("irshape does not support chained URLs ('::')")
    if _is_http(url):
        return _http(SECONDS, SILENCE), url
    filesystem, path = fsspec.core.url_to_fs(url)
    return filesystem, path
