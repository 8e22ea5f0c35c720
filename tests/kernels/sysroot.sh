#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A folder with what an AArch64 build of the agent needs: headers and libraries of this distribution, and its kernel.
# usage: sysroot.sh DIR     prints nothing; a folder of the same packages is not fetched again. Exits 1, with the reason on stderr, when it cannot be had.
# The host's package state is not touched: apt works with folders of its own in DIR.apt, and packages are unpacked, not installed.
set -euo pipefail
dir=$(realpath -m "$1")
apt=$dir.apt
here=$(cd "$(dirname "$0")" && pwd)
triplet=aarch64-linux-gnu
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The libraries are those of deploy/deps.sh, whose tools are not needed here. Python is a program to profile.
mapfile -t packages < <("$here/../../deploy/deps.sh" libraries)
packages+=(libcmocka-dev busybox-static python3-minimal)

suite() {
	. /etc/os-release
	[ "$ID" = debian ] && echo "$VERSION_CODENAME"
}

# The mirrors of this machine's own sources.
mirrors() {
	grep -hsv '^#' /etc/apt/sources.list /etc/apt/sources.list.d/* | grep -oE 'https?://[^ ]*/debian(-security)?/?( |$)' |
		sed 's,/* *$,,' | sort -u || true
}

sources() {
	local suite=$1 mirror
	mirrors | while read -r mirror; do
		case $mirror in
		*-security) echo "deb [signed-by=$keyring] $mirror $suite-security main" ;;
		*) printf "deb [signed-by=$keyring] $mirror %s main\n" "$suite" "$suite-updates" ;;
		esac
	done
}

prepare() {
	mkdir -p "$apt"/{etc/apt.conf.d,etc/preferences.d,etc/sources.list.d,state/lists/partial,cache/archives/partial}
	: >"$apt/status"
	sources "$(suite)" >"$apt/etc/sources.list"
	[ -s "$apt/etc/sources.list" ] || {
		echo "sysroot.sh: no mirror of Debian in this machine's apt sources" >&2
		return 1
	}
	cat >"$apt/apt.conf" <<-EOS
		Dir::Etc "$apt/etc";
		Dir::State "$apt/state";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		APT::Architecture "arm64";
		APT::Architectures "arm64";
		APT::Sandbox::User "";
		Acquire::Languages "none";
	EOS
}

# Links with absolute targets lead out of the folder; merged directories are made as the distribution has them.
unpack() {
	local name package link
	mkdir -p "$dir.new"/usr/{bin,sbin,lib}
	for name in bin sbin lib; do
		ln -s "usr/$name" "$dir.new/$name"
	done
	for package in "$apt"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --exclude='./usr/share/*' --exclude='./dev/*' -C "$dir.new"
	done
	find "$dir.new/usr/lib" -type l -lname '/*' | while read -r link; do
		ln -sfr "$dir.new$(readlink "$link")" "$link"
	done
}

[ ! -e "$dir" ] || [ "$(cat "$apt/packages" 2>/dev/null)" != "${packages[*]}" ] || exit 0
suite >/dev/null || {
	echo "sysroot.sh: this is not Debian" >&2
	exit 1
}
prepare
export APT_CONFIG=$apt/apt.conf
rm -rf "$dir.new"
apt-get -qq update >"$apt/log" 2>&1 &&
	apt-get -y -qq --download-only --no-install-recommends install "${packages[@]}" >>"$apt/log" 2>&1 || {
	tail -5 "$apt/log" >&2
	exit 1
}
unpack
[ -e "$dir.new/usr/include/$triplet/sys/types.h" ]
rm -rf "$apt/cache" "$dir"
mv "$dir.new" "$dir"
echo "${packages[*]}" >"$apt/packages"
