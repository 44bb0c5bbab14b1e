"""What a request with a preview token executes and pays: the link is found, charged, and read only for posts."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from blog import services
from blog.models import PreviewLink
from blog.rendering import Rendering, render_post
from blog.services import previews
from contentapi.core.errors import Conflict
from contentapi.core.identity import Role
from contentapi.streams.service import find_actors
from tests.blog.own_posts import make_own_post
from tests.blog.post_copies import save
from tests.blog.preview_requests import get, make_link, query
from tests.blog.racing import race
from tests.conftest import make_api_key
from tests.contentapi.streams.openings import feed, read_object, subscribe
from tests.factories import get_user, make_actor, make_post, make_preview_link
from users.models import User

LOOKUP = 'FROM "blog_previewlink"'
READ = "query ($id: ID!) { one: post(id: $id) { title bodyHtml } two: post(id: $id) { excerpt } }"


class Renderings:
    """The texts that were rendered for previews."""

    def __init__(self) -> None:
        self.texts: list[str] = []


@pytest.fixture
def renderings(monkeypatch: pytest.MonkeyPatch) -> Renderings:
    counted = Renderings()

    def count(body: str, *others: Any) -> Any:
        counted.texts.append(body)
        return render_post(body, *others)

    monkeypatch.setattr(previews, "render_post", count)
    previews.RENDERINGS.clear()
    return counted


def limit(settings: Settings, **rates: str) -> None:
    named = {f"contentapi_rate_{name}": rate for name, rate in rates.items()}
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, **named)


def capture(function: Callable[[], Any]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        function()
    return [each["sql"] for each in captured]


def test_renderings_of_some_hundred_working_copies_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preview of the site shows all of them at each request, in turn: a cache that is too small would have none."""
    rendered: list[str] = []

    def render(body: str, *_: Any) -> Rendering:
        rendered.append(body)
        return Rendering("x" * 25_000, "", "", None, None)

    monkeypatch.setattr(previews, "render_post", render)
    previews.RENDERINGS.clear()
    for body in [*map(str, range(500))] * 2:
        previews.render_content(body, None)

    previews.RENDERINGS.clear()
    assert len(rendered) == 500


@pytest.mark.parametrize(
    ("request_", "mode"),
    [*((each, "site") for each in ("post", "read", "resource", "preview", "page")), ("post", "version")],
)
def test_refused_request_executes_only_the_lookup_of_its_link(
    settings: Settings, renderings: Renderings, request_: str, mode: str
) -> None:
    limit(settings, previews="1/hour")
    post = make_post(status="draft")
    save(post, body="Secret words.")
    token = make_link(post, mode=mode, version="1" if mode == "version" else None).token
    send: dict[str, Callable[[], Any]] = {
        "post": lambda: query(token, READ, id=str(post.pk)).status,
        "read": lambda: get(token, "/graphql?query={preview{post{title}}}").status_code,
        "resource": lambda: get(token, f"/posts/{post.pk}").status_code,
        "preview": lambda: get(token, "/preview").status_code,
        "page": lambda: Client().get(f"/previews?token={token}").status_code,
    }
    assert send[request_]() == 200
    renderings.texts.clear()
    previews.RENDERINGS.clear()
    statuses = []

    statements = capture(lambda: statuses.append(send[request_]()))

    assert statuses == [429]
    assert len(statements) == 1
    assert LOOKUP in statements[0]
    assert renderings.texts == []


def test_operation_that_reads_no_post_by_itself_reads_no_text(renderings: Renderings) -> None:
    post = make_post(status="draft")
    token = make_link(post).token

    statements = capture(lambda: query(token, "{ posts { title } preview { mode } __typename }"))

    assert [LOOKUP in each for each in statements] == [True, False, True]
    assert renderings.texts == []


@pytest.mark.parametrize("mode", ["latest", "site"])
def test_operation_reads_and_renders_the_text_once(renderings: Renderings, mode: str) -> None:
    post = make_post(status="draft")
    save(post, body="High ![tide](https://img.example/1.jpg)")

    shown = query(make_link(post, mode=mode).token, READ, id=str(post.pk)).data

    assert shown["one"]["bodyHtml"].startswith("<p>High")
    assert shown["two"]["excerpt"].startswith("High")
    assert len(renderings.texts) == 1


# --- Whose limits --------------------------------------------------------------------------------------


