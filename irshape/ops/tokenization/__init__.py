"""The operations of OpenVINO's extension library openvino_tokenizers.

They process strings and ragged tensors. They belong to no opset; their version is `extension`.
"""
