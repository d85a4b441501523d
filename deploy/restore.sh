#!/usr/bin/env bash
# restore.sh ARCHIVE: what backup.sh made, into an empty data directory (and an empty PostgreSQL database). The server is
# stopped meanwhile.
#   HAKARI_DATA_DIR, HAKARI_DATABASE_URL   as for backup.sh; they may name another machine's than the archive came from
#   PYTHON                                 as for backup.sh
set -euo pipefail
archive=${1:?usage: restore.sh ARCHIVE}
: "${HAKARI_DATA_DIR:?name the data directory}"
umask 077
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
if [ -e "$HAKARI_DATA_DIR/datasets" ] || [ -e "$HAKARI_DATA_DIR/hakari.sqlite" ]; then
    echo "$HAKARI_DATA_DIR holds data already; name an empty directory." >&2
    exit 2
fi
if [ -n "${HAKARI_DATABASE_URL:-}" ]; then
    # The password goes by the environment: arguments stand in the list of processes.
    { read -r address; read -r password; } < <("$python" -I "$here/database_address.py")
    [ -z "$password" ] || export PGPASSWORD="$password"
fi
mkdir -p "$HAKARI_DATA_DIR"
# Aside until all of it is there: an archive that is cut, or a full disk, leaves nothing behind.
work=$(mktemp -d "$HAKARI_DATA_DIR/.restoring-XXXXXX")
trap 'rm -rf "$work"' EXIT
tar --extract --gzip --file "$archive" --directory "$work"
for entry in "$work"/*; do
    if [ -e "$HAKARI_DATA_DIR/${entry##*/}" ]; then
        echo "$HAKARI_DATA_DIR holds ${entry##*/} already; stop what writes there, and name an empty directory." >&2
        exit 2
    fi
done
if [ -f "$work/runs.pgdump" ]; then
    : "${HAKARI_DATABASE_URL:?the archive holds a PostgreSQL database; name one to restore it to}"
    pg_restore --no-owner --exit-on-error --single-transaction --dbname="$address" "$work/runs.pgdump"
    rm "$work/runs.pgdump"
fi
# The processes of the list ran elsewhere or before; the runs that they had not finished go on with the next start.
if [ -f "$work/hakari.sqlite" ]; then
    "$python" - "$work/hakari.sqlite" <<'PY'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as runs:
    runs.execute("UPDATE runs SET process_id = NULL")
    runs.execute("DELETE FROM processes")
runs.close()
PY
elif [ -n "${HAKARI_DATABASE_URL:-}" ]; then
    psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --dbname="$address" --command='DELETE FROM processes'
fi
find "$work" -mindepth 1 -maxdepth 1 -exec mv -t "$HAKARI_DATA_DIR" {} +
echo "restored to $HAKARI_DATA_DIR"
