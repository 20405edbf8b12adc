"""The extension for Model Explorer: `model-explorer --extensions=irshape.model_explorer model.xml`.

`main` registers the classes that Model Explorer loads; it needs the extra `model-explorer`.
`graphs` and `node_data` return the same contents as plain data, without this extra.
"""
