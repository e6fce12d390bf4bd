#!/bin/sh
# The fake Discord with a bot on discord.js in it, which comes from npm and is kept in a
# cache folder. It needs Node 18 or later.
set -eu
cd "$(dirname "$0")/../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-discordjs
mkdir -p "$cache"
if ! [ -d "$cache/node_modules/discord.js" ]; then
	npm install --prefix "$cache" --no-audit --no-fund --no-save discord.js@14.28.1 >&2
fi
go test -count=1 -v -run TestDiscordJS . -args -discordjs "$cache/node_modules"
