"""Custom operations that no class declares: irshape knows only their names."""

from __future__ import annotations

from functools import cache

from .declaration import ANY, AttributeFault, Operation, operand


class Extension(Operation):
    """An operation that irshape cannot infer. Layers keep their declared types and shapes."""

    opaque = True
    inputs = operand(ANY, variadic=True, optional=True)

    @classmethod
    def read(cls, items: tuple[str, ...]) -> tuple[Operation, tuple[AttributeFault, ...]]:
        """Returns an instance without attributes, because only the library can read them."""
        return cls(), ()


@cache
def extension(type_name: str, version: str) -> type[Extension]:
    """Returns the class of the extension with this type and version."""
    members = {
        "__module__": __name__,
        "__doc__": Extension.__doc__,
        "custom_version": version,
        "type_name": classmethod(lambda cls: type_name),
    }
    return type(type_name, (Extension,), members)
