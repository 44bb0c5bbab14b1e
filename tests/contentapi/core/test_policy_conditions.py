"""The read forms of the permission rules, as conditions and their SQL: no test here uses the database."""

from dataclasses import replace
from typing import Any

import pytest
from django.db.models import Q, QuerySet

from blog.models import Comment, Image, Post, WorkingCopy
from blog.policy import PUBLIC_POSTS
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Preview, Role, Scope
from contentapi.core.policy import EVERYTHING, NEVER, NOTHING
from contentapi.events.declarations import Use
from tests.contentapi.core import all_policies as policy

READER, AUTHOR, EDITOR, ADMIN = (
    Actor(user_id=7, role=role, scopes=ALL_SCOPES) for role in (Role.READER, Role.AUTHOR, Role.EDITOR, Role.ADMIN)
)
ACTORS = (ANONYMOUS, READER, AUTHOR, EDITOR, ADMIN, OPERATOR)
WITHOUT_USER = Actor(role=Role.AUTHOR, scopes=ALL_SCOPES)
OF_POST_9, OF_SITE = (Preview(1, 9, 2, is_site=is_site, read_texts=str) for is_site in (False, True))

OF_USER = Q(user=7)
ITSELF = Q(pk=7)
IS_PUBLIC = '"blog_post"."status" = (\'published\')'
OWN_AUTHOR = '(SELECT U0."id" AS "pk" FROM "blog_author" U0 WHERE U0."user_id" = 7)'
IS_OWN = f'"blog_post"."author_id" = {OWN_AUTHOR}'
OWN_UNPUBLISHED = f"NOT ({IS_PUBLIC}) AND {IS_OWN}"
IS_COAUTHORED = f'{OWN_AUTHOR} = ANY("blog_post"."coauthor_ids")'
COAUTHORED_UNPUBLISHED = f"NOT ({IS_PUBLIC}) AND {IS_COAUTHORED}"


def omit_scope(actor: Actor, scope: Scope) -> Actor:
    return Actor(user_id=actor.user_id, role=actor.role, scopes=ALL_SCOPES - {scope})


def get_where_clause(condition: Q) -> str:
    """Return the SQL of a condition on posts; it is empty for all posts."""
    return str(Post.objects.filter(condition).values("pk").order_by().query).partition(" WHERE ")[2]


@pytest.mark.parametrize(
    ("rule", "scope", "conditions"),
    [
        ("visible_author_emails", Scope.AUTHORS_READ, [NOTHING, OF_USER, OF_USER, EVERYTHING, EVERYTHING, EVERYTHING]),
        ("visible_orders", Scope.ORDERS_READ, [NOTHING, OF_USER, OF_USER, OF_USER, EVERYTHING, EVERYTHING]),
        ("writable_orders", Scope.ORDERS_WRITE, [NOTHING, OF_USER, OF_USER, OF_USER, EVERYTHING, EVERYTHING]),
        ("visible_users", Scope.USERS_READ, [NOTHING, ITSELF, ITSELF, ITSELF, EVERYTHING, EVERYTHING]),
        ("visible_api_keys", Scope.USERS_WRITE, [NOTHING, OF_USER, OF_USER, OF_USER, EVERYTHING, EVERYTHING]),
        ("editable_images", Scope.IMAGES_WRITE, [NOTHING, NOTHING, Q(owner_id=7), EVERYTHING, EVERYTHING, EVERYTHING]),
        ("editable_authors", Scope.POSTS_WRITE, [NOTHING, NOTHING, OF_USER, EVERYTHING, EVERYTHING, EVERYTHING]),
    ],
)
def test_condition_selects_own_rows_or_all_rows(rule: str, scope: Scope, conditions: list[Q]) -> None:
    visible = getattr(policy, rule)

    assert [visible(actor) for actor in ACTORS] == conditions
    assert [visible(omit_scope(actor, scope)) for actor in ACTORS] == [NOTHING] * len(ACTORS)
    assert visible(WITHOUT_USER) == NOTHING


@pytest.mark.parametrize(
    "actor", [ANONYMOUS, READER, omit_scope(AUTHOR, Scope.POSTS_READ), omit_scope(ADMIN, Scope.POSTS_READ)]
)
def test_caller_without_posts_read_sees_public_posts_only(actor: Actor) -> None:
    assert policy.split_visible_posts(actor) == ([PUBLIC_POSTS], NEVER, None)
    assert policy.visible_posts(actor) == PUBLIC_POSTS


@pytest.mark.parametrize("actor", [EDITOR, ADMIN, OPERATOR])
def test_editors_and_admins_see_all_posts(actor: Actor) -> None:
    assert policy.split_visible_posts(actor) == ([EVERYTHING], NEVER, None)
    assert policy.visible_posts(actor) == EVERYTHING


