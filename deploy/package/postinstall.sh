#!/bin/sh
# Makes the service's user, and tells systemd of the unit. The service is not started: it has
# nothing to answer from yet.
set -e
if [ -d /run/systemd/system ]; then
	systemd-sysusers cairn.conf
	systemctl daemon-reload
	systemctl try-restart cairn.service
fi
