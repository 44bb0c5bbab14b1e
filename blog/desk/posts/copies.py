"""What the form of a post shows of its working copy.

The form of a published post, and of every post that has a working copy, changes the copy. Other forms change the post.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from blog import policy, selectors, services
from blog.desk.posts.form import list_versions
from blog.history import versions
from blog.models import Post, PostStatus, WorkingCopy
from blog.services import CopyAction
from contentapi.auth.people import name_users
from contentapi.core.identity import Actor


class CopyButton(NamedTuple):
    """A button of the form for its working copy. With `has_time`, the time of publication is beside it.

    With a `verb`, a dialog asks before the form is sent.
    """

    action: CopyAction
    label: str
    help: str
    has_time: bool = False
    verb: str = ""

    @property
    def name(self) -> str:
        return f"_{self.action}"


def name_saver(copy: WorkingCopy) -> str:
    """Return the name of the person who saved a working copy last; an empty one for a program."""
    return versions.name_person(copy.updated_by, name_users([copy.updated_by]))


def list_buttons(actor: Actor, post: Post, copy: WorkingCopy | None) -> Iterator[CopyButton]:
    """Yield the buttons for the working copy below the form, of those that the actor may press."""
    is_public = post.status == PostStatus.PUBLISHED
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    if may_publish and is_public:
        yield CopyButton(CopyAction.SCHEDULE, "Schedule the changes", "Readers see the changes from", has_time=True)
    if copy is not None and copy.publish_at is not None:
        yield CopyButton(CopyAction.UNSCHEDULE, "Do not publish the changes", "The changes stay, without a time.")
    if copy is not None:
        effect = "The form shows the text of the post again. The history keeps the changes: you can restore them."
        yield CopyButton(CopyAction.DISCARD, "Discard the changes", effect, verb="Discard the changes of")


def build_copy_state(actor: Actor, post: Post, copy: WorkingCopy | None) -> dict[str, Any]:
    """Return what the form shows of the working copy; nothing if the form changes the post itself."""
    if list_versions(post, copy)["opened_copy"] == "":
        return {}
    is_public = post.status == PostStatus.PUBLISHED
    may_publish = policy.may_publish_working_copy_of(actor, post.author.user_id, post.status)
    state: dict[str, Any] = {
        "publish": f"_{CopyAction.PUBLISH}" if may_publish else "",
        "publish_label": "Publish changes" if is_public else "Take over the changes",
        "buttons": list(list_buttons(actor, post, copy)),
        "is_outdated": copy is not None and services.has_changed_since(post, copy.base_version),
        "copy": copy,
        "held": copy and copy.publish_at and selectors.find_locked_scheduler(copy),
        "person": copy and name_saver(copy),
    }
    return {"working_copy": state, "show_save": False, "show_save_and_add_another": False}  # the row is full
