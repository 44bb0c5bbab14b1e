"""Rotation of signing keys in a folder: new keys, reloads by other processes, and the end of old keys."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from django.core.exceptions import ImproperlyConfigured

from contentapi.auth.signing_keys import KeyDirectory
from contentapi.conf.timeouts import KEY_RELOAD_INTERVAL, RETIRED_KEY_LIFETIME
from tests.contentapi.auth.signing_keys import get_key_ids
from tests.contentapi.rate_limits.counting import Clock

pytestmark = pytest.mark.usefixtures("known_keys")


def test_rotated_key_signs_and_the_old_key_verifies(tmp_path: Path) -> None:
    keys = KeyDirectory(tmp_path / "jwt")
    old = keys.get_signing_key()

    new = keys.rotate()

    assert new.kid != old.kid
    assert keys.get_signing_key() == new
    assert keys.get(old.kid) == old
    assert get_key_ids(keys) == [new.kid, old.kid]


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

    clock.now += KEY_RELOAD_INTERVAL - 0.1
    assert here.get_signing_key() == old
    clock.now += 0.1
    assert here.get_signing_key() == new


def test_file_that_is_no_key_leaves_the_known_keys_in_use(tmp_path: Path) -> None:
    clock = Clock()
    keys = KeyDirectory(tmp_path, clock)
    known = keys.get_signing_key()
    (tmp_path / "2.pem").write_text("-----BEGIN")
    clock.now += KEY_RELOAD_INTERVAL

    with pytest.raises(ImproperlyConfigured, match="remove it"):
        keys.get(known.kid)

    assert keys.get(known.kid) == known


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
