"""Django's database sessions, stored under a digest of the key in the cookie, and the actors who have them."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.http import HttpRequest, parse_cookie
from django.utils import timezone

from contentapi.core.encryption import decrypt, encrypt
from contentapi.core.identity import ANONYMOUS, ROLE_SCOPES, Actor, Role

PURPOSE = "secrets in sessions"


class SessionStore(db.SessionStore):
    """A session store in whose table no key of a session can be read."""

    def _get_session_from_db(self) -> Session | None:
        key = hash_session_key(self.session_key or "")
        stored = Session.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if stored is None:
            self._session_key = None
        return stored

    def exists(self, session_key: str) -> bool:
        return super().exists(hash_session_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        session: Session = super().create_model_instance(data)  # type: ignore[assignment]
        session.session_key = hash_session_key(session.session_key)
        return session

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(hash_session_key(key))


def build_session_actor(user: Any) -> Actor:
    """Return the actor of a user who is logged in to the admin site."""
    role = Role(user.role)
    return Actor(user_id=user.pk, role=role, scopes=ROLE_SCOPES[role], credential="session", interface="admin")


def get_actor(request: HttpRequest) -> Actor:
    """Return the actor of the user who is logged in; the anonymous actor if nobody is."""
    return build_session_actor(request.user) if request.user.is_authenticated else ANONYMOUS


def find_session_actor(environ: Mapping[str, Any]) -> Actor:
    """Return the actor of the session of a WSGI request that no middleware has seen; the anonymous actor if none."""
    request = HttpRequest()
    request.session = SessionStore(parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME))
    request.user = get_user(request)
    return get_actor(request)


def store_secret(session: SessionBase, name: str, value: Any) -> None:
    """Store a value, such as a token, in a form that nobody can read in the table without SECRET_KEY."""
    session[name] = b64encode(encrypt(PURPOSE, msgspec.json.encode(value), name)).decode()


def read_secret(session: SessionBase, name: str) -> Any:
    """Return the value that `store_secret` was given; None without one, and after a change of SECRET_KEY."""
    content = decrypt(PURPOSE, b64decode(session.get(name, "")), name)
    return None if content is None else msgspec.json.decode(content)


def hash_session_key(key: str) -> str:
    """Return 40 characters, the size of the key column in Django's table."""
    return blake2b(key.encode(), digest_size=20).hexdigest()
