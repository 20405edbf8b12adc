"""Whether a text with some edits is well-formed, and each element in it where it belongs.

What stands behind the edits, from the next layer or edge on, is looked at once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from xml.parsers import expat

from ...formats.ir.edits import Edit
from .out_of_place import Opened
from .slip import edited
from .structure import IN_RUNS, Structure, first_slip

_IN_A_TOKEN = ("unclosed token", "unclosed CDATA section", "partial character")
"""Where a text ends in a comment or the like, which may go on in what follows."""


def end_of_parsing(text: bytes, head: bytes = b"", at: int = 0) -> int | None:
    """The place where a text is no longer well-formed; None where it is, 0 if it is not decoded.

    head: what opens the elements around the place from which the text is looked at.
    """
    return _end(text, head, at)[0]


def _end(text: bytes, head: bytes, at: int) -> tuple[int | None, str]:
    """The same, and why it is not."""
    parser = expat.ParserCreate()
    try:
        if head:
            parser.Parse(head, False)
        parser.Parse(text[at:] if at else text, True)
    except expat.ExpatError as error:
        return max(parser.ErrorByteIndex - len(head) + at, 0), expat.ErrorString(error.code)
    except (ValueError, LookupError):  # an encoding that nobody knows
        return 0, ""
    return None, ""


class Proofs:
    """What is found out of a text with one set of edits after the other."""

    def __init__(self, elements: Structure, places: Sequence[int]) -> None:
        """places: where the text goes wrong without edits."""
        self.elements = elements
        self.places = places
        self._ends: dict[tuple[Edit, ...], bool | Literal["unknown"]] = {}
        self._rests: dict[tuple[int, tuple[Opened, ...], bool], bool] = {}

    def is_well_formed(self, edits: tuple[Edit, ...]) -> bool:
        """Whether the text with some edits is well-formed."""
        of_piece = self._ends[edits] = self._is_piece_well_formed(edits)
        if of_piece != "unknown":
            return of_piece
        outside = self.elements.outside(min(min(edits).start, *self.places))
        return end_of_parsing(edited(self.elements.text, edits), *outside) is None

    def is_sound(self, edits: tuple[Edit, ...]) -> bool:
        """Whether each known element is where it belongs in a text that is well-formed."""
        at, until, opened = self._around(edits)
        if self._ends[edits] != "unknown" and self._is_rest_right(until, opened, sound=True):
            inner = list(opened)
            piece = self._piece(edits, at, until)
            return first_slip(piece, 0, inner) is None and tuple(inner) == opened
        return self.elements.is_sound_after(edits, edited(self.elements.text, edits))

    def _is_piece_well_formed(self, edits: tuple[Edit, ...]) -> bool | Literal["unknown"]:
        at, until, opened = self._around(edits)
        if not self._is_rest_right(until, opened):
            return "unknown"
        close = b"".join(f"</{name}>".encode() for name, _, _ in reversed(opened))
        piece = self._piece(edits, at, until)
        end, reason = _end(piece + close, self.elements.opening(opened), 0)
        return "unknown" if reason in _IN_A_TOKEN else end is None

    def _around(self, edits: Sequence[Edit]) -> tuple[int, int, tuple[Opened, ...]]:
        """Where the piece around some edits begins and ends, -1 for none; and what it stands in."""
        at, opened = self.elements.before_as_seen(min(min(edits).start, *self.places))
        tag = IN_RUNS.get(opened[-1][0]) if opened else None
        behind = max(*self.places, *(edit.end for edit in edits))
        return at, -1 if tag is None else self.elements.text.find(tag, behind), opened

    def _piece(self, edits: Sequence[Edit], at: int, until: int) -> bytes:
        inside = [Edit(start - at, end - at, text) for start, end, text in edits]
        return edited(self.elements.text[at:until], inside)

    def _is_rest_right(
        self, start: int, opened: tuple[Opened, ...], *, sound: bool = False
    ) -> bool:
        """Whether the text from a place on, inside some elements, is well-formed, or sound."""
        if start < 0:
            return False
        key = start, opened, sound
        if key not in self._rests:
            text = self.elements.text
            if sound:
                self._rests[key] = first_slip(text, start, list(opened)) is None
            else:
                head = self.elements.opening(opened)
                self._rests[key] = end_of_parsing(text, head, start) is None
        return self._rests[key]
