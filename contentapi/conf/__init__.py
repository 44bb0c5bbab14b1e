"""Settings: the environment variables, and a cache of what most requests read.

`override_settings` clears the cache. Django's `settings` looks up each attribute in Python code. A request reads some
twenty settings, which would take four of the twenty microseconds of `{ __typename }`.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from contentapi.conf.environment import Environment


class CachedSettings:
    """Settings by their lower-case names."""

    environment: Environment
    https: bool
    debug: bool
    public_url: str

    @cached_property
    def allowed_hosts(self) -> tuple[str, ...]:
        return tuple(settings.ALLOWED_HOSTS)

    @cached_property
    def origin(self) -> str:
        """The origin of this service: CONTENTAPI_PUBLIC_URL, or a guess from ALLOWED_HOSTS."""
        if self.public_url:
            return self.public_url
        host = next((host.lstrip(".") for host in self.environment.allowed_hosts if host != "*"), "localhost")
        return f"https://{host}" if self.https else f"http://{host}:{self.environment.port}"

    @cached_property
    def keys_folder(self) -> Path | None:
        """The folder of the generated signing keys. None with DATABASE_URL, which needs keys from the environment."""
        return settings.VAR_DIR / "jwt" if settings.EMBEDDED else None

    def clear(self, **_: Any) -> None:
        vars(self).clear()
        self.__class__ = UnreadSettings


class UnreadSettings(CachedSettings):
    """Settings before their first use, which reads them. `__getattr__` makes each look-up ten times as long."""

    def __getattr__(self, name: str) -> Any:
        vars(self).update({each: getattr(settings, each.upper()) for each in CachedSettings.__annotations__})
        self.__class__ = CachedSettings  # type: ignore[assignment]
        return getattr(self, name)


conf: CachedSettings = UnreadSettings()
setting_changed.connect(conf.clear)
