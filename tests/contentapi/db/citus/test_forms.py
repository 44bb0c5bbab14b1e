"""What the code does on a distributed database, on one PostgreSQL: it accepts these statements too.

`make test-citus` shows that Citus accepts them.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from pytest_django import Settings

from blog import services
from blog.desk.images.library import filter_unused
from blog.models import Image, Post, PostSource
from blog.services import moderation
from contentapi.core.errors import Conflict
from contentapi.core.identity import Actor, Role
from contentapi.db.statements import execute
from contentapi.events.models import Event, Log, OutboxEvent
from contentapi.events.partitions import prepare_partitions
from contentapi.events.relay import move_events
from contentapi.events.triggers import merge_events
from contentapi.graphql.documents import DOCUMENTS
from contentapi.projection.statements import STATEMENTS
from tests.blog.markdown_files import build_file, import_text
from tests.blog.post_deletions import delete, restore
from tests.blog.post_versions import edit
from tests.blog.search_posts import find, make_library
from tests.blog.stored_images import make_ready_image
from tests.blog.test_slugs import create_post
from tests.contentapi.db.citus.claims_table import CREATE
from tests.contentapi.projection.execution import recorded, run
from tests.contentapi.projection.fixture_rows import ACTORS, fill
from tests.environment import set_environment
from tests.event_log import collect_events
from tests.factories import make_actor, make_author, make_post

pytestmark = pytest.mark.django_db
ADD_COMMENT = "mutation ($input: AddCommentInput!) { addComment(input: $input) { id author { name } } }"
PAGE = """
{ postsConnection(first: 2) { edges { cursor node { id author { name } } } pageInfo { endCursor } totalCount } }
"""


@pytest.fixture
def distributed(settings: Settings) -> Iterator[None]:
    set_environment(settings, CONTENTAPI_DISTRIBUTED="citus")
    execute(CREATE)
    STATEMENTS.clear()
    DOCUMENTS.clear()
    yield
    STATEMENTS.clear()
    DOCUMENTS.clear()


@pytest.fixture
def editor() -> Actor:
    return make_actor(Role.EDITOR, author=make_author())


@pytest.mark.usefixtures("distributed")
def test_posts_with_one_title_get_different_slugs(editor: Actor) -> None:
    assert [create_post(editor).slug for _ in range(4)] == ["tides", "tides-2", "tides-3", "tides-4"]
    assert create_post(editor, "!").slug == f"post-{Post.objects.latest('pk').pk}"


@pytest.mark.usefixtures("distributed")
def test_slug_of_a_post_is_refused_and_that_of_a_deleted_draft_is_free(editor: Actor) -> None:
    draft, other = create_post(editor, slug="ebb"), create_post(editor, "Other")
    with pytest.raises(Conflict):
        create_post(editor, slug="ebb")
    with pytest.raises(Conflict):
        edit(other, editor, slug="ebb")

    services.delete_post(actor=editor, post_id=str(draft.pk))

    assert create_post(editor, slug="ebb").slug == "ebb"


@pytest.mark.usefixtures("distributed")
def test_file_that_was_imported_again_stays_with_the_new_post(tmp_path: Path) -> None:
    import_text(tmp_path, build_file(""))
    first = Post.objects.get()
    delete(first)
    import_text(tmp_path, build_file(""))
    second = Post.objects.get()

    restore(first)

    assert first.pk != second.pk
    assert PostSource.objects.get().post_id == second.pk


def test_search_finds_the_same_posts(request: pytest.FixtureRequest) -> None:
    make_library()
    with recorded() as before:
        expected = find("kelp")

    request.getfixturevalue("distributed")
    with recorded() as statements:
        found = find("kelp")

    assert found == expected != []
    assert "walked" in before[0][0]
    assert "walked" not in statements[0][0]


def test_page_is_the_same_with_its_cursors(request: pytest.FixtureRequest) -> None:
    fill()
    expected = run(PAGE, actor=ACTORS["editor"])

    request.getfixturevalue("distributed")
    found = run(PAGE, actor=ACTORS["editor"])

    assert found.data == expected.data
    assert found.reads != expected.reads


@pytest.mark.usefixtures("distributed")
def test_new_comment_is_read_by_the_id_of_its_post(editor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moderation.COMMENTS, "returns_json", False)
    post = make_post()

    added = run(ADD_COMMENT, {"input": {"postId": str(post.pk), "body": "Low water."}}, actor=editor)

    sql, parameters = added.reads[-1]
    assert added.data["addComment"]["author"] is not None
    assert '"blog_comment"."post_id" = (%s)' in sql
    assert post.pk in parameters


@pytest.mark.usefixtures("distributed")
def test_images_that_no_post_uses_are_found() -> None:
    covered, written, unused = (make_ready_image() for _ in range(3))
    make_post(cover_id=covered.pk)
    make_post()
    make_post(body=f"![](image:{written.pk})", image_ids=[written.pk])

    assert list(filter_unused(Image.objects.all())) == [unused]


@pytest.mark.usefixtures("distributed")
def test_relay_orders_events_by_time_and_removes_parents_that_are_subjects() -> None:
    with collect_events() as events:
        first, second = make_author(), make_author()
        OutboxEvent.objects.update(parent_id=F("subject_id"))
        OutboxEvent.objects.filter(subject_id=first.pk).update(timestamp=F("timestamp") + timedelta(seconds=1))

    assert [(event.subject_id, event.parent_id) for event in events] == [(second.pk, None), (first.pk, None)]


@pytest.mark.usefixtures("distributed")
def test_events_wait_while_there_is_no_log() -> None:
    prepare_partitions()
    Log.objects.all().delete()
    make_author()

    assert (move_events(), OutboxEvent.objects.count()) == (0, 1)
    prepare_partitions()
    assert (move_events(), OutboxEvent.objects.count(), Event.objects.count()) == (1, 0, 1)


@pytest.mark.usefixtures("distributed")
def test_changes_are_merged_whose_ids_are_lower_than_one_that_waits() -> None:
    author = make_author(name="A")
    with collect_events() as events:
        author.name = "B"
        author.save(update_fields=["name"])
        OutboxEvent.objects.update(id=10**15)  # of a node from which the shard has moved
        with merge_events(author.pk):
            author.name, author.bio = "C", "Writes."
            author.save(update_fields=["name"])
            author.save(update_fields=["bio"])

    assert [event.changes for event in events] == [["name"], ["bio", "name"]]
