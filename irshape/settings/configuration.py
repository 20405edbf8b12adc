"""Reads the configuration: irshape.toml, or `[tool.irshape]` in pyproject.toml.

docs/configuration.md describes every key. An unknown key is an error. This module does not use
`from __future__ import annotations`: typing would compile each string annotation of a NamedTuple,
which would delay every start of the command.
"""

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..byte_sizes import parse_size
from ..devices.facts import DEVICES
from ..element_types import ElementType
from ..releases import parse_release
from ..rule_ids import SEVERITIES, RuleId, Severity
from ..rules.settings import Contract, CustomRule, Devices, ExpectedPort, Policy
from ..shapes import PartialShape
from ..spelling import suggestion
from .errors import ConfigurationError
from .selectors import CUSTOM_CODES, check_selectors


class Configuration(NamedTuple):
    """The settings of a configuration file.

    `root`: the folder of the file, to which patterns and paths are relative.
    """

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
    custom: tuple[CustomRule, ...] = ()
    contracts: tuple[Contract, ...] = ()
    devices: Devices = Devices()
    jobs: int | None = None
    cache: bool = True
    cache_dir: str | None = None
    root: str | None = None
    path: str | None = None
    """The file from which the configuration was read."""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> "Configuration":
        """Returns the configuration in a file. In a pyproject.toml, this is the table
        `[tool.irshape]`.

        Raises `ConfigurationError`, and `OSError` if the file cannot be opened.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"expected a Configuration or the path of a file, got {type(path).__name__}"
            )
        table = _table(path)
        return _configured({} if table is None else table, os.fspath(path))

    @staticmethod
    def find(start: str | os.PathLike[str] = ".") -> "Configuration":
        """Returns the configuration of the folder, or of the nearest parent folder that has one.

        The configuration is in an irshape.toml, or in a pyproject.toml with `[tool.irshape]`.
        Without such a file, all settings have their defaults.
        """
        folder = os.path.abspath(start)
        while True:
            for name in ("irshape.toml", SHARED):
                path = os.path.join(folder, name)
                table = _table(path) if os.path.isfile(path) else None
                if table is not None:
                    return _configured(table, path)
            parent = os.path.dirname(folder)
            if parent == folder:
                return Configuration()
            folder = parent

    def applying_to(
        self, path: str
    ) -> tuple[tuple[Policy, ...], tuple[CustomRule, ...], tuple[Contract, ...]]:
        """Returns the policies, custom rules and contracts that apply to a file."""
        from .patterns import matches

        def applies(table: Policy | CustomRule | Contract) -> bool:
            return not table.files or any(matches(each, path, self.root) for each in table.files)

        return (
            tuple(filter(applies, self.policies)),
            tuple(filter(applies, self.custom)),
            tuple(filter(applies, self.contracts)),
        )


def configuration_of(given: Configuration | str | os.PathLike[str] | None) -> Configuration:
    """Returns the configuration that an argument gives: an object, the path of a file, or None.

    Raises `ConfigurationError`, e.g. for an object with an unsuitable field, and `OSError` if the
    file cannot be opened. Of an object's selectors, checks only those in `per_file_ignores`.
    """
    if given is None:
        return Configuration()
    if not isinstance(given, Configuration):
        return Configuration.read(given)
    changed = {
        field: value
        for field, value in given._asdict().items()
        if field in _FIELDS and value != Configuration._field_defaults[field]
    }
    given = given._replace(**_fields(changed, _FIELDS, ""))
    for pattern, selectors in given.per_file_ignores:
        check_selectors(selectors, f'per_file_ignores "{pattern}"', given.custom)
    return given


SHARED = "pyproject.toml"
"""The file that also contains the configuration of other tools."""


def _table(path: str | os.PathLike[str]) -> Any:
    """Returns the settings in a configuration file; None for a pyproject.toml without
    `[tool.irshape]`. Parses a pyproject.toml only if it contains the text `irshape`.

    Raises `ConfigurationError`, and `OSError` if the file cannot be opened.
    """
    file = Path(path)
    text = file.read_bytes()
    if file.name == SHARED and b"irshape" not in text:
        return None
    import tomllib

    try:
        data: Any = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigurationError(f"{file}: {problem}") from None
    if file.name != SHARED:
        return data
    tool = data.get("tool")
    return tool.get("irshape") if isinstance(tool, dict) else None


def _configured(table: Any, path: str) -> Configuration:
    """Returns the configuration in the table of a file. Raises `ConfigurationError`."""
    where = f"{path}: " + ("tool.irshape" if os.path.basename(path) == SHARED else "")
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where} is not a table")
    configuration = Configuration(**_fields(table, _KEYS, where))
    for key, selectors in (
        ("select", configuration.select or ()),
        ("extend-select", configuration.extend_select),
        ("ignore", configuration.ignore),
        *((f'per-file-ignores."{name}"', codes) for name, codes in configuration.per_file_ignores),
    ):
        check_selectors(selectors, _place(where, key), configuration.custom)
    folder = os.path.dirname(os.path.abspath(path))
    placed: dict[str, Any] = {
        key: os.path.join(folder, value)
        for key in ("baseline", "cache_dir")
        if (value := getattr(configuration, key))
    }
    return configuration._replace(root=folder, path=path, **placed)


# Reading a table: each key has a field and a function that checks and converts its value. The
# function raises `ValueError` with what was expected.

Reader = Callable[[Any, str], Any]
Keys = Mapping[str, tuple[str, Reader]]


def _place(where: str, key: str) -> str:
    return f"{where}.{key}" if where and not where.endswith(": ") else f"{where}{key}"


def _fields(table: Mapping[str, Any], keys: Keys, where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        place = _place(where, key)
        if key not in keys:
            raise ConfigurationError(
                f"{place}: unknown key"
                f"{suggestion(key, list(keys)) or ' (known: ' + ', '.join(keys) + ')'}"
            )
        field, reader = keys[key]
        try:
            values[field] = reader(value, place)
        except ConfigurationError:
            raise
        except ValueError as problem:
            raise ConfigurationError(f"{place}: {problem}") from None
    return values


def _of(kind: type, expected: str, convert: Callable[[Any], Any] = lambda value: value) -> Reader:
    """Returns a function that reads a setting of a type. convert: checks and converts the value."""

    def read(value: Any, _: str) -> Any:
        if not isinstance(value, kind):
            raise ValueError(f"expected {expected}, got {value!r}")
        return convert(value)

    return read


def _whole(least: int) -> Reader:
    """Returns a function that checks that a setting is a whole number of at least `least`."""

    def read(value: Any, _: str) -> Any:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"expected a whole number of at least {least}, got {value!r}")
        return value

    return read


def _tables(keys: Keys, make: Callable[..., Any], expected: str, *required: str) -> Reader:
    """Returns a function that reads a list of tables. make: builds an object from each table.
    required: the keys that a table must have."""

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise ValueError(f"expected {expected}")
        objects = []
        for index, item in enumerate(value):
            here = f"{place}[{index}]"
            fields = _fields(item, keys, here)
            for key in required:
                if not fields.get(key):
                    raise ConfigurationError(f"{here}: it has no {key}")
            objects.append(make(**fields))
        return tuple(objects)

    return read


_text, _flag = _of(str, "a string"), _of(bool, "true or false")
_count, _amount = _whole(1), _whole(0)


def texts(value: Any, _: str = "") -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, got {value!r}")
    return tuple(value)


def _some(value: Any, _: str = "") -> tuple[str, ...]:
    """Returns a list of strings. Raises `ValueError` for an empty list or an empty string in it."""
    if value == []:
        raise ValueError("the list is empty; leave the key out")
    if "" in texts(value):
        raise ValueError("the list has an empty string, which has no meaning")
    return texts(value)


def _filled(text: str) -> str:
    if not text:
        raise ValueError("the path is empty; leave the key out")
    return text


def _per_file(value: Any, place: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('expected a table of patterns, as "legacy/**" = ["IR2"]')
    if "" in value:
        raise ValueError("a pattern is empty, which matches no file")
    keys: Keys = {pattern: (pattern, _some) for pattern in value}
    return tuple(_fields(value, keys, place).items())


def _level(value: Any, _: str) -> str:
    if value not in SEVERITIES:
        raise ValueError(f"expected error, warning or info, got {value!r}")
    return str(value)


def extensions(value: Any, _: str = "") -> tuple[str, ...]:
    """Returns names of the form `TYPE` or `TYPE@VERSION`. Raises `ValueError` for another form, and
    for an operation of an opset."""
    named = _named(value, "an extension", "extensions")
    for text in named:
        name, _, version = text.partition("@")
        _check_clash(name, version)
    return named


def _named(value: Any, what: str, plural: str) -> tuple[str, ...]:
    """Returns texts of the form `TYPE` or `TYPE@VERSION`. Raises `ValueError`."""
    named = texts(value)
    for text in named:
        if not re.fullmatch(r"[^\s@*]+(@[^\s@*]+)?", text):
            raise ValueError(f"'{text}' is not {what}; {plural} are written TYPE or TYPE@VERSION")
    return named


@lru_cache
def _check_clash(name: str, version: str) -> None:
    from ..ops.registry import UnknownOperation, find, opset_versions

    known = opset_versions(name)
    if not known:
        return
    if not version:
        raise ValueError(
            f"'{name}' is an operation of {known[0].version_name()}; for your own operation "
            f"with that name, write {name}@VERSION"
        )
    try:
        operation = find(name, version)
    except UnknownOperation:
        return
    if not (operation.of_plugin or operation.opaque):
        raise ValueError(f"'{name}@{version}' is a built-in operation, not an extension")


def _operations(value: Any, _: str) -> tuple[str, ...]:
    return _named(_some(value), "an operation", "operations")


def _type(name: str) -> str:
    try:
        return (ElementType.of_precision(name) or ElementType.of(name)).name
    except ValueError:
        raise ValueError(
            f"'{name}' is not an element type{suggestion(name, sorted(ElementType._by_name))}"
        ) from None


def _bytes(value: Any, _: str) -> Any:
    return parse_size(value) if isinstance(value, str) else _amount(value, "")


def _demand(value: bool) -> bool:
    if not value:
        raise ValueError("false has no effect; leave the key out")
    return True


def _policies(value: Any, place: str) -> Any:
    if isinstance(value, dict):
        return (Policy(**_fields(value, _POLICY_KEYS, place)),)
    expected = "a table, or a list of tables with `files`"
    return _tables(_POLICY_KEYS, Policy, expected)(value, place)


def _rules(value: Any, place: str) -> tuple[CustomRule, ...]:
    """Returns the custom rules of `[[rules.custom]]`, from the table `rules`."""
    expected, place = "tables [[rules.custom]]", f"{place}.custom"
    if not isinstance(value, dict) or set(value) - {"custom"}:
        raise ValueError(f"expected {expected}")
    read = _tables(_CUSTOM_KEYS, _custom_rule, expected, "code", "xpath", "message")
    custom: tuple[CustomRule, ...] = read(value.get("custom", []), place)
    for field in ("code", "name"):
        names = [getattr(rule.id, field) for rule in custom]
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"{place}: two rules have the {field} {name}")
    return custom


def _custom_rule(
    code: str, name: str = "", severity: Severity = "error", **fields: Any
) -> CustomRule:
    return CustomRule(RuleId(code, name or code.lower(), severity), **fields)


def _own_code(code: str) -> str:
    if code not in CUSTOM_CODES:
        raise ValueError(f"expected {CUSTOM_CODES[0]} to {CUSTOM_CODES[-1]}, got {code!r}")
    return code


def _name(name: str) -> str:
    from ..rules import all_rules

    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name):
        raise ValueError(f"expected lower-case words with hyphens, got {name!r}")
    for rule in all_rules():
        if name == rule.name:
            raise ValueError(
                f"'{name}' is the name of the built-in rule {rule.code}; choose another, such as "
                f"'my-{name}'"
            )
    return name


def _xpath(expression: str) -> str:
    from ..rules.custom import evaluator

    evaluator().check(expression)
    return expression


def _message(message: str) -> str:
    from ..rules.custom import check_message

    check_message(message)
    return message


def _statements(value: Any, _: str) -> tuple[str, ...]:
    from ..rules.contracts import statement

    written = texts(value)
    for text in written:
        statement(text)
    return written


def _named_shapes(value: Any, _: str) -> tuple[tuple[str, str], ...]:
    from ..inference.symbolic import parse_named_shape

    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError('expected shapes by input, such as { input_ids = "[batch,seq]" }')
    for text in value.values():
        parse_named_shape(text)
    return tuple(value.items())


def _devices(value: Any, place: str) -> Devices:
    if not isinstance(value, dict):
        raise ValueError('expected a table, as [devices] with check = ["gpu"]')
    keys: Keys = {"check": ("names", device_names), "max-alloc": ("max_alloc", _bytes)}
    return Devices(**_fields(value, keys, place))


def device_names(value: Any, _: str = "") -> tuple[str, ...]:
    """Returns the devices' names, which may be in any letter case. Raises `ValueError`."""
    names = tuple(dict.fromkeys(name.upper() for name in texts(value)))
    for name in names:
        if name not in DEVICES:
            raise ValueError(
                f"'{name}' is not a device that irshape has facts about; choose cpu, gpu or npu"
            )
    return names


