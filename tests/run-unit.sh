#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit test binaries one after the other; a failure does not hide the next. usage: run-unit.sh BINARY...
set -u
passed=0
failed=()
for binary in "$@"; do
	log=$(mktemp)
	if ASAN_OPTIONS=detect_leaks=1 timeout 300 "$binary" >"$log" 2>&1; then
		passed=$((passed + 1))
		n=$(grep -c '^\[       OK \]' "$log" || true)
		printf '  ok       %s (%s)\n' "${binary#build/*tests/unit/}" "$n"
		grep -E '^(skip|SKIP)[: ]' "$log" | sed 's/^/           /' | sort -u
	else
		failed+=("$binary")
		printf '  FAILED   %s\n' "$binary"
		grep -vE '^\[ RUN|^\[       OK' "$log" | tail -60
	fi
	rm -f "$log"
done
printf 'unit test binaries: %d passed, %d failed\n' "$passed" "${#failed[@]}"
[ "${#failed[@]}" -eq 0 ]
