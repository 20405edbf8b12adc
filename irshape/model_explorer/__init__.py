"""Models in Model Explorer: `model-explorer --extensions=irshape.model_explorer model.xml`.

`main` registers what Model Explorer asks for; it needs the extra `model-explorer`. `graphs` and
`node_data` give the same as plain data, without that package.
"""
