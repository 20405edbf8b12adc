"""Finds the class that declares an operation, given the type and version of a layer.

Imports only the module that contains the class. To find the module, scans this package's sources
for top-level classes, which takes a few milliseconds. So a new operation needs only a class.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache

from ..faults import module_of
from ..model.graph import Layer
from ..releases import OPSETS, lacks, opset_number
from .declaration import LibraryOperation, Operation

ENTRY_POINT_GROUP = "irshape.operations"
LIBRARY_FOLDER = "tokenization"
"""The folder with the operations of OpenVINO's extension libraries."""

_ALSO_READ = re.compile(r"^    also_read = \((.*?)\)\r?$", re.MULTILINE | re.DOTALL)


@dataclass(eq=False)
class UnknownOperation(LookupError):
    """The error for a type and version that no class declares."""

    message: str
    known: tuple[type[Operation], ...] = ()
    """The classes that declare other versions of the type."""
    close: str | None = None
    """The known type with the most similar name."""
    custom: bool = False
    """Whether the version is not the name of an opset, so that the operation is a custom one."""
    internal: bool = False
    """Whether this is an internal operation of OpenVINO; see the module `internal`."""
    newer: bool = False
    """Whether the version is an opset newer than all opsets that irshape knows."""
    no_opset: bool = False
    """Whether the version looks like an opset, but is none, e.g. `opset0`."""

    def __str__(self) -> str:
        return self.message


def _sources(folder: str, package: str) -> Iterator[tuple[str, str]]:
    """Yields the name, relative to `ops`, and the source text of each module in a folder."""
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        if entry.name.endswith(".py"):
            with open(entry.path, "rb", buffering=0) as file:  # three times as fast as a text
                yield package + entry.name.removesuffix(".py"), file.read().decode()
        elif entry.is_dir() and entry.name not in ("__pycache__", LIBRARY_FOLDER):
            yield from _sources(entry.path, f"{package}{entry.name}.")


@lru_cache(maxsize=1)
def _index() -> dict[str, tuple[str, str]]:
    """Maps each type that OpenVINO reads, in lower case, to its spelling and its module."""
    index: dict[str, tuple[str, str]] = {}
    synonyms: dict[str, tuple[str, str]] = {}
    for module, source in _sources(os.path.dirname(__file__), ""):
        for declared in source.split("\nclass ")[1:]:
            if "\n    since = " not in declared and "\n    since, " not in declared:
                continue  # a base or a helper: only a version of an operation states its `since`
            name = declared[: declared.index("(")]
            stem, _, version = name.rpartition("_")
            type_name = stem if version.isdigit() and stem else name
            index[type_name.lower()] = (type_name, module)
            if "\n    also_read = " in declared:
                names = " ".join(_ALSO_READ.findall(declared))
                for other in re.findall(r'"(\w+)"', names):
                    synonyms[other.lower()] = (type_name, module)
    return synonyms | index


@lru_cache(maxsize=1)
def _library_index() -> dict[str, tuple[str, str]]:
    """Returns the spelling and module of each library operation, by its name in lower case.

    It is separate from `_index` because few models have operations of libraries.
    """
    folder = os.path.join(os.path.dirname(__file__), LIBRARY_FOLDER)
    index: dict[str, tuple[str, str]] = {}
    for module, source in _sources(folder, f"{LIBRARY_FOLDER}."):
        for declared in source.split("\nclass ")[1:]:
            if "\n    introduced = " in declared:
                name = declared[: declared.index("(")]
                index[name.lower()] = (name, module)
    return index


def known_types() -> tuple[str, ...]:
    """Returns all type names that OpenVINO reads, in lower case, without importing modules."""
    return tuple(_index())


@cache
def as_writers_spell(type_name: str) -> str:
    """Returns a type name as IR writers spell it, e.g. `MatMul`; an unknown name unchanged."""
    name = _index().get(type_name.lower(), (type_name, ""))[0]
    if name == type_name or any(type_name in cls.also_read for cls in versions(type_name)):
        return type_name
    return name


@cache
def library_operation(type_name: str) -> type[LibraryOperation] | None:
    """Returns the class of this type in OpenVINO's extension libraries, or None."""
    entry = _library_index().get(type_name.lower())
    if entry is None:
        return None
    module = importlib.import_module(f"{__package__}.{entry[1]}")
    operation = getattr(module, entry[0])
    assert issubclass(operation, LibraryOperation)
    return operation


def library_type_names() -> tuple[str, ...]:
    """Returns the types of all library operations, in alphabetical order."""
    return tuple(sorted((name for name, _ in _library_index().values()), key=str.lower))


