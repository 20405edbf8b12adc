"""IR6xx: versions of the format, opsets and operations."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Problem
from ..ops.registry import UnknownOperation
from .base import Context, Rule


class IrVersion(Rule):
    """The IR has a version that OpenVINO does not read."""

    code, name, severity = "IR601", "ir-version", "error"


class UnknownType(Rule):
    """No opset contains an operation of this type."""

    code, name, severity = "IR602", "unknown-type", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for layer, unknown in context.met(UnknownOperation):
            place = context.model.source.attribute
            if unknown.custom:
                rule, at, hint = (
                    CustomOperation.name,
                    "version",
                    "declare it in a plugin (entry point group irshape.operations); its declared ports are taken meanwhile",
                )
            elif unknown.known or (not unknown.close and "opset" in str(unknown).split(" ")[0]):
                newest = unknown.known[-1].version_name() if unknown.known else "opset1"
                rule, at, hint = UnknownVersion.name, "version", f'write version="{newest}"'
            else:
                rule, at, hint = (
                    cls.name,
                    "type",
                    f"did you mean {unknown.close}?" if unknown.close else "correct the type, or declare the operation in a plugin",
                )
            yield Problem(
                rule, str(unknown), place(layer.offset, at), layer, expected=unknown.close, actual=f"{layer.type} of {layer.version or 'no version'}", help=hint
            )


class UnknownVersion(Rule):
    """The opset that the layer names does not contain its operation."""

    code, name, severity = "IR603", "unknown-version", "error"


class CustomOperation(Rule):
    """A custom operation that nobody has declared."""

    code, name, severity = "IR604", "custom-operation", "error"
