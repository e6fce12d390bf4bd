#!/usr/bin/env bash
# The chart on a real control plane (see chart-cluster.sh): what a person does with it from
# the first install to the uninstall, under the Pod Security Standard restricted. Programs
# are built once, into a cache folder. On failure the logs stay, and their folder is named.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/chart-cluster.sh
source "$repository/scripts/chart-cluster.sh"

built=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-chart-e2e/bin
tools=$("$repository/scripts/chart-tools.sh")
build_cluster "$built"
PATH=$built:$tools/bin:$PATH
work=$(mktemp -d)
ended() {
	local status=$?
	stop_cluster
	if ((status == 0)); then
		rm -rf "$work"
	else
		echo "It failed; the logs are in $work." >&2
	fi
}
trap ended EXIT

chart=$repository/charts/cairn
release="app.kubernetes.io/instance=cairn"

say() { printf '\n%s\n' "$*"; }
fail() {
	echo "$*" >&2
	exit 1
}

# want fails unless its two arguments are the same; $1 says what they are.
want() { [[ $2 == "$3" ]] || fail "$1: got “$2”, want “$3”"; }

# refused runs a command that has to fail, with $1 in what it says.
refused() {
	local why=$1 said
	shift
	if said=$("$@" 2>&1); then
		fail "This was accepted: $*"
	fi
	[[ $said == *"$why"* ]] || fail "It was refused, but not for “$why”: $said"
	echo "refused, as it should be: $why"
}

kube() { kubectl --namespace cairn "$@"; }
with() { helm --namespace cairn "$@" --timeout 180s; }
replicas() { kube get deployment "$1" -o 'jsonpath={.spec.replicas}'; }

# volumes makes what claims without a storage class are bound to.
volumes() {
	local name
	for name in "$@"; do
		kubectl apply -f - <<-YAML
			apiVersion: v1
			kind: PersistentVolume
			metadata: {name: $name}
			spec: {capacity: {storage: 20Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /nowhere/$name}}
		YAML
	done
}

say "The control plane"
start_cluster
for schema in "$tools"/crds/*.yaml; do
	# KEDA's is too large for the annotation of a client-side apply.
	kubectl apply --server-side -f "$schema"
done
kubectl create namespace cairn
kubectl label namespace cairn pod-security.kubernetes.io/enforce=restricted
kube create secret generic cairn --from-literal=redis-url=redis://redis:6379/0 --from-literal=postgres-url=postgres://cairn@db/cairn \
	--from-literal=slack-bot-token=x --from-literal=slack-signing-secret=x --from-literal=slack-app-token=x
until_true 60 kube get serviceaccount default
refused 'violates PodSecurity "restricted' kube run intruder --image=intruder --privileged

say "A typo"
refused "additional properties 'wroker' not allowed" with install cairn "$chart" -f "$chart/ci/slack-http-values.yaml" --set wroker.replicas=2
refused "set secrets.env.CAIRN_REDIS_URL" with install cairn "$chart" --set web.enabled=true

say "Install, with the migration before it"
with install cairn "$chart" -f "$chart/ci/slack-http-values.yaml" --set worker.autoscaling.enabled=false --wait
migrated() {
	kube get events -o 'jsonpath={range .items[*]}{.involvedObject.name}{" "}{.reason}{"\n"}{end}' | grep -q '^cairn-migration Completed$' &&
		[[ -z $(kube get job cairn-migration --ignore-not-found -o name) ]]
}
until_true 60 migrated
want "the workers" "$(replicas cairn-worker)" 2

say "What the Services lead to"
kube create job ingest-now --from=cronjob/cairn-ingest-handbook
volumes handbook
kube apply -f - <<-YAML
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: {name: handbook}
	spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
kube wait --for=condition=Complete job/ingest-now --timeout 120s
components() {
	local pod
	for pod in $(kube get endpointslices -l "kubernetes.io/service-name=$1" -o 'jsonpath={.items[*].endpoints[*].targetRef.name}'); do
		kube get pod "$pod" -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/component}{"\n"}'
	done | sort -u | xargs
}
want "behind the entrance" "$(components cairn-intake)" intake
want "behind the metrics" "$(components cairn-metrics)" "intake worker"

say "Test"
with test cairn
want "the test" "$(kube get pod cairn-doctor -o 'jsonpath={.status.phase}')" Succeeded
want "behind the metrics, after the test" "$(components cairn-metrics)" "intake worker"

say "Upgrade"
checksum() { kube get deployment cairn-worker -o 'jsonpath={.spec.template.metadata.annotations.checksum/config}'; }
before=$(checksum)
with upgrade cairn "$chart" -f "$chart/ci/slack-http-values.yaml" --set worker.autoscaling.enabled=false \
	--set worker.replicas=3,config.log.level=debug --wait
want "the workers" "$(replicas cairn-worker)" 3
[[ $(checksum) != "$before" ]] || fail "new settings start no new pods"

say "Roll back"
with rollback cairn --wait
want "the workers" "$(replicas cairn-worker)" 2
want "the settings" "$(checksum)" "$before"

say "Uninstall"
with uninstall cairn --wait
kube delete pod cairn-doctor
nothing_left() {
	[[ -z $(kube get pods,deployments,services,configmaps,cronjobs,networkpolicies,hpa,pdb,ingresses,serviceaccounts -l "$release" -o name) ]]
}
until_true 60 nothing_left

say "One pod"
volumes data
with install cairn "$chart" -f "$chart/ci/all-in-one-values.yaml" --wait
with test cairn
with uninstall cairn --wait
want "the data" "$(kube get pvc cairn-data -o 'jsonpath={.status.phase}')" Bound
kube delete pod cairn-doctor # the claim stays while a pod has it
kube delete pvc cairn-data

say "Stores to try things out: their passwords stay"
volumes first second
password() { kube get secret cairn-stores -o 'jsonpath={.data.postgres-password}'; }
with install cairn "$chart" -f "$chart/ci/development-values.yaml" --wait
before=$(password)
with upgrade cairn "$chart" -f "$chart/ci/development-values.yaml" --set worker.replicas=2 --wait
[[ -n $before ]] || fail "there is no password"
want "the password" "$(password)" "$before"
with uninstall cairn --wait

say "Everything, with all custom resources"
with install cairn "$chart" -f "$chart/ci/everything-values.yaml"
for kind in scaledobject servicemonitor prometheusrule externalsecret; do
	want "$kind" "$(kube get "$kind" -l "$release" -o name | wc -l)" 1
done
want "httproute" "$(kube get httproute -l "$release" -o name | wc -l)" 2
with uninstall cairn --wait

say "All of it went well."
