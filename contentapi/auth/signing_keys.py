"""Load the keys that sign and verify JWTs: from the environment, or generated in var/jwt/. Serve and check them.

The first key of JWT_PRIVATE_KEY signs (RS256), and all verify. JWT_SECRET verifies tokens with `alg` HS256, and signs
if there is no other key. With neither, a checkout generates its keys; the command `rotate_jwt_key` adds the next one.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings
from django.core.checks import Error, register
from django.core.exceptions import ImproperlyConfigured

from contentapi.auth.jwk import Key, KeyProblem
from contentapi.conf import conf
from contentapi.conf.checks import RANDOM, START_TAG
from contentapi.conf.environment import build_error
from contentapi.conf.secret_files import read_or_create
from contentapi.conf.timeouts import KEY_RELOAD_INTERVAL, KEY_SET_MAX_AGE, RETIRED_KEY_LIFETIME
from contentapi.core.identity import OPERATOR
from contentapi.http.documents import build_document_view
from contentapi.monitoring.audit import Audit

KEY_HINT = "Set it to an RSA key in PEM, the same for every process: openssl genrsa 2048"
PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", re.DOTALL)


class KeySet:
    """Keys. The first one signs."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self.keys = keys
        self.by_kid = {key.kid: key for key in reversed(keys)}  # of equal keys the first: it may be private
        self.default_key = next((key for key in keys if key.algorithm == "HS256"), None)

    def get(self, kid: str | None, /) -> Key | None:
        return self.default_key if kid is None else self.by_kid.get(kid)

    def get_signing_key(self) -> Key:
        return self.keys[0]

    def list_rs256_keys(self) -> list[Key]:
        """Return the RS256 keys, newest first. Only their public halves may be published."""
        return [key for key in reversed(self.by_kid.values()) if key.algorithm == "RS256"]


