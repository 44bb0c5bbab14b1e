"""The slug of a draft, of its versions and of its working copy against a small model: any actions in any order."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from blog import services
from blog.history import trash
from blog.models import OldSlug, Post, WorkingCopy
from contentapi.core.identity import OPERATOR
from tests.blog.post_versions import restore_draft
from tests.factories import make_author, make_post
from tests.thoroughness import run_machine

MADE = {"Soup": "soup-2", "Stew": "stew", "Pie": "pie"}  # from the titles: another post has the slug `soup`
SLUGS = st.sampled_from(["soup-2", "soup-3", "stew", "stew-2", "pie-2", "goulash"])
CHANGES = st.fixed_dictionaries({}, optional={"title": st.sampled_from([*MADE]), "slug": SLUGS | st.none()})
State = tuple[str, str, bool]  # title, slug, and whether a person has chosen the slug


def change(state: State, changes: dict[str, Any], *, was_public: bool) -> State:
    """Return what the changes make of a state."""
    title, slug, is_chosen = state
    new_title = changes.get("title", title)
    stated = changes.get("slug", "")
    if stated:
        return new_title, stated, is_chosen or (new_title, stated) != (title, slug)
    follows = stated is None or not (is_chosen or was_public or new_title == title)
    return (new_title, MADE[new_title], False) if follows else (new_title, slug, is_chosen)


class SlugMachine(RuleBasedStateMachine):
    """The model: the state of each version of the post, of its copy, and whether the post was ever public."""

    def __init__(self) -> None:
        super().__init__()
        Post.objects.all().delete()
        OldSlug.objects.all().delete()
        make_post(title="Soup", slug="soup")
        author = str(make_author().pk)
        post = services.create_post(actor=OPERATOR, author_id=author, title="Stew", body="")
        self.pk, self.is_public, self.was_public = post.pk, False, False
        self.versions: dict[int, State] = {1: ("Stew", "stew", False)}
        self.copy: State | None = None

    @property
    def options(self) -> dict[str, Any]:
        return {"actor": OPERATOR, "post_id": str(self.pk)}

    @property
    def state(self) -> State:
        return self.versions[max(self.versions)]

    def store(self, post: Post, state: State) -> None:
        self.versions[post.version] = state

    @precondition(lambda self: self.copy is None)
    @rule(changes=CHANGES)
    def edit(self, changes: dict[str, Any]) -> None:
        post = services.edit_post(**self.options, changes=changes)
        self.store(post, change(self.state, changes, was_public=self.was_public))

    @rule(status=st.sampled_from(["draft", "published"]))
    def change_status(self, status: str) -> None:
        self.store(services.edit_post(**self.options, changes={"status": status}), self.state)
        self.is_public = status == "published"
        self.was_public |= self.is_public

    @rule(changes=CHANGES)
    def save_copy(self, changes: dict[str, Any]) -> None:
        services.save_working_copy(**self.options, **changes)
        self.copy = change(self.copy or self.state, changes, was_public=self.was_public)

    @precondition(lambda self: self.copy is not None)
    @rule()
    def publish_copy(self) -> None:
        assert self.copy is not None
        self.store(services.publish_working_copy(**self.options), self.copy)
        self.copy = None

    @precondition(lambda self: self.copy is None and not self.is_public)  # a public post would get a copy
    @rule(data=st.data())
    def restore_version(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.versions)))
        self.store(restore_draft(Post.objects.get(pk=self.pk), number), self.versions[number])

    @rule()
    def delete_and_restore(self) -> None:
        services.delete_post(**self.options)
        self.store(trash.restore_deleted_post(**self.options), self.state)
        self.copy = None

    @invariant()
    def rows_equal_the_model(self) -> None:
        post = Post.objects.get(pk=self.pk)
        assert (post.title, post.slug) == self.state[:2]
        assert post.version == max(self.versions)
        copy = WorkingCopy.objects.filter(pk=self.pk).first()
        assert (copy and (copy.content["title"], copy.content["slug"])) == (self.copy and self.copy[:2])


@pytest.mark.property
def test_slug_of_a_draft_follows_its_title_like_the_model() -> None:
    run_machine(SlugMachine, 100, steps=10)
