"""Preview tokens: when they end, what they allow, their responses, and the page of this server."""

import secrets
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from blog import services
from blog.models import Post, PreviewLink
from contentapi.core.identity import OPERATOR, Role
from tests.blog.own_posts import make_own_post
from tests.blog.post_copies import save
from tests.blog.post_versions import edit
from tests.blog.preview_requests import get, make_link, query
from tests.conftest import make_api_key
from tests.factories import get_user, make_actor, make_author, make_post
from tests.graphql_requests import post_to_graphql
from users.models import User

# --- The end of a token --------------------------------------------------------------------------------


def read_status(token: str) -> tuple[int, str]:
    response = get(token, "/preview")
    return response.status_code, response.headers.get("X-Error-Code", "")


UNKNOWN = (401, "UNAUTHENTICATED")


def test_revoked_token_is_unknown_from_the_next_request_on() -> None:
    made = make_link(make_post())
    assert read_status(made.token) == (200, "")

    services.revoke_preview_link(actor=make_actor(Role.EDITOR), link_id=str(made.preview_link.pk))

    assert read_status(made.token) == UNKNOWN
    response = query(made.token, "{ posts { id } }")
    assert (response.status, response.codes) == (401, ["UNAUTHENTICATED"])


def test_expired_token_has_a_code_of_its_own() -> None:
    made = make_link(make_post())
    PreviewLink.objects.update(expires_at=timezone.now())

    assert read_status(made.token) == (401, "PREVIEW_EXPIRED")
    response = query(made.token, "{ posts { id } }")
    assert (response.status, response.codes) == (401, ["PREVIEW_EXPIRED"])


def test_token_ends_with_the_post_and_does_not_come_back_with_it() -> None:
    post = make_post()
    token = make_link(post).token
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    assert read_status(token) == UNKNOWN

    Post.objects.create(id=post.pk, title="Again", author=post.author)
    assert read_status(token) == UNKNOWN


@pytest.mark.parametrize(
    ("mode", "change"),
    [("latest", {"is_active": False}), ("latest", {"role": "author"}), ("latest", None), ("site", {"role": "author"})],
)
def test_token_ends_when_its_maker_may_not_create_it_any_more(mode: str, change: dict[str, Any] | None) -> None:
    maker = make_actor(Role.EDITOR)
    token = make_link(make_post(), maker, mode=mode).token
    assert read_status(token) == (200, "")

    if change is None:
        get_user(maker).delete()
    else:
        User.objects.filter(email=get_user(maker).email).update(**change)

    assert read_status(token) == UNKNOWN


def test_token_ends_when_the_post_gets_another_author() -> None:
    actor, post = make_own_post()
    token = make_link(post, actor).token

    edit(post, author_id=str(make_author().pk))

    assert read_status(token) == UNKNOWN


def test_forged_tokens_are_unknown(settings: Settings) -> None:
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_rate_anonymous="100000/second")
    token = make_link(make_post()).token
    end = "0" if token[-1] != "0" else "1"
    forged = ["", "x", token[:-1], f"{token}0", f"{token[:-1]}{end}", token.upper(), f" {token}", token[4:], "cap_"]
    forged += [f"cap_{secrets.token_hex(32)}" for _ in range(2)]

    assert {read_status(each) for each in forged} == {UNKNOWN}


# --- The header ----------------------------------------------------------------------------------------


def test_write_with_a_token_is_forbidden_and_changes_nothing() -> None:
    actor, post = make_own_post()
    token, key = make_link(post, actor).token, make_api_key(actor)
    document = 'mutation ($id: ID!) { updatePost(input: {id: $id, title: "Mine"}) { title } }'
    body = {"query": document, "variables": {"id": str(post.pk)}}

    for headers in ({"X_API_Key": key}, {}):
        response = post_to_graphql(body, Preview_Token=token, **headers)
        assert (response.status, response.codes) == (403, ["FORBIDDEN"])
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        written = Client(headers={"Preview-Token": token, **sent}).patch(
            f"/posts/{post.pk}", {"title": "Mine"}, content_type="application/json"
        )
        assert written.status_code == 403
    assert Post.objects.get().version == 1


def test_token_beside_a_credential_adds_its_post_to_what_the_credential_reads() -> None:
    actor, own = make_own_post(status="draft", title="Own")
    other = make_post(status="draft", title="Other")
    headers = {"Preview-Token": make_link(other).token, "X-API-Key": make_api_key(actor)}

    assert Client().get(f"/posts/{own.pk}", headers=headers).json()["title"] == "Own"
    assert Client().get(f"/posts/{other.pk}", headers=headers).json()["title"] == "Other"
    listed = Client().get("/posts", headers=headers).json()["data"]
    assert [each["title"] for each in listed] == ["Own"]
    assert Client().get("/preview", headers={**headers, "X-API-Key": "x"}).status_code == 401


def test_token_in_the_query_string_is_none() -> None:
    post = make_post(status="draft")
    token = make_link(post).token

    assert Client().get(f"/posts/{post.pk}", {"Preview-Token": token}).status_code == 404
    assert Client().get("/preview", {"token": token}).status_code == 404


def test_response_is_private_whether_it_succeeds_or_not() -> None:
    post = make_post()
    token = make_link(post).token
    document = "/graphql?query={posts{id}}"

    for path in (f"/posts/{post.pk}", "/posts/0", "/preview", "/posts", document, "/graphql?query={"):
        for sent in (token, "x"):
            headers = get(sent, path).headers
            assert headers["Cache-Control"] == "private, no-store", path
            assert headers["X-Robots-Tag"] == "noindex"
            assert "Preview-Token" in headers["Vary"]
    for path in (f"/posts/{post.pk}", document):
        assert "Preview-Token" in Client().get(path).headers["Vary"]
    headers = query(token, "{ posts { id } }").headers
    assert (headers["Cache-Control"], headers["X-Robots-Tag"]) == ("private, no-store", "noindex")


def test_request_without_a_token_previews_nothing() -> None:
    assert post_to_graphql({"query": "{ preview { mode } }"}).data == {"preview": None}
    assert Client().get("/preview").status_code == 404


# --- The page of this server ---------------------------------------------------------------------------


def test_reviewer_without_an_account_reads_the_rendered_text() -> None:
    post = make_post(title="Ebb")
    save(post, title="Flood <b>", body="**High** <script>alert(1)</script>")
    made = make_link(post)

    response = Client().get(f"/previews?token={made.token}")

    page = response.content.decode()
    assert made.url.endswith(f"/previews?token={made.token}")
    assert "Flood &lt;b&gt;" in page
    assert "<strong>High</strong>" in page
    assert "<script" not in page
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["X-Robots-Tag"] == "noindex"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "script-src" not in response.headers["Content-Security-Policy"]


def test_page_of_an_ended_link_says_so() -> None:
    made = make_link(make_post())
    PreviewLink.objects.update(expires_at=timezone.now())

    for token, message in ((made.token, "has expired"), ("x", "unknown or revoked"), ("", "unknown or revoked")):
        response = Client().get(f"/previews?token={token}")
        assert response.status_code == 401
        assert message in response.content.decode()
