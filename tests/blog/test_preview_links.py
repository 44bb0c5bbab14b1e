"""Preview links: create, list, revoke and purge them. The rules of the services."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from blog import services
from blog.models import PreviewLink
from contentapi.core.errors import Conflict, Forbidden, Invalid
from contentapi.core.identity import OPERATOR, WORKER, Role
from contentapi.models import IdempotencyRecord
from tests.audit_lines import Lines
from tests.blog.own_posts import make_own_post
from tests.blog.post_copies import save
from tests.blog.preview_requests import make_link
from tests.conftest import GraphQL, make_api_key
from tests.contentapi.http.idempotent_requests import send_operation, send_post
from tests.factories import get_user, make_actor, make_post, make_preview_link

CREATE = """mutation ($input: CreatePreviewLinkInput!) {
  createPreviewLink(input: $input) {
    token url addresses { name url } previewLink { id mode version note createdBy expiresAt }
  }
}"""
REVOKE = "mutation ($id: ID!) { revokePreviewLink(input: {id: $id}) { revokedPreviewLinkId } }"
LIST = "query ($id: ID!) { post(id: $id) { previewLinks { id note mode } } }"


def test_new_link_has_a_random_token_of_which_only_the_digest_is_stored() -> None:
    made, other = make_link(make_post()), make_link(make_post())

    row = PreviewLink.objects.get(pk=made.preview_link.pk)
    assert made.token.startswith("cap_")
    assert len(made.token) == 4 + 64
    assert made.token != other.token
    assert made.token[4:] not in str(vars(row))
    assert len(row.digest) == 32


@pytest.mark.parametrize(
    ("values", "seconds"),
    [({}, 24 * 3600), ({"mode": "site"}, 3600), ({"expires_in": 300}, 300), ({"expires_in": 30 * 86400}, 30 * 86400)],
)
def test_link_is_valid_for_its_lifetime(values: dict[str, Any], seconds: int) -> None:
    link = make_link(make_post(), **values).preview_link

    assert link.expires_at - link.created_at == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "values",
    [
        {"expires_in": 299},
        {"expires_in": 30 * 86400 + 1},
        {"mode": "site", "expires_in": 3601},
        {"mode": "version"},
        {"mode": "version", "version": "x"},
        {"version": "1"},
        {"note": "x" * 201},
    ],
)
def test_invalid_values_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        make_link(make_post(), **values)

    assert not PreviewLink.objects.exists()


def test_post_has_at_most_20_valid_links() -> None:
    actor, post = make_own_post()
    made = [make_preview_link(post, maker=get_user(actor)) for _ in range(20)]
    with pytest.raises(Conflict, match="20 valid preview links"):
        make_link(post, actor)

    PreviewLink.objects.filter(pk=made[0].pk).update(expires_at=timezone.now())
    make_link(post, actor)
    services.revoke_preview_link(actor=actor, link_id=str(made[1].pk))
    make_link(post, actor)
    make_link(make_post(), make_actor(Role.EDITOR))


def test_operator_creates_no_link_because_it_ends_with_its_maker() -> None:
    with pytest.raises(Forbidden):
        make_link(make_post(), OPERATOR)


def test_worker_deletes_links_that_expired_30_days_ago() -> None:
    old, recent, valid = (make_link(make_post()).preview_link for _ in range(3))
    PreviewLink.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(days=30))
    PreviewLink.objects.filter(pk=recent.pk).update(expires_at=timezone.now() - timedelta(days=29))

    assert services.previews.purge_preview_links(actor=WORKER) == 1
    assert set(PreviewLink.objects.all()) == {recent, valid}


def test_audit_log_names_links_and_no_token(lines: Lines, django_capture_on_commit_callbacks: Any) -> None:
    actor, post = make_own_post()
    with django_capture_on_commit_callbacks(execute=True):
        made = make_link(post, actor, note="secret")
        services.revoke_preview_link(actor=actor, link_id=str(made.preview_link.pk))

    assert [line["event"] for line in lines.fields] == ["preview_link.created", "preview_link.revoked"]
    assert made.token not in str(lines.fields)
    assert "secret" not in str(lines.fields)


def test_addresses_are_those_of_the_sites_with_the_slug_that_the_link_shows(settings: Settings) -> None:
    post = make_post(slug="ebb")
    save(post, slug="flood")
    templates = "web=https://www.example.com/p?token={token}&path=/blog/{slug} https://app.example.com/{id}/{token}"
    settings.ENVIRONMENT = msgspec.structs.replace(settings.ENVIRONMENT, contentapi_preview_url=templates)

    made = make_link(post)

    assert made.url == f"https://www.example.com/p?token={made.token}&path=/blog/flood"
    assert [address.name for address in made.addresses] == ["web", "site", "page"]
    assert made.addresses[1].url == f"https://app.example.com/{post.pk}/{made.token}"
    assert make_link(post, mode="version", version="1").url.endswith("/blog/ebb")


# --- The transports ------------------------------------------------------------------------------------


def test_graphql_creates_lists_and_revokes_links(gql: GraphQL) -> None:
    actor, post = make_own_post()

    made = gql(CREATE, actor=actor, input={"postId": str(post.pk), "note": "Harbour"}).data["createPreviewLink"]
    link = made["previewLink"]
    listed = gql(LIST, actor=actor, id=str(post.pk)).data["post"]["previewLinks"]
    revoked = gql(REVOKE, actor=actor, id=link["id"]).data["revokePreviewLink"]

    assert made["token"].startswith("cap_")
    assert made["url"] == made["addresses"][-1]["url"]
    assert listed == [{"id": link["id"], "note": "Harbour", "mode": "latest"}]
    assert revoked == {"revokedPreviewLinkId": link["id"]}
    assert gql(LIST, actor=actor, id=str(post.pk)).data["post"]["previewLinks"] == []


def test_rest_creates_lists_and_revokes_links() -> None:
    actor, post = make_own_post()
    client, path = Client(headers={"X-API-Key": make_api_key(actor)}), f"/posts/{post.pk}/preview-links"

    made = client.post(path, {"expiresIn": 600, "note": "Harbour"}, content_type="application/json")
    empty = client.post(path, content_type="application/json")
    listed = client.get(path, {"limit": 1})
    following = client.get(path, {"limit": 1, "cursor": listed.json()["next_cursor"]})

    assert (made.status_code, empty.status_code) == (201, 201)
    assert made["Location"] == f"/preview-links/{made.json()['id']}"
    assert made.json()["token"].startswith("cap_")
    assert [link["id"] for link in listed.json()["data"]] == [empty.json()["id"]]
    assert [link["note"] for link in following.json()["data"]] == ["Harbour"]
    assert client.delete(f"/preview-links/{made.json()['id']}").status_code == 204
    assert client.delete(f"/preview-links/{made.json()['id']}").status_code == 404


def test_repeated_creation_returns_the_same_token_which_is_stored_encrypted() -> None:
    actor, post = make_own_post()
    key, variables = make_api_key(actor), {"input": {"postId": str(post.pk)}}

    by_graphql = [send_operation(CREATE, key, "one", variables=variables).body for _ in range(2)]
    by_rest = [send_post(f"/posts/{post.pk}/preview-links", {}, key, "two").body for _ in range(2)]

    assert by_graphql[0] == by_graphql[1]
    assert by_rest[0] == by_rest[1]
    assert PreviewLink.objects.count() == 2
    stored = [bytes(record.body) for record in IdempotencyRecord.objects.all()]
    assert len(stored) == 2
    assert not any(b"cap_" in body for body in stored)


@pytest.mark.parametrize(
    ("number", "status"), [("600.0", 201), ("6e2", 201), ("600.5", 400), ("1e300", 422), ("1e999", 400)]
)
def test_lifetime_is_a_whole_number_as_in_json_schema(number: str, status: int) -> None:
    actor, post = make_own_post()
    client = Client(headers={"X-API-Key": make_api_key(actor)})

    response = client.post(f"/posts/{post.pk}/preview-links", f'{{"expiresIn": {number}}}', "application/json")

    assert response.status_code == status


def test_links_are_hidden_from_those_who_may_not_edit_the_post(gql: GraphQL) -> None:
    post = make_post()
    make_link(post)

    for actor in (None, make_actor(Role.READER), make_actor(Role.AUTHOR)):
        assert gql(LIST, actor=actor, id=str(post.pk)).data["post"]["previewLinks"] == []
        headers = {} if actor is None else {"X-API-Key": make_api_key(actor)}
        assert Client().get(f"/posts/{post.pk}/preview-links", headers=headers).status_code == 404
