"""The language check finds replaced words and names, and nothing in plain English."""

import pytest

from tests.contract.check_language import WORDS, check_names, check_text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The value stands in the header.", "stands"),
        ("def test_a_client_is_told_why():", "told"),
        ('    """Say whether a host is allowed."""', "Say whether"),
        ("The answer has a header.", "The answer"),
        ("for act in acts:", "acts"),
    ],
)
def test_replaced_word_is_reported(text: str, word: str) -> None:
    hits = [*check_text("file.py", text)]

    assert word in [hit.word for hit in hits]


def test_patterns_of_words_are_in_lower_case() -> None:
    assert [pattern for pattern in WORDS if pattern != pattern.lower()] == []


@pytest.mark.parametrize(
    "text",
    [
        "The interface understands standard surfaces and typefaces.",
        "A stand-alone server answers a request; each answers with its own status.",
        "The caller asks the server for a page. The page is made up of ten rows.",
        "Clients act for users, and operators act by commands.",
    ],
)
def test_plain_english_is_not_reported(text: str) -> None:
    assert [hit.word for hit in check_text("file.md", text)] == []


def test_replaced_function_name_is_reported_with_its_line() -> None:
    hits = [*check_names("module.py", "x = 1\n\n\ndef admitted():\n    pass\n")]

    assert [str(hit) for hit in hits] == ["module.py:4: def admitted -> authenticate_request"]
