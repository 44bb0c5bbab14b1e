"""Uploads: a larger body for people who may import or upload images, on their paths; the usual limit for others."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import DatabaseError, connections
from django.test import Client
from django.urls import reverse

from blog.desk import uploads
from contentapi.core.errors import RateLimited, Unavailable
from contentapi.core.identity import Actor, Role
from contentapi.db.engine.slots import NoSlotAvailable
from contentapi.http.body import UploadTooLarge
from contentapi.http.uploads import SpooledBody, Upload
from contentapi.server.complete_requests import RequestBufferingLayer
from tests.blog.archives import build_archive
from tests.contentapi.server.conftest import LIMIT
from tests.factories import make_user
from tests.wsgi import WsgiResponse, call_application
from users.models import User

pytestmark = pytest.mark.usefixtures("small_limit")
PATH = reverse("admin:blog_importjob_add")
UPLOAD = 5000
EXCESS = "At most {limit:,} bytes."
SENDER = Actor(7, Role.AUTHOR)


@pytest.fixture(autouse=True)
def use_own_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """These slots lend the test's own connection."""
    own = {"default": connections["default"]}
    monkeypatch.setattr("contentapi.db.engine.slots.create_wrappers", lambda: own)
    monkeypatch.setattr(own["default"], "close_if_unusable_or_obsolete", lambda: None)


class Application:
    """Reads the body of each request."""

    def __init__(self) -> None:
        self.body: bytes | Exception = b""
        self.stream: Any = None
        self.environ: dict[str, Any] = {}

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        self.stream, self.environ = environ["wsgi.input"], environ
        try:
            self.body = self.stream.read()
        except (OSError, UploadTooLarge, Unavailable, RateLimited) as error:
            self.body = error
        start_response("200 OK", [])
        return [b""]


def refuse(environ: dict[str, Any], error: NoSlotAvailable, start_response: Callable[..., Any]) -> Iterable[bytes]:
    raise AssertionError(environ, error, start_response)


def send(application: Any, content: bytes, *, upload: Upload | None = None, **changes: Any) -> WsgiResponse:
    layer = RequestBufferingLayer(application, refuse, slots=1, uploads=[upload] if upload else [])
    return call_application(layer, "POST", PATH, content, SERVER_PROTOCOL="HTTP/1.1", **changes)


def allow(*, is_allowed: bool = True) -> Upload:
    return build_upload(lambda _: SENDER if is_allowed else None)


def build_upload(find_sender: Callable[[Any], Actor | None], *, is_metered: bool = False) -> Upload:
    return Upload("POST", re.compile(re.escape(PATH)), UPLOAD, find_sender, EXCESS, is_metered)


def test_allowed_upload_is_spooled_to_a_file() -> None:
    application = Application()

    send(application, b"x" * UPLOAD, upload=allow())

    assert application.body == b"x" * UPLOAD
    assert isinstance(application.stream, SpooledBody)
    assert application.stream.file.closed


@pytest.mark.parametrize("length", [LIMIT, 10])
def test_small_body_needs_no_permission(length: int) -> None:
    application = Application()

    def fail(_: object) -> Actor:
        raise AssertionError

    send(application, b"x" * length, upload=build_upload(fail))

    assert application.body == b"x" * length


@pytest.mark.parametrize(
    "changes", [{"PATH_INFO": "/admin/blog/post/add/"}, {"PATH_INFO": "/graphql"}, {"REQUEST_METHOD": "PUT"}]
)
def test_other_requests_have_the_usual_limit(changes: dict[str, str]) -> None:
    application = Application()

    send(application, b"x" * (LIMIT + 1), upload=allow(), **changes)

    assert application.body == b""


def test_upload_that_is_not_allowed_is_not_read_into_the_application() -> None:
    application = Application()

    send(application, b"x" * (LIMIT + 1), upload=allow(is_allowed=False))

    assert isinstance(application.body, UploadTooLarge)
    assert str(application.body) == "You may not send a body of this size."


CHUNKED = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}


