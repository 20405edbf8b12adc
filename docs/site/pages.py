"""Writes the sources of the documentation site: the documents, and the pages made from the code.

usage: python docs/site/pages.py FOLDER

FOLDER is emptied first. The documents come from docs/, the pages of rules and operations from their
declarations, and the reference of the Python names from `irshape.__all__`. `docs/site/build.sh`
turns the sources into HTML.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from programs import program, rows, shape_rows  # noqa: E402

import irshape  # noqa: E402
from irshape.cli.ops import described  # noqa: E402
from irshape.cli.rule import markdown as rules_as_markdown, severity  # noqa: E402
from irshape.ops import registry  # noqa: E402
from irshape.ops.declaration import LibraryOperation, Operation  # noqa: E402
from irshape.releases import OPSETS  # noqa: E402
from irshape.rules import Rule, all_rules  # noqa: E402

ROOT = HERE.parents[1]
DOCS = ROOT / "docs"
FILES = "files"
"""The folder of the site for copies of repository files to which pages link."""

ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "project/examples.md",
    "tests/differential/README.md": "project/differential-tests.md",
}
"""Maps documents outside docs/ to their pages of the site."""
FOLDERS = {
    "examples": "project/examples.md",
    "schemas": "schemas.md",
}
"""Maps folders to which pages link to the page that describes the folder."""

CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()((?![a-z]+:)[^)\s]+)(\))")
ORPHAN = "---\norphan: true\n---\n\n"
"""The beginning of a page that no table of contents lists: long tables slow every page."""
UNSEARCHED = "---\nnosearch: true\n---\n\n"
"""The beginning of a page that the search leaves out, since it mentions almost every word."""


# The documents


def home_of(path: str) -> str | None:
    """Returns the page of the site for a file of the repository; None without a page."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    page = PurePosixPath(path)
    return page.name if page.parent == PurePosixPath("docs") and page.suffix == ".md" else None


def staged(path: Path, folder: Path) -> str:
    """Returns a document, with its links changed to pages of the site. Copies linked files."""
    here = path.parent.relative_to(ROOT).as_posix()
    page = home_of(path.relative_to(ROOT).as_posix())
    assert page is not None, path

    def led(match: re.Match[str]) -> str:
        target, _, anchor = match[2].partition("#")
        name = os.path.normpath(os.path.join(here, target)) if target else None
        home = page if name is None else _page_of(name, anchor, folder)
        leading = os.path.relpath(home, os.path.dirname(page)) if name is not None else ""
        return f"{match[1]}{leading}{'#' + anchor if anchor else ''}{match[3]}"

    text = path.read_text(encoding="utf-8")
    parts = CODE.split(text)
    return "".join(part if index % 2 else LINK.sub(led, part) for index, part in enumerate(parts))


def _page_of(name: str, anchor: str, folder: Path) -> str:
    """Returns the path in the site for a file or folder of the repository."""
    home = home_of(name) or FOLDERS.get(name)
    if home is not None:
        return home
    if (ROOT / name).is_dir():
        return _listing(name, folder)
    copied = folder / FILES / (f"{name}.txt" if name.endswith(".md") else name)
    if name.startswith("docs/"):  # pictures keep their places
        copied = folder / name.removeprefix("docs/")
    copied.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / name, copied)
    return copied.relative_to(folder).as_posix()


def _listing(name: str, folder: Path) -> str:
    """Copies a folder. Returns the page that lists its files."""
    shutil.copytree(ROOT / name, folder / FILES / name, dirs_exist_ok=True)
    files = sorted(path.name for path in (ROOT / name).iterdir() if path.is_file())
    lines = [f"- [{file}]({os.path.basename(name)}/{file})" for file in files]
    page = f"{FILES}/{name}.md"
    write(folder, page, f"{ORPHAN}# {name}\n\n" + "\n".join(lines) + "\n")
    return page


RULE = re.compile(r"(?<![\w`\[/#-])`?(IR\d{3})`?(?![\w`\]-])")


