"""The programs in the documents about graphs run, and OpenVINO reads what they save."""

from __future__ import annotations

import contextlib
import re
import runpy
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import openvino as ov
import pytest
from openvino.preprocess import ColorFormat, PrePostProcessor, ResizeAlgorithm

import irshape
from irshape import Graph

ROOT = Path(__file__).parent.parent.parent
_PROGRAM = re.compile(r"^## (?P<title>.*?)$|```python\n(?P<code>.*?)```", re.MULTILINE | re.DOTALL)


class Program(NamedTuple):
    title: str
    code: str


def programs(document: str) -> list[Program]:
    """The programs of a document that save a model or print something, with their headings."""
    title, listed = "", []
    for match in _PROGRAM.finditer((ROOT / "docs" / document).read_text()):
        title = match["title"] or title
        code = match["code"] or ""
        if ".save(" in code or "print(" in code:
            listed.append(Program(title, code))
    return listed


PROGRAMS = [*programs("recipes.md"), *programs("graphs.md")]


def test_the_documents_have_programs() -> None:
    assert len(PROGRAMS) >= 24


@pytest.mark.usefixtures("registrations")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.title)
def test_a_program_runs(program: Program, tmp_path: Path) -> None:
    for name in re.findall(r'Graph\.load\("(\w+)\.xml"\)', program.code):
        for suffix in (".xml", ".bin"):
            shutil.copy(ROOT / "examples" / f"{name}{suffix}", tmp_path)
    (tmp_path / "program.py").write_text(program.code)
    with contextlib.chdir(tmp_path):
        runpy.run_path("program.py", run_name="__main__")
    for name in re.findall(r'\.save\("(\w+\.xml)"\)', program.code):
        assert irshape.validate(tmp_path / name).ok
        ov.Core().compile_model(tmp_path / name, "CPU")


RESULTS = {
    "Rename inputs and outputs": "['tokens: i64[1..8,?]', 'padding: i64[?,?]'] 247",
    "Extract a part": "['stem/relu: f32[1,12,32,32]']",
    "Replace an input by a value": "['input_ids: i64[1,16]']",
    "Accept images as a program has them": "['image: u8[?,64,64,3]']",
    "Change the shapes of inputs": "['input_ids: i64[1,128]', 'attention_mask: i64[1,128]']",
}


@pytest.mark.parametrize("title", RESULTS)
def test_a_recipe_does_what_it_says(title: str, tmp_path: Path) -> None:
    program = next(program for program in PROGRAMS if program.title == title)
    test_a_program_runs(program, tmp_path)
    graph = Graph.load(tmp_path / "out.xml")
    assert RESULTS[title].startswith(str([str(output) for output in graph.inputs]))


def test_images_are_resized_as_by_openvino(tmp_path: Path) -> None:
    program = next(each for each in PROGRAMS if each.title == "Resize camera images in the model")
    test_a_program_runs(program, tmp_path)
    core, config = ov.Core(), {"INFERENCE_PRECISION_HINT": "f32"}
    wanted = PrePostProcessor(core.read_model(tmp_path / "classifier.xml"))
    image = wanted.input()
    image.tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    image.tensor().set_color_format(ColorFormat.BGR).set_spatial_static_shape(480, 640)
    steps = image.preprocess().convert_element_type(ov.Type.f32).convert_color(ColorFormat.RGB)
    steps = steps.resize(ResizeAlgorithm.RESIZE_LINEAR)
    steps.mean([123.7, 116.3, 103.5]).scale([58.4, 57.1, 57.4])
    image.model().set_layout(ov.Layout("NCHW"))
    given = np.random.default_rng(0).integers(0, 256, (1, 480, 640, 3), np.uint8)
    expected, actual = (
        list(core.compile_model(each, "CPU", config)(given).values())
        for each in (wanted.build(), tmp_path / "out.xml")
    )
    for a, b in zip(expected, actual, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