@pytest.mark.parametrize(("changes", "far"), [({}, 2 * UPLOAD + 1), (CHUNKED, 3 * UPLOAD)], ids=["length", "chunked"])
def test_upload_over_its_limit_is_refused_with_the_limit(changes: dict[str, str], far: int) -> None:
    for length, header in {UPLOAD + 1: None, far: "close"}.items():
        application = Application()

        _, headers, _ = send(application, b"x" * length, upload=allow(), **changes)

        assert (str(application.body), headers.get("Connection")) == ("At most 5,000 bytes.", header), length


def test_chunked_upload_becomes_a_body_with_a_length() -> None:
    application = Application()

    send(application, b"x" * UPLOAD, upload=allow(), **CHUNKED)

    assert application.body == b"x" * UPLOAD
    assert application.environ["CONTENT_LENGTH"] == str(UPLOAD)
    assert "HTTP_TRANSFER_ENCODING" not in application.environ


def test_upload_that_ends_early_is_broken() -> None:
    application = Application()

    _, headers, _ = send(application, b"x" * 2000, upload=allow(), CONTENT_LENGTH="3000")

    assert isinstance(application.body, OSError)
    assert headers["Connection"] == "close"


@pytest.mark.parametrize(
    "error", [DatabaseError("the connection is lost"), NoSlotAvailable("connection slots", "all are in use")]
)
def test_upload_without_a_slot_or_the_database_may_be_repeated(error: Exception) -> None:
    def fail(_: object) -> Actor:
        raise error

    application = Application()

    send(application, b"x" * 2000, upload=build_upload(fail))

    assert isinstance(application.body, Unavailable)


def get_cookies(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"{django_settings.SESSION_COOKIE_NAME}={client.cookies[django_settings.SESSION_COOKIE_NAME].value}"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "allowed"), [(Role.READER, False), (Role.AUTHOR, False), (Role.EDITOR, True), (Role.ADMIN, True)]
)
def test_session_of_an_editor_or_an_admin_may_upload(role: Role, *, allowed: bool) -> None:
    user = make_user(role)
    sender = uploads.find_importer({"HTTP_COOKIE": get_cookies(user)})
    assert (sender and sender.user_id) == (user.pk if allowed else None)


@pytest.mark.django_db
def test_request_without_a_valid_session_may_not_upload() -> None:
    editor = make_user(Role.EDITOR)
    cookie = get_cookies(editor)
    User.objects.filter(pk=editor.pk).update(is_active=False)

    assert not uploads.find_importer({"HTTP_COOKIE": cookie})
    assert not uploads.find_importer({"HTTP_COOKIE": f"{django_settings.SESSION_COOKIE_NAME}=x"})
    assert not uploads.find_importer({"HTTP_COOKIE": "ÿ;=;"})
    assert not uploads.find_importer({})


@pytest.mark.django_db
def test_large_upload_of_an_author_gets_an_html_page_with_413() -> None:
    status, headers, body = send(
        WSGIHandler(),
        build_archive({"a.md": "x"}).getvalue() + b"x" * LIMIT,
        upload=uploads.build_uploads()[0],
        CONTENT_TYPE="multipart/form-data; boundary=x",
        HTTP_COOKIE=f"{get_cookies(make_user(Role.AUTHOR))}; csrftoken={'a' * 32}",
    )

    assert status == 413
    assert headers["Content-Type"].startswith("text/html")
    assert b"You may not send a body of this size." in body


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "allowed"), [(Role.READER, False), (Role.AUTHOR, True)])
def test_session_of_an_author_may_upload_images_on_the_pages_of_the_desk(role: Role, *, allowed: bool) -> None:
    paths = [reverse("admin:blog_image_add"), reverse("admin:blog_image_replace", args=[7])]
    environ = {"HTTP_COOKIE": get_cookies(make_user(role)), "REQUEST_METHOD": "POST"}

    for path in paths:
        (upload,) = [each for each in uploads.build_uploads() if each.matches({**environ, "PATH_INFO": path})]
        assert (upload.find_sender(environ) is not None) == allowed, path
