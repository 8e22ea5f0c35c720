#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the unwind rules of programs whose unwind information says too little with what they do, instruction by instruction (x86-64).
# usage: steps.sh [ORACLE]	ORACLE: the program, default build/tests/oracle/step_oracle
set -euo pipefail
cd "$(dirname "$0")/../.."

oracle=${1:-build/tests/oracle/step_oracle}
fixtures=$(dirname "$(dirname "$(dirname "$oracle")")")/fixtures

if [ "$(uname -m)" != x86_64 ] || [ ! -x "$oracle" ]; then
	echo "SKIP $oracle was not built, or not for this machine"
	exit 0
fi

failed=0
check() {
	local program=$1 said
	shift
	python3 tests/fixtures/frameless.py "$fixtures" "$program" >/dev/null
	said=$("$oracle" "$fixtures/$program" "$@" 2>&1) || failed=1
	echo "$program $*: $(tail -1 <<<"$said")"
}

for level in O0 O1 O2 O3 Os main avx2 keepfp; do
	check frealign-$level 60 spin 50
done
check frealign-O2 60 signal 2000
exit $failed
