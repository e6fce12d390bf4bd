#!/usr/bin/env bash
# Installs what the tests need and the machine lacks, from Debian's packages: a C
# compiler for the race detector, a Chromium for the tests of the web page, tesseract, the keys that
# test-servers.sh checks its packages by, and the commands given as arguments, each named
# like its package or followed by it: qemu-aarch64:qemu-user.
set -euo pipefail

has() { command -v "$1" >/dev/null 2>&1; }

has_any() {
	local name
	for name in "$@"; do
		if has "$name"; then return 0; fi
	done
	return 1
}

missing=()
if ! has_any gcc clang; then missing+=(gcc libc6-dev); fi
if [[ -z ${CAIRN_TEST_CHROMIUM:-} ]] && ! has_any chromium chromium-browser google-chrome chrome; then
	missing+=(chromium)
fi
if ! has tesseract; then missing+=(tesseract-ocr tesseract-ocr-eng); fi
if has apt-get && [[ ! -f /usr/share/keyrings/debian-archive-keyring.gpg ]]; then
	missing+=(debian-archive-keyring)
fi
for command in "$@"; do
	if ! has "${command%%:*}"; then missing+=("${command##*:}"); fi
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

manually="install them yourself (Debian: apt-get install ${missing[*]}); a Chromium elsewhere is named by CAIRN_TEST_CHROMIUM"
if ! has apt-get; then
	echo "Missing: ${missing[*]}, and this machine has no apt-get: $manually." >&2
	exit 1
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
	if ! has sudo; then
		echo "Missing: ${missing[*]}; installing them takes root, and there is no sudo: $manually." >&2
		exit 1
	fi
	as_root=(sudo)
fi

echo "Installing ${missing[*]}"
if ! { "${as_root[@]}" apt-get update -qq &&
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null; }; then
	echo "Missing: ${missing[*]}, and installing them failed: $manually." >&2
	exit 1
fi
