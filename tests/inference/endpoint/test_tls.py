"""Certificates of endpoints are verified before a sentence or the key is sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from engine.errors import RunError
from engine.inference.endpoint import client
from engine.inference.endpoint.endpoints import WithEndpoints
from engine.inference.endpoint.settings import Endpoint
from engine.inference.gateway import Gateway
from tests.inference.endpoint.completions_server import KEY, SERVED, completions_server
from tests.support import tiny_models
from tests.support.in_process import InProcess

NAME = "endpoint/x"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of 127.0.0.1 that nobody else has signed, with its private key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now, day = datetime.now(UTC), timedelta(days=1)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "own.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + signed.public_bytes(Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("is_trusted", [False, True])
def test_a_certificate_counts_when_the_system_vouches_for_it(
    certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_trusted: bool
) -> None:
    monkeypatch.setattr(client, "TRIES", 2)
    if is_trusted:  # as an operator adds the authority of a company
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    model = tiny_models.gpt2_byte_level(tmp_path / "bytes")
    with completions_server(model, key=KEY, certificate=certificate) as server:
        assert server.address.startswith("https://")
        backend = WithEndpoints(InProcess(), {NAME: Endpoint("x", server.address, SERVED, key=KEY)}, first_pause=0.01)
        try:
            session = Gateway(backend, None).session("run")
            if is_trusted:
                assert session.describe(NAME).endpoint is not None
                return
            with pytest.raises(RunError, match="certificate verify failed"):
                session.describe(NAME)
            assert server.bodies == []
        finally:
            backend.close()
