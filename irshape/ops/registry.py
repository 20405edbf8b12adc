"""Finds the declaration of an operation by the type and version that a layer names, importing only the module that holds it.

The index is made by scanning the sources of this package for top-level classes, which takes a few milliseconds, so adding an operation means adding a class and nothing else.
"""

from __future__ import annotations

import importlib
import re
from functools import cache, lru_cache
from pathlib import Path

from .declaration import Operation

OPSETS = range(1, 18)
"""The opsets that OpenVINO 2026.4 knows, opset17 in part."""

ENTRY_POINT_GROUP = "irshape.operations"

_CLASS = re.compile(r"^class ([A-Z]\w*?)(?:_\d+)?\(", re.MULTILINE)
_OPSET = re.compile(r"opset([1-9][0-9]?)\Z")
_SYNONYMS = {"constant": "const"}
_EXPERIMENTAL = frozenset(
    [
        "experimentaldetectrondetectionoutput",
        "experimentaldetectrongenerateproposalssingleimage",
        "experimentaldetectronpriorgridgenerator",
        "experimentaldetectronroifeatureextractor",
        "experimentaldetectrontopkrois",
        "grucell",
        "rnncell",
        "proposal",
    ]
)
"""Types that OpenVINO also reads under the versions `experimental` and `extension`, as of opset6."""
_MACHINERY = {"__init__", "declaration", "kinds", "registry", "tensors", "lazy"}


class UnknownOperation(LookupError):
    """No declaration for a type and version. `known` are the versions that the type has, `close` types with a similar name."""

    def __init__(
        self,
        message: str,
        *,
        known: tuple[type[Operation], ...] = (),
        close: str | None = None,
        custom: bool = False,
    ) -> None:
        super().__init__(message)
        self.known = known
        self.close = close
        self.custom = custom


@lru_cache(maxsize=1)
def _index() -> dict[str, tuple[str, str]]:
    """Type name and module by folded type name; bases that declare no type are among them."""
    root = Path(__file__).parent
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(root.rglob("*.py")):
        if path.stem in _MACHINERY:
            continue
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for name in _CLASS.findall(path.read_text(encoding="utf-8")):
            found[name.lower()] = (name, module)
    return found


@cache
def versions(type_name: str) -> tuple[type[Operation], ...]:
    """The declared versions of a type, oldest first; none if there is no such type. The type is found without regard to case."""
    folded = _SYNONYMS.get(type_name.lower(), type_name.lower())
    entry = _index().get(folded)
    found: list[type[Operation]] = []
    if entry is not None:
        for value in vars(importlib.import_module(f"{__package__}.{entry[1]}")).values():
            if (
                isinstance(value, type)
                and issubclass(value, Operation)
                and value.type_name().lower() == folded
                and "since" in _declared(value)
            ):
                found.append(value)
    found += [cls for cls in plugins() if cls.type_name().lower() == folded] if not found else []
    return tuple(sorted(found, key=lambda cls: cls.since))


def _declared(cls: type[Operation]) -> set[str]:
    """What the class body itself sets: a version states its `since`, a shared base does not."""
    return set(vars(cls))


@lru_cache(maxsize=1)
def plugins() -> tuple[type[Operation], ...]:
    """Operations that installed packages declare under the entry point group `irshape.operations`. Raises `ValueError` for a name that is taken."""
    from importlib.metadata import entry_points

    found: list[type[Operation]] = []
    for entry in sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)
    ):
        try:
            cls = entry.load()
        except Exception as problem:
            raise ValueError(
                f"the plugin {entry.value} cannot be loaded: {type(problem).__name__}: {problem}"
            ) from None
        if not (isinstance(cls, type) and issubclass(cls, Operation)):
            raise ValueError(f"the plugin {entry.value} is no irshape.ops.declaration.Operation")
        name = cls.type_name().lower()
        if name in _index() or any(
            other.type_name().lower() == name and _versions_of(other) == _versions_of(cls)
            for other in found
        ):
            raise ValueError(
                f"the plugin {entry.value} declares {cls.type_name()}, which is declared already"
            )
        found.append(cls)
    return tuple(found)


def _versions_of(cls: type[Operation]) -> object:
    return getattr(cls, "custom_version", cls.since)


@cache
def from_plugin(type_name: str) -> bool:
    """Whether an installed package declares the type, and not this one. False for a type that nobody declares."""
    folded = _SYNONYMS.get(type_name.lower(), type_name.lower())
    return folded not in _index() and bool(versions(type_name))


@cache
def find(type_name: str, version: str) -> type[Operation]:
    """The declaration of a type under a version such as `opset8`. Raises `UnknownOperation`."""
    known = versions(type_name)
    if version in ("experimental", "extension") and type_name.lower() in _EXPERIMENTAL:
        return find(type_name, "opset6")
    match = _OPSET.match(version)
    if match is None or int(match[1]) not in OPSETS:
        for cls in known:
            if getattr(cls, "custom_version", None) == version:
                return cls
        raise _unknown_version(type_name, version, known, numbered=match is not None)
    opset = int(match[1])
    for cls in reversed(known):
        if cls.since <= opset <= cls.until:
            return cls
    if known:
        spans = ", ".join(
            f"opset{cls.since} to opset{cls.until}"
            if cls.since != cls.until
            else f"opset{cls.since}"
            for cls in known
        )
        raise UnknownOperation(
            f"{version} does not contain {type_name}, which is in {spans}", known=known
        )
    from difflib import get_close_matches

    close = get_close_matches(type_name.lower(), list(_index()), 3, 0.7)
    names = [cls.type_name() for name in close for cls in versions(name)[:1]]
    raise UnknownOperation(
        f"no opset contains an operation {type_name}", close=names[0] if names else None
    )


def _unknown_version(
    type_name: str, version: str, known: tuple[type[Operation], ...], *, numbered: bool
) -> UnknownOperation:
    if numbered:
        return UnknownOperation(
            f"{version} is no opset that OpenVINO has (opset1 to opset{OPSETS[-1]})", known=known
        )
    if not version:
        return UnknownOperation("the layer names no opset", known=known)
    if re.fullmatch(r"opset.*", version, re.IGNORECASE):
        return UnknownOperation(
            f"'{version}' is no opset; they are written opset1 to opset{OPSETS[-1]}", known=known
        )
    return UnknownOperation(
        f"{type_name} of '{version}' is a custom operation that nobody has declared", custom=True
    )


@lru_cache(maxsize=1)
def type_names() -> tuple[str, ...]:
    """Every declared type, in alphabetical order. Imports all of them."""
    names = {cls.type_name() for folded in _index() for cls in versions(folded)}
    return tuple(sorted(names | {cls.type_name() for cls in plugins()}, key=str.lower))
