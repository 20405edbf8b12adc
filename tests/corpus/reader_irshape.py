"""irshape as a reader of the corpus."""

import ml_dtypes

import irshape


def shapes(xml):
    for finding in irshape.validate(xml).diagnostics:
        if finding.severity == "error" and not finding.code.startswith("IR2"):
            raise ValueError(f"{finding.code}: {finding.message}")
    layers = irshape.infer(irshape.load(xml)).to_dict()["layers"]
    return {
        layer["name"]: [(output["element_type"], output["shape"]) for output in layer["outputs"]]
        for layer in layers
        if not layer["path"]
    }


def values(xml, inputs):
    model = irshape.load(xml)
    fed = {
        layer.name: inputs[layer.name].view(ml_dtypes.bfloat16)
        if layer.outputs[0].element_type.name == "bf16"
        else inputs[layer.name]
        for layer in model.parameters
    }
    return list(irshape.run(model, fed, force=True).values())
