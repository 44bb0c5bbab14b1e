"""The cached settings."""

from msgspec import structs
from pytest_django import Settings

from contentapi.conf import conf


def test_changed_setting_clears_the_cache(settings: Settings) -> None:
    before = conf.environment.port

    settings.ENVIRONMENT = structs.replace(settings.ENVIRONMENT, port=before + 1)

    assert conf.environment.port == before + 1


def test_generated_keys_have_a_folder_only_without_a_database_url(settings: Settings) -> None:
    settings.EMBEDDED = True
    assert conf.keys_folder == settings.VAR_DIR / "jwt"

    settings.EMBEDDED = False
    assert conf.keys_folder is None
