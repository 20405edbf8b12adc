"""How a single planted fault is told and cured.

Validation, safe fixes, unsafe fixes and candidates rest on the same examination of a text. Here
it is made once for all of them, and that of the sound original once for all faults.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest.mock import patch
from xml.parsers.expat import ExpatError, ParserCreate

from faults import Where
from lxml import etree
from planting import SLIPS, Original, Place
from text_lines import TextLines, common_ends, expected_lines

import irshape
from irshape.checking import fixing, one
from irshape.diagnosis.text import several
from irshape.model.graph import NotReadable

ANSWERS = ("one", "at", "safe", "unsafe", "three")
"""What is asked of a fault that contradicts anything."""
_BETWEEN = re.compile(rb">\s+<")


def graver(diagnostics: list) -> list:
    return [each for each in diagnostics if each.severity != "info"]


def canonical(data: bytes) -> bytes:
    """The document without white space between elements, its edges in one order."""
    parser = etree.XMLParser(remove_blank_text=True)
    root = etree.fromstring(data, parser)
    for group in root.iter("edges"):
        group[:] = sorted(group, key=lambda edge: sorted(edge.attrib.items()))
    return etree.tostring(root, method="c14n")


class Remembered:
    """A function of a text that is worked out once for each text."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.lasting: dict[object, Any] = {}
        self.recent: dict[object, Any] = {}

    def __call__(self, key: object, *arguments: Any, **options: Any) -> Any:
        for known in (self.lasting, self.recent):
            if key in known:
                answer = known[key]
                break
        else:
            try:
                answer = self.function(*arguments, **options)
            except NotReadable as unreadable:
                answer = unreadable
            self.recent[key] = answer
        if isinstance(answer, NotReadable):
            raise answer
        return answer


