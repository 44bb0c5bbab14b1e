"""A person has one limit, with however many credentials of whatever kind."""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
from django.test import Client
from pytest_django import Settings

from contentapi.core.identity import Actor, CredentialKind, Role
from contentapi.events.tickets import create_ticket
from contentapi.streams.limits import FOR_ADDRESS, FOR_PERSON, STREAMS, release_stream
from tests.blog.preview_requests import make_link
from tests.conftest import make_api_key
from tests.contentapi.streams.openings import feed, refuse_feed
from tests.factories import get_user, make_actor, make_post
from users.tokens import issue_token


def make_token(actor: Actor, **options: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {issue_token(user=get_user(actor), **options)}"}


def make_preview(actor: Actor, **options: Any) -> dict[str, str]:
    return {"Preview-Token": make_link(make_post(), actor, **options).token}


# The credentials that requests to the API may have, by the kind of their actor
MAKERS: dict[str, list[Callable[[Actor], dict[str, str]]]] = {
    "api-key": [lambda actor: {"X-API-Key": make_api_key(actor)}],
    "jwt": [make_token, lambda actor: make_token(actor, is_oauth=True, client_id="news")],
    "preview": [make_preview, lambda actor: make_preview(actor, mode="site")],
}
# Pages of the admin have its own limits, a link in a mail those of logins. The others send no requests.
WITHOUT_REQUESTS = {"none", "session", "link", "operator", "webhook"}


def make_credentials(actor: Actor) -> list[dict[str, str]]:
    """Return two credentials of each kind."""
    return [make(actor) for makers in MAKERS.values() for make in makers for _ in range(2)]


def test_each_kind_of_credential_is_known() -> None:
    assert {*get_args(CredentialKind)} == MAKERS.keys() | WITHOUT_REQUESTS


def test_requests_with_all_credentials_of_a_person_share_one_limit(settings: Settings) -> None:
    credentials = make_credentials(make_actor(Role.EDITOR))
    settings.ENVIRONMENT = msgspec.structs.replace(
        settings.ENVIRONMENT, contentapi_rate_authenticated=f"{len(credentials)}/hour"
    )

    assert {Client(headers=each).get("/posts").status_code for each in credentials} == {200}
    assert {Client(headers=each).get("/posts").status_code for each in credentials} == {429}
    assert Client(headers=make_credentials(make_actor(Role.EDITOR))[-1]).get("/posts").status_code == 200
    assert Client().get("/posts").status_code == 200


def test_streams_with_all_credentials_of_a_person_share_one_limit() -> None:
    actor = make_actor(Role.EDITOR)
    openings = [
        feed(**{name.lower().replace("-", "_"): value for name, value in each.items()})
        for each in make_credentials(actor)
    ]
    openings += [feed(f"ticket={create_ticket(actor, {'X-API-Key': make_api_key(actor)})[0]}") for _ in range(2)]
    try:
        assert STREAMS.taken[f"user:{actor.user_id}"] == len(openings)  # other tests may have left streams
        assert FOR_ADDRESS <= len(openings) < FOR_PERSON
        preview = make_preview(actor)["Preview-Token"]
        assert refuse_feed(preview_token=preview).status_code == 429  # the person keeps the rest
        openings += [feed(x_api_key=make_api_key(actor)) for _ in range(FOR_PERSON - len(openings))]
        assert refuse_feed(x_api_key=make_api_key(actor)).status_code == 429
    finally:
        for opening in openings:
            release_stream(opening.account.key, opening.plan.operation)
