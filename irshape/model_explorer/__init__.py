"""The extension for Model Explorer: `model-explorer --extensions=irshape.model_explorer model.xml`.

It needs the extra `model-explorer`. `main` registers the classes that Model Explorer loads;
`graphs` and `node_data` build its graphs and node data.
"""
