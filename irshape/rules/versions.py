"""IR6xx: versions of the format, opsets and operations."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.graph import Finding, Layer
from ..ops.declaration import LibraryOperation
from ..ops.internal import is_unconverted
from ..ops.registry import (
    UnknownOperation,
    as_writers_spell,
    declaration,
)
from ..rule_ids import (
    CUSTOM_OPERATION,
    MISSING_LAYER_ATTRIBUTE,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
    RuleId,
)
from ..spelling import counted
from .base import Rule
from .context import Context


def unknown_operations(context: Context) -> dict[RuleId, list[tuple[Layer, UnknownOperation]]]:
    """Returns the layers whose operation irshape does not know, by the rule that reports them."""
    by_rule: dict[RuleId, list[tuple[Layer, UnknownOperation]]] = {}
    if not context.model.format.is_ir:
        return by_rule  # the reader has reported the node
    for layer, unknown in context.observed(UnknownOperation):
        if MISSING_LAYER_ATTRIBUTE in context.read_under.get(layer, ()):
            continue  # without a type or version no operation can be found
        if unknown.custom:
            rule = CUSTOM_OPERATION
        elif unknown.known or unknown.newer or (unknown.no_opset and not unknown.close):
            rule = UNKNOWN_VERSION
        else:
            rule = UNKNOWN_TYPE
        by_rule.setdefault(rule, []).append((layer, unknown))
    return by_rule


def _written(layer: Layer) -> str:
    return f"{layer.type} of {layer.version or 'no version'}"


class IrVersion(Rule):
    """The IR has a version that OpenVINO does not read.

    ## What it does
    Reports a `<net>` whose `version` OpenVINO does not read. irshape then checks nothing else in
    the file: IR versions before 10 have other layers and attributes.

    Also reports a `version` that crosses byte 512 of the file, after a long comment or name.
    OpenVINO searches only the first 512 bytes for the version, and finds only part of it.

    ## Why it matters
    No current reader accepts the file.

    ## What OpenVINO does
    Rejects it without saying why: "Unable to read the model … Please check that model format:
    ".xml" is supported".

    ## Example
    ```xml
    <net name="model" version="6">
    ```

    ## How to fix it
    Convert the original model again with a current OpenVINO.

    ## Use instead
    ```xml
    <net name="model" version="11">
    ```
    """

    fatal = True


def _misspelt_types(context: Context) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields each type that some layer writes with unusual capitals: the type in lower case, and
    a map of its spellings to the right ones, e.g. `matmul` and `{"matmul": "MatMul"}`."""
    if not context.model.format.is_ir:
        return
    for folded, spellings in context.spellings.items():
        meant = {
            each: "Const" if folded == "const" else as_writers_spell(each) for each in spellings
        }
        if any(each != name for each, name in meant.items()):
            yield folded, meant


class UnknownType(Rule):
    """No opset contains an operation of this type.

    ## What it does
    Reports a `type` that is not the name of an operation, and suggests a similar name. irshape uses
    the shapes that the ports of the layer declare, and checks the rest of the model.

    A type with unusual capitals, for example `matmul`, is a warning: OpenVINO reads it, but other
    tools may not.

    For other spellings of `Const`, `Result` and `Assign`, the finding is an error.

    ## Why it matters
    It is unknown what the layer computes.

    ## What OpenVINO does
    Rejects the model: "Opset opset1 doesn't contain the operation with type: ReduceMeen". It reads
    `Constant`, but not its bytes: OpenVINO then fails ("ptr is Null") or crashes where it uses the
    value. It silently drops a `result` or an `assign`, and with it an output or a state.

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMeen" version="opset1">…</layer>
    ```

    ## How to fix it
    Correct the type. If the operation is your own, name it with `--extension TYPE` or declare it in
    a plugin (see IR604).

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>
    ```
    """

    doubt = "values"
    suspects = ("notations", "types")
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, unknown in context.shared(unknown_operations).get(cls.id, ()):
            extension = f"name it with --extension {layer.type}"
            yield cls.finding(
                str(unknown),
                context.model.source.attribute(layer.offset, "type"),
                layer,
                expected=unknown.close,
                actual=_written(layer),
                help=f"did you mean {unknown.close}?"
                if unknown.close
                else f"correct the type; if the operation is your own, {extension}",
            )
        for folded, meant in _misspelt_types(context):
            for layer in context.layers(folded):
                if layer.type != meant[layer.type]:
                    yield cls._misspelt(context, layer, meant[layer.type])

    @classmethod
    def _misspelt(cls, context: Context, layer: Layer, name: str) -> Finding:
        """Returns the finding on a type with unusual capitals. OpenVINO ignores the case of types,
        except of Const, Result and Assign."""
        message = f"'{layer.type}' differs in capitals from {name}, OpenVINO's name of the type"
        exact = name in ("Const", "Result", "Assign")
        if name == "Const":  # the bytes are found only under the exact type
            readable = layer.type.lower() == "constant"
            what = "does not read the bytes of" if readable else "does not know"
            message = f"the type of a constant is Const; OpenVINO {what} a {layer.type}"
        elif exact:
            message += "; OpenVINO silently drops the layer"
        return cls.finding(
            message,
            context.model.source.attribute(layer.offset, "type"),
            layer,
            expected=name,
            actual=layer.type,
            help=f"write {name}",
            severity=None if exact else "warning",
        )


