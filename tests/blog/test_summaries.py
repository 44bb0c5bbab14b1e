"""The default excerpt and the default description of a post."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blog.rendering import render_markdown, render_post
from blog.rendering.summaries import (
    MOST_OF_DESCRIPTION,
    MOST_OF_EXCERPT,
    cut_at_word,
    extract_text,
    make_description,
    make_excerpt,
)
from tests.thoroughness import scale_examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=600)
# Texts of many words and sentences
PROSE = st.lists(
    st.sampled_from(["a", "boat.", "*sea*", "word " * 9, "\n\n", "# ", "`x`", "é", "海。", "1.5"]), max_size=99
)


@pytest.mark.property
@settings(max_examples=scale_examples(1000), deadline=None)
@given(text=TEXTS | PROSE.map(" ".join))
@example(text="e\u0301" * 300)
@example(text="x" * 300)
def test_default_texts_are_short_lines_from_the_start_of_the_text(text: str) -> None:
    rendering = render_post(text, None)
    excerpt, description = rendering.default_excerpt, rendering.default_description

    assert len(excerpt) <= MOST_OF_EXCERPT
    assert len(description) <= MOST_OF_DESCRIPTION
    assert excerpt.startswith(description)
    for each in (excerpt, description):
        assert each == " ".join(each.split())
    assert excerpt in extract_text(rendering.body_html) or excerpt in make_excerpt(rendering.body_html)
    assert bool(excerpt) == bool(extract_text(rendering.body_html))


@pytest.mark.property
@settings(max_examples=scale_examples(1000), deadline=None)
@given(text=TEXTS, most=st.integers(1, 100))
def test_cut_never_separates_a_combining_mark_from_its_letter(text: str, most: int) -> None:
    line = " ".join(text.split())
    start = cut_at_word(line, most)

    assert len(start) <= most
    assert line.startswith(start)
    assert bool(start) == bool(line)
    if 1 < len(start) < len(line) and " " not in line[: most + 1]:
        assert not unicodedata.combining(line[len(start)])


def test_excerpt_is_the_first_sentences_without_markup() -> None:
    for text, excerpt in [
        ("", ""),
        ("Boil *it*. Then [eat](https://a.invalid/) it.", "Boil it. Then eat it."),
        ("# Soup\n\nBoil it.\n\n```py\nboil()\n```\n\n- Eat\n- Sleep", "Boil it. Eat Sleep"),
        ("# Soup", "Soup"),
        ("```\nboil()\n```", "boil()"),
        ("a|b\n-|-\n1|2\n\nAfter the table.", "After the table."),
        ("Boil it[^1].\n\n[^1]: Not too long.", "Boil it."),
        ("Fish & <kbd>Chips</kbd> `<b>`<script>x</script>", "Fish & Chips <b>"),
        ("It costs 1.50 today. " + "word " * 60, "It costs 1.50 today."),
        ("One. Two! Three? " + "word " * 60 + ".", "One. Two! Three?"),
        ("word " * 60, " ".join(["word"] * 40)),
        ("海は広い。" * 60, "海は広い。" * 40),
    ]:
        assert make_excerpt(render_markdown(text)) == excerpt


def test_description_is_the_beginning_of_the_own_excerpt() -> None:
    assert render_post("Body.", "Own\nexcerpt").default_description == "Own excerpt"
    assert make_description("word " * 100) == " ".join(["word"] * 32)
