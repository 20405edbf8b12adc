"""The code, name, severity and default help of every rule.

The documentation and the check of each rule are in `rules/`.

A code never changes its meaning.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "info"]
"""The severity of a finding."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The severities, the most severe first."""


class RuleId(NamedTuple):
    """The code, name, severity and default help of a rule."""

    code: str
    """The code, for example `IR201`. Codes of plugins begin at `IR950`."""
    name: str
    """The name, for example `output-shape-mismatch`. It can be used in place of the code."""
    severity: Severity
    help: str | None = None
    """The advice in findings whose fault has no advice of its own."""


MALFORMED_XML = RuleId("IR001", "malformed-xml", "error")
DOCTYPE = RuleId("IR002", "doctype", "error")
NOT_AN_IR = RuleId("IR003", "not-an-ir", "error")
SIZE_LIMIT = RuleId("IR004", "size-limit", "error")
NESTING_LIMIT = RuleId("IR005", "nesting-limit", "error")
UNKNOWN_ELEMENT = RuleId("IR006", "unknown-element", "warning")
REPAIRED_XML = RuleId("IR007", "repaired-xml", "error")
LEFT_OUT = RuleId("IR008", "left-out", "warning")
MISSPELT_ELEMENT = RuleId("IR009", "misspelt-element", "error")
REPEATED_ELEMENT = RuleId("IR010", "repeated-element", "error")
INTERNAL_ERROR = RuleId("IR011", "internal-error", "error", "please report it")
UNREADABLE_FILE = RuleId("IR012", "unreadable-file", "error")
UNUSED_SUPPRESSION = RuleId("IR013", "unused-suppression", "warning")
UNKNOWN_SUPPRESSION = RuleId("IR014", "unknown-suppression", "warning")
MISPLACED_SUPPRESSION = RuleId("IR015", "misplaced-suppression", "warning")
STRAY_TEXT = RuleId("IR016", "stray-text", "warning")
PREPROCESSING = RuleId("IR017", "preprocessing", "warning")
DUPLICATE_ID = RuleId("IR101", "duplicate-id", "error")
MISSING_LAYER_ATTRIBUTE = RuleId("IR102", "missing-layer-attribute", "error")
MALFORMED_ID = RuleId("IR103", "malformed-id", "error")
MALFORMED_DIM = RuleId("IR104", "malformed-dim", "error")
UNKNOWN_LAYER_ATTRIBUTE = RuleId("IR105", "unknown-layer-attribute", "warning")
UNKNOWN_PORT_ATTRIBUTE = RuleId("IR106", "unknown-port-attribute", "warning")
DUPLICATE_PORT = RuleId("IR107", "duplicate-port", "error")
DANGLING_EDGE = RuleId("IR110", "dangling-edge", "error")
MALFORMED_EDGE = RuleId("IR111", "malformed-edge", "error")
DUPLICATE_EDGE = RuleId("IR112", "duplicate-edge", "error")
MISSING_EDGE = RuleId("IR113", "missing-edge", "error")
CYCLE = RuleId("IR114", "cycle", "error")
UNREACHABLE_LAYER = RuleId("IR115", "unreachable-layer", "warning")
OUTPUT_COUNT = RuleId("IR116", "output-count", "error")
MISSING_PRECISION = RuleId("IR117", "missing-precision", "error")
UNKNOWN_PRECISION = RuleId("IR118", "unknown-precision", "error")
MISSING_BODY = RuleId("IR119", "missing-body", "error")
UNKNOWN_VARIABLE = RuleId("IR120", "unknown-variable", "error")
UNKNOWN_EDGE_ATTRIBUTE = RuleId("IR121", "unknown-edge-attribute", "warning")
MISSING_RESULT = RuleId("IR122", "missing-result", "warning")
UNASSIGNED_VARIABLE = RuleId("IR123", "unassigned-variable", "info")
DUPLICATE_TENSOR_NAME = RuleId("IR124", "duplicate-tensor-name", "info")
MISSING_TENSOR_NAME = RuleId("IR125", "missing-tensor-name", "info")
RUNTIME_INFO = RuleId("IR126", "runtime-info", "error")
COLLIDING_NAME = RuleId("IR128", "colliding-name", "error")
VARIABLE_MISMATCH = RuleId("IR129", "variable-mismatch", "error")
OUTPUT_SHAPE_MISMATCH = RuleId("IR201", "output-shape-mismatch", "error")
OUTPUT_TYPE_MISMATCH = RuleId("IR202", "output-type-mismatch", "error")
UNPROVEN_DIMENSION = RuleId("IR203", "unproven-dimension", "warning")
LOOSER_DECLARATION = RuleId("IR204", "looser-declaration", "info")
INPUT_MISMATCH = RuleId("IR205", "input-mismatch", "error")
INPUT_TYPE_MISMATCH = RuleId("IR206", "input-type-mismatch", "error")
VALUE_MISMATCH = RuleId("IR207", "value-mismatch", "error")
LITERAL_BATCH = RuleId("IR208", "literal-batch", "info")
PINNED_DIMENSION = RuleId("IR209", "pinned-dimension", "info")
HUGE_TENSOR = RuleId("IR210", "huge-tensor", "warning")
STRIDE_MISMATCH = RuleId("IR211", "stride-mismatch", "error")
INDEX_OUT_OF_RANGE = RuleId("IR212", "index-out-of-range", "info")
UNKNOWN_ATTRIBUTE = RuleId("IR301", "unknown-attribute", "warning")
MISSPELT_ATTRIBUTE = RuleId("IR302", "misspelt-attribute", "error")
MISSING_ATTRIBUTE = RuleId("IR303", "missing-attribute", "error")
ATTRIBUTE_VALUE = RuleId("IR304", "attribute-value", "error", "use an allowed value")
OPERATION_CONSTRAINT = RuleId(
    "IR401", "operation-constraint", "error", "correct the inputs or the attributes of the layer"
)
INPUT_COUNT = RuleId(
    "IR402",
    "input-count",
    "error",
    "add the missing inputs, or remove the excess ones",
)
INPUT_ELEMENT_TYPE = RuleId(
    "IR403", "input-element-type", "error", "insert a Convert, or connect the intended layer"
)
INPUT_RANK = RuleId(
    "IR404",
    "input-rank",
    "error",
    "insert a Reshape, Squeeze or Unsqueeze, or connect the intended layer",
)
INPUT_VALUE = RuleId(
    "IR405", "input-value", "error", "correct the constant, or the layers that compute the value"
)
INPUT_SHAPES = RuleId(
    "IR406",
    "input-shapes",
    "error",
    "correct the shape that is wrong, or connect the intended layer",
)
DUPLICATE_VALUES = RuleId("IR407", "duplicate-values", "error", "remove the repeated value")
PORT_MAP = RuleId("IR408", "port-map", "error", "use the ids of existing ports and layers")
MISSING_WEIGHTS = RuleId("IR501", "missing-weights", "error")
CONSTANT_OUT_OF_RANGE = RuleId("IR502", "constant-out-of-range", "error")
CONSTANT_SIZE = RuleId("IR503", "constant-size", "error")
UNUSED_WEIGHTS = RuleId("IR504", "unused-weights", "info")
OVERLAPPING_CONSTANTS = RuleId("IR506", "overlapping-constants", "warning")
CONSTANT_TYPE = RuleId("IR507", "constant-type", "error")
IR_VERSION = RuleId("IR601", "ir-version", "error")
UNKNOWN_TYPE = RuleId("IR602", "unknown-type", "error")
UNKNOWN_VERSION = RuleId("IR603", "unknown-version", "error")
CUSTOM_OPERATION = RuleId("IR604", "custom-operation", "error")
NEWER_THAN_TARGET = RuleId("IR605", "newer-than-target", "error")
IGNORED_BY_TARGET = RuleId("IR606", "ignored-by-target", "error")
NOT_RUN_BY_TARGET = RuleId("IR607", "not-run-by-target", "error")
OTHER_SHAPE_IN_TARGET = RuleId("IR608", "other-shape-in-target", "info")
EXPORT_MISMATCH = RuleId(
    "IR661", "export-mismatch", "error", "export the folder again, so that its models match"
)
EXPORT_VOCABULARY = RuleId(
    "IR662", "export-vocabulary", "error", "use the tokenizer that the model was trained with"
)
EXPORT_SPECIAL_TOKEN = RuleId(
    "IR663", "export-special-token", "error", "correct the token in the configuration"
)
EXPORT_CACHE = RuleId(
    "IR664", "export-cache", "warning", "use the configuration that the model was exported with"
)
EXPORT_CONFIGURATION = RuleId(
    "IR665", "export-configuration", "warning", "correct the file, or copy it from the original"
)
EXPORT_INCOMPLETE = RuleId("IR666", "export-incomplete", "info", "export the missing parts, too")
NAN_WEIGHTS = RuleId("IR701", "nan-weights", "warning")
INFINITE_WEIGHTS = RuleId("IR702", "infinite-weights", "info")
F16_OVERFLOW = RuleId("IR703", "f16-overflow", "info")
F16_SUBNORMAL = RuleId("IR704", "f16-subnormal", "info")
VALUE_DIFFERENCE = RuleId("IR711", "value-difference", "error")
SHAPE_DIFFERENCE = RuleId("IR712", "shape-difference", "error")
NOT_COMPARED = RuleId("IR713", "not-compared", "error")
FAILS_ON_DEVICE = RuleId("IR801", "fails-on-device", "error")
LIKELY_FAILS_ON_DEVICE = RuleId("IR802", "likely-fails-on-device", "warning")
NOT_JUDGED_FOR_DEVICE = RuleId("IR803", "not-judged-for-device", "info")
CUSTOM_RULE_FAILED = RuleId("IR909", "custom-rule-failed", "error")
BROKEN_CONTRACT = RuleId("IR900", "broken-contract", "error")
REQUIRED_OPERATION = RuleId("IR901", "required-operation", "error")
FORBIDDEN_OPERATION = RuleId("IR902", "forbidden-operation", "error")
FORBIDDEN_ELEMENT_TYPE = RuleId("IR903", "forbidden-element-type", "error")
EXPECTED_INPUTS = RuleId("IR904", "expected-inputs", "error")
EXPECTED_OUTPUTS = RuleId("IR905", "expected-outputs", "error")
STATIC_BATCH = RuleId("IR906", "static-batch", "error")
WEIGHTS_LIMIT = RuleId("IR907", "weights-limit", "error")
LAYERS_LIMIT = RuleId("IR908", "layers-limit", "error")


RETIRED = {
    "IR127": "misdirected-edge: a mismatch that an edge causes is reported at the port, as IR201, "
    "IR205 or IR206, with the edge among the causes",
    "IR305": "contradicted-attribute: a port that an attribute contradicts is reported as IR201, "
    "IR202 or IR203, with the attribute among the causes",
    "IR505": "misaligned-constant: OpenVINO itself writes constants without gaps, and no action is "
    "needed",
    "IR508": "contradicted-constant: a port or layer that a constant contradicts is reported as "
    "IR2xx or IR4xx, with the constant among the causes",
    "IR609": "contradicted-operation: a layer that does not fit the operation is reported as "
    "IR301, IR302, IR402 to IR404, or at the layer's ports as IR2xx",
}
"""Codes that irshape no longer reports, each with its name and what replaced it, or why it is gone.
Selectors, comments and baselines may still contain them; they match no finding."""
