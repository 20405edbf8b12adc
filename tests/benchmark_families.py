"""Times `irshape.Session.run` beside OpenVINO's CPU plugin (f32) over families of networks.

python tests/benchmark_families.py make FOLDER [FAMILY...]
python tests/benchmark_families.py measure FOLDER [FAMILY...] [--runs N] [--processor-time]

`make` writes the networks, of their usual sizes and with random weights, as IRs into a folder. It
needs torch, transformers and openvino. `measure` prints a table in Markdown; it needs what the
project needs, and openvino. Each run of one side is followed by one of the other: the medians of
the runs, and of the ratios of the pairs; then the geometric mean of those ratios.

With `--processor-time`, both sides compute in one thread, and what counts is the processor's time:
the figures for a machine that does other work as well.

The last column is `irshape.run`, called again and again with the same model, beside the session.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

Build = Callable[[], tuple[Any, dict[str, Any]]]
"""A network of torch, and the inputs that it is traced with."""


class Family(NamedTuple):
    """A network, and the shapes of the inputs that it is measured with."""

    name: str
    shapes: dict[str, str]
    build: Build
    note: str


def image(size: int = 224) -> dict[str, Any]:
    import torch

    return {"pixel_values": torch.rand(1, 3, size, size)}


def tokens(length: int, *, masked: bool = True) -> dict[str, Any]:
    import torch

    ids = {"input_ids": torch.randint(0, 1000, (1, length))}
    return {**ids, "attention_mask": torch.ones(1, length, dtype=torch.long)} if masked else ids


def resnet50() -> tuple[Any, dict[str, Any]]:
    import transformers

    return transformers.ResNetForImageClassification(transformers.ResNetConfig()), image()


def bert() -> tuple[Any, dict[str, Any]]:
    import transformers

    return transformers.BertModel(transformers.BertConfig()), tokens(64)


def gpt2() -> tuple[Any, dict[str, Any]]:
    import transformers

    return transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)), tokens(64)


def vit() -> tuple[Any, dict[str, Any]]:
    import transformers

    return transformers.ViTModel(transformers.ViTConfig()), image()


def whisper() -> tuple[Any, dict[str, Any]]:
    """The encoder of whisper-tiny, over 30 seconds."""
    import torch
    import transformers

    config = transformers.WhisperConfig(
        d_model=384,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=6,
        decoder_attention_heads=6,
        encoder_ffn_dim=1536,
        decoder_ffn_dim=1536,
    )
    network = transformers.WhisperModel(config).get_encoder()
    return network, {"input_features": torch.rand(1, 80, 3000)}


def llama() -> tuple[Any, dict[str, Any]]:
    """Eight layers of the width of TinyLlama's smaller relatives."""
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=4,
        vocab_size=32000,
        use_cache=False,
    )
    return transformers.LlamaForCausalLM(config), tokens(64)


def unet() -> tuple[Any, dict[str, Any]]:
    """A U-Net of four levels with 32 to 256 channels, with transposed convolutions upwards."""
    import torch
    from torch import nn

    def block(taken: int, given: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(taken, given, 3, padding=1),
            nn.BatchNorm2d(given),
            nn.ReLU(),
            nn.Conv2d(given, given, 3, padding=1),
            nn.GroupNorm(8, given),
            nn.SiLU(),
        )

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (32, 64, 128, 256)
            self.downwards = nn.ModuleList(map(block, (3, *widths[:-1]), widths))
            pairs = list(zip(widths[1:], widths[:-1], strict=True))[::-1]
            self.ups = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs)
            self.upwards = nn.ModuleList(block(a, b) for a, b in pairs)
            self.head, self.pool = nn.Conv2d(widths[0], 2, 1), nn.MaxPool2d(2)

        def forward(self, x: Any) -> Any:
            kept = []
            for level in self.downwards[:-1]:
                x = level(x)
                kept.append(x)
                x = self.pool(x)
            x = self.downwards[-1](x)
            for up, level in zip(self.ups, self.upwards, strict=True):
                x = level(torch.cat([up(x), kept.pop()], 1))
            return self.head(x).softmax(1)

    return UNet(), {"x": torch.rand(1, 3, 128, 128)}


def lstm() -> tuple[Any, dict[str, Any]]:
    """Two layers of 256 units over 50 steps."""
    import torch
    from torch import nn

    class Lstm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.LSTM(128, 256, num_layers=2, batch_first=True)
            self.head = nn.Linear(256, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.layers(x)[0])

    return Lstm(), {"x": torch.rand(1, 50, 128)}


def swin() -> tuple[Any, dict[str, Any]]:
    import transformers

    return transformers.SwinModel(transformers.SwinConfig()), image()


def convnext() -> tuple[Any, dict[str, Any]]:
    import transformers

    return transformers.ConvNextModel(transformers.ConvNextConfig()), image()


def efficientnet() -> tuple[Any, dict[str, Any]]:
    """EfficientNet-B0; the window of its last pooling follows the size of the image."""
    import transformers
    from torch import nn

    config = transformers.EfficientNetConfig(
        width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280, image_size=224
    )
    network = transformers.EfficientNetModel(config)
    network.pooler = nn.AdaptiveAvgPool2d(1)
    return network, image()


def mobilenet() -> tuple[Any, dict[str, Any]]:
    import transformers

    network = transformers.MobileNetV2ForImageClassification(transformers.MobileNetV2Config())
    return network, image()


ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
PICTURE = {"pixel_values": "[1,3,224,224]"}
TEXT = {"input_ids": "[1,64]", "attention_mask": "[1,64]"}

