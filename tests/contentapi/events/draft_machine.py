"""Random actions on drafts, and an anonymous reader of the feed."""

import json
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any

from django.test import Client
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from blog import services
from blog.history import trash
from blog.models import Comment, DeletedComment, OldSlug, Post
from blog.services import Edit, StateAction, moderation, save_edit
from contentapi.core.errors import ApiError
from contentapi.core.identity import OPERATOR
from contentapi.db.statements import execute
from contentapi.events.feed import read_log
from contentapi.rate_limits.account import COUNTERS
from tests.content import SELECTION, TEXTS, make_text
from tests.event_log import relay
from tests.factories import make_author

NUMBERS = count(1)
POST_FIELDS = f"""{SELECTION} bodyHtml oldSlugs comments {{ body }} workingCopy {{ {SELECTION} }}
  author {{ name posts {{ title }} }}"""
EVENTS = f"""query ($after: String) {{ events(first: 100, after: $after) {{ nextCursor edges {{ node {{
  type subject version was now changes
  ... on PostEvent {{ post {{ {POST_FIELDS} }} }}
  ... on CommentEvent {{ comment {{ body author {{ posts {{ title slug }} }} }} }} }} }} }} }}"""


def make_secret(name: str) -> Any:
    return make_text(name, f"secret{next(NUMBERS)}q")


class DraftMachine(RuleBasedStateMachine):
    """One post, its working copy and its comments, and a reader that follows the feed from its creation on."""

    def __init__(self) -> None:
        super().__init__()
        self.author = make_author(name="Known")
        relay()
        execute("TRUNCATE events_outbox")  # its dead rows stay until the transaction of the test ends
        log = read_log()
        self.begin = dict.fromkeys(["rest", "graphql"], log.format_cursor(log.position))
        self.cursors = self.begin
        self.first, self.pk = next(NUMBERS), 0

    @initialize(name=st.sampled_from(TEXTS))
    def create(self, name: str) -> None:
        content = {"title": make_secret("title"), "body": make_secret("body"), name: make_secret(name)}
        self.pk = services.create_post(actor=OPERATOR, author_id=str(self.author.pk), **content).pk

    @property
    def options(self) -> dict[str, Any]:
        return {"actor": OPERATOR, "post_id": str(self.pk)}

    @rule(name=st.sampled_from(TEXTS), status=st.sampled_from([None, "draft", "published", "archived"]))
    def edit(self, name: str, status: str | None) -> None:
        changes = {name: make_secret(name)} | ({} if status is None else {"status": status})
        with suppress(ApiError):
            services.edit_post(**self.options, changes=changes)

    @rule(action=st.sampled_from(StateAction))
    def change_state(self, action: StateAction) -> None:
        time = timezone.now() + timedelta(days=1)
        publish_at = time if action is StateAction.SCHEDULE else None
        with suppress(ApiError):
            edit = Edit({"body": make_secret("body")}, action, publish_at=publish_at)
            save_edit(self.options["actor"], self.options["post_id"], edit)

    @rule(name=st.sampled_from(TEXTS))
    def save_copy(self, name: str) -> None:
        with suppress(ApiError):
            services.save_working_copy(**self.options, **{name: make_secret(name)})

    @rule(is_published=st.booleans())
    def end_copy(self, is_published: bool) -> None:  # noqa: FBT001
        end = services.publish_working_copy if is_published else services.discard_working_copy
        with suppress(ApiError):
            end(**self.options)

    @rule()
    def comment(self) -> None:
        with suppress(ApiError):
            services.add_comment(**self.options, body=make_secret("body"), author_id=str(self.author.pk))

    @rule(action=st.sampled_from(["hide", "show", "delete"]))
    def moderate_comments(self, action: str) -> None:
        ids = Comment.objects.filter(post=self.pk).values_list("pk", flat=True)[:2]
        for pk in ids:
            with suppress(ApiError):
                moderation.moderate_comment(action, actor=OPERATOR, comment_id=str(pk))

    @rule()
    def delete(self) -> None:
        with suppress(ApiError):
            services.delete_post(**self.options)

    @rule()
    def restore(self) -> None:
        with suppress(ApiError):
            trash.restore_deleted_post(**self.options)
            DeletedComment.objects.all().delete()  # this transaction would restore them once more

    @rule(is_new=st.booleans())
    def read(self, is_new: bool) -> None:  # noqa: FBT001
        """Read what is new, or everything again."""
        relay()
        COUNTERS.clear()
        client, cursors = Client(), self.cursors if is_new else self.begin
        rest = client.get(f"/events?limit=100&after={cursors['rest']}")
        body = {"query": EVENTS, "variables": {"after": cursors["graphql"]}}
        graphql = client.post("/graphql", body, content_type="application/json")
        self.require_only_public_texts(rest.text)
        self.require_only_public_texts(graphql.text)
        if is_new:
            page = graphql.json()["data"]["events"]
            self.cursors = {"rest": rest.json()["next_cursor"], "graphql": page["nextCursor"]}

    def require_only_public_texts(self, response: str) -> None:
        assert "errors" not in json.loads(response)
        for word in self.list_hidden_words():
            assert word not in response

    def list_hidden_words(self) -> set[str]:
        """Return the words of all texts but those that an anonymous caller may read now."""
        made = {f"secret{number}q" for number in range(self.first, next(NUMBERS))}
        shown = ""
        for post in Post.objects.filter(pk=self.pk, status="published"):
            shown += json.dumps([str(getattr(post, name)) for name in TEXTS])
            shown += json.dumps(list(post.comments.filter(state="visible").values_list("body", flat=True)))
            shown += Client().get(f"/posts/{post.pk}").text
            shown += json.dumps(list(OldSlug.objects.filter(post_id=post.pk).values_list("slug", flat=True)))
        return {word for word in made if word not in shown}

    def teardown(self) -> None:
        if self.pk:
            self.read(is_new=False)
