#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts xagent onto this host: program, systemd unit, configuration, man pages, completions. Needs no network. What a person may have
# changed, /etc/xagent and /etc/default/xagent, is never overwritten nor removed.
# usage: [DESTDIR=DIR] install.sh [--prefix=/usr/local] [--binary=build/xagent] [--uninstall]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
	sed -n 's/^# usage: /usage: /p' "$0"
}

die() {
	echo "install: $*" >&2
	exit 1
}

prefix=/usr/local
binary=$here/../build/xagent
destdir=${DESTDIR:-}
uninstall=0
while [ $# -gt 0 ]; do
	case $1 in
	--prefix=*) prefix=${1#*=} ;;
	--binary=*) binary=${1#*=} ;;
	--prefix | --binary)
		[ $# -gt 1 ] || die "$1 wants a value"
		printf -v "${1#--}" %s "$2"
		shift
		;;
	--uninstall) uninstall=1 ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		usage >&2
		die "unknown argument: $1"
		;;
	esac
	shift
done
[[ $prefix == /* && $prefix != / ]] || die "--prefix must be an absolute path: $prefix"
prefix=${prefix%/}
[[ -z $destdir || $destdir == /* ]] || destdir=$PWD/$destdir

# systemd looks for units below these two prefixes, and for those of an administrator in /etc.
case $prefix in
/usr | /usr/local) units=$prefix/lib/systemd/system ;;
*) units=/etc/systemd/system ;;
esac

# Called for each file that belongs to the program alone: mode, source, destination.
each_file() {
	local example
	"$1" 0755 "$binary" "$prefix/bin/xagent"
	"$1" 0644 "$here/systemd/xagent.service" "$units/xagent.service"
	"$1" 0644 "$here/man/xagent.1" "$prefix/share/man/man1/xagent.1"
	"$1" 0644 "$here/man/xagent.alloy.5" "$prefix/share/man/man5/xagent.alloy.5"
	"$1" 0644 "$here/completions/xagent.bash" "$prefix/share/bash-completion/completions/xagent"
	"$1" 0644 "$here/completions/_xagent" "$prefix/share/zsh/site-functions/_xagent"
	"$1" 0644 "$here/completions/xagent.fish" "$prefix/share/fish/vendor_completions.d/xagent.fish"
	for example in "$here"/examples/*.alloy; do
		"$1" 0644 "$example" "$prefix/share/xagent/${example##*/}"
	done
}

# A running program's file is replaced, not written into; and nobody sees half of it.
put() {
	local to=$destdir$3
	install -D -m "$1" "$2" "$to.new"
	if [ "$3" = "$units/xagent.service" ]; then
		sed -i "s|^ExecStart=/usr/bin/|ExecStart=$prefix/bin/|" "$to.new"
	fi
	mv -f "$to.new" "$to"
}

put_unless_there() {
	local to=$destdir$3
	if [ ! -e "$to" ]; then
		install -D -m "$1" "$2" "$to"
	elif ! cmp -s "$2" "$to"; then
		echo "  KEPT     $3"
	fi
}

remove() {
	rm -f "$destdir$3"
	# Folders that are ours alone; others still hold something.
	[[ $3 != */share/xagent/* ]] || rmdir --ignore-fail-on-non-empty "$destdir${3%/*}" 2>/dev/null || true
}

is_live() {
	[ -z "$destdir" ] && [ -d /run/systemd/system ]
}

if [ $uninstall = 1 ]; then
	! is_live || systemctl disable --now xagent.service 2>/dev/null || true
	each_file remove
	! is_live || systemctl daemon-reload
	echo "  REMOVED  $destdir$prefix/bin/xagent; /etc/xagent and /etc/default/xagent stay"
	exit 0
fi
[ -x "$binary" ] || die "$binary is not there: run make, or name it with --binary"
each_file put
put_unless_there 0640 "$here/systemd/agent.alloy" /etc/xagent/agent.alloy
put_unless_there 0640 "$here/systemd/xagent.default" /etc/default/xagent
echo "  INSTALL  $destdir$prefix/bin/xagent"
if is_live; then
	systemctl daemon-reload
	systemctl try-restart xagent.service
	echo "Set PYROSCOPE_URL in /etc/default/xagent, then: systemctl enable --now xagent"
fi
