"""Shows two models side by side on a page: matched layers, changes, and values that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..differences.comparing import diff
from ..differences.result import ModelDiff, Unmatched
from ..model.graph import Layer
from .document import Numbering
from .overlays import LARGEST, Overlay, rows_of
from .showing import Subject

Row = list[Any]
"""A change in the document: its kind, both layers (-1 for none), and lines that describe it."""


def beside_document(
    first: Subject, second: Subject, compared: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the document of a page with two models.

    compared: the result of `irshape compare --format json`.
    Raises `ValueError` if `compared` is not such a result.
    """
    if first.model is None or second.model is None:
        return {
            "pairs": [],
            "changes": [],
            "model": [],
            "notes": ["one of the files contains no model, so nothing is compared"],
            "summary": "",
        }
    difference = diff(first.model, second.model)
    at = first.numbering.at, second.numbering.at
    rows = list(_changes(difference, at))
    notes = list(difference.notes)
    if compared is not None:
        rows = _with_values(rows, compared, first.numbering, second.numbering)
        notes += [str(note) for note in compared.get("notes", ())]
        second.lay_over([_errors(compared, second.numbering)])
    return {
        "pairs": [number for a, b in difference.pairs for number in (at[0][a], at[1][b])],
        "changes": rows,
        "model": [[change.what, change.old, change.new] for change in difference.changes],
        "notes": notes,
        "summary": difference.in_brief,
    }


def _changes(difference: ModelDiff, at: tuple[dict[Layer, int], dict[Layer, int]]) -> Iterator[Row]:
    """Yields the changes that someone made to the model, then their consequences. Leaves out added
    and removed layers of constants, see `Unmatched.constant`."""
    rows = [
        [
            "inherited" if each.inherited else "changed",
            at[0][each.first],
            at[1][each.second],
            [[change.what, change.old, change.new] for change in each.changes],
        ]
        for each in difference.changed
    ]
    yield from (row for row in rows if row[0] == "changed")
    for each in difference.removed:
        if not each.constant:
            yield ["removed", at[0][each.layer], -1, _ends(each)]
    for each in difference.added:
        if not each.constant:
            yield ["added", -1, at[1][each.layer], _ends(each)]
    yield from (row for row in rows if row[0] == "inherited")


def _ends(each: Unmatched) -> list[list[str | None]]:
    lines: list[list[str | None]] = []
    for word, layers in (("takes", each.inputs), ("feeds", each.users)):
        names = [layer.label for layer in layers if not layer.is_constant][:4]
        if names:
            lines.append([word, ", ".join(names)])
    return lines


# values


def _tensors(compared: Mapping[str, Any]) -> list[dict[str, Any]]:
    fields = ("a", "b", "verdict", "own_verdict", "errors", "constant")
    return [row for row in rows_of(compared, "tensors", fields) if not row["constant"]]


def _at(side: Mapping[str, Any], numbering: Numbering) -> int:
    return numbering.of_reference({"path": [], "id": side.get("id")})


def _with_values(
    rows: list[Row], compared: Mapping[str, Any], first: Numbering, second: Numbering
) -> list[Row]:
    """Adds the layers whose values differ for the same inputs. Such layers come first if they
    have no other change."""
    by_second = {row[2]: row for row in rows if row[2] >= 0}
    new: list[Row] = []
    for tensor in _tensors(compared):
        if tensor["own_verdict"] != "differs":
            continue
        a, b = _at(tensor["a"], first), _at(tensor["b"], second)
        line = [f"values of {tensor['tensor']}", "those of the first", _note(tensor, "own_errors")]
        if b in by_second:
            by_second[b][3].append(line)
        else:
            by_second[b] = ["values", a, b, [line]]
            new.append(by_second[b])
    return new + rows


def _note(tensor: Mapping[str, Any], key: str) -> str:
    errors = tensor.get(key) or tensor["errors"]
    parts = [
        f"{word} {errors[name]:.3g}"
        for name, word in (("max_abs", "largest error"), ("max_rel", "largest relative error"))
        if isinstance(errors.get(name), (int, float))
    ]
    if tensor.get("reason"):
        parts.append(str(tensor["reason"]))
    return "; ".join(parts) or "other values"


def _errors(compared: Mapping[str, Any], numbering: Numbering) -> Overlay:
    """Returns the overlay of the largest error of each layer between two runs."""
    heat: dict[int, tuple[float, str]] = {}
    blamed: list[tuple[int, str]] = []
    for tensor in _tensors(compared):
        at = _at(tensor["b"], numbering)
        if at < 0:
            continue
        if tensor["own_verdict"] == "differs" and not blamed:
            blamed.append((at, "The first layer that differs"))
        error = tensor["errors"].get("max_abs")
        size = error if isinstance(error, (int, float)) else 0.0
        if tensor["verdict"] == "differs" and not size:
            size = LARGEST
        if size > heat.get(at, (-1.0, ""))[0]:
            heat[at] = size, f"{tensor['verdict']}; {_note(tensor, 'errors')}"
    return Overlay(
        "compare",
        "Comparison: largest error",
        "The largest absolute difference of the values of two whole runs with the same inputs.",
        [(at, size, note) for at, (size, note) in heat.items()],
        focus=blamed,
    )
