"""A real OpenID Connect provider on loopback, and the settings of a server whose members it signs in."""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def provider(people: Mapping[str, str]) -> Iterator[str]:
    """Runs one that knows people by their address; yields its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its libraries' old age
        from oidc_provider_mock import User, run_server_in_thread

        users = [
            User(sub=email, claims={"email": email, "email_verified": True, "name": name})
            for email, name in people.items()
        ]
        with run_server_in_thread(user_claims=users) as server:
            yield f"http://127.0.0.1:{server.server_port}"


def environment(folder: Path, issuer: str, url: str, members: str) -> dict[str, str]:
    """Variables of a hosted server at `url`; the secrets lie in a file in `folder`."""
    file = folder / "secrets.toml"
    settings = {
        "redirect_uri": f"{url}/oauth2callback",
        "cookie_secret": secrets.token_hex(32),
        "client_id": "hakari",
        "client_secret": secrets.token_hex(8),
        "server_metadata_url": f"{issuer}/.well-known/openid-configuration",
    }
    file.write_text(
        "[auth]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()), encoding="utf-8"
    )
    return {"STREAMLIT_SECRETS_FILES": str(file), "HAKARI_ALLOWED_EMAILS": members, "AUTHLIB_INSECURE_TRANSPORT": "1"}
