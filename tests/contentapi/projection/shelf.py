"""A few rows with everything in them that an answer can hold, and whoever may ask for them."""

from datetime import UTC, datetime

from blog.models import Author, Comment, Post
from contentapi.identity import ALL_SCOPES, ANONYMOUS, OPERATOR, Actor, Role, Scope

FIRST = 10**12  # far from the ids that sequences give
IDA, BO, EMPTY, LAST = FIRST + 1, FIRST + 2, FIRST + 3, 2**63 - 1
AUTHORS = [IDA, BO, EMPTY, LAST]
POSTS = [FIRST + number for number in range(100, 109)] + [LAST]

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

ASKERS: dict[str, Actor] = {
    "anonymous": ANONYMOUS,
    "reader": Actor(1, Role.READER, ALL_SCOPES, IDA, "api-key"),
    "author": Actor(1, Role.AUTHOR, ALL_SCOPES, IDA, "api-key"),
    "another author": Actor(2, Role.AUTHOR, ALL_SCOPES, BO, "api-key"),
    "author without a profile": Actor(1, Role.AUTHOR, ALL_SCOPES, None, "api-key"),
    "author without scopes": Actor(1, Role.AUTHOR, frozenset(), IDA, "api-key"),
    "editor": Actor(1, Role.EDITOR, ALL_SCOPES, None, "api-key"),
    "editor who reads posts": Actor(1, Role.EDITOR, frozenset({Scope.POSTS_READ}), LAST, "api-key"),
    "editor who reads emails": Actor(1, Role.EDITOR, frozenset({Scope.AUTHORS_READ}), IDA, "api-key"),
    "operator": OPERATOR,
}
WRITERS = ["author", "another author", "editor", "operator"]


def fill() -> None:
    """Write the rows: authors with and without posts and emails, posts in every state, comments on some of them."""
    Author.objects.bulk_create(
        Author(pk=pk, name=TEXTS[place], bio=TEXTS[-place], avatar_url=url, email=email)
        for place, (pk, url, email) in enumerate(
            [
                (IDA, "https://example.invalid/a?b=%20&c='d'", "ida@example.invalid"),
                (BO, "", "bo@example.invalid"),
                (EMPTY, "", ""),
                (LAST, "x", ""),
            ]
        )
    )
    states = ["published", "draft", "scheduled", "archived", "published"]
    Post.objects.bulk_create(
        Post(
            pk=pk,
            title=TEXTS[place % len(TEXTS)],
            body=TEXTS[(place + 4) % len(TEXTS)] * (place % 3),
            status=states[place % 5],
            publish_at=LATER if states[place % 5] == "scheduled" else None,
            author_id=LAST if pk == LAST else (IDA, BO)[place // 2 % 2],
            tags=TEXTS[: place % 4],
            created_at=MOMENTS[place % len(MOMENTS)],
            updated_at=MOMENTS[-place % len(MOMENTS)],
            version=LAST if pk == LAST else place + 1,
        )
        for place, pk in enumerate(POSTS)
    )
    Comment.objects.bulk_create(
        Comment(
            pk=FIRST + 1000 - place,
            post_id=POSTS[place % 4],
            author_id=AUTHORS[place % 3],
            body=TEXTS[place % len(TEXTS)],
            created_at=MOMENTS[place % 3],
        )
        for place in range(14)
    )
