"""The kernels of OpenBLAS that the commands ask for, by what Linux says of the processor."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from irshape.cli.blas import is_unknown_with_avx512

AVX512 = "fpu sse2 avx avx2 fma avx512f avx512dq avx512cd avx512bw avx512vl avx512_vnni"


class Processor(NamedTuple):
    """What /proc/cpuinfo says, and whether the kernels for AVX-512 are asked for."""

    vendor: str
    family: str
    flags: str
    asked: bool


PROCESSORS = {
    "Zen 5": Processor("AuthenticAMD", "26", AVX512, True),
    "Zen 5 in a machine without AVX-512": Processor("AuthenticAMD", "26", "fpu avx2 fma", False),
    "Zen 5 with a part of it": Processor("AuthenticAMD", "26", "avx2 avx512f avx512vl", False),
    "Zen 4": Processor("AuthenticAMD", "25", AVX512, False),
    "Xeon": Processor("GenuineIntel", "6", AVX512, False),
    "no number": Processor("AuthenticAMD", "unknown", AVX512, False),
}


@pytest.mark.parametrize("row", PROCESSORS.values(), ids=PROCESSORS.keys())
def test_kernels_for_avx512_are_asked_for_where_openblas_does_not_know_the_processor(
    row: Processor,
) -> None:
    text = (
        f"processor\t: 0\nvendor_id\t: {row.vendor}\ncpu family\t: {row.family}\n"
        f"model name\t: a: b\nflags\t\t: {row.flags}\nbugs\t\t:\n"
    )
    assert is_unknown_with_avx512(text) == row.asked


@pytest.mark.parametrize("text", ["", "Processor : ARMv8", "\n\n", "flags\t\t: avx512f"])
def test_another_kind_of_processor(text: str) -> None:
    assert not is_unknown_with_avx512(text)
