"""Who scheduled a post or a working copy: what a locked person scheduled is not published."""

from django.contrib.auth import get_user_model

from blog.models import Post, PostStatus, PostVersion, WorkingCopy


def find_locked_scheduler(row: Post | WorkingCopy) -> str | None:
    """Return the name of the person who gave a post or a working copy its time, if the account is locked."""
    pk = row.scheduled_by if isinstance(row, WorkingCopy) else find_scheduler(row)
    return get_user_model().objects.filter(pk=pk or 0, is_active=False).values_list("name", flat=True).first()


def find_scheduler(post: Post) -> int | None:
    """Return the id of the person who made a post scheduled: of the first version after those that were not."""
    versions = PostVersion.objects.filter(id=post.pk)
    unscheduled = versions.exclude(status=PostStatus.SCHEDULED).order_by("-version").values_list("version", flat=True)
    since = versions.filter(version__gt=unscheduled.first() or 0).order_by("version")
    first: tuple[int | None] | None = since.values_list("changed_by").first()
    return post.changed_by if first is None else first[0]
