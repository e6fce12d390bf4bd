#!/usr/bin/env bash
# How much code one question enters in the smallest setting: the echo flow over the stores in
# a data directory. Prints the functions by package, and how many functions, packages and
# files there are. What one question in a new thread enters is what three run oftener than one.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test -c -o "$dir/bot.test" -covermode=count -coverpkg=cairn/... ./internal/bot
for threads in 1 3; do
	(cd internal/bot && "$dir/bot.test" -test.run '^$' -test.bench '^BenchmarkReach$' -test.benchtime 1x \
		-test.coverprofile="$dir/$threads" -reach="$threads" >"$dir/log" 2>&1) || { cat "$dir/log" >&2; exit 1; }
done
sort "$dir/1" >"$dir/1.sorted"
sort "$dir/3" >"$dir/3.sorted"
# Each line is "FILE:BLOCK STATEMENTS COUNT".
{
	echo 'mode: count'
	paste -d ' ' <(grep -v '^mode' "$dir/1.sorted") <(grep -v '^mode' "$dir/3.sorted") |
		awk '$1 != $4 { print "profiles differ: " $1 " " $4 >"/dev/stderr"; exit 1 } { print $1, $2, ($6 > $3) ? 1 : 0 }'
} >"$dir/reached"
count() { # PROFILE WHAT: the functions that a profile has entered
	go tool cover -func="$1" | awk -v what="$2" '
		$NF == "0.0%" || /^total/ { next }
		{
			file = $1; sub(/:.*/, "", file); package = file; sub(/\/[^\/]*$/, "", package)
			functions++; files[file]; packages[package]++
		}
		END {
			for (p in packages) printf "%5d  %s\n", packages[p], p | "sort -rn"
			close("sort -rn")
			printf "%s: %d functions in %d packages and %d files\n\n", what, functions, length(packages), length(files)
		}'
}
count "$dir/reached" 'a question in a new thread'
count "$dir/1" 'with what opens the stores, makes the bot and ends it'
