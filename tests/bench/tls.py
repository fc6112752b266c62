"""A certificate authority, made new at each start, and server certificates for whatever host a client asks for."""

import datetime
import ipaddress
import ssl
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = "eniplan-bench-ca"


class Authority:
    """Signs certificates; `pem` is its own."""

    def __init__(self):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.pem = _pem(_certificate(NAME, self._key.public_key(), self._key, None))
        self._contexts = {}
        self._lock = threading.Lock()

    def context(self, host="127.0.0.1"):
        """What a TLS server of that host needs."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._new_context(host)
            return self._contexts[host]

    def _new_context(self, host):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _certificate(host, key.public_key(), self._key, host)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:
            file.write(_pem(certificate) + private)
            file.flush()
            context.load_cert_chain(file.name)
        return context


def _pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def _alternative_name(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _certificate(subject, public_key, signing_key, host):
    """Of the authority itself when there is no host."""
    is_authority = host is None
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject[:64])]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)]))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
    )
    if is_authority:
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        builder = builder.add_extension(usage, critical=True)
    else:
        names = [_alternative_name(host)]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(signing_key, hashes.SHA256())
