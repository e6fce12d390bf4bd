#!/usr/bin/env bash
# Runs the servers that the tests need: Redis, and PostgreSQL with pgvector. They
# listen on free loopback ports, as an unprivileged user, and lose their data on stop.
#
#   test-servers.sh start [DIR]      starts what does not run yet; prints its addresses
#                                    as lines "export CAIRN_TEST_…_URL=…"
#   test-servers.sh stop [DIR]       stops what runs there
#   test-servers.sh use [DIR]        is start, for as long as the standard input is open:
#                                    what it started is stopped once nobody uses it any
#                                    more, however its users ended
#   test-servers.sh redis PORT DIR   runs one more Redis, with an append-only file in
#                                    DIR, until the standard input ends: then it is
#                                    killed. Arguments that follow are Redis's own
#   test-servers.sh valkey PORT DIR  the same with Valkey
#   test-servers.sh sentinel PORT DIR LINE…
#                                    the same with a Redis Sentinel, which has the lines
#                                    as its configuration
#
# An address that is set already is kept, and that server not started. The others come
# from a container engine if one runs, else from Debian's packages, unpacked into a
# cache folder with their own C library: root is not needed, and nothing on the machine
# changes. DIR is where servers keep data; the default is shared by all runs of a user.
set -euo pipefail

suite=trixie # has PostgreSQL 17, pgvector 0.8 and Redis 8
postgres_version=17
postgres_image=docker.io/pgvector/pgvector:0.8.2-pg17
redis_image=docker.io/library/redis:8.0.5
valkey_image=docker.io/valkey/valkey:8.1
linger=30 # seconds that shared servers wait for the next to use them

# Root's servers run as nobody, who must be able to reach them.
if [[ $(id -u) -eq 0 ]]; then
	cache=/var/tmp/cairn-test-servers
else
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-test-servers
fi
root=$cache/$suite-$postgres_version
valkey_root=$cache/$suite-valkey
postgres_bin=$root/usr/lib/postgresql/$postgres_version/bin

fail() {
	echo "Test servers: $1" >&2
	echo "Set CAIRN_TEST_REDIS_URL and CAIRN_TEST_POSTGRES_URL to servers that tests may fill and empty, or start Docker or Podman, or run this on Debian." >&2
	exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# engine gives the container engine that runs, if any.
engine() {
	local name
	for name in docker podman; do
		if has "$name" && "$name" info >/dev/null 2>&1; then
			echo "$name"
			return 0
		fi
	done
	return 1
}

# unprivileged replaces this process by the command, as nobody if it is root's.
unprivileged() {
	if [[ $(id -u) -eq 0 ]]; then
		exec setpriv --reuid=65534 --regid=65534 --clear-groups -- env HOME=/tmp "$@"
	fi
	exec "$@"
}

# data_folder makes a folder that the unprivileged user can write to.
data_folder() {
	mkdir -p "$1"
	if [[ $(id -u) -eq 0 ]]; then chown 65534:65534 "$1"; fi
}

free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		if ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
	done
	echo "$port"
}

# wait_for repeats a command until it succeeds, for a minute.
wait_for() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.1
	done
	return 1
}

# --- Debian's packages ---

# What the packages depend on and servers in a folder of their own do without.
unneeded='^(perl|libperl|debconf|adduser|passwd|dpkg|tar|ucf|sensible-|base-|login|coreutils|sed|bash|dash|grep|gzip|findutils|diffutils|hostname|init|systemd|sysv|lsb|util-linux|mawk|bsdutils|libllvm|postgresql-common|postgresql-client-common|locales|ssl-cert|openssl|netbase|logsave|e2fs|mount|tzdata|ncurses|libgdbm|libdb5|libc-bin|libc-l10n|openssl-provider|.*-jit-llvm|libpam-|libedit|libz3|cdebconf)'

