#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the unwind rules of installed ELF files with libdw's: at least 20 files, 100,000 addresses. Skips where there is no libdw.
# usage: [ADDRESSES=N] run.sh [ORACLE [FILE...]]	ORACLE: the program, default build/tests/oracle/cfi_oracle
set -euo pipefail
cd "$(dirname "$0")/../.."

min_files=20
n_addresses=${ADDRESSES:-100000}
oracle=${1:-build/tests/oracle/cfi_oracle}
shift || true

if [ ! -x "$oracle" ]; then
	echo "SKIP $oracle was not built (libdw-dev)"
	exit 0
fi

# Of each sort one: C, C++, Rust, hand-written assembly, JIT compilers' own code, Go with cgo, debuggers; then whatever there is, the
# largest first.
wanted() {
	local pattern
	for pattern in libc.so.6 libm.so.6 'ld-linux-*' libstdc++.so.6 libgcc_s.so.1 'libcrypto.so*' 'libssl.so*' 'libpython3*' 'libperl.so*' \
		libjvm.so 'libLLVM*' 'libclang-cpp*' 'libnode.so*' 'libruby*' 'librustc_driver*' 'libgo.so*' 'libicui18n.so*' 'libsqlite3.so*' \
		'libcurl.so*' 'libX11.so*'; do
		find /usr/lib /lib /usr/local/lib /opt -name "$pattern" -type f 2>/dev/null | head -1 || true
	done
	for pattern in node perl python3 bash gdb clang gcc go dockerd qemu-system-x86_64 cmake git ssh; do
		readlink -f "$(command -v "$pattern")" 2>/dev/null || true
	done
	find /usr/lib /usr/bin -type f \( -name '*.so*' -o -perm -u+x \) -size +200k -printf '%s %p\n' 2>/dev/null | sort -rn | head -60 | cut -d' ' -f2- || true
}

if [ $# -gt 0 ]; then
	files=("$@")
else
	mapfile -t files < <(wanted 2>/dev/null | awk '!seen[$0]++' | while read -r file; do
		head -c 4 "$file" | tail -c 3 | grep -q ELF && echo "$file"
	done | head -60 || true)
fi
if [ ${#files[@]} -lt $min_files ] && [ $# -eq 0 ]; then
	echo "SKIP only ${#files[@]} ELF files are installed"
	exit 0
fi
# Half of them may turn out to have no .eh_frame.
"$oracle" $((n_addresses * 2 / ${#files[@]} + 1)) "${files[@]}"
