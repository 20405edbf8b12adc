"""The result of `irshape.diff`: matched layers with their changes, and layers without a partner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..model.graph import Layer, Model
from ..spelling import counted, suggestion

DEFAULT = (
    "type",
    "attributes",
    "element-types",
    "shapes",
    "constants",
    "edges",
    "tensor-names",
    "order",
)
"""What is compared by default: the operation with its opset, attributes, inferred types and
shapes, the bytes of constants, what feeds each input, the names of the inputs and outputs of the
model, and their order."""

OPTIONAL = ("names", "rt-info", "version")
"""What is compared if requested: the names of layers and of all tensors, rt_info, the IR
version."""

ASPECTS = DEFAULT + OPTIONAL


def chosen_aspects(also: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
    """Returns the aspects to compare: the default aspects and `also`, without `ignore`. Raises
    `ValueError` for a name that is not in `ASPECTS`."""
    more, less = ([part for text in given for part in text.split(",")] for given in (also, ignore))
    for name in (*more, *less):
        if name not in ASPECTS:
            close = suggestion(name, ASPECTS) or f" (expected one of {', '.join(ASPECTS)})"
            raise ValueError(f"there is no aspect '{name}' to compare{close}")
    return (frozenset(DEFAULT) | set(more)) - set(less)


class Change(NamedTuple):
    """A difference between two matched layers, or between the models themselves.

    aspect: one of `ASPECTS`.
    what: names the attribute, input or output. old, new: its value in each model; None in a model
    that does not have it.
    """

    aspect: str
    what: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        old, new = ("none" if each is None else each for each in (self.old, self.new))
        return f"{self.what}: {old} → {new}"


class LayerDiff(NamedTuple):
    """Two matched layers that differ.

    inherited: whether the change is only a consequence of other changes: the inputs have other
    types or shapes, or a constant is decompressed in another way.
    """

    first: Layer
    second: Layer
    changes: tuple[Change, ...]
    inherited: bool


class Unmatched(NamedTuple):
    """A layer that the other model lacks, with its producers and consumers.
    constant: whether the layer depends only on constants and either feeds only layers without a
    partner, or decompresses a constant that both models use.
    same_as: a layer of the other model that computes the same from the same inputs.
    """

    layer: Layer
    inputs: tuple[Layer, ...]
    users: tuple[Layer, ...]
    constant: bool
    same_as: Layer | None = None


class ModelDiff:
    """The structural difference of two models.

    `to_dict` is what `irshape diff --format json` prints.
    """

    def __init__(self, first: Model, second: Model) -> None:
        self.first = first
        self.second = second
        self.changes: list[Change] = []
        """The changes of the models themselves, such as the order of outputs."""
        self.pairs: list[tuple[Layer, Layer]] = []
        """The matched layers, in the order of the first model."""
        self.changed: list[LayerDiff] = []
        """The pairs that differ."""
        self.removed: list[Unmatched] = []
        """The layers that only the first model has."""
        self.added: list[Unmatched] = []
        """The layers that only the second model has."""
        self.notes: list[str] = []
        """The parts of the models that could not be compared."""

    @property
    def equal(self) -> bool:
        """Whether the models have no differences in the compared aspects."""
        return not (self.changes or self.changed or self.removed or self.added)

    @property
    def renamed(self) -> int:
        """The number of matched layers whose names differ. Names count as changes only if
        requested."""
        return sum(first.name != second.name for first, second in self.pairs)

    @property
    def retyped(self) -> dict[tuple[str, str], list[LayerDiff]]:
        """The matched constants whose element types differ, e.g. of weights that were compressed.
        The keys are pairs of types, such as f32 and f16, most frequent first."""
        groups: dict[tuple[str, str], list[LayerDiff]] = {}
        for each in self.changed:
            if each.first.is_constant and each.second.is_constant:
                old, new = (layer.attribute("element_type") for layer in (each.first, each.second))
                if old is not None and new is not None and old != new:
                    groups.setdefault((old, new), []).append(each)
        return dict(sorted(groups.items(), key=lambda item: -len(item[1])))

    @property
    def summary(self) -> dict[str, int]:
        """The numbers of matched layers, changed layers, and so on."""
        inherited = sum(each.inherited for each in self.changed)
        return {
            "matched": len(self.pairs),
            "unchanged": len(self.pairs) - len(self.changed),
            "changed": len(self.changed) - inherited,
            "inherited": inherited,
            "renamed": self.renamed,
            "removed": len(self.removed),
            "added": len(self.added),
        }

    @property
    def in_brief(self) -> str:
        """The numbers of matched, changed, removed and added layers, in one line of text."""
        counts = self.summary
        matched = counted(counts["matched"], "layer")
        if self.equal:
            renamed = f", {counts['renamed']:,} of them renamed" if counts["renamed"] else ""
            return f"equal: {matched}{renamed}"
        words = dict.fromkeys(("changed", "removed", "added", "inherited", "renamed"), "")
        words["inherited"] = "changed in types, shapes or decompression as a consequence"
        parts = [f"{counts[key]:,} {text or key}" for key, text in words.items() if counts[key]]
        return f"{matched} matched: {', '.join(parts) or 'no layer changed'}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `irshape diff --format json` prints."""
        return {
            "version": 1,
            "first": self.first.path,
            "second": self.second.path,
            "equal": self.equal,
            "a": self.first.path,  # and so on, as `compare` has them
            "b": self.second.path,
            "ok": self.equal,
            "summary": self.summary,
            "retyped": [
                {"from": old, "to": new, "constants": len(layers)}
                for (old, new), layers in self.retyped.items()
            ],
            "notes": list(self.notes),
            "model": [change._asdict() for change in self.changes],
            "changed": [
                {
                    "first": each.first.reference,
                    "second": each.second.reference,
                    "a": each.first.reference,
                    "b": each.second.reference,
                    "inherited": each.inherited,
                    "changes": [change._asdict() for change in each.changes],
                }
                for each in self.changed
            ],
            "removed": [_unmatched(each) for each in self.removed],
            "added": [_unmatched(each) for each in self.added],
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.summary.items() if count)
        return f"<ModelDiff of {self.first.path} and {self.second.path}: {counts}>"


def _unmatched(each: Unmatched) -> dict[str, Any]:
    return {
        **each.layer.reference,
        "inputs": [layer.reference for layer in each.inputs],
        "users": [layer.reference for layer in each.users],
        "same_as": None if each.same_as is None else each.same_as.reference,
    }
