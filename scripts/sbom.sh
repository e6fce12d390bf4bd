#!/usr/bin/env bash
# Lists what is in bin/cairn as bin/cairn.cdx.json, in CycloneDX: the modules that were
# linked, with their versions and checksums, from what the Go command recorded in the
# program itself. It fails where that differs from what the program says of itself.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly program=bin/cairn list=bin/cairn.cdx.json
if [[ ! -x $program ]]; then
	echo "sbom: $program is missing: run make build." >&2
	exit 1
fi
version=$("$program" version | sed -E 's/^cairn ([^,]+),.*/\1/')
scripts/tool.sh cyclonedx-gomod bin -json -std -version "$version" -output "$list" "$program"

linked=$(go version -m "$program" | awk '$1 == "dep" { print $2 "@" $3 }' | sort)
listed=$(grep -oE '"bom-ref": "pkg:golang/[^?"]*' "$list" | sed 's,.*pkg:golang/,,; s,%2F,/,g' | grep -vE '^(std|cairn)(@|$)' | sort -u)
if [[ $linked != "$listed" ]]; then
	echo "sbom: $list does not list what is linked:" >&2
	diff <(echo "$linked") <(echo "$listed") >&2 || true
	exit 1
fi
echo "$list: $(wc -l <<<"$linked") modules and Go's standard library"