class UnknownVersion(Rule):
    """The opset that the layer names does not contain its operation.

    ## What it does
    Reports a `version` that is not an opset, or an opset that does not contain the operation:
    either the operation is newer than the opset, or the opset is the newest and not complete yet.

    ## Why it matters
    The version decides which attributes and inputs the layer has.

    ## What OpenVINO does
    Rejects the model: "Opset opset3 doesn't contain the operation with type: Gelu", or "Cannot
    create … layer … from unsupported opset: opset99".

    ## Example
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset99">…</layer>
    ```

    ## How to fix it
    Write an opset that contains the operation; `irshape ops ReduceMean` lists them. Most opsets
    contain the operations of earlier ones.

    ## Use instead
    ```xml
    <layer id="2" name="mean" type="ReduceMean" version="opset1">…</layer>
    ```
    """

    doubt = "values"
    suspects = ("versions",)
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, unknown in context.shared(unknown_operations).get(cls.id, ()):
            newest = unknown.known[-1].version_name() if unknown.known else "opset1"
            yield cls.finding(
                str(unknown),
                context.model.source.attribute(layer.offset, "version"),
                layer,
                expected=unknown.close,
                actual=_written(layer),
                help="upgrade irshape" if unknown.newer else f'write version="{newest}"',
            )


class CustomOperation(Rule):
    """The layer is a custom operation.

    ## What it does
    Reports a layer with a version that is used for operations outside the opsets (`extension`,
    `experimental`, `custom_opset` …). irshape uses the shapes that the ports of the layer declare,
    and checks the rest of the model. If the user names the operation (`--extension`, or
    `extensions` in the configuration), or a plugin declares it, the finding is an info: the model
    needs a library. For any other operation it is an error.

    ## Why it matters
    OpenVINO needs a library to run the model, and irshape cannot check the layer.

    ## What OpenVINO does
    Rejects the model if the library has not been added (`Core.add_extension`).

    ## Example
    ```xml
    <layer id="2" name="mine" type="MyOperation" version="custom_opset">…</layer>
    ```

    ## How to fix it
    Name the operation: `--extension MyOperation`, `--extension MyOperation@custom_opset`, or
    `extensions = ["MyOperation"]` in the configuration. To have its shapes inferred, declare it in
    a class, and load the class with `--plugin FILE.py` or the entry point group
    `irshape.operations` of a package.
    """

    doubt = "values"
    refused = True

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        place = context.model.source.attribute
        for layer, unknown in context.shared(unknown_operations).get(cls.id, ()):
            yield cls.finding(
                str(unknown),
                place(layer.offset, "version"),
                layer,
                expected=unknown.close,
                actual=_written(layer),
                help=_convert_again(layer)
                if is_unconverted(layer.type, layer.version)
                else "save the model before it is compiled or transformed for a device"
                if unknown.internal
                else f"name it with --extension {layer.type}@{layer.version}, or in `extensions` "
                "of the configuration, so that irshape uses its declared ports; to have its shapes "
                f'inferred, declare it in a class with custom_version = "{layer.version}", and '
                "load the class with --plugin FILE.py or the entry point group irshape.operations "
                "of a package",
            )
        yield from cls._declared(context)

    @classmethod
    def _declared(cls, context: Context) -> Iterator[Finding]:
        """Yields infos about operations that irshape or a plugin declares: one for each layer of a
        plugin or an extension, and one for each library, at the first layer that needs it."""
        needed: dict[type[LibraryOperation], list[Layer]] = {}
        for kind in context.kinds:
            operation, (type_name, version) = declaration(*kind), kind
            if operation is None:
                continue
            alike = context.layers(type_name.lower())
            layers = [each for each in alike if (each.type, each.version) == kind]
            if issubclass(operation, LibraryOperation):
                needed.setdefault(operation, []).extend(layers)
            plugin = "is declared by a plugin of irshape"
            extension = "is an extension; irshape uses its declared ports"
            for layer in layers if operation.of_plugin or operation.opaque else ():
                yield cls.finding(
                    f"{type_name} of '{version}' {extension if operation.opaque else plugin}",
                    context.model.source.attribute(layer.offset, "type"),
                    layer,
                    actual=_written(layer),
                    help="load its library in OpenVINO with Core.add_extension",
                    severity="info",
                )
        packages = {operation.package: operation.library for operation in needed}
        for package, library in packages.items():
            own = [operation for operation in needed if operation.package == package]
            layers = [layer for each in own for layer in needed[each]]
            types = ", ".join(sorted(operation.type_name() for operation in own))
            first = min(layers, key=lambda each: each.offset)
            yield cls.finding(
                f"the model needs the library {library} for {counted(len(layers), 'layer')}: "
                f"{types}",
                first,
                actual=_written(first),
                help=f"pip install {package}, and import {library} before the model is read",
                severity="info",
            )


def _convert_again(layer: Layer) -> str:
    """Returns advice about an operation that a frontend could not convert."""
    name, domain = layer.attribute("ONNX_META_type"), layer.attribute("ONNX_META_domain")
    what = "the operation" if name is None else f"{name} of {domain or 'ai.onnx'}"
    return f"convert the model again, with a newer OpenVINO or a frontend extension for {what}"
