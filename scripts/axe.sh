#!/usr/bin/env bash
# Prints the path of axe-core, the accessibility checker of the browser tests. It is fetched from
# the npm registry into the cache once, and checked against a known hash.
set -euo pipefail

version=4.14.1
integrity=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
cache="${XDG_CACHE_HOME:-$HOME/.cache}/cairn/axe-core-$version"
if [[ ! -f $cache/axe.min.js ]]; then
	if ! command -v npm >/dev/null; then
		echo 'npm is missing: install it (Debian: apt-get install npm)' >&2
		exit 1
	fi
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
	# Tests of several packages may come at once: it is there whole or not at all.
	mv "$work/package/axe.min.js" "$cache/axe.min.js.$$"
	mv "$cache/axe.min.js.$$" "$cache/axe.min.js"
fi
echo "$cache/axe.min.js"
