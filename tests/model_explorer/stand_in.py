"""The parts of Model Explorer that irshape uses, for tests: its package takes 660 MB.

Names and fields are those of ai-edge-model-explorer 0.1.34; where that is installed, a test
compares them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any


class Adapter: ...


class NodeDataProvider: ...


@dataclass
class AdapterMetadata:
    id: str
    name: str
    description: str
    fileExts: list[str]


@dataclass
class NodeDataProviderFilter:
    modelFileExts: list[str] | None = None
    adapterIds: list[str] | None = None


@dataclass
class NodeDataProviderMetadata:
    id: str
    name: str
    description: str
    filter: NodeDataProviderFilter | None = None


@dataclass
class NodeDataProviderResult:
    result: Any = None
    error: str = ""


@dataclass
class GetConfigEditorsResult:
    configEditors: list[Any] | None = None


@dataclass
class FileConfigEditor:
    id: str
    label: str
    description: str
    required: bool
    fileExts: list[str]


@dataclass
class KeyValue:
    key: str
    value: str


@dataclass
class MetadataItem:
    id: str
    attrs: list[KeyValue] = field(default_factory=list)


@dataclass
class IncomingEdge:
    sourceNodeId: str
    sourceNodeOutputId: str
    targetNodeInputId: str


@dataclass
class GraphNode:
    id: str
    label: str
    namespace: str
    subgraphIds: list[str]
    attrs: list[KeyValue]
    incomingEdges: list[IncomingEdge]
    outputsMetadata: list[MetadataItem]


@dataclass
class Graph:
    id: str
    nodes: list[GraphNode]


@dataclass
class GraphNodeData:
    results: dict[str, Any]
    name: str
    gradient: list[Any]


@dataclass
class NodeDataResult:
    value: float | str
    bgColor: str | None = None
    textColor: str | None = None


@dataclass
class GradientItem:
    stop: float
    bgColor: str | None = None


PARTS = {
    "": (
        Adapter,
        AdapterMetadata,
        GetConfigEditorsResult,
        NodeDataProvider,
        NodeDataProviderFilter,
        NodeDataProviderMetadata,
        NodeDataProviderResult,
    ),
    "graph_builder": (Graph, GraphNode, IncomingEdge, KeyValue, MetadataItem),
    "node_data_builder": (GradientItem, GraphNodeData, NodeDataResult),
    "config_editor": (FileConfigEditor,),
}


def stand_in() -> ModuleType:
    """A package `model_explorer`, put among the modules."""
    package = ModuleType("model_explorer")
    for name, classes in PARTS.items():
        part = package if not name else ModuleType(f"model_explorer.{name}")
        for cls in classes:
            setattr(part, cls.__name__, cls)
        if name:
            setattr(package, name, part)
            sys.modules[part.__name__] = part
    sys.modules["model_explorer"] = package
    return package
