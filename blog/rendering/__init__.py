"""Rendering: Markdown as sanitised HTML, and the default texts of a post.

This is the only place that renders posts: for the API, for the preview in the desk.
"""

from typing import NamedTuple

from blog.rendering.markdown import render_markdown
from blog.rendering.summaries import make_description, make_excerpt

# The number of this renderer. Increase it with every change of its output, also by another version of comrak or nh3,
# and run `makemigrations`: the worker finds the posts of earlier ones by an index, which has the number in its name. A
# test compares the output.
RENDERER = 2


class Rendering(NamedTuple):
    """What is made of the text of a post. The names are those of the columns."""

    body_html: str
    default_excerpt: str
    default_description: str


def render_post(body: str, excerpt: str | None) -> Rendering:
    """Render the text of a post that has this excerpt of its own, or none."""
    html = render_markdown(body)
    default = make_excerpt(html)
    return Rendering(html, default, make_description(excerpt or default))
