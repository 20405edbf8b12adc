"""Selectors of rules: a code, the beginning of one, a name, or `ALL`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ..spelling import suggestion
from .errors import ConfigurationError

_PREFIX = r"IR[0-9]{0,3}"


@lru_cache(maxsize=4096)
def covered(selector: str) -> list[str]:
    """The codes of the rules that a selector covers; none for one that means nothing."""
    from ..rules import all_rules

    rules = all_rules()
    if selector == "ALL":
        return [rule.code for rule in rules]
    if re.fullmatch(_PREFIX, selector):
        return [rule.code for rule in rules if rule.code.startswith(selector)]
    return [rule.code for rule in rules if rule.name == selector]


def check_selectors(selectors: Iterable[str], where: str = "") -> None:
    """Raises `ConfigurationError` for a selector that covers no rule. The families of a user's own rules may be empty."""
    for selector in selectors:
        if not covered(selector) and selector != "IR9":
            from ..rules import all_rules

            known = [text for rule in all_rules() for text in (rule.code, rule.name)]
            place = f"{where}: " if where else ""
            close = suggestion(selector, known) or suggestion(selector.upper(), known)
            raise ConfigurationError(
                f"{place}there is no rule '{selector}'{close or '; `irshape rule` lists them'}"
            )
