#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Try the agent under every kernel that get.sh finds, of this machine and of AArch64: one line PASS, FAIL or SKIP each. Exits 1 when one
# fails.
# usage: test.sh [amd64|arm64]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
failed=0

missing() { # TOOL…
	local tool
	for tool in cpio apt-get dpkg-deb "$@"; do
		command -v "$tool" >/dev/null || echo "$tool"
	done
	[ "$(uname -m)" = x86_64 ] || echo "an x86-64 machine"
}

file_is_static() {
	[ -n "$1" ] && ! ldd "$1" >/dev/null 2>&1
}

run_once() { # NAME KERNEL
	local result verdict=PASS
	result=$("$here/run.sh" "$2" 2>&1) || verdict=FAIL
	printf '%s %s\n%s\n' "$verdict" "$1" "$result"
	[ $verdict = PASS ]
}

# An emulated machine gets the CPU that others leave: a failure is what fails twice.
each_kernel() { # ARCH KERNEL…
	local kernel name
	[ $# -gt 1 ] || echo "SKIP kernels of $1: none could be fetched"
	shift
	for kernel in "$@"; do
		name=$(basename "$kernel" .vmlinuz)
		run_once "$name" "$kernel" && continue
		echo "AGAIN $name failed, which is run once more:"
		run_once "$name" "$kernel" || failed=1
	done
}

try_amd64() {
	local lacking
	lacking=$({
		missing qemu-system-x86_64 busybox
		file_is_static "$(command -v busybox)" || echo "busybox-static"
	} | paste -sd, -)
	if [ -n "$lacking" ]; then
		echo "SKIP kernels of amd64: not here: $lacking"
		return
	fi
	make --no-print-directory -s -C "$here/../.." build/tests/runtimes/toy/xagent || {
		echo "FAIL build of the agent with a runtime of the tests' own"
		failed=1
	}
	mapfile -t kernels < <("$here/get.sh" "$build/kernels" amd64)
	each_kernel amd64 "${kernels[@]}"
}

# The agent and what the tests run are built for that machine first.
cross_build() {
	local programs
	mapfile -t programs < <("$here/run.sh" --unit-programs)
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory -s -C "$here/../.." -j"$(nproc)" CROSS_COMPILE="$CROSS_COMPILE" SYSROOT="$SYSROOT" \
		BUILD="$BUILD" "$BUILD/xagent" "$BUILD/tests/runtimes/toy/xagent" "${programs[@]}" >"$BUILD.log" 2>&1 || {
		echo "FAIL build for AArch64"
		grep -vE '^  [A-Z]+ ' "$BUILD.log" | tail -20
		failed=1
		return 1
	}
}

try_arm64() {
	local lacking why
	lacking=$(missing qemu-system-aarch64 aarch64-linux-gnu-gcc readelf | paste -sd, -)
	if [ -n "$lacking" ]; then
		echo "SKIP kernels of arm64: not here: $lacking"
		return
	fi
	if ! why=$("$here/sysroot.sh" "$build/arm64-root" 2>&1); then
		echo "SKIP kernels of arm64: no libraries of that machine: $why"
		return
	fi
	mapfile -t kernels < <(APT_CONFIG=$build/arm64-root.apt/apt.conf "$here/get.sh" "$build/kernels" arm64)
	export MACHINE=aarch64 CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=$build/arm64-root BUILD=$build/arm64
	unset XAGENT FIXTURES
	cross_build && each_kernel arm64 "${kernels[@]}"
}

mkdir -p "$build"
build=$(realpath "$build")
[ "${1:-amd64}" != amd64 ] || try_amd64
[ "${1:-arm64}" != arm64 ] || (
	try_arm64
	exit $failed
) || failed=1
exit $failed
