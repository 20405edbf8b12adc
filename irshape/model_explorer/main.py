"""The classes that Model Explorer loads: the adapter for models, and the providers of node data."""

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
)

from ..view.document import Numbering
from ..view.overlays import Overlay, crosscheck_overlays, stats_overlays
from ..view.showing import Subject
from .graphs import graphs, subject_of
from .node_data import costs_and_sizes, findings, node_data

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
        return {"graphs": graphs(subject_of(model_path))}


FromModel = Callable[[Subject], list[Overlay]]
FromResult = Callable[[Mapping[str, Any], Numbering], list[Overlay]]

OF_MODELS: dict[str, tuple[str, str, FromModel]] = {
    "irshape_findings": (
        "Findings",
        "What irshape validate reports",
        findings,
    ),
    "irshape_costs": (
        "Costs and dynamic sizes",
        "Multiply-adds, bytes, why sizes are dynamic, releases that read the layer, devices",
        costs_and_sizes,
    ),
}
OF_RESULTS: dict[str, tuple[str, str, FromResult]] = {
    "irshape_crosscheck": (
        "Cross-check",
        "The result of irshape crosscheck --format json",
        crosscheck_overlays,
    ),
    "irshape_stats": (
        "Ranges of values",
        "The result of irshape run --stats --format json",
        stats_overlays,
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
        """Returns the inputs that Model Explorer asks the user for: a file, if the provider reads a
        result of irshape."""
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
                overlays = OF_MODELS[provider_id][2](subject)
            else:
                with open(config_values["result"], encoding="utf-8") as file:
                    overlays = OF_RESULTS[provider_id][2](json.load(file), subject.numbering)
        except (OSError, ValueError, KeyError) as error:
            return NodeDataProviderResult(error=f"{SOURCE}: {error}")
        return NodeDataProviderResult(result=node_data(subject, overlays, graph_id))
