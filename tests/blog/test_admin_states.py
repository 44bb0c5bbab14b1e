"""The buttons of the form of a post and the actions of the list, which change the state of posts."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog.desk.posts.states import describe_state, list_state_buttons
from blog.models import Author, Post
from contentapi.core.identity import Role
from tests.admin_forms import get_form_errors, get_page, open_form, read_form, submit_form
from tests.factories import make_actor, make_post, make_user

LIST, ADD = reverse("admin:blog_post_changelist"), reverse("admin:blog_post_add")
EARLIER, LATER = datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("values", "state", "labels"),
    [
        ({"status": "draft"}, "Draft", "Publish now, Schedule, Archive"),
        ({"status": "scheduled", "publish_at": LATER}, "Scheduled for", "Publish now, Change the time, Do not publish"),
        ({"status": "published", "published_at": EARLIER}, "Published at", "Unpublish, Archive"),
        ({"status": "archived"}, "Archived", "Take out of the archive, Publish again"),
    ],
)
def test_state_is_in_words_and_has_the_buttons_that_it_allows(values: dict[str, Any], state: str, labels: str) -> None:
    post = make_post(**values)

    assert describe_state(post).startswith(state)
    assert ", ".join(button.label for button in list_state_buttons(make_actor(Role.EDITOR), post)) == labels


def test_form_shows_the_state_with_its_buttons_and_its_first_one_saves_without_a_change_of_it(
    editor_client: Client,
) -> None:
    """The key Enter presses the first button in the fields of the form."""
    page = editor_client.get(get_page(make_post(status="draft"))).text
    form = page[page.index('id="post_form"') :]

    assert "Status: Draft" in page
    assert all(f">{label}</button>" in form for label in ("Publish now", "Schedule", "Archive"))
    assert 'name="status"' not in page
    assert form.index('type="submit" name="_save"') < form.index('name="_act"')


def test_new_post_can_be_published_and_scheduled() -> None:
    buttons = list_state_buttons(make_actor(Role.EDITOR), None)

    assert [button.label for button in buttons] == ["Publish now", "Schedule"]


def test_author_sees_no_button_on_the_post_of_another(author_client: Client) -> None:
    response = author_client.get(get_page(make_post()))

    assert response.status_code == 200
    assert 'name="_act"' not in response.text


def test_schedule_is_in_the_zone_of_the_browser_and_the_message_states_the_time(editor_client: Client) -> None:
    post = make_post(status="draft", title="Soup <b>")
    time = {"schedule_at_local": "2100-07-01T09:00", "schedule_at_zone": "Europe/Berlin"}

    submit_form(editor_client, get_page(post), _act="schedule", **time)

    post.refresh_from_db()
    assert (post.status, post.publish_at) == ("scheduled", datetime(2100, 7, 1, 7, tzinfo=UTC))
    link = f'“<a class="message-link" href="{get_page(post)}">Soup &lt;b&gt;</a>”'
    text = f'{link} will be published on <time datetime="2100-07-01T07:00:00+00:00" data-local>'
    assert text in editor_client.get(LIST).text


@pytest.mark.parametrize(
    ("time", "zone", "error"),
    [
        ("2020-01-01T00:00", "", "The time of publication must be in the future."),
        ("2027-10-31T02:30", "Europe/Berlin", "The clocks of Europe/Berlin show this time twice: "),
    ],
)
def test_refused_time_is_an_error_beside_the_button(editor_client: Client, time: str, zone: str, error: str) -> None:
    post = make_post(status="draft")
    edits = {"body": "My evening's work", "schedule_at_local": time, "schedule_at_zone": zone}

    response = submit_form(editor_client, get_page(post), _act="schedule", **edits)

    errors = get_form_errors(response)
    assert list(errors) == ["schedule_at"]
    assert errors["schedule_at"][0].startswith(error)
    assert f'role="alert">{error}' in response.text
    assert read_form(response.text)["body"] == "My evening's work"
    assert Post.objects.get().status == "draft"


def test_bad_time_does_not_prevent_another_action(editor_client: Client) -> None:
    post = make_post(status="draft")

    submit_form(editor_client, get_page(post), _act="publish", schedule_at_local="tomorrow")

    assert Post.objects.get().status == "published"


# The time at which a post first became public


def test_editor_changes_the_time_at_which_a_post_became_public(editor_client: Client) -> None:
    post = make_post(published_at=EARLIER)

    submit_form(editor_client, get_page(post), published_at_local="2019-06-01T10:00", published_at_zone="Europe/Berlin")

    post.refresh_from_db()
    assert post.published_at == datetime(2019, 6, 1, 8, tzinfo=UTC)


def test_time_at_which_a_post_became_public_keeps_its_microseconds(editor_client: Client) -> None:
    time = datetime(2020, 1, 1, 10, 11, 12, 345678, tzinfo=UTC)
    post = make_post(published_at=time, status="draft")

    submit_form(editor_client, get_page(post), title="New")

    post.refresh_from_db()
    assert (post.title, post.published_at, post.version) == ("New", time, 2)


def test_refused_time_of_publication_is_an_error_of_its_field(editor_client: Client) -> None:
    post = make_post(published_at=EARLIER)
    future = f"{timezone.now() + timedelta(days=1):%Y-%m-%dT%H:%M}"

    response = submit_form(editor_client, get_page(post), published_at_local=future)
    emptied = submit_form(editor_client, get_page(post), published_at_local="")

    assert get_form_errors(response) == {
        "published_at": ["The time at which a post was published must not be in the future."]
    }
    assert get_form_errors(emptied) == {"published_at": ["A published post needs the time at which it was published."]}


def test_author_and_form_of_a_post_that_was_never_public_have_no_such_field(author_client: Client) -> None:
    own = make_post(author=Author.objects.get(), published_at=EARLIER)
    assert "published_at_local" not in open_form(author_client, get_page(own))

    author_client.force_login(make_user(Role.EDITOR))
    assert "published_at_local" in open_form(author_client, get_page(own))
    assert "published_at_local" not in open_form(author_client, get_page(make_post(status="draft")))


def test_forged_time_of_publication_of_an_author_has_no_effect(author_client: Client) -> None:
    own = make_post(author=Author.objects.get(), published_at=EARLIER, status="draft")

    submit_form(author_client, get_page(own), title="New", published_at_local="2019-06-01T10:00")

    assert Post.objects.values_list("title", "published_at").get() == ("New", EARLIER)
