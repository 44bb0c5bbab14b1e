"""Sessions of those who log in: Django's in the database, where a digest stands for the key that the cookie holds."""

from hashlib import blake2b
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone


class SessionStore(db.SessionStore):
    """A copy of the database lets nobody into a session."""

    def _get_session_from_db(self) -> Session | None:
        stored = Session.objects.filter(
            session_key=digest(self.session_key or ""), expire_date__gt=timezone.now()
        ).first()
        if stored is None:
            self._session_key = None
        return stored

    def exists(self, session_key: str) -> bool:
        return super().exists(digest(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        session: Session = super().create_model_instance(data)  # type: ignore[assignment]
        session.session_key = digest(session.session_key)
        return session

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(digest(key))


def digest(key: str) -> str:
    """Return 40 characters, which is what Django's table has room for."""
    return blake2b(key.encode(), digest_size=20).hexdigest()
