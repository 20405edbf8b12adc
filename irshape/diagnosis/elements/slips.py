"""Every kind of slip that may be behind a finding, and how likely it is at most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

from ...model.graph import Finding
from ...rule_ids import (
    CUSTOM_OPERATION,
    CYCLE,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    DUPLICATE_PORT,
    INPUT_COUNT,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    MALFORMED_ID,
    MISSING_EDGE,
    MISSPELT_ELEMENT,
    OUTPUT_COUNT,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    PORT_MAP,
    UNKNOWN_ELEMENT,
    UNKNOWN_PRECISION,
    UNKNOWN_TYPE,
    UNKNOWN_VARIABLE,
    UNKNOWN_VERSION,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from ..candidate import Candidate
from ..trials.ordering import CandidateSource, Later
from ..trials.scene import Scene
from .attributes import attribute_causes, renamed_attribute_causes
from .bodies import port_map_causes
from .constants import constant_causes
from .copies import copy_causes
from .edges import (
    astray_causes,
    crossed_edge_causes,
    doubled_edge_causes,
    missing_edge_causes,
    other_source_causes,
    other_target_causes,
)
from .entries import entry_causes
from .exchanges import exchanged_port_ids
from .layer_ids import id_causes
from .lost_data import constant_data_causes
from .misspelt_names import element_causes
from .operations import operation_causes, other_type_causes
from .parameters import parameter_causes
from .port_runs import OF_PORTS, port_run_causes
from .ports import lost_input_causes, lost_output_causes, port_causes, port_id_causes
from .producers import producer_causes
from .rewirings import reordered_input_causes, rewiring_causes
from .sections import section_causes
from .shared_ids import shared_id_causes
from .swapped_values import mapped_id_causes, shifted_entry_causes, swapped_value_causes
from .unused import misspelt_edge_causes, unused_layer_causes
from .variables import variable_causes
from .whole_layer import (
    exchanged_value_causes,
    misplaced_causes,
    replaced_output_causes,
    shifted_id_causes,
)

_CAUSES: tuple[tuple[float, Callable[[Scene, Finding, int | None], Iterable[Candidate]]], ...] = (
    (0.4, id_causes),
    (0.4, astray_causes),
    (0.4, rewiring_causes),
)
"""What makes candidates for findings with a layer and without, and what these cost at least."""
_MakesCandidates = Callable[[Scene, Finding, int], Iterable[Candidate | Later]]
_LAYER_CAUSES: tuple[tuple[float, _MakesCandidates], ...] = (
    (0.1, swapped_value_causes),
    (0.3, mapped_id_causes),
    (0.3, shifted_entry_causes),
    (0.2, exchanged_port_ids),
    (0.3, copy_causes),
    (0.5, reordered_input_causes),
    (0.8, doubled_edge_causes),
    (0.4, missing_edge_causes),
    (0.5, crossed_edge_causes),
    (-0.1, other_source_causes),
    (0.8, other_target_causes),
    (0.5, element_causes),
    (0.6, constant_causes),
    (0.3, constant_data_causes),
    (0.9, port_causes),
    (0.5, port_run_causes),
    (0.3, port_id_causes),
    (0.9, lost_input_causes),
    (0.4, lost_output_causes),
    (0.7, operation_causes),
    (0.7, other_type_causes),
    (0.1, attribute_causes),
    (-0.1, parameter_causes),
    (1.2, producer_causes),
    (0.5, renamed_attribute_causes),
    (0.6, port_map_causes),
    (0.1, misspelt_edge_causes),
    (0.5, variable_causes),
    (0.2, misplaced_causes),
    (0.2, section_causes),
    (0.6, entry_causes),
    (0.4, unused_layer_causes),
    (0.6, shifted_id_causes),
    (0.5, shared_id_causes),
    (0.4, exchanged_value_causes),
    (1.3, replaced_output_causes),
)
"""The same for findings with a layer."""
_OF_IDS = (
    *(DANGLING_EDGE.code, DUPLICATE_EDGE.code, MISSING_EDGE.code, INPUT_COUNT.code),
    *(OUTPUT_COUNT.code, INPUT_MISMATCH.code, INPUT_TYPE_MISMATCH.code),
)
_OF_PORTS = (
    *(INPUT_MISMATCH.code, INPUT_TYPE_MISMATCH.code, OUTPUT_SHAPE_MISMATCH.code),
    *(OUTPUT_TYPE_MISMATCH.code, UNPROVEN_DIMENSION.code),
)
_OF_FEW_RULES: dict[_MakesCandidates, str | tuple[str, ...]] = {
    doubled_edge_causes: DUPLICATE_EDGE.code,
    missing_edge_causes: MISSING_EDGE.code,
    misspelt_edge_causes: MISSING_EDGE.code,
    unused_layer_causes: UNREACHABLE_LAYER.code,
    variable_causes: UNKNOWN_VARIABLE.code,
    element_causes: (MISSPELT_ELEMENT.code, UNKNOWN_ELEMENT.code),
    port_run_causes: tuple(rule.code for rule in OF_PORTS),
    swapped_value_causes: (
        *(CUSTOM_OPERATION.code, MALFORMED_ID.code, UNKNOWN_PRECISION.code),
        *(UNKNOWN_TYPE.code, UNKNOWN_VERSION.code),
    ),
    mapped_id_causes: PORT_MAP.code,
    shifted_entry_causes: PORT_MAP.code,
    reordered_input_causes: ("IR20", "IR4"),
    other_target_causes: ("IR402", "IR110", "IR113"),
    copy_causes: (
        *(DUPLICATE_ID.code, DUPLICATE_PORT.code, MISSING_EDGE.code, OUTPUT_COUNT.code),
        *("IR20", "IR4"),
    ),
    port_id_causes: (
        *(DANGLING_EDGE.code, DUPLICATE_PORT.code, INPUT_COUNT.code, MALFORMED_ID.code),
        *(MISSING_EDGE.code, OUTPUT_COUNT.code),
    ),
    lost_input_causes: (INPUT_COUNT.code, PORT_MAP.code, OUTPUT_SHAPE_MISMATCH.code),
    lost_output_causes: (OUTPUT_SHAPE_MISMATCH.code, OUTPUT_TYPE_MISMATCH.code),
    shifted_id_causes: _OF_IDS,
    shared_id_causes: (
        *(DANGLING_EDGE.code, DUPLICATE_EDGE.code, DUPLICATE_ID.code, MISSING_EDGE.code),
    ),
    replaced_output_causes: (*_OF_IDS, *_OF_PORTS),
    crossed_edge_causes: ("IR20", "IR4", "IR118", CYCLE.code),
    other_source_causes: ("IR20", "IR4", CYCLE.code),
    parameter_causes: ("IR20", "IR4"),
    producer_causes: ("IR20", "IR4"),
    exchanged_value_causes: ("IR3", "IR4", "IR20", "IR50"),
    renamed_attribute_causes: ("IR3", "IR4", "IR20"),
}
"""Those that only findings of some rules have to do with: the codes, or how these begin."""

_OF_BODIES = (mapped_id_causes, shifted_entry_causes, port_map_causes, entry_causes)
"""Those that only layers with bodies have to do with."""


def slips(scene: Scene, finding: Finding, position: int | None) -> Iterator[CandidateSource]:
    """What makes the slips that may be behind a finding, at a layer or at none."""
    for least, anywhere in _CAUSES:
        yield CandidateSource(least, partial(anywhere, scene, finding, position))
    if position is None:
        return
    layer = scene.layers[position]
    for least, causes in _of_rule(finding.rule.code, layer.is_constant, bool(layer.bodies)):
        yield CandidateSource(least, partial(causes, scene, finding, position))


@lru_cache(maxsize=512)
def _of_rule(
    code: str, is_constant: bool, has_bodies: bool
) -> tuple[tuple[float, _MakesCandidates], ...]:
    """What makes candidates for the findings of a rule at a layer."""
    return tuple(
        row
        for row in _LAYER_CAUSES
        if code.startswith(_OF_FEW_RULES.get(row[1], ""))
        and (has_bodies or row[1] not in _OF_BODIES)
        and (is_constant or row[1] is not constant_data_causes)
    )
