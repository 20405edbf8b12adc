"""Matrix operations against OpenVINO: shapes, refusals and values of every version."""

from __future__ import annotations

import numpy as np
from differential.cases import Case, Data, const, data
from rows import against_openvino, names, row, table, unrun

INF, NAN = float("inf"), float("nan")
TEXT = {"string": "text-as-number"}
TYPES = names("f16 bf16 f64 f8e4m3 nf4 i8 u8 i32 i64 u1 boolean dynamic string")


def f32(shape: str, run_shape: tuple[int, ...] | None = None) -> Data:
    return data("f32", shape, run_shape=run_shape)


def matmul(
    a: object,
    b: object,
    transposed: tuple[bool, bool] = (False, False),
    run: bool = True,
    known: str = "",
) -> Case:
    attributes = {
        f"transpose_{name}": str(given).lower()
        for name, given in zip("ab", transposed, strict=True)
    }
    return row("MatMul-1", attributes, a, b, run=run, known=known)  # type: ignore[list-item]


WAYS = [(a, b) for a in (False, True) for b in (False, True)]
MATMUL = [
    *(matmul(f32("4,3" if a else "3,4"), f32("5,4" if b else "4,5"), (a, b)) for a, b in WAYS),
    *(
        matmul(f32("2,4,3" if a else "2,3,4"), f32("1,5,4" if b else "1,4,5"), (a, b))
        for a, b in WAYS
    ),
    *(matmul(f32("4"), f32("4"), way) for way in WAYS),
    *(matmul(f32("4"), f32("4,5"), way) for way in ((False, False), (True, False))),
    *(matmul(f32("3,4"), f32("4"), way) for way in ((False, False), (False, True))),
    *(
        matmul(f32(a), f32(b))
        for a, b in (
            ("2,3,4", "4,5"),
            ("3,4", "2,4,5"),
            ("2,1,3,4", "3,4,5"),
            ("4", "2,4,5"),
            ("2,3,4", "4"),
            ("2,3,4,5", "2,3,5,1"),
            ("1,1", "1,1"),
        )
    ),
    *(matmul(data(t, "2,3,4"), data(t, "4,5")) for t in ("f16", "bf16", "f64", "i32")),
    *(matmul(data(t, "2,3,4"), data(t, "4,5"), run=False, known=TEXT.get(t, "")) for t in TYPES),
    matmul(data("f32", "1,2", [[INF, 1]]), const("f32", [[1.0, 0.0], [0.0, NAN]])),
    matmul(data("f32", "2,3"), data("f16", "3,4")),
    matmul(data("dynamic", "2,3"), data("f16", "3,4"), run=False),
    matmul(data("f16", "2,3"), data("dynamic", "3,4"), run=False),
    matmul(f32("1..4,?,4", (2, 3, 4)), f32("4,5")),
    matmul(f32("?,3,?", (2, 3, 4)), f32("?,4,..5", (2, 4, 5))),
    *(
        matmul(f32(a), f32(b), way, run=False)
        for a, b, way in (
            ("...", "4,5", (False, False)),
            ("3,4", "...", (False, False)),
            ("...", "...", (True, True)),
            ("1..3,4", "5..8,4", (False, True)),
            ("2..3,3,4", "?,4,5", (False, False)),
            ("2..3,3,4", "5..8,4,5", (False, False)),
            ("1..3,3,4", "5..8,4,5", (False, False)),
            ("..4,3,4", "2..9,4,5", (False, False)),
            ("?,3,4", "2,4,5", (False, False)),
            ("1,3,4", "?,4,5", (False, False)),
            ("3,2..4", "3..9,5", (False, False)),
            ("3,2..4", "5..9,5", (False, False)),
            ("?", "4,5", (True, False)),
            ("2..5", "?", (False, False)),
            ("?,?", "?", (True, True)),
            ("0,4", "4,5", (False, False)),
            ("3,0", "0,5", (False, False)),
            ("1000000000000,4", "4,1000000000000", (False, False)),
            ("2,?,3,4", "5,4,6", (False, False)),
            # refused
            ("3,4", "5,4", (False, False)),
            ("3,4", "4,5", (True, False)),
            ("2,3,4", "3,4,5", (False, False)),
            ("", "4,5", (False, False)),
            ("3,4", "", (False, False)),
            ("", "", (False, False)),
            ("4", "5", (False, False)),
            ("2,3,4", "2..3,5,6", (False, False)),
            ("2,3,4", "3..4,4,6", (False, False)),
            ("3,4", "4,5,6", (False, True)),
        )
    ),
    matmul(f32("0,4"), f32("4,5")),
    matmul(f32("3,0"), f32("0,5")),
    row("MatMul-1", {}, "f32[3,4] f32[4,5]"),
    row("MatMul-1", "transpose_a=maybe", "f32[3,4] f32[4,5]", known="boolean-text"),
    row("MatMul-1", {}, "f32[3,4]"),
    row("MatMul-1", {}, "f32[3,4] f32[4,5] f32[5]"),
]


