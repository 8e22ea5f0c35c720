#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replays each fuzz target's corpus (tests/fuzz/corpus/NAME for fuzz_NAME). usage: replay.sh BINARY...
set -u
status=0
here=$(dirname "$0")
for binary in "$@"; do
	name=$(basename "$binary")
	corpus=$here/corpus/${name#fuzz_}
	if [ ! -d "$corpus" ] || [ -z "$(ls -A "$corpus")" ]; then
		echo "  FAILED   $name: no corpus at $corpus"
		status=1
	elif ! timeout 300 "$binary" "$corpus" >/tmp/replay.$$ 2>&1; then
		echo "  FAILED   $name"
		tail -40 /tmp/replay.$$
		status=1
	else
		echo "  ok       $name ($(ls "$corpus" | wc -l) inputs)"
	fi
done
rm -f /tmp/replay.$$
exit $status
