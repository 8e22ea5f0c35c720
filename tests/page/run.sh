#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The parts of the page that need no browser, under node. Skipped, and said, where there is none. usage: run.sh
set -eu
cd "$(dirname "$0")"
# --test came with 18, its reporters with 18.15.
if ! command -v node >/dev/null || [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 18 ]; then
	echo "SKIP page tests: no node of version 18 or newer is installed"
	exit 0
fi
exec node --test --test-reporter=dot ./*.test.js
