#!/usr/bin/env bash
# Does what the README promises a newcomer, on a fresh clone: starts the demo, waits
# for the address it prints, asks over HTTP and on the command line, and stops it.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly question='How do I index a folder?'
readonly patience=300 # seconds until the address is there: a cold clone compiles first

set -m # a background job is a process group of its own, to be stopped as a whole
temporary=$(mktemp -d)
demo=''

stop_demo() {
	if [[ -z $demo ]]; then return; fi
	kill -INT -- "-$demo" 2>/dev/null || true
	local code=0
	timeout 20 tail --pid="$demo" -f /dev/null || {
		kill -KILL -- "-$demo" 2>/dev/null || true
		echo 'smoke: the demo did not stop in 20 s' >&2
		code=1
	}
	wait "$demo" 2>/dev/null || true # `go run` reports 1 after an interrupt, whatever the program does
	demo=''
	return "$code"
}

clean_up() {
	local status=$?
	stop_demo || status=1
	if [[ $status -ne 0 && -s $temporary/demo.err ]]; then
		echo 'smoke: the demo said:' >&2
		tail -n 40 "$temporary/demo.err" >&2
	fi
	rm -rf "$temporary"
	exit "$status"
}
trap clean_up EXIT

git clone --quiet --no-hardlinks . "$temporary/cairn"
cd "$temporary/cairn"

go run ./cmd/bot demo </dev/null >"$temporary/demo.out" 2>"$temporary/demo.err" &
demo=$!

address=''
for ((second = 0; second < patience; second++)); do
	address=$(grep -oE 'http://127\.0\.0\.1:[0-9]+/' "$temporary/demo.out" | head -n 1 || true)
	if [[ -n $address ]]; then break; fi
	if ! kill -0 "$demo" 2>/dev/null; then
		echo 'smoke: the demo ended before it printed its address' >&2
		exit 1
	fi
	sleep 1
done
if [[ -z $address ]]; then
	echo "smoke: no address after $patience s" >&2
	exit 1
fi
echo "smoke: the demo is at $address"

# The front page leads to a new conversation; its form takes the question and, without
# scripts, leads back to the page with the answer. Cookies tell who asks, as in a browser.
browse=(curl -fsS --max-time 150 --cookie "$temporary/cookies" --cookie-jar "$temporary/cookies" -H "Origin: ${address%/}")
conversation=$("${browse[@]}" -o /dev/null -w '%{redirect_url}' "$address")
if [[ $conversation != "$address"t/* ]]; then
	echo "smoke: $address leads to '$conversation', not to a conversation" >&2
	exit 1
fi
"${browse[@]}" -o /dev/null "$conversation"
"${browse[@]}" -L --data-urlencode "text=$question" "$conversation/messages" >"$temporary/page.html"
for expected in "$question" 'indexing.md#'; do
	if ! grep -qF "$expected" "$temporary/page.html"; then
		echo "smoke: the page with the answer lacks '$expected'" >&2
		exit 1
	fi
done
echo 'smoke: the page answered with its source'
stop_demo

data=$temporary/data
go run ./cmd/bot ingest --data "$data" docs >"$temporary/ingest.out"
go run ./cmd/bot ask --data "$data" "$question" >"$temporary/answer.out"
if ! grep -qF 'indexing.md' "$temporary/answer.out"; then
	echo 'smoke: the answer on the command line does not cite indexing.md:' >&2
	cat "$temporary/answer.out" >&2
	exit 1
fi
echo 'smoke: the command line answered with its source'
