"""The texts that are made of a post, as plain functions: those of the present version, or the post's own."""

from collections.abc import Callable
from typing import Any

from blog.models import Post


def read_excerpt(post: Post, _: Any) -> str:
    return post.excerpt or find_rendered_text(post, "default_excerpt") or ""


def read_description(post: Post, _: Any) -> str:
    return post.description or find_rendered_text(post, "default_description") or ""


def read_body_html(post: Post, _: Any) -> str | None:
    return find_rendered_text(post, "body_html")


def find_rendered_text(post: Post, column: str) -> str | None:
    text: str | None = getattr(post, column)
    return text if post.rendered_version == post.version else None


TEXTS: dict[str, Callable[[Post, Any], str | None]] = {
    "excerpt": read_excerpt,
    "description": read_description,
    "bodyHtml": read_body_html,
}
