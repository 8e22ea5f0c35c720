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
exec /usr/bin/python3 -m pytest -q tests/integration "$@"
