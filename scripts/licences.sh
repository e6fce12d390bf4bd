#!/usr/bin/env bash
# Checks that each module that is linked into bin/cairn has a licence that Cairn may be
# given away under, and writes them to bin/licences.csv: package, address, licence.
set -euo pipefail
cd "$(dirname "$0")/.."

# Licences that ask for notices alone, and MPL-2.0, which asks for the sources of its own
# files where they were changed; none of them was.
readonly allowed='Apache-2.0 BSD-2-Clause BSD-3-Clause ISC MIT MPL-2.0'
readonly program=bin/cairn report=bin/licences.csv

fail() {
	echo "licences: $1" >&2
	exit 1
}

[[ -x $program ]] || fail "$program is missing: run make build."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
scripts/tool.sh go-licenses report ./cmd/bot --ignore cairn >"$report" 2>"$log" || {
	cat "$log" >&2
	fail "go-licenses failed."
}

bad=0
while IFS=, read -r package _ licence; do
	if [[ " $allowed " != *" $licence "* ]]; then
		echo "licences: $package has the licence $licence, which is not among: $allowed" >&2
		bad=1
	fi
done <"$report"

# A package of every module must be in the report.
modules=$(go version -m "$program" | awk '$1 == "dep" { print $2 }')
while read -r module; do
	if ! grep -qE "^${module}[/,]" "$report"; then
		echo "licences: no licence was found of $module" >&2
		bad=1
	fi
done <<<"$modules"
if ((bad)); then exit 1; fi
echo "licences: $(wc -l <<<"$modules") modules: $(cut -d, -f3 "$report" | sort | uniq -c | sort -rn | awk '{ printf "%s%s %s", s, $1, $2; s = ", " }')"
