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
from typing import Any, NamedTuple, TypeVar

from ..rule_ids import SEVERITIES, RuleId
from ..rules.settings import Contract, CustomRule, Devices, ExpectedPort, Policy
from ..spelling import suggestion
from .errors import ConfigurationError

T = TypeVar("T", Policy, Contract, CustomRule)


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
        """Returns the configuration in a file: in all of it, or in `[tool.irshape]` of a
        pyproject.toml.

        Raises `ConfigurationError`, and `OSError` if the file cannot be opened.
        """
        import tomllib

        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(
                f"expected a Configuration or the path of a file, got {type(path).__name__}"
            )

        file = Path(path)
        try:
            data: Any = tomllib.loads(file.read_bytes().decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise ConfigurationError(f"{file}: {problem}") from None
        table, where = data, f"{file}: "
        if file.name == "pyproject.toml":
            tool = data.get("tool")
            table = tool.get("irshape", {}) if isinstance(tool, dict) else {}
            where += "tool.irshape"
        if not isinstance(table, dict):
            raise ConfigurationError(f"{where} is not a table")
        configuration = Configuration(**_fields(table, _KEYS, where))
        _check_selectors(configuration, where)
        folder = os.path.dirname(os.path.abspath(file))
        placed: dict[str, Any] = {
            key: os.path.join(folder, value)
            for key in ("baseline", "cache_dir")
            if (value := getattr(configuration, key))
        }
        return configuration._replace(root=folder, path=str(file), **placed)

    def check(self) -> None:
        """Raises `ConfigurationError` if a program has set a field to an unsuitable value.

        It does not check the codes of selectors; the code that uses them does.
        """
        for name in ("select", "extend_select", "ignore", "extensions"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ConfigurationError(
                    f"{name}: expected a list of texts, got one text; write ('{value}',)"
                )
        for name, kind in (("policies", Policy), ("contracts", Contract), ("custom", CustomRule)):
            given = getattr(self, name)
            if not isinstance(given, (tuple, list)) or not all(isinstance(e, kind) for e in given):
                raise ConfigurationError(
                    f"{name}: expected a list of {kind.__name__} objects, as irshape reads them "
                    f"from a file; write a file and pass its path"
                )
        if self.fail_level not in SEVERITIES:
            raise ConfigurationError(
                f"fail_level: expected error, warning or info, got {self.fail_level!r}"
            )
        if self.target is not None and not isinstance(self.target, tuple):
            raise ConfigurationError(
                f"target: expected a release as two numbers, (2024, 6), got {self.target!r}"
            )

    @staticmethod
    def find(start: str | os.PathLike[str] = ".") -> "Configuration":
        """Returns the configuration of the folder, or of the nearest parent folder that has one.

        It is in an irshape.toml, or in a pyproject.toml with `[tool.irshape]`. Without a file, the
        configuration has only defaults.
        """
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

    def applying_to(
        self, path: str
    ) -> tuple[tuple[Policy, ...], tuple[CustomRule, ...], tuple[Contract, ...]]:
        """Returns the policies, custom rules and contracts that apply to a file."""
        from .patterns import matches

        def of(tables: tuple[T, ...]) -> tuple[T, ...]:
            return tuple(
                table
                for table in tables
                if not table.files or any(matches(each, path, self.root) for each in table.files)
            )

        return of(self.policies), of(self.custom), of(self.contracts)


def configuration_of(given: Configuration | str | os.PathLike[str] | None) -> Configuration:
    """Returns the configuration that a program gives: an object, the path of a file, or nothing.

    Raises `ConfigurationError`, and `OSError` if the file cannot be opened.
    """
    if given is None:
        return Configuration()
    if not isinstance(given, Configuration):
        return Configuration.read(given)
    given.check()
    return given


def _has_table(path: str) -> bool:
    """Returns whether a pyproject.toml has `[tool.irshape]`. Raises `ConfigurationError`.

    It parses the file only if the name occurs in it.
    """
    with open(path, "rb") as file:
        text = file.read()
    if b"irshape" not in text:
        return False
    import tomllib

    try:
        tool = tomllib.loads(text.decode()).get("tool")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigurationError(f"{path}: {problem}") from None
    return isinstance(tool, dict) and "irshape" in tool


# Reading a table: each key has a field and a function that checks and converts its value. The
# function raises `ValueError` with what was expected.

Reader = Callable[[Any, str], Any]


def _place(where: str, key: str) -> str:
    return f"{where}.{key}" if where and not where.endswith(": ") else f"{where}{key}"


def _fields(
    table: Mapping[str, Any], keys: Mapping[str, tuple[str, Reader]], where: str
) -> dict[str, Any]:
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


def _kind(value: Any, kind: type, words: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"expected {words}, got {value!r}")
    return value


def _text(value: Any, _: str) -> str:
    return str(_kind(value, str, "a text"))


def _flag(value: Any, _: str) -> bool:
    return bool(_kind(value, bool, "true or false"))


def _demand(value: Any, _: str) -> bool:
    if not _flag(value, ""):
        raise ValueError(
            "false requires nothing; leave the key out. A [[contract]] requires a static batch: "
            "require = ['INPUT = [1, ?, ?, ?]'], see Contracts in docs/configuration.md"
        )
    return True


def _whole(least: int) -> Reader:
    """Returns a reader of whole numbers from `least` up."""

    def read(value: Any, _: str) -> int:
        number = int(_kind(value, int, "a whole number"))
        if number < least:
            raise ValueError(f"expected a number from {least}, got {number}")
        return number

    return read


_count, _amount = _whole(1), _whole(0)


def _tables(value: Any, place: str, expected: str) -> list[tuple[dict[str, Any], str]]:
    """Returns the tables in a list, each with its place. Raises `ValueError`."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"expected {expected}")
    return [(item, f"{place}[{index}]") for index, item in enumerate(value)]


def texts(value: Any, _: str = "") -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, got {value!r}")
    return tuple(value)


def _check_selectors(configuration: Configuration, where: str) -> None:
    """Raises `ConfigurationError` for a selector that covers no rule, custom or not."""
    from .selectors import check_selectors

    custom = configuration.custom
    for key, selectors in (
        ("select", configuration.select or ()),
        ("extend-select", configuration.extend_select),
        ("ignore", configuration.ignore),
        *((f'per-file-ignores."{name}"', codes) for name, codes in configuration.per_file_ignores),
    ):
        check_selectors(selectors, _place(where, key), custom)


def _per_file(value: Any, place: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError('expected a table of patterns, as "legacy/**" = ["IR2"]')
    ignores = []
    for pattern, codes in value.items():
        try:
            ignores.append((pattern, texts(codes)))
        except ConfigurationError:
            raise
        except ValueError as problem:
            raise ConfigurationError(f'{place}."{pattern}": {problem}') from None
    return tuple(ignores)


def _level(value: Any, _: str) -> str:
    if value not in SEVERITIES:
        raise ValueError(f"expected error, warning or info, got {value!r}")
    return str(value)


def _release(value: Any, _: str) -> tuple[int, int]:
    if isinstance(value, float):
        raise ValueError(f'write the release as a string: "{value}"')
    from ..releases import parse_release

    return parse_release(str(_kind(value, str, 'a release such as "2023.3"')))


def extensions(value: Any, _: str = "") -> tuple[str, ...]:
    """Returns names of the form `TYPE` or `TYPE@VERSION`. Raises `ValueError`, also for an
    operation of an opset."""
    named = _named(value, "an extension", "extensions")
    for text in named:
        name, _, version = text.partition("@")
        _check_clash(name, version)
    return named


def _named(value: Any, what: str, plural: str) -> tuple[str, ...]:
    """Returns texts of the form `TYPE` or `TYPE@VERSION`. Raises `ValueError`."""
    named = texts(value)
    for text in named:
        name, at, version = text.partition("@")
        if not name.strip() or (at and not version.strip()):
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
    if operation.of_plugin or operation.opaque:
        return
    raise ValueError(f"'{name}@{version}' is a built-in operation, not an extension")


def _operations(value: Any, _: str) -> tuple[str, ...]:
    return _named(value, "an operation", "operations")


def _types(value: Any, _: str) -> tuple[str, ...]:
    return tuple(_type(name) for name in texts(value))


def _type(name: str) -> str:
    from ..element_types import ElementType

    try:
        return (ElementType.of_precision(name) or ElementType.of(name)).name
    except ValueError:
        raise ValueError(
            f"'{name}' is not an element type{suggestion(name, sorted(ElementType._by_name))}"
        ) from None


def _ports(value: Any, place: str) -> tuple[ExpectedPort, ...]:
    expected = 'a list of tables, as [{ name = "image", type = "f32", shape = "[?,3,224,224]" }]'
    ports = []
    for item, here in _tables(value, place, expected):
        fields = _fields(item, _PORT_KEYS, here)
        if "name" not in fields:
            raise ConfigurationError(f"{here}: it has no name")
        ports.append(ExpectedPort(**fields))
    return tuple(ports)


def _shape(value: Any, _: str) -> str:
    from ..shapes import PartialShape

    return str(PartialShape.parse(str(_kind(value, str, 'a shape such as "[?,3,224,224]"'))))


def _bytes(value: Any, _: str) -> int:
    from ..byte_sizes import parse_size

    return parse_size(value) if isinstance(value, str) else _amount(value, "")


def _policies(value: Any, place: str) -> tuple[Policy, ...]:
    if isinstance(value, dict):
        return (Policy(**_fields(value, _POLICY_KEYS, place)),)
    tables = _tables(value, place, "a table, or a list of tables with `files`")
    return tuple(Policy(**_fields(item, _POLICY_KEYS, here)) for item, here in tables)


def _rules(value: Any, place: str) -> tuple[CustomRule, ...]:
    """Returns the custom rules in the table `rules`, from its list `custom`."""
    if not isinstance(value, dict) or set(value) - {"custom"}:
        raise ValueError("expected tables [[rules.custom]]")
    tables = _tables(value.get("custom", []), f"{place}.custom", "tables [[rules.custom]]")
    custom = tuple(_custom_rule(item, here) for item, here in tables)
    for field in ("code", "name"):
        names = [getattr(rule.id, field) for rule in custom]
        for name in names:
            if names.count(name) > 1:
                raise ConfigurationError(f"{place}.custom: two rules have the {field} {name}")
    return custom


def _custom_rule(table: Mapping[str, Any], place: str) -> CustomRule:
    from ..rules import all_rules

    fields = _fields(table, _CUSTOM_KEYS, place)
    for key in ("code", "xpath", "message"):
        if key not in fields:
            raise ConfigurationError(f"{place}: it has no {key}")
    code = fields["code"]
    rule = RuleId(code, fields.get("name", code.lower()), fields.get("severity", "error"))
    for other in all_rules():
        if rule.name in (other.name, other.code):
            raise ConfigurationError(
                f"{place}.name: '{rule.name}' is the name of the built-in rule {other.code}; "
                f"choose another, such as 'my-{rule.name}'"
            )
    return CustomRule(
        rule, fields["xpath"], fields["message"], fields.get("help"), fields.get("files", ())
    )


def _own_code(value: Any, _: str) -> str:
    from .selectors import CUSTOM_CODES

    code = str(_kind(value, str, 'a code such as "IR910"'))
    if code not in CUSTOM_CODES:
        raise ValueError(f"expected {CUSTOM_CODES[0]} to {CUSTOM_CODES[-1]}, got {code!r}")
    return code


def _name(value: Any, _: str) -> str:
    name = str(_kind(value, str, 'a name such as "no-f64"'))
    if not re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name):
        raise ValueError(f"expected lower-case words with hyphens, got {name!r}")
    return name


def _xpath(value: Any, _: str) -> str:
    from ..rules.custom import evaluator

    expression = str(_kind(value, str, "an XPath expression"))
    evaluator().check(expression)
    return expression


def _message(value: Any, _: str) -> str:
    from ..rules.custom import check_message

    message = str(_kind(value, str, "a text"))
    check_message(message)
    return message


def _contracts(value: Any, place: str) -> tuple[Contract, ...]:
    contracts = []
    for item, here in _tables(value, place, "tables [[contract]]"):
        fields = _fields(item, _CONTRACT_KEYS, here)
        if not fields.get("require"):
            raise ConfigurationError(f"{here}: it requires nothing")
        contracts.append(Contract(**fields))
    return tuple(contracts)


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
    return Devices(**_fields(value, _DEVICE_KEYS, place))


def device_names(value: Any, _: str = "") -> tuple[str, ...]:
    """Returns names of devices, read in any case. Raises `ValueError`."""
    from ..devices.facts import DEVICES

    names = tuple(dict.fromkeys(name.upper() for name in texts(value)))
    for name in names:
        if name not in DEVICES:
            raise ValueError(
                f"'{name}' is not a device that irshape has facts about; choose cpu, gpu or npu"
            )
    return names


_PORT_KEYS: dict[str, tuple[str, Reader]] = {
    "name": ("name", _text),
    "type": ("type", lambda name, _: _type(_text(name, ""))),
    "shape": ("shape", _shape),
}

_DEVICE_KEYS: dict[str, tuple[str, Reader]] = {
    "check": ("names", device_names),
    "max-alloc": ("max_alloc", _bytes),
}

_CONTRACT_KEYS: dict[str, tuple[str, Reader]] = {
    "files": ("files", texts),
    "shapes": ("shapes", _named_shapes),
    "assume": ("assume", texts),
    "require": ("require", _statements),
}

_CUSTOM_KEYS: dict[str, tuple[str, Reader]] = {
    "code": ("code", _own_code),
    "name": ("name", _name),
    "xpath": ("xpath", _xpath),
    "message": ("message", _message),
    "severity": ("severity", _level),
    "help": ("help", _text),
    "files": ("files", texts),
}

_POLICY_KEYS: dict[str, tuple[str, Reader]] = {
    "files": ("files", texts),
    "required-operations": ("required_operations", _operations),
    "forbidden-operations": ("forbidden_operations", _operations),
    "allowed-element-types": ("allowed_element_types", _types),
    "inputs": ("inputs", _ports),
    "outputs": ("outputs", _ports),
    "dynamic-batch": ("dynamic_batch", _demand),
    "max-weights": ("max_weights", _bytes),
    "max-tensor": ("max_tensor", _bytes),
    "max-layers": ("max_layers", _amount),
}

_KEYS: dict[str, tuple[str, Reader]] = {
    "select": ("select", texts),
    "extend-select": ("extend_select", texts),
    "ignore": ("ignore", texts),
    "per-file-ignores": ("per_file_ignores", _per_file),
    "fail-level": ("fail_level", _level),
    "max-errors": ("max_errors", _count),
    "baseline": ("baseline", _text),
    "comments": ("comments", _flag),
    "target": ("target", _release),
    "extensions": ("extensions", extensions),
    "policy": ("policies", _policies),
    "contract": ("contracts", _contracts),
    "devices": ("devices", _devices),
    "rules": ("custom", _rules),
    "jobs": ("jobs", _count),
    "cache": ("cache", _flag),
    "cache-dir": ("cache_dir", _text),
}
