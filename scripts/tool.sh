#!/usr/bin/env bash
# Runs a tool that scripts/supply/go.mod pins, in the folder it is called from:
#
#   tool.sh NAME [ARGUMENT…]
set -euo pipefail
supply=$(cd "$(dirname "$0")/supply" && pwd)
tools=$supply/../../bin/tools
mkdir -p "$tools"
(cd "$supply" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$tools/" tool)
exec "$tools/$1" "${@:2}"
