# shellcheck shell=bash
# A control plane on this machine: etcd, kube-apiserver, kube-controller-manager and
# kube-scheduler as they are, with kwok in the place of nodes, so pods only seem to run.
# Sourced by chart-e2e.sh. It listens on free ports of the loopback interface.

# build_cluster builds what charts/tools/cluster pins into $1.
build_cluster() {
	local folder=$1 module=$repository/charts/tools/cluster package version stamp
	mkdir -p "$folder"
	# What the API server says of itself is stamped by its release; charts ask for it.
	version=$(go -C "$module" list -m -f '{{.Version}}' k8s.io/kubernetes)
	stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1"
	stamp+=" -X k8s.io/component-base/version.gitMinor=$(cut -d. -f2 <<<"$version")"
	for package in k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubectl} sigs.k8s.io/kwok/cmd/kwok; do
		CGO_ENABLED=0 go -C "$module" build -trimpath -ldflags "-s -w $stamp" -o "$folder/" "$package"
	done
	CGO_ENABLED=0 go -C "$module" build -trimpath -ldflags '-s -w' -o "$folder/etcd" go.etcd.io/etcd/server/v3
	# What kwok plays: its own stages, and ours.
	local kwok
	kwok=$(go -C "$module" list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
	local stage
	for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-delete; do
		echo ---
		cat "$kwok/$stage.yaml"
	done >"$folder/stages.yaml"
	{ echo ---; cat "$module/stages.yaml"; } >>"$folder/stages.yaml"
}

taken_ports=" "

# free_port sets $port to one that nobody listens at and that was not given out before.
free_port() {
	while :; do
		port=$((RANDOM % 20000 + 20000))
		[[ $taken_ports == *" $port "* ]] && continue
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
		taken_ports+="$port "
		return
	done
}

started=()

# start runs a program in the background until stop_cluster, with its log in $work.
start() {
	local name=$1
	shift
	"$name" "$@" >"$work/$name.log" 2>&1 &
	started+=("$!")
}

# stop_cluster ends what start began, the last first, and waits for it.
stop_cluster() {
	local i
	for ((i = ${#started[@]} - 1; i >= 0; i--)); do
		kill "${started[i]}" 2>/dev/null || true
		wait "${started[i]}" 2>/dev/null || true
	done
	started=()
}

# until_true tries a command twice a second, for $1 seconds at most.
until_true() {
	local seconds=$1 end
	shift
	end=$((SECONDS + seconds))
	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= end)); then
			echo "This did not come true within $seconds seconds: $*" >&2
			return 1
		fi
		sleep 0.5
	done
}

# start_cluster starts all of it in $work, with the kubeconfig in $KUBECONFIG.
start_cluster() {
	local etcd peer api manager scheduler nodes token
	free_port; etcd=$port
	free_port; peer=$port
	free_port; api=$port
	free_port; manager=$port
	free_port; scheduler=$port
	free_port; nodes=$port
	token=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
	(umask 077 && echo "$token,admin,admin,system:masters" >"$work/tokens.csv")
	openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
	export KUBECONFIG=$work/kubeconfig
	(umask 077 && cat >"$KUBECONFIG" <<-YAML
		apiVersion: v1
		kind: Config
		clusters: [{name: e2e, cluster: {server: "https://127.0.0.1:$api", insecure-skip-tls-verify: true}}]
		users: [{name: admin, user: {token: $token}}]
		contexts: [{name: e2e, context: {cluster: e2e, user: admin}}]
		current-context: e2e
	YAML
	)
	start etcd --data-dir "$work/etcd" --listen-client-urls "http://127.0.0.1:$etcd" --advertise-client-urls "http://127.0.0.1:$etcd" \
		--listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
		--initial-cluster "default=http://127.0.0.1:$peer" --unsafe-no-fsync
	start kube-apiserver --etcd-servers "http://127.0.0.1:$etcd" --bind-address 127.0.0.1 --secure-port "$api" \
		--cert-dir "$work/certificates" --token-auth-file "$work/tokens.csv" --authorization-mode RBAC \
		--service-account-issuer https://kubernetes.default.svc --service-account-key-file "$work/accounts.key" \
		--service-account-signing-key-file "$work/accounts.key" --service-cluster-ip-range 10.0.0.0/24 \
		--endpoint-reconciler-type none --allow-privileged
	until_true 180 kubectl get --raw /readyz
	start kube-controller-manager --kubeconfig "$KUBECONFIG" --service-account-private-key-file "$work/accounts.key" \
		--leader-elect=false --bind-address 127.0.0.1 --secure-port "$manager" --cert-dir "$work/certificates"
	start kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false --bind-address 127.0.0.1 --secure-port "$scheduler" \
		--cert-dir "$work/certificates"
	local node
	for node in a b; do
		kubectl apply -f - <<-YAML
			apiVersion: v1
			kind: Node
			metadata:
			  name: node-$node
			  labels: {kubernetes.io/hostname: node-$node, kubernetes.io/os: linux, topology.kubernetes.io/zone: zone-$node}
			status:
			  allocatable: {cpu: "32", memory: 256Gi, pods: "110", ephemeral-storage: 1Ti}
			  capacity: {cpu: "32", memory: 256Gi, pods: "110", ephemeral-storage: 1Ti}
		YAML
	done
	start kwok --kubeconfig "$KUBECONFIG" --config "$built/stages.yaml" --manage-all-nodes --node-lease-duration-seconds 40 \
		--server-address "127.0.0.1:$nodes"
	kubectl wait --for=condition=Ready node --all --timeout 120s
	until_true 60 kubectl get serviceaccount default
}