def with_rules(text: str) -> str:
    """Returns the text of a page in the top folder, with links from codes of rules to pages."""
    codes = {rule.code for rule in all_rules()}

    def linked(match: re.Match[str]) -> str:
        return f"[{match[1]}](rules/{match[1]}.md)" if match[1] in codes else match[0]

    lines = (
        part if index % 2 else "\n".join(_linked_line(line, linked) for line in part.split("\n"))
        for index, part in enumerate(CODE.split(text))
    )
    return "".join(lines)


def _linked_line(line: str, linked: Callable[[re.Match[str]], str]) -> str:
    """Adds the links to a line, except in headings, code and other links."""
    if line.startswith("#"):
        return line
    pieces = re.split(r"(`[^`]*`|\[[^\]]*\]\([^)]*\))", line)
    return "".join(
        RULE.sub(linked, piece) if not index % 2 or re.fullmatch(r"`IR\d{3}`", piece) else piece
        for index, piece in enumerate(pieces)
    )


MOVED = {
    "accuracy": "evidence.html#accuracy",
    "releases": "evidence.html#agreement-with-openvino-releases",
    "openvino-bugs": "evidence.html#bugs-of-openvino",
    "layer-examples": "evidence.html#layer-examples-of-the-operation-documents",
    "wild": "evidence.html#ir-files-of-public-projects",
    "at-a-terminal": "what-went-wrong.html",
    "faults": "fix.html",
    "graphs-elsewhere": "recipes.html",
}
"""Maps removed pages of the site to the pages that replace them."""


def moved_pages(folder: Path) -> None:
    """Writes an HTML page at each old address that redirects to the new one. Sphinx copies it."""
    for name, target in MOVED.items():
        write(
            folder,
            f"moved/{name}.html",
            f'<!doctype html><meta charset="utf-8"><title>Moved</title>'
            f'<meta http-equiv="refresh" content="0; url={target}">'
            f'<link rel="canonical" href="{target}"><a href="{target}">This page has moved</a>\n',
        )


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def rubric(text: str) -> str:
    """Returns a heading that the search does not rank as the title of a section."""
    return f"```{{rubric}} {text}\n:heading-level: 2\n```"


def documents(folder: Path) -> None:
    for path in sorted(DOCS.glob("*.md")):
        write(folder, path.name, with_rules(staged(path, folder)))
    for name, page in ELSEWHERE.items():
        if name != "README.md":
            head = UNSEARCHED if name in ("CHANGELOG.md", "CONTRIBUTING.md") else ""
            write(folder, page, head + staged(ROOT / name, folder))
    write(folder, "index.md", with_rules((HERE / "index.md").read_text(encoding="utf-8")))
    shutil.copyfile(HERE / "conf.py", folder / "conf.py")
    shutil.copytree(DOCS / "pictures", folder / "pictures", dirs_exist_ok=True)


# The rules


def rule_pages(folder: Path) -> None:
    table = []
    for rule in all_rules():
        write(folder, f"rules/{rule.code}.md", rule_page(rule))
        summary = rule.page().summary.replace("|", "\\|")
        cells = (f"[{rule.code}](rules/{rule.code}.md)", f"`{rule.name}`", severity(rule), summary)
        table.append(f"| {' | '.join(cells)} |")
    head = rules_as_markdown(all_rules()).partition("| Code |")[0]
    lines = [head + "| Code | Name | Severity | |", "|---|---|---|---|", *table, ""]
    write(folder, "rules.md", "\n".join(lines))


def rule_page(rule: type[Rule]) -> str:
    page = rule.page()
    parts = [
        f"{ORPHAN}# {rule.code} {rule.name}",
        f"{page.summary} ({severity(rule).capitalize()}.)",
    ]
    for heading, text in page.sections.items():
        linked = re.sub(r"\]\(#(ir\d{3})-[a-z0-9-]+\)", lambda m: f"]({m[1].upper()}.md)", text)
        parts += [rubric(heading), linked]
    return "\n\n".join(parts) + "\n"


# The operations


