"""The keys that sign and verify bearer tokens: from the environment, or made and kept in var/jwt/.

JWT_PRIVATE_KEY signs with its first key (RS256) and verifies with all. JWT_SECRET verifies tokens with `alg` HS256, and
signs where there is no other key. With neither, a checkout makes its own; `rotate_jwt_key` adds the next.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Protocol

from django.core.exceptions import ImproperlyConfigured

from contentapi.auth.jwt import LEEWAY, LONGEST_LIFE, Key, KeyProblem
from contentapi.conf import conf
from contentapi.conf.secret_files import read_or_create

PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", re.DOTALL)
RELOAD_INTERVAL = 5.0  # seconds between looks into the folder
LOOK_FOR_UNKNOWN_EVERY = 1.0  # and between those which a key that nobody knows asks for
KEPT_AFTER_RETIREMENT = LONGEST_LIFE + LEEWAY + 60  # seconds; the last 60 for servers that learn of the next key late


class KeyRing(Protocol):
    """Keys to verify with by `get`, as `contentapi.auth.jwt.verify` takes them, and the one to sign with."""

    def get(self, kid: str | None, /) -> Key | None: ...

    def signing_key(self) -> Key: ...

    def public_keys(self) -> list[Key]:
        """Return the keys whose public halves anybody may know."""
        ...


class EnvironmentKeys:
    """The keys of the environment, the first of which signs."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self.keys = keys
        self.by_kid = {key.kid: key for key in reversed(keys)}  # of two alike the first, which may be private
        self.default_key = next((key for key in keys if key.algorithm == "HS256"), None)

    def get(self, kid: str | None, /) -> Key | None:
        return self.default_key if kid is None else self.by_kid.get(kid)

    def signing_key(self) -> Key:
        return self.keys[0]

    def public_keys(self) -> list[Key]:
        return [key for key in reversed(self.by_kid.values()) if key.algorithm == "RS256"]


class KeyDirectory:
    """The keys in a folder: `1.pem`, `2.pem` and so on, of which the last signs.

    Processes learn of each other's keys by looking into it: every `RELOAD_INTERVAL` seconds, and at once for a key that they
    do not know, but for those only every `LOOK_FOR_UNKNOWN_EVERY` seconds, as anybody can make one up.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = folder
        self.clock = clock
        self.lock = Lock()
        self.keys: dict[int, Key] = {}
        self.by_kid: dict[str, Key] = {}
        self.looked = self.looked_for_unknown = float("-inf")

    def get(self, kid: str | None, /) -> Key | None:
        if kid is None:
            return None
        self.reload_if_stale()
        return self.by_kid.get(kid) or self.get_unknown(kid)

    def get_unknown(self, kid: str) -> Key | None:
        now = self.clock()
        if now - self.looked_for_unknown < LOOK_FOR_UNKNOWN_EVERY:
            return None
        self.looked_for_unknown = now
        self.reload()
        return self.by_kid.get(kid)

    def signing_key(self) -> Key:
        self.reload_if_stale()
        if not self.keys:
            self.make(1)
        return sort_newest_first(self.keys)[0]

    def public_keys(self) -> list[Key]:
        self.signing_key()  # which makes the first
        return sort_newest_first(self.keys)

    def rotate(self, now: float | None = None) -> Key:
        """Make the next signing key; remove those whose last tokens have expired. Two at once make one key."""
        self.reload()
        self.make(max(self.keys, default=0) + 1)
        long_ago = (time.time() if now is None else now) - KEPT_AFTER_RETIREMENT
        for number, successor in pairwise(sorted(self.keys)):
            with suppress(FileNotFoundError):  # another rotation is removing them too
                if self.path(successor).stat().st_mtime < long_ago:
                    self.path(number).unlink()
        self.reload()
        return self.signing_key()

    def make(self, number: int) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        read_or_create(self.path(number), lambda: Key.generate().private_pem)
        self.reload()

    def reload_if_stale(self) -> None:
        if self.clock() - self.looked >= RELOAD_INTERVAL:
            self.reload()

    def reload(self) -> None:
        with self.lock:
            self.looked = self.clock()
            numbers = {int(path.stem) for path in self.folder.glob("*.pem") if path.stem.isdecimal()}
            if numbers != self.keys.keys():
                found = {number: self.keys.get(number) or self.read(number) for number in numbers}
                self.keys = {number: key for number, key in found.items() if key}
                self.by_kid = {key.kid: key for key in self.keys.values()}

    def read(self, number: int) -> Key | None:
        try:
            return Key.from_pem(self.path(number).read_text())
        except FileNotFoundError:  # removed a moment ago
            return None
        except KeyProblem as problem:
            raise ImproperlyConfigured(f"{self.path(number)} {problem}; remove it.") from None

    def path(self, number: int) -> Path:
        return self.folder / f"{number}.pem"


def sort_newest_first(keys: Mapping[int, Key]) -> list[Key]:
    return [keys[number] for number in sorted(keys, reverse=True)]


def get_key_ring() -> KeyRing:
    """Return the keys of this process."""
    given = conf.environment
    return load_key_ring(given.jwt_private_key, given.jwt_secret, conf.keys_folder)


@lru_cache(8)
def load_key_ring(private_key: str, secret: str, folder: Path | None) -> KeyRing:
    """Return the keys of an environment; without any, those in the folder."""
    given = [*parse_private_keys(private_key), *parse_hmac_secret(secret)]
    if given:
        return EnvironmentKeys(given)
    if folder is None:
        raise ImproperlyConfigured("JWT_PRIVATE_KEY is required when DATABASE_URL is set.")
    return KeyDirectory(folder)


def build_next_private_key(new: Key, ring: KeyRing) -> str:
    """Return a value for JWT_PRIVATE_KEY with which `new` signs, and the tokens of this ring are still verified."""
    return "".join([new.private_pem, *(key.public_pem for key in ring.public_keys())])


def parse_private_keys(text: str) -> list[Key]:
    """Return the keys of JWT_PRIVATE_KEY, the first of which can sign. Raises `KeyProblem`."""
    if not text:
        return []
    blocks = [match[0] for match in PEM.finditer(text.replace("\\n", "\n"))]
    if not blocks or len(blocks) != text.count("-----BEGIN "):
        raise KeyProblem("cannot be read as a key in PEM")
    found = [Key.from_pem(block) for block in blocks]
    if found[0].signer is None:
        raise KeyProblem("must begin with a private key")
    return found


def parse_hmac_secret(text: str) -> list[Key]:
    """Return the key of JWT_SECRET. Raises `KeyProblem`."""
    return [Key.from_secret(text.encode(errors="surrogateescape"))] if text else []