def test_integers_wrap_around() -> None:
    from irshape.ops.matrix.matmul import MatMul

    assert MatMul().evaluate(
        np.array([[100, 100]], np.int8), np.array([[2], [1]], np.int8)
    ).tolist() == [[44]]
    assert MatMul().evaluate(
        np.array([[200, 100]], np.uint8), np.array([[2], [1]], np.uint8)
    ).tolist() == [[244]]
    assert MatMul().evaluate(np.array([[2**30]], np.int32), np.array([[4]], np.int32)).tolist() == [
        [0]
    ]


def grouped(*inputs: object, run: bool = False, expected: list[object] | None = None) -> Case:
    return row(
        "GroupedMatMul-17",
        {},
        *list(inputs),
        run="alone" if run and expected else run,
        expected=expected,
    )  # type: ignore[arg-type]


GROUPED = [
    *(grouped(data(t, "2,3,4"), data(t, "2,5,4")) for t in TYPES if t != "string"),
    *(grouped(data(t, "6,4"), data(t, "2,5,4"), data("i32", "2")) for t in ("f32", "f16", "u8")),
    *(
        grouped(f32(a), f32(b), *([f"i64[{offsets}]"] if offsets is not None else []))
        for a, b, offsets in (
            ("2,3,4", "2,5,4", None),
            ("6,4", "2,5,4", "2"),
            ("?,4", "2,5,4", "2"),
            ("6,?", "2,..5,4", "?"),
            ("1..4,3,4", "2..8,5,4", None),
            ("?,3,4", "2,5,?", None),
            ("...", "2,5,4", None),
            ("2,3,4", "...", None),
            ("...", "...", "..."),
            ("6,4", "...", "2"),
            ("6,4", "?,5,4", "..."),
            ("2,3,4", "2,5,4", "2"),
            ("6,4", "2,5,4", "3"),
            ("0,4", "2,5,4", "2"),
            ("6,0", "2,5,0", "2"),
            ("6,4", "0,5,4", "0"),
            ("1000000000000,4", "2,5,4", "2"),
            ("?,3,4", "?,5,4", "?"),
            # refused
            ("2,3,4", "3,5,4", None),
            ("2,3,4", "2,5,3", None),
            ("6,4", "2,5,4", None),
            ("6,4", "5,4", "2"),
            ("4", "2,5,4", "2"),
            ("1,2,3,4", "2,5,4", None),
            ("6,4", "2,5,4", "2,1"),
            ("6,4", "2,5,4", ""),
            ("2,2,4", "5,4", None),
            ("1..2,3,4", "3,5,4", None),
            ("...", "5,4", "2"),
            ("4", "...", None),
            ("", "...", None),
            ("...", "2,5,4", "2,2"),
            ("6,4", "1,2,5,4", "2"),
            ("2,5", "2,5,4", "2"),
        )
    ),
    grouped(data("f32", "2,3,4"), data("f16", "2,5,4")),
    grouped(data("dynamic", "2,3,4"), data("f16", "2,5,4")),
    *(
        grouped(f32("6,4"), f32("2,5,4"), data(t, "2"))
        for t in ("f32", "u8", "i64", "dynamic", "boolean")
    ),
    grouped(f32("6,4")),
    grouped(f32("6,4"), f32("2,5,4"), data("i32", "2"), f32("2")),
]