def all_operations() -> list[type[Operation]]:
    """Returns all versions of the operations of the opsets, then the operations of libraries."""
    versions = [cls for name in registry.type_names() for cls in registry.versions(name)]
    added = [registry.library_operation(name) for name in registry.library_type_names()]
    return [*versions, *filter(None, added)]


def page_name(operation: type[Operation]) -> str:
    if issubclass(operation, LibraryOperation):
        return operation.type_name()
    return f"{operation.type_name()}-{operation.since}"


def operation_pages(folder: Path) -> None:
    lines = [
        "# Operations",
        "",
        "Every version of every operation has a page: its attributes, inputs and constraints, the",
        "shapes that follow from them, the releases that read it, and a program that builds it.",
        "`irshape ops TYPE` prints the same at a terminal. The last column counts the cases of the",
        "differential tests, which compare irshape with OpenVINO.",
        "",
        "| operation | opsets | category | evaluated | comparisons with OpenVINO |",
        "|---|---|---|---|---|",
    ]
    for cls in all_operations():
        row = described(cls)
        span = _span(row).replace("opset", "")
        write(folder, f"operations/{page_name(cls)}.md", operation_page(cls))
        lines.append(
            f"| [{page_name(cls)}](operations/{page_name(cls)}.md) | {span} | {row['category']} "
            f"| {'yes' if row['evaluate'] else 'no'} | {len(rows()[cls]) or 'none'} |"
        )
    write(folder, "operations.md", "\n".join(lines) + "\n")


def _span(row: dict[str, Any]) -> str:
    if row["library"]:
        return f"{row['library']} {row['introduced']} and later"
    if row["since"] == row["until"]:
        return f"opset{row['since']}"
    return f"opset{row['since']} to opset{row['until']}"


def operation_page(cls: type[Operation]) -> str:
    """Returns the page of a version of an operation."""
    row = described(cls)
    evaluated = "irshape evaluates it." if row["evaluate"] else "irshape does not evaluate it."
    parts = [
        f"{ORPHAN}# {page_name(cls)}",
        row["documentation"],
        f"{_releases(cls, row)} {evaluated}",
        rubric("Inputs"),
        _table(
            ("input", "element types", "shape", ""),
            [
                (
                    f"`{entry['name']}`",
                    entry["types"],
                    entry["shape"] or "any",
                    ", ".join(word for word in ("optional", "variadic") if entry[word]),
                )
                for entry in row["inputs"]
            ],
        ),
        rubric("Attributes"),
        _table(
            ("attribute", "values", "default"),
            [(f"`{each['name']}`", each["values"], _default(each)) for each in row["attributes"]],
        ),
        rubric("Constraints"),
        _table(
            ("sizes that must be equal", "rule"),
            [(each["message"], _rule_link(each["rule"])) for each in row["constraints"]],
            empty="No sizes of inputs must be equal.",
        ),
    ]
    if not row["library"]:
        parts += _shapes(cls) + _example(cls)
    return "\n\n".join(parts) + "\n"


def _releases(cls: type[Operation], row: dict[str, Any]) -> str:
    if row["library"]:
        return f"An operation of {row['library']} since {row['introduced']}."
    year, minor = OPSETS[cls.since]
    release = dict(cls.released).get(cls.since, f"{year}.{minor}")
    return f"Part of {_span(row)}. OpenVINO {release} and later read it."


def _default(entry: dict[str, Any]) -> str:
    if entry["required"]:
        return "required"
    return "" if entry["default"] in (None, "") else f"`{entry['default']}`"


def _rule_link(name: str) -> str:
    code = next(rule.code for rule in all_rules() if rule.name == name)
    return f"[{code}](../rules/{code}.md)"


def _shapes(cls: type[Operation]) -> list[str]:
    listed = shape_rows(cls)
    if not listed:
        return []
    cells = [
        (
            f"`{row.attributes}`" if row.attributes else "",
            ", ".join(f"`{text}`" for text in row.inputs) or "none",
            ", ".join(f"`{text}`" for text in row.outputs) or "none",
        )
        for row in listed
    ]
    return [
        rubric("Shapes"),
        "Examples from the tests, with the inferred outputs:",
        _table(("attributes", "inputs", "outputs"), cells),
    ]


