#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit test binaries, as many at once as there are CPUs, but those of live processes alone; a failure does not hide the next.
# usage: run-unit.sh BINARY...
set -u
export LC_ALL=C.UTF-8

# One binary: its lines in one piece, and a file with its name in $failed when it fails.
one() {
	local binary=$1 log text
	log=$(mktemp)
	if ASAN_OPTIONS=detect_leaks=1 timeout 300 "$binary" >"$log" 2>&1; then
		text=$(printf '  ok       %s (%s)' "${binary#build/*tests/unit/}" "$(grep -c '^\[       OK \]' "$log" || true)")
		text+=$(grep -E '^(skip|SKIP)[: ]' "$log" | sed 's/^/           /' | sort -u | sed '1i\\')
	else
		echo "$binary" >"$(mktemp -p "$failed")"
		text=$(printf '  FAILED   %s\n' "$binary"; grep -vE '^\[ RUN|^\[       OK' "$log" | tail -60)
	fi
	printf '%s\n' "$text"
	rm -f "$log"
}
export -f one
failed=$(mktemp -d)
export failed
# What watches processes and clocks of this machine wants it for itself.
alone='/agent/(process|sample|profile)/'
printf '%s\n' "$@" | grep -vE "$alone" | xargs -P "$(nproc)" -I{} bash -c 'one {}'
printf '%s\n' "$@" | grep -E "$alone" | xargs -P 1 -I{} bash -c 'one {}'
# The few that fail are run once more, by themselves: a failure is what fails twice. Both are in the output.
mapfile -t again < <(find "$failed" -type f -exec cat {} +)
if [ ${#again[@]} -gt 0 ] && [ ${#again[@]} -le 5 ]; then
	echo "AGAIN ${#again[@]} failed, which are run once more:"
	find "$failed" -type f -delete
	printf '%s\n' "${again[@]}" | xargs -P 1 -I{} bash -c 'one {}'
fi
n_failed=$(find "$failed" -type f | wc -l)
rm -rf "$failed"
printf 'unit test binaries: %d passed, %d failed\n' $(($# - n_failed)) "$n_failed"
[ "$n_failed" -eq 0 ]