def test_all_links_of_a_person_share_one_limit(settings: Settings) -> None:
    limit(settings, previews="3/hour")
    maker, other = make_actor(Role.EDITOR), make_actor(Role.EDITOR)
    first, second = make_link(make_post(), maker).token, make_link(make_post(), maker, mode="site").token

    statuses = [get(token, "/preview").status_code for token in (first, second, first, second, first)]

    assert statuses == [200, 200, 200, 429, 429]
    assert get(make_link(make_post(), other).token, "/preview").status_code == 200
    assert Client(headers={"X-API-Key": make_api_key(maker)}).get("/posts").status_code == 200
    assert Client().get("/posts").status_code == 200


def test_requests_with_links_count_against_the_limit_of_their_maker(settings: Settings) -> None:
    limit(settings, authenticated="3/hour")
    maker = make_actor(Role.EDITOR)
    tokens = [make_link(make_post(), maker).token for _ in range(2)]
    client = Client(headers={"X-API-Key": make_api_key(maker)})

    statuses = [get(token, "/preview").status_code for token in tokens]
    statuses += [client.get("/posts").status_code, client.get("/posts").status_code]
    refused = get(tokens[0], "/preview")

    assert statuses == [200, 200, 200, 429]
    assert refused.status_code == 429
    assert refused.headers["RateLimit-Policy"].startswith('"previews";q=300;w=60, "authenticated";q=3;w=3600')


def test_unknown_token_is_charged_to_the_address(settings: Settings) -> None:
    limit(settings, anonymous="2/hour")

    assert [Client().get("/previews?token=x").status_code for _ in range(3)] == [401, 401, 429]
    assert get("x", "/preview").status_code == 429


def test_person_has_at_most_50_valid_links() -> None:
    maker, others = make_actor(Role.EDITOR), make_actor(Role.EDITOR)
    full, post = make_post(), make_post()
    made = [make_preview_link(full, maker=get_user(maker)) for _ in range(50)]

    with pytest.raises(Conflict, match="You have 50 valid preview links"):
        make_link(post, maker)

    make_link(post, others)
    services.revoke_preview_link(actor=others, link_id=str(made[0].pk))
    make_link(post, maker)
    with pytest.raises(Conflict):
        make_link(post, maker)


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_do_not_create_the_last_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "MAX_LINKS_OF_PERSON", 1)
    maker = make_actor(Role.EDITOR)
    waiting = iter([make_post(), make_post()])

    def make_another() -> str:
        try:
            make_link(next(waiting), maker)
        except Conflict:
            return "conflict"
        return "made"

    outcomes = race(lambda: User.objects.select_for_update().get(pk=get_user(maker).pk), make_another, make_another)

    assert sorted(outcomes) == ["conflict", "made"]
    assert PreviewLink.objects.count() == 1


# --- Streams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["revoke", "lock", "role"])
def test_check_of_a_stream_reads_the_row_of_its_link(renderings: Renderings, change: str) -> None:
    maker, post = make_actor(Role.EDITOR), make_post(status="draft")
    save(post, body="Secret words.")
    made = make_link(post, maker)
    opening = feed(preview_token=made.token)
    found: list[Any] = []

    statements = capture(lambda: found.append(find_actors([opening.credential])))
    if change == "revoke":
        services.revoke_preview_link(actor=maker, link_id=str(made.preview_link.pk))
    else:
        User.objects.filter(pk=get_user(maker).pk).update(
            **({"is_active": False} if change == "lock" else {"role": "reader"})
        )

    assert found == [[opening.actor]]
    assert len([each for each in statements if LOOKUP in each]) == 1
    assert len(statements) == 2  # the other one reads the revoked tokens
    assert renderings.texts == []
    assert find_actors([opening.credential]) == [None]


def test_stream_shows_the_present_text_at_each_read() -> None:
    post = make_post(status="draft", title="Ebb")
    opening = subscribe(
        "subscription ($id: ID!) { post(id: $id) { title } }",
        variables={"id": str(post.pk)},
        preview_token=make_link(post).token,
    )
    plan = opening.plan
    assert b'"Ebb"' in read_object(plan)

    save(post, title="Flood")
    assert b'"Flood"' in read_object(plan)


def test_streams_with_links_of_a_person_count_together() -> None:
    actor, post = make_own_post()
    openings = [feed(preview_token=make_link(post, actor).token) for _ in range(2)]
    openings.append(feed(x_api_key=make_api_key(actor)))

    assert {each.account.key for each in openings} == {f"user:{get_user(actor).pk}"}