def test_rows_of_groups() -> None:
    from irshape.ops.matrix.matmul import GroupedMatMul

    rng = np.random.default_rng(0)
    rows, matrices = (
        rng.standard_normal((7, 4), np.float32),
        rng.standard_normal((3, 5, 4), np.float32),
    )
    product = GroupedMatMul().evaluate(rows, matrices, np.array([2, 2, 7], np.int32))
    np.testing.assert_allclose(
        product, np.concatenate([rows[:2] @ matrices[0].T, rows[2:] @ matrices[2].T]), rtol=1e-5
    )
    pairs = rng.standard_normal((3, 2, 4), np.float32)
    np.testing.assert_allclose(
        GroupedMatMul().evaluate(pairs, matrices),
        np.einsum("gmk,gnk->gmn", pairs, matrices),
        rtol=1e-5,
    )


def einsum(equation: str, *shapes: str, run: bool = True, known: str = "") -> Case:
    return row("Einsum-7", {"equation": equation}, *map(f32, shapes), run=run, known=known)


EINSUM = [
    einsum("ij,jk->ik", "2,3", "3,4"),
    einsum("ij,jk", "2,3", "3,4"),
    einsum("ba,ac", "2,3", "3,4"),
    einsum("ij->ji", "2,3"),
    einsum("ba", "2,3"),
    einsum("ij->", "2,3"),
    einsum("ii->i", "3,3"),
    einsum("ii->", "3,3"),
    einsum("ii", "3,3", run=False),
    einsum("ijj->i", "2,3,3"),
    einsum("i,i->", "4", "4"),
    einsum("i,j->ij", "2", "3"),
    einsum("abc,cd,def->abef", "2,3,4", "4,2", "2,3,2"),
    einsum("bij,bjk->bik", "2,3,4", "2,4,3"),
    einsum("a...b,b...->a...", "2,3,4,2", "2,3,4"),
    einsum("...ij,...jk->...ik", "2,3,4", "2,4,5"),
    einsum("...ij,...jk->...ik", "3,2,3,4", "2,4,5"),
    einsum("...ij,...jk->...ik", "1,3,4", "2,4,5"),
    einsum("...ij,jk->...ik", "2,3,4", "4,5"),
    einsum("i...->...", "2,3,4"),
    einsum("...->...", "2,3"),
    einsum("...", "2,3"),
    einsum("i...,j", "2,3,4", "2"),
    einsum("...i->i", "2,3"),
    einsum("aB,Bc->ac", "2,3", "3,4"),
    einsum("Ba", "2,3"),
    einsum("i...i->i...", "3,2,3"),
    einsum("bi...,...ki->...kb", "2,3,4", "4,5,3"),
    einsum("i,i->i", "1", "3"),
    einsum("ij,ij->ij", "1,3", "2,1"),
    *(row("Einsum-7", "equation=ij,jk->ik", f"{t}[2,3] {t}[3,4]") for t in ("f16", "bf16", "i32")),
    *(
        unrun("Einsum-7", "equation=ij,jk->ik", f"{t}[2,3] {t}[3,4]", known=TEXT.get(t, ""))
        for t in TYPES
    ),
    row("Einsum-7", "equation=ij,jk->ik", "f32[2,3] f16[3,4]"),
    unrun("Einsum-7", "equation=ij,jk->ik", "dynamic[2,3] f16[3,4]"),
    *(
        einsum(equation, *shapes, run=False)
        for equation, *shapes in (
            ("ij,jk->ik", "?,3", "3,2..4"),
            ("ij,jk->ikj", "1..4,2..5", "3..8,?"),
            ("ij,jk->ik", "...", "3,4"),
            ("ij,jk->ik", "...", "..."),
            ("ij,jk->ijk", "2,?", "..."),
            ("a...b,b...->a...", "11,1,4,3", "..."),
            ("a...b,b...->a...", "...", "3,1,4"),
            ("...->...", "..."),
            ("a...->a", "..."),
            ("a...,b->ab", "...", "3"),
            ("a...,...b->ab", "...", "2,3"),
            ("...ij,...jk->...ik", "?,3,4", "2,4,5"),
            ("...ij,...jk->...ik", "1..3,3,4", "..8,4,5"),
            ("i...,i->...i", "3", "3"),
            ("...ij->ij...", "?,?,..4,5"),
            ("ii->i", "?,3"),
            ("ii->i", "2..5,?"),
            ("ii->i", "2..5,3..9"),
            ("ij,jk->ik", "0,3", "3,4"),
            ("ij,jk->ik", "1000000000000,3", "3,4"),
            ("ij , jk -> ik", "2,3", "3,4"),
            (" ij", "2,3"),
            ("->", ""),
            ("", ""),
            ("i,->i", "3", ""),
            (",->", "", ""),
            ("i,i->i", "1", "?"),
            ("i,i->i", "..3", "2..4"),
            ("i,i->i", "1..3", "4..5"),
            ("ij,ij->ij", "1,?", "2,1"),
            # refused
            ("ij,jk->ik", "2,3", "4,5"),
            ("ij,jk->ik", "2,3"),
            ("ij->i", "2,3", "3,4"),
            ("ij,jk->il", "2,3", "3,4"),
            ("ij->i", "2,3,4"),
            ("ij->i", "2"),
            ("ii->i", "2,3"),
            ("i1->i", "2,3"),
            ("i-j->i", "2,3"),
            ("......->...", "2,3"),
            ("..->..", "2,3"),
            ("ij->ii", "2,3"),
            ("ij->i->j", "2,3"),
            ("i...,i...->i...", "2,3", "2,4"),
            ("i->...", "2"),
            ("i...j->", "2"),
            ("a...b->ab", "2"),
            ("ii->i", "2..3,4..5"),
            ("ij,jk->ik", "2,2..3", "4..5,3"),
            ("i,i->i", "2", "3"),
            ("i...->i", "2,3"),
        )
    ),
    row("Einsum-7", {}, "f32[2,3]"),
    row("Einsum-7", "equation=ij->ji"),
    row("Einsum-6", "equation=ij->ji", "f32[2,3]"),
]


