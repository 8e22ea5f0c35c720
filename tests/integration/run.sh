#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent on this host, and the servers it talks to. Skipped tests say why.
# usage: run.sh [PYTEST ARGUMENTS]
set -eu
cd "$(dirname "$0")/../.."
if ! /usr/bin/python3 -c 'import pytest' 2>/dev/null; then
	echo "SKIP integration tests: python3-pytest is not installed"
	exit 0
fi
tests/pyroscope/build.sh || echo "the real Pyroscope could not be built, its tests are skipped"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 -m pytest -q -p no:cacheprovider tests/pyroscope
if [ $# -gt 0 ]; then
	exec /usr/bin/python3 -m pytest -q tests/integration "$@"
fi

# Two lanes: most of what a test does is to wait. Those that load no programs into the kernel, and those that look at programs of their own only, have nothing of
# the others', which look at the whole machine.
# Tests watch a whole machine, where others run: the few that fail are run once more, and a failure is what fails twice. Both are in the output.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
lane() { # MARKS
	XAGENT_TEST_FAILED_LIST=$work/failed /usr/bin/python3 -m pytest -q --durations=15 -m "$1" tests/integration
}
status=0 beside=0
lane "not bpf or beside" >"$work/beside" 2>&1 &
lane "bpf and not beside" || status=$?
wait $! || beside=$?
[ $status -ge $beside ] || status=$beside
cat "$work/beside"
touch "$work/failed"
mapfile -t again < <(sort -u "$work/failed")
if [ $status -ne 1 ] || [ ${#again[@]} -eq 0 ] || [ ${#again[@]} -gt 8 ]; then
	exit $status
fi
echo "AGAIN ${#again[@]} failed, which are run once more:"
printf '    %s\n' "${again[@]}"
(cd tests/integration && exec /usr/bin/python3 -m pytest -q "${again[@]}")