class KeyDirectory:
    """The keys in a folder: `1.pem`, `2.pem` and so on. The last one signs.

    Each process reads the folder again every `KEY_RELOAD_INTERVAL` seconds, and at once for an unknown key id.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = folder
        self.clock = clock
        self.lock = Lock()
        self.by_number: dict[int, Key] = {}  # newest first
        self.keys = KeySet([])
        self.loaded_at = float("-inf")

    def get(self, kid: str | None, /) -> Key | None:
        return self.get_recent_keys().get(kid) or self.load().get(kid)

    def get_signing_key(self) -> Key:
        keys = self.get_recent_keys()
        return (keys if self.by_number else self.create(1)).get_signing_key()

    def list_rs256_keys(self) -> list[Key]:
        self.get_signing_key()  # creates the first key
        return self.keys.list_rs256_keys()

    def rotate(self, now: float | None = None) -> Key:
        """Create the next signing key, and remove the keys whose last tokens have expired. Return the signing key.

        Concurrent rotations create one key. `now` is in seconds since 1970.
        """
        self.load()
        self.create(max(self.by_number, default=0) + 1)
        oldest = (time.time() if now is None else now) - RETIRED_KEY_LIFETIME
        for successor, number in pairwise(self.by_number):
            with suppress(FileNotFoundError):  # another rotation removes them too
                if self.get_path(successor).stat().st_mtime < oldest:
                    self.get_path(number).unlink()
        key = self.load().get_signing_key()
        Audit.JWT_KEY_ROTATED.record(OPERATOR, "jwt_key", key.kid, storage="folder")
        return key

    def create(self, number: int) -> KeySet:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        read_or_create(self.get_path(number), lambda: Key.generate().private_pem)
        return self.load()

    def get_recent_keys(self) -> KeySet:
        return self.keys if self.clock() - self.loaded_at < KEY_RELOAD_INTERVAL else self.load()

    def load(self) -> KeySet:
        """Return the keys that the folder has now. A file is read once."""
        with self.lock:
            try:
                numbers = [int(path.stem) for path in self.folder.glob("*.pem") if path.stem.isdecimal()]
                found = {each: self.by_number.get(each) or self.read(each) for each in sorted(numbers)[::-1]}
                self.by_number = {number: key for number, key in found.items() if key}
                self.keys = KeySet([*self.by_number.values()])
            finally:
                self.loaded_at = self.clock()  # beside a file that cannot be read, the known keys remain in use
            return self.keys

    def read(self, number: int) -> Key | None:
        try:
            return Key.from_pem(self.get_path(number).read_text())
        except FileNotFoundError:  # removed since the folder was listed
            return None
        except KeyProblem as error:
            raise ImproperlyConfigured(f"{self.get_path(number)} {error}; remove it.") from None

    def get_path(self, number: int) -> Path:
        return self.folder / f"{number}.pem"


KeyRing = KeySet | KeyDirectory


def get_key_ring() -> KeyRing:
    return load_key_ring(conf.environment.jwt_private_key, conf.environment.jwt_secret, conf.keys_folder)


@lru_cache(8)
def load_key_ring(private_key: str, secret: str, folder: Path | None) -> KeyRing:
    """Return the keys of JWT_PRIVATE_KEY and JWT_SECRET, or those in the folder if both are empty."""
    keys = [*parse_private_keys(private_key), *parse_hmac_secret(secret)]
    if keys:
        return KeySet(keys)
    if folder is None:
        raise ImproperlyConfigured("JWT_PRIVATE_KEY is required when DATABASE_URL is set.")
    return KeyDirectory(folder)


def build_rotated_private_key_variable(new: Key, ring: KeyRing) -> str:
    """Return a value for JWT_PRIVATE_KEY: `new` signs, and the keys of `ring` still verify."""
    return "".join([new.private_pem, *(key.public_pem for key in ring.list_rs256_keys())])


def parse_private_keys(text: str) -> list[Key]:
    """Return the keys of JWT_PRIVATE_KEY. The first one can sign. Raises `KeyProblem`."""
    if not text:
        return []
    blocks = [match[0] for match in PEM.finditer(text.replace("\\n", "\n"))]
    if not blocks or len(blocks) != text.count("-----BEGIN "):
        raise KeyProblem("cannot be read as a key in PEM")
    keys = [Key.from_pem(block) for block in blocks]
    if keys[0].signer is None:
        raise KeyProblem("must begin with a private key")
    return keys


def parse_hmac_secret(text: str) -> list[Key]:
    """Return the key of JWT_SECRET. Raises `KeyProblem`."""
    return [Key.from_secret(text.encode(errors="surrogateescape"))] if text else []


def render_key_set() -> bytes:
    """Return the public keys with which other services verify our JWTs (RFC 7517)."""
    return json.dumps({"keys": [key.public_jwk for key in get_key_ring().list_rs256_keys()]}).encode()


jwks = build_document_view("application/json", render_key_set, {"Cache-Control": f"public, max-age={KEY_SET_MAX_AGE}"})


@register(START_TAG)
def check_signing_keys(**_: Any) -> Iterator[Error]:
    """Check JWT_PRIVATE_KEY and JWT_SECRET. The messages never contain a key."""
    environment = settings.ENVIRONMENT
    if environment.database_url and not environment.jwt_private_key and not environment.jwt_secret:
        message = "JWT_PRIVATE_KEY is required when DATABASE_URL is set."
        yield build_error("JWT_PRIVATE_KEY", message, f"{KEY_HINT}. Or set JWT_SECRET.")
    try:
        parse_private_keys(environment.jwt_private_key)
    except KeyProblem as error:
        yield build_error("JWT_PRIVATE_KEY", f"JWT_PRIVATE_KEY {error}.", f"{KEY_HINT}.")
    try:
        parse_hmac_secret(environment.jwt_secret)
    except KeyProblem as error:
        yield build_error("JWT_SECRET", f"JWT_SECRET {error}.", f"Set it to random characters: {RANDOM}.")
