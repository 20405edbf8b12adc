"""The ids of layers and ports: their usual form, and the other forms that OpenVINO reads."""

from __future__ import annotations

import re

MAX_ID = 2**63 - 1

MAX_DIGITS = 19
"""The number of digits that an id can have. A longer number is past 2^63."""

_LENIENT = re.compile(r"\+?0*([0-9]{1,19})")


def plain_id(text: str) -> bool:
    """Whether a text is an id in its usual form."""
    return (
        text.isdigit()
        and text.isascii()
        and (text[0] != "0" or len(text) == 1)
        and (len(text) < 19 or (len(text) == 19 and int(text) <= MAX_ID))
    )


def lenient_id(text: str) -> str | None:
    """Returns the id that OpenVINO reads from a text with a sign or leading zeros; None if it
    refuses the text."""
    match = _LENIENT.fullmatch(text)
    return match[1] if match and int(match[1]) <= MAX_ID else None


def is_number(text: str) -> bool:
    """Whether a text is a whole number of reasonable length that consists of the digits 0 to 9.

    `str.isdigit` alone also accepts texts that `int` refuses: other digits, and thousands of
    digits.
    """
    return text.isdigit() and text.isascii() and len(text) <= MAX_DIGITS
