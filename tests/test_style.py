"""Style that ruff does not check: short functions, names of locals, and where tests stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from irshape.cli import COMMANDS

PACKAGE = Path(__file__).resolve().parents[1] / "irshape"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST = 60
"""Lines of a function, its docstring not counted."""
VAGUE = {"found", "made"}
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = PACKAGE.parent / "tests"
OF_ALL = {"differential", "fuzz", "hostile", "measured", "package", "playground", "tokenizers"}
"""Folders of tests/ that do not test a single folder of irshape/."""


def folders(path: Path) -> set[str]:
    """Returns the folders with modules: git leaves behind those of caches when it moves files."""
    return {each.parent.name for each in path.glob("*/*.py")}


def test_each_folder_has_a_folder_of_tests() -> None:
    assert folders(PACKAGE) == folders(TESTS) - OF_ALL


@pytest.mark.parametrize(
    "path",
    [*MODULES, *sorted(TESTS.rglob("*.py"))],
    ids=lambda path: path.relative_to(PACKAGE.parent).as_posix(),
)
def test_the_first_line_says_what_a_module_holds(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first, *more = docstring.split("\n")
    assert first.endswith(".")
    assert more[:1] in ([], [""])


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_has_a_module_of_tests(command: str) -> None:
    """`find tests -name 'test_*COMMAND*'` finds it."""
    assert any(command in path.stem.split("_") for path in TESTS.rglob("test_*.py"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        length -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return length


def too_long(tree: ast.AST) -> dict[str, int]:
    return {each.name: lines(each) for each in functions(tree) if lines(each) > LONGEST}


def vague(tree: ast.AST) -> list[str]:
    """Names that are stored to, and parameters."""
    return [
        f"{node.id} (line {node.lineno})"
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE
    ] + [
        f"{node.arg} (line {node.lineno})"
        for node in ast.walk(tree)
        if isinstance(node, ast.arg) and node.arg in VAGUE
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_functions_and_locals(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert too_long(tree) == {}
    assert vague(tree) == []


@pytest.mark.parametrize(
    ("source", "long", "names"),
    [
        ("def f():\n" + "    pass\n" * 59, [], 0),
        ("def f():\n" + "    pass\n" * 60, ["f"], 0),
        ('def f():\n    """A\n    B"""\n' + "    pass\n" * 59, [], 0),
        ("async def f():\n" + "    pass\n" * 60, ["f"], 0),
        ("found = 1", [], 1),
        ("def f(made): ...", [], 1),
        ("[found for found in ()]", [], 1),
        ("for made, other in (): ...", [], 1),
        ("with f() as found: ...", [], 1),
        ("print(found, made.made)", [], 0),
    ],
)
def test_the_checks_see_it(source: str, long: list[str], names: int) -> None:
    tree = ast.parse(source)
    assert list(too_long(tree)) == long
    assert len(vague(tree)) == names
