"""The ids of layers and ports: their usual form, and the other forms that OpenVINO reads."""

from __future__ import annotations

import re

MAX_ID = 2**63 - 1

MAX_DIGITS = 19
"""The maximum number of digits of an id. A number with more digits is 2^63 or more."""

_LENIENT = re.compile(r"\+?0*([0-9]{1,19})")


def plain_id(text: str) -> bool:
    """Whether a text is an id as OpenVINO writes it: without a sign or leading zeros."""
    return (
        text.isdigit()
        and text.isascii()
        and (text[0] != "0" or len(text) == 1)
        and (len(text) < 19 or (len(text) == 19 and int(text) <= MAX_ID))
    )


def lenient_id(text: str) -> str | None:
    """Returns the id that OpenVINO reads from a text with a sign or leading zeros, e.g. 7 from
    `+07`; None if OpenVINO refuses the text."""
    match = _LENIENT.fullmatch(text)
    return match[1] if match and int(match[1]) <= MAX_ID else None


def is_number(text: str) -> bool:
    """Whether a text consists of the digits 0 to 9, and is not too long to be an id.

    `str.isdigit` also accepts texts that `int` refuses: digits such as `²`, and thousands of
    digits.
    """
    return text.isdigit() and text.isascii() and len(text) <= MAX_DIGITS
