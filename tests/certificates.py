"""Certificates for servers of tests, signed by an authority of the test alone."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """An authority. `path` is the file of its certificate, for `SSL_CERT_FILE`.

    The certificates have the extensions that Python requires from 3.13 on (`ssl.VERIFY_X509_STRICT`, RFC 5280).
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.key = folder, ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])
        self.path = folder / "authority.pem"
        certificate = self.sign(
            self.name,
            self.key.public_key(),
            x509.BasicConstraints(ca=True, path_length=0),
            x509.KeyUsage(
                key_cert_sign=True, crl_sign=True, digital_signature=False, content_commitment=False,
                key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
                decipher_only=False,
            ),
        )  # fmt: skip
        self.path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def sign(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, *critical: x509.ExtensionType, days: int = 1
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(self.name, subject, key, x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=9)).not_valid_after(now + timedelta(days=days))
        for extension in critical:
            builder = builder.add_extension(extension, critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        return builder.add_extension(issuer, critical=False).sign(self.key, hashes.SHA256())

    def create_context(self, *names: str, days: int = 1) -> ssl.SSLContext:
        """Return the context of a server with a certificate for names and addresses, which expires after some days."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([build_name(name) for name in names])
        certificate = self.sign(x509.Name([]), key.public_key(), alternatives, days=days)
        path = self.folder / f"{names[0]}-{days}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def build_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
