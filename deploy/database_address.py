"""For backup.sh and restore.sh: the address in HAKARI_DATABASE_URL without its password, then the password, a line each.

Arguments stand in the list of processes, where every account of the machine reads them; the environment does not.
"""

from __future__ import annotations

import os
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

parts = urlsplit(os.environ["HAKARI_DATABASE_URL"].strip())
user, at, host = parts.netloc.rpartition("@")
name, _, password = user.partition(":")
query = dict(parse_qsl(parts.query, keep_blank_values=True))
password = query.pop("password", unquote(password))
print(urlunsplit(("postgresql", f"{name}{at}{host}", parts.path, urlencode(query), "")))
print(password)