_PORT_KEYS: Keys = {
    "name": ("name", _text),
    "type": ("type", _of(str, "a text", _type)),
    "shape": (
        "shape",
        _of(str, 'a shape such as "[?,3,224,224]"', lambda text: str(PartialShape.parse(text))),
    ),
}
_each_port = _tables(
    _PORT_KEYS,
    ExpectedPort,
    'a list of tables, as [{ name = "image", type = "f32", shape = "[?,3,224,224]" }]',
    "name",
)


def _ports(value: Any, place: str) -> Any:
    ports = _each_port(value, place)
    names = [port.name for port in ports]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"'{name}' is listed twice")
    return ports


_CONTRACT_KEYS: Keys = {
    "files": ("files", _some),
    "shapes": ("shapes", _named_shapes),
    "assume": ("assume", texts),
    "require": ("require", _statements),
}

_CUSTOM_KEYS: Keys = {
    "code": ("code", _of(str, 'a code such as "IR910"', _own_code)),
    "name": ("name", _of(str, 'a name such as "no-f64"', _name)),
    "xpath": ("xpath", _of(str, "an XPath expression", _xpath)),
    "message": ("message", _of(str, "a text", _message)),
    "severity": ("severity", _level),
    "help": ("help", _text),
    "files": ("files", _some),
}

