#!/usr/bin/env bash
# Runs the tests of the packages given with the race detector (RACE=0: without it, and then all
# cases of each test), and for them a Redis and a PostgreSQL of this run's own (see
# test-servers.sh). Without packages, and for ./..., it runs all, and with the race detector those
# below in "concurrent" alone unless RACE=1. Fails on a skipped test too: it proves nothing. Up to
# three tests that failed run once more by themselves, since they share the machine with browsers,
# servers and killed processes; what passes then is named as flaky, and a data race is never tried
# again.
# The last line counts; where SUMMARY_FILE is set, it goes there as well.
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages in which goroutines share memory: they start them, or are called by several. The others, and
# the whole program, which the race detector makes build and run longest, are tested without it here;
# make nightly has it in all of them.
concurrent='/internal/(adapters/(discord|slack|terminal)|agent|app|bot|chat/(chattest|expiring|interact|settings)|graph|inspect/(relay|socketio)|knowledge/(embed/local|index/(embedded|engine|postgres)|ingest|lexical|support)|llm/(gate|llmtest|openai)|quota|redis/(conn|kinds)|runs|session|store|telemetry)$|/internal/(adapters/(discord/(discordtest|fleet|gateway)|slack/(installs|pace|slacktest))|bot/chaos|graph/(flows/answer|graphtest)|runs/(embedded|redis))$'
plain=() raced=("$@")
if [[ $# -eq 0 || "$*" == ./... ]]; then
	mapfile -t all < <(go list ./...)
	raced=("${all[@]}")
	if [[ -z ${RACE:-} ]]; then
		mapfile -t plain < <(printf '%s\n' "${all[@]}" | grep -vE "$concurrent")
		mapfile -t raced < <(printf '%s\n' "${all[@]}" | grep -E "$concurrent")
	fi
fi
results=$(mktemp -d)
servers=$(mktemp -d)
# The servers run for as long as this script does, however it ends.
coproc SERVERS { exec scripts/test-servers.sh use "$servers"; }
servers_pid=$SERVERS_PID
finish() {
	exec {SERVERS[1]}>&-
	wait "$servers_pid" || true
	rm -rf "$results" "$servers"
}
trap finish EXIT
addresses=$(cat <&"${SERVERS[0]}")
eval "$addresses"
if [[ -z ${CAIRN_TEST_REDIS_URL:-} || -z ${CAIRN_TEST_POSTGRES_URL:-} ]]; then exit 1; fi # which was explained

cores=$(nproc)
# run_tests runs the tests of packages, NAME: plain or raced, then how many packages at once, then
# the packages. make lint has what go vet finds.
run_tests() {
	local name=$1 parallel=$2 cgo=0 flags=(-parallel "$((cores * 2))")
	shift 2
	if [[ $# -eq 0 ]]; then return; fi
	# SQLite and its C library are C translated to Go, whose memory is not Go's: the race detector
	# sees none of it, and the checks of its pointers say nothing of our code. They took most of the
	# time. What locks and channels order is still seen.
	if [[ $name == raced && ${RACE:-1} != 0 ]]; then
		cgo=1 flags=(-race '-gcflags=modernc.org/sqlite/...=-race=false -d=checkptr=0' '-gcflags=modernc.org/libc/...=-race=false -d=checkptr=0')
	fi
	CGO_ENABLED=$cgo go tool gotestsum --format pkgname --hide-summary=skipped --jsonfile "$results/$name.json" \
		--rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-abort-on-data-race --rerun-fails-report "$results/$name.again" \
		--packages "$*" -- "${flags[@]}" -p "$parallel" -vet=off -timeout "${TIMEOUT:-10m}"
}
# Both at once: half of the packages, and the tests of the whole program, wait for servers, browsers
# and clocks more than they work.
status=0
run_tests plain "$cores" "${plain[@]}" &
plain_pid=$!
run_tests raced "$cores" "${raced[@]}" || status=$?
wait "$plain_pid" || status=$?
cat "$results"/*.json >"$results/events"

# Events of packages have no "Test"; subtests count as tests.
count() { grep '"Test":' "$results/events" | grep -c "\"Action\":\"$1\"" || true; }
passed=$(count pass) failed=$(count fail) skipped=$(count skip)
if [[ $status -eq 0 && $failed -gt 0 ]]; then
	echo "Flaky: passed when run once more." >&2
	cat "$results"/*.again >&2
	failed=0
fi
if [[ $skipped -gt 0 ]]; then
	echo "Skipped tests fail the run:" >&2
	grep '"Test":' "$results/events" | grep '"Action":"skip"' |
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
