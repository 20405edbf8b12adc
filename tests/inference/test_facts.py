"""Which layers the facts about older releases concern: for each, a layer and one beside it.

The facts were measured with rows like these (tests/measured/releases.md). The first layer of a row
is concerned, the second is not; both are written as in `ir`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import pytest
from differential.cases import Case, build, const, data, node
from differential.releases import PAGE, fact_rows
from ir import Source, Written, read

import irshape
from irshape.inference.sites import details, sites
from irshape.ops import registry
from irshape.ops.differences import Kind
from irshape.releases import MINOR_RELEASES

KEYS = "variable_id=v variable_type=f32 variable_shape=1,2,?,8"
NAMED = {
    "CACHED": f"Concat-1(axis=2 ReadValue-6({KEYS} f32{{0}}[1,2,0,8]) f32[1,2,?,8])",
    "POOL": "strides=1,1 pads_begin=0,0 pads_end=0,0 kernel=2,2 exclude-pad=true",
    "VARIABLE": "variable_id=v variable_type=f32 variable_shape=?,3",
}
FACTS: dict[Kind, str] = {
    "not run": """
AvgPool of opset14:
    AvgPool-14($POOL f32[1,2,5,5]) | AvgPool-1($POOL f32[1,2,5,5])
a model input of type i4 or u4:
    ReLU-1(i4[3]) | ReLU-1(i4{[1, 2]})
a model input of type f8e4m3 or f8e5m2:
    ReLU-1(f8e4m3[3]) | ReLU-1(f16[3])
a Convert to i4 or u4:
    Convert-1(destination_type=u4 f32[8]) | Convert-1(destination_type=f32 u4[8])
a Convert to f8e4m3 or f8e5m2:
    Convert-1(destination_type=f8e5m2 f32[8]) | Convert-1(destination_type=f32 f8e5m2[8])
a Convert to f4e2m1 or f8e8m0:
    Convert-1(destination_type=f4e2m1 f32[8]) | Convert-1(destination_type=f32 f4e2m1[8])
a model input of type nf4:
    Convert-1(destination_type=f32 nf4[8]) | Convert-1(destination_type=nf4 f32[8])
a Convert to nf4:
    Convert-1(destination_type=nf4 f32[8]) | Convert-1(destination_type=f32 nf4[8])
a model input of type f4e2m1 or f8e8m0:
    Convert-1(destination_type=f32 f4e2m1[8]) | Convert-1(destination_type=f4e2m1 f32[8])
an Einsum with `...`, or a label twice in one input:
    Einsum-7(equation=ijj->i f32[2,3,3]) | Einsum-7(equation=ij,jk->ik f32[2,3] f32[3,4])
a ShapeOf of a scalar:
    ShapeOf-1(f32[]) | ShapeOf-1(f32[2])
a MatMul of a tensor without elements:
    MatMul-1(f32[3,0] f32[0,5]) | MatMul-1(f32[3,1] f32[1,5])
a reduction over an axis that is known only at run time:
    ReduceSum-1(keep_dims=false f32[?,?] i64[1]) | ReduceSum-1(keep_dims=true f32[?,?] i64[1])
a ScatterNDUpdate with scalar updates, before opset15:
    ScatterNDUpdate-4(f32[4,3] i64{[2, 1]} f32[]) | ScatterNDUpdate-4(f32[4,3] i64{[[2, 1]]} f32[1])
    ScatterNDUpdate-4(f32[4,3] i64{[2, 1]} f32[]) | ScatterNDUpdate-15(f32[4,3] i64{[2, 1]} f32[])
a sum of embeddings with a default index of -1:
    EmbeddingBagOffsetsSum-3(f32[5,2] i64{[0, 2]} i64{[0, 1]} i64{-1})
        | EmbeddingBagOffsetsSum-3(f32[5,2] i64{[0, 2]} i64{[0, 1]} i64{0})
an attention with a boolean mask, to keys from a variable:
    ScaledDotProductAttention-13(causal=false f32[1,2,5,8] $CACHED same boolean[5,?])
        | ScaledDotProductAttention-13(causal=false f32[1,2,5,8] $CACHED same f32[5,?])
    ScaledDotProductAttention-13(causal=false f32[1,2,5,8] $CACHED same boolean[5,?])
        | ScaledDotProductAttention-13(causal=false f32[1,2,5,8] f32[1,2,?,8] same boolean[5,?])
