"""OpenVINO itself as a reader of the corpus, from 2023.0 on, in a process that may crash."""

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache

import numpy as np


def shapes(xml):
    return _asked(_shapes, xml)


def values(xml, inputs):
    return _asked(_values, xml, inputs)


def _asked(function, *given):
    try:
        return _process().submit(function, *given).result()
    except BrokenProcessPool:
        _process.cache_clear()
        raise RuntimeError("OpenVINO crashes") from None


@cache
def _process():
    return ProcessPoolExecutor(1)


@cache
def _openvino():
    """The module of OpenVINO's API, which 2023.0 has one level down, and its reader."""
    import openvino

    if not hasattr(openvino, "Core"):
        import openvino.runtime as openvino
    return openvino, openvino.Core()


def _shapes(xml):
    return {
        node.get_friendly_name(): [
            (
                port.get_element_type().get_type_name().replace("undefined", "dynamic"),
                str(port.get_partial_shape()),
            )
            for port in node.outputs()
        ]
        for node in _openvino()[1].read_model(xml).get_ops()
    }


def _values(xml, inputs):
    ov, core = _openvino()
    model = core.read_model(xml)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for index, parameter in enumerate(model.get_parameters()):
        array = inputs[parameter.get_friendly_name()]
        tensor = ov.Tensor(parameter.get_element_type(), ov.Shape(list(array.shape)))
        if array.size:
            tensor.data.reshape(-1).view(np.uint8)[:] = array.reshape(-1).view(np.uint8)
        request.set_input_tensor(index, tensor)
    request.infer()
    return [np.array(request.get_output_tensor(index).data) for index in range(len(model.outputs))]