def regular(*shape: int, element_type: str = "f32") -> Data:
    return data(
        element_type,
        ",".join(map(str, shape)),
        lambda rng: rng.uniform(-1, 1, shape) + 3 * np.eye(shape[-1]),
    )


INVERSE = [
    *(
        row("Inverse-14", "adjoint=false", regular(*shape), rtol=1e-3)
        for shape in ((3, 3), (2, 4, 4), (2, 1, 2, 2), (1, 1))
    ),
    row("Inverse-14", "adjoint=true", regular(2, 3, 3), rtol=1e-3),
    row("Inverse-14", {}, regular(3, 3), rtol=1e-3),
    *(row("Inverse-14", {}, regular(3, 3, element_type=t), rtol=0.03) for t in ("f16", "bf16")),
    *(unrun("Inverse-14", {}, f"{t}[3,3]") for t in TYPES),
    *(
        unrun("Inverse-14", "adjoint=false", f32(shape))
        for shape in (
            "?,3,3",
            "3,?",
            "?,?",
            "...",
            "2..3,3..4",
            "0,3,3",
            "0,0",
            "1000000000000,3,3",
            "2..3,5..6",
            "",
            "3",
            "2,3",
            "3,2,3",
            "?",
        )
    ),
    unrun("Inverse-14", "adjoint=maybe", "f32[3,3]", known="boolean-text"),
    row("Inverse-13", {}, "f32[3,3]"),
    row("Inverse-14"),
]


def test_singular_and_empty_matrices() -> None:
    from irshape.ops.matrix.inverse import Inverse

    inverses = Inverse().evaluate(np.array([[[1, 2], [2, 4]], [[2, 0], [0, 4]]], np.float32))
    assert np.isnan(inverses[0]).all()
    assert inverses[1].tolist() == [[0.5, 0], [0, 0.25]]
    assert Inverse().evaluate(np.zeros((0, 3, 3), np.float32)).shape == (0, 3, 3)


def attention(*inputs: object, causal: str = "false", run: bool = True, known: str = "") -> Case:
    return row(
        "ScaledDotProductAttention-13",
        {"causal": causal} if causal else {},
        *list(inputs),
        run=run,
        known=known,
    )  # type: ignore[arg-type]