an attention of dynamic shapes with a boolean mask:
    ScaledDotProductAttention-13(causal=false f32[1,2,5,8] f32[1,2,7,8] same boolean[5,?])
        | ScaledDotProductAttention-13(causal=false f32[1,2,5,8] f32[1,2,7,8] same boolean[5,7])
    ScaledDotProductAttention-13(causal=false f32[?,2,5,8] f32[?,2,7,8] same boolean[5,7])
        | ScaledDotProductAttention-13(causal=false f32[?,2,5,8] f32[?,2,7,8] same f32[5,7])
    ScaledDotProductAttention-13(causal=false f32[?,2,5,8] f32[?,2,7,8] same boolean[5,7])
        | ScaledDotProductAttention-13(causal=false f32[?,5,8] f32[?,7,8] same boolean[5,7])
""",
    "inferred": """
a target shape computed from sizes without upper bounds:
    Reshape-1(special_zero=true f32[?] ShapeOf-1(f32[2..,3]))
        | Reshape-1(special_zero=true f32[?] ShapeOf-1(f32[2..9,3]))
    Reshape-1(special_zero=false f32[?] Concat-1(axis=0 ShapeOf-1(f32[2..]) i64{[3]}))
        | Reshape-1(special_zero=false f32[?] Maximum-1(ShapeOf-1(f32[2..,3]) i64{[1, 1]}))
a NonMaxSuppression of dynamic boxes or scores:
    NonMaxSuppression-4(f32[..3,4,4] f32[..5,2..6,4] i64{3})
        | NonMaxSuppression-4(f32[2,4,4] f32[2,3,4] i64{3})
a variable less specific than its initial value:
    ReadValue-6($VARIABLE f32[2,3]) | ReadValue-6($VARIABLE f32[?,3])
a dimension that does not fit into i64:
    ReLU-1(f32[99999999999999999999,3]) | ReLU-1(f32[9,3])
a reduction over an axis that is known only at run time:
    ReduceMean-1(keep_dims=false f32[5] u8[1]) | ReduceMean-1(keep_dims=false f32[5] u8[?])
""",
    "refused": """

""",
    "ignored": """
a constant of i4 or u4:
    Convert-1(destination_type=i32 u4{[1, 2]}) | Convert-1(destination_type=i32 nf4{[1, 2]})
""",
}


class Concerned(NamedTuple):
    what: str
    kind: Kind
    shown: Case
    beside: Case


def source(written: Source | Written, made: dict[int, Any]) -> Any:
    """What `differential.cases` makes of an input; what was given before is the same once more."""
    if id(written) not in made:
        if isinstance(written, Written):
            inputs = [source(each, made) for each in written.inputs]
            made[id(written)] = node(written.type, written.version, written.attributes, inputs)
        elif written.values is not None:
            shape = tuple(map(int, written.shape.split(","))) if written.shape else None
            made[id(written)] = const(written.element_type, written.values, shape)
        else:
            made[id(written)] = data(written.element_type, written.shape or "")
    return made[id(written)]


def case(layer: Written) -> Case:
    made: dict[int, Any] = {}
    inputs = [source(each, made) for each in layer.inputs]
    outputs = 0 if layer.type == "Result" else 1
    return Case(layer.type, layer.version, layer.attributes, inputs, outputs, run=False)


def rows() -> Iterator[Concerned]:
    for kind, text in FACTS.items():
        for group in re.split(r"\n(?=\S)", text.strip()):
            what, _, layers = group.partition(":\n")
            cases = [case(each) for each in read(Template(layers).substitute(NAMED))]
            for concerned, beside in zip(cases[::2], cases[1::2], strict=True):
                yield Concerned(what, kind, concerned, beside)


ROWS = list(rows())


def shown(folder: Path, row: Case, kind: Kind) -> set[str]:
    xml, weights = build(row)
    path = folder / "model.xml"
    path.write_text(xml)
    path.with_suffix(".bin").write_bytes(weights)
    inference = irshape.infer(irshape.load(path))
    return {detail.what for site in sites(inference) for detail in details(site, kind)}


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.what}-{row.shown.id}" for row in ROWS])
def test_a_fact_concerns_a_layer(tmp_path: Path, row: Concerned) -> None:
    assert row.what in shown(tmp_path, row.shown, row.kind)
    assert row.what not in shown(tmp_path, row.beside, row.kind)


def test_every_fact_stands_on_the_page_of_what_was_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = (row.rpartition(" | ")[0] for row in fact_rows([]))  # without the number of test rows
    assert [row for row in rows if row not in page] == []


def test_facts_are_about_releases_that_exist() -> None:
    versions = [each for name in registry.type_names() for each in registry.versions(name)]
    facts = {difference for version in versions for difference in version.differs}
    assert len({difference.detail for difference in facts}) > 50
    for difference in facts:
        detail = difference.detail
        assert detail.since < detail.right
        for year, minor in (detail.since, detail.right):
            first, last = MINOR_RELEASES[year]
            assert first <= minor <= last