def test_author_sees_public_posts_and_those_that_they_have_written() -> None:
    visible = policy.split_visible_posts(AUTHOR)

    assert [get_where_clause(part) for part in visible.conditions] == [IS_PUBLIC, f"({OWN_UNPUBLISHED})"]
    assert get_where_clause(visible.coauthored) == f"({COAUTHORED_UNPUBLISHED})"
    assert get_where_clause(Q(author=visible.coauthor)) == IS_OWN
    assert (
        get_where_clause(policy.visible_posts(AUTHOR))
        == f"({IS_PUBLIC} OR ({OWN_UNPUBLISHED}) OR ({COAUTHORED_UNPUBLISHED}))"
    )


@pytest.mark.parametrize("scope", [Scope.IMAGES_WRITE, Scope.POSTS_WRITE])
def test_caller_who_writes_sees_all_images(scope: Scope) -> None:
    assert policy.visible_images(replace(AUTHOR, scopes=frozenset({scope}))) == EVERYTHING


@pytest.mark.parametrize("actor", [ANONYMOUS, READER])
def test_reader_sees_the_images_of_the_posts_that_they_see(actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blog.policy.list_uses", lambda _: ())  # of own types

    seen = str(Image.objects.filter(policy.visible_images(actor)).values("pk").order_by().query)

    condition = seen.partition(' FROM "blog_post" U0 WHERE ')[2]
    used = '(U0."cover_id" = ("blog_image"."id") OR U0."image_ids" @> (ARRAY["blog_image"."id"])::bigint[])'
    assert " WHERE EXISTS(SELECT " in seen
    assert condition == f"(U0.\"status\" = ('published') AND {used}) LIMIT 1)"


def test_reader_sees_the_images_of_the_rows_of_own_types_that_they_see(monkeypatch: pytest.MonkeyPatch) -> None:
    def select(pk: Any) -> QuerySet[Comment]:
        return Comment.objects.filter(author=pk)

    def match(actor: Actor) -> Q:
        return Q(post=17 if actor == READER else 0)

    uses = {"Image": [Use("Image", ("row", "rows"), select, select, match)]}
    monkeypatch.setattr("blog.policy.list_uses", uses.__getitem__)

    seen = str(Image.objects.filter(policy.visible_images(READER)).values("pk").order_by().query)

    used = 'EXISTS(SELECT 1 AS "a" FROM "blog_comment" U0 WHERE (U0."author_id" = ("blog_image"."id") AND'
    assert "WHERE (EXISTS(SELECT 1 " in seen
    assert seen.partition(" OR ")[2].partition(" OR ")[2].startswith(f'{used} U0."post_id" = 17)')


def test_posts_and_comments_of_an_author_are_found_by_the_author_profile() -> None:
    commented = str(Comment.objects.filter(policy.moderated_comments(AUTHOR)).values("pk").order_by().query)

    assert get_where_clause(policy.editable_posts(AUTHOR)) == IS_OWN
    assert commented.partition(" WHERE ")[2] == IS_OWN


@pytest.mark.parametrize(
    ("rule", "scope"), [("editable_posts", Scope.POSTS_WRITE), ("moderated_comments", Scope.COMMENTS_MODERATE)]
)
def test_editors_and_admins_write_and_moderate_everything(rule: str, scope: Scope) -> None:
    select = getattr(policy, rule)

    assert [select(actor) for actor in (EDITOR, ADMIN, OPERATOR)] == [EVERYTHING] * 3
    assert [select(actor) for actor in (ANONYMOUS, READER, omit_scope(AUTHOR, scope))] == [NOTHING] * 3


def test_known_comments_are_the_visible_and_the_moderated_ones() -> None:
    assert policy.known_comments(EDITOR) == EVERYTHING
    found = [str(Comment.objects.filter(policy.known_comments(actor)).query) for actor in (READER, AUTHOR)]
    is_visible = '"blog_comment"."state" = (\'visible\')'
    assert [sql.partition(" WHERE ")[2].partition(" ORDER BY ")[0] for sql in found] == [
        is_visible,
        f"({is_visible} OR {IS_OWN})",
    ]


@pytest.mark.parametrize("actor", ACTORS)
def test_everybody_sees_public_posts_and_visible_comments(actor: Actor) -> None:
    assert policy.may_see_post(actor, [None], "published")
    assert policy.may_see_comment(actor, "visible", None)


def test_deleted_posts_of_a_role_are_those_whose_history_it_may_see() -> None:
    assert get_where_clause(policy.visible_deleted_posts(AUTHOR)) == IS_OWN
    assert [policy.visible_deleted_posts(actor) for actor in (EDITOR, ADMIN, OPERATOR)] == [EVERYTHING] * 3
    assert [policy.visible_deleted_posts(actor) for actor in (ANONYMOUS, READER)] == [NOTHING] * 2


def test_working_copies_of_a_role_are_those_of_the_posts_that_it_may_change() -> None:
    found = str(WorkingCopy.objects.filter(policy.visible_working_copies(AUTHOR)).values("pk").query)

    assert found.partition(" WHERE ")[2] == IS_OWN
    assert [policy.visible_working_copies(actor) for actor in (EDITOR, ADMIN, OPERATOR)] == [EVERYTHING] * 3
    assert [policy.visible_working_copies(actor) for actor in (ANONYMOUS, READER, WITHOUT_USER)] == [NEVER] * 3


@pytest.mark.parametrize("scope", [Scope.POSTS_READ, Scope.POSTS_WRITE])
@pytest.mark.parametrize("actor", [AUTHOR, EDITOR])
def test_working_copies_need_the_scopes_to_read_and_to_write(actor: Actor, scope: Scope) -> None:
    assert policy.visible_working_copies(omit_scope(actor, scope)) == NEVER


def test_preview_link_opens_its_post_to_those_who_do_not_see_all_posts() -> None:
    assert policy.readable_posts(replace(ANONYMOUS, preview=OF_POST_9)) == PUBLIC_POSTS | Q(pk=9)
    assert policy.readable_posts(replace(EDITOR, preview=OF_POST_9)) == EVERYTHING
    assert policy.readable_posts(replace(ANONYMOUS, preview=OF_SITE)) == PUBLIC_POSTS
    assert policy.readable_posts(ANONYMOUS) == PUBLIC_POSTS


def test_preview_links_are_for_those_who_may_read_and_change_the_post() -> None:
    assert [policy.visible_preview_links(actor) for actor in (ANONYMOUS, READER, EDITOR)] == [NEVER, NEVER, EVERYTHING]
    assert get_where_clause(policy.previewable_posts(AUTHOR)) == IS_OWN
    assert [policy.previewable_posts(actor) for actor in (ANONYMOUS, READER, EDITOR)] == [NOTHING, NOTHING, EVERYTHING]
    for scope in (Scope.POSTS_READ, Scope.POSTS_WRITE):
        assert policy.previewable_posts(omit_scope(EDITOR, scope)) == NOTHING


@pytest.mark.parametrize("scope", [Scope.POSTS_READ, Scope.POSTS_WRITE])
@pytest.mark.parametrize("actor", [AUTHOR, EDITOR])
def test_deleted_posts_need_the_scopes_to_read_and_to_write(actor: Actor, scope: Scope) -> None:
    assert policy.visible_deleted_posts(omit_scope(actor, scope)) == NOTHING


def test_imports_of_an_editor_are_their_own_and_an_admin_sees_all() -> None:
    assert policy.visible_imports(EDITOR) == Q(owner=EDITOR.user_id)
    assert [policy.visible_imports(actor) for actor in (ADMIN, OPERATOR)] == [EVERYTHING] * 2
    assert [policy.visible_imports(actor) for actor in (ANONYMOUS, READER, AUTHOR)] == [NOTHING] * 3


@pytest.mark.parametrize("scope", [Scope.POSTS_WRITE, Scope.POSTS_PUBLISH])
@pytest.mark.parametrize("actor", [EDITOR, ADMIN])
def test_imports_need_the_scopes_to_write_and_to_publish(actor: Actor, scope: Scope) -> None:
    assert policy.visible_imports(omit_scope(actor, scope)) == NOTHING


@pytest.mark.parametrize("actor", ACTORS)
def test_all_published_posts_are_visible(actor: Actor) -> None:
    assert policy.split_visible_posts(actor, "published").condition == EVERYTHING


@pytest.mark.parametrize("status", ["draft", "scheduled", "archived"])
def test_hidden_status_is_narrowed_to_the_posts_that_the_role_sees(status: str) -> None:
    assert get_where_clause(policy.split_visible_posts(AUTHOR, status).condition) == f"({IS_OWN} OR {IS_COAUTHORED})"
    assert [policy.split_visible_posts(actor, status).condition for actor in (ANONYMOUS, READER)] == [NEVER, NEVER]
    assert [policy.split_visible_posts(actor, status).condition for actor in (EDITOR, ADMIN, OPERATOR)] == [
        EVERYTHING
    ] * 3
    assert policy.split_visible_posts(WITHOUT_USER, status).condition == NEVER


@pytest.mark.parametrize(
    ("old", "new"), [("published", "draft"), ("scheduled", "draft"), ("draft", "published"), ("draft", "scheduled")]
)
def test_transition_to_or_from_a_public_status_needs_posts_publish(old: str, new: str) -> None:
    publisher = Actor(user_id=7, role=Role.AUTHOR, scopes={Scope.POSTS_PUBLISH})
    writer = omit_scope(AUTHOR, Scope.POSTS_PUBLISH)

    assert policy.may_transition_posts(publisher, old, new)
    assert policy.may_transition_posts_of(publisher, 7, old, new)
    assert not policy.may_transition_posts(writer, old, new)
    assert not policy.may_transition_posts_of(writer, 7, old, new)
