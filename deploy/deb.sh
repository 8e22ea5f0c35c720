#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian package of a built xagent. The same program, version and SOURCE_DATE_EPOCH (else the time of the last commit) make the
# same bytes.
# usage: deb.sh BINARY VERSION DIRECTORY     Prints the name of the package.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

die() {
	echo "deb: $*" >&2
	exit 1
}

[ $# -eq 3 ] || die "usage: deb.sh BINARY VERSION DIRECTORY"
[ -x "$1" ] || die "$1 is not there: run make"
binary=$(realpath "$1")
version=$2
mkdir -p "$3"
directory=$(realpath "$3")
for tool in dpkg-deb dpkg-shlibdeps strip; do
	command -v $tool >/dev/null || die "$tool is missing: apt-get install dpkg-dev binutils"
done
arch=$(dpkg --print-architecture)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}
# Threads cut what is compressed into blocks, as many as this machine has CPUs.
export DPKG_DEB_THREADS_MAX=1 TZ=UTC LC_ALL=C
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
doc=$root/usr/share/doc/xagent

DESTDIR=$root "$here/install.sh" --prefix=/usr --binary="$binary" >/dev/null
strip --strip-all --remove-section=.comment "$root/usr/bin/xagent"
# Where Debian's zsh looks.
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man*/*
mkdir -p "$doc"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: xagent

Files: *
Copyright: the authors of xagent
License: Apache-2.0
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.

Files: bpf/*
Copyright: the authors of xagent
License: GPL-2.0-only or BSD-2-Clause
 On Debian systems the text of the former is in /usr/share/common-licenses/GPL-2.
END
printf 'xagent (%s) unstable; urgency=medium\n\n  * Release.\n\n -- xagent <root@localhost>  %s\n' "$version" \
	"$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"

# The packages that own the libraries, and the versions that have the symbols.
depends() {
	mkdir -p "$work/shlibs/debian"
	printf 'Source: xagent\n\nPackage: xagent\nArchitecture: any\n' >"$work/shlibs/debian/control"
	(cd "$work/shlibs" && dpkg-shlibdeps -O "$root/usr/bin/xagent" 2>"$work/shlibs/said") | sed -n 's/^shlibs:Depends=//p'
}
needs=$(depends) || needs=
[ -n "$needs" ] || die "dpkg-shlibdeps: $(cat "$work/shlibs/said")"

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: xagent
Version: $version
Architecture: $arch
Maintainer: xagent <root@localhost>
Installed-Size: $(du -k --apparent-size -s --exclude=DEBIAN "$root" | cut -f1)
Depends: $needs
Section: admin
Priority: optional
Description: continuous CPU profiler
 Samples every CPU of a host with eBPF, walks kernel and user stacks without
 frame pointers; shows flame graphs at its own address, or pushes one profile a
 service to a Pyroscope server.
 .
 Needs Linux 5.17 or newer with BTF.
END
printf '/etc/default/xagent\n/etc/xagent/agent.alloy\n' >"$root/DEBIAN/conffiles"
# Nothing is started by the installation: somebody has to say first where profiles go.
cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart xagent.service || true
fi
END
cat >"$root/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl disable --now xagent.service || true
fi
END
cat >"$root/DEBIAN/postrm" <<'END'
#!/bin/sh
set -e
if [ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
	rm -rf "$DPKG_ROOT/var/lib/private/xagent" "$DPKG_ROOT/var/cache/private/xagent"
	rm -f "$DPKG_ROOT/var/lib/xagent" "$DPKG_ROOT/var/cache/xagent"
fi
END
chmod 0755 "$root"/DEBIAN/{postinst,prerm,postrm}
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz --build "$root" "$directory/xagent_${version}_$arch.deb" >/dev/null
echo "$directory/xagent_${version}_$arch.deb"
