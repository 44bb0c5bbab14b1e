"""Actions on posts, comments, authors and imports, each with its event of the audit log."""

from datetime import timedelta
from threading import Event as Flag

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from blog import services
from blog.files import jobs, undoing
from blog.files.job_worker import work_on_imports
from blog.history import trash
from blog.models import CommentState, ImportJob, ImportState, Post, PostStatus, PostVersion
from blog.models.audit import Audit
from blog.services import moderation
from contentapi.auth.sessions import build_session_actor
from contentapi.conf.environment import Environment
from contentapi.core.identity import OPERATOR, WORKER, Role
from tests.blog.archives import build_archive
from tests.blog.markdown_files import build_file
from tests.contentapi.monitoring.audit_scene import Action, Scene, causes
from tests.factories import make_actor, make_author, make_comment, make_image, make_post, make_working_copy
from tests.image_files import make_png
from users.models import User

LATER = "2100-01-01T00:00:00Z"


# --- Posts, comments, authors --------------------------------------------------------------------------


@causes(Audit.POST_PUBLISHED, "GraphQL")
def publish_a_post_by_graphql(scene: Scene) -> Action:
    post = make_post(status="draft")
    return lambda: scene.gql(f'publishPost(id: "{post.pk}") {{ id }}')


@causes(Audit.POST_PUBLISHED, "GraphQL")
def create_a_published_post(scene: Scene) -> Action:
    return lambda: scene.gql('createPost(input: {title: "New", body: "Text", status: published}) { id }')


@causes(Audit.POST_PUBLISHED, "worker")
def publish_a_due_post_by_the_worker(_: Scene) -> Action:
    make_due_post()
    return lambda: list(services.publish_due_posts(actor=WORKER))


def make_due_post() -> None:
    make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() - timedelta(minutes=1))


@causes(Audit.POST_SCHEDULED, "GraphQL")
def schedule_a_post(scene: Scene) -> Action:
    post = make_post(status="draft")
    return lambda: scene.gql(f'schedulePost(input: {{id: "{post.pk}", publishAt: "{LATER}"}}) {{ id }}')


@causes(Audit.POST_UNPUBLISHED, "GraphQL")
def unpublish_a_post(scene: Scene) -> Action:
    post = make_post()
    return lambda: scene.gql(f'unpublishPost(id: "{post.pk}") {{ id }}')


@causes(Audit.POST_ARCHIVED, "REST")
def archive_a_post(scene: Scene) -> Action:
    post = make_post()
    return lambda: scene.request("PATCH", f"/posts/{post.pk}", {"status": "archived"})


@causes(Audit.POST_UNARCHIVED, "GraphQL")
def take_a_post_out_of_the_archive(scene: Scene) -> Action:
    post = make_post(status="archived")
    return lambda: scene.gql(f'unpublishPost(id: "{post.pk}") {{ id }}')


@causes(Audit.POST_DELETED, "GraphQL")
def delete_a_post_by_graphql(scene: Scene) -> Action:
    post = make_post()
    return lambda: scene.gql(f'deletePost(id: "{post.pk}")')


@causes(Audit.POST_DELETED, "admin", 2)
def delete_selected_posts(scene: Scene) -> Action:
    posts = f"{make_post().pk},{make_post().pk}"
    return lambda: scene.browser.post(reverse("admin:blog_post_bulk", args=["delete_selected"]), {"ids": posts})


@causes(Audit.POST_RESTORED, "admin")
def restore_a_deleted_post(scene: Scene) -> Action:
    post = make_post()
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    return lambda: scene.browser.post(
        reverse("admin:blog_post_restore_deleted", args=[post.pk or 0]), {"confirmed": "yes"}
    )


@causes(Audit.POST_HISTORY_PURGED, "worker")
def purge_the_history(_: Scene) -> Action:
    post = make_post()
    services.delete_post(actor=OPERATOR, post_id=str(post.pk))
    PostVersion.objects.update(pgh_created_at=timezone.now() - timedelta(days=60))
    return lambda: trash.purge_history(actor=WORKER)


@causes(Audit.POST_COPY_PUBLISHED, "REST")
def publish_a_working_copy(scene: Scene) -> Action:
    post = make_post()
    make_working_copy(post, title="Other")
    return lambda: scene.request("POST", f"/posts/{post.pk}/working-copy/publish")


@causes(Audit.POST_COPY_DISCARDED, "REST")
def discard_a_working_copy(scene: Scene) -> Action:
    post = make_post()
    make_working_copy(post)
    return lambda: scene.request("DELETE", f"/posts/{post.pk}/working-copy")


@causes(Audit.POST_COPY_REFUSED, "worker")
def refuse_a_due_working_copy_of_an_archived_post(_: Scene) -> Action:
    make_working_copy(make_post(status="archived"), publish_at=timezone.now() - timedelta(minutes=1))
    return lambda: list(services.publish_due_copies(actor=WORKER))


@causes(Audit.PREVIEW_LINK_CREATED, "GraphQL")
def create_a_preview_link(scene: Scene) -> Action:
    post = make_post()
    return lambda: scene.gql(f'createPreviewLink(input: {{postId: "{post.pk}"}}) {{ url }}')


@causes(Audit.PREVIEW_LINK_REVOKED, "REST")
def revoke_a_preview_link(scene: Scene) -> Action:
    made = services.create_preview_link(actor=make_actor(Role.EDITOR), post_id=str(make_post().pk))
    scene.secrets.append(made.token)
    return lambda: scene.request("DELETE", f"/preview-links/{made.preview_link.pk}")


