"""The operations of OpenVINO's extension library openvino_tokenizers: strings, ragged tensors and
the tokenizers themselves. They belong to no opset; their version is `extension`.
"""
