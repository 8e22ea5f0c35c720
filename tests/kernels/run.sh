#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Load, attach, the known call chain and the accounting of the agent under one kernel.
# usage: run.sh VMLINUZ     XAGENT names the program, build/xagent otherwise; FIXTURES the folder of the fixture programs
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
xagent=${XAGENT:-$build/xagent}
fixtures=${FIXTURES:-$build/fixtures}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

/usr/bin/python3 -B "$here/../fixtures/build.py" "$fixtures" >/dev/null
status=0
"$here/boot.sh" "$1" "$here/inside.sh" "$xagent:/x/xagent" "$fixtures/chain:/x/chain" "$here/agent.alloy:/x/agent.alloy" \
	>"$output" || status=$?
/usr/bin/python3 -B "$here/check.py" <"$output"
exit $status
