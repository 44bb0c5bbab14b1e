"""Signing keys: from the environment, generated in a folder, rotated."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest
from cryptography.hazmat.primitives import serialization
from django.core.exceptions import ImproperlyConfigured

from contentapi.auth.jwk import Key, KeyProblem
from contentapi.auth.signing_keys import (
    RELOAD_INTERVAL,
    RETIRED_KEY_LIFETIME,
    UNKNOWN_KEY_INTERVAL,
    EnvironmentKeys,
    KeyDirectory,
    KeyRing,
    build_rotated_private_key_variable,
    load_key_ring,
    parse_private_keys,
)

FIRST, SECOND, THIRD = (Key.generate() for _ in range(3))
SECRET = "a secret of thirty-two bytes, at least"
SHARED = Key.from_secret(SECRET.encode())


GENERATE = Key.generate


@cache
def generate_key(number: int) -> Key:  # noqa: ARG001 - the number is the key of the cache
    return GENERATE()


read_key = cache(serialization.load_pem_private_key)


@pytest.fixture(autouse=True)
def compute_keys_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test the same keys in the same order: to generate or to check one takes 50 milliseconds."""
    numbers = count()
    monkeypatch.setattr(Key, "generate", lambda: generate_key(next(numbers)))
    monkeypatch.setattr(serialization, "load_pem_private_key", read_key)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def get_key_ids(keys: KeyRing) -> list[str]:
    return [key.kid for key in keys.list_rs256_keys()]


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


PROGRAM = """
import pathlib, sys
from contentapi.auth.signing_keys import KeyDirectory
sys.stdin.readline()
print(KeyDirectory(pathlib.Path(sys.argv[1])).get_signing_key().kid)
"""


@pytest.mark.servers
def test_concurrent_processes_get_the_same_first_key(tmp_path: Path) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "jwt")],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "contentapi.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in started:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()

    printed = {process.communicate(timeout=60)[0] for process in started}

    assert len(printed) == 1
    assert printed != {""}


def test_concurrent_threads_get_the_same_first_key(tmp_path: Path) -> None:
    keys, together = KeyDirectory(tmp_path / "jwt"), Barrier(4)

    def sign(_: int) -> str:
        together.wait()
        return keys.get_signing_key().kid

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(sign, range(4)))) == 1


def test_rotated_key_signs_and_the_old_key_verifies(tmp_path: Path) -> None:
    keys = KeyDirectory(tmp_path / "jwt")
    old = keys.get_signing_key()

    new = keys.rotate()

    assert new.kid != old.kid
    assert keys.get_signing_key() == new
    assert keys.get(old.kid) == old
    assert get_key_ids(keys) == [new.kid, old.kid]


def test_rotation_before_the_first_token_creates_the_first_key(tmp_path: Path) -> None:
    keys = KeyDirectory(tmp_path / "jwt")

    new = keys.rotate()

    assert get_key_ids(keys) == [new.kid]


def test_other_process_finds_a_new_key_at_once_by_its_id(tmp_path: Path) -> None:
    clock = Clock()
    here, there = KeyDirectory(tmp_path / "jwt", clock), KeyDirectory(tmp_path / "jwt")
    old = here.get_signing_key()

    new = there.rotate()

    assert here.get_signing_key() == old
    assert here.get(new.kid) == new
    assert here.get_signing_key() == new


def test_other_process_signs_with_a_new_key_after_the_reload_interval(tmp_path: Path) -> None:
    clock = Clock()
    here, there = KeyDirectory(tmp_path / "jwt", clock), KeyDirectory(tmp_path / "jwt")
    old = here.get_signing_key()
    new = there.rotate()

    clock.now += RELOAD_INTERVAL - 0.1
    assert here.get_signing_key() == old
    clock.now += 0.1
    assert here.get_signing_key() == new


def test_unknown_key_ids_cause_at_most_one_reload_per_second(tmp_path: Path) -> None:
    clock = Clock()
    here, there = KeyDirectory(tmp_path / "jwt", clock), KeyDirectory(tmp_path / "jwt")
    here.get_signing_key()
    here.get("unknown")
    new = there.rotate()

    assert here.get("also unknown") is None
    assert here.get(new.kid) is None
    clock.now += UNKNOWN_KEY_INTERVAL
    assert here.get(new.kid) == new


def test_regular_reload_does_not_delay_the_search_for_a_new_key(tmp_path: Path) -> None:
    clock = Clock()
    here, there = KeyDirectory(tmp_path / "jwt", clock), KeyDirectory(tmp_path / "jwt")
    old = here.get_signing_key()
    clock.now += RELOAD_INTERVAL
    here.get(old.kid)

    new = there.rotate()

    assert here.get(new.kid) == new


def retire(folder: Path, number: int, now: float, seconds: float) -> None:
    """Set the age of the next key, as if this key had been retired that many seconds ago."""
    os.utime(folder / f"{number + 1}.pem", (now - seconds, now - seconds))


@pytest.mark.parametrize(("seconds", "stays"), [(RETIRED_KEY_LIFETIME - 1, True), (RETIRED_KEY_LIFETIME + 1, False)])
def test_later_rotation_removes_a_key_whose_tokens_have_expired(tmp_path: Path, seconds: float, *, stays: bool) -> None:
    now = 1_000_000.0  # long before the keys are created
    keys = KeyDirectory(tmp_path)
    first, second = keys.get_signing_key(), keys.rotate(now)
    retire(tmp_path, 1, now, seconds)

    third = keys.rotate(now)

    expected = [third.kid, second.kid, *([first.kid] if stays else [])]
    assert get_key_ids(keys) == expected
    assert KeyDirectory(tmp_path).get_signing_key().kid == third.kid
    assert get_key_ids(KeyDirectory(tmp_path)) == expected


def test_key_numbers_continue_after_old_keys_are_removed(tmp_path: Path) -> None:
    now = 1_000_000.0  # long before the keys are created
    keys = KeyDirectory(tmp_path)
    keys.get_signing_key()
    for number in (1, 2, 3):
        keys.rotate(now)
        retire(tmp_path, number, now, RETIRED_KEY_LIFETIME + 1)

    keys.rotate(now)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["4.pem", "5.pem"]


def test_concurrent_rotations_leave_one_signing_key(tmp_path: Path) -> None:
    KeyDirectory(tmp_path).get_signing_key()
    together = Barrier(4)

    def rotate(_: int) -> str:
        keys = KeyDirectory(tmp_path)
        together.wait()
        return keys.rotate().kid

    with ThreadPoolExecutor(4) as pool:
        created = set(pool.map(rotate, range(4)))

    assert created <= set(get_key_ids(KeyDirectory(tmp_path)))
    assert KeyDirectory(tmp_path).get_signing_key().kid in created


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
    assert isinstance(load_key_ring(FIRST.private_pem, "", Path("unused")), EnvironmentKeys)