_POLICY_KEYS: Keys = {
    "files": ("files", _some),
    "required-operations": ("required_operations", _operations),
    "forbidden-operations": ("forbidden_operations", _operations),
    "allowed-element-types": (
        "allowed_element_types",
        lambda value, _: tuple(map(_type, _some(value))),
    ),
    "inputs": ("inputs", _ports),
    "outputs": ("outputs", _ports),
    "dynamic-batch": ("dynamic_batch", _of(bool, "true", _demand)),
    "max-weights": ("max_weights", _bytes),
    "max-tensor": ("max_tensor", _bytes),
    "max-layers": ("max_layers", _amount),
}

_KEYS: Keys = {
    "select": ("select", _some),
    "extend-select": ("extend_select", texts),
    "ignore": ("ignore", texts),
    "per-file-ignores": ("per_file_ignores", _per_file),
    "fail-level": ("fail_level", _level),
    "max-errors": ("max_errors", _count),
    "baseline": ("baseline", _of(str, "a string", _filled)),
    "comments": ("comments", _flag),
    "target": ("target", _of(str, 'a release such as "2023.3"', parse_release)),
    "extensions": ("extensions", extensions),
    "policy": ("policies", _policies),
    "contract": (
        "contracts",
        _tables(_CONTRACT_KEYS, Contract, "tables [[contract]]", "require"),
    ),
    "devices": ("devices", _devices),
    "rules": ("custom", _rules),
    "jobs": ("jobs", _count),
    "cache": ("cache", _flag),
    "cache-dir": ("cache_dir", _of(str, "a string", _filled)),
}


