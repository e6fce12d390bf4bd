#!/bin/sh
# Checks made-up replies of models once, and has each adapter render what is shown of them.
set -eu
checked=$(mktemp)
trap 'rm -f "$checked"' EXIT
go test -count=1 -timeout 180m -run '^TestRandomReplies$' ./internal/graph/flows/answer/replytest -args -replies "${1:-100000}" -replies.save "$checked"
go test -count=1 -timeout 180m -run '^TestRandomReplies$' ./internal/adapters/slack ./internal/adapters/discord \
	./internal/adapters/web ./internal/adapters/terminal -args -replies.load "$checked"
