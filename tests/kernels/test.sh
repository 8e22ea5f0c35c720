#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Try the agent under every kernel that get.sh finds: one line PASS, FAIL or SKIP each. Exits 1 when one fails.
# usage: test.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}

missing() {
	for tool in qemu-system-x86_64 busybox cpio apt-get dpkg-deb; do
		command -v "$tool" >/dev/null || echo "$tool"
	done
	[ "$(uname -m)" = x86_64 ] || echo "an x86-64 machine"
	file_is_static "$(command -v busybox)" || echo "busybox-static"
}

file_is_static() {
	[ -n "$1" ] && ! ldd "$1" >/dev/null 2>&1
}

lacking=$(missing | paste -sd, -)
if [ -n "$lacking" ]; then
	echo "SKIP other kernels: not here: $lacking"
	exit 0
fi
mkdir -p "$build"
kernels=$("$here/get.sh" "$build/kernels") || true
if [ -z "$kernels" ]; then
	echo "SKIP other kernels: none could be fetched"
	exit 0
fi
failed=0
for kernel in $kernels; do
	name=$(basename "$kernel" .vmlinuz)
	if result=$("$here/run.sh" "$kernel" 2>&1); then
		echo "PASS $name"
	else
		echo "FAIL $name"
		failed=1
	fi
	echo "$result"
done
exit $failed
