"""The actions of the permission table in the admin site, the third interface: requests of a browser and their outcomes.

Django's test client logs in as the caller, gets the form and sends it. Readers and anonymous callers get the login page
for every action.
"""

from collections.abc import Callable
from typing import Any

from django.urls import reverse

from blog.models import Post, PreviewLink
from tests.admin_forms import read_form
from tests.contract.admin_browser import (
    browse,
    confirm_deletion,
    name_outcome,
    open_list,
    open_page,
    press_button,
    send_changed_form,
    send_form,
)
from tests.contract.permissions import COAUTHORED, OTHERS, OWN, Outcome
from tests.contract.types import collect
from tests.contract.worlds import CHANGED, World
from tests.webhook_rows import WEBHOOK

AS_ONESELF = "as oneself"  # done, but with an object of one's own
ALONE = "alone"  # done, but without co-authors

# Actions that the admin has no page for.
NO_PAGE = {
    "create a preview link of the site": "Its lists are for the developers of a site.",
    "list an author's drafts": "The list of posts has a filter by author; `list drafts` covers it.",
    "create an order": "A customer orders, by the API, or the operator with `create_order`.",
}
FORGED = "An author's form has no field for the author of a post. A forged one has no effect."
# Where the admin allows less than the table, by action and owner: the callers, what they get, and the reason.
NARROWER: dict[tuple[str, str], tuple[tuple[str, ...], Outcome, str]] = {
    ("create a post", OTHERS): (("author",), AS_ONESELF, FORGED),
    ("create a scheduled post", OTHERS): (("author",), AS_ONESELF, FORGED),
    ("create a post with co-authors", OWN): (("author",), ALONE, FORGED.replace("the author", "the co-authors")),
    ("list published posts", OTHERS): (("author",), "404", "The list has the posts that the user writes."),
    ("comment on a published post", OTHERS): (("author",), "403", "Authors comment by the API, as readers do."),
    ("comment on a draft", OWN): (("author",), "403", "Authors comment by the API, as readers do."),
    ("comment on a draft", COAUTHORED): (("author",), "403", "Authors comment by the API, as readers do."),
    ("read the events of a draft", COAUTHORED): (("author",), "403", "They belong to the history of one's own posts."),
    ("comment on a draft", OTHERS): (("author",), "403", "The form for comments is for editors."),
    **collect("NARROWER"),
}


def open_email(world: World) -> Outcome:
    """Look for the email in the form of the page: the caller's own email is also in the menu."""
    response = browse(world).get(reverse("admin:blog_author_change", args=[world.target.author.pk]))
    shown = {name for fieldset in response.context["adminform"] for line in fieldset for name in line.fields}
    return "ok" if "email" in shown and world.target.author.email in response.text else "404"


def open_events(world: World) -> Outcome:
    response = browse(world).get(reverse("admin:blog_post_events", args=[world.post_id("draft")]))
    return name_outcome(response, done=response.status_code == 200 and bool(response.context["events"]))


def open_copy(world: World) -> Outcome:
    """Look for the text of the working copy in the form of its post."""
    page = browse(world).get(reverse("admin:blog_post_change", args=[world.post_id("published")]))
    return "ok" if CHANGED in page.text else "404"


def change_post(world: World, old: str, **edits: Any) -> Outcome:
    return send_form(world, reverse("admin:blog_post_change", args=[world.post_id(old)]), **edits)


def publish_changes(world: World, old: str, **edits: Any) -> Outcome:
    """Send the form, and the page that shows what will change."""
    outcome = change_post(world, old, **edits, _act="publish_changes")
    url = reverse("admin:blog_post_changes", args=[world.post_id(old)])
    return send_changed_form(world, url) if outcome == "ok" else outcome


def create_post(world: World, **edits: Any) -> Outcome:
    """Send the form for a new post of the target's author."""
    author = world.target.author
    outcome = send_form(world, reverse("admin:blog_post_add"), title="New", author=str(author.pk), **edits)
    return AS_ONESELF if outcome == "ok" and Post.objects.get(title="New").author != author else outcome


def change_author(world: World) -> Outcome:
    """Send the form with another author. A form that has no field for the author ignores a forged one."""
    outcome = change_post(world, "published", author=str(world.other_author.pk))
    changed = Post.objects.get(pk=world.post_id("published")).author == world.other_author
    return "403" if outcome == "ok" and not changed else outcome


def set_coauthors(world: World) -> Outcome:
    """Send the form with a co-author. A form that has no field for co-authors ignores forged ones."""
    outcome = change_post(world, "published", coauthor_ids=[str(world.other_author.pk)])
    changed = Post.objects.get(pk=world.post_id("published")).coauthor_ids == [world.other_author.pk]
    return "403" if outcome == "ok" and not changed else outcome


def create_joint_post(world: World) -> Outcome:
    """Send the form for a new post with a co-author. Forged co-authors have no effect."""
    outcome = create_post(world, coauthor_ids=[str(world.other_author.pk)])
    return ALONE if outcome == "ok" and not Post.objects.get(title="New").coauthor_ids else outcome