# unpack FOLDER WRAP PACKAGE… fills a folder of the cache, once per machine, and has WRAP
# make the programs in it start.
unpack() {
	local folder=$1 wrap=$2 package
	shift 2
	if [[ -f $folder/complete ]]; then return 0; fi
	if ! has apt-get || ! has dpkg-deb; then fail "no address is set, no container engine runs, and there is no apt-get."; fi
	mkdir -p "$cache"
	exec 9>"$cache/unpack.lock"
	flock 9
	if [[ ! -f $folder/complete ]]; then
		echo "Unpacking $* into $folder" >&2
		rm -rf "$folder" "$cache/apt"
		fetch "$cache/apt" "$@"
		for package in "$cache"/apt/packages/*.deb; do dpkg-deb -x "$package" "$folder"; done
		rm -rf "$cache/apt" "$folder"/usr/share/{doc,man,locale} "$folder/usr/lib/postgresql/$postgres_version/lib/bitcode"
		libraries=$(dirname "$(find "$folder/usr/lib" -name 'ld-linux-*.so.*' | head -n1)")
		loader=$(find "$libraries" -maxdepth 1 -name 'ld-linux-*.so.*')
		"$wrap"
		chmod -R a+rX "$folder"
		touch "$folder/complete"
	fi
	exec 9>&-
}

unpack_servers() {
	unpack "$root" wrap_servers "postgresql-$postgres_version" "postgresql-$postgres_version-pgvector" redis-server
}

unpack_valkey() { unpack "$valkey_root" wrap_valkey valkey-server; }

# fetch FOLDER PACKAGE… downloads packages, checked by apt against Debian's keys, from
# where this machine gets its own. Its state is kept apart from the machine's.
fetch() {
	local apt=$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror try
	shift
	mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/*$' | sed 's,/*$,,') ||
		fail "apt knows no mirror of Debian."
	[[ -f $keys ]] || fail "$keys is missing: apt-get install debian-archive-keyring."
	mkdir -p "$apt"/{packages,lists/partial,cache/archives/partial}
	: >"$apt/status"
	{
		echo "deb [signed-by=$keys] $mirror $suite main"
		echo "deb [signed-by=$keys] $mirror-security $suite-security main"
	} >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-CONF
		Dir::State "$apt"; Dir::State::lists "$apt/lists"; Dir::State::status "$apt/status"; Dir::Cache "$apt/cache";
		Dir::Etc::sourcelist "$apt/sources.list"; Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
		APT::Install-Recommends "0"; APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::Retries "3"; Debug::NoLocking "1";
	CONF
	# The index of a mirror can be newer than its files for a while.
	for try in 1 2 3; do
		if APT_CONFIG=$apt/apt.conf download "$apt" "$@"; then return 0; fi
		if [[ $try -eq 2 ]]; then sed -i /security/d "$apt/sources.list"; fi
		sleep 2
	done
	fail "apt could not download the packages from $mirror."
}

download() {
	local apt=$1 packages
	shift
	apt-get update -qq >&2 || return 1
	packages=$(apt-get install -qq -y --print-uris "$@" |
		cut -d' ' -f2 | sed 's/_.*//' | sort -u | grep -vE "$unneeded") || return 1
	# shellcheck disable=SC2086 # names of packages, a word each
	(cd "$apt/packages" && apt-get download -qq $packages >&2)
}

# The programs start with the C library they came with.
wrap_servers() {
	local name
	for name in postgres initdb pg_isready; do
		wrap "$postgres_bin/$name" "$postgres_bin/$name" "$postgres_bin/.real/$name"
	done
	wrap "$root/usr/bin/redis-cli" redis-cli "$root/usr/bin/.real/redis-cli"
	wrap_redis "$root" redis
}

wrap_valkey() { wrap_redis "$valkey_root" valkey; }

# wrap_redis FOLDER NAME wraps NAME-server, a link to NAME-check-rdb, which looks at its
# own name.
wrap_redis() {
	mkdir -p "$1/usr/bin/.real"
	mv "$1/usr/bin/$2-check-rdb" "$1/usr/bin/.real/$2-server"
	rm -f "$1/usr/bin/$2-server"
	write_wrapper "$1/usr/bin/$2-server" "$2-server" "$1/usr/bin/.real/$2-server"
}

# wrap PROGRAM NAME REAL moves a program away and puts a script in its place.
wrap() {
	mkdir -p "$(dirname "$3")"
	mv "$1" "$3"
	write_wrapper "$@"
}

write_wrapper() {
	printf '#!/bin/sh\nexec %s --library-path %s --argv0 %s %s "$@"\n' \
		"$loader" "$libraries:$folder/usr/lib/postgresql/$postgres_version/lib" "$2" "$3" >"$1"
	chmod 755 "$1"
}

# --- The servers ---

# Tests need no durability, but for the append-only file, whose loss they provoke.
postgres_settings=(-c jit=off -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal
	-c max_wal_senders=0 -c shared_buffers=256MB -c maintenance_work_mem=512MB -c max_wal_size=4GB -c max_connections=200)
redis_settings=(--appendonly yes --save '' --databases 256 --protected-mode no --repl-diskless-sync-delay 0)

