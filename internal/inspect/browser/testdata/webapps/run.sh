#!/bin/sh
# 30 small web apps and 10 further ones of other shapes, on React, Preact, Vue, Svelte and no framework, built and minified: is the
# handler of a button found in its line? The frameworks come from npm, pinned by their hashes. It
# needs Node 18 or later, and Chromium.
set -eu
cd "$(dirname "$0")"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-webapps
mkdir -p "$cache"
cp package.json package-lock.json "$cache/"
if ! cmp -s package-lock.json "$cache/installed"; then
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund >&2)
	cp package-lock.json "$cache/installed"
fi
cd ../..
go test -count=1 -v -run TestWebApps . -args -webapps "$cache/node_modules"
