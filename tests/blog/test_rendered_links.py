"""Ids and the links to them: of footnotes, of headings, and of places in HTML."""

import re

from blog.rendering import render_markdown

LINK = re.compile(r'href="#([^"]*)"')
ID = re.compile(r' id="([^"]*)"')


def require_targets(html: str) -> None:
    """Require that no two elements have the same id, and that each link within the text leads to one."""
    ids = ID.findall(html)
    assert len(ids) == len(set(ids))
    assert set(LINK.findall(html)) <= set(ids)


def test_footnotes_link_to_their_marks_and_back() -> None:
    html = render_markdown("One[^a], two[^b] and one again[^a].\n\n[^a]: First.\n[^b]: Second.")

    require_targets(html)
    assert len(ID.findall(html)) == 5
    assert '<section class="footnotes">' in html


def test_first_definition_of_a_footnote_counts() -> None:
    for text in [
        "A[^n] B[^n]\n\n[^n]: first\n[^n]: second\n\nThe end.",
        "A[^N]\n\n[^n]: first\n\n> [^N]: second\n\nThe end.",
        "A[^é&]\n\n- [^é&]: first\n\n[^é&]: second\n[^é&]: third\n\nThe end.",
        "A[^n]\n\n[^n]: first\n\n```\n[^n]: second\n```\n\nThe end.",
    ]:
        html = render_markdown(text)

        require_targets(html)
        note = html.split("<li id=")[1]
        assert "first" in note
        assert "second" not in note
        assert html.index("The end.") < html.index('class="footnotes"')
        assert all(word in html for word in re.findall(r"\w+", text))


def test_definitions_without_references_are_text() -> None:
    html = render_markdown("One[^a].\n\n[^a]: First.\n[^lost]: Not <b>lost</b>.\n\n    With more.\n\n`[^code]: x`")

    require_targets(html)
    assert "<li>\n<p>[^lost]: Not <b>lost</b>.</p>\n<p>With more.</p>\n</li>" in html
    assert "<code>[^code]: x</code>" in html


def test_second_reference_has_no_id_of_another_footnote() -> None:
    html = render_markdown("[^a] [^a] [^a-2] [^a-2]\n\n[^a]: One.\n[^a-2]: Two.")

    require_targets(html)
    notes = html.split("<li id=")
    assert [len(LINK.findall(note)) for note in notes[1:]] == [2, 2]
    assert set(LINK.findall(notes[1])) == set(ID.findall(html.split("[^")[0])[:2])


def test_heading_has_an_id() -> None:
    for heading, place in [
        ("Soup *and* `Stew`", "section-soup-and-stew"),
        ("1. Soup & Stew", "section-1-soup--stew"),
        ("Crème brûlée!", "section-crème-brûlée"),
        ("スープ の作り方", "section-スープ-の作り方"),
        ("snake_case [link](https://a.invalid)[^a]", "section-snake_case-link"),
        ("Own id {#soup}", "section-soup"),
        ("Own id {#soup .unnumbered}", "section-soup"),
        ("🎉", "section-"),
    ]:
        html = render_markdown(f"## {heading}\n\n[^a]: b")

        assert ID.findall(html)[0] == place
        assert "{#" not in html


def test_id_takes_nothing_from_a_heading_and_adds_nothing() -> None:
    assert render_markdown("## A {#b}") == '<h2 id="section-b">A</h2>\n'
    assert render_markdown("## A {b}") == '<h2 id="section-a-b">A {b}</h2>\n'
    assert render_markdown("# A\n# A\n# A-1") == (
        '<h1 id="section-a">A</h1>\n<h1 id="section-a-1">A</h1>\n<h1 id="section-a-1-1">A-1</h1>\n'
    )


def test_link_as_other_programs_write_it_leads_to_its_heading() -> None:
    for link in [
        "1-créme--brûlée-v12",  # GitHub
        "1-cr%C3%A9me--br%C3%BBl%C3%A9e-v12",
        "créme-brûlée-v12",  # Jekyll
        "creme-brulee-v1.2",  # pandoc
        "1-creme-brulee-v1-2",  # Zola
        "1.-Créme-&-brûlée-v1.2",
        "section-1-créme--brûlée-v12",
    ]:
        html = render_markdown(f"# 1. Créme & brûlée v1.2\n\n# Créme\n\n[a](#{link})")

        assert LINK.findall(html) == ["section-1-créme--brûlée-v12"]


def test_exact_id_comes_before_similar_ones() -> None:
    html = render_markdown("# A-B\n# AB\n# AB\n# Other {#a--b}\n\n[](#ab) [](#ab-1) [](#a--b) [](#none) [](#)")

    assert LINK.findall(html) == ["section-ab", "section-ab-1", "section-a--b", "none", ""]


def test_ids_and_names_of_html_are_places_too() -> None:
    html = render_markdown(
        "<a name='one'></a><a id=two name=two></a> <h2 id='three'>3</h2>\n\n<span id=four></span><b id=two>b</b>\n\n"
        "<p id='x y'>[a](#one) [b](#two) [c](#three) [d](#four)\n"
    )

    require_targets(html)
    assert ID.findall(html) == [f"section-{name}" for name in ("one", "two", "three", "four")]
    assert "name=" not in html


def test_footnotes_and_headings_share_no_id() -> None:
    html = render_markdown("# fn-1\n\n<a id=fn-1></a>A[^1]\n\n# fnref 1\n\n[a](#fnref-1)\n\n[^1]: b")

    require_targets(html)
