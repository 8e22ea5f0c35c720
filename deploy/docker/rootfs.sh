#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Collects what the image holds: the program, the shared libraries it is linked with, certificates, a shell for health checks, and
# for each Debian package that a file came from its status (for vulnerability scanners) and its licence.
# usage: rootfs.sh XAGENT DIRECTORY     The directory is made; needs busybox-static, ca-certificates and binutils.
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: rootfs.sh XAGENT DIRECTORY" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
xagent=$(realpath "$1")
out=$2
mkdir -p "$out"
out=$(realpath "$out")

# Debian's merged layout, so that the loader's path and the libraries' are right in an empty image and in a Debian one.
mkdir -p "$out"/usr/{bin,lib,lib64} "$out"/etc/{xagent,ssl/certs} "$out"/var/{lib/xagent,lib/dpkg/status.d,tmp} "$out"/{root,tmp}
chmod 0700 "$out/root"
chmod 1777 "$out/tmp" "$out/var/tmp"
for directory in bin lib lib64; do
	ln -sfn "usr/$directory" "$out/$directory"
done

# The packages that files are of, each once. dpkg knows a file by its name before or after the merge of / and /usr, so that it does not find some.
packages_of() {
	{ dpkg-query -S "$@" "${@/#/\/usr}" "${@/#\/usr/}" 2>/dev/null || true; } | sed 's/[:,].*//' | sort -u
}

install -m 0755 "$xagent" "$out/usr/bin/xagent"
strip "$out/usr/bin/xagent"
install -m 0755 "$(command -v busybox)" "$out/usr/bin/busybox"
install -m 0644 /etc/ssl/certs/ca-certificates.crt "$out/etc/ssl/certs/ca-certificates.crt"
install -m 0644 "$here/default.alloy" "$out/etc/xagent/agent.alloy"
install -D -m 0644 "$here/../../LICENSE" "$out/usr/share/doc/xagent/LICENSE"
printf 'root:x:0:0:root:/root:/bin/busybox\n' >"$out/etc/passwd"
printf 'root:x:0:\n' >"$out/etc/group"

# "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)", and "/lib64/ld-linux-x86-64.so.2 (0x…)" for the loader.
linked=$(ldd "$xagent")
if grep -q 'not found' <<<"$linked"; then
	echo "rootfs: $xagent lacks libraries here:" >&2
	grep 'not found' <<<"$linked" >&2
	exit 1
fi
mapfile -t libraries < <(sed -nE 's,^[^/]*(/[^ ]+) \(0x.*,\1,p' <<<"$linked")
cp -L --parents "${libraries[@]}" "$out"

mapfile -t packages < <(packages_of "${libraries[@]}"; printf '%s\n' busybox-static ca-certificates)
for package in "${packages[@]}"; do
	dpkg-query -s "$package" >"$out/var/lib/dpkg/status.d/$package"
	if [ -e "/usr/share/doc/$package/copyright" ]; then
		install -D -m 0644 "/usr/share/doc/$package/copyright" "$out/usr/share/doc/$package/copyright"
	fi
done
