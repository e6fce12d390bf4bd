#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (20s), one after the other, from its seeds. An
# input that fails is kept in the package's testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=0 failed=0
while IFS=: read -r file name; do
	targets=$((targets + 1))
	echo "$name ($(dirname "$file"))"
	if ! go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-20s}" "./$(dirname "$file")"; then
		failed=$((failed + 1))
	fi
done < <(grep -roE --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Za-z0-9_]*' cmd internal | sed 's/func //' | sort)

if [[ $targets -eq 0 ]]; then
	echo "No fuzz target was found." >&2
	exit 1
fi
echo "$targets fuzz targets, $failed failed"
[[ $failed -eq 0 ]]
