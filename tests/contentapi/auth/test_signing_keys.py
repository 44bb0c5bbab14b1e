"""Signing keys: from the environment, and the first one, generated in a folder."""

import stat
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from contentapi.auth.jwk import Key, KeyProblem
from contentapi.auth.signing_keys import (
    KeyDirectory,
    KeySet,
    build_rotated_private_key_variable,
    load_key_ring,
    parse_private_keys,
)
from tests.contentapi.auth.signing_keys import get_key_ids
from tests.contentapi.auth.tokens import OTHER, RSA, SHARED

pytestmark = pytest.mark.usefixtures("known_keys")

FIRST, SECOND, THIRD = RSA, OTHER, Key.generate()
SECRET = "a secret of thirty-two bytes, at least"


# --- From the environment -------------------------------------------------------------------------------


def test_first_private_key_signs_and_all_keys_verify() -> None:
    keys = load_key_ring(FIRST.private_pem + SECOND.public_pem + THIRD.private_pem, SECRET, None)

    assert keys.get_signing_key() == FIRST
    assert [keys.get(key.kid) for key in (FIRST, SECOND, THIRD, SHARED)] == [FIRST, SECOND, THIRD, SHARED]
    assert keys.get(None) == SHARED
    assert keys.get("another") is None
    assert get_key_ids(keys) == [FIRST.kid, SECOND.kid, THIRD.kid]


def test_secret_signs_without_a_private_key_and_is_never_public() -> None:
    keys = load_key_ring("", SECRET, Path("nowhere"))

    assert keys.get_signing_key() == SHARED
    assert get_key_ids(keys) == []
    assert not Path("nowhere").exists()


def test_without_a_secret_there_is_no_default_key() -> None:
    assert load_key_ring(FIRST.private_pem, "", None).get(None) is None


@pytest.mark.parametrize(
    "text",
    [
        FIRST.private_pem.strip(),
        FIRST.private_pem.replace("\n", "\\n"),
        FIRST.private_pem.replace("\n", "\r\n"),
        f"a comment\n{FIRST.private_pem}\n\n",
        FIRST.private_pem + FIRST.public_pem,
    ],
    ids=["plain", "escaped", "CRLF", "comment", "both halves"],
)
def test_private_key_is_read_from_each_form_of_a_variable(text: str) -> None:
    keys = load_key_ring(text, "", None)

    assert keys.get_signing_key().kid == FIRST.kid
    assert keys.get_signing_key().signer
    assert keys.get(FIRST.kid) == keys.get_signing_key()


@pytest.mark.parametrize(
    "text",
    [
        "hush",
        FIRST.private_pem.replace("-----END", "---END"),
        FIRST.private_pem + FIRST.private_pem[:300],
        FIRST.private_pem.replace("A", "*"),
        FIRST.public_pem + FIRST.private_pem,
        "-----BEGIN CERTIFICATE-----\nhush\n-----END CERTIFICATE-----",
    ],
    ids=range(6),
)
def test_invalid_private_key_raises_an_error_without_the_key(text: str) -> None:
    with pytest.raises(KeyProblem) as raised:
        parse_private_keys(text)

    assert len(str(raised.value)) < 50
    assert "hush" not in str(raised.value)


def test_deployment_without_keys_raises_improperly_configured() -> None:
    with pytest.raises(ImproperlyConfigured, match="JWT_PRIVATE_KEY is required"):
        load_key_ring("", "", None)


@pytest.mark.parametrize("before", [FIRST.private_pem + SECOND.public_pem, FIRST.private_pem], ids=["two", "one"])
def test_next_value_signs_with_the_new_key_and_verifies_with_the_old(before: str) -> None:
    old, new = load_key_ring(before, "", None), Key.generate()

    value = build_rotated_private_key_variable(new, old)

    keys = load_key_ring(value, "", None)
    assert keys.get_signing_key() == new
    assert get_key_ids(keys) == [new.kid, *get_key_ids(old)]
    assert value.count("PRIVATE KEY-----") == 2
    assert FIRST.private_pem not in value


# --- In a folder ----------------------------------------------------------------------------------------


def test_first_key_is_created_on_demand_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "var" / "jwt"
    keys = KeyDirectory(folder)

    assert keys.get("anything") is None
    assert not folder.exists()
    created = keys.get_signing_key()

    assert [path.name for path in folder.iterdir()] == ["1.pem"]
    assert stat.S_IMODE((folder / "1.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert KeyDirectory(folder).get_signing_key().kid == created.kid
    assert keys.get(None) is None


def test_other_files_in_the_folder_are_not_keys(tmp_path: Path) -> None:
    keys = KeyDirectory(tmp_path)
    first = keys.get_signing_key()
    for name in ("notes.txt", "old.pem", "tmpabcd", "-2.pem", "9.pem.bak"):
        (tmp_path / name).write_text("nothing")

    assert get_key_ids(KeyDirectory(tmp_path)) == [first.kid]


def test_broken_key_file_is_named_without_its_content(tmp_path: Path) -> None:
    (tmp_path / "1.pem").write_text("hush")

    with pytest.raises(ImproperlyConfigured) as raised:
        KeyDirectory(tmp_path).get_signing_key()

    assert str(raised.value) == f"{tmp_path / '1.pem'} cannot be read as a key in PEM; remove it."


def test_keys_of_the_environment_are_not_in_a_folder() -> None:
    assert isinstance(load_key_ring(FIRST.private_pem, "", Path("unused")), KeySet)