class Judge:
    """Tries faults in one model, in a folder of its own. It is a context manager.

    shared: whether examinations are shared; the answers are the same without.
    """

    def __init__(self, original: Original, *, shared: bool = True) -> None:
        self.original = original
        self.shared = shared
        self.stack = ExitStack()

    def __enter__(self) -> Judge:
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.path = folder / self.original.path.name
        self.weights = self.path.with_suffix(".bin")
        self.path.write_bytes(self.original.text)
        self._link_weights()
        self.examined = Remembered(one.examine)
        self.read = Remembered(one.read_source)
        self.malformed = Remembered(several.malformed_causes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stack.close()

    def _link_weights(self) -> None:
        given = self.original.path.with_suffix(".bin").resolve()
        self.weights.unlink(missing_ok=True)
        if given.exists():
            self.weights.symlink_to(given)

    def sound(self) -> bool:
        """Whether nothing is found in the model as it is."""
        with self._sharing():
            self.path.write_bytes(self.original.text)
            sound = not graver(irshape.validate(self.path).diagnostics)
            for each in (self.examined, self.read):
                each.lasting, each.recent = each.recent, {}
            return sound

    def _sharing(self) -> ExitStack:
        stack = ExitStack()
        if not self.shared:
            return stack

        def examine(model: Any, *arguments: Any, **options: Any) -> Any:
            return self.examined(model.source.data, model, *arguments, **options)

        def read_source(source: Any, weights: Any) -> Any:
            return self.read(source.data, source, weights)  # fixes set the weights themselves

        def malformed_causes(unreadable: Any) -> Any:
            return self.malformed(unreadable.source.data, unreadable)

        for module in (one, fixing):
            stack.enter_context(patch.object(module, "examine", examine))
            stack.enter_context(patch.object(module, "read_source", read_source))
        for module in (several, fixing):
            stack.enter_context(patch.object(module, "malformed_causes", malformed_causes))
        return stack

    def judge(self, place: Place) -> dict[str, Any]:
        """The answers for a fault: 1 or 0; what was told and done, and the lines expected."""
        if place.in_weights:
            self.weights.unlink()
            self.weights.write_bytes(place.apply(self.original.weights))
            kept = [(each, each.lasting) for each in (self.examined, self.read)]
            for each, _ in kept:
                each.lasting = {}
            try:
                return self._judged(place, self.original.text)
            finally:
                self._link_weights()
                for each, lasting in kept:
                    each.lasting = lasting
        return self._judged(place, place.apply(self.original.text))

    def _judged(self, place: Place, broken: bytes) -> dict[str, Any]:
        with self._sharing():
            self.path.write_bytes(broken)
            diagnostics = graver(irshape.validate(self.path).diagnostics)
            answer: dict[str, Any] = {"silent": int(not diagnostics)}
            if diagnostics:
                lines = self.lines(place, broken)
                answer["one"] = int(len(diagnostics) == 1)
                answer["at"] = int(_placed(diagnostics, place.where, lines))
                if not place.in_weights:  # nothing writes a .bin
                    answer |= self._cures(broken, len(diagnostics))
                if not all(answer.get(name, 1) for name in ANSWERS) or answer.get("worse"):
                    answer["told"] = [f"{each.line} {each}" for each in diagnostics[:4]]
                    answer["lines"] = sorted(lines)[:5]
        for each in (self.examined, self.read, self.malformed):
            each.recent = {}
        return answer

    def _cures(self, broken: bytes, count: int) -> dict[str, Any]:
        safe = irshape.fix(self.path)
        unsafe = irshape.fix(self.path, unsafe=True)
        answer: dict[str, Any] = {
            "safe": int(self.gives(safe.data)),
            "unsafe": int(self.gives(unsafe.data)),
            "worse": int(any(len(graver(each.remaining)) > count for each in (safe, unsafe))),
        }
        answer["three"] = int(
            answer["safe"]
            or answer["unsafe"]
            or any(
                self.gives(candidate.apply(broken))
                for choice in safe.candidates
                for candidate in choice.alternatives[:3]
            )
        )
        if not (answer["safe"] and answer["three"]) or answer["worse"]:
            answer["did"] = unsafe.diff()[-600:]
            answer["listed"] = [
                candidate.change for choice in safe.candidates for candidate in choice.alternatives
            ]
        return answer

    @cached_property
    def goals(self) -> list[tuple[bytes, bytes]]:
        """The original, and what `fix` makes of it where it declares less than is certain.

        Each without white space, and in its canonical form.
        """
        path = self.path.with_name(f"sound_{self.path.name}")
        path.write_bytes(self.original.text)
        path.with_suffix(".bin").symlink_to(self.original.path.with_suffix(".bin").resolve())
        texts = dict.fromkeys((self.original.text, irshape.fix(path).data))
        return [(_BETWEEN.sub(b"><", text), canonical(text)) for text in texts]

    def gives(self, data: bytes) -> bool:
        """Whether a text is the original, but for white space and the order of edges."""
        if data == self.original.text or _BETWEEN.sub(b"><", data) in [g[0] for g in self.goals]:
            return True
        try:
            return canonical(data) in [goal[1] for goal in self.goals]
        except etree.XMLSyntaxError:
            return False

    def lines(self, place: Place, broken: bytes) -> set[int]:
        """The lines where a finding stands rightly."""
        if place.in_weights:
            return weights_lines(self.original.lines, place.where)
        if place.kind in SLIPS:
            lines = slip_lines(self.original.lines, broken)
            if is_well_formed(broken):
                lines |= expected_lines(self.original.lines, broken, None)
            return lines
        return expected_lines(self.original.lines, broken, place.where)


def _placed(diagnostics: list, where: Where | None, lines: set[int]) -> bool:
    """Whether the first error or warning is at an element that was changed."""
    if lines:
        return diagnostics[0].line in lines
    layer = diagnostics[0].layer
    return layer is not None and Where(tuple(layer["path"]), layer["id"]) == where


def is_well_formed(data: bytes) -> bool:
    try:
        ParserCreate().Parse(data, True)
    except (ExpatError, LookupError, ValueError):  # or an encoding that nobody knows
        return False
    return True


def slip_lines(before: TextLines, after: bytes) -> set[int]:
    """The line of the first byte that differs, and that of the element around it."""
    start, _ = common_ends(before.data, after)
    line = before.line(start)
    text = before.data[before.starts[line - 1] : before.starts[line]]
    if re.fullmatch(rb"<\w+>", text.strip()):
        return {line, line + 1}  # what follows the tag that is missing
    row = before.around(line)
    if row is None:
        return {line}
    return {line, row.first, *((before.rows[row.parent].first,) if row.name == "dim" else ())}


def weights_lines(text: TextLines, where: Where | None) -> set[int]:
    """The lines of a Const, and of those that have the same bytes."""
    rows = text.ids.get(where.id, []) if where is not None else []
    data = [row for row in text.rows if row.name == "data" and row.attributes.get("offset")]
    offsets = {
        row.attributes["offset"]
        for row in data
        if any(layer.first <= row.first <= layer.last for layer in rows)
    }
    layers = [text.rows[row.parent] for row in data if row.attributes["offset"] in offsets]
    return {line for row in layers for line in range(row.first, row.last + 1)}
