#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run a script in a small virtual machine under another kernel.
# usage: boot.sh VMLINUZ SCRIPT [FILE:PATH_INSIDE…]
# The machine has two emulated CPUs (no KVM needed), busybox, the files with the shared libraries they need, and no network but
# loopback. Prints what the script prints and exits as it does; 124 when it does not end within BOOT_S seconds (120).
# A disk of 16 MiB is /dev/nvme0n1, where the kernel has NVMe without a module.
# MACHINE=aarch64: the machine is one of that kind, and the libraries and busybox are those below SYSROOT.
set -euo pipefail
kernel=$1
script=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
root=$dir/root
machine=${MACHINE:-x86_64}
sysroot=${SYSROOT:-}

place() { # FILE PATH_INSIDE
	mkdir -p "$root$(dirname "$2")"
	cp -L "$1" "$root$2"
}

libraries() { # FILE: the absolute paths of what it is linked with, the loader included; nothing for static programs
	if [ -z "$sysroot" ]; then
		ldd "$1" 2>/dev/null | grep -o '/[^ ]*' || true
	else
		libraries_below "$1" | sort -u || true
	fi
}

# The same for another machine's program: the loader by its whole name, libraries by what needs them.
libraries_below() { # FILE
	local name
	readelf -lW "$1" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)]/\1/p'
	readelf -dW "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)]/\1/p' | while read -r name; do
		[ -e "$sysroot/lib/$machine-linux-gnu/$name" ] || continue
		echo "/lib/$machine-linux-gnu/$name"
		libraries_below "$sysroot/lib/$machine-linux-gnu/$name"
	done
}

fill_root() {
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,etc}
	place "$busybox" /bin/busybox
	place "$script" /script
	for pair in "$@"; do
		place "${pair%%:*}" "${pair#*:}"
		libraries "${pair%%:*}" | while read -r library; do
			[ -e "$root$library" ] || place "$sysroot$library" "$library"
		done
	done
	cat >"$root/init" <<-'EOS'
		#!/bin/busybox sh
		/bin/busybox --install -s /bin
		export PATH=/bin HOME=/tmp
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs dev /dev 2>/dev/null
		mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
		ip link set lo up
		echo # ends what the firmware left on the console's line
		echo "=begin="
		sh /script 2>&1
		echo "=end=$?="
		poweroff -f
	EOS
	chmod +x "$root/init"
}

emulate() { # ARGUMENT…: what the kinds of machines have in common
	timeout "${BOOT_S:-120}" "qemu-system-$machine" -smp 2 -m "${BOOT_MB:-1024}" -nic none -nographic -no-reboot \
		-accel tcg,thread=multi -kernel "$kernel" -initrd "$dir/initrd" \
		-drive "if=none,id=disk,format=raw,file=$dir/disk" -device nvme,drive=disk,serial=disk "$@" </dev/null >"$dir/console" 2>&1 || true
}

busybox=${sysroot:+$sysroot/bin/busybox}
: "${busybox:=$(command -v busybox)}"
fill_root "$@"
(cd "$root" && find . | cpio --create --format=newc --quiet) >"$dir/initrd"
truncate -s 16M "$dir/disk"
options='quiet loglevel=3 panic=-1 rdinit=/init'
if [ "$machine" = aarch64 ]; then
	# Of pointer authentication what tells is where the codes are, not the cipher, which is slow to emulate.
	emulate -M virt -cpu "${BOOT_CPU:-max,pauth-impdef=on}" -append "console=ttyAMA0 $options"
else
	emulate -cpu max -append "console=ttyS0 $options"
fi
tr -d '\r' <"$dir/console" >"$dir/text"
sed -n '/^=begin=$/,/^=end=/p' "$dir/text" | sed '1d; /^=end=/d'
status=$(sed -n 's/^=end=\([0-9]*\)=$/\1/p' "$dir/text" | tail -1)
if [ -z "$status" ]; then
	echo "boot.sh: the machine did not reach the end of the script" >&2
	tail -20 "$dir/text" >&2
	exit 124
fi
exit "$status"
