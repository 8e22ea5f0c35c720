#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Build the real Pyroscope server and its command line client for the tests.
# usage: build.sh [DIR]     build/pyroscope by default; nothing is done when both are there and younger than go.mod and go.sum
# Exits 77 with the reason when this machine cannot build them. The first build takes about five minutes, later ones seconds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../../build/pyroscope}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fresh() {
	for program in pyroscope profilecli; do
		[ -x "$dir/$program" ] || return 1
		[ "$dir/$program" -nt "$here/go.mod" ] || return 1
		[ "$dir/$program" -nt "$here/go.sum" ] || return 1
	done
}

go_command() {
	PATH=$PATH:/usr/local/go/bin command -v "${GO:-go}"
}

fresh && exit 0
go=$(go_command) || {
	echo "build.sh: no Go (1.25 or newer) to build Pyroscope with" >&2
	exit 77
}
# The module is only a list of tools. Without debug data they are smaller by a third.
cd "$here"
echo "build.sh: building Pyroscope with $("$go" version | cut -d' ' -f3), minutes the first time" >&2
"$go" build -mod=readonly -ldflags '-s -w' -o "$dir/" \
	github.com/grafana/pyroscope/cmd/pyroscope github.com/grafana/pyroscope/cmd/profilecli || {
	echo "build.sh: Pyroscope could not be built (no Go 1.25, or no modules)" >&2
	exit 77
}
touch "$dir/pyroscope" "$dir/profilecli"
