"""Defines `Request`, the options of one call of `irshape.validate` or of one command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..settings.configuration import Configuration

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..formats.loading import WeightsChoice


class Request(NamedTuple):
    """The options of a validation."""

    configuration: Configuration
    weights: WeightsChoice = "beside"
    values: Mapping[str, str] | None = None
    jobs: int = 1
    executor: Executor | None = None
    cache: str | None = None
    leaves: bool = False
    """Whether the process ends after the report on a single model."""