# run_redis PORT DIR [SETTINGS] becomes a Redis server.
run_redis() {
	local port=$1 dir=$2
	shift 2
	data_folder "$dir"
	local settings=(--port "$port" --bind 127.0.0.1 --dir "$dir" "${redis_settings[@]}" "$@")
	contain redis "$port" "$dir" "$redis_image" redis-server "${settings[@]}"
	unpack_servers
	unprivileged "$root/usr/bin/redis-server" "${settings[@]}"
}

# run_valkey PORT DIR [SETTINGS] becomes a Valkey server.
run_valkey() {
	local port=$1 dir=$2
	shift 2
	data_folder "$dir"
	local settings=(--port "$port" --bind 127.0.0.1 --dir "$dir" "${redis_settings[@]}" "$@")
	contain valkey "$port" "$dir" "$valkey_image" valkey-server "${settings[@]}"
	unpack_valkey
	unprivileged "$valkey_root/usr/bin/valkey-server" "${settings[@]}"
}

# run_sentinel PORT DIR LINE… becomes a Redis Sentinel. It rewrites its configuration.
run_sentinel() {
	local port=$1 dir=$2
	shift 2
	mkdir -p "$dir"
	printf '%s\n' "port $port" 'bind 127.0.0.1' "dir $dir" 'protected-mode no' "$@" >"$dir/sentinel.conf"
	data_folder "$dir"
	if [[ $(id -u) -eq 0 ]]; then chown 65534:65534 "$dir/sentinel.conf"; fi
	contain sentinel "$port" "$dir" "$redis_image" redis-server "$dir/sentinel.conf" --sentinel
	unpack_servers
	unprivileged "$root/usr/bin/redis-server" "$dir/sentinel.conf" --sentinel
}

# contain NAME PORT DIR IMAGE COMMAND… becomes a container that shares the network and a
# folder with the machine, where an engine runs; else it returns.
contain() {
	local name=$1 port=$2 dir=$3 image=$4 engine
	shift 4
	if ! engine=$(engine); then return 0; fi
	exec "$engine" run --rm --name "cairn-test-$name-$port" --network host --user "$(stat -c %u:%g "$dir")" \
		-v "$dir:$dir" "$image" "$@"
}

# run_postgres PORT DIR becomes a PostgreSQL server with an empty database.
run_postgres() {
	local port=$1 dir=$2 engine
	if engine=$(engine); then
		exec "$engine" run --rm --name "cairn-test-postgres-$port" -p "127.0.0.1:$port:5432" --shm-size 1g \
			-e POSTGRES_HOST_AUTH_METHOD=trust "$postgres_image" "${postgres_settings[@]}"
	fi
	unpack_servers
	data_folder "$dir"
	(unprivileged "$postgres_bin/initdb" -D "$dir/data" -U postgres -A trust \
		--locale-provider=builtin --locale=C.UTF-8 --no-sync) >/dev/null
	unprivileged "$postgres_bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses=127.0.0.1 \
		-c unix_socket_directories= "${postgres_settings[@]}"
}

# killed_with_input NAME PORT has the server that this process becomes killed once its
# standard input ends, be it that the owner closes it or dies. Who sees to it is in a
# session of its own: what kills the owner's group leaves it alone.
killed_with_input() {
	setsid "$0" kill-after-input "$$" "cairn-test-$1-$2" <&0 >/dev/null 2>&1 &
}

# kill_after_input PID CONTAINER
kill_after_input() {
	local engine
	cat >/dev/null
	if engine=$(engine); then "$engine" kill "$2"; fi
	kill -KILL "$1"
}

redis_answers() {
	exec 8<>"/dev/tcp/127.0.0.1/$1" || return 1
	local answer
	printf 'PING\r\n' >&8 && read -r -t 2 answer <&8 && [[ $answer == +PONG* ]]
}

# postgres_answers sends what asks for TLS; a server that takes connections says S or N.
postgres_answers() {
	exec 8<>"/dev/tcp/127.0.0.1/$1" || return 1
	local answer
	printf '\x00\x00\x00\x08\x04\xd2\x16\x2f' >&8 && read -r -t 2 -n 1 answer <&8 && [[ $answer == [SN] ]]
}

