"""The permission table of the decisions (section 4), as far as it exists: actors by rules."""

import pytest
from django.contrib.auth import get_user_model

from blog.models import Author, Post, PostStatus
from contentapi import policy
from contentapi.errors import Forbidden, Unauthenticated
from contentapi.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, ROLE_SCOPES, Actor, Role, Scope
from tests.factories import make_author, make_post

OWN, OTHER = 1, 2
EVERYTHING = {(status, whose) for status in PostStatus.values for whose in ("own", "other")}
PUBLIC = {("published", "own"), ("published", "other")}
ASKERS = ("anonymous", "reader", "author", "editor", "admin", "operator")


def actor(name: str, *, scopes: frozenset[Scope] = ALL_SCOPES, author_id: int | None = OWN) -> Actor:
    """Return an actor with user 1 and author profile 1."""
    if name == "anonymous":
        return ANONYMOUS
    if name == "operator":
        return OPERATOR
    return Actor(user_id=OWN, role=Role(name), scopes=scopes, author_id=author_id, credential="api-key")


# Each act: the rule with what it is asked about, the scope it takes, and its answers in the order of ASKERS.
MATRIX: dict[str, tuple[str, tuple[object, ...], Scope, str]] = {
    "write posts": ("may_write_posts", (), Scope.POSTS_WRITE, "--yyyy"),
    "write own posts": ("may_write_posts_of", (OWN,), Scope.POSTS_WRITE, "--yyyy"),
    "write others' posts": ("may_write_posts_of", (OTHER,), Scope.POSTS_WRITE, "---yyy"),
    "import posts": ("may_import_posts", (), Scope.POSTS_WRITE, "---yyy"),
    "publish a draft": ("may_move_posts", ("draft", "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "schedule a draft": ("may_move_posts", ("draft", "scheduled"), Scope.POSTS_PUBLISH, "--yyyy"),
    "publish what is scheduled": ("may_move_posts", ("scheduled", "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "unpublish": ("may_move_posts", ("published", "draft"), Scope.POSTS_PUBLISH, "--yyyy"),
    "unschedule": ("may_move_posts", ("scheduled", "draft"), Scope.POSTS_PUBLISH, "--yyyy"),
    "archive what is published": ("may_move_posts", ("published", "archived"), Scope.POSTS_PUBLISH, "--yyyy"),
    "archive a draft": ("may_move_posts", ("draft", "archived"), Scope.POSTS_WRITE, "--yyyy"),
    "take out of the archive": ("may_move_posts", ("archived", "draft"), Scope.POSTS_WRITE, "--yyyy"),
    "publish own drafts": ("may_move_posts_of", (OWN, "draft", "published"), Scope.POSTS_PUBLISH, "--yyyy"),
    "publish others' drafts": ("may_move_posts_of", (OTHER, "draft", "published"), Scope.POSTS_PUBLISH, "---yyy"),
    "archive others' drafts": ("may_move_posts_of", (OTHER, "draft", "archived"), Scope.POSTS_WRITE, "---yyy"),
    "comment": ("may_comment", (), Scope.COMMENTS_WRITE, "-yyyyy"),
    "create users": ("may_create_users", (), Scope.USERS_WRITE, "----yy"),
    "create own orders": ("may_create_order_for", (OWN,), Scope.ORDERS_WRITE, "-yyyyy"),
    "create others' orders": ("may_create_order_for", (OTHER,), Scope.ORDERS_WRITE, "----yy"),
}
CELLS = [
    (asker, act, answer == "y")
    for act, (*_, answers) in MATRIX.items()
    for asker, answer in zip(ASKERS, answers, strict=True)
]
ALLOWED = [(asker, act) for asker, act, allowed in CELLS if allowed and asker != "operator"]


def may(who: Actor, act: str) -> bool:
    rule, about, *_ = MATRIX[act]
    answer: bool = getattr(policy, rule)(who, *about)
    return answer


def test_every_rule_is_in_the_matrix() -> None:
    rules = {name for name in vars(policy) if name.startswith("may_")}

    assert rules == {rule for rule, *_ in MATRIX.values()} | {"may_change_posts"}


@pytest.mark.parametrize("scope", [Scope.POSTS_WRITE, Scope.POSTS_PUBLISH])
def test_either_scope_of_posts_is_enough_to_change_them_in_some_way(scope: Scope) -> None:
    allowed = {asker: policy.may_change_posts(actor(asker, scopes=frozenset({scope}))) for asker in ASKERS[:-1]}

    assert allowed == {"anonymous": False, "reader": False, "author": True, "editor": True, "admin": True}


@pytest.mark.parametrize(("asker", "act", "allowed"), CELLS)
def test_a_rule_answers_as_the_table_says(*, asker: str, act: str, allowed: bool) -> None:
    assert may(actor(asker), act) is allowed


@pytest.mark.parametrize(("asker", "act"), ALLOWED)
def test_what_the_role_allows_takes_the_credentials_scope(asker: str, act: str) -> None:
    scope = MATRIX[act][2]

    without, alone = actor(asker, scopes=ALL_SCOPES - {scope}), actor(asker, scopes=frozenset({scope}))

    assert (may(without, act), may(alone, act)) == (False, True)


def test_an_author_without_a_profile_writes_for_the_one_that_is_to_come_only() -> None:
    newcomer = actor("author", author_id=None)

    assert policy.may_write_posts_of(newcomer, None)
    assert not policy.may_write_posts_of(newcomer, OTHER)


def visible(who: Actor, own: Author) -> set[tuple[str, str]]:
    posts = Post.objects.filter(policy.visible_posts(who))
    return {(post.status, "own" if post.author_id == own.pk else "other") for post in posts}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asker", "scopes", "seen"),
    [
        ("anonymous", frozenset(), PUBLIC),
        ("reader", ALL_SCOPES, PUBLIC),
        ("author", ALL_SCOPES, {(status, "own") for status in PostStatus.values} | PUBLIC),
        ("author", ALL_SCOPES - {Scope.POSTS_READ}, PUBLIC),
        ("editor", ALL_SCOPES, EVERYTHING),
        ("editor", ALL_SCOPES - {Scope.POSTS_READ}, PUBLIC),
        ("admin", ALL_SCOPES, EVERYTHING),
        ("admin", frozenset(), PUBLIC),
        ("operator", ALL_SCOPES, EVERYTHING),
    ],
)
def test_an_actor_sees_the_posts_that_the_table_says(
    asker: str, scopes: frozenset[Scope], seen: set[tuple[str, str]]
) -> None:
    own, other = make_author(), make_author()
    for author in (own, other):
        for status in PostStatus.values:
            make_post(author=author, status=status, publish_at="2999-01-01T00:00Z" if status == "scheduled" else None)

    who = actor(asker, scopes=scopes, author_id=own.pk)

    assert visible(who, own) == seen


@pytest.mark.django_db
def test_an_author_without_a_profile_sees_published_posts() -> None:
    author = make_author()
    make_post(author=author, status="draft")
    make_post(author=author, status="published")

    who = actor("author", author_id=None)

    assert visible(who, author) == {("published", "own")}


# Whose emails the asker sees who has the scope.
EMAILS: dict[str, set[str]] = {
    "anonymous": set(),
    "reader": {"own"},
    "author": {"own"},
    "editor": {"own", "other"},
    "admin": {"own", "other"},
    "operator": {"own", "other"},
}


def shown_emails(who: Actor) -> set[str]:
    """Return which of the emails of two authors are shown, the first of them the asker's own."""
    make_author(pk=OWN, name="own")
    make_author(pk=OTHER, name="other")
    return {author.name for author in Author.objects.filter(policy.visible_author_emails(who))}


@pytest.mark.django_db
@pytest.mark.parametrize("scopes", [ALL_SCOPES, frozenset({Scope.AUTHORS_READ})], ids=["all", "one"])
@pytest.mark.parametrize("asker", ASKERS)
def test_an_actor_sees_the_emails_that_the_table_says(asker: str, scopes: frozenset[Scope]) -> None:
    assert shown_emails(actor(asker, scopes=scopes)) == EMAILS[asker]


@pytest.mark.django_db
@pytest.mark.parametrize("asker", ["reader", "author", "editor", "admin"])
def test_no_email_is_seen_without_the_scope(asker: str) -> None:
    assert shown_emails(actor(asker, scopes=ALL_SCOPES - {Scope.AUTHORS_READ})) == set()


@pytest.mark.django_db
@pytest.mark.parametrize("asker", ["reader", "author"])
def test_without_a_profile_no_email_is_seen(asker: str) -> None:
    assert shown_emails(actor(asker, author_id=None)) == set()


def test_permit_lets_what_is_allowed_go_on() -> None:
    policy.permit(ANONYMOUS, True, "read")


def test_permit_asks_the_anonymous_for_a_credential() -> None:
    with pytest.raises(Unauthenticated) as raised:
        policy.permit(ANONYMOUS, False, "write posts")

    assert raised.value.message == "A credential is needed to write posts."


@pytest.mark.parametrize("asker", ["reader", "author", "editor", "admin", "operator"])
def test_permit_forbids_everybody_else(asker: str) -> None:
    with pytest.raises(Forbidden) as raised:
        policy.permit(actor(asker), False, "write posts")

    assert raised.value.message == "You may not write posts."


def test_every_role_of_a_user_has_scopes() -> None:
    roles = [value for value, _ in get_user_model()._meta.get_field("role").choices or []]

    assert roles == list(ROLE_SCOPES)