def _example(cls: type[Operation]) -> list[str]:
    example = program(cls)
    return [
        rubric("Example"),
        f"```python\n{example.text}```",
        *([f"It prints:\n\n```text\n{example.printed}```"] if example.printed else []),
        f"In the saved IR:\n\n```xml\n{example.layer}\n```",
    ]


def _table(heads: tuple[str, ...], cells: list[tuple[str, ...]], empty: str = "None.") -> str:
    if not cells:
        return empty
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in cells:
        escaped = (re.sub(r"\s+", " ", cell).replace("|", "\\|") for cell in row)
        lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join(lines)


# The names of the package


def api_pages(folder: Path) -> None:
    """Writes a page for the functions, one for each class, and one for all other names."""
    functions, classes, others = [], [], []
    for name in irshape.__all__:
        value = getattr(irshape, name)
        kind = (
            functions if inspect.isroutine(value) else classes if inspect.isclass(value) else others
        )
        kind.append(name)
    classes = [name for name in classes if name not in ALIASES]
    others += [name for name in ALIASES if name not in others]
    write(folder, "api/functions.md", _functions_page(functions))
    for name in classes:
        write(folder, f"api/{name}.md", _reference(name, [f".. autoclass:: {name}"]))
    write(folder, "api/names.md", _other_names(sorted(others)))
    lines = ["# Python reference", "", inspect.getdoc(irshape).split("\n\n")[-1], ""]  # type: ignore[union-attr]
    lines += ["- [Functions](api/functions.md): " + ", ".join(f"`{name}`" for name in functions)]
    lines += [f"- [`{name}`](api/{name}.md): {_summary(name)}" for name in classes]
    lines += ["- [Other names](api/names.md): " + ", ".join(f"`{name}`" for name in sorted(others))]
    listed = "\n".join(f"api/{name}" for name in ("functions", *classes, "names"))
    toctree = f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    write(folder, "api.md", "\n".join(lines) + "\n" + toctree)


ALIASES = ("Array", "__version__", "op")
"""Names whose values have no docstring of their own: `getdoc` would return that of the class."""


def _functions_page(names: list[str]) -> str:
    return _reference("Functions", [f".. autofunction:: {name}" for name in names])


def _reference(title: str, directives: list[str]) -> str:
    lines = [".. py:currentmodule:: irshape", "", *directives]
    return f"# {title}\n\n```{{eval-rst}}\n" + "\n".join(lines) + "\n```\n"


def _summary(name: str) -> str:
    text = inspect.getdoc(getattr(irshape, name)) or ""
    return re.sub(r"\s+", " ", text.split("\n\n")[0])


def _other_names(names: list[str]) -> str:
    lines = []
    for name in names:
        module = {"__version__": "version", **irshape._MODULES}.get(name)
        value, text = documented_assignment(
            name, import_module(f"irshape.{module}") if module else irshape
        )
        text = re.sub(r"`(.+?)`", r"``\1``", text)
        lines += [f".. py:data:: {name}", f"   :value: {value}", "", f"   {text}", ""]
    return _reference("Other names", lines)


def documented_assignment(name: str, module: ModuleType) -> tuple[str, str]:
    """Returns the value that `module` assigns to a name, as source, and the docstring below it.

    Raises `LookupError` for a name without a docstring.
    """
    blocks = [ast.parse(inspect.getsource(module)).body]
    blocks += [node.body for node in blocks[0] if isinstance(node, ast.If)]  # TYPE_CHECKING
    for body in blocks:
        for node, after in zip(body, [*body[1:], None], strict=True):
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            )
            if any(getattr(target, "id", "") == name for target in targets):
                value = ast.unparse(node.value)  # type: ignore[attr-defined]
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    return value, re.sub(r"\s+", " ", str(after.value.value)).strip()
                raise LookupError(f"{module.__name__}.{name} has no docstring")
    raise LookupError(f"{module.__name__}.{name} is assigned nowhere")


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documents(folder)
    rule_pages(folder)
    operation_pages(folder)
    api_pages(folder)
    moved_pages(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
