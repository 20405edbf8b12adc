"""The operations that the extension library openvino_tokenizers adds to OpenVINO: strings, ragged
tensors and the tokenizers themselves. They belong to no opset; their version is `extension`.
"""
