"""The result of each permission rule, compared with a table. Actions: test_permission_table.py."""

from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model

from contentapi.core.errors import Forbidden, Unauthenticated
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, ROLE_SCOPES, Actor, Preview, Role, Scope
from tests.contentapi.core import all_policies as policy
from tests.contentapi.core.policy_actors import ACTORS, NOBODYS, OTHER, OWN, actor

READ_AND_WRITE = frozenset({Scope.POSTS_READ, Scope.POSTS_WRITE})

# Each action: the rule and its arguments, the scope or scopes that it needs, and its results in the order of ACTORS.
MATRIX: dict[str, tuple[str, tuple[object, ...], Scope | frozenset[Scope], str]] = {
    "write posts": ("may_write_posts", (), Scope.POSTS_WRITE, "--yyyy"),
    "write own posts": ("may_write_posts_of", (OWN,), Scope.POSTS_WRITE, "--yyyy"),
    "write others' posts": ("may_write_posts_of", (OTHER,), Scope.POSTS_WRITE, "---yyy"),
    "write nobody's posts": ("may_write_posts_of", (NOBODYS,), Scope.POSTS_WRITE, "---yyy"),
    "see the history of own posts": ("may_see_history_of", (OWN,), READ_AND_WRITE, "--yyyy"),
    "see the history of others' posts": ("may_see_history_of", (OTHER,), READ_AND_WRITE, "---yyy"),
    "see the history of nobody's posts": ("may_see_history_of", (NOBODYS,), READ_AND_WRITE, "---yyy"),
    "publish changes of own posts": ("may_publish_working_copy_of", (OWN, "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "publish changes of others": ("may_publish_working_copy_of", (OTHER, "published"), Scope.POSTS_PUBLISH, "---yyy"),
    "publish changes of nobody": ("may_publish_working_copy_of", (NOBODYS, "published"), Scope.POSTS_PUBLISH, "---yyy"),
    "publish changes of own drafts": ("may_publish_working_copy_of", (OWN, "draft"), Scope.POSTS_WRITE, "--yyyy"),
    "publish changes of others' drafts": ("may_publish_working_copy_of", (OTHER, "draft"), Scope.POSTS_WRITE, "---yyy"),
    "preview the site": ("may_preview_site", (), READ_AND_WRITE, "---yyy"),
    "list deleted posts": ("may_list_deleted_posts", (), READ_AND_WRITE, "--yyyy"),
    "purge the history": ("may_purge_history", (), Scope.POSTS_WRITE, "---yyy"),
    "manage posts and authors": ("may_manage_posts_and_authors", (), Scope.POSTS_WRITE, "---yyy"),
    "import posts": ("may_import_posts", (), frozenset({Scope.POSTS_WRITE, Scope.POSTS_PUBLISH}), "---yyy"),
    "publish what is due": ("may_manage_publication", (), Scope.POSTS_PUBLISH, "---yyy"),
    "see own drafts": ("may_see_post", ((OWN,), "draft"), Scope.POSTS_READ, "--yyyy"),
    "see others' drafts": ("may_see_post", ((OTHER,), "draft"), Scope.POSTS_READ, "---yyy"),
    "see nobody's drafts": ("may_see_post", ((NOBODYS,), "draft"), Scope.POSTS_READ, "---yyy"),
    "see co-authored drafts": ("may_see_post", ((OTHER, NOBODYS, OWN), "draft"), Scope.POSTS_READ, "--yyyy"),
    "publish a draft": ("may_transition_posts", ("draft", "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "schedule a draft": ("may_transition_posts", ("draft", "scheduled"), Scope.POSTS_PUBLISH, "--yyyy"),
    "publish what is scheduled": ("may_transition_posts", ("scheduled", "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "unpublish": ("may_transition_posts", ("published", "draft"), Scope.POSTS_PUBLISH, "--yyyy"),
    "unschedule": ("may_transition_posts", ("scheduled", "draft"), Scope.POSTS_PUBLISH, "--yyyy"),
    "archive what is published": ("may_transition_posts", ("published", "archived"), Scope.POSTS_PUBLISH, "--yyyy"),
    "archive a draft": ("may_transition_posts", ("draft", "archived"), Scope.POSTS_WRITE, "--yyyy"),
    "take out of the archive": ("may_transition_posts", ("archived", "draft"), Scope.POSTS_WRITE, "--yyyy"),
    "publish own drafts": ("may_transition_posts_of", (OWN, "draft", "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "publish others' drafts": ("may_transition_posts_of", (OTHER, "draft", "published"), Scope.POSTS_PUBLISH, "---yyy"),
    "archive others' drafts": ("may_transition_posts_of", (OTHER, "draft", "archived"), Scope.POSTS_WRITE, "---yyy"),
    "publish nobody's drafts": (
        "may_transition_posts_of",
        (NOBODYS, "draft", "published"),
        Scope.POSTS_PUBLISH,
        "---yyy",
    ),
    "upload images": ("may_upload_images", (), Scope.IMAGES_WRITE, "--yyyy"),
    "list all images": ("may_list_images", (), Scope.IMAGES_WRITE, "--yyyy"),
    "change own images": ("may_change_images_of", (OWN,), Scope.IMAGES_WRITE, "--yyyy"),
    "change images of others": ("may_change_images_of", (OTHER,), Scope.IMAGES_WRITE, "---yyy"),
    "change images of nobody": ("may_change_images_of", (NOBODYS,), Scope.IMAGES_WRITE, "---yyy"),
    "purge images": ("may_purge_images", (), Scope.IMAGES_WRITE, "---yyy"),
    "comment": ("may_comment", (), Scope.COMMENTS_WRITE, "-yyyyy"),
    "delete own comments": ("may_delete_comment_of", (OWN, OTHER), Scope.COMMENTS_WRITE, "-yyyyy"),
    "delete others' comments": ("may_delete_comment_of", (OTHER, OTHER), Scope.COMMENTS_MODERATE, "---yyy"),
    "delete others' comments on own posts": ("may_delete_comment_of", (OTHER, OWN), Scope.COMMENTS_MODERATE, "--yyyy"),
    "delete nobody's comments": ("may_delete_comment_of", (NOBODYS, NOBODYS), Scope.COMMENTS_MODERATE, "---yyy"),
    "manage all comments": ("may_manage_comments", (), Scope.COMMENTS_MODERATE, "---yyy"),
    "see hidden comments on own posts": ("may_see_comment", ("hidden", OWN), Scope.COMMENTS_MODERATE, "--yyyy"),
    "see hidden comments on others' posts": ("may_see_comment", ("hidden", OTHER), Scope.COMMENTS_MODERATE, "---yyy"),
    "see deleted comments on nobody's posts": (
        "may_see_comment",
        ("deleted", NOBODYS),
        Scope.COMMENTS_MODERATE,
        "---yyy",
    ),
    "moderate comments on own posts": ("may_moderate_comments_on", (OWN,), Scope.COMMENTS_MODERATE, "--yyyy"),
    "moderate comments on others' posts": ("may_moderate_comments_on", (OTHER,), Scope.COMMENTS_MODERATE, "---yyy"),
    "moderate comments on nobody's posts": (
        "may_moderate_comments_on",
        (NOBODYS,),
        Scope.COMMENTS_MODERATE,
        "---yyy",
    ),
    "moderate comments": ("may_moderate_comments", (), Scope.COMMENTS_MODERATE, "--yyyy"),
    "change own profile": ("may_edit_author", (OWN,), Scope.POSTS_WRITE, "--yyyy"),
    "change others' profiles": ("may_edit_author", (OTHER,), Scope.POSTS_WRITE, "---yyy"),
    "change nobody's profile": ("may_edit_author", (NOBODYS,), Scope.POSTS_WRITE, "---yyy"),
    "see own email": ("may_see_author_email", (OWN,), Scope.AUTHORS_READ, "-yyyyy"),
    "see others' emails": ("may_see_author_email", (OTHER,), Scope.AUTHORS_READ, "---yyy"),
    "see nobody's emails": ("may_see_author_email", (NOBODYS,), Scope.AUTHORS_READ, "---yyy"),
    "see own orders": ("may_see_order", (OWN,), Scope.ORDERS_READ, "-yyyyy"),
    "see others' orders": ("may_see_order", (OTHER,), Scope.ORDERS_READ, "----yy"),
    "see nobody's orders": ("may_see_order", (NOBODYS,), Scope.ORDERS_READ, "----yy"),
    "list everybody's orders": ("may_list_all_orders", (), Scope.ORDERS_READ, "----yy"),
    "read orders": ("may_read_orders", (), Scope.ORDERS_READ, "-yyyyy"),
    "write orders": ("may_write_orders", (), Scope.ORDERS_WRITE, "-yyyyy"),
    "write own orders": ("may_write_orders_of", (OWN,), Scope.ORDERS_WRITE, "-yyyyy"),
    "write others' orders": ("may_write_orders_of", (OTHER,), Scope.ORDERS_WRITE, "----yy"),
    "write nobody's orders": ("may_write_orders_of", (NOBODYS,), Scope.ORDERS_WRITE, "----yy"),
    "ship orders": ("may_ship_orders", (), Scope.ORDERS_WRITE, "----yy"),
    "see oneself": ("may_see_user", (OWN,), Scope.USERS_READ, "-yyyyy"),
    "see other users": ("may_see_user", (OTHER,), Scope.USERS_READ, "----yy"),
    "read users": ("may_read_users", (), Scope.USERS_READ, "-yyyyy"),
    "write users": ("may_write_users", (), Scope.USERS_WRITE, "-yyyyy"),
    "manage users": ("may_manage_users", (), Scope.USERS_WRITE, "----yy"),
    "delete oneself": ("may_delete_user", (OWN,), Scope.USERS_WRITE, "-yyyyy"),
    "delete other users": ("may_delete_user", (OTHER,), Scope.USERS_WRITE, "----yy"),
    "leave no admin": ("may_leave_no_admin", (), Scope.USERS_WRITE, "-----y"),
    "manage own keys": ("may_manage_keys_of", (OWN,), Scope.USERS_WRITE, "-yyyyy"),
    "manage others' keys": ("may_manage_keys_of", (OTHER,), Scope.USERS_WRITE, "----yy"),
    "manage everybody's keys": ("may_manage_all_keys", (), Scope.USERS_WRITE, "----yy"),
    "grant a scope": ("may_grant_scope", (Scope.POSTS_READ,), Scope.POSTS_READ, "--yyyy"),
    "manage clients": ("may_manage_clients", (), Scope.USERS_WRITE, "----yy"),
    "manage webhooks": ("may_manage_webhooks", (), Scope.WEBHOOKS_MANAGE, "----yy"),
    "name the maker of a webhook": ("may_name_maker", (), Scope.WEBHOOKS_MANAGE, "-----y"),
}
CELLS = [
    (name, action, result == "y")
    for action, (*_, results) in MATRIX.items()
    for name, result in zip(ACTORS, results, strict=True)
]
ALLOWED = [(name, action) for name, action, allowed in CELLS if allowed and name != "operator"]


def may(who: Actor, action: str) -> bool:
    rule, arguments, *_ = MATRIX[action]
    allowed: bool = getattr(policy, rule)(who, *arguments)
    return allowed


def test_every_rule_is_in_the_matrix() -> None:
    rules = {name for name in vars(policy) if name.startswith("may_") and not name.startswith("may_use_admin")}

    assert rules == {rule for rule, *_ in MATRIX.values()}


def test_each_rule_equals_the_table() -> None:
    assert [cell for cell in CELLS if may(actor(cell[0]), cell[1]) is not cell[2]] == []


def test_action_that_the_role_allows_needs_the_scope_too() -> None:
    for name, action in ALLOWED:
        scope = MATRIX[action][2]
        needed = scope if isinstance(scope, frozenset) else frozenset({scope})

        without = [may(actor(name, scopes=ALL_SCOPES - {each}), action) for each in needed]

        assert not any(without), (name, action)
        assert may(actor(name, scopes=needed), action), (name, action)


def test_credential_without_a_user_owns_nothing() -> None:
    nobody = Actor(role=Role.AUTHOR, scopes=ALL_SCOPES)

    assert [
        action for action, (_, arguments, *_) in MATRIX.items() if NOBODYS in arguments and may(nobody, action)
    ] == []


@pytest.mark.parametrize("scopes", [ALL_SCOPES - {Scope.COMMENTS_MODERATE}, frozenset({Scope.COMMENTS_MODERATE})])
def test_moderating_comments_and_deleting_ones_own_need_two_scopes(scopes: frozenset[Scope]) -> None:
    editor = actor("editor", scopes=scopes)

    moderates = Scope.COMMENTS_MODERATE in scopes
    assert policy.may_delete_comment_of(editor, OTHER, OTHER) is moderates
    assert policy.may_delete_comment_of(editor, OWN, OTHER) is not moderates


def test_permit_passes_an_allowed_action() -> None:
    policy.require_permission(ANONYMOUS, True, "read")


def test_permit_requires_a_credential_of_an_anonymous_caller() -> None:
    with pytest.raises(Unauthenticated) as raised:
        policy.require_permission(ANONYMOUS, False, "write posts")

    assert raised.value.message == "A credential is needed to write posts."


@pytest.mark.parametrize("name", ["reader", "author", "editor", "admin", "operator"])
def test_permit_forbids_every_other_caller(name: str) -> None:
    with pytest.raises(Forbidden) as raised:
        policy.require_permission(actor(name), False, "write posts")

    assert raised.value.message == "You may not write posts."


def test_caller_with_a_preview_token_only_reads() -> None:
    policy.require_no_preview(actor("admin"))
    with pytest.raises(Forbidden) as raised:
        policy.require_no_preview(replace(actor("admin"), preview=Preview(1, 9, 2, is_site=False, read_texts=str)))

    assert raised.value.message == "A preview token only reads: send writes without Preview-Token."


def test_every_role_of_a_user_has_scopes() -> None:
    roles = [value for value, _ in get_user_model()._meta.get_field("role").choices or []]

    assert roles == list(ROLE_SCOPES)


@pytest.mark.parametrize("role", Role)
def test_admin_site_is_for_authors_editors_and_admins(role: Role) -> None:
    assert policy.may_use_admin_site(role) is (role in (Role.AUTHOR, Role.EDITOR, Role.ADMIN))


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("app_label", ["blog", "orders", "users", "oauth2_provider"])
def test_authors_and_editors_use_the_blog_and_admins_every_app(role: Role, app_label: str) -> None:
    allowed = role == Role.ADMIN or (role in (Role.AUTHOR, Role.EDITOR) and app_label == "blog")

    assert policy.may_use_admin_app(role, app_label) is allowed
