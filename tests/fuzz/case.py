"""What the fuzzer mutates: an input of irshape, and how it is kept in one file."""

from __future__ import annotations

from typing import NamedTuple

PARTS: dict[str, tuple[str, ...]] = {
    "ir": ("m.xml", "m.bin"),
    "onnx": ("m.onnx",),
    "onednn": ("m.json",),
    "configuration": ("irshape.toml",),
    "baseline": ("baseline.json",),
    "recording": ("recording.npz",),
    "result": ("result.json",),
    "array": ("x.npy",),
    "export": ("export/config.json",),
    "argument": ("option", "value"),
}
"""The kinds of input, and the files of each. An argument has no file: the name of its option (in
`commands.OPTIONS`) and its value."""


class Case(NamedTuple):
    """An input: the bytes of each part of its kind."""

    kind: str
    parts: tuple[bytes, ...]

    def encoded(self) -> bytes:
        """The kind and the sizes of the parts in one line, then the parts."""
        sizes = " ".join(str(len(part)) for part in self.parts)
        return f"{self.kind} {sizes}\n".encode() + b"".join(self.parts)

    @staticmethod
    def decoded(data: bytes) -> Case:
        """The case that `encoded` gave these bytes. Raises `ValueError` for any others."""
        head, newline, rest = data.partition(b"\n")
        kind, *sizes = head.decode("ascii").split(" ")
        if not newline or len(sizes) != len(PARTS.get(kind, ())):
            raise ValueError("not a case")
        parts = []
        for size in map(int, sizes):
            parts.append(rest[:size])
            rest = rest[size:]
        if rest:
            raise ValueError("not a case: bytes are left")
        return Case(kind, tuple(parts))