# launch NAME DIR starts a server and waits until it answers; its process and port
# are then in DIR.
launch() {
	local name=$1 dir=$2 try port pid
	for try in 1 2 3; do
		port=$(free_port)
		rm -rf "$dir"
		mkdir -p "$dir"
		setsid "$0" "run-$name" "$port" "$dir/run" >"$dir/log" 2>&1 7>&- 9>&- </dev/null &
		pid=$!
		echo "$pid" >"$dir/pid"
		echo "$port" >"$dir/port"
		if wait_for eval "! kill -0 $pid || (${name}_answers $port)" && kill -0 "$pid" 2>/dev/null; then return 0; fi
		end "$dir"
	done
	tail -n 20 "$dir/log" >&2
	fail "$name did not start; its log is $dir/log."
}

# runs DIR says whether the server of a folder runs, and not another process that
# was given its number since.
runs() {
	[[ -f $1/pid ]] && tr '\0' ' ' <"/proc/$(cat "$1/pid")/cmdline" 2>/dev/null | grep -qF -e cairn-test -e "$1" -e "$0"
}

# end DIR stops the server of a folder and waits until it is gone.
end() {
	if runs "$1"; then
		local pid engine
		pid=$(cat "$1/pid")
		kill -INT "$pid" # PostgreSQL's word for: end now, tidily; Redis and engines take it too
		if ! wait_for eval "! kill -0 $pid"; then
			if engine=$(engine); then "$engine" kill "cairn-test-$(basename "$1")-$(cat "$1/port")" >&2 || true; fi
			kill -KILL "$pid"
		fi
	fi
	rm -f "$1/pid" "$1/port"
}

# locked runs a command while no other process starts or stops servers in DIR.
locked() {
	mkdir -p "$dir"
	if [[ $(id -u) -eq 0 ]]; then chmod 755 "$dir"; fi
	exec 9>"$dir/lock"
	flock 9
	"$@"
	exec 9>&-
}

start() {
	rm -f "$dir/only-used" # from here on they stay
	launch_missing
}

launch_missing() {
	if [[ -z ${CAIRN_TEST_REDIS_URL:-} ]]; then
		runs "$dir/redis" || launch redis "$dir/redis"
		CAIRN_TEST_REDIS_URL="redis://127.0.0.1:$(cat "$dir/redis/port")/0"
	fi
	if [[ -z ${CAIRN_TEST_POSTGRES_URL:-} ]]; then
		runs "$dir/postgres" || launch postgres "$dir/postgres"
		CAIRN_TEST_POSTGRES_URL="postgres://postgres@127.0.0.1:$(cat "$dir/postgres/port")/postgres?sslmode=disable"
	fi
	echo "export CAIRN_TEST_REDIS_URL='$CAIRN_TEST_REDIS_URL'"
	echo "export CAIRN_TEST_POSTGRES_URL='$CAIRN_TEST_POSTGRES_URL'"
}

stop() {
	end "$dir/redis"
	end "$dir/postgres"
	rm -rf "$dir/redis" "$dir/postgres" "$dir/only-used"
}

# begin_use starts what is missing. Each user has a lock on the file "users", which goes
# with its process; the file "only-used" says that nobody wants the servers to stay.
begin_use() {
	exec 7>>"$dir/users"
	flock --shared 7
	if ! runs "$dir/redis" && ! runs "$dir/postgres"; then touch "$dir/only-used"; fi
	launch_missing
}

end_use() {
	if [[ -f $dir/only-used ]] && flock --exclusive --nonblock "$dir/users" true; then stop; fi
}

# use_until_input_ends is in a session of its own: what kills its owner's group leaves it
# alone. Shared servers wait a little for the next user, such as the tests of the next
# package.
use_until_input_ends() {
	locked begin_use
	exec >/dev/null 2>&1
	cat
	exec 7>&-
	if [[ $dir == "$shared" ]]; then sleep "$linger"; fi
	locked end_use
}

shared=$cache/servers
dir=${2:-$shared}
case ${1:-} in
start | use)
	if [[ -z ${CAIRN_TEST_REDIS_URL:-} || -z ${CAIRN_TEST_POSTGRES_URL:-} ]] && ! engine >/dev/null; then unpack_servers; fi
	if [[ $1 == start ]]; then
		locked start
	elif [[ ${CAIRN_TEST_SERVERS_APART:-} ]]; then
		use_until_input_ends
	else
		CAIRN_TEST_SERVERS_APART=yes exec setsid "$0" "$@"
	fi
	;;
stop) locked stop ;;
redis | valkey | sentinel)
	killed_with_input "$1" "$2"
	"run_$1" "${@:2}"
	;;
run-redis) run_redis "$2" "$3" ;;
run-postgres) run_postgres "$2" "$3" ;;
kill-after-input) kill_after_input "$2" "$3" ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
