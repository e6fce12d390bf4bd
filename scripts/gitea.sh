#!/bin/sh
# Builds Gitea, against which the connector for forges is checked, once into a cache. Prints the
# folder that has it: bin/gitea and source/, which it is started with as its static root.
set -eu

version=v1.23.8 # the newest one that Go's module proxy serves
kept=${XDG_CACHE_HOME:-$HOME/.cache}/cairn-gitea/$version
if ! test -x "$kept/bin/gitea"; then
	mkdir -p "$kept/bin"
	folder=$(cd / && go mod download -json "code.gitea.io/gitea@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	rm -rf "$kept/source"
	cp -R "$folder" "$kept/source"
	chmod -R u+w "$kept/source"
	# Its own module replaces others, so that it is built in its folder. Without optimization it
	# compiles faster, and it runs for a minute only.
	CGO_ENABLED=1 go -C "$kept/source" build -trimpath -tags sqlite,sqlite_unlock_notify \
		-gcflags 'all=-N -l' -ldflags "-s -w -X main.Version=${version#v}" -o "$kept/bin/gitea.new" . >&2
	mv "$kept/bin/gitea.new" "$kept/bin/gitea"
fi
echo "$kept"
