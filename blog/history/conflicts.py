"""Two editors changed the same post: what the other one did since the first one opened it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from blog.history import versions
from blog.history.differences import DifferenceLine, compare_texts
from blog.history.merging import MergedText, merge_lists, merge_texts, merge_values
from blog.history.versions import Change, FieldChange, Version
from blog.models import CONTENT, CONTENT_FIELDS, POST_OWN, Kind, WorkingCopy
from contentapi.core.errors import NotFound
from contentapi.core.identity import Actor

MOST_VERSIONS = 10  # versions of other people that the page names


class EditConflict(NamedTuple):
    """The version that a person opened (None if it is unknown), the present one, and the versions after the first.

    `changes` has the fields that the others changed; the body is in `their_difference`.
    """

    opened: Version | None
    present: Version
    newer: Sequence[Version]
    changes: Sequence[FieldChange]
    their_difference: Sequence[DifferenceLine]
    is_of_copy: bool = False  # the present version is the working copy, which has no history


class MergedPost(NamedTuple):
    """The merged content of a post. `disputed` has the labels of the lines that both have changed."""

    values: Mapping[str, Any]
    body: MergedText
    disputed: Sequence[str]


def read_conflict(*, actor: Actor, post_id: str, opened: int | None) -> EditConflict:
    """Return what happened to a post since a version. Raises `NotFound` if the post was deleted."""
    page = versions.list_versions(actor=actor, post_id=post_id, limit=MOST_VERSIONS)
    if page.present is None:
        raise NotFound("This post was deleted.")
    since = opened or 0
    newer = [version for version in page.versions if version.number > since]
    try:
        comparison = versions.compare_versions(actor=actor, post_id=post_id, old=since, new=page.present)
    except NotFound:
        present = versions.read_version(actor=actor, post_id=post_id, number=page.present)
        return EditConflict(None, present, newer, [], [])
    return EditConflict(comparison.old, comparison.new, newer, comparison.fields, comparison.body)


def compare_with_copy(conflict: EditConflict, copy: WorkingCopy) -> EditConflict:
    """Return the conflict of the same text with the working copy, which somebody else has saved."""
    base, values = (conflict.opened or conflict.present).values, {**conflict.present.values, **copy.content}
    saver = versions.name_saver(copy)
    changed = [name for name in CONTENT if values[name] != base[name] and name != "own"]
    changed += POST_OWN.list_changes(base["own"], values["own"])
    made = Change(copy.updated_at, saver, "")
    present = Version(copy.version, values, made, is_present=True, changed_fields=changed)
    difference = compare_texts(base["body"], values["body"])
    return EditConflict(conflict.opened, present, [present], [], difference, is_of_copy=True)


def merge_post(conflict: EditConflict, mine: Mapping[str, Any], *, their_name: str) -> MergedPost:
    """Merge my content and co-authors with the present ones. Without a common version, mine is the result."""
    theirs = conflict.present.values
    base = conflict.opened.values if conflict.opened else theirs
    body = merge_texts(base["body"], mine["body"], theirs["body"], their_name=their_name)
    before = base["coauthor_ids"]
    authors = before, mine.get("coauthor_ids", before), theirs["coauthor_ids"]
    values: dict[str, Any] = {"body": body.text, "coauthor_ids": merge_lists(*authors)}
    disputed = []
    for name, kind, label, *_ in CONTENT_FIELDS:
        versions_of_field = base[name], mine[name], theirs[name]
        if kind == Kind.WORDS:
            values[name] = merge_lists(*versions_of_field)
        elif kind != Kind.MARKDOWN:
            values[name] = merge_values(*versions_of_field)
            if len(set(versions_of_field)) == 3:
                disputed.append(label)
    own = [base["own"], base["own"] | mine.get("own", {}), theirs["own"]]
    values["own"] = {}
    for name in POST_OWN.names:
        three = [each.get(name) for each in own]
        values["own"][name] = merge_values(*three)
        if all(three.count(each) == 1 for each in three):
            disputed.append(name)
    return MergedPost(values, body, disputed)
