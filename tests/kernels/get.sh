#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetch the kernels under which the agent is tried: the newest Debian kernel of each series.
# usage: get.sh [DIR [ARCH]]     prints one path of a vmlinuz a line; what is there already is not fetched again
# ARCH is amd64 or arm64; the lists of packages are this machine's, or those that APT_CONFIG leads to.
# Nothing is installed: the packages are unpacked into DIR (build/kernels by default).
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:-$top/build/kernels}
arch=${2:-amd64}
series=("^linux-image-6\\.1\\.0-[0-9]+-cloud-$arch\$")
case $arch in
amd64) series+=('^linux-image-6\.12\.[0-9]+\+deb12-cloud-amd64$') ;;
arm64) series+=('^linux-image-6\.12\.[0-9]+\+deb12-arm64-16k$') ;; # pages of 16 KiB
esac

newest() {
	# Debian's package lists know a few of each series; only the highest number is of interest.
	apt-cache pkgnames linux-image-6. | grep -E "$1" | sort -V | tail -1
}

unpack() {
	local package=$1 tmp
	tmp=$(mktemp -d "$dir/fetch.XXXXXX")
	# apt-get drops privileges to _apt, which must be able to write here.
	chmod 755 "$dir"
	chown _apt "$tmp" 2>/dev/null || true
	(cd "$tmp" && apt-get download -q "$package" >apt.log 2>&1) || {
		cat "$tmp/apt.log" >&2
		rm -rf "$tmp"
		return 1
	}
	dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -x -C "$tmp" --wildcards './boot/vmlinuz-*'
	mv "$tmp"/boot/vmlinuz-* "$dir/$package.vmlinuz"
	rm -rf "$tmp"
}

# A machine without package lists may still have kernels from an earlier run.
fallback() {
	local found
	found=$(find "$dir" -name '*.vmlinuz' | grep -E "/${1:1:-1}\.vmlinuz$" | sort -V | tail -1)
	[ -n "$found" ] && echo "$found"
}

mkdir -p "$dir"
status=0
for pattern in "${series[@]}"; do
	package=$(newest "$pattern")
	if [ -n "$package" ] && { [ -s "$dir/$package.vmlinuz" ] || unpack "$package"; }; then
		echo "$dir/$package.vmlinuz"
	elif ! fallback "$pattern"; then
		echo "get.sh: no kernel package matches $pattern (apt-get update?)" >&2
		status=1
	fi
done
exit $status
