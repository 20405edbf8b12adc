"""The exception for settings that cannot be used."""

from __future__ import annotations


class ConfigurationError(ValueError):
    """Raised for a configuration that cannot be used. The message says where and why."""
