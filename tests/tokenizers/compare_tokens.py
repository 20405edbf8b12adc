"""Compares tokens and texts with those of openvino_tokenizers: `compare_tokens.py [COUNT]`.

Takes COUNT strings of many scripts (1,000 unless given) through the tokenizers and detokenizers of
this folder. The exit status is 1 if one of them differs. The tests take a sample of the strings.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "ops"))

from test_tokenization import KINDS, PARTS, TOKENIZERS, core, strings  # noqa: E402

import irshape  # noqa: E402


def main(count: int) -> int:
    """Prints a line for each kind."""
    failed = 0
    for kind in KINDS:
        paths = [TOKENIZERS / f"{kind}_{part}.xml" for part in PARTS]
        device = [core().compile_model(path, "CPU") for path in paths]
        sessions = [irshape.Session(irshape.load(path)) for path in paths]
        different = 0
        texts = strings(count - 10, 5)
        for text in texts:
            ours = sessions[0].run([np.array([text], object)])
            same = all(
                np.array_equal(ours[port.get_any_name()], value)
                for port, value in device[0]([text]).items()
            )
            tokens = ours["input_ids"]
            if same and tokens.size:
                (decoded,) = sessions[1].run([tokens]).values()
                mine = [each.decode().rstrip("\0") for each in decoded]
                same = mine == device[1]([tokens])[0].tolist()
            different += not same
        print(f"{kind}: {len(texts)} strings, {different} differ")
        failed += different
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