@causes(Audit.IMAGE_UPLOADED, "REST")
def upload_an_image(scene: Scene) -> Action:
    scene.settings.ENVIRONMENT = Environment(contentapi_media=str(scene.folder))
    headers = {"X-API-Key": scene.key}
    return lambda: Client().generic("POST", "/images", make_png(8, 8), content_type="image/png", headers=headers)


@causes(Audit.IMAGE_DELETED, "GraphQL")
def delete_an_image(scene: Scene) -> Action:
    image = make_image()
    return lambda: scene.gql(f'deleteImage(input: {{id: "{image.pk}"}}) {{ deletedImageId }}')


@causes(Audit.IMAGE_RESTORED, "GraphQL")
def restore_an_image(scene: Scene) -> Action:
    image = make_image(deleted_at=timezone.now())
    return lambda: scene.gql(f'restoreImage(input: {{id: "{image.pk}"}}) {{ image {{ id }} }}')


@causes(Audit.IMAGE_PURGED, "worker")
def purge_an_image(_: Scene) -> Action:
    make_image(deleted_at=timezone.now() - timedelta(days=31))
    return lambda: services.purge_images(actor=WORKER)


@causes(Audit.COMMENT_DELETED, "GraphQL")
def delete_a_comment_by_graphql(scene: Scene) -> Action:
    comment = make_comment(make_post())
    return lambda: scene.gql(f'deleteComment(id: "{comment.pk}")')


@causes(Audit.COMMENT_HIDDEN, "admin")
def hide_a_comment(scene: Scene) -> Action:
    comment = make_comment(make_post())
    return lambda: scene.press("blog_comment", comment.pk, "hide")


@causes(Audit.COMMENT_SHOWN, "admin")
def show_a_comment(scene: Scene) -> Action:
    comment = make_comment(make_post(), state=CommentState.HIDDEN, state_changed_at=timezone.now())
    return lambda: scene.press("blog_comment", comment.pk, "show")


@causes(Audit.COMMENT_RESTORED, "admin")
def restore_a_comment(scene: Scene) -> Action:
    comment = make_comment(make_post(), state=CommentState.DELETED, state_changed_at=timezone.now())
    return lambda: scene.press("blog_comment", comment.pk, "restore")


@causes(Audit.COMMENT_PURGED, "worker")
def purge_deleted_comments(_: Scene) -> Action:
    make_comment(make_post(), state=CommentState.DELETED, state_changed_at=timezone.now() - timedelta(days=31))
    return lambda: moderation.purge_comments(actor=WORKER)


@causes(Audit.AUTHOR_DELETED, "admin")
def delete_an_author(scene: Scene) -> Action:
    author = make_author()
    return lambda: scene.submit("blog_author_delete", author.pk, post="yes")


# --- Imports -------------------------------------------------------------------------------------------


def upload(scene: Scene) -> ImportJob:
    actor = build_session_actor(scene.user)
    files: dict[str, str | bytes] = {"a.md": build_file(title="A"), "b.md": build_file(title="B")}
    return jobs.create_import_job(actor=actor, archive=build_archive(files), name="site.zip")


def finish_work() -> None:
    work_on_imports(Flag())


@causes(Audit.IMPORT_UPLOADED, "admin")
def upload_an_import(scene: Scene) -> Action:
    return lambda: upload(scene)


@causes(Audit.IMPORT_STARTED, "admin")
def start_an_import(scene: Scene) -> Action:
    job = upload(scene)
    finish_work()
    return lambda: scene.browser.post(reverse("admin:blog_importjob_start", args=[job.pk]))


@causes(Audit.IMPORT_FINISHED, "import")
def finish_an_import(scene: Scene) -> Action:
    job = upload(scene)
    finish_work()
    jobs.start_import(actor=build_session_actor(scene.user), job_id=str(job.pk))
    return finish_work


@causes(Audit.IMPORT_FINISHED, "import")
def import_by_command(scene: Scene) -> Action:
    (scene.folder / "a.md").write_text(build_file(title="A"))
    return lambda: scene.command("import_posts", str(scene.folder))


@causes(Audit.IMPORT_FAILED, "worker")
def import_for_a_locked_owner(scene: Scene) -> Action:
    upload(scene)
    User.objects.filter(pk=scene.user.pk).update(is_active=False)
    return finish_work


@causes(Audit.IMPORT_CANCELLED, "admin")
def cancel_an_import(scene: Scene) -> Action:
    job = upload(scene)
    return lambda: scene.browser.post(reverse("admin:blog_importjob_cancel", args=[job.pk]))


@causes(Audit.IMPORT_UNDONE, "import")
def undo_an_import(scene: Scene) -> Action:
    job = upload(scene)
    finish_work()
    jobs.start_import(actor=build_session_actor(scene.user), job_id=str(job.pk))
    finish_work()
    undoing.start_undo(actor=build_session_actor(scene.user), job_id=str(job.pk))
    Post.objects.all().delete()  # otherwise each deletion has a line
    return finish_work


@causes(Audit.IMPORT_PURGED, "worker")
def purge_old_imports(scene: Scene) -> Action:
    job = upload(scene)
    ImportJob.objects.filter(pk=job.pk).update(
        state=ImportState.CHECKED, created_at=timezone.now() - timedelta(days=31)
    )
    return lambda: jobs.purge_imports(actor=WORKER)
