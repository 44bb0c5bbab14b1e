"""The images of a text in HTML: with addresses and sizes if they are ready, and otherwise their texts."""

from collections.abc import Sequence
from threading import Event

from blog import services
from blog.models import Post
from blog.rendering import ShownImage, render_markdown, render_post
from blog.rendering.images import list_used_images
from blog.rendering.markdown import sanitize_markdown
from tests.blog.stored_images import make_ready_image
from tests.factories import make_post

SHOWN = ShownImage("https://cdn.example.com/a.jpg", "https://cdn.example.com/a.webp 320w", 700, 350, "Own & text")
ELEMENT = (
    '<img src="https://cdn.example.com/a.jpg" srcset="https://cdn.example.com/a.webp 320w"'
    ' sizes="(max-width: 700px) 100vw, 700px" width="700" height="350" alt="{}"{} loading="lazy">'
)


def find(ids: Sequence[int]) -> dict[int, ShownImage]:
    return {pk: SHOWN for pk in ids if pk == 7}


def test_image_is_an_element_or_its_text() -> None:
    for text, html in [
        ("![A boat](image:7)", f"<p>{ELEMENT.format('A boat', '')}</p>\n"),
        ("![](image:7)", f"<p>{ELEMENT.format('Own &amp; text', '')}</p>\n"),
        ('![a](image:7 "Title")', f"<p>{ELEMENT.format('a', ' title=&quot;Title&quot;')}</p>\n".replace("&quot;", '"')),
        ("![a][b]\n\n[b]: image:7", f"<p>{ELEMENT.format('a', '')}</p>\n"),
        ('<img src="image:7" alt="a" width="1" onload="x">', ELEMENT.format("a", "") + "\n"),
        ("![A *boat*](image:8)", "<p>A boat</p>\n"),
        ("![](image:8)", "<p></p>\n"),
        ("![a](image:99999999999999999999)", "<p>a</p>\n"),
        ("![a](image:7?width=1)", "<p>a</p>\n"),
        ("![a](IMAGE:7)", f"<p>{ELEMENT.format('a', '')}</p>\n"),
        ("`![a](image:7)`", "<p><code>![a](image:7)</code></p>\n"),
    ]:
        assert render_markdown(text, find_images=find) == html


def test_text_of_an_image_runs_no_script() -> None:
    for text in [
        "![<script>alert(1)</script>](image:8)",
        '<img src="image:8" alt="<script>alert(1)</script>">',
        "![&lt;script&gt;](image:8)",
        '<img src="image:7" alt=\'" onerror="x\' title=\'"><script>\'>',
        "<b title='<img src=\"image:7\"'>b</b>",
        '<b title="<img src=image:7 >">b</b>',
    ]:
        html = render_markdown(text, find_images=find)

        assert "<script" not in html
        assert ' onerror="' not in html


def test_link_to_an_image_leads_to_its_widest_file_if_it_is_ready() -> None:
    html = render_markdown("[a](image:7) [b](image:8) [c](image:x)", find_images=find)

    assert html.count("href") == 1
    assert f'<a href="{SHOWN.largest}"' in html
    assert SHOWN._replace(srcset="/320.webp 320w, /960.webp 960w").largest == "/960.webp"
    assert list_used_images(sanitize_markdown("[![b](image:8)](image:7) ![a](image:7)")) == [(7, "a"), (8, "b")]


def test_rendering_lists_also_the_images_that_are_not_shown() -> None:
    rendering = render_post("![a &quot;b&quot;](image:8)", None, find)

    assert (rendering.image_ids, rendering.image_alts) == ([8], ['a "b"'])
    assert render_post("Text.", None, find).image_ids is None


def test_text_that_would_become_too_long_shows_no_image() -> None:
    long = SHOWN._replace(srcset="x" * 2000)

    html = render_markdown("![a](image:7)\n" * 2500, find_images=lambda ids: dict.fromkeys(ids, long))

    assert "<img" not in html


def test_public_post_shows_its_images_at_once_and_a_text_without_images_asks_for_none() -> None:
    image = make_ready_image(alt="Boat")
    post = make_post(body=f"![](image:{image.pk})")
    start = f"http://localhost:8000/media/{image.pk}-{image.key}/"

    services.render_posts(Event())

    html = str(Post.objects.get(pk=post.pk).body_html)
    assert (
        f'<img src="{start}700.jpg" srcset="{start}320.webp 320w, {start}640.webp 640w, {start}700.webp 700w"' in html
    )
    assert 'width="700" height="350" alt="Boat" loading="lazy">' in html
