#!/usr/bin/env bash
# Runs the tests of the packages given (all by default) with the race detector (RACE=0: without
# it, and then all cases of each test), and for them a Redis and a PostgreSQL of this run's own (see test-servers.sh). Fails
# on a skipped test too: it proves nothing. Up to three tests that failed run once more by
# themselves, since they share the machine with browsers, servers and killed processes; what
# passes then is named as flaky, and a data race is never tried again. The last line counts;
# where SUMMARY_FILE is set, it goes there as well.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -eq 0 ]]; then set -- ./...; fi
events=$(mktemp)
again=$(mktemp)
servers=$(mktemp -d)
# The servers run for as long as this script does, however it ends.
coproc SERVERS { exec scripts/test-servers.sh use "$servers"; }
servers_pid=$SERVERS_PID
finish() {
	exec {SERVERS[1]}>&-
	wait "$servers_pid" || true
	rm -rf "$events" "$again" "$servers"
}
trap finish EXIT
addresses=$(cat <&"${SERVERS[0]}")
eval "$addresses"
if [[ -z ${CAIRN_TEST_REDIS_URL:-} || -z ${CAIRN_TEST_POSTGRES_URL:-} ]]; then exit 1; fi # which was explained

# SQLite and its C library are C translated to Go, whose memory is not Go's: the race detector
# sees none of it, and the checks of its pointers say nothing of our code. They took most of the
# time. What locks and channels order is still seen.
race=(-race '-gcflags=modernc.org/sqlite/...=-race=false -d=checkptr=0' '-gcflags=modernc.org/libc/...=-race=false -d=checkptr=0')
cgo=1
if [[ ${RACE:-1} == 0 ]]; then race=() cgo=0; fi
# Half of the packages wait for servers, browsers and clocks more than they work.
packages=$(($(nproc) * 3 / 2))
status=0
# make lint has what go vet finds.
CGO_ENABLED=$cgo go tool gotestsum --format pkgname --hide-summary=skipped --jsonfile "$events" \
	--rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-abort-on-data-race --rerun-fails-report "$again" \
	--packages "$*" -- "${race[@]}" -p "$packages" -vet=off -timeout "${TIMEOUT:-10m}" || status=$?

# Events of packages have no "Test"; subtests count as tests.
count() { grep '"Test":' "$events" | grep -c "\"Action\":\"$1\"" || true; }
passed=$(count pass) failed=$(count fail) skipped=$(count skip)
if [[ $status -eq 0 && $failed -gt 0 ]]; then
	echo "Flaky: passed when run once more." >&2
	cat "$again" >&2
	failed=0
fi
if [[ $skipped -gt 0 ]]; then
	echo "Skipped tests fail the run:" >&2
	grep '"Test":' "$events" | grep '"Action":"skip"' |
		sed -E 's/.*"Package":"([^"]*)","Test":"([^"]*)".*/  \1 \2/' >&2
	status=1
fi
if [[ $passed -eq 0 ]]; then
	echo "No test ran." >&2
	status=1
fi
summary="$passed passed, $failed failed, $skipped skipped"
if [[ -n ${SUMMARY_FILE:-} ]]; then echo "$summary" >"$SUMMARY_FILE"; fi
echo "$summary"
exit "$status"
