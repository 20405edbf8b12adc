"""What a user sets: `[tool.irshape]` in pyproject.toml, or irshape.toml. Every key is in docs/configuration.md; a key that is none is an error.

Annotations are evaluated here: typing compiles those of a NamedTuple one by one where they are texts, which every start of the command would pay for.
"""

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..byte_sizes import parse_size
from ..rules.settings import ExpectedPort, Policy
from ..spelling import suggestion
from .errors import ConfigurationError
from .patterns import matches


class Configuration(NamedTuple):
    """Everything that can be set. `root` is the folder that patterns and paths in it start from: that of its file."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fail_level: str = "error"
    max_errors: int | None = None
    baseline: str | None = None
    comments: bool = True
    target: tuple[int, int] | None = None
    extensions: tuple[str, ...] = ()
    policies: tuple[Policy, ...] = ()
    jobs: int | None = None
    cache: bool = True
    cache_dir: str | None = None
    root: str | None = None
    path: str | None = None
    """The file it was read from."""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> "Configuration":
        """Reads a file: all of it, or `[tool.irshape]` where it is a pyproject.toml. Raises `ConfigurationError`, and `OSError` where it cannot be opened."""
        import tomllib

        file = Path(path)
        try:
            data: Any = tomllib.loads(file.read_bytes().decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise ConfigurationError(f"{file}: {problem}") from None
        tool = data.get("tool")
        table = (
            (tool.get("irshape", {}) if isinstance(tool, dict) else {})
            if file.name == "pyproject.toml"
            else data
        )
        where = f"{file}: " + ("tool.irshape" if file.name == "pyproject.toml" else "")
        if not isinstance(table, dict):
            raise ConfigurationError(f"{where} is no table")
        try:
            found = Configuration(**_fields(table, _KEYS, where))
        except TypeError as problem:  # pragma: no cover: every key names a field
            raise ConfigurationError(f"{where}: {problem}") from None
        folder = os.path.dirname(os.path.abspath(file))
        placed: dict[str, Any] = {
            key: os.path.join(folder, value)
            for key in ("baseline", "cache_dir")
            if (value := getattr(found, key))
        }
        return found._replace(root=folder, path=str(file), **placed)

    @staticmethod
    def find(start: str | os.PathLike[str] = ".") -> "Configuration":
        """The configuration of the nearest folder upwards that has one: irshape.toml, or a pyproject.toml with `[tool.irshape]`. An empty one where there is none."""
        folder = os.path.abspath(start)
        while True:
            own = os.path.join(folder, "irshape.toml")
            if os.path.isfile(own):
                return Configuration.read(own)
            shared = os.path.join(folder, "pyproject.toml")
            if os.path.isfile(shared) and _has_table(shared):
                return Configuration.read(shared)
            parent = os.path.dirname(folder)
            if parent == folder:
                return Configuration()
            folder = parent

    def policies_for(self, path: str) -> tuple[Policy, ...]:
        """The policies that hold for a file."""
        return tuple(
            policy
            for policy in self.policies
            if not policy.files
            or any(matches(pattern, path, self.root) for pattern in policy.files)
        )


def _has_table(path: str) -> bool:
    """Whether a pyproject.toml has `[tool.irshape]`. It is parsed only where a line looks like that. Raises `ConfigurationError`."""
    with open(path, "rb") as file:
        text = file.read()
    if (
        re.search(
            rb"""^\s*\[*\s*(?:["']?tool["']?\s*\.\s*)?["']?irshape["']?\s*[.=\]]""",
            text,
            re.MULTILINE,
        )
        is None
    ):
        return False
    import tomllib

    try:
        tool = tomllib.loads(text.decode()).get("tool")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigurationError(f"{path}: {problem}") from None
    return isinstance(tool, dict) and "irshape" in tool


# Reading a table: a key has a field and a function that checks and converts its value; it raises `ValueError` with what was expected

Reader = Callable[[Any, str], Any]


def _fields(
    table: Mapping[str, Any], keys: Mapping[str, tuple[str, Reader]], where: str
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        place = f"{where}.{key}" if where and not where.endswith(": ") else f"{where}{key}"
        if key not in keys:
            raise ConfigurationError(
                f"{place}: there is no such key{suggestion(key, list(keys)) or ' (known: ' + ', '.join(keys) + ')'}"
            )
        field, reader = keys[key]
        try:
            found[field] = reader(value, place)
        except ConfigurationError:
            raise
        except ValueError as problem:
            raise ConfigurationError(f"{place}: {problem}") from None
    return found


def _kind(value: Any, kind: type, words: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"expected {words}, got {value!r}")
    return value


def _text(value: Any, _: str) -> str:
    return str(_kind(value, str, "a text"))


def _flag(value: Any, _: str) -> bool:
    return bool(_kind(value, bool, "true or false"))


def _count(value: Any, _: str) -> int:
    number = int(_kind(value, int, "a whole number"))
    if number < 1:
        raise ValueError(f"expected a number from 1, got {number}")
    return number


def _amount(value: Any, _: str) -> int:
    number = int(_kind(value, int, "a whole number"))
    if number < 0:
        raise ValueError(f"expected a number from 0, got {number}")
    return number


def texts(value: Any, _: str = "") -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of texts, got {value!r}")
    return tuple(value)


def _codes(value: Any, place: str) -> tuple[str, ...]:
    from .selectors import check_selectors

    found = texts(value)
    check_selectors(found, place)
    return found


def _per_file(value: Any, place: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('expected a table of patterns, as "legacy/**" = ["IR2"]')
    found = []
    for pattern, codes in value.items():
        try:
            found.append((pattern, _codes(codes, f'{place}."{pattern}"')))
        except ConfigurationError:
            raise
        except ValueError as problem:
            raise ConfigurationError(f'{place}."{pattern}": {problem}') from None
    return tuple(found)


def _level(value: Any, _: str) -> str:
    if value not in ("error", "warning", "info"):
        raise ValueError(f"expected error, warning or info, got {value!r}")
    return str(value)


def _release(value: Any, _: str) -> tuple[int, int]:
    if isinstance(value, float):
        raise ValueError(f'write the release as a text: "{value}"')
    from ..releases import parse_release

    return parse_release(str(_kind(value, str, 'a release such as "2023.3"')))


def extensions(value: Any, _: str = "") -> tuple[str, ...]:
    """`TYPE` or `TYPE@VERSION`; an operation of an opset cannot be one. Raises `ValueError`."""
    found = texts(list(value))
    for text in found:
        name, at, version = text.partition("@")
        if not name.strip() or (at and not version.strip()):
            raise ValueError(f"'{text}' is no extension; they are written TYPE or TYPE@VERSION")
        _check_clash(name, version)
    return found


@lru_cache
def _check_clash(name: str, version: str) -> None:
    from ..ops.registry import UnknownOperation, find, versions

    known = versions(name)
    if not known:
        return
    if not version:
        raise ValueError(
            f"'{name}' is an operation of {known[0].version_name()}; for one of your own under that name, write {name}@VERSION"
        )
    try:
        find(name, version)
    except UnknownOperation:
        return
    raise ValueError(f"'{name}@{version}' is known already: {name} of {version} is no extension")


def _operations(value: Any, _: str) -> tuple[str, ...]:
    found = texts(value)
    for text in found:
        name, at, version = text.partition("@")
        if not name.strip() or (at and not version.strip()):
            raise ValueError(f"'{text}' is no operation; they are written TYPE or TYPE@VERSION")
    return found


def _types(value: Any, _: str) -> tuple[str, ...]:
    return tuple(_type(name) for name in texts(value))


def _type(name: str) -> str:
    from ..types import ElementType

    try:
        return ElementType.of(name).name
    except ValueError:
        raise ValueError(
            f"'{name}' is no element type{suggestion(name, sorted(ElementType._by_name))}"
        ) from None


def _ports(value: Any, place: str) -> tuple[ExpectedPort, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(
            'expected a list of tables, as [{ name = "image", type = "f32", shape = "[?,3,224,224]" }]'
        )
    found = []
    for index, item in enumerate(value):
        fields = _fields(
            item,
            {
                "name": ("name", _text),
                "type": ("type", lambda name, _: _type(_text(name, ""))),
                "shape": ("shape", _shape),
            },
            f"{place}[{index}]",
        )
        if "name" not in fields:
            raise ConfigurationError(f"{place}[{index}]: it has no name")
        found.append(ExpectedPort(**fields))
    return tuple(found)


def _shape(value: Any, _: str) -> str:
    from ..types import PartialShape

    return str(PartialShape.parse(str(_kind(value, str, 'a shape such as "[?,3,224,224]"'))))


def _bytes(value: Any, _: str) -> int:
    return parse_size(value) if isinstance(value, str) else _amount(value, "")


def _policies(value: Any, place: str) -> tuple[Policy, ...]:
    if isinstance(value, dict):
        return (Policy(**_fields(value, _POLICY_KEYS, place)),)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("expected a table, or a list of tables with `files`")
    return tuple(
        Policy(**_fields(item, _POLICY_KEYS, f"{place}[{index}]"))
        for index, item in enumerate(value)
    )


_POLICY_KEYS: dict[str, tuple[str, Reader]] = {
    "files": ("files", texts),
    "required-operations": ("required_operations", _operations),
    "forbidden-operations": ("forbidden_operations", _operations),
    "allowed-element-types": ("allowed_element_types", _types),
    "inputs": ("inputs", _ports),
    "outputs": ("outputs", _ports),
    "dynamic-batch": ("dynamic_batch", _flag),
    "max-weights": ("max_weights", _bytes),
    "max-layers": ("max_layers", _amount),
}

_KEYS: dict[str, tuple[str, Reader]] = {
    "select": ("select", _codes),
    "extend-select": ("extend_select", _codes),
    "ignore": ("ignore", _codes),
    "per-file-ignores": ("per_file_ignores", _per_file),
    "fail-level": ("fail_level", _level),
    "max-errors": ("max_errors", _count),
    "baseline": ("baseline", _text),
    "comments": ("comments", _flag),
    "target": ("target", _release),
    "extensions": ("extensions", extensions),
    "policy": ("policies", _policies),
    "jobs": ("jobs", _count),
    "cache": ("cache", _flag),
    "cache-dir": ("cache_dir", _text),
}


# Patterns of paths
