"""Writes all example models beside their scripts; needs openvino and numpy.

usage: python examples/make_examples.py [NAME...]
"""

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if path.stem not in ("common", "make_examples")
)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(
            f"no example is called {', '.join(unknown)}; there are {', '.join(NAMES)}",
            file=sys.stderr,
        )
        return 2
    for name in names or NAMES:
        import_module(name).main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
