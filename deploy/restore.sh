#!/usr/bin/env bash
# restore.sh ARCHIVE: what backup.sh made, into an empty data directory (and an empty PostgreSQL database). The server is
# stopped meanwhile.
#   HAKARI_DATA_DIR, HAKARI_DATABASE_URL   as for backup.sh; they may name another machine's than the archive came from
#   PYTHON                                 an interpreter for a SQLite list (default python3)
set -euo pipefail
archive=${1:?usage: restore.sh ARCHIVE}
: "${HAKARI_DATA_DIR:?name the data directory}"
umask 077
if [ -e "$HAKARI_DATA_DIR/datasets" ] || [ -e "$HAKARI_DATA_DIR/hakari.sqlite" ]; then
    echo "$HAKARI_DATA_DIR holds data already; name an empty directory." >&2
    exit 2
fi
mkdir -p "$HAKARI_DATA_DIR"
tar --extract --gzip --file "$archive" --directory "$HAKARI_DATA_DIR"
if [ -f "$HAKARI_DATA_DIR/runs.pgdump" ]; then
    : "${HAKARI_DATABASE_URL:?the archive holds a PostgreSQL database; name one to restore it to}"
    pg_restore --no-owner --exit-on-error --dbname="$HAKARI_DATABASE_URL" "$HAKARI_DATA_DIR/runs.pgdump"
    rm "$HAKARI_DATA_DIR/runs.pgdump"
fi
# The processes of the list ran elsewhere or before; the runs that they had not finished go on with the next start.
if [ -f "$HAKARI_DATA_DIR/hakari.sqlite" ]; then
    "${PYTHON:-python3}" - "$HAKARI_DATA_DIR/hakari.sqlite" <<'PY'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as runs:
    runs.execute("UPDATE runs SET process_id = NULL")
    runs.execute("DELETE FROM processes")
runs.close()
PY
elif [ -n "${HAKARI_DATABASE_URL:-}" ]; then
    psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --dbname="$HAKARI_DATABASE_URL" --command='DELETE FROM processes'
fi
echo "restored to $HAKARI_DATA_DIR"
