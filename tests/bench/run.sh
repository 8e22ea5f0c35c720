#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the figures of README.md beside it. usage: run.sh [SECONDS] [RATE]
set -eu
cd "$(dirname "$0")/../.."
exec /usr/bin/python3 -B tests/bench/bench.py "${@:-60}"
