#!/bin/sh
# Mentions in a closed loop, as in make bench-slack: first answered by a plain bot on slack-go
# and by one on Bolt, in which nothing is durable, then by the first with a ledger in Redis, then
# by Cairn, and all once more. Bolt comes from npm and is kept in a cache folder; it needs Node
# 18 or later.
set -eu
cd "$(dirname "$0")/../../../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-echoes
mkdir -p "$cache"
if ! [ -d "$cache/node_modules/@slack/bolt" ]; then
	npm install --prefix "$cache" --no-audit --no-fund --no-save @slack/bolt@5.1.0 >&2
fi
go build -o "$cache/plain" ./cmd/bot/testdata/echoes/plain
cp cmd/bot/testdata/echoes/bolt.mjs "$cache/"
cat >"$cache/bolt" <<'BOLT'
#!/bin/sh
[ "$1" = serve ] || exit 0
exec node "$(dirname "$0")/bolt.mjs"
BOLT
cat >"$cache/ledger" <<'LEDGER'
#!/bin/sh
ECHO_DURABLE=1 exec "$(dirname "$0")/plain" "$@"
LEDGER
chmod +x "$cache/bolt" "$cache/ledger"
go test -c -o "$cache/load" ./cmd/bot
cairn=$PWD/bin/cairn
cd cmd/bot
ledger=$cache/ledger
for program in "$cache/plain" "$cache/bolt" "$ledger" "$cairn" "$cache/plain" "$cache/bolt" "$ledger" "$cairn"; do
	echo "== $(basename "$program")"
	"$cache/load" -test.v -test.run TestSlackLoad -program="$program" -slack.rate=100 -slack.for=3s -slack.loop="${LOOP:-15s}"
done
