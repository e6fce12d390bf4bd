#!/usr/bin/env bash
# What takes too long for every change, or looks at a world that changes by itself: all cases of
# each test, REPLIES (100,000) made-up replies of models, each fuzz target for FUZZTIME (60s), known vulnerabilities, the list of what is linked, its licences,
# and whether a release is the same twice. Everything is run; the exit code is 1 where something failed, and 2 where
# nothing did but something could not be checked.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

readonly govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.2.0
readonly database=https://vuln.go.dev
readonly vulnerable=3 # is govulncheck's exit code for: there are some

summary=()
failed=0
unchecked=0

# check WHAT COMMAND…
check() {
	local what=$1 began=$SECONDS said=ok
	shift
	echo "== $what"
	"$@" || {
		said=FAILED
		failed=1
	}
	summary+=("$what: $said ($((SECONDS - began)) s)")
}

vulnerabilities() {
	local code=0
	echo "== vulnerabilities"
	if ! curl -fsS --max-time 30 -o /dev/null "$database/index/db.json"; then
		echo "$database can't be reached from here." >&2
		summary+=("vulnerabilities: NOT CHECKED, $database can't be reached")
		unchecked=1
		return
	fi
	go run "$govulncheck" -db "$database" ./cmd/bot || code=$?
	case $code in
	0) summary+=("vulnerabilities: ok") ;;
	"$vulnerable")
		summary+=("vulnerabilities: FOUND")
		failed=1
		;;
	*)
		summary+=("vulnerabilities: FAILED")
		failed=1
		;;
	esac
}

check build make build
check 'all cases of each test' env RACE=0 make test
check 'the race detector in all packages' env RACE=1 make test
check 'made-up replies' scripts/fuzz-replies.sh "${REPLIES:-100000}"
check fuzz env FUZZTIME="${FUZZTIME:-60s}" scripts/fuzz.sh
vulnerabilities
check 'list of what is linked' scripts/sbom.sh
check licences scripts/licences.sh
check 'a release, twice' scripts/dist-check.sh

echo
printf '%s\n' "${summary[@]}"
if ((failed)); then exit 1; fi
if ((unchecked)); then exit 2; fi
