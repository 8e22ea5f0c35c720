#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpack packages of a Debian suite, with what they depend on, into a folder that chroot runs: interpreters of other versions than this host's, and with
# another C library. Their maintainer scripts are not run.
# usage: root.sh SUITE FOLDER PACKAGE…
# Says why it cannot in one line, and exits 1.
set -euo pipefail
suite=$1 folder=$2
shift 2
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT

fail() {
	echo "root.sh: $*" >&2
	exit 1
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keyring ] || fail "there is no $keyring"
# The mirror that this host's packages come from.
mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -1 | tr -d " " || true)
[ -n "$mirror" ] || fail "this host's packages are not Debian's"

mkdir -p "$state"/{lists/partial,archives/partial,etc}
: >"$state/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$state/sources"
cat >"$state/conf" <<-EOS
	Dir::State::lists "$state/lists"; Dir::State::status "$state/status"; Dir::Cache::archives "$state/archives";
	Dir::Etc::sourcelist "$state/sources"; Dir::Etc::sourceparts "-"; Dir::Etc::preferencesparts "-"; Dir::Cache "$state";
	APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::Check-Valid-Until "false"; APT::Install-Recommends "false";
EOS
export APT_CONFIG=$state/conf
apt-get -qq update >"$state/log" 2>&1 && apt-get -qq -y --download-only install "$@" >>"$state/log" 2>&1 ||
	fail "no $* of $suite: $(grep -m1 '^E:' "$state/log" || tail -1 "$state/log")"
mkdir -p "$folder"/usr/{bin,sbin,lib,lib64} "$folder"/{tmp,proc,dev}
for name in bin sbin lib lib64; do
	[ -e "$folder/$name" ] || ln -s "usr/$name" "$folder/$name"
done
for package in "$state"/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$folder"
done
[ -e "$folder/dev/null" ] || mknod -m 666 "$folder/dev/null" c 1 3
