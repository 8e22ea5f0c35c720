#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run every check of this folder: one line PASS or FAIL each, with the findings below it. Exits 1 when one fails.
# usage: run.sh
set -euo pipefail
cd "$(dirname "$0")"
failed=0
for check in includes banned docs; do
	if findings=$("./$check.sh" 2>&1); then
		echo "PASS $check"
	else
		echo "FAIL $check"
		printf '%s\n' "$findings" | sed 's/^/  /'
		failed=1
	fi
done
exit $failed
