"""Settings that each request asks for, near at hand.

Django's `settings` looks an attribute up by a function in Python, and a request asks for some twenty: four microseconds
of the twenty that `{ __typename }` takes. What every request asks for is asked for here, all else of `settings`. What
changes by `override_settings` in a test changes here, too.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.signals import setting_changed

if TYPE_CHECKING:
    from contentapi.conf.environment import Environment


class Settings:
    """The settings by their lower-case names, read when they are first asked for."""

    @cached_property
    def environment(self) -> "Environment":
        environment: Environment = settings.ENVIRONMENT
        return environment

    @cached_property
    def allowed_hosts(self) -> tuple[str, ...]:
        return tuple(settings.ALLOWED_HOSTS)

    @cached_property
    def https(self) -> bool:
        return bool(settings.HTTPS)

    @cached_property
    def public_url(self) -> str:
        return str(settings.PUBLIC_URL)

    @cached_property
    def keys_folder(self) -> Path | None:
        """Where an embedded server keeps the keys that it makes for itself."""
        return settings.VAR_DIR / "jwt" if settings.EMBEDDED else None

    def clear(self, **_: Any) -> None:
        vars(self).clear()


conf = Settings()
setting_changed.connect(conf.clear)