def _release(numbers: tuple[Any, ...]) -> tuple[int, int]:
    return parse_release(".".join(map(str, numbers)))


def _objects(kind: type) -> Reader:
    """Returns a function that checks that a field is a list of objects of a class."""

    def read(value: Any, _: str) -> tuple[Any, ...]:
        several = isinstance(value, (tuple, list))
        if not several or not all(isinstance(item, kind) for item in value):
            raise ValueError(f"expected a list of {kind.__name__} objects, got {value!r}")
        return tuple(value)

    return read


_FIELDS: Keys = {
    **{field: (field, reader) for field, reader in _KEYS.values()},
    "per_file_ignores": ("per_file_ignores", lambda value, at: _per_file(dict(value), at)),
    "baseline": ("baseline", lambda value, _: os.fspath(value)),
    "cache_dir": ("cache_dir", lambda value, _: os.fspath(value)),
    "target": ("target", _of(tuple, "a release, such as (2024, 6)", _release)),
    "policies": ("policies", _objects(Policy)),
    "contracts": ("contracts", _objects(Contract)),
    "custom": ("custom", _objects(CustomRule)),
    "devices": ("devices", _of(Devices, "a Devices object")),
}
"""Checks the fields of a `Configuration` that a program makes, as `_KEYS` checks a file."""
