#!/bin/sh
# Checks the chart: lint, unit tests, the shapes of ci/ by kube-score and against the schemas
# of Kubernetes, names of metrics against the program, and whether its README is current.
set -eu

repository=$(cd "$(dirname "$0")/.." && pwd)
kept=$("$repository/scripts/chart-tools.sh")
PATH=$kept/bin:$PATH
cd "$repository/charts/cairn"
rendered=$(mktemp -d)
trap 'rm -rf "$rendered"' EXIT

fail() {
	echo "$*" >&2
	exit 1
}

shapes=$(echo ci/*-values.yaml)
for values in $shapes; do
	helm lint --strict --quiet . -f "$values"
	helm template cairn . --namespace cairn -f "$values" >"$rendered/$(basename "$values")"
done

helm-unittest --strict .

# No limit of CPU: it would throttle a worker that has work and leave the CPU idle. Images
# have versions and digests: nothing is gained by asking the registry at each start. Pods
# are spread by topologySpreadConstraints, which the check for anti-affinity doesn't know.
for shape in "$rendered"/*.yaml; do
	kube-score score --output-format ci --ignore-container-cpu-limit --ignore-test container-image-pull-policy \
		--ignore-test deployment-has-host-podantiaffinity "$shape" >"$rendered/score" ||
		{ grep '^\[CRITICAL\]' "$rendered/score" >&2; fail "kube-score has this against $(basename "$shape")"; }
done

kubectl-validate "$rendered"/*.yaml --version 1.30 --local-crds "$kept/crds" >"$rendered/validated" 2>&1 ||
	{ cat "$rendered/validated" >&2; exit 1; }

# A metric that the program doesn't have would leave an alert silent.
for metric in $(grep -ohE 'cairn_[a-z_]+' templates/prometheusrule.yaml templates/scaling.yaml files/dashboard.json |
	sed -E 's/_(bucket|count|sum)$//' | sort -u); do
	grep -rq "\"$metric\"" "$repository/internal/telemetry" || fail "$metric: internal/telemetry measures nothing of that name"
done

# Settings and variables that the program doesn't know would be found when a pod starts.
CGO_ENABLED=0 go -C "$repository" build -o "$rendered/cairn" ./cmd/bot
for shape in "$rendered"/*.yaml; do
	mkdir "$rendered/settings"
	awk -v folder="$rendered/settings/" '
		/^kind: / { settings = $2 == "ConfigMap"; object++ }
		/^  [^ ]+\.yaml: \|/ { file = settings ? folder object "-" substr($1, 1, length($1) - 1) : ""; next }
		!/^    / { file = "" }
		file { print substr($0, 5) > file }' "$shape"
	for settings in "$rendered"/settings/*; do
		CAIRN_DATA_DIR=$rendered/data CAIRN_REDIS_URL=redis://redis CAIRN_POSTGRES_URL=postgres://cairn@postgres/cairn \
			CAIRN_SLACK_BOT_TOKEN=xoxb-1 CAIRN_SLACK_APP_TOKEN=xapp-1 CAIRN_SLACK_SIGNING_SECRET=signing CAIRN_DISCORD_TOKEN=token \
			CAIRN_LLM_KEY=key CAIRN_OPERATIONS_TOKEN=0123456789abcdef GITEA_TOKEN=token GITEA_WEBHOOK_SECRET=secret CAIRN_INSPECT_LOGIN_PASSWORD=password \
			ATLASSIAN_TOKEN=ada@acme.example:token NOTION_TOKEN=token DRIVE_KEY='{"type":"service_account"}' \
			"$rendered/cairn" config check --config "$settings" >/dev/null ||
			fail "$(basename "$shape"): the program refuses $(basename "$settings")"
	done
	rm -r "$rendered/settings"
done
for variable in $(grep -ohE 'CAIRN_[A-Z_]+' "$rendered"/*.yaml README.md | sort -u); do
	grep -q "\b$variable\b" "$repository/docs/configuration.md" || fail "$variable: docs/configuration.md has no such variable"
done

helm-docs --chart-search-root . --dry-run --log-level warning >"$rendered/README.md"
diff -u README.md "$rendered/README.md" || fail "charts/cairn/README.md is not current: run make chart-docs"

echo "The chart is in order: $(echo "$shapes" | wc -w) shapes checked."