@cache
def declared_in(module: str) -> dict[str, list[type[Operation]]]:
    """Returns the classes of operation versions that a module declares, by type name."""
    by_type: dict[str, list[type[Operation]]] = {}
    for value in vars(importlib.import_module(f"{__package__}.{module}")).values():
        if isinstance(value, type) and issubclass(value, Operation) and "since" in vars(value):
            by_type.setdefault(value.type_name(), []).append(value)
    return by_type


@cache
def versions(type_name: str) -> tuple[type[Operation], ...]:
    """Returns the classes of all versions of a type, oldest first; none for an unknown type.

    The case of the type name does not matter.
    """
    return opset_versions(type_name) or of_plugins(type_name)


def opset_versions(type_name: str) -> tuple[type[Operation], ...]:
    """Returns the versions of an operation in OpenVINO's opsets, oldest first."""
    entry = _index().get(type_name.lower())
    declared = [] if entry is None else declared_in(entry[1]).get(entry[0], [])
    return tuple(sorted(declared, key=lambda cls: cls.since))


@cache
def of_plugins(type_name: str) -> tuple[type[Operation], ...]:
    """Returns the classes of a type that plugins declare, oldest first.

    The case of the type name does not matter.
    """
    folded = type_name.lower()
    candidates = [cls for cls in plugins() if cls.type_name().lower() == folded]
    return tuple(sorted(candidates, key=lambda cls: cls.since))


def opsets(cls: type[Operation]) -> tuple[int, ...]:
    """Returns the opsets that contain a version of an operation.

    These are the opsets from `since` to the next version, except those without the operation.
    """
    later = [other.since for other in versions(cls.type_name()) if other.since > cls.since]
    last = vars(cls).get("until") or min(later, default=max(OPSETS) + 1) - 1
    later_opsets = range(cls.since + 1, last + 1)
    return (cls.since, *(opset for opset in later_opsets if not lacks(opset, cls.type_name())))


def plugins() -> tuple[type[Operation], ...]:
    """Returns the operations that installed packages declare or this process has registered.

    Packages use the entry point group `irshape.operations`. Raises `ValueError` for an operation
    that is declared twice.
    """
    return (*_of_packages(), *_registered)


_registered: list[type[Operation]] = []


def registered_operations() -> tuple[type[Operation], ...]:
    """Returns the operations that this process has registered with `register`."""
    return tuple(_registered)


def register(operation: type[Operation]) -> None:
    """Declares an operation for this process. Replaces a class with the same name and module.

    A class without `since` and `custom_version` gets the version `extension`, which OpenVINO gives
    to custom operations by default. Raises `ValueError` if another class declares the operation.
    """
    source = f"{operation.__module__}:{operation.__qualname__}"
    _registered[:] = [
        other for other in _registered if f"{other.__module__}:{other.__qualname__}" != source
    ]
    shown = f"{module_of(operation)}:{operation.__qualname__}"
    _registered.append(_declared(operation, shown, plugins()))
    refresh()


def unregister() -> None:
    """Forgets all operations and extensions that this process has registered."""
    _registered.clear()
    _extensions.clear()
    refresh()


def refresh() -> None:
    """Makes the next look-up read the declarations, the table of opsets and the plugins again."""
    for cached in (declared_in, versions, of_plugins, type_names, _of_packages, _declared_as):
        cached.cache_clear()


@lru_cache(maxsize=1)
def _of_packages() -> tuple[type[Operation], ...]:
    from importlib.metadata import entry_points

    loaded: list[type[Operation]] = []
    for entry in sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)
    ):
        try:
            cls = entry.load()
        except (Exception, SystemExit) as problem:
            raise ValueError(
                f"the plugin {entry.value} cannot be loaded: {type(problem).__name__}: {problem}"
            ) from None
        loaded.append(_declared(cls, entry.value, loaded))
    return tuple(loaded)


def _declared(cls: object, source: str, others: Sequence[type[Operation]]) -> type[Operation]:
    """Returns the class of a plugin's operation. Raises `ValueError` if it is not an operation, or
    if another class declares the same operation."""
    if not (isinstance(cls, type) and issubclass(cls, Operation)) or cls is Operation:
        raise ValueError(f"the plugin {source} is not a subclass of irshape.ops.Operation")
    bases = cls.__mro__[: cls.__mro__.index(Operation)]
    if cls.custom_version is None and not any("since" in vars(base) for base in bases):
        cls.custom_version = "extension"
    name = cls.type_name().lower()
    own = cls.custom_version is not None and opset_number(cls.custom_version) is None
    if (name in _index() and not own) or any(
        other.type_name().lower() == name and other.version_name() == cls.version_name()
        for other in others
    ):
        raise ValueError(
            f"the plugin {source} declares {cls.type_name()}, which is declared already"
        )
    return cls


_extensions: set[str] = set()
"""The custom operations that this process has registered by name: `TYPE`, or `TYPE@VERSION`."""


