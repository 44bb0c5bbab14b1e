"""The rows that every server has: 200 authors, 20,000 posts, 100,000 comments; the same in every run.

The time of a comment increases with its id, so that the peers' order by id equals our order by time. Every fifth post
is a draft, so that requests can select published ones.
"""

import random
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

AUTHORS, POSTS, COMMENTS = 200, 20_000, 100_000
WORDS = (
    "schema query field type resolver author post comment draft editor index table column cursor batch server "
    "client request answer page note list content review issue garden river winter coffee bridge signal letter "
    "market window simple quiet bright early common public stable narrow write read store fetch build check plan "
    "move keep find name order of the a to in with for on and that from by over under between after café naïve "
    "“quoted” résumé"
).split()
TAGS = (
    "python django graphql postgres api howto news release testing design performance tooling opinion guide career"
).split()
FIRST = "Ada Ben Chloe Dev Elif Femi Grace Hugo Ines Jun Kofi Lena Mara Nils Oya Pia".split()
LAST = "Abe Brandt Costa Diaz Eriksen Farah Gupta Haas Ito Jansen Kaya Lopez Meyer Novak".split()
EPOCH = datetime(2023, 1, 1, tzinfo=UTC)
DAY = 86_400


class Author(NamedTuple):
    id: int
    name: str
    bio: str
    avatar_url: str
    email: str


class Post(NamedTuple):
    id: int
    title: str
    body: str
    status: str
    author_id: int
    created_at: datetime
    updated_at: datetime
    tags: list[str]


class Comment(NamedTuple):
    id: int
    body: str
    author_id: int
    post_id: int
    created_at: datetime


class Dataset(NamedTuple):
    authors: list[Author]
    posts: list[Post]
    comments: list[Comment]


def is_published(post_id: int) -> bool:
    return post_id % 5 != 0


@cache
def generate() -> Dataset:
    rng = random.Random(42)
    authors = [make_author(rng, number) for number in range(1, AUTHORS + 1)]
    posts = [make_post(rng, number) for number in range(1, POSTS + 1)]
    commented = [rng.choice(posts) for _ in range(COMMENTS)]
    times = sorted((later(rng, post.created_at, 60 * DAY), post.id) for post in commented)
    comments = [
        Comment(number, text(rng, rng.randint(90, 150)), rng.randint(1, AUTHORS), post_id, moment)
        for number, (moment, post_id) in enumerate(times, 1)
    ]
    return Dataset(authors, posts, comments)


def make_author(rng: random.Random, number: int) -> Author:
    name = f"{rng.choice(FIRST)} {rng.choice(LAST)} {number}"
    picture = f"https://cdn.example.test/avatars/{number}.png"
    return Author(number, name, text(rng, rng.randint(120, 280)), picture, f"author{number}@example.test")


def make_post(rng: random.Random, number: int) -> Post:
    created = later(rng, EPOCH, 700 * DAY)
    return Post(
        id=number,
        title=text(rng, rng.randint(30, 80)),
        body=paragraphs(rng, rng.randint(1200, 1800)),
        status="published" if is_published(number) else "draft",
        author_id=rng.randint(1, AUTHORS),
        created_at=created,
        updated_at=later(rng, created, 30 * DAY),
        tags=rng.sample(TAGS, rng.randint(0, 5)),
    )


def text(rng: random.Random, length: int) -> str:
    words: list[str] = []
    size = 0
    while size < length:
        words.append(rng.choice(WORDS))
        size += len(words[-1]) + 1
    return " ".join(words).capitalize() + "."


def paragraphs(rng: random.Random, length: int) -> str:
    """Return text with line ends, which must be escaped in JSON."""
    parts = []
    while length > 0:
        part = min(length, rng.randint(200, 500))
        parts.append(text(rng, part))
        length -= part
    return "\n\n".join(parts)


def later(rng: random.Random, start: datetime, seconds: int) -> datetime:
    """Return a time in whole milliseconds: JavaScript's Date holds no more."""
    return start + timedelta(milliseconds=rng.randrange(seconds * 1000))
