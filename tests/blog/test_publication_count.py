"""The metric contentapi_posts_published_total: each publication counts once, when it is committed."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from blog import services
from blog.files.importing import import_file
from blog.files.reading import find_markdown_files
from blog.models import PostStatus
from contentapi.core.identity import OPERATOR, Role
from contentapi.monitoring.figures import FIGURES
from tests.factories import make_actor, make_post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIGURES, "is_enabled", True)
    monkeypatch.setattr(FIGURES, "counters", {})


def read_counts() -> dict[str, float]:
    return {labels[0]: value for (name, labels), value in FIGURES.counters.items() if "published" in name}


def test_creation_and_edits_count_when_they_publish() -> None:
    actor = make_actor(Role.EDITOR).through("GraphQL")
    services.create_post(actor=actor, title="a", body="b", status=PostStatus.PUBLISHED)
    draft = services.create_post(actor=actor, title="a", body="b")
    services.edit_post(actor=actor.through("REST"), post_id=str(draft.pk), changes={"status": PostStatus.PUBLISHED})
    services.edit_post(actor=actor.through("REST"), post_id=str(draft.pk), changes={"title": "c"})

    assert read_counts() == {"GraphQL": 1, "REST": 1}


def test_publication_that_is_rolled_back_does_not_count() -> None:
    actor = make_actor(Role.EDITOR).through("GraphQL")
    with transaction.atomic():
        services.create_post(actor=actor, title="a", body="b", status=PostStatus.PUBLISHED)
        transaction.set_rollback(True)

    assert read_counts() == {}


def test_due_posts_count_for_the_worker() -> None:
    make_post(status=PostStatus.SCHEDULED, publish_at=timezone.now() - timedelta(minutes=1))

    assert len(list(services.publish_due(actor=OPERATOR.through("worker")))) == 1

    assert read_counts() == {"worker": 1}


def test_import_counts_new_public_posts(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text('+++\ntitle = "A"\ndate = 2026-01-02\n+++\nText\n')
    (tmp_path / "b.md").write_text('+++\ntitle = "B"\ndraft = true\n+++\nText\n')
    for _ in range(2):
        for file in find_markdown_files([tmp_path], source="x"):
            import_file(actor=OPERATOR.through("import"), file=file)

    assert read_counts() == {"import": 1}
