"""A few rows with all kinds of values, and actors with all kinds of permissions."""

from datetime import UTC, datetime
from decimal import Decimal

from blog.models import Author, Comment, Post, WorkingCopy
from contentapi.core.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope
from orders.models import ON_THE_WAY, Order, OrderStatus
from users.models import User

FIRST = 10**12  # far above the ids of sequences
IDA, BO, EMPTY, LAST = FIRST + 1, FIRST + 2, FIRST + 3, 2**63 - 1
AUTHORS = [IDA, BO, EMPTY, LAST]
USERS = {IDA: FIRST + 11, BO: FIRST + 12, LAST: 2**63 - 2}  # of authors
NEWCOMER = FIRST + 13  # a user without a profile
ORDERS = [FIRST + number for number in range(200, 207)]
POSTS = [FIRST + number for number in range(100, 109)] + [LAST]
COAUTHORS = [[], [BO], [LAST, IDA], [IDA], [LAST, EMPTY, BO], [BO], [], [IDA, EMPTY], [EMPTY], []]  # of the posts

MOMENT = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
MOMENTS = [MOMENT, MOMENT, *(MOMENT.replace(microsecond=number) for number in (1, 10, 120_000, 123_456, 999_999))]
LATER = datetime(2100, 1, 1, 0, 0, 0, 500, tzinfo=UTC)

TEXTS = [
    "plain",
    "\"quoted\" and 'quoted'",
    "back\\slash \\u0041 \\n /slash",
    "".join(map(chr, range(1, 32))) + "\x7f\x80\x9f",
    "\u2028 \u2029 \ufeff \ufffe \uffff \U0010ffff",
    "😀 e\u0301 é ß İ \u202e 漢字",
    "100% %s %(name)s %% $1 $2 {} {0} ?",
    "</script> <!-- --> ; DROP TABLE blog_post; --",
    " \t\r\n ",
]


def make_key_actor(role: Role, user_id: int, scopes: frozenset[Scope] = ALL_SCOPES) -> Actor:
    return Actor(user_id, role, scopes, "api-key")


ACTORS: dict[str, Actor] = {
    "anonymous": ANONYMOUS,
    "reader": make_key_actor(Role.READER, USERS[IDA]),
    "author": make_key_actor(Role.AUTHOR, USERS[IDA]),
    "another author": make_key_actor(Role.AUTHOR, USERS[BO]),
    "author without a profile": make_key_actor(Role.AUTHOR, NEWCOMER),
    "author without scopes": make_key_actor(Role.AUTHOR, USERS[IDA], frozenset()),
    "editor": make_key_actor(Role.EDITOR, NEWCOMER),
    "editor who reads posts": make_key_actor(Role.EDITOR, USERS[LAST], frozenset({Scope.POSTS_READ})),
    "editor who reads emails": make_key_actor(Role.EDITOR, USERS[IDA], frozenset({Scope.AUTHORS_READ})),
    "admin": make_key_actor(Role.ADMIN, USERS[BO]),
    "operator": OPERATOR,
}
WRITERS = ["author", "another author", "editor", "operator"]


def fill() -> None:
    """Create authors with and without users, posts and emails, posts in each status with comments, and orders."""
    User.objects.bulk_create(users())
    Author.objects.bulk_create(authors())
    Post.objects.bulk_create(posts())
    WorkingCopy.objects.bulk_create(working_copies())
    Comment.objects.bulk_create(comments())
    Order.objects.bulk_create(orders())


def users() -> list[User]:
    return [
        User(pk=pk, name=f"User {place % 3}", email=f"{pk}@example.invalid", created_at=MOMENTS[-place])
        for place, pk in enumerate([*USERS.values(), NEWCOMER])
    ]


