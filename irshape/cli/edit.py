"""`irshape edit`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..diagnostics.renderers.common import plain
from ..model.names import layer_and_index, port_name
from ..shapes import Dimension, PartialShape
from ..spelling import counted, suggestion
from .arguments import Command, Option, Whole
from .common import options, pairs
from .graphs import (
    check_outputs,
    graph_or_exit,
    output_options,
    refusals,
    write_graphs,
)

if TYPE_CHECKING:
    from ..graph.graph import Graph
    from ..graph.nodes import GraphLayer, Output

End = TypeVar("End")
Given = Mapping[str, Any]
"""The values of the options, by the names of their parameters."""
Apply = Callable[["Graph", Given], "str | None"]
"""A function that makes a change. It returns a note for stderr, or None."""


def _restore(graph: Graph, given: Given) -> str:
    other = graph_or_exit(given["restore_weights"], "beside")
    return f"{counted(graph.restore_weights(other), 'constant')} restored"


def _pairs(graph: Graph, given: Given, flag: str, ends: Iterable[Output] = ()) -> dict[str, str]:
    """Parses the NAME=VALUE texts of an option. A name in the graph may contain `=`.

    ends: the model's inputs or outputs. If `ends` has one element, `NAME=` may be omitted.
    """
    named = {name for each in graph.walk() for port in each.outputs for name in port.names}
    names = [(*each.names, port_name(each.layer.raw, each.index))[0] for each in ends]
    values = given[flag.removeprefix("--").replace("-", "_")]
    return pairs(values, flag, lambda name: name in graph or name in named, names)


def _make_stateful(graph: Graph, given: Given) -> None:
    graph.make_stateful(
        _pairs(graph, given, "--make-stateful"),
        beam_idx=given["beam_idx"],
        batch_from=given["batch_from"],
    )


def _reshape(graph: Graph, given: Given) -> None:
    graph.reshape({name: PartialShape.of(text) for name, text in _shapes(graph, given).items()})


def _shapes(graph: Graph, given: Given) -> dict[str, str]:
    return _pairs(graph, given, "--reshape", graph.inputs)


def _constant_in_the_way(graph: Graph, given: Given) -> str | None:
    """Returns a note on a constant that makes a layer refuse the requested sizes, or None."""
    from ..inference.engine import infer
    from ..inference.fitting_sizes import fitting_size

    if graph.source is None or not (given["reshape"] or given["batch"] or given["seq"]):
        return None
    shapes: dict[str, str | PartialShape] = {}
    for each in graph.inputs:
        dims = list(each.shape.dims or ())
        if given["seq"] and len(dims) > 1 and not dims[1].is_static:
            dims[1] = Dimension.of(given["seq"])
        if given["batch"] and dims:
            dims[0] = Dimension.of(given["batch"])
        if dims:
            shapes[f"id:{each.layer.id}"] = PartialShape(tuple(dims))
    by_name = {name: f"id:{each.layer.id}" for each in graph.inputs for name in each.names}
    for name, shape in _shapes(graph, given).items():
        shapes[by_name.get(name, name)] = shape
    try:
        inference = infer(graph.source, shapes)
    except ValueError:  # the inputs are others by now
        return None
    refused = inference.refused
    return fitting_size(inference, refused[0].layer) if refused else None


def _pin_batch(graph: Graph, given: Given) -> None:
    batch = Dimension.of(given["batch"])
    for name, text in _shapes(graph, given).items():
        first = next(iter(PartialShape.of(text).dims or ()), batch)
        if first.is_static and first != batch:
            raise ValueError(f"--reshape gives '{name}' a batch of {first}, not {batch}")
    graph.pin(batch=batch)


def _pin_seq(graph: Graph, given: Given) -> str | None:
    shapes = [each.shape for each in graph.inputs]
    graph.pin(seq=Dimension.of(given["seq"]))
    if any(len(shape.dims or ()) > 1 and shape[1].is_dynamic for shape in shapes):
        return None
    return "no input has a dynamic axis 1, so nothing changed; change other axes with --reshape"


def _bind(graph: Graph, given: Given) -> None:
    for name, text in _pairs(graph, given, "--bind", graph.inputs).items():
        graph.bind(name, _value(text))


def _value(text: str) -> Any:
    """Parses a value of the command line: JSON, or the path of a .npy file. Raises `ValueError`."""
    if text.endswith(".npy"):
        from ..execution.inputs import read_array

        return read_array(text)
    import json

    several = "," in text and not text.startswith("[")
    try:
        value = json.loads(f"[{text}]" if several else text)
    except (ValueError, RecursionError):
        value = None
    if value is None:
        raise ValueError(f"'{text}' is not a value; give a number, a list as [1, 2], or a FILE.npy")
    return value


def _inline(graph: Graph, given: Given) -> None:
    limit = given["max_iterations"]
    more = {} if limit is None else {"max_iterations": limit}
    for name in given["inline"]:
        graph.inline(name, **more)


def _set(graph: Graph, given: Given) -> None:
    with graph.batch():
        places = pairs(given["set"], "--set", lambda place: place.rpartition(":")[0] in graph)
        for place, text in places.items():
            name, colon, attribute = place.rpartition(":")
            if not colon:
                raise ValueError(f"expected LAYER:ATTRIBUTE=VALUE, got '{place}={text}'")
            layer = graph[name]
            layer.set(**{attribute: _attribute(type(layer.operation), attribute, text)})


def _attribute(operation: Any, name: str, text: str) -> Any:
    """Converts a text to a value of the attribute. Raises `ValueError`."""
    from ..ops.kinds import Malformed

    declared = next(
        (each for key, each in operation.attributes.items() if name in (key, each.name)), None
    )
    if operation.opaque:
        return text  # the graph says why it cannot be set
    if declared is None:
        close = suggestion(name, [each.name for each in operation.attributes.values()])
        raise ValueError(f"{operation.type_name()} has no attribute '{name}'{close}")
    try:
        return declared.kind.read(text)
    except Malformed as malformed:
        raise ValueError(f"{name}='{text}' is not {malformed.expected}") from None


def _remove(graph: Graph, given: Given) -> None:
    for name in given["remove"]:
        parts = layer_and_index(name)
        if name not in graph and parts is not None and parts[0] in graph:
            graph[parts[0]].remove(bypass=parts[1])
        else:
            layer = graph[name]
            layer.remove(bypass=0 if layer.inputs and len(layer.outputs) == 1 else None)
    graph.clean(duplicates=False)


def _for_each(method: str) -> Apply:
    """Returns a function that calls a method of a graph once for each value of an option."""

    def apply(graph: Graph, given: Given) -> None:
        for name in given[method]:
            getattr(graph, method)(name)

    return apply


def _drop_inputs(graph: Graph, given: Given) -> str | None:
    unused = [layer for layer in graph.parameters if not any(layer.users)]
    for layer in unused:
        layer.remove()
    return f"{counted(len(unused), 'unused input')} removed"


def _preprocess(graph: Graph, given: Given) -> str | None:
    notes: list[str] = []
    of_tensor = _by_end(graph, given, graph.inputs, BEFORE, graph.tensor)
    for name in given["reverse_channels"]:
        if not name and len(graph.inputs) != 1:
            raise click.UsageError("--reverse-channels needs the name of one of the inputs")
        tensor = graph.tensor(name) if name else graph.inputs[0]
        of_tensor.setdefault(tensor, {})["reverse_channels"] = True
    for tensor, wanted in of_tensor.items():
        if "mean" in wanted or "scale" in wanted:
            notes += [
                f"'{tensor.name}' already feeds {user.layer.label}: the model applies the new mean "
                "or scale first, and then the constant of that layer"
                for user in tensor.users
                if user.layer.type in ("Subtract", "Divide", "Add", "Multiply")
                and any(each.source.value is not None for each in user.layer.inputs)
            ]
        graph.preprocess(tensor, **wanted)
    return "; ".join(notes) or None


def _postprocess(graph: Graph, given: Given) -> None:
    def find(name: str) -> tuple[GraphLayer, ...]:
        return tuple(graph.results_of(name))

    for results, wanted in _by_end(graph, given, graph.outputs, AFTER, find).items():
        all_of = results[0].inputs[0].source
        graph.postprocess(results[0] if len(results) == 1 else all_of, **wanted)


def _by_end(
    graph: Graph,
    given: Given,
    ends: Iterable[Output],
    options: Mapping[str, Argument],
    find: Callable[[str], End],
) -> dict[End, dict[str, Any]]:
    """Collects the values of several options. Maps each input or output to its arguments of
    `Graph.preprocess` or `Graph.postprocess`. find: looks up an input or output by name."""
    wanted: dict[End, dict[str, Any]] = {}
    for flag, (argument, parse) in options.items():
        with refusals([flag]):
            for name, text in _pairs(graph, given, flag, ends).items():
                of_end = wanted.setdefault(find(name), {})
                if argument in of_end:
                    raise ValueError(f"'{name}' gets two values, under two of its names")
                of_end[argument] = parse(text)
    return wanted


def _element_type(text: str) -> str:
    """Returns the name of an element type such as `f32` or `FP32`. Raises `ValueError`."""
    from ..element_types import ElementType

    return (ElementType.of_precision(text) or ElementType.of(text)).name


def _layouts(text: str) -> tuple[str, str]:
    before, colon, after = text.partition(":")
    if not colon or not before or not after:
        raise ValueError(
            f"expected FROM:TO, such as NHWC:NCHW, got '{text}'; for a layout that stays, write "
            "it twice, such as NHWC:NHWC"
        )
    return before, after


Argument = tuple[str, Callable[[str], Any]]
"""An argument of `Graph.preprocess` or `Graph.postprocess`, and the function that parses it."""

BEFORE: dict[str, Argument] = {
    "--input-type": ("element_type", _element_type),
    "--input-layout": ("layout", _layouts),
    "--mean": ("mean", _value),
    "--scale": ("scale", _value),
}
AFTER: dict[str, Argument] = {
    "--output-type": ("element_type", _element_type),
    "--output-layout": ("layout", _layouts),
}


def _rename(graph: Graph, given: Given) -> None:
    renamed = _pairs(graph, given, "--rename")
    for old, new in renamed.items():
        if "=" in new:
            raise ValueError(f"'{old}={new}': the new name '{new}' would contain '='")
    graph.rename(renamed)


class _Change:
    """An option of the command. usage: the option and, if it takes a value, its metavar.

    applies: a function that makes the change; for an option that only modifies other options, the
    names of the modified options' parameters.
    """

    def __init__(
        self, usage: str, applies: Apply | tuple[str, ...], help: str, **attributes: Any
    ) -> None:
        self.flag, _, metavar = usage.partition(" ")
        self.parameter = self.flag.removeprefix("--").replace("-", "_")
        self.applies = applies
        value = {"metavar": metavar, "multiple": metavar.endswith("...")}
        self.attributes = {**(value if metavar else {"is_flag": True}), "help": help, **attributes}


_SECTIONS = {
    "Weights": (
        _Change(
            "--restore-weights OTHER.xml",
            _restore,
            "Take the values of constants from the constants of the same name in another model.",
        ),
    ),
    "States": (
        _Change(
            "--make-stateless",
            lambda graph, _: (
                f"{counted(len(graph.make_stateless()), 'variable')} turned into inputs and outputs"
            ),
            "Replace variables (ReadValue, Assign) by inputs and outputs.",
        ),
        _Change(
            "--make-stateful IN=OUT...",
            _make_stateful,
            "Replace an input, and the output that computes its next value, by a variable, such as "
            "past.0.key=present.0.key.",
        ),
        _Change(
            "--beam-idx NAME",
            ("make_stateful",),
            "With --make-stateful: add an input with indices to reorder axis 0 of the variables.",
        ),
        _Change(
            "--batch-from NAME",
            ("make_stateful",),
            "With --make-stateful: the input whose axis 0 is the batch size of the variables.",
        ),
    ),
    "Shapes and values of inputs": (
        _Change(
            "--reshape [NAME=]SHAPE...",
            _reshape,
            "Give an input another shape, such as x=[1,3,?,?].",
        ),
        _Change(
            "--batch SIZE",
            _pin_batch,
            "Set the size of axis 0 of every input, such as 1 or 1..8.",
        ),
        _Change(
            "--seq SIZE",
            _pin_seq,
            "Set the size of axis 1 of every input that has a dynamic axis 1, such as 1..1024.",
        ),
        _Change(
            "--bind [NAME=]VALUE...",
            _bind,
            "Replace an input by a constant: a number, a list as [1,2], or a FILE.npy.",
        ),
    ),
    "Layers": (
        _Change(
            "--set LAYER:ATTRIBUTE=VALUE...",
            _set,
            "Change an attribute, written as in the file, such as mean:keep_dims=true.",
        ),
        _Change(
            "--inline LAYER...",
            _inline,
            "Replace an If whose condition is known, a Loop or a TensorIterator by the layers of "
            "its body.",
        ),
        _Change(
            "--max-iterations N",
            ("inline",),
            "With --inline: refuse loops with more iterations.",
            type=Whole(0),
        ),
        _Change(
            "--drop-fake-quantize",
            lambda graph, _: f"{counted(graph.drop_fake_quantize(), 'FakeQuantize')} removed",
            "Remove all FakeQuantize layers.",
        ),
        _Change(
            "--remove LAYER[:INPUT]...",
            _remove,
            "Remove a layer. Layers that used its output then use its input 0, or its input INPUT.",
        ),
    ),
    "Inputs and outputs": (
        _Change(
            "--cut NAME...",
            _for_each("cut"),
            "Turn a tensor into an input, and remove the layers that computed only this tensor.",
        ),
        _Change("--add-output NAME...", _for_each("add_output"), "Make a tensor an output."),
        _Change(
            "--drop-output NAME...",
            _for_each("drop_output"),
            "Remove an output, and the layers that computed only this output. Inputs stay.",
        ),
        _Change("--drop-unused-inputs", _drop_inputs, "Remove the inputs that no layer uses."),
    ),
    "Preprocessing and postprocessing": (
        _Change(
            "--input-type [NAME=]TYPE...",
            _preprocess,
            "Give an input another element type, such as image=u8, and insert a Convert after it.",
        ),
        _Change(
            "--input-layout [NAME=]FROM:TO...",
            _preprocess,
            "Give an input another layout, such as image=NHWC:NCHW, and insert a Transpose after "
            "it.",
        ),
        _Change(
            "--reverse-channels [NAME]...",
            _preprocess,
            "Reverse the channels of an input, from BGR to RGB or back, before --mean and --scale.",
        ),
        _Change(
            "--mean [NAME=]VALUE...",
            _preprocess,
            "Subtract a number from an input, or a list with one number for each channel. The "
            "channels are axis C of the layout, or axis 1 without a layout.",
        ),
        _Change(
            "--scale [NAME=]VALUE...", _preprocess, "After --mean, divide by a number, or a list."
        ),
        _Change(
            "--output-type [NAME=]TYPE...",
            _postprocess,
            "Convert an output to another element type.",
        ),
        _Change(
            "--output-layout [NAME=]FROM:TO...",
            _postprocess,
            "Transpose an output to another layout.",
        ),
    ),
    "Simplification": (
        _Change(
            "--fold",
            lambda graph, _: f"{counted(graph.fold(), 'layer')} computed",
            "Replace layers that depend only on constants or static shapes by constants.",
        ),
        _Change(
            "--clean",
            lambda graph, _: f"{counted(graph.clean(), 'layer')} removed",
            "Remove layers that no output depends on, and layers that repeat a computation.",
        ),
        _Change(
            "--outline LAYER...",
            lambda graph, given: f"the layers are now in {graph.outline(given['outline']).label}",
            "Put these layers into the body of a Loop that runs once.",
        ),
    ),
    "Precision and size": (
        _Change(
            "--f16",
            lambda graph, given: (
                f"{counted(graph.to_f16(keep=given['keep']), 'layer')} computed in f16"
            ),
            "Let f32 layers compute in f16.",
        ),
        _Change(
            "--compress-to-f16",
            lambda graph, given: (
                f"{counted(graph.compress_to_f16(keep=given['keep']), 'constant')} stored in f16"
            ),
            "Store weights in f16; layers still compute in f32.",
        ),
        _Change(
            "--keep PATTERN...",
            ("f16", "compress_to_f16"),
            "With --f16 and --compress-to-f16: do not change layers whose name or type matches, "
            "as '*norm*' or SoftMax.",
        ),
        _Change(
            "--strip-weights",
            lambda graph, _: f"{graph.strip_weights():,} bytes of weights removed",
            "Replace large constants by zeros that take no space, to share a model without its "
            "weights.",
        ),
    ),
    "Names": (
        _Change(
            "--rename OLD=NEW...",
            _rename,
            "Rename a tensor or a layer. Two names can be swapped.",
        ),
    ),
}
"""The options by section of the help. The changes are made in this order."""


@click.command("edit", cls=Command)
@click.argument("model", metavar="MODEL")
@options(
    *(
        click.option(each.flag, cls=Option, section=section, **each.attributes)
        for section, changes in _SECTIONS.items()
        for each in changes
    )
)
@output_options
def command(
    model: str,
    output: str,
    name: str | None,
    quiet: bool,
    overwrite: bool,
    weights: str,
    **given: Any,
) -> None:
    """Change a model, and write it as another one.

    The changes are made in the order of the options below, whatever their order on the command
    line. Names refer to the model that is read, since --rename comes last. irshape checks
    every change: it infers the affected types and shapes again, and names a layer that refuses its
    inputs.

    NAME is the name of a tensor, the name or the id of a layer with one output, or LAYER:INDEX.
    [NAME] and [NAME=] can be left out if the model has one input, or one output. Options that are
    repeatable take several values: --cut a b. MODEL is an IR, an ONNX model or a oneDNN graph; - is
    standard input. All other text of an IR stays: names, ids, order, comments.

    \b
    Examples:
      irshape edit m.xml --rename x=image y=scores -o renamed.xml
      irshape edit m.xml --reshape 'x=[1,3,224,224]' --fold -o static.xml
      irshape edit m.xml --input-type x=u8 --input-layout x=NHWC:NCHW -o n.xml
      irshape edit m.xml --f16 --keep '*norm*' SoftMax -o half.xml
      irshape edit m.xml --cut encoder/out --add-output mean -o decoder.xml

    Exit status: 0; 1 if the model has errors or a change cannot be made; 2 if a name does not
    exist, a value cannot be read, or a path cannot be opened. Files appear completely or not at
    all.
    """
    from .size_warnings import first_axes, kept_batches, too_large

    steps = _steps(given)
    if not steps and name is None:
        raise click.UsageError("name a change; `irshape edit --help` lists the changes")
    sources = [(model, weights)]
    if given["restore_weights"]:
        sources.append((given["restore_weights"], "beside"))
    check_outputs(sources, [output], overwrite)
    graph = graph_or_exit(model, weights)
    axes = first_axes(graph)
    for apply, flags in steps.items():
        with refusals(flags, lambda: _constant_in_the_way(graph, given)):
            account = apply(graph, given)
        if account is not None and not quiet:
            click.echo(f"{flags[0]}: {account}", err=True)
    resized = given["batch"] or given["reshape"]
    warnings = kept_batches(graph, axes) if resized else ()
    for line in (*warnings, *(too_large(graph) if resized or given["seq"] else ())):
        click.echo(f"warning: {plain(line)}", err=True)
    if name is not None:
        graph.name = name
    write_graphs({output: graph}, quiet=quiet)


def _asked(value: Any) -> bool:
    return value not in (None, False, ())


def _steps(given: Given) -> dict[Apply, list[str]]:
    """Returns the functions that make the requested changes, in order, each with its options.

    Raises `UsageError` for an option such as --keep without any option that it modifies.
    """
    steps: dict[Apply, list[str]] = {}
    every = [each for section in _SECTIONS.values() for each in section]
    for each in every:
        if not _asked(given[each.parameter]):
            continue
        if callable(each.applies):
            steps.setdefault(each.applies, []).append(each.flag)
        elif not any(_asked(given[other]) for other in each.applies):
            flags = " or ".join(f"--{other.replace('_', '-')}" for other in each.applies)
            raise click.UsageError(f"{each.flag} needs {flags}")
    return steps
