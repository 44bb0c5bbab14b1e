"""A post and its working copy against a small model: any actions in any order."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from blog import services
from blog.models import Post, PostVersion, WorkingCopy
from contentapi.core.errors import Conflict, NotFound
from contentapi.core.identity import OPERATOR
from tests.factories import make_post
from tests.thoroughness import run_machine

TEXTS = st.fixed_dictionaries({}, optional={"title": st.sampled_from("ABC"), "body": st.sampled_from("xyz")})
STATUSES = st.sampled_from(["draft", "published", "archived"])


class CopyMachine(RuleBasedStateMachine):
    """The model: the texts of the post by version, its status, and the text and the base of the copy."""

    def __init__(self) -> None:
        super().__init__()
        post = make_post(title="A", body="x")
        self.pk, self.status, self.base = post.pk, "published", 0
        self.texts: list[dict[str, Any]] = [{}, {"title": "A", "body": "x"}]  # by version
        self.copy: dict[str, Any] | None = None
        self.saved = 0  # the last version of a copy

    @property
    def options(self) -> dict[str, Any]:
        return {"actor": OPERATOR, "post_id": str(self.pk)}

    def write(self, changes: Mapping[str, Any]) -> None:
        self.texts.append({**self.texts[-1], **changes})

    @rule(changes=TEXTS)
    def edit(self, changes: dict[str, Any]) -> None:
        services.edit_post(**self.options, changes=changes)
        if {**self.texts[-1], **changes} != self.texts[-1]:
            self.write(changes)

    @rule(status=STATUSES)
    def change_status(self, status: str) -> None:
        is_allowed = status == self.status or status in services.validation.TRANSITIONS[self.status]
        try:
            services.edit_post(**self.options, changes={"status": status})
            assert is_allowed
        except Conflict:
            assert not is_allowed
        if is_allowed and status != self.status:
            self.status = status
            self.write({})

    @rule(changes=TEXTS, is_rebased=st.booleans())
    def save(self, changes: dict[str, Any], is_rebased: bool) -> None:  # noqa: FBT001
        present = len(self.texts) - 1
        base = str(present) if is_rebased else None
        saved = services.save_working_copy(**self.options, base_version=base, **changes)
        if self.copy is None or is_rebased:
            self.base = present
        self.copy = {**(self.copy or self.texts[-1]), **changes}
        assert saved.version > self.saved
        self.saved = saved.version

    @rule()
    def publish(self) -> None:
        try:
            services.publish_working_copy(**self.options)
        except NotFound:
            assert self.copy is None
        except Conflict:
            assert self.copy is not None
            assert self.texts[self.base] != self.texts[-1]
        else:
            assert self.copy is not None
            assert self.texts[self.base] == self.texts[-1]
            if self.copy != self.texts[-1]:
                self.write(self.copy)
            self.copy = None

    @rule()
    def discard(self) -> None:
        try:
            services.discard_working_copy(**self.options)
            assert self.copy is not None
        except NotFound:
            assert self.copy is None
        self.copy = None

    @invariant()
    def rows_equal_the_model(self) -> None:
        post = Post.objects.get(pk=self.pk)
        assert {"title": post.title, "body": post.body} == self.texts[-1]
        assert (post.status, post.version) == (self.status, len(self.texts) - 1)
        assert PostVersion.objects.filter(id=self.pk).count() == post.version - 1
        copy = WorkingCopy.objects.filter(pk=self.pk).first()
        content = None if copy is None else {name: copy.content[name] for name in ("title", "body")}
        assert content == self.copy
        assert copy is None or copy.base_version == self.base


@pytest.mark.property
def test_post_and_working_copy_behave_like_the_model() -> None:
    run_machine(CopyMachine, 50, steps=25)
