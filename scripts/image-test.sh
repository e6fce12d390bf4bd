#!/usr/bin/env bash
# Builds the image from the Dockerfile as it is, and tries it as an operator runs it: with
# a root file system that can't be written, as user 65532, with a volume for its data
# alone. Neither a container engine nor a registry is needed: buildah and podman come from
# Debian into a folder of their own, stand-ins made by debootstrap take the names of the
# base images, and the module cache is the module proxy. From the build on there is no
# network.
#
#   image-test.sh         needs Debian or Ubuntu, root, and Go
#   image-test.sh clean   removes the cache: the folder with Debian, buildah and podman,
#                         and what the build keeps for the next one
set -euo pipefail

readonly suite=bookworm
readonly cache=/var/tmp/cairn-image-test
readonly limit=60000000 # bytes of the image, as it is downloaded

fail() {
	echo "image-test: $1" >&2
	exit 1
}

passed=0
ok() {
	passed=$((passed + 1))
	echo "ok: $1"
}

# --- On the machine: what needs a network ---

# prepare fills the cache: a minimal Debian for the stand-in of golang, and the same with
# buildah and podman, to work in.
prepare() {
	if [[ -f $cache/complete ]]; then return 0; fi
	command -v apt-get >/dev/null || fail "there is no apt-get: run this on Debian or Ubuntu."
	echo "Unpacking Debian with buildah and podman into $cache"
	clean
	mkdir -p "$cache/packages"
	apt-get update -qq
	(cd "$cache/packages" && apt-get download -qq debootstrap 2>/dev/null)
	dpkg-deb -x "$cache"/packages/debootstrap_*.deb "$cache/tools"
	local mirror
	# shellcheck disable=SC2016 # apt's own syntax
	mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/*$') || fail "apt knows no mirror of Debian."
	DEBOOTSTRAP_DIR=$cache/tools/usr/share/debootstrap "$cache/tools/usr/sbin/debootstrap" \
		--variant=minbase "$suite" "$cache/debian" "$mirror" >"$cache/log" 2>&1 ||
		fail "debootstrap failed; its log is $cache/log."
	rm -rf "$cache"/debian/var/cache/apt/*
	cp -a "$cache/debian" "$cache/engine"
	cp /etc/resolv.conf "$cache/engine/etc/resolv.conf"
	chroot "$cache/engine" sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends buildah podman crun iproute2 curl jq' >>"$cache/log" 2>&1 ||
		fail "installing buildah and podman in $cache/engine failed; the log is $cache/log."
	mkdir -p "$cache"/engine/{src,modules,go,debian,roots,old}
	touch "$cache/complete"
}

# clean removes the cache. What a test mounted went with its processes.
clean() { rm -rf --one-file-system "$cache"; }

# lint also sees that the linter finds what is wrong.
lint() {
	(cd scripts/imagelint && go build -o "$cache/imagelint" .)
	"$cache/imagelint" Dockerfile compose.yaml || fail "the Dockerfile or compose.yaml has faults."
	ok "BuildKit's linter and the compose schema find nothing"
	sed 's/ AS build/ as build/' Dockerfile >"$cache/Dockerfile.wrong"
	if "$cache/imagelint" "$cache/Dockerfile.wrong" compose.yaml >/dev/null 2>&1; then
		fail "the linter finds nothing in a Dockerfile that has a fault."
	fi
	sed 's/127\.0\.0\.1:/0.0.0.0:/' compose.yaml >"$cache/compose.wrong.yaml"
	if "$cache/imagelint" Dockerfile "$cache/compose.wrong.yaml" >/dev/null 2>&1; then
		fail "the check finds nothing in a compose file that publishes to everybody."
	fi
	ok "they find faults that were put in"
}

# --- In namespaces of its own, which end with it ---

# enter makes the Debian of the cache the root, with the checkout in it, and goes on there.
# Everything but the cache is mounted read-only.
enter() {
	local root=$cache/engine
	mount --make-rprivate /
	mount --bind "$root" "$root"
	read_only "$PWD" "$root/src"
	read_only "$GO_MODULES" "$root/modules"
	read_only "$GO_ROOT" "$root/go"
	read_only "$cache/debian" "$root/debian"
	mount --rbind /sys "$root/sys"
	# crun refuses to start beside both versions of control groups, which it does not need.
	if mountpoint -q "$root/sys/fs/cgroup/unified"; then umount -l "$root/sys/fs/cgroup/unified"; fi
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/run"
	mount -t tmpfs tmpfs "$root/tmp"
	mount -t proc proc "$root/proc"
	cd "$root"
	pivot_root . old
	umount -l /old
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root GO_VERSION="$GO_VERSION" COMMIT="$COMMIT" \
		/src/scripts/image-test.sh inside "$passed"
}

read_only() {
	mount --bind "$1" "$2"
	mount -o remount,bind,ro "$2"
}

# golang makes the stand-in for the image with the compiler, once for each Go.
golang() {
	local made
	if podman image exists "localhost/golang:$GO_VERSION"; then return 0; fi
	made=$(buildah from scratch)
	buildah add -q "$made" /debian / >/dev/null
	buildah add -q "$made" /go /usr/local/go >/dev/null
	buildah config --workingdir /go --env GOPATH=/go --env GOTOOLCHAIN=local \
		--env PATH=/go/bin:/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin "$made"
	buildah commit -q --rm "$made" docker.io/library/golang:1.26 >/dev/null
	buildah tag docker.io/library/golang:1.26 "localhost/golang:$GO_VERSION"
}

# static makes the stand-in for the image that the program is put on. It goes by way of an
# archive, which keeps owners.
static() {
	local root=/tmp/static made
	mkdir -p "$root"/{etc,home/nonroot,tmp}
	chmod 1777 "$root/tmp"
	chown 65532:65532 "$root/home/nonroot"
	printf '%s\n' 'root:x:0:0:root:/root:/sbin/nologin' 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' >"$root/etc/passwd"
	tar -cf /tmp/static.tar -C "$root" .
	made=$(buildah from scratch)
	buildah add -q "$made" /tmp/static.tar / >/dev/null
	buildah config --user 65532 --workingdir /home/nonroot --env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$made"
	buildah commit -q --rm "$made" gcr.io/distroless/static-debian12:nonroot >/dev/null
}

readonly image=localhost/cairn:test
readonly version=v0.0.0-test

build() {
	buildah build --isolation oci --network none --platform linux/amd64 --pull-never --format oci \
		--volume /modules:/modules:ro --build-arg GOPROXY=file:///modules \
		--build-arg VERSION="$version" --build-arg COMMIT="$COMMIT" --tag "$image" /src >/tmp/build.log 2>&1 || {
		tail -n 40 /tmp/build.log >&2
		fail "the Dockerfile does not build."
	}
	ok "the Dockerfile builds without a network"
}

# equal WHAT GOT WANT
equal() {
	if [[ $2 != "$3" ]]; then fail "$1 is '$2', not '$3'."; fi
	ok "$1 is '$3'"
}

config() { buildah inspect --type image "$image" | jq -rc "$1"; }

check_config() {
	equal 'the user' "$(config .OCIv1.config.User)" 65532:65532
	equal 'the program' "$(config .OCIv1.config.Entrypoint)" '["/cairn"]'
	equal 'what it does by itself' "$(config .OCIv1.config.Cmd)" '["serve"]'
	equal 'the label of the version' "$(config '.OCIv1.config.Labels["org.opencontainers.image.version"]')" "$version"
	equal 'the label of the commit' "$(config '.OCIv1.config.Labels["org.opencontainers.image.revision"]')" "$COMMIT"
}

# check_size looks at the layers as a registry keeps them.
check_size() {
	local folder=/roots/pushed size layers
	rm -rf "$folder"
	buildah push -q --format oci "$image" "dir:$folder"
	size=$(jq '[.layers[].size] | add' "$folder/manifest.json")
	layers=$(jq '.layers | length' "$folder/manifest.json")
	rm -rf "$folder"
	if ((size > limit)); then fail "the image is $size bytes as it is downloaded, more than $limit."; fi
	ok "the image is $((size / 1000000)) MB as it is downloaded, $(($(stat -c %s /roots/image/cairn) / 1000000)) MB of program unpacked"
	if ((layers > 6)); then fail "the image has $layers layers, more than 6."; fi
	ok "it has $layers layers"
}

# unpack puts the image's files under /roots/image.
unpack() {
	local container
	rm -rf /roots/image
	mkdir -p /roots/image
	container=$(podman create --network none "$image")
	podman export "$container" | tar -x -C /roots/image
	podman rm "$container" >/dev/null
}

check_files() {
	cd /roots/image
	equal 'the list of programs' "$(find . -xdev -type f -perm /111 | sort | paste -sd' ')" ./cairn
	equal 'the owner and mode of /cairn' "$(stat -c '%u:%g %a' cairn)" '0:0 755'
	equal 'the owner and mode of /data' "$(stat -c '%u:%g %a' data)" '65532:65532 755'
	equal 'what else user 65532 owns' "$(find . -xdev -uid 65532 ! -path ./data | paste -sd' ')" ./home/nonroot
	equal 'what anybody may write' "$(find . -xdev -perm /002 ! -type l ! -path ./tmp | paste -sd' ')" ''
	equal 'what runs as its owner' "$(find . -xdev -perm /6000 | paste -sd' ')" ''
	equal 'the Go files' "$(find . -xdev -name '*.go' | head -n1)" ''
	cd /
	if podman run --rm --network none --cgroups disabled --entrypoint /bin/sh "$image" -c true >/dev/null 2>&1; then
		fail "the image has a shell."
	fi
	ok "a shell does not start"
}

# cairn NAME [OPTION…] -- [ARGUMENT…] runs the image as an operator would: nothing can be
# written but the volume with the data.
cairn() {
	local options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	podman run --network host --cgroups disabled --read-only --read-only-tmpfs=false --cap-drop all \
		--security-opt no-new-privileges --volume cairn-data:/data "${options[@]}" "$image" "$@"
}

check_version() {
	local said
	said=$(cairn --rm -- version)
	if [[ $said != "cairn $version, commit $COMMIT, "*linux/amd64 ]]; then fail "the version is told as '$said'."; fi
	ok "$said"
}

# browse PATH [ARGUMENT…] is a browser without scripts, at the page.
readonly address=http://127.0.0.1:8080
browse() {
	local path=$1
	shift
	curl -fsS --max-time 60 --cookie /tmp/cookies --cookie-jar /tmp/cookies -H "Origin: $address" "$@" "$address$path"
}

start_serving() {
	cairn --detach --name serving --env CAIRN_WEB_LISTEN=127.0.0.1:8080 --env CAIRN_TELEMETRY_LISTEN=127.0.0.1:9090 -- >/dev/null
	local try
	for ((try = 0; try < 300; try++)); do
		if browse / -o /dev/null 2>/dev/null; then return 0; fi
		sleep 0.1
	done
	podman logs serving >&2
	fail "the page did not answer in 30 s."
}

# stop_serving sends SIGTERM; podman kills what has not ended after 30 s, with code 137.
stop_serving() {
	podman stop --time 30 serving >/dev/null
	local code
	code=$(podman inspect --format '{{.State.ExitCode}}' serving)
	podman logs serving >/tmp/serving.log 2>&1
	podman rm serving >/dev/null
	if [[ $code != 0 ]] || ! grep -q stopping /tmp/serving.log; then
		cat /tmp/serving.log >&2
		fail "after SIGTERM it ended with code $code."
	fi
}

check_serving() {
	local question='How do I index a folder?' conversation page=/tmp/page.html
	cairn --rm --volume /src/docs:/documents:ro -- ingest /documents >/tmp/ingest.log 2>&1 || {
		cat /tmp/ingest.log >&2
		fail "documents can't be read into the index."
	}
	ok "it reads a folder of documents with a root that can't be written"
	start_serving
	conversation=$(browse / -o /dev/null -w '%{redirect_url}')
	conversation=${conversation#"$address"}
	browse "$conversation" -o /dev/null
	browse "$conversation/messages" -L --data-urlencode "text=$question" >"$page"
	grep -qF 'indexing.md#' "$page" || fail "the page with the answer names no source."
	ok "the page answers a question with its source"
	podman exec serving /cairn ready >/dev/null || fail "the health check of compose.yaml fails while it serves."
	ok "the health check in it finds it ready"
	stop_serving
	ok "SIGTERM ends it in order, with code 0"
	start_serving
	browse "$conversation" >"$page"
	grep -qF 'indexing.md#' "$page" || fail "the conversation is gone after a restart."
	ok "the conversation is there after a restart"
	stop_serving
}

inside() {
	passed=$1
	trap remove EXIT
	ip link set lo up
	golang
	static
	build
	unpack
	check_config
	check_size
	check_files
	check_version
	check_serving
	echo "$passed passed, 0 failed"
}

# remove takes away what this run made; the stand-ins stay for the next.
remove() {
	local status=$?
	podman rm --all --force >/dev/null 2>&1 || status=1
	podman volume rm --all --force >/dev/null 2>&1 || status=1
	podman image exists "$image" && podman rmi --force "$image" >/dev/null
	podman image prune --force >/dev/null 2>&1 || status=1
	rm -rf /roots/image /roots/pushed
	exit "$status"
}

case ${1:-} in
'')
	cd "$(dirname "$0")/.."
	[[ $(id -u) -eq 0 ]] || fail "making file systems and namespaces takes root: run it with sudo."
	command -v go >/dev/null || fail "Go is missing: install Go 1.26 first."
	prepare
	exec 9>"$cache/lock"
	flock 9
	lint
	CGO_ENABLED=0 go build -o /dev/null ./cmd/bot # has the modules in the cache
	GO_MODULES=$(go env GOMODCACHE)/cache/download GO_ROOT=$(go env GOROOT) GO_VERSION=$(go env GOVERSION)
	COMMIT=$(git rev-parse HEAD)
	export GO_MODULES GO_ROOT GO_VERSION COMMIT
	exec unshare --mount --net --pid --ipc --uts --fork --kill-child scripts/image-test.sh enter "$passed"
	;;
enter)
	passed=$2
	enter
	;;
inside) inside "$2" ;;
clean) clean ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
