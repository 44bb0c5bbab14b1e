"""The history: triggers copy the old row of a change.

There is no trigger for insertions, which would make each creation slower: the present version is the row of the post
itself.
"""

from __future__ import annotations

import pghistory
import pgtrigger
from django.db import models
from django.db.models import Q

from blog.models.comments import Comment
from blog.models.imports import PostSource
from blog.models.posts import RESTORED, Post
from blog.models.writing import WorkingCopy


class PostVersion(
    pghistory.create_event_model(  # type: ignore[misc]  # a class that pghistory makes
        Post,
        pghistory.UpdateEvent(row=pghistory.Old, condition=pgtrigger.AnyChange("version")),
        pghistory.DeleteEvent(),
        fields=["id", *RESTORED, "updated_at", "version", "changed_at", "changed_by", "changed_with"],
        obj_field=None,
        context_field=pghistory.ContextJSONField(),
        context_id_field=None,
    )
):
    """An earlier version of a post, or the last version of a deleted post. `id` is the id of the post.

    `pgh_label` is "update" or "delete". `pgh_context` of a deletion has the person and the credential, like
    `changed_by` and `changed_with`.
    """

    shard_key = "id"
    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [
            models.Index(fields=["id", "version"], name="blog_postversion_post"),
            models.Index(fields=["pgh_created_at"], condition=Q(pgh_label="delete"), name="blog_postversion_deleted"),
        ]

    def __str__(self) -> str:
        return f"{self.title}, version {self.version}"


class CopyVersion(
    pghistory.create_event_model(  # type: ignore[misc]
        WorkingCopy,
        pghistory.UpdateEvent(row=pghistory.Old, condition=pgtrigger.AnyChange("version")),
        pghistory.DeleteEvent(),
        fields=["post", "content", "base_version", "version", "updated_at", "updated_by"],
        obj_field=None,
        context_field=pghistory.ContextJSONField(),
        context_id_field=None,
    )
):
    """An earlier version of a working copy, or the last one of a copy that was discarded or published.

    `pgh_context` of the last one has the person, the credential and the action.
    """

    shard_key = "post_id"
    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [models.Index(fields=["post", "version"], name="blog_copyversion_post")]

    def __str__(self) -> str:
        return f"version {self.version} of a working copy"


class DeletedComment(
    pghistory.create_event_model(  # type: ignore[misc]
        Comment, pghistory.DeleteEvent(), obj_field=None, context_field=None
    )
):
    """A deleted comment. `id` is the id of the comment. It is restored together with its post."""

    shard_key = "post_id"
    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [
            models.Index(fields=["post"], name="blog_deletedcomment_post"),
            models.Index(fields=["pgh_created_at"], name="blog_deletedcomment_time"),
        ]

    def __str__(self) -> str:
        return str(self.body[:60])


class DeletedPostSource(
    pghistory.create_event_model(  # type: ignore[misc]
        PostSource, pghistory.DeleteEvent(), obj_field=None, context_field=None
    )
):
    """The source of a deleted post. It is restored together with the post."""

    shard_key = "post_id"
    pgh_id = models.BigAutoField(primary_key=True)

    class Meta:
        indexes = [models.Index(fields=["pgh_created_at"], name="blog_deletedsource_time")]

    def __str__(self) -> str:
        return str(self.path)
