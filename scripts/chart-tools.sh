#!/bin/sh
# Builds the tools that check the chart, at the versions that charts/tools pins, and fetches
# the schemas of the custom resources that the chart can make. Prints the folder that has
# them: bin/ and crds/.
set -eu

repository=$(cd "$(dirname "$0")/.." && pwd)
kept=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-chart
mkdir -p "$kept/bin" "$kept/crds"

# Without optimization the tools compile faster, and they run for seconds only.
build() {
	module=$1
	shift
	CGO_ENABLED=0 go -C "$repository/charts/tools/$module" build -trimpath -gcflags 'all=-N -l' -ldflags '-s -w' \
		-o "$kept/bin/" "$@" >&2
}
build . helm.sh/helm/v4/cmd/helm github.com/helm-unittest/helm-unittest/cmd/helm-unittest \
	github.com/norwoodj/helm-docs/cmd/helm-docs
build checks github.com/zegl/kube-score/cmd/kube-score sigs.k8s.io/kubectl-validate

# schema copies the schema of a custom resource from the module of those who define it.
schema() {
	name=$(basename "$2")
	test -e "$kept/crds/$(echo "$1" | tr / _)-$name" && return
	folder=$(cd "$repository/charts/tools" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	rm -f "$kept/crds/"*"-$name"
	install -m 0644 "$folder/$2" "$kept/crds/$(echo "$1" | tr / _)-$name"
}
schema github.com/kedacore/keda/v2@v2.21.0 config/crd/bases/keda.sh_scaledobjects.yaml
schema github.com/prometheus-operator/prometheus-operator@v0.85.0 \
	example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml
schema github.com/prometheus-operator/prometheus-operator@v0.85.0 \
	example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml
schema sigs.k8s.io/gateway-api@v1.6.3 config/crd/standard/gateway.networking.k8s.io_httproutes.yaml
schema github.com/external-secrets/external-secrets@v1.3.2 config/crds/bases/external-secrets.io_externalsecrets.yaml

echo "$kept"
