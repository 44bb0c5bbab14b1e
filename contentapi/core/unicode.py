"""Which text can be stored, and which characters nobody sees. A child process without Django uses this module."""

import re

# Default_Ignorable_Code_Point of Unicode: soft hyphen, zero-width spaces and joiners, variation selectors and others
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)


def is_storable(text: str) -> bool:
    """Whether a text has neither NUL, which PostgreSQL does not support, nor lone surrogates."""
    try:
        text.encode()  # a lone surrogate has no encoding
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def remove_invisible(text: str) -> str:
    """Return a text without the characters that nobody sees: they separate no words."""
    return text if text.isascii() else INVISIBLE.sub("", text)