FAMILIES = [
    Family("ResNet-50", PICTURE, resnet50, "convolutions"),
    Family("BERT-base", TEXT, bert, "encoder, 12 layers"),
    Family("GPT-2", TEXT, gpt2, "decoder, 12 layers"),
    Family("ViT-base", PICTURE, vit, "encoder of 197 patches"),
    Family("Whisper-tiny", {"input_features": "[1,80,3000]"}, whisper, "encoder, 1,500 frames"),
    Family("Llama", TEXT, llama, "8 layers, 512 wide"),
    Family("U-Net", {"x": "[1,3,128,128]"}, unet, "4 levels, 32 to 256 channels"),
    Family("LSTM", {"x": "[1,50,128]"}, lstm, "2 layers of 256 units"),
    Family("Swin-tiny", PICTURE, swin, "windowed attention"),
    Family("ConvNeXt-tiny", PICTURE, convnext, "depthwise 7×7"),
    Family("EfficientNet-B0", PICTURE, efficientnet, "depthwise 3×3 and 5×5"),
    Family("MobileNet-V2", PICTURE, mobilenet, "depthwise 3×3"),
]


def write(family: Family, folder: Path) -> None:
    import openvino
    import torch

    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    network, inputs = family.build()
    normalize(network, inputs)
    model = openvino.convert_model(network.eval(), example_input=inputs)
    openvino.save_model(model, folder / f"{family.name}.xml", compress_to_fp16=False)


def normalize(network: Any, inputs: dict[str, Any]) -> None:
    """Fits the statistics of batch normalizations to the random weights.

    Otherwise the numbers vanish from layer to layer, and denormal ones take many times longer.
    """
    import torch
    from torch import nn

    batches = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    if not batches:
        return
    network.train()
    for batch in batches:
        batch.momentum = None  # the average of all that is seen, instead of a moving one
        batch.reset_running_stats()
    with torch.no_grad():
        network(**{name: torch.cat([tensor] * 2) for name, tensor in inputs.items()})


def make(families: list[Family], folder: Path) -> None:
    """Writes each network in a process of its own, which gives its memory back."""
    folder.mkdir(parents=True, exist_ok=True)
    for family in families:
        command = [sys.executable, __file__, "write", str(folder), family.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        print(folder / f"{family.name}.xml", flush=True)


def with_openvino(
    path: Path, model: Any, inputs: dict[str, Any], threads: int = 0
) -> Callable[[], Any]:
    """A run of the CPU plugin; with `threads` in so many, else in as many as it chooses."""
    import openvino as ov

    core = ov.Core()
    read = core.read_model(path)
    by_name = {layer.name: inputs[layer.id] for layer in model.parameters}
    arrays = [by_name[parameter.get_friendly_name()] for parameter in read.get_parameters()]
    read.reshape({position: list(array.shape) for position, array in enumerate(arrays)})
    settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"}
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    request = core.compile_model(read, "CPU", settings).create_infer_request()
    return lambda: request.infer(arrays)


def measure(family: Family, folder: Path, runs: int, *, processor: bool) -> tuple[str, float]:
    """A row of the table, and the ratio in it."""
    import irshape
    from irshape.execution.inputs import random_inputs

    path = folder / f"{family.name}.xml"
    model = irshape.load(path)
    shapes = {}
    for layer in model.parameters:
        names = (*layer.outputs[0].tensor_names, layer.name)
        shape = next((family.shapes[name] for name in names if name in family.shapes), None)
        if shape is not None:
            shapes[names[0]] = shape
    inputs = random_inputs(model, shapes=shapes)
    session = irshape.Session(model)
    theirs = with_openvino(path, model, inputs, 1 if processor else 0)
    sides = [lambda: session.run(inputs), theirs, lambda: irshape.run(model, inputs)]
    clock = time.process_time if processor else time.perf_counter

    def timed(side: Callable[[], Any]) -> float:
        start = clock()
        side()
        return clock() - start

    for side in sides * 3:
        side()
    rows = [[timed(side) for side in sides] for _ in range(runs)]
    ours, plugin, _ = (statistics.median(column) * 1000 for column in zip(*rows, strict=True))
    ratio = statistics.median(row[0] / row[1] for row in rows)
    again = statistics.median(row[2] / row[0] for row in rows)
    layers = sum(1 for _ in model.walk())
    cells = (
        family.name,
        family.note,
        ", ".join(str(list(array.shape)).replace(" ", "") for array in inputs.values()),
        f"{layers:,}",
        f"{ours:.1f} ms",
        f"{plugin:.1f} ms",
        f"{ratio:.1f}",
        f"{again:.2f}",
    )
    return f"| {' | '.join(cells)} |", ratio


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("make", "measure", "write"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    if options.processor_time and os.environ.get("OMP_NUM_THREADS") != "1":
        # NumPy's BLAS reads it when it is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    chosen = [
        family for family in FAMILIES if not options.families or family.name in options.families
    ]
    if options.action == "write":
        for family in chosen:
            write(family, options.folder)
        return
    if options.action == "make":
        make(chosen, options.folder)
        return
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; "
        f"medians of {options.runs} paired runs"
    )
    print("| network | what it is | inputs | layers | session | CPU plugin | ratio | run/session |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = []
    for family in chosen:
        row, ratio = measure(family, options.folder, options.runs, processor=options.processor_time)
        ratios.append(ratio)
        print(row, flush=True)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f}, worst {max(ratios):.1f}")


if __name__ == "__main__":
    main()
