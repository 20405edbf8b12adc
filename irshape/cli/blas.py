"""The kernels of OpenBLAS, which NumPy's wheels contain, on processors that it does not know."""

from __future__ import annotations

import os
import re
import sys

_KERNELS = "OPENBLAS_CORETYPE"
_AVX512 = frozenset(("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"))
_ZEN_5 = 26
"""The family of the first AMD processors that OpenBLAS does not know."""


def prefer_avx512() -> None:
    """Has OpenBLAS take its kernels for AVX-512 on a Zen 5 or later. Call it before NumPy is
    imported.

    OpenBLAS up to 0.3.31 takes those for AVX2 there, which are a third slower; later releases take
    the ones for AVX-512 by themselves (pull request 6033 of OpenBLAS). What the environment says
    counts.
    """
    if "numpy" in sys.modules or _KERNELS in os.environ or not sys.platform.startswith("linux"):
        return
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            processor = file.read(1 << 13).partition("\n\n")[0]
    except OSError:
        return
    if is_unknown_with_avx512(processor):
        os.environ[_KERNELS] = "SkylakeX"


def is_unknown_with_avx512(processor: str) -> bool:
    """Whether OpenBLAS does not know a processor that has AVX-512, by its part of /proc/cpuinfo."""
    facts = dict(re.findall(r"^([^\t:]+?)\s*: (.*)$", processor, re.MULTILINE))
    family = facts.get("cpu family", "")
    return (
        facts.get("vendor_id") == "AuthenticAMD"
        and family.isdigit()
        and int(family) >= _ZEN_5
        and frozenset(facts.get("flags", "").split()) >= _AVX512
    )
