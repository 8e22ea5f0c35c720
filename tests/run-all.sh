#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every test there is, one stage after the other; what this machine lacks is skipped and said. The last line counts the stages.
# usage: run-all.sh     (from the repository's root, after the build)
set -u
passed=0
failed=()
stage() {
	local name=$1
	shift
	echo "== $name"
	local begin=$SECONDS
	if "$@"; then
		passed=$((passed + 1))
		echo "== $name: ok ($((SECONDS - begin)) s)"
	else
		failed+=("$name")
		echo "== $name: FAILED ($((SECONDS - begin)) s)"
	fi
}
stage lint tests/lint/run.sh
stage unit make --no-print-directory test-unit
stage page make --no-print-directory test-page
stage oracle make --no-print-directory test-oracle
stage integration tests/integration/run.sh
stage kernels tests/kernels/test.sh
[ "${#failed[@]}" -eq 0 ] || echo "failed: ${failed[*]}"
echo "stages: $passed passed, ${#failed[@]} failed"
[ "${#failed[@]}" -eq 0 ]
