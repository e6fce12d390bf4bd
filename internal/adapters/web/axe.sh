#!/usr/bin/env bash
# Looks at all that the page shows with axe-core, the accessibility checker, which is
# fetched from the npm registry into the cache and checked against a known hash.
set -euo pipefail
cd "$(dirname "$0")"

version=4.14.1
integrity=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
cache="${XDG_CACHE_HOME:-$HOME/.cache}/cairn/axe-core-$version"
if [[ ! -f $cache/axe.min.js ]]; then
	mkdir -p "$cache"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && npm pack --silent "axe-core@$version" >/dev/null)
	got=$(openssl dgst -sha512 -binary "$work/axe-core-$version.tgz" | base64 -w0)
	if [[ $got != "$integrity" ]]; then
		echo "axe-core $version has the hash $got, expected $integrity." >&2
		exit 1
	fi
	tar -xzf "$work/axe-core-$version.tgz" -C "$work" package/axe.min.js
	mv "$work/package/axe.min.js" "$cache/axe.min.js"
fi
CAIRN_TEST_AXE=$cache/axe.min.js go test -tags axe -count=1 -run TestAxe "$@" . ./operations ./editor
