#!/usr/bin/env bash
# Makes a release twice, from this checkout and from a clone of it in another folder, and fails
# where a byte differs. PLATFORMS names the platforms, this machine's otherwise; with COLD=1 the
# second one is compiled from nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
PLATFORMS=${PLATFORMS:-$(go env GOHOSTOS)/$(go env GOHOSTARCH)}
export PLATFORMS
# Files that were not committed are part of neither.
for name in first second; do
	git clone --quiet --no-hardlinks . "$work/$name/cairn"
	mkdir -p "$work/$name/cairn/bin"
	if [[ -d bin/tools ]]; then cp -R bin/tools "$work/$name/cairn/bin/"; fi
done
echo '== first'
"$work/first/cairn/scripts/dist.sh"
if [[ ${COLD:-} == 1 ]]; then
	export GOCACHE=$work/cache
fi
umask 077
echo '== second'
"$work/second/cairn/scripts/dist.sh"
diff -r "$work/first/cairn/dist" "$work/second/cairn/dist"
echo "dist-check: $(find "$work/first/cairn/dist" -type f | wc -l) files are the same, byte by byte: $PLATFORMS"
