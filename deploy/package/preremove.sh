#!/bin/sh
# Stops the service where the package is removed, not where it is upgraded. dpkg says "remove",
# rpm the number of versions that stay. The data in /var/lib/cairn is left.
set -e
if [ -d /run/systemd/system ] && { [ "$1" = remove ] || [ "$1" = 0 ]; }; then
	systemctl disable --now cairn.service
fi
