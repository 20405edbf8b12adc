"""The schemas of the IR are current, and agree with `validate` wherever a schema can tell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ir import Net
from lxml import etree

import irshape

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.xml"))


@pytest.fixture(scope="module")
def rng() -> etree.RelaxNG:
    return etree.RelaxNG(etree.parse(ROOT / "schemas" / "ir.rng"))


@pytest.fixture(scope="module")
def xsd() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(ROOT / "schemas" / "ir.xsd"))


def test_up_to_date() -> None:
    found = subprocess.run(
        [sys.executable, ROOT / "schemas" / "make_schemas.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.stem)
def test_valid(model: Path, rng: etree.RelaxNG, xsd: etree.XMLSchema) -> None:
    tree = etree.parse(model)
    assert rng.validate(tree), rng.error_log
    assert xsd.validate(tree), xsd.error_log


def network(
    attributes: str = 'keep_dims="true"', type: str = "ReduceMean", version: str = "opset1"
) -> str:
    net = Net()
    data, axes = net.parameter("2,3"), net.constant([1])
    net.result(net.layer(type, [data, axes], attributes, version=version, outputs=["FP32:2,1"]))
    return net.text()


RIGHT = {
    "as written": network(),
    "without attributes": network(""),
    "in capitals": network('keep_dims="TRUE"'),
    "a later opset": network(version="opset9"),
    "a custom operation": network('colour="blue"', "Mine", "extension"),
    "what older writers put there": network().replace(
        'element_type="f32"/>', 'element_type="f32" cacheable="true"/>'
    ),
    "version 10": network().replace('version="11"', 'version="10"'),
    "rt_info": network().replace(
        "<input>",
        '<rt_info><attribute name="fused_names" version="0" value="x"/></rt_info><input>',
        1,
    ),
    "a comment": network().replace("<input>", "<!-- irshape: disable=IR304 --><input>", 1),
    "meta_data": network().replace("<edges>", "<meta_data><a b='c'>d<e/></a></meta_data><edges>"),
}
WRONG = {
    "unknown attribute": network('colour="blue"'),
    "misspelt attribute": network('keep_dim="true"'),
    "value of another type": network('keep_dims="maybe"'),
    "missing attribute": network("", "LRN").replace('type="LRN"', 'type="LRN"'),
    "unknown type": network(type="ReduceMeen"),
    "unknown opset": network(version="opset99"),
    "opset before the operation": network("", type="Mish", version="opset1"),
    "attribute of a constant": network().replace('offset="0"', 'offset="first"'),
    "unknown word": network('auto_broadcast="banana"', "Add"),
}
WRONG_SKELETON = {
    "root": network().replace("<net", "<model").replace("</net", "</model"),
    "version of the file": network().replace('version="11"', 'version="12"'),
    "no version of the file": network().replace(' version="11"', ""),
    "misspelt element": network().replace("<data shape", "<dat shape"),
    "second element": network().replace("<output>", "<output/><output>", 1),
    "missing type": network().replace(' type="Parameter"', ""),
    "attribute of a layer": network().replace(
        ' type="Parameter"', ' type="Parameter" colour="blue"'
    ),
    "attribute of a port": network().replace('precision="FP32"', 'precision="FP32" name="x"', 1),
    "id of a layer": network().replace('<layer id="0"', '<layer id="zero"'),
    "unknown precision": network().replace('precision="FP32"', 'precision="FP23"', 1),
    "missing precision": network().replace(' precision="FP32"', "", 1),
    "malformed dimension": network().replace("<dim>3</dim>", "<dim>3x</dim>", 1),
    "negative dimension": network().replace("<dim>3</dim>", "<dim>-3</dim>", 1),
    "edge without an end": network().replace(' to-port="0"', "", 1),
    "attribute of an edge": network().replace('to-port="0"', 'to-port="0" colour="blue"', 1),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str, rng: etree.RelaxNG, xsd: etree.XMLSchema) -> None:
    document = etree.fromstring(RIGHT[name].encode())
    assert rng.validate(document), rng.error_log
    assert xsd.validate(document), xsd.error_log


@pytest.mark.parametrize("name", [*WRONG, *WRONG_SKELETON])
def test_wrong(name: str, rng: etree.RelaxNG, xsd: etree.XMLSchema, tmp_path: Path) -> None:
    """Whatever the schemas refuse, `validate` finds too."""
    text = (WRONG | WRONG_SKELETON)[name]
    document = etree.fromstring(text.encode())
    assert not rng.validate(document)
    assert xsd.validate(document) == (name in WRONG)
    path = tmp_path / "m.xml"
    path.write_text(text)
    assert [
        found
        for found in irshape.validate(path, weights="none").diagnostics
        if found.severity != "info"
    ]
