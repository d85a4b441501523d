#!/usr/bin/env bash
# backup.sh TARGET: the list of runs and all of the data directory that engine/runs/operation/contents.py says is copied,
# as TARGET/hakari-<time>.tar.gz. Safe while the server runs.
#   HAKARI_DATA_DIR       the data directory
#   HAKARI_DATABASE_URL   the PostgreSQL database, where there is one; else the SQLite file in the data directory
#   PYTHON                an interpreter, of any version from 3.8 on (default python3)
set -euo pipefail
target=${1:?usage: backup.sh TARGET_FOLDER}
: "${HAKARI_DATA_DIR:?name the data directory}"
umask 077
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
mkdir -p "$target"
work=$(mktemp -d "$target/.backup-XXXXXX")
trap 'rm -rf "$work"' EXIT

# Sign-ins are left out: one that ended after the backup must not be back with it.
# The list first: a run that ends meanwhile is then missing, and not one whose files are.
if [ -n "${HAKARI_DATABASE_URL:-}" ]; then
    # The password goes by the environment: arguments stand in the list of processes.
    { read -r address; read -r password; } < <("$python" -I "$here/database_address.py")
    [ -z "$password" ] || export PGPASSWORD="$password"
    pg_dump --format=custom --exclude-table-data='*.sign_ins' --file="$work/runs.pgdump" --dbname="$address"
else
    "$python" - "$HAKARI_DATA_DIR/hakari.sqlite" "$work/hakari.sqlite" <<'PY'
import sqlite3, sys
source, copy = (sqlite3.connect(path) for path in sys.argv[1:])
with copy:
    source.backup(copy)
if copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sign_ins'").fetchone()[0]:
    with copy:
        copy.execute("DELETE FROM sign_ins")
PY
fi
names=$("$python" -I "$here/../engine/runs/operation/contents.py")
present=()
for name in $names; do
    [ ! -e "$HAKARI_DATA_DIR/$name" ] || present+=("$name")
done
archive="$target/hakari-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
tar --create --gzip --file "$archive" --warning=no-file-changed \
    --directory "$work" . --directory "$HAKARI_DATA_DIR" --exclude='.tmp-*' "${present[@]}" || [ $? -eq 1 ]
echo "$archive"
