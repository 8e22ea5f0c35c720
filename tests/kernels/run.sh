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
/usr/bin/python3 -B "$here/../fixtures/frameless.py" "$fixtures" rgcc-O2-pie rgcc-O2-stat fsignals fhost fplugin_a.so fplugin_b.so >/dev/null
"$here/boot.sh" "$1" "$here/inside.sh" "$xagent:/x/xagent" "$fixtures/chain:/x/chain" "$here/agent.alloy:/x/agent.alloy" \
	"$here/unwind.sh:/x/unwind.sh" "$fixtures/rgcc-O2-pie:/x/shallow" "$fixtures/rgcc-O2-pie:/x/aligned" "$fixtures/rgcc-O2-pie:/x/deep" \
	"$fixtures/rgcc-O2-stat:/x/deep-static" "$fixtures/fsignals:/x/signals" "$fixtures/fhost:/x/host" \
	"$fixtures/fplugin_a.so:/x/plugin_a.so" "$fixtures/fplugin_b.so:/x/plugin_b.so" \
	>"$output" || status=$?
/usr/bin/python3 -B "$here/check.py" <"$output"
exit $status
