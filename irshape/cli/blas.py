"""Chooses the kernels of OpenBLAS, which NumPy's wheels contain, on processors that it does not
know."""

from __future__ import annotations

import os
import re
import sys

_KERNELS = "OPENBLAS_CORETYPE"
_AVX512 = frozenset(("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"))
_ZEN_5 = 26
"""The family of the first AMD processors that OpenBLAS does not know."""


def prefer_avx512() -> None:
    """Makes OpenBLAS use its AVX-512 kernels on Zen 5 and later. Call it before NumPy is imported.

    There OpenBLAS up to 0.3.31 uses its AVX2 kernels, which are a third slower. Later releases
    choose those for AVX-512 themselves (pull request 6033 of OpenBLAS). A setting in the
    environment wins.
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
    """Returns whether a processor has AVX-512 but is unknown to OpenBLAS.

    processor: its part of /proc/cpuinfo.
    """
    facts = dict(re.findall(r"^([^\t:]+?)\s*: (.*)$", processor, re.MULTILINE))
    family = facts.get("cpu family", "")
    return (
        facts.get("vendor_id") == "AuthenticAMD"
        and family.isdigit()
        and int(family) >= _ZEN_5
        and frozenset(facts.get("flags", "").split()) >= _AVX512
    )
