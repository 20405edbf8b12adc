"""Operations that are known by name alone: extensions that no class declares."""

from __future__ import annotations

from functools import cache

from .declaration import ANY, AttributeFault, Operation, operand


class Extension(Operation):
    """An operation whose layers have the types and shapes that their ports declare."""

    opaque = True
    inputs = operand(ANY, variadic=True, optional=True)

    @classmethod
    def read(cls, items: tuple[str, ...]) -> tuple[Operation, tuple[AttributeFault, ...]]:
        """An instance; the attributes are left to the library."""
        return cls(), ()


@cache
def extension(type_name: str, version: str) -> type[Extension]:
    """The extension of a type and version."""
    members = {
        "__module__": __name__,
        "__doc__": Extension.__doc__,
        "custom_version": version,
        "type_name": classmethod(lambda cls: type_name),
    }
    return type(type_name, (Extension,), members)
