"""The images of a Markdown text, and which of them a zip file does not have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blog.files.image_links import build_path_ends, find_images, list_missing_images
from tests.thoroughness import scale_examples

FILES = build_path_ends(["site/static/img/soup.png", "site/posts/a/pier (1).jpg", "x\\y.webp", "site/ö l.png"])


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("![Soup](soup.png) ![](/img/x.png 'Title')", ["soup.png", "/img/x.png"]),
        ("[![Soup](a.png)](b.html)", ["a.png"]),
        ("![Soup](<my soup.png>)", ["my soup.png"]),
        ("![Soup](pier_(1).png)", ["pier_(1).png"]),
        ('<img class="x" src="a.png"> <IMG SRC=b.png>', ["a.png", "b.png"]),
        ("![Soup][s] ![s] ![S][]\n\n[s]: <a.png> 'Soup'", ["a.png", "a.png", "a.png"]),
        ("![Soup] ![Soup][none] [Soup](a.png)", []),
        ("```\n![Soup](a.png)\n~~~\n```\n![](b.png)\n~~~~ x\n![](c.png)\n~~~\n", ["b.png"]),
    ],
)
def test_images_of_a_text_are_found(text: str, addresses: list[str]) -> None:
    assert list(find_images(text)) == addresses


@pytest.mark.parametrize(
    "address",
    [
        "soup.png",
        "/img/soup.png",
        "../img/soup.png",
        "img/soup.png?w=1#x",
        "a/pier%20(1).jpg",
        "y.webp",
        "%C3%B6%20l.png",
    ],
)
def test_image_whose_path_ends_like_a_file_is_not_missing(address: str) -> None:
    assert list_missing_images(f"![x](<{address}>)", FILES) == []


@pytest.mark.parametrize(
    "address",
    ["https://example.invalid/a.png", "//example.invalid/a.png", "data:image/png;base64,x", "{{site.url}}/a.png", "#a"],
)
def test_image_of_another_place_is_not_missing(address: str) -> None:
    assert list_missing_images(f"![x]({address})", FILES) == []


def test_missing_images_are_listed_once_and_as_written() -> None:
    text = "![a](Soup.png) ![b](/other/soup.png) ![c](../none.png) ![d](Soup.png)"

    assert list_missing_images(text, FILES) == ["Soup.png", "/other/soup.png", "../none.png"]


@pytest.mark.parametrize("part", ["![", "![a](", "<img ", "![a](((", "<img src=", "![a][", "[a]: ", "```\n"])
def test_hostile_text_takes_time_in_proportion_to_its_length(part: str) -> None:
    """A pattern that is quadratic lets this test run for minutes."""
    assert list_missing_images(part * (200_000 // len(part)), FILES) is not None


@pytest.mark.property
@settings(deadline=None, max_examples=scale_examples(200))
@given(
    text=st.lists(
        st.sampled_from(["![", "]", "(", ")", "<img src=", ">", "'", "\n", "[a]", ": ", "%", "/"]) | st.text()
    )
)
def test_any_text_has_images_or_none(text: list[str]) -> None:
    list_missing_images("".join(text), FILES)