EXTENSIONS: ContextVar[tuple[str, ...]] = ContextVar("EXTENSIONS", default=())
"""The custom operations that the current check's settings list by name."""


def register_extensions(names: Iterable[str]) -> None:
    """Registers custom operations by name: `TYPE` means all versions, `TYPE@VERSION` one."""
    _extensions.update(names)


@contextmanager
def extensions_known(names: Iterable[str]) -> Iterator[None]:
    """Registers custom operations by name while a `with` block runs."""
    token = EXTENSIONS.set((*EXTENSIONS.get(), *names))
    try:
        yield
    finally:
        EXTENSIONS.reset(token)


def find(type_name: str, version: str) -> type[Operation]:
    """Returns the class that declares a type in a version, e.g. `opset8`. Raises
    `UnknownOperation` if there is none."""
    try:
        return _declared_as(type_name, version)
    except UnknownOperation:
        names = {type_name, f"{type_name}@{version}"}
        if names.isdisjoint(_extensions) and names.isdisjoint(EXTENSIONS.get()):
            raise
    from .extension import extension

    return extension(type_name, version)


@cache
def _declared_as(type_name: str, version: str) -> type[Operation]:
    known = versions(type_name)
    opset = opset_number(version)
    if opset is None or opset not in OPSETS:
        for cls in (*known, *of_plugins(type_name)):
            if version in (*vars(cls).get("also_under", ()), cls.custom_version):
                return cls
        if opset is None and version and not version.startswith("opset"):
            added = library_operation(type_name)
            if added is not None and version == added.custom_version:
                return added
        raise _unknown_version(type_name, version, known, numbered=opset is not None)
    for cls in known:
        if cls.custom_version is None and opset in opsets(cls):
            return cls
    if known:
        spans = ", ".join(map(opset_span, known))
        raise UnknownOperation(
            f"{version} does not contain {type_name}, which is in {spans}", known=known
        )
    name = type_name if type_name.isidentifier() else repr(type_name)
    raise UnknownOperation(
        f"no opset contains an operation named {name}", close=_closest(type_name.strip())
    )


@lru_cache(maxsize=256)
def _closest(type_name: str) -> str | None:
    """Returns the known type with the most similar name, or None."""
    from difflib import get_close_matches

    close = get_close_matches(type_name.lower(), list(_index()), 3, 0.7)
    names = [cls.type_name() for name in close for cls in versions(name)[:1]]
    return names[0] if names else None


def opset_span(cls: type[Operation]) -> str:
    """Returns the opsets that contain a version of an operation, as text: `opset1 to opset3`.

    For an operation that belongs to no opset, the text is the version in quotes: `'extension'`.
    """
    if cls.custom_version is not None:
        return f"'{cls.custom_version}'"
    span = opsets(cls)
    if len(span) == 1:
        return f"opset{span[0]}"
    gaps = [f"opset{opset}" for opset in range(span[0], span[-1]) if opset not in span]
    but = f" (except {', '.join(gaps)})" if gaps else ""
    return f"opset{span[0]} to opset{span[-1]}{but}"


def declaration(type_name: str, version: str) -> type[Operation] | None:
    """Returns the class that declares a type in a version, or None."""
    try:
        return find(type_name, version)
    except UnknownOperation:
        return None


def declaration_of(layer: Layer) -> type[Operation] | None:
    """Returns the class that declares a layer's operation, or None."""
    return declaration(layer.type, layer.version)


def _unknown_version(
    type_name: str, version: str, known: tuple[type[Operation], ...], *, numbered: bool
) -> UnknownOperation:
    newest = max(OPSETS)
    if numbered:
        return UnknownOperation(
            f"{version} is newer than this irshape, which knows opsets up to opset{newest}; "
            "upgrade irshape",
            known=known,
            newer=True,
        )
    if not version:
        return UnknownOperation("the layer has no `version`, such as opset1", known=known)
    if re.fullmatch(r"opset.*", version, re.IGNORECASE):
        return UnknownOperation(
            f"'{version}' is not an opset; opsets are written opset1 to opset{newest}",
            known=known,
            no_opset=True,
        )
    from .internal import internal_operation

    internal = internal_operation(type_name, version)
    if internal is not None:
        return UnknownOperation(internal, custom=True, internal=True)
    return UnknownOperation(
        f"{type_name} of '{version}' is a custom operation that is not declared", custom=True
    )


@lru_cache(maxsize=1)
def type_names() -> tuple[str, ...]:
    """Returns every declared type, in alphabetical order. Imports all modules of operations."""
    names = {cls.type_name() for folded in _index() for cls in versions(folded)}
    return tuple(sorted(names | {cls.type_name() for cls in plugins()}, key=str.lower))
