"""`irshape ops`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..spelling import suggestion
from .arguments import Command
from .common import echo, echo_json, form_option
from .tables import fitted, text_table

if TYPE_CHECKING:
    from ..ops.declaration import Operation


@click.command("ops", cls=Command)
@click.argument("type_name", metavar="[TYPE]", required=False)
@form_option("table", "json")
def command(type_name: str | None, form: str) -> None:
    """List the operations that irshape knows, or explain one.

    The list has every version of an operation, the opsets that contain it, and whether irshape
    infers its shapes and evaluates it. The operations of the opsets come first, then the operations
    that the library openvino_tokenizers adds to OpenVINO. With TYPE, the page of that operation:
    its inputs, outputs, attributes and constraints.

    Exit status: 0; 2 if there is no such operation.
    """
    from ..ops import registry
    from ..ops.extension import extension

    names = [type_name] if type_name else registry.type_names()
    classes = [cls for name in names for cls in registry.versions(name)]
    added = [type_name] if type_name else registry.library_type_names()
    classes += [cls for name in added if (cls := registry.library_operation(name)) is not None]
    if not classes:
        named = [each.partition("@") for each in registry.EXTENSIONS.get()]
        classes = [extension(name, of or "extension") for name, _, of in named if name == type_name]
    if not classes:
        close = suggestion(str(type_name), (*registry.type_names(), *registry.library_type_names()))
        hint = close or "; `irshape ops` lists them"
        raise click.UsageError(f"there is no operation '{type_name}'{hint}")
    rows = [described(cls) for cls in classes]
    if form == "json":
        echo_json(rows)
    elif type_name:
        echo("\n".join(map(_page, rows, classes)), newline=False)
    else:
        echo("\n".join(_listing(rows)))


def _listing(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the table of all versions, and a line of counts."""
    table = []
    for row in rows:
        span = row["version"] if row["library"] else str(row["since"])
        if row["until"] != row["since"]:
            span += f"-{row['until']}"
        infer, evaluate = ("yes" if row[what] else "no" for what in ("infer", "evaluate"))
        table.append((row["type"], span, infer, evaluate, row["category"]))
    head = ("OPERATION", "OPSETS", "INFER", "EVALUATE", "CATEGORY")
    lines = text_table(head, table, shrinking={"OPERATION": 20, "CATEGORY": 8})
    own = [row for row in rows if not row["library"]]
    types = len({row["type"] for row in own})
    both = sum(row["infer"] and row["evaluate"] for row in own)
    totals = f"{len(own)} versions of {types} operations; {both} are inferred and evaluated"
    added = [row for row in rows if row["library"]]
    evaluated = sum(row["evaluate"] for row in added)
    libraries = ", ".join(sorted({row["library"] for row in added}))
    more = f"{len(added)} operations of {libraries}; {evaluated} are evaluated"
    return [*lines, totals, more]


def described(cls: type[Operation]) -> dict[str, Any]:
    """Returns a version of an operation as data for `irshape ops --format json`."""
    from ..execution.computing import supported
    from ..ops import registry
    from ..ops.declaration import LibraryOperation
    from ..ops.operands import OneOf, shared_axes
    from ..rule_ids import INPUT_SHAPES
    from ..view.operations import category
    from ..wording import describe_types

    attributes = []
    for declared in cls.attributes.values():
        default = (
            None
            if declared.refused_when_absent or declared.default is None
            else declared.kind.write(declared.default)
        )
        attributes.append(
            {
                "name": declared.name,
                "type": declared.kind.name,
                "values": declared.describe(),
                "default": default,
                "required": declared.required or declared.refused_when_absent,
            }
        )
    inputs = [
        {
            "name": declared.name,
            "types": describe_types(declared.allowed),
            "ranks": list(declared.ranks) if isinstance(declared.ranks, OneOf) else None,
            "shape": declared.describe_shape(),
            "optional": declared.optional,
            "variadic": declared.variadic,
        }
        for declared in cls.operands
    ]
    library = cls if issubclass(cls, LibraryOperation) else None
    in_opsets = cls.custom_version is None
    return {
        "type": cls.type_name(),
        "version": cls.version_name(),
        "since": cls.since if in_opsets else None,
        "until": registry.opsets(cls)[-1] if in_opsets else None,
        "library": library.library if library else None,
        "introduced": library.introduced if library else None,
        "category": category(cls),
        "documentation": cls.documentation(),
        "infer": cls.is_inferred(),
        "evaluate": supported(cls),
        "attributes": attributes,
        "inputs": inputs,
        "outputs": _outputs(cls),
        "constraints": [
            {"message": message, "rule": INPUT_SHAPES.name} for message in shared_axes(cls.operands)
        ],
    }


def _outputs(cls: type[Operation]) -> list[dict[str, Any]]:
    """Describes each output. `like`: the input with the same type and shape, if the operation
    declares one. `variadic`: whether the operation may have several outputs of this kind."""
    from ..ops.declaration import Operation

    if cls.infer is Operation.infer and cls.result is not None:
        return [{"like": cls.result, "variadic": False}]
    returned = str(cls.infer.__annotations__.get("return", ""))
    count = max(returned.count("Tensor") - returned.count(" | "), 1)
    return [{"like": None, "variadic": "..." in returned}] * count


def _page(row: dict[str, Any], operation: type[Operation]) -> str:
    from ..view.operations import operation_page

    page = operation_page(operation)
    if row["library"]:
        span = f"{row['library']} {row['introduced']} and later"
    elif row["since"] is None:
        span = "a custom operation"
    elif row["since"] != row["until"]:
        span = f"opset{row['since']} to opset{row['until']}"
    else:
        span = f"opset{row['since']}"
    if operation.opaque and not row["library"]:
        return f"{row['type']} of {row['version']}, known only by name. {row['documentation']}\n"
    none = ["  none"]
    lines = [
        f"{row['type']} of {row['version']} ({span}, {row['category']})",
        "",
        row["documentation"],
        "",
        *(["irshape does not evaluate it.", ""] if not row["evaluate"] else []),
        "Inputs",
    ]
    lines += [f"  {at}  {name}: {what}" for at, (name, what) in enumerate(page["inputs"])] or none
    lines.append("Outputs")
    for index, entry in enumerate(row["outputs"]):
        like = f"the element type and shape of `{entry['like']}`"
        rest = "inferred from the inputs and attributes"
        more = ", perhaps more" * entry["variadic"]
        lines.append(f"  {index}{more}  {like if entry['like'] else rest}")
    lines.append("Attributes")
    lines += [f"  {name}: {values}" for name, values in page["attributes"]] or none
    custom = row["since"] is None and not row["library"]
    rest = "that its `infer` checks" if custom else "of its specification"
    lines += ["Constraints", *(f"  {message}" for message in page["constraints"])]
    lines.append(f"  all other constraints {rest}")
    return "\n".join(fitted("\n".join(lines).split("\n"))) + "\n"
