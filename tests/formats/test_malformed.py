"""XML that is not well-formed is reported where it is wrong, not where a parser stumbles."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

TEXT = """<?xml version="1.0"?>
<net name="m" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="2" element_type="f32"/>
      <output>
        <port id="0" precision="FP32"><dim>2</dim></port>
      </output>
    </layer>
    <layer id="1" name="y" type="Result" version="opset1">
      <input>
        <port id="0" precision="FP32"><dim>2</dim></port>
      </input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
  </edges>
</net>
"""


class Row(NamedTuple):
    old: str
    new: str
    line: int
    says: str


ROWS = {
    "a layer": Row("    </layer>\n    <layer", "    <layer", 4, "<layer> is not closed: </layers>"),
    "a port": Row("</dim></port>\n      </output>", "</dim>\n      </output>", 7, "<port>"),
    "a comment holds no tags": Row("</layer>\n  </l", "<!-- </layer> -->\n  </l", 10, "<layer>"),
    "another end tag": Row("    </layer>\n    <", "    </layr>\n    <", 9, "</layr> closes no"),
    "an end tag too many": Row(
        "    </layer>\n    <", "    </layer></layer>\n    <", 9, "</layer> closes no"
    ),
    "a name that is a number": Row(
        "</net>\n", '<rt_info><a><0 value="1"/></a></rt_info></net>\n', 19, "the element <0>"
    ),
    "a merge conflict": Row(
        "      <input>\n",
        "<<<<<<< HEAD\n      <input>\n=======\n      <input >\n>>>>>>> other\n",
        11,
        "a merge conflict",
    ),
    "the file ends too early": Row("</net>\n", "", 19, "it ends before"),
}


@pytest.mark.parametrize("name", ROWS)
def test_place(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    assert TEXT.count(row.old) == 1
    path = tmp_path / "m.xml"
    path.write_text(TEXT.replace(row.old, row.new))
    (found,) = irshape.validate(path).diagnostics
    assert (found.code, found.line) == ("IR001", row.line)
    assert row.says in found.message
