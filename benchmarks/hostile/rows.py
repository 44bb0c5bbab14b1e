"""`python -m benchmarks.hostile.rows`: load the demo and the rows that expensive documents read, unless present."""

import django

django.setup()

from datetime import timedelta  # noqa: E402

from django.core.management import call_command  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks.hostile.documents import LARGE_TAG  # noqa: E402
from benchmarks.hostile.victim import TITLE  # noqa: E402
from blog.models import Author, Comment, Post  # noqa: E402
from contentapi import demo  # noqa: E402

AUTHORS, POSTS, COMMENTS = 200, 10_000, 50_000
LARGE_POSTS, LARGE_BODY = 20, 110_000  # characters: 2.2 MB together


def main() -> None:
    call_command("migrate", verbosity=0)
    demo.load_demo()
    Post.objects.filter(title__startswith=TITLE).delete()
    if not Post.objects.filter(tags__contains=[LARGE_TAG]).exists():
        print("Making the rows (once; about ten seconds)", flush=True)
        make_rows()


def make_rows() -> None:
    now = timezone.now()
    authors = Author.objects.bulk_create(Author(name=f"Author {n}", bio="A few words. " * 15) for n in range(AUTHORS))
    posts = Post.objects.bulk_create(
        Post(
            title=f"Number {n}",
            body="Some words of a post. " * 70,
            status="published",
            author=authors[n % AUTHORS],
            tags=["one", f"tag{n % 7}"],
            created_at=now - timedelta(minutes=n),
        )
        for n in range(POSTS)
    )
    Comment.objects.bulk_create(
        (
            Comment(
                body="Some words of a comment. " * 5,
                author=authors[n * 7 % AUTHORS],
                post=posts[n % POSTS],
                created_at=now - timedelta(minutes=n % POSTS) + timedelta(seconds=n // POSTS),
            )
            for n in range(COMMENTS)
        ),
        batch_size=10_000,
    )
    Post.objects.bulk_create(
        Post(
            title=f"Large {n}",
            body="Many words. " * (LARGE_BODY // 12),
            status="published",
            author=authors[n],
            tags=[LARGE_TAG],
            created_at=now - timedelta(days=365),
        )
        for n in range(LARGE_POSTS)
    )


if __name__ == "__main__":
    main()
