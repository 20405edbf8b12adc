"""The exception for settings that cannot be used."""

from __future__ import annotations


class ConfigurationError(ValueError):
    """A configuration that cannot be used; the message says where and why."""
