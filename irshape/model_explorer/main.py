"""The classes that Model Explorer loads: the adapter for models, and the providers of node data.

The only module that imports Model Explorer. Its data classes are built from the plain data of
`graphs` and `node_data`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from model_explorer import (
    Adapter,
    AdapterMetadata,
    GetConfigEditorsResult,
    NodeDataProvider,
    NodeDataProviderFilter,
    NodeDataProviderMetadata,
    NodeDataProviderResult,
    config_editor,
    graph_builder,
    node_data_builder,
)

from ..view.showing import Subject
from . import node_data
from .graphs import graphs, subject_of

ADAPTER = "irshape"
SOURCE = "irshape"


class ModelAdapter(Adapter):  # type: ignore[misc]
    """Reads IRs as graphs, with the types and shapes that irshape infers."""

    metadata = AdapterMetadata(
        id=ADAPTER,
        name="OpenVINO IR (irshape)",
        description="OpenVINO IR with inferred types and shapes, and what irshape reports.",
        fileExts=["xml"],
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> dict[str, Any]:
        """Returns the graphs of a model in a file. Raises `ValueError` if the file contains no
        model."""
        return {"graphs": [_graph(graph) for graph in graphs(subject_of(model_path))]}


def _graph(graph: Mapping[str, Any]) -> Any:
    return graph_builder.Graph(id=graph["id"], nodes=[_node(node) for node in graph["nodes"]])


def _node(node: Mapping[str, Any]) -> Any:
    return graph_builder.GraphNode(
        id=node["id"],
        label=node["label"],
        namespace=node["namespace"],
        subgraphIds=node["subgraphIds"],
        attrs=[graph_builder.KeyValue(**each) for each in node["attrs"]],
        incomingEdges=[graph_builder.IncomingEdge(**each) for each in node["incomingEdges"]],
        outputsMetadata=[
            graph_builder.MetadataItem(
                id=each["id"], attrs=[graph_builder.KeyValue(**pair) for pair in each["attrs"]]
            )
            for each in node["outputsMetadata"]
        ],
    )


FromModel = Callable[[Subject], list[node_data.Data]]
FromResult = Callable[[Subject, Mapping[str, Any]], list[node_data.Data]]

OF_MODELS: dict[str, tuple[str, str, FromModel]] = {
    "irshape_findings": (
        "Findings",
        "What irshape validate reports",
        node_data.findings,
    ),
    "irshape_costs": (
        "Costs and dynamic sizes",
        "Multiply-adds, bytes, why sizes are dynamic, and the releases that read each layer",
        node_data.costs_and_sizes,
    ),
}
OF_RESULTS: dict[str, tuple[str, str, FromResult]] = {
    "irshape_crosscheck": (
        "Cross-check",
        "The result of irshape crosscheck --format json",
        node_data.crosscheck,
    ),
    "irshape_stats": (
        "Ranges of values",
        "The result of irshape run --stats --format json",
        node_data.statistics,
    ),
}


class Overlays(NodeDataProvider):  # type: ignore[misc]
    """Node data about the layers of a model, from irshape or from a file that irshape wrote."""

    metadata: ClassVar[list[Any]] = [
        NodeDataProviderMetadata(
            id=provider,
            name=name,
            description=description,
            filter=NodeDataProviderFilter(modelFileExts=["xml"], adapterIds=[ADAPTER]),
        )
        for provider, (name, description, _) in {**OF_MODELS, **OF_RESULTS}.items()
    ]

    def get_config_editors(self, provider_id: str) -> Any:
        """Returns the settings that Model Explorer shows before it runs a provider: the choice of a
        file for providers that read a result."""
        if provider_id in OF_MODELS:
            return GetConfigEditorsResult(configEditors=[])
        editor = config_editor.FileConfigEditor(
            id="result",
            label="Result",
            description=OF_RESULTS[provider_id][1],
            required=True,
            fileExts=["json"],
        )
        return GetConfigEditorsResult(configEditors=[editor])

    def run(
        self,
        provider_id: str,
        model_path: str,
        graph_id: str,
        config_values: dict[str, Any],
        graph: Any = None,
    ) -> Any:
        """Returns the node data of one graph. If the data cannot be read, the result contains the
        error."""
        try:
            subject = subject_of(model_path)
            if provider_id in OF_MODELS:
                data = OF_MODELS[provider_id][2](subject)
            else:
                with open(config_values["result"], encoding="utf-8") as file:
                    data = OF_RESULTS[provider_id][2](subject, json.load(file))
        except (OSError, ValueError, KeyError) as error:
            return NodeDataProviderResult(error=f"{SOURCE}: {error}")
        return NodeDataProviderResult(
            result=[_graph_data(each[graph_id]) for each in data if graph_id in each]
        )


def _graph_data(data: Mapping[str, Any]) -> Any:
    return node_data_builder.GraphNodeData(
        name=data["name"],
        results={
            node: node_data_builder.NodeDataResult(**result)
            for node, result in data["results"].items()
        },
        gradient=[node_data_builder.GradientItem(**item) for item in data["gradient"]],
    )
