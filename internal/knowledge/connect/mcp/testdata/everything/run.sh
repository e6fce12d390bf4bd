#!/bin/sh
# The connector against npm's @modelcontextprotocol/server-everything, over its input and output and
# over streamable HTTP; package-lock.json pins it by its hashes. It needs Node 18 or later.
set -eu
cd "$(dirname "$0")"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-mcp-everything
mkdir -p "$cache"
cp package.json package-lock.json "$cache/"
if ! cmp -s package-lock.json "$cache/installed"; then
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund >&2)
	cp package-lock.json "$cache/installed"
fi
cd ../..
go test -count=1 -v -run 'TestServers' . -args -everything "$cache/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
