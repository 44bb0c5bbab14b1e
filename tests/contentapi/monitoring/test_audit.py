"""The audit log: each event has actions that cause it, through every interface, and each action writes its line."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from blog import services
from blog.history import trash
from blog.services import moderation
from contentapi import settings as project
from contentapi.core.errors import Conflict
from contentapi.core.identity import OPERATOR, WORKER
from contentapi.monitoring.audit import AuditEvent
from orders import services as orders
from orders.models import OrderStatus
from tests.audit_lines import Lines
from tests.blog.markdown_files import build_file
from tests.contentapi.monitoring.audit_actions import make_key
from tests.contentapi.monitoring.audit_cases import CASES, Case
from tests.contentapi.monitoring.audit_scene import Scene
from tests.factories import make_order, make_post, make_user
from tests.users.oauth.flow import make_member
from users import services as user_services

ROOT = Path(__file__).resolve().parents[3]
EMAIL = re.compile(rb"[\w.]+@[\w.]+")
EVENTS = {event for kind in AuditEvent.__subclasses__() for event in kind}


@pytest.mark.django_db
@pytest.mark.parametrize("case", CASES, ids=str)
def test_action_writes_its_line(
    case: Case,
    lines: Lines,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    scene = Scene(settings, tmp_path)
    action = case.prepare(scene)

    with django_capture_on_commit_callbacks(execute=True):
        action()

    assert lines.events == [case.event] * case.number
    assert {fields["interface"] for fields in lines.fields} == {case.interface}
    text = repr(lines.fields).encode()
    assert not EMAIL.search(text)
    assert [secret for secret in scene.secrets if secret and secret.encode() in text and len(secret) > 12] == []
    assert all(value is not None for fields in lines.fields for value in fields.values())


def test_every_event_has_an_action() -> None:
    assert {case.event for case in CASES} == EVENTS


def test_documented_events_are_those_of_the_code() -> None:
    text = (ROOT / "docs/monitoring.md").read_text().partition("## Audit log")[2]
    table = text.partition("| Event |")[2].partition("\n\n")[0]

    rows = re.findall(r"^\| ((?:`[a-z_.]+`(?:, )?)+) \|", table, re.MULTILINE)

    assert sorted(re.findall(r"`([a-z_.]+)`", " ".join(rows))) == sorted(EVENTS)


@pytest.mark.django_db(transaction=True)
def test_line_has_the_request_id_of_the_response(lines: Lines, settings: Settings, tmp_path: Path) -> None:
    scene = Scene(settings, tmp_path)
    post = make_post()
    lines.fields.clear()
    lines.request_ids.clear()

    response = scene.request("DELETE", f"/posts/{post.pk}")

    assert lines.request_ids == [response.headers["X-Request-ID"]]
    prefix = scene.key.rpartition("_")[0]
    assert lines.fields == [
        {
            "event": "post.deleted",
            "actor_id": scene.user.pk,
            "credential": "api-key",
            "credential_id": f"key:{prefix}",
            "interface": "REST",
            "subject": "post",
            "subject_id": str(post.pk),
            "from": "published",
        }
    ]


@pytest.mark.django_db(transaction=True)
def test_action_that_is_rolled_back_writes_no_line(lines: Lines) -> None:
    post = make_post()

    def delete_and_fail() -> None:
        with transaction.atomic():
            services.delete_post(actor=OPERATOR, post_id=str(post.pk))
            raise Conflict("Later in the same transaction.")

    with pytest.raises(Conflict):
        delete_and_fail()

    assert lines.events == []


@pytest.mark.django_db(transaction=True)
def test_dry_run_of_an_import_writes_no_line(lines: Lines, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(build_file(title="A"))

    call_command("import_posts", str(tmp_path), "--dry-run", stdout=StringIO(), stderr=StringIO())

    assert lines.events == []


def test_line_is_written_at_any_log_level() -> None:
    loggers: Any = project.LOGGING["loggers"]

    assert loggers["contentapi.audit"] == {"level": "INFO"}


@pytest.mark.django_db
def test_failed_login_names_the_user_or_a_keyed_hash(
    lines: Lines, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    user = make_member("admin")

    with django_capture_on_commit_callbacks(execute=True):
        for email in (user.email, "Nobody@example.invalid", "nobody@EXAMPLE.invalid ", "other@example.invalid"):
            Client(REMOTE_ADDR="192.0.2.7").post("/oauth/login", {"username": email, "password": "wrong"})

    known, first, same, other = lines.fields
    common = {"event": "login.failed", "credential": "none", "interface": "OAuth", "subject": "user"}
    common |= {"reason": "refused", "address": "192.0.2.7"}
    assert known == {**common, "subject_id": str(user.pk)}
    assert first == {**common, "account": first["account"]}
    assert first["account"] == same["account"] != other["account"]
    assert re.fullmatch(r"[0-9a-f]{16}", first["account"])


@pytest.mark.django_db
def test_acts_without_effect_write_no_line(
    lines: Lines,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    scene = Scene(settings, tmp_path)
    post, user = make_post(), make_user(is_active=False)
    key = make_key(scene)
    user_services.revoke_api_key(actor=OPERATOR, prefix=key.prefix)
    cancelled = make_order(status=OrderStatus.CANCELLED)

    with django_capture_on_commit_callbacks(execute=True):
        scene.request("PATCH", f"/posts/{post.pk}", {"status": "published"})
        scene.request("PATCH", f"/posts/{post.pk}", {"title": "Other"})
        user_services.lock_user(actor=OPERATOR, user_id=str(user.pk))
        user_services.revoke_api_key(actor=OPERATOR, prefix=key.prefix)
        orders.cancel_order(actor=OPERATOR, order_id=str(cancelled.pk))
        trash.purge_history(actor=WORKER)
        moderation.purge_comments(actor=WORKER)
        Client().post("/oauth/logout")

    assert lines.events == []
