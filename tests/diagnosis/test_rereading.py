"""A text with edits, of which only a piece is read again, is told the same as one read anew."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from irshape.diagnosis.text.rereading import Rereading, graver_findings
from irshape.diagnosis.text.slip import edited
from irshape.formats.ir.edits import Edit
from irshape.formats.ir.reader import read
from irshape.formats.loading import open_model, read_source
from irshape.inference.engine import infer
from irshape.model.graph import Finding, NotReadable
from irshape.model.source import Source
from irshape.rules import Context

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "control_flow.xml"


class Change(NamedTuple):
    """What matches a pattern, for the how many-eth time, becomes something else."""

    pattern: str
    instead: str
    nth: int
    errors: bool = True
    """Whether errors or warnings come of it."""


_LAYER = r"<layer [^<>]*>(?:(?!</?layer).)*</layer>"
CHANGES = {
    "a layer is gone": Change(_LAYER, "", 3),
    "a layer stands there twice": Change(f"({_LAYER})", r"\1\1", 4),
    "a layer in a body is gone": Change(_LAYER, "", 12),
    "a layer is in a comment": Change(f"({_LAYER})", r"<!--\1-->", 2),
    "an edge is gone": Change("<edge [^<>]*/>", "", -2),
    "the last edge is gone": Change("<edge [^<>]*/>", "", -1),
    "an edge leads elsewhere": Change('to-layer="[0-9]+"', 'to-layer="0"', -3),
    "a port stands there twice": Change("(<port (?:(?!<port).)*?</port>)", r"\1\1", 9),
    "a size is another": Change("<dim>4</dim>", "<dim>5</dim>", 2),
    "a much longer name": Change('type="Add"', f'type="{"A" * 4000}"', 1),
    "an element is not closed": Change("</port>", "", 5),
    "the layers end early": Change("(</layer>)", r"\1</layers><layers>", 5),
    "a word between elements": Change("</layer>", "</layer> word", 7),
    "an attribute in rt_info": Change("(</layer>)", r"<rt_info/>\1", 1, errors=False),
    "a blank": Change("</layer>", "</layer> ", 1, errors=False),
}


@pytest.fixture(scope="module")
def sound() -> Context:
    model = read_source(*open_model(EXAMPLE))
    return Context(model, infer(model, compare=True))


def read_anew(sound: Context, edits: list[Edit]) -> Context | None:
    model, data = sound.model, edited(sound.model.source.data, edits)
    try:
        whole = read(Source(model.path, data, model.source.encoding))
    except NotReadable:
        return None
    whole.weights = model.weights
    return Context(whole, infer(whole, compare=True))


def told(context: Context | None) -> Counter[object] | None:
    return None if context is None else Counter(map(_place, graver_findings(context)))


def _place(finding: Finding) -> object:
    layer = finding.layer
    return finding.rule.code, layer and (layer.path, layer.id), finding.port


@pytest.mark.parametrize("name", CHANGES)
def test_a_piece_tells_what_the_whole_tells(name: str, sound: Context) -> None:
    change = CHANGES[name]
    data = sound.model.source.data
    match = list(re.finditer(change.pattern.encode(), data, re.DOTALL))[change.nth]
    edits = [Edit(*match.span(), match.expand(change.instead.encode()))]
    whole = told(read_anew(sound, edits))
    assert bool(whole or whole is None) == change.errors
    assert told(Rereading(sound).context_with(edits)) == whole
