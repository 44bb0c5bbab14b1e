"""Which text can be stored. This module imports nothing: a child process without Django uses it."""


def is_storable(text: str) -> bool:
    """Whether a text has neither NUL, which PostgreSQL does not support, nor lone surrogates."""
    try:
        text.encode()  # a lone surrogate has no encoding
    except UnicodeEncodeError:
        return False
    return "\0" not in text
