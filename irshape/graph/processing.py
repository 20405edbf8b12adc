"""Adds the preprocessing and postprocessing of a program to the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..element_types import ElementType
from ..formats.ir.writer import port_rt_info
from ..model.ports import PortElsewhere
from ..model.rt_info import parse
from ..model.source import Passage
from ..ops.lazy import np
from ..shapes import Dimension, PartialShape
from ..spelling import counted
from .editing import Editing
from .errors import GraphError
from .nodes import GraphLayer, Output
from .types import element_type_of


def _permutation(layouts: tuple[str, str]) -> list[int]:
    """Returns the order of axes by which a Transpose turns the first layout into the second: 0, 3,
    1, 2 for NHWC to NCHW. Raises `GraphError`."""
    if not isinstance(layouts, (list, tuple)) or [*map(type, layouts)] != [str, str]:
        message = f"expected two layouts, as in ('NHWC', 'NCHW'), got {layouts!r}"
        raise GraphError(message, argument="layout")
    before, after = (each.strip("[]").replace(",", "") for each in layouts)
    if sorted(before) != sorted(after) or len(set(before)) != len(before):
        message = f"the layouts '{before}' and '{after}' have different dimensions"
        raise GraphError(message, argument="layout")
    return [before.index(letter) for letter in after]


def preprocess(
    graph: Editing,
    name: str | Output,
    *,
    element_type: Any = None,
    layout: tuple[str, str] | None = None,
    reverse_channels: bool = False,
    mean: float | Sequence[float] | None = None,
    scale: float | Sequence[float] | None = None,
) -> Output:
    """Moves preprocessing into the graph, so that a program can pass its data unchanged. The graph
    converts, transposes and normalizes the data, in the order of the arguments.

    element_type: the type of the new input.
    layout: the layouts of the new input and of the old one, as in `("NHWC", "NCHW")`.
    reverse_channels: whether the program has BGR images and the graph takes RGB, or the reverse.
    mean, scale: the graph subtracts mean, then divides by scale. Each is a number, or a list with a
    number for each channel: for axis C of `layout` or of the model's own layout, otherwise axis 1.
    Returns the new input.
    """
    old = graph._input(name)
    kind, shape = old.element_type, old.shape
    order = [] if layout is None else _permutation(layout)
    written = _written_layout(graph, old)
    inner = layout[1] if layout is not None else "" if written is None else written
    with graph.changes:
        if layout is not None:
            dims = shape.dims
            if dims is None or len(dims) != len(order):
                raise GraphError(
                    f"the input '{old.layer.name}' has shape {shape}, which does not fit the "
                    f"layout {inner}",
                    argument="layout",
                )
            outer: list[Dimension] = [dims[0]] * len(order)
            for at, axis in enumerate(order):
                outer[axis] = dims[at]
            shape = PartialShape(tuple(outer))
        fed = graph.parameter(kind if element_type is None else element_type, shape)
        _check_conversion(fed.element_type, kind)
        value = fed
        if value.element_type is not kind:
            value = graph.add("Convert", value, destination_type=str(kind))
        if order != sorted(order):
            value = graph.add("Transpose", value, order)
        if reverse_channels:
            value = _with_channels_reversed(graph, value, inner)
        for argument, type, numbers in (("mean", "Subtract", mean), ("scale", "Divide", scale)):
            if numbers is not None:
                operand = _by_channel(graph, old, numbers, inner, argument)
                if type == "Divide" and operand.value is not None and not operand.value.all():
                    message = "the scale contains 0, but the graph divides by the scale"
                    raise GraphError(message, argument=argument)
                value = graph.add(type, value, operand)
        graph._connect(old.users, value)
        # the Parameter stays where it is, so that the inputs keep their order
        old.layer.set(element_type=str(fed.element_type), shape=shape)
        graph.replace_uses(fed, old)
        graph._remove_all([fed.layer])
        if layout is not None:
            now = f"[{','.join(layout[0].strip('[]').replace(',', ''))}]"
            info = f'<rt_info><attribute name="layout" version="0" layout="{now}"/></rt_info>'
            ports = old.layer.raw.outputs
            elsewhere = [PortElsewhere(port, Passage.text(info)) for port in ports]
            graph._restate(old.layer, outputs=elsewhere)
    return old


def _check_conversion(before: ElementType, after: ElementType) -> None:
    """Raises `GraphError` if no operation converts the first element type to the second."""
    for each in (before, after):
        if before is not after and (each.name == "string" or each.is_dynamic):
            message = f"no operation converts {before} to {after}"
            raise GraphError(message, argument="element_type")


def _written_layout(graph: Editing, input: Output) -> str | None:
    """Returns the layout that the model declares for an input, such as `[N,H,W,C]`; None if it
    declares none."""
    span = port_rt_info(graph.text_source, input.layer.raw.outputs[input.index])
    known = parse(graph.text_source, span).get("layout")
    layout = known.get("layout") if isinstance(known, dict) else None
    return layout if isinstance(layout, str) and layout.strip("[.]") else None


def _channels(layout: str, rank: int) -> int:
    """Returns the axis C of a layout, written as `NHWC` or `[N,...,C]`; 1 without a layout.

    Raises `GraphError`.
    """
    names = layout.strip("[]").split(",") if layout.startswith("[") else list(layout)
    axis = 1 if not layout else names.index("C") if "C" in names else rank
    if "..." in names[:axis]:
        axis += rank - len(names)
    if not 0 <= axis < rank:
        said = f"the layout {layout}" if layout else f"the input, of rank {rank},"
        raise GraphError(f"{said} has no axis C of channels")
    return axis


def _with_channels_reversed(graph: Editing, input: Output, layout: str) -> Output:
    axis = _channels(layout, input.shape.rank or 0)
    count = input.shape[axis]
    if not count.is_static:
        size = f"axis {axis} of {input.shape}, the channels, has no fixed size"
        message = f"{size}; reshape the input first"
        raise GraphError(message, argument="reverse_channels")
    return graph.add_layer("Gather", input, [*reversed(range(count.low))], axis).output


def _by_channel(
    graph: Editing, input: Output, numbers: float | Sequence[float], layout: str, argument: str
) -> Output:
    """Returns one number for each channel, in a shape that broadcasts over the input."""
    try:
        array = np.asarray(numbers)
        kind = array.dtype.kind
        if not array.size or (kind in "bcmMOSU" and {*map(type, array.flat)} != {int}):
            raise ValueError
        array = array.astype(np.float64)
    except OverflowError:
        array = np.array(np.inf)
    except ValueError:
        message = f"the {argument} {numbers!r} is neither a number nor a list of numbers"
        raise GraphError(message, argument=argument) from None
    if not np.isfinite(array).all():
        raise GraphError(f"the {argument} {numbers} is not finite", argument=argument)
    if array.ndim:
        rank = input.shape.rank
        if rank is None:
            message = f"{input!r} is of dynamic rank, and has no axis of channels"
            raise GraphError(message, argument=argument)
        axis = _channels(layout, rank)
        channels = input.shape[axis]
        if channels.is_static and array.size not in (1, channels.low):
            raise GraphError(
                f"{counted(array.size, 'number')} for the channels, but axis {axis} of "
                f"{input.shape} has size {channels}; if the channels are another axis, give the "
                "layout, as in NHWC:NHWC",
                argument=argument,
            )
        array = array.reshape([-1 if at == axis else 1 for at in range(rank)])
    return graph.constant(array.astype(np.float32), input.element_type)


def postprocess(
    graph: Editing,
    name: str | Output | GraphLayer,
    *,
    element_type: Any = None,
    layout: tuple[str, str] | None = None,
) -> Output:
    """Transposes an output of the graph from one layout to another, and converts its element type.

    name: the name of an output of the graph, or a tensor. If several outputs of the graph have this
    tensor, all of them change.
    """
    results = [result.inputs[0] for result in graph.results_of(name)]
    old = results[0].source
    with graph.changes:
        value = old
        if layout is not None:
            value = graph.add("Transpose", value, _permutation(layout))
        wanted = value.element_type if element_type is None else element_type_of(element_type)
        if wanted is not value.element_type:
            _check_conversion(value.element_type, wanted)
            value = graph.add("Convert", value, destination_type=wanted)
        if value is not old:
            graph.replace_uses(old, value, results)
    return value
