#!/bin/sh
# The relay, and the client of relays, against the npm packages socket.io and socket.io-client,
# which package-lock.json pins by their hashes. It needs Node 18 or later.
set -eu
cd "$(dirname "$0")"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-socketio
mkdir -p "$cache"
cp package.json package-lock.json "$cache/"
if ! cmp -s package-lock.json "$cache/installed"; then
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund >&2)
	cp package-lock.json "$cache/installed"
fi
cd ../..
go test -count=1 -v -run 'TestRelay|TestSocketIO' . -args -socketio "$cache/node_modules"
