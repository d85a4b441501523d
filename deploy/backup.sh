#!/usr/bin/env bash
# backup.sh TARGET: the list of runs, the datasets, the results, the uploaded corpora and the secret of browsers' cookies,
# as TARGET/hakari-<time>.tar.gz; the cache is left out, because everything in it can be computed again. Safe while the server runs.
#   HAKARI_DATA_DIR       the data directory
#   HAKARI_DATABASE_URL   the PostgreSQL database, where there is one; else the SQLite file in the data directory
#   PYTHON                an interpreter for SQLite's own copy (default python3)
set -euo pipefail
target=${1:?usage: backup.sh TARGET_FOLDER}
: "${HAKARI_DATA_DIR:?name the data directory}"
umask 077
mkdir -p "$target"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Sign-ins are left out: one that ended after the backup must not be back with it.
# The list first: a run that ends meanwhile is then missing, and not one whose files are.
if [ -n "${HAKARI_DATABASE_URL:-}" ]; then
    pg_dump --format=custom --exclude-table-data='*.sign_ins' --file="$work/runs.pgdump" "$HAKARI_DATABASE_URL"
else
    "${PYTHON:-python3}" - "$HAKARI_DATA_DIR/hakari.sqlite" "$work/hakari.sqlite" <<'PY'
import sqlite3, sys
source, copy = (sqlite3.connect(path) for path in sys.argv[1:])
with copy:
    source.backup(copy)
if copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sign_ins'").fetchone()[0]:
    with copy:
        copy.execute("DELETE FROM sign_ins")
PY
fi
[ ! -f "$HAKARI_DATA_DIR/browsers.key" ] || cp -p "$HAKARI_DATA_DIR/browsers.key" "$work/"
folders=()
for folder in datasets results corpora; do
    [ ! -d "$HAKARI_DATA_DIR/$folder" ] || folders+=("$folder")
done
archive="$target/hakari-$(date -u +%Y%m%dT%H%M%SZ).tar.gz"
tar --create --gzip --file "$archive" --warning=no-file-changed \
    --directory "$work" . --directory "$HAKARI_DATA_DIR" --exclude='.tmp-*' "${folders[@]}" || [ $? -eq 1 ]
echo "$archive"
