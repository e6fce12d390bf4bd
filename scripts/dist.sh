#!/usr/bin/env bash
# Makes what a release consists of, in dist/: an archive and a list of what is linked for each
# platform, packages for Debian and RPM, the Helm chart, a Homebrew formula, and SHA256SUMS.
# The same commit, version and Go give the same bytes.
#
#   VERSION    v1.2.3; otherwise the tag of this commit, or a version that names the commit
#   PLATFORMS  "linux/amd64 linux/arm64 …"; all six otherwise
#   OUT        the folder to write to; dist otherwise. It is emptied first
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD

readonly releases=https://github.com/cairn-bot/cairn/releases/download
read -ra platforms <<<"${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}"
out=${OUT:-dist}
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C

fail() {
	echo "dist: $1" >&2
	exit 1
}

# tag_version is the version that this commit is tagged with, otherwise one that sorts before all.
tag_version() {
	git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null || echo "v0.0.0-dev.$(git rev-list --count HEAD).g${commit:0:8}"
}
tag=${VERSION:-$(tag_version)}
[[ $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$tag is no version; name one such as v1.2.3 by VERSION."
readonly version=${tag#v}
if ! git diff --quiet HEAD; then
	echo "dist: files differ from the commit: don't give away what is made of them." >&2
fi

mkdir -p "$out"
out=$(cd "$out" && pwd)
find "$out" -mindepth 1 -delete
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build_program PLATFORM FILE
build_program() {
	GOFLAGS='' GOWORK=off CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} GOAMD64=v1 GOARM64=v8.0 \
		go build -trimpath -buildvcs=false -o "$2" \
		-ldflags "-s -w -X main.version=$tag -X main.commit=$commit" ./cmd/bot
}

# The manual page and the completions are the same everywhere: this machine's program writes them.
write_shared() {
	local cairn=$work/host/cairn shared=$work/shared
	build_program "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" "$cairn"
	mkdir -p "$shared/completions"
	cp LICENSE NOTICE README.md CHANGELOG.md "$shared/"
	"$cairn" man >"$shared/cairn.1"
	"$cairn" completion bash >"$shared/completions/cairn.bash"
	"$cairn" completion zsh >"$shared/completions/_cairn"
	"$cairn" completion fish >"$shared/completions/cairn.fish"
}

# list_modules PROGRAM FILE: what is linked, in CycloneDX, dated as the commit.
list_modules() {
	scripts/tool.sh cyclonedx-gomod bin -json -std -noserial -version "$tag" -output "$2" "$1" 2>"$work/log" || {
		cat "$work/log" >&2
		fail "cyclonedx-gomod failed."
	}
	local dated
	dated=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
	sed -i -E "0,/\"timestamp\":/s/(\"timestamp\": )\"[^\"]*\"/\1\"$dated\"/" "$2"
}

# pack_platform PLATFORM: its archive and the list of what is linked.
pack_platform() {
	local os=${1%/*} arch=${1#*/}
	local name=cairn_${version}_${os}_$arch program=cairn suffix=.tar.gz
	if [[ $os == windows ]]; then program=cairn.exe suffix=.zip; fi
	local folder=$work/$name
	cp -R "$work/shared" "$folder"
	if [[ $os == linux ]]; then cp deploy/package/cairn.service "$folder/"; fi
	build_program "$1" "$folder/$program"
	scripts/tool.sh archive "$out/$name$suffix" "$folder"
	list_modules "$folder/$program" "$out/$name.cdx.json"
	echo "$name$suffix"
}

# pack_linux PLATFORM: the deb and the rpm.
pack_linux() {
	local arch=${1#*/} folder=$work/nfpm-${1#*/}
	cp -R deploy/package "$folder"
	cp -R "$work/shared/." "$folder/"
	cp "$work/cairn_${version}_linux_$arch/cairn" "$folder/"
	gzip -9 -n "$folder/cairn.1"
	find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	local packager
	for packager in deb rpm; do
		(cd "$folder" && ARCH=$arch VERSION=$version "$repository/scripts/tool.sh" nfpm package \
			--packager $packager --target "$out/cairn_${version}_linux_$arch.$packager" >/dev/null)
		echo "cairn_${version}_linux_$arch.$packager"
	done
}

# pack_chart makes what `helm install` takes and `helm push` sends to a registry.
pack_chart() {
	local folder=$work/charts/cairn
	mkdir -p "$work/charts"
	cp -R charts/cairn "$folder"
	sed -i.old -E "s/^version: .*/version: $version/; s/^appVersion: .*/appVersion: \"$version\"/" "$folder/Chart.yaml"
	rm -rf "$folder/Chart.yaml.old" "$folder/tests" "$folder/ci" "$folder/README.md.gotmpl"
	scripts/tool.sh archive "$out/cairn-$version.tgz" "$folder"
	echo "cairn-$version.tgz"
}

# digest_of FILE
digest_of() { (cd "$out" && sha256sum "$1" | cut -d' ' -f1); }

# write_formula writes the file that a Homebrew tap keeps as Formula/cairn.rb.
write_formula() {
	local os arch name
	{
		cat <<-END
			class Cairn < Formula
			  desc "Answers a team's questions from the team's own documents"
			  homepage "https://github.com/cairn-bot/cairn"
			  version "$version"
			  license "Apache-2.0"
		END
		for os in darwin linux; do
			echo "  on_${os/darwin/macos} do"
			for arch in amd64 arm64; do
				name=cairn_${version}_${os}_$arch.tar.gz
				[[ -e $out/$name ]] || continue
				case $arch in amd64) echo '    on_intel do' ;; arm64) echo '    on_arm do' ;; esac
				echo "      url \"$releases/$tag/$name\""
				echo "      sha256 \"$(digest_of "$name")\""
				echo '    end'
			done
			echo '  end'
		done
		cat <<-'END'
			  def install
			    bin.install "cairn"
			    man1.install "cairn.1"
			    bash_completion.install "completions/cairn.bash" => "cairn"
			    zsh_completion.install "completions/_cairn"
			    fish_completion.install "completions/cairn.fish"
			  end

			  test do
			    assert_match version.to_s, shell_output("#{bin}/cairn version")
			  end
			end
		END
	} >"$out/cairn.rb"
	echo cairn.rb
}

echo "cairn $tag, commit $commit, $(go version | cut -d' ' -f3)"
write_shared
for platform in "${platforms[@]}"; do
	pack_platform "$platform"
	if [[ $platform == linux/* ]]; then pack_linux "$platform"; fi
done
pack_chart
write_formula
(cd "$out" && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | sort | xargs sha256sum >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
echo "SHA256SUMS: $(wc -l <"$out/SHA256SUMS") files in $out"