def create_link(world: World) -> Outcome:
    """Send the form for a link. The page of the result shows it; a refusal leads to the post."""
    url = reverse("admin:blog_post_create_preview_link", args=[world.post_id("published")])
    response = browse(world).post(url, {"days": "1"}, follow=True)
    done = response.status_code == 200 and "cap_" in response.text
    return name_outcome(response, done=done) if done or response.status_code >= 400 else "403"


def revoke_link(world: World) -> Outcome:
    url = reverse("admin:blog_post_revoke_preview_link", args=[world.post_id("published"), world.target.link.pk])
    response = browse(world).post(url, follow=True)
    done = not PreviewLink.objects.filter(pk=world.target.link.pk).exists()
    return name_outcome(response, done=done) if done or response.status_code >= 400 else "404"


def comment(world: World, status: str) -> Outcome:
    author = str(world.target.author.pk)
    values = {"post": world.post_id(status), "author": author, "body": "Well said."}
    return send_form(world, reverse("admin:blog_comment_add"), **values)


def create_webhook(world: World) -> Outcome:
    """Send the form for a new webhook. The page of the result shows its secret; it is no redirect."""
    url = reverse("admin:events_webhook_add")
    browser = browse(world)
    page = browser.get(url)
    values = read_form(page.text) if page.status_code == 200 else {}
    response = browser.post(url, {**values, **WEBHOOK})
    return name_outcome(response, done=response.status_code == 200 and "whsec_" in response.text)


TIME = {"schedule_at_local": "2100-01-01T00:00"}
SCHEDULE = {"_act": "schedule", **TIME}
ADMIN: dict[str, Callable[[World], Outcome]] = {
    "read a published post": lambda world: open_page(world, "blog_post", world.post_id("published")),
    "list published posts": lambda world: open_list(
        world, "blog_post", world.target.posts["published"].pk, status__exact="published"
    ),
    "read an author": lambda world: open_page(world, "blog_author", world.target.author.pk),
    "read a comment": lambda world: open_page(world, "blog_comment", world.comment_id("published")),
    "read a draft": lambda world: open_page(world, "blog_post", world.post_id("draft")),
    "read a scheduled post": lambda world: open_page(world, "blog_post", world.post_id("scheduled")),
    "read an archived post": lambda world: open_page(world, "blog_post", world.post_id("archived")),
    "read the events of a draft": open_events,
    "list drafts": lambda world: open_list(world, "blog_post", world.target.posts["draft"].pk, status__exact="draft"),
    "create a post": create_post,
    "create a published post": lambda world: create_post(world, _act="publish"),
    "create a scheduled post": lambda world: create_post(world, **SCHEDULE),
    "update a published post": lambda world: change_post(world, "published", title="New"),
    "update a draft": lambda world: change_post(world, "draft", title="New"),
    "change the author of a post": change_author,
    "set the co-authors of a post": set_coauthors,
    "use an image as a cover": lambda world: publish_changes(world, "published", cover_id=str(world.target.image.pk)),
    "create a post with co-authors": create_joint_post,
    "read a working copy": open_copy,
    "save a working copy": lambda world: change_post(world, "published", title="New"),
    "schedule a working copy": lambda world: change_post(world, "published", _act="schedule_changes", **TIME),
    "publish a working copy": lambda world: publish_changes(world, "published"),
    "publish the working copy of a draft": lambda world: publish_changes(world, "draft"),
    "create a preview link": create_link,
    "revoke a preview link": revoke_link,
    "discard a working copy": lambda world: change_post(world, "published", _act="discard"),
    "publish a draft": lambda world: change_post(world, "draft", _act="publish"),
    "publish a published post": lambda world: change_post(world, "published", _act="publish"),
    "schedule a draft": lambda world: change_post(world, "draft", **SCHEDULE),
    "unschedule a post": lambda world: change_post(world, "scheduled", _act="unpublish"),
    "unpublish a post": lambda world: change_post(world, "published", _act="unpublish"),
    "archive a published post": lambda world: change_post(world, "published", _act="archive"),
    "archive a draft": lambda world: change_post(world, "draft", _act="archive"),
    "take a post out of the archive": lambda world: change_post(world, "archived", _act="unarchive"),
    "delete a published post": lambda world: confirm_deletion(world, "blog_post", world.post_id("published")),
    "delete a draft": lambda world: confirm_deletion(world, "blog_post", world.post_id("draft")),
    "comment on a published post": lambda world: comment(world, "published"),
    "comment on a draft": lambda world: comment(world, "draft"),
    "delete a comment": lambda world: press_button(world, "blog_comment", world.comment_id("published"), "delete"),
    "delete a comment on a draft": lambda world: press_button(
        world, "blog_comment", world.comment_id("draft"), "delete"
    ),
    "hide a comment": lambda world: press_button(world, "blog_comment", world.comment_id("published"), "hide"),
    "hide a comment on a draft": lambda world: press_button(world, "blog_comment", world.comment_id("draft"), "hide"),
    "read an author's email": open_email,
    "create a webhook": create_webhook,
    **collect("ADMIN"),
}
