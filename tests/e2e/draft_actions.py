"""Random actions on posts that never publish a secret: `python -m tests.e2e.draft_actions COUNT SEED`.

Each text of a draft, of a working copy and of a comment on a draft has a word of its own, such as `secret17q`. What
becomes public gets other texts before, with words such as `open18q`. At the end, at least one post is public. Prints
the number of actions that were carried out, and the posts. Another run goes on with the posts of the one before.
"""

import json
import random
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import django

django.setup()

from django.utils import timezone  # noqa: E402 - Django must be set up before

from blog import services  # noqa: E402
from blog.history import trash  # noqa: E402
from blog.models import Author, Comment, Post  # noqa: E402
from blog.services import Edit, StateAction, moderation, save_edit  # noqa: E402
from contentapi.core.errors import ApiError  # noqa: E402
from contentapi.core.identity import OPERATOR  # noqa: E402
from tests.content import TEXTS, make_text  # noqa: E402

NAME = "Known"
POSTS = 12  # at a time, of those that this module has made


class Editor:
    """Acts on posts of its own."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - the same actions in each run
        self.numbers = count(1_000_000 * seed)
        self.author = Author.objects.filter(name=NAME).first() or Author.objects.create(name=NAME)
        self.mine = set(Post.objects.filter(author=self.author).values_list("pk", flat=True))

    def make_text(self, kind: str, name: str) -> Any:
        return make_text(name, f"{kind}{next(self.numbers)}q")

    def make_texts(self, kind: str) -> dict[str, Any]:
        return {name: self.make_text(kind, name) for name in TEXTS}

    def choose(self, *, is_public: bool) -> Post | None:
        posts = Post.objects.filter(pk__in=self.mine)
        found = list(posts.filter(status="published") if is_public else posts.exclude(status="published"))
        return self.rng.choice(found) if found else None

    def create(self) -> None:
        if Post.objects.filter(pk__in=self.mine).count() < POSTS:
            status, kind = self.rng.choice([("draft", "secret"), ("published", "open")])
            post = services.create_post(
                actor=OPERATOR, author_id=str(self.author.pk), status=status, **self.make_texts(kind)
            )
            self.mine.add(post.pk)

    def edit(self) -> None:
        is_public = self.rng.random() < 0.3
        if post := self.choose(is_public=is_public):
            name = self.rng.choice(TEXTS)
            is_known = is_public or (name == "slug" and post.published_at)  # old slugs of a public post are public
            change = {name: self.make_text("open" if is_known else "secret", name)}
            services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=change)

    def publish(self) -> None:
        """Publish a post, with other texts and without its comments."""
        if post := self.choose(is_public=False):
            secret = Comment.objects.filter(post=post, body__startswith="secret").exclude(state="deleted")
            for comment in secret:
                moderation.moderate_comment("delete", actor=OPERATOR, comment_id=str(comment.pk))
            services.edit_post(
                actor=OPERATOR, post_id=str(post.pk), changes={**self.make_texts("open"), "status": "published"}
            )

    def withdraw(self) -> None:
        if post := self.choose(is_public=True):
            texts = self.make_texts("secret") | {"slug": post.slug}
            changes = {**texts, "status": self.rng.choice(["draft", "archived"])}
            services.edit_post(actor=OPERATOR, post_id=str(post.pk), changes=changes)

    def schedule(self) -> None:
        if post := self.choose(is_public=False):
            time = timezone.now() + timedelta(days=1)
            save_edit(OPERATOR, str(post.pk), Edit(action=StateAction.SCHEDULE, publish_at=time))

    def save_copy(self) -> None:
        if post := self.choose(is_public=True):
            name = self.rng.choice(TEXTS)
            services.save_working_copy(actor=OPERATOR, post_id=str(post.pk), **{name: self.make_text("secret", name)})

    def end_copy(self) -> None:
        if post := self.choose(is_public=True):
            options: dict[str, Any] = {"actor": OPERATOR, "post_id": str(post.pk)}
            if self.rng.random() < 0.5:
                services.discard_working_copy(**options)
            else:
                services.save_working_copy(**options, **self.make_texts("open"))
                services.publish_working_copy(**options)

    def comment(self) -> None:
        is_public = self.rng.random() < 0.5
        if post := self.choose(is_public=is_public):
            body = self.make_text("open" if is_public else "secret", "body")
            services.add_comment(actor=OPERATOR, post_id=str(post.pk), body=body, author_id=str(self.author.pk))

    def moderate(self) -> None:
        shown_or_hidden = Comment.objects.filter(post__in=self.mine).exclude(state="deleted")
        if comment := self.rng.choice([None, *shown_or_hidden]):
            action = self.rng.choice(["hide", "show"])
            moderation.moderate_comment(action, actor=OPERATOR, comment_id=str(comment.pk))

    def delete(self) -> None:
        if post := self.choose(is_public=self.rng.random() < 0.5):
            services.delete_post(actor=OPERATOR, post_id=str(post.pk))

    def restore(self) -> None:
        deleted = self.mine - set(Post.objects.values_list("pk", flat=True))
        if deleted:
            trash.restore_deleted_post(actor=OPERATOR, post_id=str(self.rng.choice(sorted(deleted))))

    def act(self) -> bool:
        """Do something. Return whether it was carried out: a random action may be refused."""
        actions: list[Callable[[], None]] = [
            *(self.create, self.edit, self.edit, self.publish, self.withdraw, self.schedule, self.save_copy),
            *(self.end_copy, self.comment, self.moderate, self.delete, self.restore),
        ]
        try:
            self.rng.choice(actions)()
        except ApiError:
            return False
        return True


def main(number: int, seed: int) -> None:
    editor = Editor(seed)
    done = sum(editor.act() for _ in range(number))
    while not editor.choose(is_public=True):
        done += editor.act()
    sys.stdout.write(json.dumps({"actions": done, "posts": [str(pk) for pk in sorted(editor.mine)]}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
