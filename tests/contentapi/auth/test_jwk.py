"""Which texts are valid keys, and what a key reveals."""

import hashlib
from typing import Any

import jwt as pyjwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jose import jwk

from contentapi.auth.jwk import Key, KeyProblem
from contentapi.auth.jwt import encode
from tests.contentapi.auth.tokens import CLAIMS, RSA, SECRET, SHARED, forge_token, get_public_forms, verify_token


@pytest.mark.parametrize("secret", [b"", b"x", b"x" * 31])
def test_short_secret_is_rejected(secret: bytes) -> None:
    with pytest.raises(KeyProblem, match="must have 32 bytes or more"):
        Key.from_secret(secret)


@pytest.mark.parametrize("form", ["PEM", "PKCS1 PEM"])
def test_key_in_pem_is_rejected_as_a_secret(form: str) -> None:
    with pytest.raises(KeyProblem, match="not a key in PEM"):
        Key.from_secret(get_public_forms()[form])


@pytest.mark.parametrize(
    "secret",
    [b'{"keys": ["a", "b"], "x": "yyyyyyyyyyyyyyy"}', b'["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbb"]', b"\xff" * 32],
)
def test_secret_that_looks_like_json_is_used_as_bytes(secret: bytes) -> None:
    key = Key.from_secret(secret)

    assert verify_token(forge_token({"alg": "HS256", "typ": "at+jwt"}, CLAIMS, secret), keys={None: key}) == CLAIMS
    assert verify_token(encode(CLAIMS, key), keys={key.kid: key}) == CLAIMS
    assert pyjwt.decode(
        encode(CLAIMS, key),
        secret,
        ["HS256"],
        audience="contentapi",
        options={"verify_exp": False, "verify_iat": False},
    )


def test_id_of_a_secret_is_constant_and_does_not_reveal_it() -> None:
    again, other = Key.from_secret(SECRET), Key.from_secret(SECRET + b".")

    assert again.kid == SHARED.kid != other.kid
    assert hashlib.sha256(SECRET).hexdigest()[:16] not in SHARED.kid
    assert SECRET.decode() not in repr(SHARED)


def get_pem(key: Any, password: bytes | None = None) -> str:
    hidden = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    text: str = key.private_bytes(pem, pkcs8, hidden).decode()
    return text


def test_short_rsa_key_is_rejected() -> None:
    short = rsa.generate_private_key(65537, 1024)  # noqa: S505 - short is the point

    with pytest.raises(KeyProblem, match="must have 2048 bits or more, and has 1024"):
        Key.from_pem(get_pem(short))


def test_key_other_than_rsa_is_rejected() -> None:
    with pytest.raises(KeyProblem, match="must be an RSA key"):
        Key.from_pem(get_pem(ec.generate_private_key(ec.SECP256R1())))


def test_encrypted_key_is_rejected() -> None:
    with pytest.raises(KeyProblem, match="is encrypted"):
        Key.from_pem(get_pem(RSA.signer.prepared_key, b"password"))


@pytest.mark.parametrize(
    "text",
    ["", "x", "-----BEGIN PRIVATE KEY-----", RSA.public_pem.replace("PUBLIC", "PRIVATE"), "é\ud800"],
    ids=range(5),
)
def test_text_other_than_pem_is_rejected_and_not_repeated(text: str) -> None:
    with pytest.raises(KeyProblem) as raised:
        Key.from_pem(text)

    assert str(raised.value) == "cannot be read as a key in PEM"
    assert raised.value.__suppress_context__


def test_key_is_restored_from_its_pem() -> None:
    private, public = Key.from_pem(RSA.private_pem), Key.from_pem(RSA.public_pem)

    assert (private.kid, public.kid, public.signer) == (RSA.kid, RSA.kid, None)
    assert verify_token(encode(CLAIMS, private)) == CLAIMS


def test_other_library_verifies_with_the_public_jwk() -> None:
    token = encode(CLAIMS, RSA)

    public = pyjwt.PyJWK(RSA.public_jwk)

    options: Any = {"verify_exp": False, "verify_iat": False}
    assert pyjwt.decode(token, public.key, ["RS256"], audience="contentapi", options=options) == CLAIMS
    assert set(RSA.public_jwk) == {"kty", "kid", "use", "alg", "n", "e"}


def test_id_of_an_rsa_key_is_its_thumbprint() -> None:
    from jwcrypto.jwk import JWK

    assert RSA.kid == JWK(**RSA.public_jwk).thumbprint()


def test_repr_does_not_contain_the_key() -> None:
    assert repr(RSA) == f"Key(kid={RSA.kid!r}, algorithm='RS256')"
    assert jwk.construct(SECRET, "HS256").prepared_key not in repr(SHARED).encode()
