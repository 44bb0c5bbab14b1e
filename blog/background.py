"""The jobs of the background process: publication, slugs, rendering, images, search, imports, deletion of what is too
old.
"""

import logging
from collections.abc import Callable
from functools import partial
from threading import Event

from blog import services
from blog.files import job_worker, jobs
from blog.history import trash
from blog.search.indexing import SearchIndexer
from blog.services import moderation
from contentapi.conf import timeouts
from contentapi.core.identity import WORKER
from contentapi.worker.jobs import Job

LOG = logging.getLogger("contentapi.worker")


def list_jobs() -> list[Job]:
    return [
        Job("publication", publish_due, interval=timeouts.PUBLICATION_INTERVAL),
        Job("slugs", give_first_slugs, interval=timeouts.SLUG_INTERVAL),
        Job("rendering", render_posts, interval=timeouts.RENDERING_INTERVAL),
        Job("images", process_images, interval=timeouts.IMAGE_INTERVAL),
        Job("search", partial(SearchIndexer().update, actor=WORKER), interval=timeouts.SEARCH_INTERVAL),
        Job("imports", job_worker.work_on_imports, interval=timeouts.IMPORT_INTERVAL),
        Job("purge_history", purge_history, interval=timeouts.PURGE_INTERVAL),
        Job("purge_comments", purge_comments, interval=timeouts.PURGE_INTERVAL),
        Job("purge_imports", lambda _: jobs.purge_imports(actor=WORKER), interval=timeouts.PURGE_INTERVAL),
        Job("purge_images", purge_images, interval=timeouts.PURGE_INTERVAL),
    ]


def publish_due(stop: Event) -> None:
    """Publish the posts and the working copies that are due. Return early after one of them when `stop` is set."""
    for post, is_copy, problem in services.publish_due(actor=WORKER):
        subject = f"the working copy of post {post.pk}" if is_copy else f"post {post.pk}"
        if problem:
            LOG.warning("Did not publish %s, which was scheduled. %s", subject, problem)
        else:
            LOG.info("Published %s, which was scheduled.", subject)
        if stop.is_set():
            return


def report(message: str, work: Callable[[Event], int]) -> Callable[[Event], None]:
    """Return a job that logs how much it has done, if there was anything to do."""

    def run(stop: Event) -> None:
        if number := work(stop):
            LOG.info(message, number)

    return run


def make_and_hide_files(stop: Event) -> int:
    """Delete the files of deleted images, and make those of uploaded ones. Return the number of these."""
    services.hide_deleted_images(actor=WORKER, stop=stop)
    return services.image_processing.process_images(actor=WORKER, stop=stop)


def purge_posts(_: Event) -> int:
    """Delete what is left of posts that were deleted long ago, and the links that expired long ago."""
    services.previews.purge_preview_links(actor=WORKER)
    return trash.purge_history(actor=WORKER)


give_first_slugs = report("Gave a slug to %s posts, which were created without one.", services.slugs.give_first_slugs)
render_posts = report("Rendered %s posts.", services.render_posts)
process_images = report("Processed %s images.", make_and_hide_files)
purge_history = report("Deleted the history of %s posts, which were deleted more than 30 days ago.", purge_posts)
purge_comments = report(
    "Deleted %s comments, which moderators or authors deleted more than 30 days ago.",
    lambda _: moderation.purge_comments(actor=WORKER),
)


def purge_images(_: Event) -> None:
    """Delete images that were deleted long ago, and files that no image names any more. Count the images."""
    services.images.render_late_posts()
    services.purge_images(actor=WORKER)
    services.delete_outdated_files(actor=WORKER)
    services.purge_uploads(actor=WORKER)
    services.image_figures.count_images()
