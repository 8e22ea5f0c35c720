#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build OpenTelemetry's collector with a receiver of OTLP and an exporter to a file, for the tests.
# usage: build.sh [DIR]     build/collector by default; nothing is done when it is there and younger than its sources
# Exits 77 with the reason when this machine cannot build it. The first build takes about three minutes, later ones seconds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../../build/collector}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fresh() {
	[ -x "$dir/collector" ] || return 1
	for source in main.go go.mod go.sum; do
		[ "$dir/collector" -nt "$here/$source" ] || return 1
	done
}

fresh && exit 0
go=$(PATH=$PATH:/usr/local/go/bin command -v "${GO:-go}") || {
	echo "build.sh: no Go (1.25 or newer) to build the collector with" >&2
	exit 77
}
cd "$here"
echo "build.sh: building the collector with $("$go" version | cut -d' ' -f3), minutes the first time" >&2
"$go" build -mod=readonly -ldflags '-s -w' -o "$dir/collector" . || {
	echo "build.sh: the collector could not be built (no Go 1.25, or no modules)" >&2
	exit 77
}
touch "$dir/collector"
