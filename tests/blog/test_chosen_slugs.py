"""Slugs that a person has chosen do not follow the title, also those that look as if they were made from it."""

from pathlib import Path

import pytest
from django.test import Client

from blog import services
from blog.models import Post, WorkingCopy
from contentapi.core.identity import OPERATOR
from tests.admin_forms import get_page, submit_form
from tests.blog.markdown_files import build_file, import_text
from tests.blog.post_copies import save
from tests.blog.post_versions import edit
from tests.factories import make_author, make_post


def create(title: str = "Soup", slug: str | None = None) -> Post:
    """Create a draft as a client does."""
    return services.create_post(actor=OPERATOR, author_id=str(make_author().pk), title=title, body="", slug=slug)


def read_slug(post: Post) -> str | None:
    return Post.objects.values_list("slug", flat=True).get(pk=post.pk)


@pytest.mark.parametrize("slug", ["soup", "soup-2"])
def test_slug_stated_at_the_creation_stays_until_it_is_null(slug: str) -> None:
    post = create(slug=slug)

    assert edit(post, title="Stew").slug == slug
    assert edit(post, slug=None).slug == "stew"
    assert edit(post, title="Pie").slug == "pie"


def test_choice_alone_is_no_version() -> None:
    post = create(slug="soup")

    post = edit(post, slug=None)

    assert (post.slug, post.version, post.updated_at) == ("soup", 1, Post.objects.get().updated_at)
    assert edit(post, title="Stew").slug == "stew"


def test_slug_of_an_earlier_release_is_chosen_unless_it_looks_made() -> None:
    following, chosen = (make_post(title="Soup", slug=slug, status="draft") for slug in ("soup-2", "goulash"))

    assert [edit(post, title="Stew").slug for post in (following, chosen)] == ["stew", "goulash"]


def test_working_copy_of_the_release_before_has_the_choice_of_its_post() -> None:
    post = create(slug="soup-2")
    copy = save(post, body="Boil.")
    del copy.content["slug_is_chosen"]
    WorkingCopy.objects.update(content=copy.content)

    assert save(post, title="Stew").content["slug"] == "soup-2"


def test_slug_stated_in_the_form_stays_and_an_untouched_one_follows(editor_client: Client) -> None:
    stated, untouched = create(), create("Pie")

    for post, values in ((stated, {"slug": "soup-2"}), (untouched, {"body": "Bake."})):
        submit_form(editor_client, get_page(post), **values)
        edit(post, title="Stew")

    assert [read_slug(stated), read_slug(untouched)] == ["soup-2", "stew"]


def test_slug_stated_in_a_file_or_by_its_name_stays(tmp_path: Path) -> None:
    import_text(tmp_path, build_file('slug = "soup-2"'), "a.md", status="draft")
    import_text(tmp_path, build_file(), "b.md", status="draft")

    for post in Post.objects.all():
        edit(post, title="Stew")
    import_text(tmp_path, build_file(title="Pie"), "a.md", status="draft")
    import_text(tmp_path, build_file(title="Pie"), "b.md", status="draft")
    assert [*Post.objects.order_by("pk").values_list("slug", flat=True)] == ["soup-2", "b"]
