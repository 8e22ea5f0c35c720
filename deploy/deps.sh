#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what building or testing needs, from the distribution's packages (Debian 12+, Ubuntu 24.04+).
# usage: deps.sh build|test|libraries     Says what is missing when it may not install (not root, or no apt).
# `libraries` prints the packages of headers and libraries, for a build for another machine.
set -euo pipefail

libraries=(
	libc6-dev linux-libc-dev libbpf-dev
	libelf-dev libdw-dev zlib1g-dev libzstd-dev liblzma-dev
	libcurl4-openssl-dev libc-ares-dev libmicrohttpd-dev libnghttp2-dev libgnutls28-dev libjansson-dev libyaml-dev libpcre2-dev libunistring-dev
	libprotobuf-c-dev
	libiberty-dev
)
build_packages=(gcc make pkg-config clang protobuf-c-compiler "${libraries[@]}")
test_packages=(
	libcmocka-dev g++ gdb binutils
	musl-tools
	python3-pytest python3-protobuf python3-yaml protobuf-compiler
	docker.io qemu-system-x86 busybox-static cpio
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm
	curl openssl util-linux procps xz-utils
	clang-tidy
	mandoc dpkg-dev docker-compose systemd libseccomp2
	chromium chromium-driver python3-selenium nodejs
)

# Debian has bpftool as a package of its own; on Ubuntu it comes with linux-tools.
bpftool_package() {
	if apt-cache show bpftool 2>/dev/null | grep -q '^Filename:'; then
		echo bpftool
	else
		echo linux-tools-generic
	fi
}

missing() {
	local package
	for package in "$@"; do
		dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
	done
}

case ${1:-} in
libraries)
	printf '%s\n' "${libraries[@]}"
	exit 0
	;;
build) wanted=("${build_packages[@]}") ;;
test) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
*)
	echo "usage: deps.sh build|test|libraries" >&2
	exit 2
	;;
esac
if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is not Debian or Ubuntu; install the equivalents of: ${wanted[*]} bpftool" >&2
	exit 0
fi
lacking=$(missing "${wanted[@]}")
command -v bpftool >/dev/null || [ -x /usr/sbin/bpftool ] || lacking="$lacking bpftool"
[ -n "${lacking// /}" ] || exit 0
lacking=$(echo $lacking)
if [ "$(id -u)" -ne 0 ]; then
	echo "deps: missing packages, install them as root: apt-get install ${lacking}" >&2
	[ "$1" = test ] && exit 0
	exit 1
fi
echo "  APT      $lacking"
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! apt-get update -qq >"$log" 2>&1; then
	echo "deps: apt-get update failed, going on with what is known:" >&2
	tail -3 "$log" >&2
fi
lacking=${lacking/bpftool/$(bpftool_package)}
# shellcheck disable=SC2086
if ! apt-get install -y -qq --no-install-recommends $lacking >"$log" 2>&1; then
	tail -20 "$log" >&2
	echo "deps: cannot install: $lacking" >&2
	exit 1
fi
rm -f "$log"