MASK = const("boolean", np.array([[1, 1, 0, 1, 1], [1, 0, 0, 0, 1], [0, 1, 1, 1, 1]], bool))
Q, K, V = f32("2,2,3,4"), f32("2,2,5,4"), f32("2,2,5,6")
LONG = f32("1,2,600,4"), f32("1,2,700,4"), f32("1,2,700,6")
ATTENTION = [
    attention(Q, K, V),
    attention(Q, K, V, causal="true"),
    attention(Q, K, V, causal="", run=False, known="missing-attribute"),
    attention(Q, K, V, MASK),
    attention(Q, K, V, f32("3,5")),
    attention(Q, K, V, f32("2,1,3,5")),
    attention(Q, K, V, f32("1,1,1,5")),
    attention(Q, K, V, f32("3,5"), const("f32", 0.3)),
    attention(Q, K, V, f32("3,5"), const("f32", [0.3])),
    attention(Q, K, V, const("boolean", table("1 1 0 1 1; 0 0 0 0 0; 0 1 1 1 1"))),
    attention(Q, K, V, const("f32", table("0 0 -inf 0 0; 1 0 2 0 -1; 0 -inf -inf -inf -inf"))),
    attention(Q, K, V, f32("3,5"), const("f32", 0.3), f32("1,2,1,1")),
    attention(Q, K, V, f32("3,5"), const("f32", 0.3), f32("2,2,3,1")),
    attention(f32("1,2,6,4"), f32("1,2,3,4"), f32("1,2,3,4"), causal="true"),
    *(
        attention(*(data(t, shape) for shape in ("1,2,3,4", "1,2,5,4", "1,2,5,4", "3,5")))
        for t in ("f16", "bf16")
    ),
    attention(
        f32("?,2,?,4", (2, 2, 3, 4)), f32("?,2,?,4", (2, 2, 5, 4)), f32("?,2,?,4", (2, 2, 5, 4))
    ),
    attention(f32("2,3,4"), f32("2,5,4"), f32("2,5,6")),
    # more queries and keys than are worked out at a time
    *(
        attention(*LONG, *more, causal=causal)
        for causal, more in (
            ("false", ()),
            ("true", ()),
            ("false", (f32("600,700"),)),
            ("false", (f32("1,1,1,700"),)),
            ("false", (const("boolean", np.tri(600, 700, 50, bool)),)),
            ("false", (f32("600,700"), const("f32", 0.3), f32("1,2,600,1"))),
            ("true", (f32("600,700"), const("f32", 0.3), f32("1,2,1,1"))),
        )
    ),
    attention(f32("2,3,4,4"), f32("2,1,5,4"), f32("2,1,5,6"), run=False),
    *(
        attention(*(data(t, shape) for shape in ("1,2,3,4", "1,2,5,4", "1,2,5,4")), run=False)
        for t in TYPES
        if t != "string"
    ),
    *(
        attention(Q, K, V, data(t, "3,5"), run=False)
        for t in ("f16", "i32", "u8", "dynamic", "boolean", "string")
    ),
    *(
        attention(*(f32(shape) for shape in shapes), causal=causal, run=False)
        for causal in ("false", "true")
        for shapes in (
            ("?,2,?,4", "?,2,?,4", "2,2,5,..6"),
            ("...", "2,2,5,4", "2,2,5,6"),
            ("2,2,3,4", "...", "2,2,5,6"),
            ("2,2,3,4", "2,2,5,4", "..."),
            ("...", "...", "..."),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "..."),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "?,?"),
            ("2,2,?,4", "2,2,?,4", "2,2,?,6", "3,5"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "5"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", ""),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "?"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "2"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "1,1"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "..."),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "", "1,2,1,1"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "", "2,2,3,1"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "", "2,2,3,2"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "", "2,1"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,5", "", "..."),
            ("2,2,3,4", "2,2,5,3", "2,2,5,6"),
            ("2,2,3,4", "2,2,5,4", "2,2,4,6"),
            ("2,2,3,4", "3,2,5,4", "3,2,5,6"),
            ("3,4", "5,4", "5,6"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "4,5"),
            ("2,2,3,4", "2,2,5,4", "2,2,5,6", "3,4"),
            ("2,2,1000000000000,4", "2,2,5,4", "2,2,5,6"),
            ("0,2,3,4", "0,2,5,4", "0,2,5,6"),
            ("2,2,3,4", "1,2,5,4", "1,2,5,6"),
            ("2,1..3,3,4", "2,?,5,4", "2,2..9,5,6"),
        )
    ),
    attention(Q, K, data("f16", "2,2,5,6"), run=False),
    attention(data("dynamic", "2,2,3,4"), K, V, run=False),
    attention(Q, K, run=False),
]

test_against_openvino = against_openvino(*MATMUL, *GROUPED, *EINSUM, *INVERSE, *ATTENTION)
