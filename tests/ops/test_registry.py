"""The declaration that a layer gets: versions, the tables of releases, operations of plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape
from irshape.inference.requirements import requirements
from irshape.ops import registry
from irshape.releases import IR_VERSIONS, OPSETS, PARTIAL_OPSETS

NEXT = max(OPSETS) + 1
"""The number of an opset that no release has yet."""


class Span(NamedTuple):
    type_name: str
    since: int
    opsets: Iterable[int]


@pytest.mark.parametrize(
    "span",
    [
        Span("ReduceMean", since=1, opsets=range(1, 17)),
        Span("Gelu", since=2, opsets=range(2, 7)),
        Span("Gelu", since=7, opsets=range(7, 17)),
        Span("RNNCell", since=1, opsets=(1, *range(3, 17))),  # but for opset2
        Span("Xor", since=1, opsets=range(1, 2)),  # gone after opset1, without a later version
        # among the few that opset17 repeats
        Span("ShapeOf", since=3, opsets=range(3, max(OPSETS) + 1)),
        Span("GroupedMatMul", since=17, opsets=range(17, 18)),
    ],
)
def test_the_opsets_that_hold_a_version(span: Span) -> None:
    (cls,) = (cls for cls in registry.versions(span.type_name) if cls.since == span.since)
    assert registry.opsets(cls) == tuple(span.opsets)


def test_a_base_class_is_no_type() -> None:
    assert registry.versions("Reduction") == ()
    assert registry.versions("AlongAxis") == ()
    assert {cls.type_name() for cls in registry.versions("constant")} == {"Const"}


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A change of the tables or the declarations that the registry forgets afterwards."""
    registry.refresh()
    yield monkeypatch
    monkeypatch.undo()
    registry.refresh()


def relu_of(version: str, ir_version: str, folder: Path) -> Path:
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("2,3")], version=version, outputs=["FP32:2,3"]))
    path = net.save(folder)
    path.write_text(path.read_text().replace('version="11"', f'version="{ir_version}"'))
    return path


def codes(path: Path) -> set[str]:
    return {one.code for one in irshape.validate(path).diagnostics if one.severity == "error"}


def test_a_new_opset_is_an_entry_in_the_table(tmp_path: Path, patched: pytest.MonkeyPatch) -> None:
    path = relu_of(f"opset{NEXT}", "11", tmp_path)
    assert "IR603" in codes(path)
    patched.setitem(OPSETS, NEXT, (2030, 0))
    registry.refresh()
    assert codes(path) == set()
    assert max(need.release for need in requirements(irshape.infer(path))) == (2030, 0)
    assert [registry.opsets(cls)[-1] for cls in registry.versions("Gelu")] == [6, NEXT]


def test_a_partial_opset_holds_only_what_the_table_names(
    tmp_path: Path, patched: pytest.MonkeyPatch
) -> None:
    patched.setitem(OPSETS, NEXT, (2030, 0))
    patched.setitem(OPSETS, NEXT + 1, (2030, 1))
    patched.setitem(PARTIAL_OPSETS, NEXT, frozenset(("Parameter",)))
    assert "IR603" in codes(relu_of(f"opset{NEXT}", "11", tmp_path))
    assert codes(relu_of(f"opset{NEXT + 1}", "11", tmp_path)) == set()
    assert registry.find("Parameter", f"opset{NEXT}") is registry.find("Parameter", "opset1")


def test_a_new_version_of_the_format_is_an_entry_in_the_table(
    tmp_path: Path, patched: pytest.MonkeyPatch
) -> None:
    path = relu_of("opset1", "12", tmp_path)
    refused = irshape.validate(path).diagnostics[0]
    assert (refused.code, refused.expected) == ("IR601", "10 or 11")
    patched.setitem(IR_VERSIONS, 12, (2027, 0))
    assert codes(path) == set()
    assert max(need.release for need in requirements(irshape.infer(path))) == (2027, 0)
    refused = irshape.validate(relu_of("opset1", "13", tmp_path)).diagnostics[0]
    assert refused.expected == "10, 11 or 12"


def test_a_new_version_of_an_operation_leaves_its_predecessor_as_it_is(
    patched: pytest.MonkeyPatch,
) -> None:
    from irshape.ops import activation

    class Swish_17(activation.Swish):
        """`x * sigmoid(beta * x)`."""

        since = 17

    before = registry.find("Swish", "opset16")
    patched.setattr(activation, "Swish_17", Swish_17, raising=False)
    registry.refresh()
    assert registry.versions("Swish") == (before, Swish_17)
    assert registry.find("Swish", "opset17") is Swish_17
    assert registry.opsets(before) == tuple(range(4, 17))


def test_only_types_are_taken(patched: pytest.MonkeyPatch) -> None:
    """A plugin may declare a type that some helper class of this package is named after."""
    import importlib.metadata

    from irshape.ops.declaration import ANY, Operation, operand
    from irshape.ops.image import interpolation

    helper = next(
        name
        for name, value in vars(interpolation).items()
        if isinstance(value, type)
        and value.__module__ == interpolation.__name__
        and "since" not in vars(value)
    )

    class Point:
        name = value = "theirs"

        def load(self) -> type[Operation]:
            return type(helper, (Operation,), {"custom_version": "mine", "data": operand(ANY)})

    patched.setattr(importlib.metadata, "entry_points", lambda group: [Point()])
    assert registry.find(helper, "mine").type_name() == helper
