"""Resolves selectors of rules: a code, a prefix of a code, a name, or `ALL`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from ..rule_ids import RETIRED
from ..rules.settings import CustomRule
from ..spelling import suggestion
from .errors import ConfigurationError

if TYPE_CHECKING:
    from ..rules import Rule

_PREFIX = r"IR[0-9]{0,3}"
MARK = b"irshape:"
"""The text with which comments for irshape begin."""
CUSTOM_CODES = tuple(f"IR{number}" for number in range(910, 950))
"""The codes that the rules of `[[rules.custom]]` may have."""


def covered(selector: str, custom: tuple[CustomRule, ...] = ()) -> list[str]:
    """Returns the codes of the rules that a selector covers; none for an invalid selector."""
    from ..rules import all_rules
    from ..rules.plugins import plugin_codes

    return _covered(selector, custom, all_rules(), plugin_codes())


@lru_cache(maxsize=4096)
def _covered(
    selector: str,
    custom: tuple[CustomRule, ...],
    rules: tuple[type[Rule], ...],
    plugin_codes: tuple[str, ...],
) -> list[str]:
    if selector in RETIRED:
        return [selector]
    codes = [*dict.fromkeys((*(rule.code for rule in rules), *CUSTOM_CODES, *plugin_codes))]
    if selector == "ALL":
        return codes
    if re.fullmatch(_PREFIX, selector):
        return [code for code in codes if code.startswith(selector)]
    named = [rule.code for rule in rules if rule.name == selector]
    return named or [rule.id.code for rule in custom if rule.id.name == selector]


def check_selectors(
    selectors: Iterable[str], where: str = "", custom: tuple[CustomRule, ...] = ()
) -> None:
    """Raises `ConfigurationError` for a selector that covers no rule."""
    for selector in selectors:
        if not covered(selector, custom):
            place = f"{where}: " if where else ""
            close = similar_rule(selector, custom) or "; `irshape rule` lists them"
            raise ConfigurationError(f"{place}there is no rule '{selector}'{close}")


def similar_rule(name: str, custom: tuple[CustomRule, ...] = ()) -> str:
    """Returns `; did you mean X?` for a misspelt code or name of a rule, or an empty text.

    The text is also empty for a code such as IR199 that no rule has, because its number does not
    hint at the intended rule.
    """
    from ..rules import all_rules

    ids = (*(rule.id for rule in all_rules()), *(rule.id for rule in custom))
    code = name.upper()
    if re.fullmatch(r"IR[0-9]*", code) and all(code != rule.code for rule in ids):
        return ""
    known = [text for rule in ids for text in (rule.code, rule.name)]
    return suggestion(name, known) or suggestion(code, known)
