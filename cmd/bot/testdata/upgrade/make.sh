#!/usr/bin/env bash
# Makes data.tar.gz anew: a data directory as the cairn of a release leaves it, with documents,
# a source, conversations, a rating, a page and an analysis that waits for a reply.
#
#   make.sh CAIRN
#
# CAIRN is the program of that release. Its versions so far: 97967f5, before the first release.
set -euo pipefail
cairn=$(realpath "$1")
out=$(cd "$(dirname "$0")" && pwd)/data.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work CAIRN_DATA_DIR=$work/data
mkdir handbook
cat >handbook/leave.md <<'END'
# Leave

## Parental leave

Employees may take sixteen weeks of parental leave, paid in full. Ask for it eight weeks before it begins.

## Sick leave

Report sick leave to your lead before nine in the morning. From the fourth day on a doctor's note is needed.
END
cat >handbook/laptops.md <<'END'
# Laptops

## Ordering a laptop

New laptops are ordered by the IT desk in room 4. Delivery takes five working days.

## Returning a laptop

Return your laptop to the IT desk on your last day. Its disk is erased within 24 hours.
END
"$cairn" sources add handbook handbook --every 1h
printf '%s\n' 'Where do I return my laptop?' /up 'Who orders a new one?' /quit | "$cairn" chat
echo apply | "$cairn" page new Paid leave
echo apply | "$cairn" page append Ask Maria.
"$cairn" analyze @handbook 'What must I do on my last day?' </dev/null || true

sqlite3=$(command -v sqlite3 || true)
for file in data/*.db; do
	if [[ -n $sqlite3 ]]; then "$sqlite3" "$file" 'PRAGMA wal_checkpoint(TRUNCATE); VACUUM'; fi
done
rm -f data/*.lock data/*.db-shm data/*.db-wal
tar --sort=name --owner=0 --group=0 --mtime=@0 -cf - data | gzip -9 -n >"$out"
ls -l "$out"
