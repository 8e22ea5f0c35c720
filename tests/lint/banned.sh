#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What does not stand in the repository: functions without a bound, conversions that swallow errors, line comments, files without a
# licence line, a checked-in vmlinux.h, counters that no test knows. Prints each finding; exits 1 when there is one.
# usage: banned.sh [SOURCE_ROOT]
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

functions='strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol|atoll|atof|sscanf|vsscanf'

files() { # NAME PATTERN…: files with one of these names, products left out
	local names=()
	for name in "$@"; do
		names+=(-o -name "$name")
	done
	find . \( -path ./build -o -path ./.git -o -name __pycache__ \) -prune -o -type f \( "${names[@]:1}" \) -print | sed 's|^\./||' | sort
}

# file:line:code, with strings emptied and block comments gone.
code() {
	files '*.c' '*.h' | xargs awk '
	FNR == 1 { in_comment = 0 }
	{
		out = ""
		n = length($0)
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1)
			two = substr($0, i, 2)
			if (in_comment) {
				if (two == "*/") { in_comment = 0; i++ }
			} else if (two == "/*") {
				in_comment = 1
				i++
			} else if (two == "//") {
				out = out two
				break
			} else if (c == "\"" || c == "\047") {
				for (i++; i <= n && substr($0, i, 1) != c; i++)
					if (substr($0, i, 1) == "\\") i++
				out = out c c
			} else {
				out = out c
			}
		}
		if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
	}'
}

banned_functions() {
	grep -E '^(agent|pprof|river-config|bpf)/' <<<"$code" | grep -E "[^A-Za-z0-9_]($functions)[[:space:]]*\(" |
		sed 's/$/  -- banned function/'
}

line_comments() {
	grep -E '//' <<<"$code" | sed 's|$|  -- comments are /* */|'
}

# The line stands at the top; a script has its interpreter before it, generated lists of Go modules cannot have one.
licence_lines() {
	local file want
	for file in $(files '*.c' '*.h' '*.py' '*.sh' '*.proto' Makefile '*.alloy' '*.ini'); do
		want='Apache-2.0'
		[[ $file == bpf/* ]] && want='GPL-2.0 OR BSD-2-Clause'
		head -3 "$file" | grep -qF "SPDX-License-Identifier: $want" || echo "$file:1: no 'SPDX-License-Identifier: $want'"
	done
}

checked_in_types() {
	files 'vmlinux*.h' | sed 's/$/:1: generated from one kernel, bpf\/kernel.h has what we read/'
}

# An agent that was run here leaves what it keeps (data-xagent).
unknown_at_the_top() {
	local name
	git ls-files 2>/dev/null | cut -d/ -f1 | sort -u | while read -r name; do
		case $name in
		.ci | .clang-format | .clang-tidy | .gitignore | CHANGELOG.md | CONTRIBUTING.md | LICENSE | Makefile | README.md) ;;
		agent | bpf | deploy | grafana | pprof | river-config | tests) ;;
		*) echo "$name:1: belongs to no folder of the project" ;;
		esac
	done
}

# header table: the names of an X-list
counters() {
	sed -n "/#define $2(X)/,/^\$/p" "$1" | grep -oE 'X\([a-z0-9_]+' | cut -c3-
}

unknown_counters() {
	local name
	{ counters bpf/wire.h WIRE_COUNTERS; counters agent/telemetry/telemetry.h TELEMETRY_COUNTERS; } | while read -r name; do
		grep -rqwE "(TELEMETRY_|xagent_|xagent_kernel_)?$name(_total)?" tests --include='*.c' --include='*.py' ||
			echo "tests: no test mentions the counter $name"
	done
}

code=$(code)
findings=$({
	banned_functions
	line_comments
	licence_lines
	checked_in_types
	unknown_at_the_top
	unknown_counters
} || true)
[ -z "$findings" ] && exit 0
printf '%s\n' "$findings"
exit 1
