"""The keys that sign and verify JWTs: RSA keys (RS256) and shared secrets (HS256), and their public form (RFC 7517)."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jose import jwk
from jose.exceptions import JOSEError

MIN_SECRET = 32  # bytes
MIN_RSA = 2048  # bits


class KeyProblem(ValueError):
    """Why a text is not a valid key: a predicate like "must be an RSA key". It never contains the key."""


@dataclass(frozen=True)
class Key:
    """A key with its id and its only algorithm. Without `signer` it can only verify."""

    kid: str
    algorithm: str
    verifier: Any = field(repr=False, compare=False)
    signer: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def from_secret(cls, secret: bytes) -> "Key":
        """Return the HS256 key of a secret. Its id does not reveal the secret. Raises `KeyProblem`."""
        if len(secret) < MIN_SECRET:
            raise KeyProblem(f"must have {MIN_SECRET} bytes or more")
        try:
            shared = jwk.construct(secret, "HS256")
        except JOSEError:
            raise KeyProblem("must be a secret, not a key in PEM or SSH form") from None
        label = hmac.digest(secret, b"contentapi.jwt kid", "sha256").hex()[:16]
        # Pass the key object on: python-jose would parse a secret that looks like JSON.
        return cls(f"hs-{label}", "HS256", shared, shared)

    @classmethod
    def from_pem(cls, pem: str) -> "Key":
        """Return the RS256 key of one PEM block, private or public. Raises `KeyProblem`."""
        data = pem.encode(errors="replace")
        try:
            if "PRIVATE KEY-----" in pem:
                key: object = serialization.load_pem_private_key(data, password=None)
            else:
                key = serialization.load_pem_public_key(data)
        except TypeError:
            raise KeyProblem("is encrypted, and must not be") from None
        except (ValueError, UnsupportedAlgorithm):
            raise KeyProblem("cannot be read as a key in PEM") from None
        return cls.from_rsa(key)

    @classmethod
    def from_rsa(cls, key: object) -> "Key":
        """Return the RS256 key of an RSA key of `cryptography`. Raises `KeyProblem`."""
        if not isinstance(key, rsa.RSAPrivateKey | rsa.RSAPublicKey):
            raise KeyProblem("must be an RSA key")
        if key.key_size < MIN_RSA:
            raise KeyProblem(f"must have {MIN_RSA} bits or more, and has {key.key_size}")
        constructed = jwk.construct(key, "RS256")
        verifier = constructed.public_key()
        signer = None if constructed.is_public() else constructed
        return cls(compute_thumbprint(verifier.to_dict()), "RS256", verifier, signer)

    @classmethod
    def generate(cls) -> "Key":
        """Return a new RS256 key. Takes about 50 milliseconds."""
        return cls.from_rsa(rsa.generate_private_key(public_exponent=65537, key_size=MIN_RSA))

    @property
    def private_pem(self) -> str:
        return str(self.signer.to_pem().decode())

    @property
    def public_pem(self) -> str:
        return str(self.verifier.to_pem().decode())

    @property
    def public_jwk(self) -> dict[str, str]:
        """The public half of an RS256 key as a JSON Web Key (RFC 7517)."""
        public = self.verifier.to_dict()
        return {"kty": "RSA", "kid": self.kid, "use": "sig", "alg": "RS256", "n": public["n"], "e": public["e"]}


def compute_thumbprint(public: Mapping[str, str]) -> str:
    """Return the thumbprint of a public RSA key (RFC 7638), which is its id."""
    required = {"e": public["e"], "kty": "RSA", "n": public["n"]}
    return encode_base64url(hashlib.sha256(json.dumps(required, separators=(",", ":")).encode()).digest())


def encode_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
