"""The images of a Markdown text and its links to images: those that the rendered text shows, and no others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.image_links import find_addresses, is_local, rewrite_addresses
from tests.thoroughness import scale_examples

CODE = "```\n![Soup](a.png)\n~~~\n```\n![](b.png)\n~~~~ x\n![](c.png)\n~~~\n"


def test_images_that_the_rendered_text_shows_are_found_as_they_are_written() -> None:
    for text, addresses in [
        ("![Soup](soup.png) ![](/img/x.png 'Title')", ["soup.png", "/img/x.png"]),
        ("![Soup](<my soup.png>) ![Soup](pier_(1).png)", ["my soup.png", "pier_(1).png"]),
        ("![an alternative text that\ngoes on](a.png) ![figure [1] of two](b.png)", ["a.png", "b.png"]),
        ('<img class="x" src="a.png"> <IMG\n  alt="x"\n  SRC=b.png>', ["a.png", "b.png"]),
        ("![Soup][s] ![s] ![S][]\n\n[s]: <a.png> 'Soup'", ["a.png"]),
        ("> ![Soup][s]\n>\n> [s]:\n> a.png", ["a.png"]),
        ("![a][s]\n\n[s]: a.png\n[s]: b.png\n[t]: c.png", ["a.png"]),
        ("![a](b.png?raw=true#x){: .right }", ["b.png?raw=true#x"]),
        ("text[^1]\n\n[^1]: ![a](b.png)", ["b.png"]),
        ("![Soup] ![Soup][none] [a](<>) ![a]() ![a](b c.png)", []),
        ("`![a](b.png)` <!-- ![a](b.png) <img src='b.png'> --> &lt;img src=b.png>\n\n    ![a](b.png)", []),
        ('<p data-src="a.png" title="![a](b.png)">x</p>', []),
        (CODE, ["b.png"]),
    ]:
        assert [place.written for place in find_addresses(text) if place.is_image] == addresses


def test_link_is_found_beside_its_image() -> None:
    places = find_addresses("[![Soup](small.png)](large.png) <a href='x&amp;y.jpg'>x</a>")

    found = [(place.address, place.is_image) for place in places]
    assert found == [("small.png", True), ("large.png", False), ("x&y.jpg", False)]


def test_addresses_are_replaced_and_everything_else_stays() -> None:
    text = "a.png ![a.png](a.png) `![](a.png)`\r\n<img alt='a.png' src='a.png'> ![a.png]\n\n[a.png]: <a.png> 'a.png'\n"

    assert rewrite_addresses(text, lambda place: place.written) == text
    expected = "a.png ![a.png](X) `![](a.png)`\r\n<img alt='a.png' src='X'> ![a.png]\n\n[a.png]: <X> 'a.png'\n"
    assert rewrite_addresses(text, lambda _: "X") == expected


def test_address_of_another_place_is_not_local() -> None:
    for address in [
        "https://example.invalid/a.png",
        "//example.invalid/a.png",
        "data:image/png;base64,x",
        "{{site.url}}/a.png",
        "#a",
    ]:
        assert not is_local(address)


def test_hostile_text_takes_time_in_proportion_to_its_length() -> None:
    """A pattern that is quadratic lets this test run for minutes."""
    for part in ["![", "![a](", "<img ", "![a](((", "<img src=", "![a][", "[a]: ", "```\n", "](x", "![a](b)", "src="]:
        assert find_addresses(part * (50_000 // len(part))) is not None


@pytest.mark.property
@settings(deadline=None, max_examples=scale_examples(200))
@given(
    text=st.lists(
        st.sampled_from(["![", "]", "(", ")", "<img src=", ">", "'", "\n", "[a]", ": ", "%", "/", "a.png"]) | st.text()
    )
)
def test_any_text_stays_if_no_address_changes(text: list[str]) -> None:
    assert rewrite_addresses("".join(text), lambda place: place.written) == "".join(text)
