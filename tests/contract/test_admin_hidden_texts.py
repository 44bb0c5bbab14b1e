"""No page of the admin shows an author a text that they may not see, whatever ids the request has, nor API words."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from blog import services as blog
from blog.models import Author, CommentState, ImportJob, ImportResult, ImportState, Post, PostSource, PostStatus
from contentapi.core.identity import OPERATOR, Role
from contentapi.desk.lists import RelatedFilter
from tests.contract.admin_walk import list_requests
from tests.contract.worlds import roll_back
from tests.factories import make_author, make_comment, make_order, make_post, make_user
from users import services as users
from users.models import ApiKey, User
from users.oauth.clients import register_client

MARKER = "zebrafish"  # in every text that the author may not see
WORD = "harbour"  # beside it: the walk searches for this word, which the pages repeat
HIDDEN = f"{WORD} {MARKER}"
UNSEEN = re.compile(r"""(?s)<(script|style)\b.*?</\1>|<(?:"[^"]*"|'[^']*'|[^>"'])*>""")
API_WORDS = re.compile(r"GraphQL|PATCH|If-Match|CONTENTAPI_|\b(?:null|force|payload)\b|\b[a-z]+[A-Z]\w*:|\s--[a-z]")
LATER = datetime(2100, 1, 1, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    """An author with posts, a comment and a key, among the objects of an editor."""
    me = make_user(Role.AUTHOR)
    mine = make_author(user=me, email=me.email)
    editor = make_user(Role.EDITOR, email=f"{MARKER}@example.invalid")
    theirs = make_author(user=editor, email=f"author-{MARKER}@example.invalid")
    public = write_posts(theirs)
    comments = [make_comment(post, author=theirs) for post in (make_post(author=mine), public)]
    make_post(author=mine, status=PostStatus.DRAFT)
    for state in (CommentState.HIDDEN, CommentState.DELETED):
        make_comment(public, body=HIDDEN, state=state, state_changed_at=timezone.now())
    key = write_key(me, "Mine")
    write_other_objects(editor)
    for row in (me, mine, theirs, key, *comments):
        write_log(editor, row)
    return me


def write_posts(author: Author) -> Post:
    """Write posts of other people in every status, a deleted one, and a public one whose first version is hidden.

    Return the public one.
    """
    for status in (PostStatus.DRAFT, PostStatus.SCHEDULED, PostStatus.ARCHIVED):
        make_comment(write_post(author, status), body=HIDDEN)
    blog.delete_post(actor=OPERATOR, post_id=str(write_post(author, PostStatus.DRAFT).pk))
    public = write_post(author, PostStatus.PUBLISHED)
    changes = {"title": "Title", "body": "Text.", "tags": ["tag"]}
    return blog.edit_post(actor=OPERATOR, post_id=str(public.pk), changes=changes)


def write_post(author: Author, status: str) -> Post:
    publish_at = LATER if status == PostStatus.SCHEDULED else None
    post = make_post(author=author, status=status, publish_at=publish_at, title=HIDDEN, body=HIDDEN, tags=[HIDDEN])
    values = {"path": f"{MARKER}-{post.pk}.md", "digest": b"1", "authors": [MARKER]}
    PostSource.objects.create(post=post, source=HIDDEN, **values)
    return post


def write_key(user: User, name: str) -> ApiKey:
    key = users.create_api_key(actor=OPERATOR, email=user.email, name=name)
    return ApiKey.objects.get(prefix=key.rpartition("_")[0])


def write_other_objects(owner: User) -> None:
    """Write an import, a key, an application with a consent, and an order."""
    values: dict[str, Any] = {"file_name": f"{MARKER}.zip", "source": HIDDEN, "status": "draft", "total": 1}
    job = ImportJob.objects.create(owner=owner, state=ImportState.CHECKED, ignored=0, **values)
    ImportResult.objects.create(job=job, is_plan=True, number=1, path=f"{MARKER}.md", outcome="created")
    write_key(owner, HIDDEN)
    register_client(name=HIDDEN, redirect_uris=["https://app.example.invalid/callback"])
    consent: dict[str, Any] = {"user": owner, "application": Application.objects.get()}
    token = AccessToken.objects.create(token="a", expires=LATER, **consent)
    RefreshToken.objects.create(token="r", access_token=token, **consent)
    make_order(user=owner, status="shipped", carrier=HIDDEN, tracking_number=MARKER, shipped_at=timezone.now())


def write_log(user: User, row: Model) -> None:
    """Write an entry in the log of a row."""
    kind = ContentType.objects.get_for_model(row)
    LogEntry.objects.create(user=user, content_type=kind, object_id=row.pk, object_repr=str(row), action_flag=CHANGE)


def log_in(user: User) -> Client:
    browser = Client(raise_request_exception=False)
    browser.force_login(user)
    return browser


@pytest.mark.thorough
def test_author_finds_no_hidden_text_and_no_word_of_the_api_with_the_ids_of_all_objects(author: User) -> None:
    browser, found, words, statuses = log_in(author), [], set(), set()

    for request in list_requests(browser, WORD):
        with roll_back():
            response = request.send(browser)
        statuses.add(response.status_code)
        if MARKER in f"{response.text} {response.redirect_chain}".lower():
            found.append(request)
        if "html" in response.headers["Content-Type"]:
            words |= {(word, request.url) for word in API_WORDS.findall(UNSEEN.sub(" ", response.text))}

    assert found == []
    assert words == set()
    assert statuses <= {200, 400, 403, 404, 405, 409, 422}


def test_editor_finds_the_title_that_an_author_does_not(author: User) -> None:
    draft = Post.objects.get(title=HIDDEN, status=PostStatus.DRAFT)
    editor = User.objects.get(role=Role.EDITOR)
    url = reverse("admin:blog_comment_changelist")

    pages = [log_in(user).get(url, {"post__id__exact": draft.pk}).text for user in (author, editor)]

    assert [HIDDEN in page for page in pages] == [False, True]


def test_every_filter_by_another_model_shows_only_rows_of_its_list() -> None:
    filters = [
        (model, each)
        for model, page in admin.site._registry.items()
        for each in page.list_filter
        if isinstance(each, tuple) and model._meta.get_field(str(each[0])).is_relation
    ]

    assert filters
    assert all(issubclass(chosen, RelatedFilter) for _, (_, chosen) in filters)