def authors() -> list[Author]:
    addresses = [
        (IDA, "https://example.invalid/a?b=%20&c='d'", "ida@example.invalid"),
        (BO, "", "bo@example.invalid"),
        (EMPTY, "", ""),
        (LAST, "x", ""),
    ]
    return [
        Author(
            pk=pk,
            user_id=USERS.get(pk),
            name=TEXTS[place],
            bio=TEXTS[-place],
            avatar_url=url,
            email=email,
            created_at=MOMENTS[place],
        )
        for place, (pk, url, email) in enumerate(addresses)
    ]


def orders() -> list[Order]:
    """Return orders in each status. One belonged to a user who has been deleted."""
    states = [*OrderStatus, OrderStatus.PENDING, OrderStatus.DELIVERED]
    return [
        Order(
            pk=pk,
            user_id=[USERS[IDA], USERS[BO], USERS[IDA], None][place % 4],
            status=status,
            total=Decimal(["0.01", "99999999.99", "10.50", "7.00"][place % 4]),
            carrier=TEXTS[1] if status in ON_THE_WAY else "",
            tracking_number=TEXTS[2] if status in ON_THE_WAY else "",
            created_at=MOMENTS[place // 2],
            shipped_at=MOMENTS[place] if status in ON_THE_WAY else None,
            delivered_at=LATER if status == OrderStatus.DELIVERED else None,
        )
        for place, (pk, status) in enumerate(zip(ORDERS, states, strict=True))
    ]


def posts() -> list[Post]:
    states = ["published", "draft", "scheduled", "archived", "published"]
    return [
        Post(
            pk=pk,
            title=TEXTS[place % len(TEXTS)],
            body=TEXTS[(place + 4) % len(TEXTS)] * (place % 3),
            status=states[place % 5],
            publish_at=LATER if states[place % 5] == "scheduled" else None,
            published_at=MOMENTS[place * 3 % len(MOMENTS)] if states[place % 5] in ("published", "archived") else None,
            author_id=LAST if pk == LAST else (IDA, BO)[place // 2 % 2],
            coauthor_ids=COAUTHORS[place],
            excerpt=["", None, TEXTS[1]][place % 3],
            description=[None, TEXTS[2], ""][place % 3],
            body_html=TEXTS[place % len(TEXTS)],
            default_excerpt=TEXTS[(place + 1) % len(TEXTS)],
            default_description=TEXTS[(place + 2) % len(TEXTS)],
            rendered_version=[place + 1, place, None][place % 3] if pk != LAST else LAST,
            tags=TEXTS[: place % 4],
            created_at=MOMENTS[place % len(MOMENTS)],
            updated_at=MOMENTS[-place % len(MOMENTS)],
            version=LAST if pk == LAST else place + 1,
        )
        for place, pk in enumerate(POSTS)
    ]


def working_copies() -> list[WorkingCopy]:
    """Return working copies of most posts. One lacks a field; one was saved by a user who has been deleted."""
    savers = [USERS[BO], None, FIRST + 14]
    summaries: list[dict[str, str | None]] = [
        {},
        {"excerpt": None, "description": TEXTS[1]},
        {"excerpt": TEXTS[5], "description": ""},
    ]
    return [
        WorkingCopy(
            post_id=pk,
            content={
                **({} if place == 2 else {"tags": TEXTS[: 3 - place % 4]}),
                "title": TEXTS[-1 - place % len(TEXTS)],
                "body": TEXTS[place % len(TEXTS)],
                "canonical_url": [None, "https://example.invalid/?a='b'"][place % 2],
                **summaries[place % 3],
            },
            base_version=place + 1,
            version=LAST - place,
            publish_at=LATER if place % 3 == 1 else None,
            updated_at=MOMENTS[place % len(MOMENTS)],
            updated_by=savers[place % 3],
        )
        for place, pk in enumerate(POSTS[:7])
    ]


def comments() -> list[Comment]:
    return [
        Comment(
            pk=FIRST + 1000 - place,
            post_id=POSTS[place % 4],
            author_id=AUTHORS[place % 3],
            body=TEXTS[place % len(TEXTS)],
            created_at=MOMENTS[place % 3],
        )
        for place in range(14)
    ]
